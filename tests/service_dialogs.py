"""The dialogs of a service, driven as the frontend drives them: opened, filled in, and read."""

from collections.abc import Mapping

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import DOMAIN, ServiceKind
from tests.config_entries import prepare
from tests.servers.script import Script

TALKING = Script(models=("big-model", "scripted-model"))
GUARDED = TALKING.model_copy(update={"api_key": "right-key"})
PUBLIC_LIST = '{"data": [{"id": "big-model"}]}'


async def open_dialog(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration."""
    await prepare(hass)
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})


async def choose(hass: HomeAssistant, kind: ServiceKind) -> ConfigFlowResult:
    """Begin to add the integration, and click a kind of service."""
    menu = await open_dialog(hass)
    return await hass.config_entries.flow.async_configure(menu["flow_id"], {"next_step_id": kind})


async def submit(hass: HomeAssistant, step: ConfigFlowResult, **fields: str) -> ConfigFlowResult:
    """Fill in a form and send it."""
    result = await hass.config_entries.flow.async_configure(step["flow_id"], dict(fields))
    await hass.async_block_till_done()
    return result


def suggested(step: ConfigFlowResult) -> Mapping[str, str]:
    """Return what a form shows in its fields."""
    schema = step["data_schema"]
    assert schema is not None
    return {marker.schema: marker.description["suggested_value"] for marker in schema.schema if marker.description}


def models_in(step: ConfigFlowResult) -> object:
    """Return the models that a form offers; None when it is a text field."""
    schema = step["data_schema"]
    assert schema is not None
    return schema.schema[CONF_MODEL].config.get("options")

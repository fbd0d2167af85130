"""The dialogs of a service, driven as the frontend drives them: opened, filled in, and read."""

import re
from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, section

from custom_components.chatterbox.const import CONF_SERVER, DOMAIN, ServiceKind
from tests.support.config_entries import prepare
from tests.support.servers.script import Script

TALKING = Script(models=("big-model", "scripted-model"))
GUARDED = TALKING.model_copy(update={"api_key": "right-key"})
PUBLIC_LIST = '{"data": [{"id": "big-model"}]}'


async def open_dialog(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration."""
    await prepare(hass)
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})


async def choose_offline(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration, and click the offline service."""
    menu = await open_dialog(hass)
    return await hass.config_entries.flow.async_configure(menu["flow_id"], {"next_step_id": ServiceKind.OFFLINE})


async def choose_server(hass: HomeAssistant, server: str = "other") -> ConfigFlowResult:
    """Begin to add the integration, and choose a model on a server, down to the form that connects to it."""
    step = await open_dialog(hass)
    if step["type"] is FlowResultType.MENU:
        step = await hass.config_entries.flow.async_configure(step["flow_id"], {"next_step_id": "server"})
    return await submit(hass, step, **{CONF_SERVER: server})


async def submit(hass: HomeAssistant, step: ConfigFlowResult, **fields: object) -> ConfigFlowResult:
    """Fill in a form and send it; the server and sections that are not filled in are sent as they are shown."""
    schema = step.get("data_schema")
    kept = {
        name: value
        for name, value in (shown(schema) if schema else {}).items()
        if name == CONF_SERVER or isinstance(value, dict)
    }
    result = await hass.config_entries.flow.async_configure(step["flow_id"], kept | fields)
    await hass.async_block_till_done()
    return result


def shown(schema: Any) -> dict[str, Any]:
    """Return what a form, or a section of one, shows in its fields."""
    return {
        str(marker): shown(field.schema) if isinstance(field, section) else marker.description["suggested_value"]
        for marker, field in schema.schema.items()
        if isinstance(field, section) or marker.description
    }


def suggested(step: ConfigFlowResult) -> Mapping[str, Any]:
    """Return what a form shows in its fields."""
    return shown(step["data_schema"])


def is_open(step: Mapping[str, Any], name: str) -> bool:
    """Tell whether a section of a form is unfolded."""
    return not step["data_schema"].schema[name].options["collapsed"]


def problems_in(step: Mapping[str, Any]) -> list[str]:
    """Return the lines of the list of problems at the top of a form, as a person reads them."""
    listed: str = step["description_placeholders"]["problems"]
    lines = [line.removeprefix("- ").replace("**", "") for line in listed.splitlines() if line.startswith("- ")]
    return [re.sub(r"\\(\W)", r"\1", line) for line in lines]


def models_in(step: ConfigFlowResult) -> object:
    """Return the models that a form offers; None when it is a text field."""
    schema = step["data_schema"]
    assert schema is not None
    return schema.schema[CONF_MODEL].config.get("options")

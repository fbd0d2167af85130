"""The dialogs of a service, driven as the frontend drives them: opened, filled in, and read."""

import re
from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, section
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_SERVER,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.runtime.discovery import usual_addresses
from tests.support.config_entries import prepare
from tests.support.servers.script import Script

TALKING = Script(models=("big-model", "scripted-model"))
GUARDED = TALKING.model_copy(update={"api_key": "right-key"})
PUBLIC_LIST = '{"data": [{"id": "big-model"}]}'


async def open_dialog(hass: HomeAssistant, *servers: str) -> ConfigFlowResult:
    """Begin to add the integration on a machine where servers are at these addresses only."""
    await prepare(hass)
    usual_addresses(hass)[:] = servers
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})


async def choose(
    hass: HomeAssistant, menu: ConfigFlowResult, option: str
) -> ConfigFlowResult:
    """Click an option of a menu."""
    step = await hass.config_entries.flow.async_configure(
        menu["flow_id"], {"next_step_id": option}
    )
    await hass.async_block_till_done()
    return step


async def change_server(
    hass: HomeAssistant, entry: MockConfigEntry
) -> ConfigFlowResult:
    """Begin to change a service, down to the form for its server."""
    return await choose(hass, await entry.start_reconfigure_flow(hass), "server")


async def choose_offline(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration, and click the offline service, down to the last form."""
    return await choose(hass, await open_dialog(hass), ServiceKind.OFFLINE)


async def choose_own_server(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration, and say that the model runs at home, down to the form for an address."""
    step = await choose(hass, await open_dialog(hass), "in_my_home")
    return (
        step
        if step["type"] is FlowResultType.FORM
        else await choose(hass, step, "own_server")
    )


async def choose_internet(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add the integration, and say that the model runs at a service on the internet."""
    return await choose(hass, await open_dialog(hass), "internet")


async def submit(
    hass: HomeAssistant, step: ConfigFlowResult, **fields: object
) -> ConfigFlowResult:
    """Fill in a form and send it; the server and sections that are not filled in are sent as they are shown."""
    schema = step.get("data_schema")
    remaining = {
        name: value
        for name, value in (display_data(schema) if schema else {}).items()
        if name == CONF_SERVER or isinstance(value, dict)
    }
    result = await hass.config_entries.flow.async_configure(
        step["flow_id"], remaining | fields
    )
    await hass.async_block_till_done()
    return result


async def connect(
    hass: HomeAssistant, base_url: str, api_key: str | None = None
) -> ConfigFlowResult:
    """Begin to add a server of one's own; the key is asked for where the server wants one."""
    step = await submit(hass, await choose_own_server(hass), base_url=base_url)
    return (
        await submit(hass, step, base_url=base_url, api_key=api_key)
        if api_key
        else step
    )


async def connect_internet(
    hass: HomeAssistant, server: str, base_url: str, api_key: str = ""
) -> ConfigFlowResult:
    """Begin to add a service on the internet, which is elsewhere than usual."""
    step = await choose_internet(hass)
    return await submit(
        hass, step, server=server, api_key=api_key, address={CONF_BASE_URL: base_url}
    )


async def add(
    hass: HomeAssistant, step: ConfigFlowResult, **fields: object
) -> ConfigFlowResult:
    """Fill in the form before the last one, and send the last one as it is shown."""
    last = await submit(hass, step, **fields)
    assert last["step_id"] == "first_agent"
    return await submit(hass, last, **suggested(last))


def display_data(schema: Any) -> dict[str, Any]:
    """Return what a form, or a section of one, shows in its fields."""
    return {
        str(marker): display_data(field.schema)
        if isinstance(field, section)
        else marker.description["suggested_value"]
        for marker, field in schema.schema.items()
        if isinstance(field, section)
        or (marker.description and "suggested_value" in marker.description)
    }


def suggested(step: ConfigFlowResult) -> Mapping[str, Any]:
    """Return what a form shows in its fields."""
    return display_data(step["data_schema"])


def is_open(step: Mapping[str, Any], name: str) -> bool:
    """Return whether a section of a form is unfolded."""
    return not step["data_schema"].schema[name].options["collapsed"]


def problems_in(step: Mapping[str, Any]) -> list[str]:
    """Return the lines of the list of problems at the top of a form, as a person reads them."""
    listed: str = step["description_placeholders"]["problems"]
    lines = [
        line.removeprefix("- ").replace("**", "")
        for line in listed.splitlines()
        if line.startswith("- ")
    ]
    return [re.sub(r"\\(\W)", r"\1", line) for line in lines]


def models_in(step: ConfigFlowResult) -> object:
    """Return the models that a form offers; None when it is a text field."""
    schema = step["data_schema"]
    assert schema is not None
    options = schema.schema[CONF_MODEL].config.get("options")
    return options and [option["value"] for option in options]

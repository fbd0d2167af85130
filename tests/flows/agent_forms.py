"""The forms of an agent, as a person fills them in."""

from collections.abc import Mapping

from homeassistant.config_entries import SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import SUBENTRY_CONVERSATION, ServiceKind
from custom_components.chatterbox.settings.options import SETTINGS, WEB, options_of
from tests.support.config_entries import only_agent

LIMITS = {
    "max_iterations": 7,
    "max_tool_calls": 20,
    "max_characters": 50_000,
    "deadline": 45,
    "tool_timeout": 15,
}
SPEED = {
    "filler_after": 2.5,
    "connect_timeout": 2.5,
    "first_token_timeout": 10,
    "between_tokens_timeout": 12,
}
ANSWERS = {
    "confirmation": "done",
    "local_commands": "when_undone",
    "model_requests": [],
}


def advanced(**changes: object) -> dict[str, object]:
    """Return an advanced form that can be saved, with changes."""
    groups = options_of(ServiceKind.OPENAI_CHAT, SUBENTRY_CONVERSATION).keys() - {
        SETTINGS,
        WEB,
    }
    return {
        **{group: {} for group in groups},
        "answers": ANSWERS,
        "limits": LIMITS,
        "speed": SPEED,
    } | changes


async def change(
    hass: HomeAssistant, entry: MockConfigEntry, form: str = "settings"
) -> SubentryFlowResult:
    """Begin to change the agent of an entry in one of its forms."""
    return await choose(hass, await open_menu(hass, entry), form)


async def open_menu(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    """Begin to change the agent of an entry."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_CONVERSATION),
        context={"source": "reconfigure", "subentry_id": only_agent(entry).subentry_id},
    )


async def choose(
    hass: HomeAssistant, menu: SubentryFlowResult, option: str
) -> SubentryFlowResult:
    """Choose from a menu."""
    assert menu["type"] is FlowResultType.MENU
    return await submit(hass, menu, {"next_step_id": option})


async def submit(
    hass: HomeAssistant, step: SubentryFlowResult, form: Mapping[str, object]
) -> SubentryFlowResult:
    """Send a form."""
    result = await hass.config_entries.subentries.async_configure(
        step["flow_id"], dict(form)
    )
    await hass.async_block_till_done()
    return result

"""Other agents and MCP clients get Assist's tools under the rules of the home, and nobody is there to say yes."""

from collections.abc import Mapping

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY
from homeassistant.components import conversation
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.const import MATCH_ALL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.speech.sentences import async_get_sentences
from custom_components.chatterbox.tools.llm_apis import GUARDED_API, source_names
from custom_components.chatterbox.tools.turn_tools import async_offer_common_tools
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.talk import DOOR, LIGHT, locks_need, move_into_the_demo_home

ON, OFF, TIMER = "intent__HassTurnOn", "intent__HassTurnOff", "intent__HassStartTimer"
KITCHEN = {"name": "Kitchen Ceiling Light"}
UNLOCK = {"name": "Front Door", "domain": ["lock"]}
RULES = {
    "rules": [
        {"verdict": "deny", "entities": ["light.floor_lamp"]},
        {"verdict": "pin", "domains": ["lock"]},
        {"verdict": "allow", "entities": ["cover.garage_door"]},
    ]
}
HALL = "the-hall"


def used_by(user_id: str | None = None, device_id: str | None = None) -> llm.LLMContext:
    """Return the context of a request as that of an MCP client."""
    return llm.LLMContext(
        "mcp_server",
        Context(user_id=user_id),
        MATCH_ALL,
        conversation.DOMAIN,
        device_id,
    )


async def run(
    hass: HomeAssistant, context: llm.LLMContext, tool: str, /, **arguments: object
) -> llm.ToolResult:
    """Call a tool as Home Assistant's server for MCP does."""
    instance = await llm.async_get_api(hass, GUARDED_API, context)
    return await instance.async_call_tool(llm.ToolInput(tool, arguments))


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(**{**locks_need("4711"), **RULES}))
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    async_register_timer_handler(hass, HALL, lambda *_: None)
    return hass


async def test_it_has_the_tools_of_assist_that_the_device_can_use(
    home: HomeAssistant,
) -> None:
    for device_id in (HALL, None):
        context = used_by(device_id=device_id)
        own, assist = [
            await llm.async_get_api(home, one, context)
            for one in (GUARDED_API, llm.LLM_API_ASSIST)
        ]

        assert {tool.name for tool in own.tools} == {tool.name for tool in assist.tools}
        assert {*map(repr, own.tools)}.isdisjoint(map(repr, assist.tools))
        assert "Kitchen Ceiling Light" in own.api_prompt
        assert own.custom_serializer is not None
        for tool in own.tools:
            twin = next(one for one in assist.tools if one.name == tool.name)
            assert (tool.title, tool.annotations, tool.integration) == (
                twin.title,
                twin.annotations,
                twin.integration,
            )


async def test_what_the_rules_allow_is_done_in_the_context_of_the_request(
    home: HomeAssistant,
) -> None:
    actions = async_capture_events(home, "call_service")
    context = used_by()

    result = await run(home, context, ON, **KITCHEN)

    assert not result.error
    assert home.states.is_state(LIGHT, "on")
    assert {event.context.id for event in actions} == {
        context.context.id if context.context else ""
    }
    assert "Kitchen Ceiling Light" in str(
        (await run(home, context, "homeassistant__GetLiveContext")).data["result"]
    )


REFUSED: Mapping[str, tuple[str, Mapping[str, object], str]] = {
    "denied": (ON, {"name": "Floor Lamp"}, "rules of this household do not allow it"),
    "needs the PIN": (OFF, UNLOCK, "nobody is there to give it"),
    "needs a yes": (
        ON,
        {"name": "Sprinkler", "domain": ["valve"]},
        "nobody is there to give it",
    ),
    "may come from outside": (
        ON,
        {"name": "Garage Door"},
        "nobody is there to give it",
    ),
    "names nothing": (ON, {"name": "Flor Lamp"}, "Similar names are: Floor Lamp"),
    "waits": (
        TIMER,
        {"minutes": 1, "conversation_command": "turn on the kitchen light"},
        "runs no command",
    ),
    "has no such parameter": (ON, {**KITCHEN, "delay": 5}, "delay is not a parameter"),
}


@in_one_home(("tool", "arguments", "reason"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_has_its_reason(
    home: HomeAssistant, tool: str, arguments: Mapping[str, object], reason: str
) -> None:
    before = {state.entity_id: state.state for state in home.states.async_all()}

    result = await run(home, used_by(device_id=HALL), tool, **arguments)

    await home.async_block_till_done()
    assert result.error
    assert reason in str(result.data["error"])
    assert {state.entity_id: state.state for state in home.states.async_all()} == before
    assert async_get_approvals(home).waiting == ()
    assert home.data[TIMER_DATA].timers == {}


async def test_a_user_has_no_more_rights_than_elsewhere(home: HomeAssistant) -> None:
    guest = await home.auth.async_create_user("Guest", group_ids=[GROUP_ID_READ_ONLY])
    gone = used_by("nobody")

    for context in (used_by(guest.id), gone):
        result = await run(home, context, ON, **KITCHEN)
        assert "no right to control" in str(result.data["error"])
    assert home.states.is_state(LIGHT, "off")


async def test_each_change_is_audited_under_its_name(home: HomeAssistant) -> None:
    anna = await home.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    changes = async_capture_events(home, "chatterbox_change")
    activity = async_capture_events(home, "logbook_entry")

    await run(home, used_by(anna.id), ON, **KITCHEN)
    await run(home, used_by(anna.id), OFF, **UNLOCK)
    await run(home, used_by(anna.id), "llm__GetDateTime")
    await home.async_block_till_done()

    records = [
        (one.data["source"], one.data["outcome"], one.data["user_id"])
        for one in changes
    ]
    name = "Guarded by Chatterbox"
    assert records == [(name, "done", anna.id), (name, "nobody_to_ask", anna.id)]
    assert f"by {name} (Anna)" in activity[0].data["message"]
    assert home.states.is_state(DOOR, "locked")


async def test_it_is_offered_as_long_as_an_entry_is_loaded(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    first, second = [await set_up(hass, offline_entry()) for _ in range(2)]

    def offered() -> list[str]:
        return [api.name for api in llm.async_get_apis(hass) if api.id == GUARDED_API]

    assert offered() == ["Guarded by Chatterbox"]
    await hass.config_entries.async_unload(first.entry_id)
    assert offered() == ["Guarded by Chatterbox"]
    await hass.config_entries.async_reload(second.entry_id)
    assert offered() == ["Guarded by Chatterbox"]
    await hass.config_entries.async_unload(second.entry_id)
    assert offered() == []
    await hass.config_entries.async_setup(first.entry_id)
    assert offered() == ["Guarded by Chatterbox"]


async def test_no_agent_of_ours_has_it(home: HomeAssistant) -> None:
    offer = await async_offer_common_tools(home, AgentSettings(llm_apis=(GUARDED_API,)))

    assert GUARDED_API not in source_names(home, await async_get_sentences(home, "en"))
    assert offer.missing_apis == (GUARDED_API,)
    assert offer.instance is None

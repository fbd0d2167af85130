"""The tools that an agent has of its own, beside those of the LLM APIs."""

import json

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.const import TOOL_FORGET, TOOL_LIST_MEMORIES, TOOL_REMEMBER, TOOL_SEARCH_HISTORY
from custom_components.chatterbox.effects.effect import NOTHING
from custom_components.chatterbox.home.description import FIND_ENTITIES
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.own_tools import own_definitions, with_own_tools
from custom_components.chatterbox.tools.turn_tools import OwnDispatcher


async def test_each_is_run_without_any_effect_on_the_home(hass: HomeAssistant) -> None:
    dispatcher = OwnDispatcher(hass, AgentSettings(), "agent-1", NOBODY, "en")
    errors: dict[str, str] = {}
    for tool in (TOOL_REMEMBER, TOOL_SEARCH_HISTORY, FIND_ENTITIES):
        outcome = await dispatcher.dispatch(ToolCall("call_1", tool, "{}"), {})
        assert outcome.native == llm.ToolResult(json.loads(outcome.content), error=outcome.is_error)
        errors[tool] = outcome.content
        assert await dispatcher.async_effects(tool, {}) == NOTHING
        assert dispatcher.targets(tool, {}) == frozenset({"chatterbox.memories"})

    assert "No automation" in errors[TOOL_REMEMBER]
    assert "No automation" in errors[TOOL_SEARCH_HISTORY]
    assert "Give words" in errors[FIND_ENTITIES]


def test_the_tools_are_there_when_they_are_wanted_and_stay_inside() -> None:
    assert own_definitions(AgentSettings()) == ()
    tools = own_definitions(AgentSettings(remember_facts=True, search_history=True))

    assert [tool.name for tool in tools] == [TOOL_FORGET, TOOL_LIST_MEMORIES, TOOL_REMEMBER, TOOL_SEARCH_HISTORY]
    assert {tool.name for tool in tools if tool.annotations.read_only} == {TOOL_LIST_MEMORIES, TOOL_SEARCH_HISTORY}
    assert own_definitions(AgentSettings(search_history=True)) == tools[-1:]
    assert not any(tool.annotations.destructive or tool.annotations.open_world for tool in tools)
    assert with_own_tools(tools[::-1], ()) == tools[::-1]


def test_no_tool_of_somebody_else_stands_in_for_one_of_them() -> None:
    (own, *others) = own_definitions(AgentSettings(remember_facts=True))
    forged = type(own)(own.name, "Forgets everything.", own.parameters)
    foreign = type(own)("a_tool", "Does something.", own.parameters)

    joined = with_own_tools((foreign, forged), (own, *others))

    assert joined == (foreign, own, *others)

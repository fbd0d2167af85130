"""The tools that are our own: which agent has them, and what becomes of one that is added."""

import json
import re

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import slugify

from custom_components.chatterbox.agent.messages import (
    ToolCall,
    ToolDefinition,
)
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.effects.device_intents import DEVICE_INTENTS
from custom_components.chatterbox.effects.effect import Effects
from custom_components.chatterbox.memory import async_setup_memory
from custom_components.chatterbox.memory.fact_tools import (
    FORGET,
    LIST_MEMORIES,
    REMEMBER,
)
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.own.find_entities import FIND
from custom_components.chatterbox.tools.own.look import LOOK
from custom_components.chatterbox.tools.own.own_tool import (
    OwnCall,
    own_name,
    parameters,
)
from custom_components.chatterbox.tools.own.registry import (
    OwnDispatcher,
    offered_to,
    own_tools,
    with_own_tools,
)
from custom_components.chatterbox.tools.own.search_history import SEARCH_HISTORY
from custom_components.chatterbox.tools.own.search_web import SEARCH_WEB
from tests.support.own_tools import own_call
from tests.support.page_tables import DOCS
from tests.support.sentences import template

SCHEMA = parameters({})


async def test_each_of_ours_runs_without_any_effect_on_the_home(
    hass: HomeAssistant,
) -> None:
    async_setup_memory(hass)
    tools = {tool.definition.name: tool for tool in own_tools(hass)}
    context = own_call(hass, {}).llm_context
    call = OwnCall(hass, context, {}, AgentSettings(), "agent-1", NOBODY)
    dispatcher = OwnDispatcher(tools, call)
    errors: dict[str, str] = {}
    for one in (REMEMBER, SEARCH_HISTORY, FIND):
        name = one.definition.name
        outcome = await dispatcher.dispatch(ToolCall("call_1", name, "{}"), {})
        assert outcome.native == llm.ToolResult(
            json.loads(outcome.content), error=outcome.is_error
        )
        errors[name] = outcome.content
    changing = {
        name
        for name, tool in tools.items()
        if not tool.definition.annotations.read_only
    }
    for name, tool in tools.items():
        effects = await dispatcher.async_effects(name, {})
        expected = (
            Effects(changes_memory=True)
            if name in changing
            else Effects(annotations=tool.definition.annotations)
        )
        assert effects == expected
    assert changing == {REMEMBER.definition.name, FORGET.definition.name}
    assert {dispatcher.targets(name, {}) for name in changing} == {
        frozenset({"chatterbox.memories"})
    }

    assert "No automation" in errors[REMEMBER.definition.name]
    assert "No automation" in errors[SEARCH_HISTORY.definition.name]
    assert "Give words" in errors[FIND.definition.name]


async def test_the_tools_are_there_when_they_are_wanted_and_stay_inside(
    hass: HomeAssistant,
) -> None:
    async_setup_memory(hass)
    assert offered_to(hass, AgentSettings()) == ()
    tools = offered_to(hass, AgentSettings(remember_facts=True, search_history=True))

    assert tools == (SEARCH_HISTORY, FORGET, LIST_MEMORIES, REMEMBER)
    assert offered_to(hass, AgentSettings(search_history=True)) == (SEARCH_HISTORY,)
    assert offered_to(hass, AgentSettings(), home_is_large=True) == (FIND,)
    annotations = [tool.definition.annotations for tool in own_tools(hass)]
    assert not any(one.destructive for one in annotations)
    outside = [
        tool for tool in own_tools(hass) if tool.definition.annotations.open_world
    ]
    assert outside == [LOOK, SEARCH_WEB]
    offered = (FORGET.definition, FIND.definition)
    assert with_own_tools(hass, offered[::-1], ()) == offered[::-1]


def test_those_that_are_shared_have_titles_that_are_translated(
    hass: HomeAssistant,
) -> None:
    titles = [tool.shared.title for tool in own_tools(hass) if tool.shared]

    assert len(titles) == 2
    titles += [one.title for one in DEVICE_INTENTS]
    assert all(template(f"common.tool_title_{slugify(title)}") for title in titles)


async def test_each_of_ours_has_a_row_on_the_page(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})
    rows = re.findall(
        r"^- ((?:`\w+__\w+`,? )+)",
        (DOCS / "actions.md").read_text("utf-8"),
        re.MULTILINE,
    )

    names = {tool.definition.name for tool in own_tools(hass)}
    assert {*re.findall(r"\w+", " ".join(rows))} == names | {own_name("climate")}


def test_no_tool_of_somebody_else_stands_in_for_one_of_them(
    hass: HomeAssistant,
) -> None:
    forged = ToolDefinition(FORGET.definition.name, "Forgets everything.", SCHEMA)
    foreign = ToolDefinition("a_tool", "Does something.", SCHEMA)

    joined = with_own_tools(hass, (foreign, forged), (FORGET, REMEMBER))

    assert [tool.description for tool in joined] == [
        foreign.description,
        FORGET.definition.description,
        REMEMBER.definition.description,
    ]

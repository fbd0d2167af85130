"""An agent remembers, forgets and lists what a known person asks it to, and nothing for anybody else."""

import json
from collections.abc import Mapping

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from custom_components.chatterbox.agent.messages import ToolCall, ToolOutcome
from custom_components.chatterbox.const import (
    HIDDEN_WORDS,
    TOOL_FORGET,
    TOOL_LIST_MEMORIES,
    TOOL_REMEMBER,
    TOOL_SEARCH_HISTORY,
)
from custom_components.chatterbox.effects.effect import NOTHING
from custom_components.chatterbox.memory.facts import LONGEST_FACT, MOST_FACTS, Keeper, async_get_memories
from custom_components.chatterbox.people.speakers import NOBODY, Asking, Speaker
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.find_entities import FindTool
from custom_components.chatterbox.tools.memory_tools import MemoryTools
from custom_components.chatterbox.tools.own_dispatcher import OwnDispatcher
from custom_components.chatterbox.tools.own_tools import own_definitions, with_own_tools
from custom_components.chatterbox.tools.search_history import HistoryTool

ANNA = Speaker("user-1", name="Anna", asking=Asking.PERSON, person_id="anna")
BEN = Speaker("user-2", name="Ben", asking=Asking.PERSON, person_id="ben")
AGENT = "agent-1"


def dispatcher_for(hass: HomeAssistant, speaker: Speaker) -> OwnDispatcher:
    return OwnDispatcher(
        MemoryTools(async_get_memories(hass), AGENT, speaker), HistoryTool(hass, AGENT, speaker), FindTool(hass, "en")
    )


async def run(hass: HomeAssistant, tool: str, fact: str | None = None, speaker: Speaker = ANNA) -> ToolOutcome:
    """Run a tool as the loop does."""
    dispatcher = dispatcher_for(hass, speaker)
    arguments = {} if fact is None else {"fact": fact}
    outcome = await dispatcher.dispatch(ToolCall("call_1", tool, json.dumps(arguments)), {**arguments})
    assert isinstance(outcome.native, llm.ToolResult)
    assert outcome.native.error == outcome.is_error
    return outcome


def answer(outcome: ToolOutcome) -> Mapping[str, object]:
    """Return what a model reads of a success."""
    assert not outcome.is_error
    return told(outcome)


def told(outcome: ToolOutcome) -> Mapping[str, object]:
    read: Mapping[str, object] = json.loads(outcome.content)
    return read


def texts(hass: HomeAssistant, person: str = "anna") -> list[str]:
    return [fact.text for fact in async_get_memories(hass).facts(Keeper(AGENT, person))]


async def test_a_fact_is_remembered_listed_and_forgotten(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-11-21 23:30:00+00:00")
    remembered = answer(await run(hass, TOOL_REMEMBER, "Anna has a cat."))["remembered"]
    assert isinstance(remembered, dict)
    assert remembered == {"id": remembered["id"], "fact": "Anna has a cat.", "since": "2026-11-22"}

    await run(hass, TOOL_REMEMBER, "Anna has a dog.")
    listed = answer(await run(hass, TOOL_LIST_MEMORIES))["facts"]
    assert isinstance(listed, list)
    assert [fact["fact"] for fact in listed] == ["Anna has a dog.", "Anna has a cat."]

    assert answer(await run(hass, TOOL_FORGET, str(remembered["id"]))) == {"forgotten": remembered}
    assert texts(hass) == ["Anna has a dog."]


@pytest.mark.parametrize("meant", ["Anna has a CAT.", " anna has a cat. ", "cat"])
async def test_a_fact_may_be_named_by_its_words(hass: HomeAssistant, meant: str) -> None:
    await run(hass, TOOL_REMEMBER, "Anna has a cat.")
    await run(hass, TOOL_REMEMBER, "Anna has a dog.")

    assert not (await run(hass, TOOL_FORGET, meant)).is_error
    assert texts(hass) == ["Anna has a dog."]


@pytest.mark.parametrize("meant", ["Anna", "bird", ""])
async def test_what_names_no_fact_or_several_forgets_none(hass: HomeAssistant, meant: str) -> None:
    await run(hass, TOOL_REMEMBER, "Anna has a cat.")
    await run(hass, TOOL_REMEMBER, "Anna has a dog.")

    outcome = await run(hass, TOOL_FORGET, meant)

    assert outcome.is_error
    facts = told(outcome)["facts"]
    assert isinstance(facts, list)
    assert len(facts) == len(texts(hass)) == 2


async def test_nobody_gets_at_the_facts_of_somebody_else(hass: HomeAssistant) -> None:
    await run(hass, TOOL_REMEMBER, "Anna has a cat.")
    (cat,) = async_get_memories(hass).facts(Keeper(AGENT, "anna"))

    assert answer(await run(hass, TOOL_LIST_MEMORIES, speaker=BEN)) == {"facts": []}
    assert (await run(hass, TOOL_FORGET, cat.id, BEN)).is_error
    assert texts(hass) == ["Anna has a cat."]


@pytest.mark.parametrize("tool", [TOOL_REMEMBER, TOOL_FORGET, TOOL_LIST_MEMORIES])
@pytest.mark.parametrize(
    ("speaker", "why"),
    [
        (NOBODY, "No automation"),
        (Speaker("user-1", name="Anna", asking=Asking.NOBODY, person_id="anna"), "No automation"),
        (Speaker("user-1", name="Anna", asking=Asking.TRUSTED, person_id="anna"), "No automation"),
        (Speaker(device_id="kitchen", asking=Asking.PERSON), "not known who speaks"),
    ],
)
async def test_only_a_person_who_is_known_is_served(hass: HomeAssistant, tool: str, speaker: Speaker, why: str) -> None:
    await run(hass, TOOL_REMEMBER, "Anna has a cat.")

    outcome = await run(hass, tool, "Anna has a cat.", speaker)

    assert outcome.is_error
    assert why in outcome.content
    assert texts(hass) == ["Anna has a cat."]


async def test_what_was_put_aside_is_not_told(hass: HomeAssistant) -> None:
    await run(hass, TOOL_REMEMBER, "Anna has a cat.")
    memories, keeper = async_get_memories(hass), Keeper(AGENT, "anna")
    await memories.async_change(keeper, memories.facts(keeper)[0].id, "Anna has a cat.", is_aside=True)

    assert answer(await run(hass, TOOL_LIST_MEMORIES)) == {"facts": []}


async def test_a_hidden_pin_is_never_remembered(hass: HomeAssistant) -> None:
    outcome = await run(hass, TOOL_REMEMBER, f"The code is {HIDDEN_WORDS}.")

    assert outcome.is_error
    assert texts(hass) == []


async def test_the_bounds_are_told(hass: HomeAssistant) -> None:
    assert str(LONGEST_FACT) in (await run(hass, TOOL_REMEMBER, "x" * (LONGEST_FACT + 1))).content
    for number in range(MOST_FACTS):
        await run(hass, TOOL_REMEMBER, f"Fact {number}")

    outcome = await run(hass, TOOL_REMEMBER, "One more.")

    assert outcome.is_error
    assert "ask which ones to forget" in outcome.content


async def test_what_cannot_be_read_is_told(hass: HomeAssistant, hass_storage: dict[str, object]) -> None:
    hass_storage["chatterbox.memories"] = {"version": 1, "data": {"people": "nobody"}}

    outcome = await run(hass, TOOL_REMEMBER, "Anna has a cat.")

    assert outcome.is_error
    assert "cannot be read" in outcome.content


async def test_nothing_in_the_house_is_changed_or_waited_for(hass: HomeAssistant) -> None:
    dispatcher = dispatcher_for(hass, ANNA)

    assert await dispatcher.async_effects(TOOL_REMEMBER, {"fact": "Anna has a cat."}) == NOTHING
    assert (
        dispatcher.targets(TOOL_REMEMBER, {})
        == dispatcher.targets(TOOL_FORGET, {})
        == frozenset({"chatterbox.memories"})
    )


def test_the_tools_are_there_when_they_are_wanted_and_stay_inside() -> None:
    assert own_definitions(AgentSettings()) == ()
    tools = own_definitions(AgentSettings(remember_facts=True, search_history=True))

    assert [tool.name for tool in tools] == [TOOL_FORGET, TOOL_LIST_MEMORIES, TOOL_REMEMBER, TOOL_SEARCH_HISTORY]
    assert {tool.name for tool in tools if tool.annotations.read_only} == {TOOL_LIST_MEMORIES, TOOL_SEARCH_HISTORY}
    assert own_definitions(AgentSettings(search_history=True)) == tools[-1:]
    assert not any(tool.annotations.destructive or tool.annotations.open_world for tool in tools)
    assert with_own_tools(tools, AgentSettings()) == tools


def test_no_tool_of_somebody_else_stands_in_for_one_of_them() -> None:
    (own, *others) = own_definitions(AgentSettings(remember_facts=True))
    forged = type(own)(own.name, "Forgets everything.", own.parameters)
    foreign = type(own)("a_tool", "Does something.", own.parameters)

    joined = with_own_tools((foreign, forged), AgentSettings(remember_facts=True))

    assert joined == (foreign, own, *others)

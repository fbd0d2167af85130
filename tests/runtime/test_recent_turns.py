"""The last turns of an agent are kept with their numbers, and with words only where the owner wants them."""

import json

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.events import (
    Phase,
    PhaseEntered,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnFinished,
    UsageReported,
)
from custom_components.chatterbox.agent.messages import (
    JsonValue,
    ToolCall,
    ToolResult,
    Usage,
)
from custom_components.chatterbox.const import CONF_DIAGNOSE_WORDS
from custom_components.chatterbox.records.turn_record import SIGNAL_TURN, TurnRecord
from custom_components.chatterbox.runtime.recent_turns import (
    MOST_TURNS,
    async_get_recent_turns,
)
from tests.support.config_entries import offline_entry, only_agent, set_up

SECRET_PLAN = "the surprise party"
CALL = ToolCall("1", "light", json.dumps({"name": SECRET_PLAN}))
EVENTS: tuple[TurnEvent, ...] = (
    PhaseEntered(Phase.LLM_INFERENCE),
    ToolCallReady(CALL),
    UsageReported(Usage(200, 10, 150, 0), "model-agent"),
    PhaseEntered(Phase.TOOL_EXECUTION),
    ToolStarted(CALL),
    ToolFinished(ToolResult("1", "light", json.dumps({"done": SECRET_PLAN}))),
    PhaseEntered(Phase.LLM_INFERENCE),
    TextDelta(SECRET_PLAN),
    UsageReported(Usage(0, 0, 0, 0), ""),
    TurnFinished(StopReason.COMPLETED, SECRET_PLAN, Usage(200, 10, 150, 0), 2),
)


def take_turn(
    hass: HomeAssistant, agent: str, turn_id: str = "1", **origin: JsonValue
) -> None:
    """Tell that a turn of an agent is over."""
    known: dict[str, JsonValue] = {
        "turn_id": turn_id,
        "conversation_id": "kitchen-talk",
        "language": "en",
        "satellite_id": None,
        "caller": None,
        "user_id": "0123",
        "person": "Anna",
    }
    record = TurnRecord(f"Tell me about {SECRET_PLAN}.", agent, known | origin)
    for event in EVENTS:
        record.add(event)
    async_dispatcher_send(hass, SIGNAL_TURN, record)


def turn_ids(hass: HomeAssistant, agent: str) -> list[JsonValue]:
    """Return which turns are kept of an agent."""
    return [turn.origin["turn_id"] for turn in async_get_recent_turns(hass).of(agent)]


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    """Set up an agent."""
    return await set_up(hass, offline_entry())


@pytest.fixture
def agent(entry: MockConfigEntry) -> str:
    """Return the id of the agent."""
    return only_agent(entry).subentry_id


async def test_the_last_turns_are_kept_and_no_more(
    hass: HomeAssistant, agent: str
) -> None:
    for number in range(MOST_TURNS + 2):
        take_turn(hass, agent, str(number))

    assert turn_ids(hass, agent) == [str(number) for number in range(2, MOST_TURNS + 2)]


async def test_a_reload_keeps_them(
    hass: HomeAssistant, entry: MockConfigEntry, agent: str
) -> None:
    take_turn(hass, agent)
    await hass.config_entries.async_reload(entry.entry_id)
    take_turn(hass, agent, "2")

    assert turn_ids(hass, agent) == ["1", "2"]


@pytest.mark.parametrize("removed", ["agent", "service"])
async def test_the_turns_of_a_removed_agent_are_dropped(
    hass: HomeAssistant, entry: MockConfigEntry, agent: str, removed: str
) -> None:
    take_turn(hass, agent)
    if removed == "agent":
        hass.config_entries.async_remove_subentry(entry, agent)
    else:
        await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    take_turn(hass, agent, "it ran on")

    assert turn_ids(hass, agent) == []


async def test_diagnostics_of_a_turn_hold_numbers_and_no_words(
    hass: HomeAssistant, agent: str
) -> None:
    take_turn(
        hass,
        agent,
        satellite_id="assist_satellite.kitchen",
        caller="automation.morning",
    )
    (turn,) = async_get_recent_turns(hass).of(agent)
    data = turn.as_json({"model-agent": "Butler"})

    text = json.dumps(data)
    assert SECRET_PLAN not in text
    assert "Anna" not in text
    assert "0123" not in text
    assert (data["turn_id"], data["by_satellite"], data["by_automation"]) == (
        "1",
        True,
        True,
    )
    assert (data["stop_reason"], data["iterations"], data["error"]) == (
        "completed",
        2,
        "",
    )
    inferences = data["inferences"]
    assert isinstance(inferences, list)
    answered = [
        (one["answered_by"], one["cache_hit_percent"])
        for one in inferences
        if isinstance(one, dict)
    ]
    assert answered == [("Butler", 75), ("Home Assistant", None)]


async def test_an_interrupted_request_was_answered_by_none(
    hass: HomeAssistant, agent: str
) -> None:
    origin = {
        "turn_id": "1",
        "conversation_id": "a",
        "language": "en",
        "satellite_id": None,
        "caller": None,
    }
    record = TurnRecord("Hi", agent, {**origin})
    record.add(PhaseEntered(Phase.LLM_INFERENCE))
    async_dispatcher_send(hass, SIGNAL_TURN, record)
    (turn,) = async_get_recent_turns(hass).of(agent)
    inferences = turn.as_json({})["inferences"]

    assert isinstance(inferences, list)
    assert isinstance(inferences[0], dict)
    assert (inferences[0]["answered_by"], inferences[0]["usage"]) == (None, None)


async def test_words_are_kept_while_the_owner_wants_them(
    hass: HomeAssistant, entry: MockConfigEntry, agent: str
) -> None:
    take_turn(hass, agent, "before")
    hass.config_entries.async_update_entry(entry, options={CONF_DIAGNOSE_WORDS: True})
    await hass.async_block_till_done()
    take_turn(hass, agent, "wanted")

    before, wanted = (
        turn.as_json({}) for turn in async_get_recent_turns(hass).of(agent)
    )
    assert "words" not in before
    assert wanted["words"] == {
        "input": f"Tell me about {SECRET_PLAN}.",
        "speech": SECRET_PLAN,
        "tool_calls": [
            {
                "name": "light",
                "arguments": {"name": SECRET_PLAN},
                "result": {"done": SECRET_PLAN},
                "is_error": False,
            }
        ],
        "more_tool_calls": 0,
    }

    hass.config_entries.async_update_entry(entry, options={})
    await hass.async_block_till_done()
    assert [turn.words for turn in async_get_recent_turns(hass).of(agent)] == [
        None,
        None,
    ]
    assert turn_ids(hass, agent) == ["before", "wanted"]

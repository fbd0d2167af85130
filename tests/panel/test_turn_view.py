"""The page shows a turn with its times, calls and changes, in the language of its user."""

from dataclasses import replace

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.const import (
    REDACTED_PIN,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import StoredTurn
from tests.history.store.records import audit, turn
from tests.panel.conftest import OpenPage
from tests.support.home_rules import set_home_rules
from tests.support.talk import move_into_the_demo_home, say

TIMES: JsonObject = {
    "first_words": 700.0,
    "inferences": [
        {
            "began": 10.0,
            "first_token": 300.0,
            "duration": 900.0,
            "answered_by": "",
            "usage": {"input_tokens": 12},
        }
    ],
    "tools": [
        {"name": "HassTurnOff", "began": 920.0, "duration": 30.0, "is_error": False}
    ],
    "handovers": [
        {"at": 5.0, "to": "Home Assistant", "reason": "Talker: ProviderUnreachable"}
    ],
}
CALLED: Transcript = (
    UserMessage("Unlock the door", context="It is Friday."),
    AssistantMessage(
        "",
        tool_calls=(ToolCall("c1", "HassTurnOff", '{"name": "Door", "code": "4711"}'),),
    ),
    ToolResult(
        "c1", "HassTurnOff", '{"done": true, "token": "a-token"}', open_world=True
    ),
    AssistantMessage("It is unlocked."),
)


async def stored(store: HistoryStore, *turns: StoredTurn) -> None:
    for one in turns[:-1]:
        store.record(one)
    assert await store.record(turns[-1]).stored()


async def test_a_turn_is_shown_with_its_times_calls_and_changes(
    hass: HomeAssistant,
    page: OpenPage,
    store: HistoryStore,
    agent: str,
    entry: MockConfigEntry,
) -> None:
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("test", "hall")}, name="Hall"
    )
    change: JsonObject = {
        "tool_call_id": "c1",
        "message": "unlocked Door",
        "outcome": "done",
        "approval": "pin",
        "decided_by": ["rule"],
        "rules": [{"verdict": "pin", "entities": ["lock.door"]}],
    }
    record = replace(
        audit(7, agent=agent),
        turn_id="turn 2",
        body={**change, "arguments": {"code": "4711"}},
    )
    store.record(record)
    await stored(
        store,
        turn(1, agent=agent),
        replace(turn(2, agent=agent, device=device.id, messages=CALLED), timings=TIMES),
        turn(3, agent=agent),
    )

    detail = await page.ask("turns/get", turn_id="turn 2")

    assert (detail["place"], detail["context"], detail["withheld"]) == (
        "Hall",
        "It is Friday.",
        None,
    )
    assert (detail["previous"], detail["next"], detail["stop_reason"]) == (
        "turn 1",
        "turn 3",
        "completed",
    )
    assert detail["phases"] == [
        {"phase": "RECEIVE_INPUT", "at_ms": 0},
        {"phase": "OUTPUT", "at_ms": 1500},
    ]
    (inference,) = detail["inferences"]
    assert (inference["answered_by"], inference["input_tokens"], inference["cost"]) == (
        "Home Assistant",
        12,
        0,
    )
    assert [tool["began_ms"] for tool in detail["tools"]] == [920]
    (call,) = detail["calls"]
    assert (call["sentence"], call["has_run"], call["is_outside"]) == (
        "unlocked Door",
        True,
        True,
    )
    assert (call["arguments"], call["result"]) == (
        {"name": "Door", "code": "**REDACTED**"},
        {"done": True, "token": "**REDACTED**"},
    )
    assert [one["rules"] for one in detail["changes"]] == [
        ["Use the door only with the PIN."]
    ]
    assert [
        (one["outcome"], one["approval"], one["decided_by"])
        for one in detail["changes"]
    ] == [("done", "pin", ["rule"])]
    marks = {mark["kind"]: mark["text"] for mark in detail["marks"]}
    assert marks == {
        "changed": "unlocked Door",
        "stood_in": "Home Assistant",
        "outside": "",
    }
    assert "4711" not in str(detail)


@pytest.mark.usefixtures("entry")
async def test_changes_are_told_in_the_language_of_the_user(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator
) -> None:
    await move_into_the_demo_home(hass)
    page = OpenPage(await hass_ws_client(hass))
    await set_home_rules(
        hass, rules=[{"verdict": "deny", "entities": ["lock.front_door"]}]
    )
    await say(hass, "turn on the kitchen pendant")
    await say(hass, "unlock the front door")

    async def marks(language: str) -> list[str]:
        rows = (await page.ask("turns/list", language=language))["turns"]
        assert [row["marks"][0]["kind"] for row in rows] == ["not_done", "changed"]
        for row in rows:
            detail = await page.ask("turns/get", turn_id=row["id"], language=language)
            assert {one["message"] for one in detail["changes"]} == {
                row["marks"][0]["text"]
            }
            assert all(
                "Front Door" in rule
                for one in detail["changes"]
                for rule in one["rules"]
            )
        return [row["marks"][0]["text"] for row in rows]

    assert await marks("en") == [
        "kept Front Door locked: not allowed by the rules",
        "turned on Kitchen Pendant",
    ]
    assert await marks("de") == [
        "hat Front Door nicht aufgeschlossen: von den Regeln nicht erlaubt",
        "hat Kitchen Pendant eingeschaltet",
    ]
    assert await marks("xx") == await marks("en")


@pytest.mark.parametrize(
    ("messages", "reason", "withheld"),
    [
        (
            (UserMessage(REDACTED_PIN), AssistantMessage("Done.")),
            StopReason.COMPLETED,
            "pin",
        ),
        (
            (AssistantMessage("I may not answer that."),),
            StopReason.PROMPT_DENIED,
            "refused",
        ),
    ],
)
async def test_words_that_were_withheld_are_told_to_be(
    page: OpenPage,
    store: HistoryStore,
    agent: str,
    *,
    messages: Transcript,
    reason: StopReason,
    withheld: str,
) -> None:
    await stored(
        store, replace(turn(1, agent=agent, messages=messages), stop_reason=reason)
    )

    assert (await page.ask("turns/get", turn_id="turn 1"))["withheld"] == withheld


async def test_figures_of_another_version_are_left_out(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await stored(store, replace(turn(1, agent=agent), timings={"inferences": "many"}))

    detail = await page.ask("turns/get", turn_id="turn 1")

    assert (detail["inferences"], detail["first_words_ms"], detail["cost"]) == (
        [],
        None,
        0,
    )


async def test_a_report_names_nobody(
    hass: HomeAssistant, page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await hass.auth.async_create_user('Zoe "Zed" de Witt')
    await hass.auth.async_create_user("王伟")
    words = "Tell Ben and BENJAMIN about Ann's door, Anns Licht, Zoe and Witts lamp, 告诉王伟"
    messages = (
        UserMessage(words, context='Ann speaks to Zoe "Zed" de Witt.'),
        *CALLED[1:],
    )
    spoken = replace(
        turn(1, "a-talk", agent=agent, messages=messages), stop_reason=None
    )
    await stored(
        store,
        replace(spoken, origin=replace(spoken.origin, person="Ann", person_id="ann")),
    )

    report = (await page.ask("turns/report", turn_id="turn 1"))["report"]

    assert report.startswith("Chatterbox ")
    assert (
        "Tell (a person) and BENJAMIN about (a person)'s door, (a person) Licht"
        in report
    )
    private = (
        "Ann",
        "ann",
        "Zoe",
        "Zed",
        "Witt",
        "王伟",
        "4711",
        "a-token",
        "a-talk",
        agent,
    )
    assert not [one for one in private if one in report]

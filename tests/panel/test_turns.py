"""The page lists stored turns, shows one, and deletes it; a user sees their own."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
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
    CONF_HISTORY_ADDRESS,
    CONF_KEEP_HISTORY,
    REDACTED_PIN,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import StoredTurn
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.usage.tracker import async_get_usage_tracker
from tests.history.store.records import MORNING, audit, response, turn
from tests.panel.conftest import OpenPage
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
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


def ids(answer: dict[str, list[dict[str, object]]]) -> list[object]:
    return [row["id"] for row in answer["turns"]]


async def test_turns_are_listed_page_by_page_the_newest_first(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await stored(store, *(turn(number, agent=agent) for number in range(1, 6)))

    first = await page.ask("turns/list", limit=2)
    second = await page.ask("turns/list", limit=2, cursor=first["next"])
    last = await page.ask("turns/list", limit=2, cursor=second["next"])

    assert [ids(first), ids(second), ids(last)] == [
        ["turn 5", "turn 4"],
        ["turn 3", "turn 2"],
        ["turn 1"],
    ]
    assert (first["total"], second["total"], last["next"]) == (5, None, None)
    row = first["turns"][0]
    assert (row["words"], row["answer"], row["agent"], row["agent_id"]) == (
        "Say 5.",
        "It is 5.",
        "Talker",
        agent,
    )
    assert (row["at"], row["duration_ms"], row["marks"]) == (MORNING + 300, 2000, [])


async def test_what_is_listed_can_be_narrowed(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await stored(
        store,
        turn(1, agent=agent, person="anna", words="Close the blinds"),
        replace(turn(2, agent=agent, device="hall"), stop_reason=None),
        replace(turn(3, agent=agent), stop_reason=StopReason.APPROVAL_REQUIRED),
        replace(turn(4, agent=agent), stop_reason=StopReason.PROVIDER_FAILED),
        replace(
            turn(5, agent=agent, words="Which blinds?"), timings={"first_words": 6000.0}
        ),
        turn(6, agent="removed"),
    )

    async def found(**wanted: object) -> list[object]:
        answer = await page.ask("turns/list", **wanted)
        assert answer["total"] == len(answer["turns"])
        return ids(answer)

    assert await found(words="BLIND") == ["turn 5", "turn 1"]
    assert await found(words="?!") == []
    assert await found(person_id="anna") == ["turn 1"]
    assert await found(device_id="hall") == ["turn 2"]
    assert await found(agent=agent) == [
        "turn 5",
        "turn 4",
        "turn 3",
        "turn 2",
        "turn 1",
    ]
    assert await found(marks=["failed"]) == ["turn 4"]
    assert await found(marks=["failed", "asked"]) == ["turn 4", "turn 3"]
    assert await found(marks=["asked"]) == ["turn 3"]
    assert await found(marks=["slow"]) == ["turn 5"]
    assert await found(marks=["slow", "failed"]) == []
    assert await found(since_at=MORNING + 290, until_at=MORNING + 310) == ["turn 5"]


async def test_what_the_page_lists_as_failed_is_what_the_sensors_count(
    hass: HomeAssistant, page: OpenPage, store: HistoryStore, agent: str
) -> None:
    for words in ("Polish the moon", "Hello", "Open the sesame gate of yesterday"):
        await say(hass, words)
    await stored(store, turn(1))

    answer = await page.ask("turns/list", marks=["failed"], agent=agent)

    assert (
        async_get_usage_tracker(hass).latest_usage(agent).failures
        == answer["total"]
        == 2
    )
    assert [row["marks"] for row in answer["turns"]] == [
        [{"kind": "not_done", "text": ""}]
    ] * 2


async def test_turns_of_several_databases_are_one_list(
    hass: HomeAssistant, page: OpenPage, store: HistoryStore, agent: str
) -> None:
    other = await set_up(hass, offline_entry())
    options = {CONF_HISTORY_ADDRESS: f"sqlite:///{hass.config.path('2.db')}"}
    hass.config_entries.async_update_entry(other, options=options)
    await hass.async_block_till_done()
    other_store = await async_get_histories(hass).async_open(other)
    assert other_store
    await stored(
        store, turn(1, agent=agent), turn(4, agent=agent), turn(5, agent=agent)
    )
    await stored(other_store, turn(2), turn(3))

    first = await page.ask("turns/list", limit=3)
    second = await page.ask("turns/list", limit=3, cursor=first["next"])

    assert [ids(first), ids(second)] == [
        ["turn 5", "turn 4", "turn 3"],
        ["turn 2", "turn 1"],
    ]
    assert (first["total"], second["next"]) == (5, None)
    assert (await page.ask("turns/get", turn_id="turn 2"))["id"] == "turn 2"
    assert await page.error("turns/list", cursor="7") == "not_found"


@pytest.mark.parametrize(
    "address", ["sqlite:////no/such/folder/x.db", "mysql://anna:a-password@server/x"]
)
async def test_a_database_that_cannot_be_read_hides_no_other(
    hass: HomeAssistant,
    page: OpenPage,
    store: HistoryStore,
    agent: str,
    *,
    address: str,
) -> None:
    other = await set_up(hass, offline_entry())
    hass.config_entries.async_update_entry(
        other, options={CONF_HISTORY_ADDRESS: address}
    )
    await hass.async_block_till_done()
    await stored(store, turn(1, agent=agent))

    answer = await page.ask("turns/list")

    assert (ids(answer), answer["total"], len(answer["unreachable"])) == (
        ["turn 1"],
        1,
        1,
    )
    assert "a-password" not in str(answer)
    assert (await page.ask("turns/get", turn_id="turn 1"))["id"] == "turn 1"


async def test_a_history_that_is_down_says_so(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    options = {CONF_HISTORY_ADDRESS: "sqlite:////no/such/folder/x.db"}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.async_block_till_done()

    for command in ("turns/list", "turns/get", "turns/delete"):
        assert (
            await page.error(
                command, **({"turn_id": "a"} if command != "turns/list" else {})
            )
            == "history_down"
        )


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


async def test_a_turn_is_deleted_with_all_that_tells_of_it(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    store.record(audit(1, agent=agent))
    store.record(
        response(
            1, "kitchen talk", agent=agent, words="Say 1.", created_at=MORNING + 59
        )
    )
    store.record(response(2, "kitchen talk", agent=agent, created_at=MORNING + 119))
    await stored(store, turn(1, agent=agent, words="My secret"), turn(2, agent=agent))

    assert await page.ask("turns/delete", turn_id="turn 1") == {"deleted": 3}

    assert ids(await page.ask("turns/list")) == ["turn 2"]
    assert (await page.ask("turns/list", words="secret"))["turns"] == []
    assert await store.response("resp 1") is None
    assert await store.response("resp 2") is not None
    assert await page.error("turns/get", turn_id="turn 1") == "not_found"
    assert await page.error("turns/delete", turn_id="turn 1") == "not_found"


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


@pytest.mark.each_row
@pytest.mark.parametrize(
    "command",
    ["turns/list", "turns/get", "turns/report", "turns/delete", "turns/subscribe"],
)
async def test_a_user_gets_nothing_of_a_page_that_is_for_administrators(
    store: HistoryStore,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    command: str,
    agent: str,
) -> None:
    await stored(store, turn(1, agent=agent, person="ben"))
    ben = await open_as_ben()

    assert await ben.error(command, turn_id="turn 1") == "unauthorized"


@pytest.fixture
async def shared(hass: HomeAssistant) -> None:
    """Show the page to all users."""
    await set_home_rules(hass, shows_page_to_all=True)


@pytest.mark.usefixtures("shared")
async def test_a_user_sees_their_own_turns(
    store: HistoryStore,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    hass_read_only_user: MockUser,
    agent: str,
) -> None:
    ben = await open_as_ben()
    before = turn(3, agent=agent, person=hass_read_only_user.id)
    await stored(
        store,
        turn(1, agent=agent, person="anna"),
        turn(2, agent=agent, person="ben"),
        before,
        turn(4, agent=agent),
    )

    listed = await ben.ask("turns/list")

    assert (ids(listed), listed["total"]) == (["turn 3", "turn 2"], 2)
    assert ids(await ben.ask("turns/list", words="say")) == ["turn 3", "turn 2"]
    assert ids(await ben.ask("turns/list", person_id="anna")) == []
    detail = await ben.ask("turns/get", turn_id="turn 2")
    assert (detail["previous"], detail["next"]) == (None, "turn 3")
    for command in ("turns/get", "turns/report", "turns/delete"):
        assert await ben.error(command, turn_id="turn 1") == "not_found"
    assert await ben.ask("turns/delete", turn_id="turn 2") == {"deleted": 1}


@pytest.mark.usefixtures("shared")
async def test_a_page_is_told_of_each_turn_that_its_user_sees(
    hass: HomeAssistant,
    page: OpenPage,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    hass_read_only_user: MockUser,
) -> None:
    ben = await open_as_ben()
    await page.ask("turns/subscribe")
    await ben.ask("turns/subscribe")

    await say(hass, "Hello", "a-talk")
    theirs = await page.event()
    assert ids(await page.ask("turns/list")) == [theirs["turn_id"]]

    await say(
        hass, "Hello", "bens-talk", context=Context(user_id=hass_read_only_user.id)
    )
    assert await ben.event() == await page.event() != theirs


@pytest.mark.usefixtures("shared")
async def test_a_page_is_not_told_of_a_turn_that_its_agent_does_not_keep(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    await page.ask("turns/subscribe")

    for keeps in (False, True):
        data = {**only_agent(entry).data, CONF_KEEP_HISTORY: keeps}
        hass.config_entries.async_update_subentry(entry, only_agent(entry), data=data)
        await hass.async_block_till_done()
        await say(hass, "Hello", f"a-talk-{keeps}")

    event = await page.event()
    assert ids(await page.ask("turns/list")) == [event["turn_id"]]


@in_one_home(
    ("command", "data"),
    [
        ("turns/list", {"limit": 1000}),
        ("turns/list", {"limit": "many"}),
        ("turns/list", {"cursor": "'; drop"}),
        ("turns/list", {"cursor": "9" * 20}),
        ("turns/list", {"cursor": "1..2"}),
        ("turns/list", {"words": "a" * 300}),
        ("turns/list", {"marks": ["all"]}),
        ("turns/get", {}),
        ("turns/get", {"turn_id": ""}),
        ("turns/get", {"turn_id": "turn 1", "password": "4711"}),
    ],
)
async def test_an_invalid_command_is_not_quoted(
    page: OpenPage,
    command: str,
    data: dict[str, object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = await page.send(command, **data)

    assert answer["error"]["code"] == "invalid_format"
    assert "4711" not in str(answer) + caplog.text

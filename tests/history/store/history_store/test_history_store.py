"""Records can be read at once and after a restart, in their order, each once, until they are deleted."""

import asyncio
import json
import sqlite3
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.query import Retention, Selection
from custom_components.chatterbox.history.store.records import (
    response_from_json,
    turn_from_json,
)
from tests.history.store.records import DAY, MORNING, audit, response, turn
from tests.history.store.stores import ON_BOTH, Stores
from tests.support.busy_threads import no_free_thread

NOON = MORNING + DAY / 4


async def stored_ids(
    store: HistoryStore, selection: Selection | None = None
) -> list[str]:
    """Return the ids of all that is stored."""
    return [
        json.loads(line)["id"] async for line in store.export(selection or Selection())
    ]


async def ids(store: HistoryStore) -> list[str]:
    """Return the ids of the turns that are kept."""
    return [one.id for one in await store.turns("kitchen talk")]


async def test_a_turn_that_was_acknowledged_is_there_after_a_restart(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    recorded = (turn(1), turn(2), turn(3, "another talk"))
    for one in recorded:
        assert await store.record(one).stored()
    await store.close()

    again, _ = stores.open(url)
    assert await again.turns("kitchen talk") == recorded[:2]
    assert await again.turns("kitchen talk", 1) == recorded[1:2]
    assert await again.turns("another talk") == recorded[2:]
    assert await again.turns("no talk") == ()


async def test_a_turn_is_read_before_it_is_stored(sqlite: str, stores: Stores) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(turn(1)).stored()
    await store.close()

    waiting, _ = stores.open(
        sqlite, starts=False
    )  # nothing is written as long as it does not start
    waiting.record(turn(1))
    waiting.record(audit(1))
    waiting.record(turn(2))
    waiting.record(turn(3, "another talk"))
    assert [one.id for one in await waiting.turns("kitchen talk")] == [
        "turn 1",
        "turn 2",
    ]
    assert [one.id for one in await waiting.turns("kitchen talk", 1)] == ["turn 2"]
    assert waiting.state.waiting == 4
    waiting.start()
    assert await stored_ids(waiting) == ["turn 1", "turn 2", "turn 3", "audit 1"]
    await waiting.close()


async def test_an_acknowledged_record_no_longer_waits(store: HistoryStore) -> None:
    for number in range(50):
        assert await store.record(turn(number)).stored()
        assert store.state.waiting == 0


@ON_BOTH
async def test_many_turns_at_once_keep_their_order(url: str, stores: Stores) -> None:
    store, _ = stores.open(url, starts=False)
    recorded = tuple(
        turn(number, ended_at=NOON - number, messages=() if number % 2 else None)
        for number in range(501)
    )  # by a clock that is set back
    answers = [store.record(one) for one in recorded]
    store.start()
    assert all([await answer.stored() for answer in answers])
    assert await store.turns("kitchen talk") == recorded
    assert len(await stored_ids(store)) == 501
    await store.close()


async def test_a_record_is_stored_once(url: str, stores: Stores) -> None:
    store, _ = stores.open(url, starts=False)
    twice = [
        store.record(turn(1)),
        store.record(turn(1)),
        store.record(audit(1)),
        store.record(audit(1)),
    ]
    store.start()
    assert [await answer.stored() for answer in twice] == [True] * 4
    assert await store.record(turn(1, words="Something else.")).stored()
    assert await store.record(audit(1)).stored()
    assert await stored_ids(store) == ["turn 1", "audit 1"]
    assert await store.turns("kitchen talk") == (turn(1),)
    await store.close()


async def test_turns_that_are_stored_while_they_are_read_keep_their_order(
    sqlite: str, stores: Stores
) -> None:
    store, _ = stores.open(sqlite, starts=False)
    store.record(turn(1))
    second = store.record(turn(2))
    async with no_free_thread():
        reading = asyncio.create_task(store.turns("kitchen talk", 1))
        await asyncio.sleep(0)  # it has seen both turns wait, and waits for a thread
        store.start()
        assert await second.stored()
    assert await reading == (turn(2),)
    await store.close()


@pytest.mark.parametrize("starts", [True, False], ids=["stored", "waiting"])
async def test_the_last_turn_is_that_of_the_person_or_the_device(
    sqlite: str, stores: Stores, subtests: pytest.Subtests, *, starts: bool
) -> None:
    store, _ = stores.open(sqlite, clock=lambda: NOON, starts=starts)
    answers = [
        store.record(
            turn(1, "first", person="ann", device="kitchen", ended_at=NOON - 50)
        ),
        store.record(
            turn(2, "second", person="ben", device="kitchen", ended_at=NOON - 40)
        ),
        store.record(turn(3, "third", person="ann", agent="other", ended_at=NOON - 30)),
        store.record(turn(4, "soon", person="cyd", ended_at=NOON + 5)),
        store.record(turn(5, "tomorrow", person="dan", ended_at=NOON + DAY)),
    ]
    if starts:
        assert all([await answer.stored() for answer in answers])
    rows: list[tuple[Selection, float, str | None]] = [
        (Selection(agent="agent", device_id="kitchen"), 60, "second"),
        (Selection(agent="agent", person_id="ben"), 60, "second"),
        (Selection(agent="agent", person_id="ann"), 60, "first"),
        (Selection(agent="other", person_id="ann"), 60, "third"),
        (Selection(agent="agent", person_id="ben"), 39, None),
        (Selection(agent="agent", person_id="eve"), 60, None),
        (Selection(agent="agent", person_id="cyd"), 60, "soon"),
        (Selection(agent="agent", person_id="dan"), 60, None),
    ]
    for selection, within, last in rows:
        with subtests.test(str(selection), within=within):
            found = await store.last_turn(selection, within)
            assert (found and found.origin.conversation_id) == last
    if not starts:
        store.start()
        await store.close()


EVERYTHING = [
    "turn 1",
    "turn 2",
    "turn 3",
    "turn 4",
    "audit 5",
    "audit 6",
    "resp 7",
    "resp 8",
]


async def a_home(store: HistoryStore) -> None:
    """Store what two people said to two agents."""
    store.record(turn(1, "a", person="ann", device="kitchen"))
    store.record(turn(2, "a", person="ben", device="kitchen"))
    store.record(turn(3, "b", person="ann", agent="other"))
    store.record(turn(4, "c"))
    store.record(audit(5, "a", person="ann"))
    store.record(response(7, "a", person="ann", agent="other"))
    store.record(response(8, "b", person="ben"))
    assert await store.record(audit(6, "b", person="ben", agent="other")).stored()


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(conversation_id="a"), ["turn 1", "turn 2", "audit 5", "resp 7"]),
        (Selection(person_id="ann"), ["turn 1", "turn 3", "audit 5", "resp 7"]),
        (Selection(device_id="kitchen"), ["turn 1", "turn 2"]),
        (Selection(agent="other"), ["turn 3", "audit 6", "resp 7"]),
        (Selection(), EVERYTHING),
        (Selection(before=MORNING + 150), ["turn 1", "turn 2"]),
        (Selection(before=MORNING + 450), EVERYTHING[:-1]),
        (Selection(person_id="ann", agent="agent"), ["turn 1", "audit 5"]),
        (Selection(person_id="ben", agent="agent"), ["turn 2", "resp 8"]),
        (Selection(person_id="eve"), []),
    ],
)
async def test_a_selection_is_exported_and_deleted(
    url: str, stores: Stores, selection: Selection, chosen: list[str]
) -> None:
    store, _ = stores.open(url)
    await a_home(store)
    everything = await stored_ids(store)

    assert await stored_ids(store, selection) == chosen
    assert await store.purge(selection) == len(chosen)
    assert await stored_ids(store) == [one for one in everything if one not in chosen]
    assert await store.purge(selection) == 0


def all_bytes(file: Path) -> bytes:
    """Return what stands in a database and in the files that belong to it."""
    return b"".join(part.read_bytes() for part in file.parent.glob(f"{file.name}*"))


@pytest.mark.parametrize("count", [200, 2_100], ids=["some", "many"])
async def test_deleted_content_is_overwritten(
    file: Path, store: HistoryStore, count: int
) -> None:
    for number in range(count):
        store.record(turn(number, person="ann", words=f"My secret is {number}."))
    store.record(turn(count, person="cyd", words="My wish is granted."))
    assert await store.record(turn(count + 1, person="ben", words="Hello.")).stored()
    before = len(all_bytes(file))

    assert await store.purge(Selection(person_id="ann")) == count
    found = all_bytes(file)
    assert b"Hello." in found
    assert b"secret" not in found
    assert len(found) < before / 2

    assert await store.purge(Selection(person_id="cyd")) == 1
    assert b"wish" not in all_bytes(file)


async def test_content_deleted_during_a_read_is_overwritten_with_the_next_write(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, _ = stores.open(f"{sqlite}?timeout=0.01")
    assert await store.record(
        turn(1, person="ann", words="My secret is blue.")
    ).stored()
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chatterbox_turns").fetchall()
        assert await store.purge(Selection(person_id="ann")) == 1
        assert await store.record(turn(2, person="ben")).stored()

    assert await store.record(turn(3, person="ben")).stored()
    assert b"secret" not in all_bytes(file)
    assert await stored_ids(store) == ["turn 2", "turn 3"]


async def test_an_export_can_be_left(store: HistoryStore) -> None:
    store.record(turn(1))

    async with aclosing(store.export(Selection())) as lines:
        assert json.loads(await anext(lines))["id"] == "turn 1"
    await asyncio.sleep(0)  # what is left open is closed in the next moment

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_export_holds_the_whole_of_each_record(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    page = ToolResult("a", "read", "news", open_world=True)
    call_message = AssistantMessage(tool_calls=(ToolCall("a", "read", "{}"),))
    whole = turn(
        1,
        messages=(UserMessage("Read!"), call_message, page, AssistantMessage("Läuft.")),
    )
    store.record(whole)
    store.record(audit(2))
    store.record(response(3))
    lines = [line async for line in store.export(Selection())]
    assert not any("\n" in line for line in lines)
    first, second, third = map(json.loads, lines)
    assert (first.pop("kind"), second.pop("kind"), third.pop("kind")) == (
        "turn",
        "audit",
        "response",
    )
    assert response_from_json(third) == response(3)
    assert turn_from_json(first) == whole
    assert second["body"] == audit(2).body


@ON_BOTH
async def test_old_turns_of_an_agent_are_pruned(url: str, stores: Stores) -> None:
    store, _ = stores.open(url, clock=lambda: MORNING + 300)
    for number in range(1, 5):
        store.record(turn(number))
        store.record(audit(number))
    store.record(response(1))
    assert await store.record(turn(5, agent="other", ended_at=MORNING)).stored()

    assert await store.prune("agent", Retention()) == 0
    assert await store.prune("agent", Retention(seconds=177)) == 4
    assert await stored_ids(store) == [
        "turn 3",
        "turn 4",
        "turn 5",
        "audit 3",
        "audit 4",
        "resp 1",
    ]
    assert await store.prune("agent", Retention(seconds=177)) == 0
    assert await store.prune("agent", Retention(seconds=0)) == 4
    assert await stored_ids(store) == ["turn 5", "resp 1"], (
        "responses are kept for a time of their own"
    )


async def test_an_agent_keeps_no_more_than_its_size(url: str, stores: Stores) -> None:
    store, _ = stores.open(url)
    for number in range(1, 5):
        store.record(turn(number))
    assert await store.record(turn(5, agent="other")).stored()
    size = len(await anext(store.export(Selection(agent="other"))))

    assert await store.prune("agent", Retention(size=10 * size)) == 0
    assert await store.prune("agent", Retention(size=2 * size)) == 2
    assert await stored_ids(store) == ["turn 3", "turn 4", "turn 5"]
    assert await store.prune("agent", Retention(seconds=DAY, size=0)) == 2
    assert await stored_ids(store) == ["turn 5"]


async def test_an_impossible_limit_is_reported_to_its_caller(
    store: HistoryStore,
) -> None:
    with pytest.raises(OverflowError):
        await store.prune("agent", Retention(size=2**70))
    assert await store.record(turn(1)).stored()
    assert store.state.trouble is None


@pytest.mark.parametrize(
    ("ended", "left"),
    [
        ([NOON, NOON + 5, 0.0], ["turn 0", "turn 1", "turn 2"]),
        ([NOON - DAY, NOON + 99 * DAY, NOON - DAY, NOON], ["turn 3"]),
        ([NOON + 99 * DAY, NOON + 100 * DAY], ["turn 0", "turn 1"]),
        ([NOON - DAY, NOON - DAY], []),
    ],
    ids=[
        "woke up without the time",
        "was ahead for a while",
        "is set back",
        "was never wrong",
    ],
)
async def test_a_wrong_clock_deletes_no_fresh_record(
    url: str, stores: Stores, ended: list[float], left: list[str]
) -> None:
    store, _ = stores.open(url, clock=lambda: NOON + 10)
    for number, ended_at in enumerate(ended):
        store.record(turn(number, ended_at=ended_at))
    await store.prune("agent", Retention(seconds=60))
    assert await stored_ids(store) == left


async def test_odd_names_are_told_apart_and_found(url: str, stores: Stores) -> None:
    names = [
        "",
        " ",
        "a",
        "A",
        "a ",
        "ä",
        "a\0",
        "x" * 300,
        "x" * 301,
        "sha256:a",
        "\ud800",
    ]
    store, _ = stores.open(url)
    for number, name in enumerate(names):
        store.record(
            replace(
                turn(number, name, messages=(UserMessage(name),), person=name), id=name
            )
        )
    for name in names:
        (found,) = await store.turns(name)
        assert (found.id, found.origin.conversation_id, found.messages[0]) == (
            name,
            name,
            UserMessage(name),
        )
    assert await store.purge(Selection(person_id="x" * 300)) == 1
    assert await store.turns("x" * 300) == ()
    assert await store.turns("x" * 301)

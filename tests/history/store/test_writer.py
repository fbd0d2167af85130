"""The writer keeps every acknowledged record, drops the oldest beyond its limits, and pauses for a copy of the file."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import custom_components
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.query import Selection
from custom_components.chatterbox.history.store.records import (
    StoreState,
    StoreUnavailable,
    Trouble,
    WriterLimits,
)
from tests.history.store.history_store.test_history_store import ids, stored_ids

from .postgresql import PostgreSQL
from .records import audit, response, turn
from .stores import HASTY, Stores, sqlite_url

_INTEGRATION = Path(custom_components.__file__).parent / "chatterbox"


def record_until_killed(url: str, first: int, after: int) -> list[int]:
    """Record in a process of its own, kill it after so many acknowledgements; return those that it got."""
    with subprocess.Popen(
        [
            sys.executable,
            Path(__file__).with_name("recording_child.py"),
            _INTEGRATION,
            url,
            str(first),
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(after)]
        child.kill()
        acknowledged += [int(line) for line in child.stdout if line.endswith("\n")]
    return acknowledged


async def test_a_killed_process_loses_nothing_that_was_acknowledged(
    sqlite: str, stores: Stores
) -> None:
    when = random.Random(1)  # noqa: S311  # moments, not secrets
    acknowledged: list[int] = []
    for kill in range(3):
        acknowledged += record_until_killed(sqlite, kill * 100_000, when.randint(1, 40))

    store, _ = stores.open(sqlite)
    found = await store.turns("kitchen talk")
    numbers = [int(one.id.removeprefix("turn ")) for one in found]
    assert set(acknowledged) <= set(numbers)
    assert numbers == sorted(set(numbers))
    assert all(one.messages for one in found)
    responses = {one.id: one for one in await store.responses("chain", ["agent"])}
    ended = [responses[f"resp {number}"] for number in acknowledged]
    assert {str(one.response["status"]) for one in ended} == {"completed"}
    assert all(one.messages for one in responses.values())


async def test_at_the_limit_the_oldest_records_are_dropped(
    tmp_path: Path, stores: Stores
) -> None:
    folder = tmp_path / "later"
    store, watch = stores.open(
        sqlite_url(folder / "history.db"),
        limits=WriterLimits(records=2, first_pause=0.01, longest_pause=0.01),
    )
    await watch.until_down(Trouble.CANNOT_OPEN)
    answers = [store.record(turn(number)) for number in range(4)]
    assert not await answers[0].stored()
    assert not await answers[1].stored()
    state = await watch.until(lambda state: state.dropped == 2)
    assert store.state.waiting == 2
    folder.mkdir()
    assert await answers[2].stored()
    assert await answers[3].stored()
    assert await ids(store) == ["turn 2", "turn 3"]
    assert state.trouble is Trouble.CANNOT_OPEN


async def test_records_that_could_not_be_written_count_for_the_limit(
    sqlite: str, stores: Stores
) -> None:
    store, watch = stores.open(
        sqlite, limits=WriterLimits(records=2, first_pause=3600), starts=False
    )
    batch = [store.record(turn(number)) for number in (1, 2)]

    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO chatterbox_turns"):
            store.record(turn(3))
            store.record(turn(4))
            raise StoreUnavailable(Trouble.DISK_FAILED, "The disk reports errors.")

    event.listen(Engine, "before_cursor_execute", fail)
    try:
        store.start()
        await watch.until_down(Trouble.DISK_FAILED)
    finally:
        event.remove(Engine, "before_cursor_execute", fail)
    assert [answer.given for answer in batch] == [True, True]
    assert await stored_ids(store) == ["turn 3", "turn 4"]
    await store.close()


async def test_a_refused_record_costs_no_other(url: str, stores: Stores) -> None:
    store, watch = stores.open(url, starts=False)
    answers = [
        store.record(turn(1)),
        store.record(turn(2, ended_at=10**400)),
        store.record(turn(3, ended_at=float("nan"))),
        store.record(turn(4)),
    ]
    store.start()
    stored = [await answer.stored() for answer in answers]
    assert (stored[0], stored[1], stored[3]) == (True, False, True)
    state = await watch.until(lambda state: state.dropped > 0)
    assert state.trouble is None
    await store.close()


async def test_of_two_records_the_refused_one_costs_not_the_other(
    sqlite: str, stores: Stores
) -> None:
    store, _ = stores.open(sqlite, starts=False)
    answers = [store.record(turn(1)), store.record(turn(2, ended_at=10**400))]
    store.start()
    assert [await answer.stored() for answer in answers] == [True, False]
    await store.close()


async def test_a_failing_observer_is_ignored(sqlite: str) -> None:
    def fail(_state: StoreState) -> None:
        raise LookupError

    store = HistoryStore(f"{sqlite}", fail, limits=HASTY)
    store.start()
    assert await store.record(turn(1)).stored()
    await store.close()
    assert store.state.trouble is Trouble.CLOSED


async def test_a_closed_store_takes_nothing(store: HistoryStore) -> None:
    assert await store.record(turn(1)).stored()
    await store.close()
    assert not await store.record(turn(2)).stored()
    assert not await store.record(audit(3)).stored()
    assert store.state.dropped == 2
    with pytest.raises(StoreUnavailable, match=r"history is closed\."):
        await store.purge(Selection())


async def test_a_store_that_is_down_can_be_closed(
    tmp_path: Path, stores: Stores
) -> None:
    store, watch = stores.open(
        sqlite_url(tmp_path / "no" / "history.db"),
        limits=WriterLimits(first_pause=3600, longest_pause=3600),
    )
    await watch.until_down(Trouble.CANNOT_OPEN)
    answer = store.record(turn(1))
    assert await store.close() == (turn(1),)
    assert not await answer.stored()
    assert (store.state.trouble, store.state.dropped, store.state.waiting) == (
        Trouble.CANNOT_OPEN,
        1,
        0,
    )


async def test_responses_are_dropped_before_turns_and_audit_records(
    sqlite: str, stores: Stores
) -> None:
    store, _ = stores.open(sqlite, limits=WriterLimits(records=3), starts=False)
    answers = [
        store.record(one)
        for one in (turn(1), response(1), audit(1), response(2), turn(2))
    ]
    assert [answer.given for answer in answers] == [False, True, False, True, False]
    store.start()
    assert await stored_ids(store) == ["turn 1", "turn 2", "audit 1"]
    assert store.state.dropped == 2
    await store.close()


async def test_a_heavy_response_drops_no_turn(sqlite: str, stores: Stores) -> None:
    store, _ = stores.open(sqlite, limits=WriterLimits(bytes=100_000), starts=False)
    pending = store.record(turn(1, words="x" * 40_000))
    small = store.record(response(1, words="x" * 1_000))
    heavy = store.record(response(2, words="x" * 90_000))
    assert not await heavy.stored()
    assert not await small.stored(), "the oldest first, as with turns"
    another = store.record(response(3, words="x" * 1_000))
    store.start()
    assert await pending.stored()
    assert await another.stored()
    await store.close()


async def test_a_waiting_response_has_the_weight_of_its_last_state(
    sqlite: str, stores: Stores
) -> None:
    store, _ = stores.open(sqlite, limits=WriterLimits(bytes=150_000), starts=False)
    answers = [
        store.record(response(1, words="x" * 50_000, status=str(state)))
        for state in range(10)
    ]
    assert not any(answer.given for answer in answers)
    pending = store.record(turn(1))
    store.record(response(1, words="x" * 500_000))
    assert answers[0].given, "its last state is too heavy to wait"
    again = store.record(response(1))
    store.start()
    assert not await answers[0].stored()
    assert await pending.stored()
    assert await again.stored()
    await store.close()


def turns_in(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        count: int = connection.execute(
            "SELECT count(*) FROM chatterbox_turns"
        ).fetchone()[0]
    return count


async def test_a_copy_of_the_file_alone_is_whole(
    file: Path, store: HistoryStore
) -> None:
    assert await store.record(turn(1)).stored()

    await store.pause()
    waiting = store.record(turn(2))
    copy = Path(shutil.copy(file, file.with_name("copy.db")))
    assert not waiting.given
    assert await store.turns("kitchen talk") == (turn(1), turn(2)), (
        "readers do not wait"
    )
    store.resume()

    assert await waiting.stored()
    assert turns_in(copy) == 1


async def test_a_pause_ends_by_itself(store: HistoryStore) -> None:

    await store.pause(at_most=0.01)

    assert await store.record(turn(1)).stored()


async def test_a_store_that_is_paused_twice_can_be_closed(store: HistoryStore) -> None:
    await store.pause()
    await store.pause()
    waiting = store.record(turn(1))

    await store.close()

    assert await waiting.stored()


async def test_a_store_that_is_down_cannot_be_paused(
    tmp_path: Path, stores: Stores
) -> None:
    store, _ = stores.open(f"sqlite:///{tmp_path}/no/such/folder/history.db")

    with pytest.raises(StoreUnavailable) as raised:
        await store.pause()

    assert raised.value.trouble is Trouble.CANNOT_OPEN


async def test_a_pause_that_begins_too_late_does_not_happen(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, _ = stores.open(sqlite, timeout=0.05)
    assert await store.record(turn(1)).stored()

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as raised:
            await store.pause()
        waiting = store.record(turn(2))

    assert raised.value.trouble is Trouble.SLOW
    assert await waiting.stored()


async def test_a_cancelled_pause_does_not_happen(
    tmp_path: Path, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    store, watch = stores.open(f"sqlite:///{folder}/history.db", starts=False)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await store.pause()

    store.start()
    await watch.until_down(Trouble.CANNOT_OPEN)
    folder.mkdir()

    assert await store.record(turn(1)).stored()
    await store.close()
    assert "exception calling callback" not in caplog.text


async def test_a_server_is_not_paused(postgresql: PostgreSQL, stores: Stores) -> None:
    store, _ = stores.open(postgresql.new_database("held"))

    await store.pause()

    assert await store.record(turn(1)).stored(), (
        "a server is not copied as a file, so nothing waits"
    )


async def test_the_file_and_its_log_become_one_at_the_end_only(
    file: Path, store: HistoryStore
) -> None:
    assert await store.record(turn(1)).stored()
    log = file.with_name(f"{file.name}-wal")
    assert log.stat().st_size, "else each turn would wait for the disk three times more"

    await store.close()

    assert list(file.parent.glob(f"{file.name}*")) == [file]
    assert turns_in(file) == 1

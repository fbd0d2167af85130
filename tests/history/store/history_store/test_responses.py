"""Responses of the API can be read once recorded, in their last state, with their whole chain, until deleted."""

import asyncio
from pathlib import Path

import pytest

from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.query import Retention, Selection
from custom_components.chatterbox.history.store.records import (
    ResponseRecord,
    StoreUnavailable,
    Trouble,
)
from tests.history.store.history_store.test_history_store import all_bytes, stored_ids
from tests.history.store.records import DAY, MORNING, audit, response, turn
from tests.history.store.stores import ON_BOTH, Stores, sqlite_url

AGENTS = ("agent",)


def ids(found: tuple[ResponseRecord, ...]) -> list[str]:
    return [one.id for one in found]


@ON_BOTH
async def test_a_response_that_was_acknowledged_is_there_after_a_restart(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    recorded = (response(1), response(2), response(3, "another chain"))
    for one in recorded:
        assert await store.record(one).stored()
    await store.close()

    again, _ = stores.open(url)
    assert await again.response("resp 2") == recorded[1]
    assert await again.response("resp 4") is None
    assert await again.responses("resp 1", AGENTS) == recorded[:2]
    assert await again.responses("resp 1", AGENTS, 1) == recorded[1:2]
    assert await again.responses("no chain", AGENTS) == ()
    assert await again.responses("resp 1", ("other", "agent")) == recorded[:2]
    assert await again.responses("resp 1", ("other",)) == ()


async def test_a_response_that_is_recorded_again_takes_the_place_of_the_old_one(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    for status in ("queued", "in_progress", "completed"):
        assert await store.record(response(1, status=status)).stored()
        found = await store.response("resp 1")
        assert found is not None
        assert found.response["status"] == status
        assert await store.record(response(2)).stored()
    assert ids(await store.responses("resp 1", AGENTS)) == ["resp 1", "resp 2"]
    assert await stored_ids(store) == ["resp 1", "resp 2"]


async def test_a_response_is_read_before_it_is_stored(
    sqlite: str, stores: Stores
) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(response(1, status="in_progress")).stored()
    assert await store.record(response(2)).stored()
    await store.close()

    waiting, _ = stores.open(
        sqlite, starts=False
    )  # nothing is written as long as it does not start
    waiting.record(response(1))
    waiting.record(response(3))
    waiting.record(response(4, "another chain"))
    waiting.record(response(5, agent="other"))
    waiting.record(turn(1, "resp 1"))
    assert await waiting.response("resp 1") == response(1)
    assert await waiting.response("resp 3") == response(3)
    assert await waiting.responses("resp 1", AGENTS) == (
        response(1),
        response(2),
        response(3),
    )
    waiting.start()
    assert await stored_ids(waiting) == [
        "turn 1",
        "resp 1",
        "resp 2",
        "resp 3",
        "resp 4",
        "resp 5",
    ]
    await waiting.close()


async def test_a_deleted_response_is_gone_in_every_waiting_state(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    assert await store.record(response(1, status="queued")).stored()
    assert await store.record(response(2)).stored()
    store.record(response(1))
    assert await store.delete_response("resp 1") == 1
    assert await store.delete_response("resp 1") == 0
    assert await store.response("resp 1") is None
    assert ids(await store.responses("resp 1", AGENTS)) == ["resp 2"]


async def test_a_record_after_a_deletion_stays(store: HistoryStore) -> None:
    await store.pause()  # so that all of these wait
    store.record(response(1, status="queued"))
    deleting = asyncio.create_task(store.purge(Selection()))
    await asyncio.sleep(0)
    store.record(response(1))
    store.resume()
    assert await deleting == 1
    assert await store.response("resp 1") == response(1)


async def test_a_deleted_or_replaced_response_is_overwritten(
    file: Path, store: HistoryStore
) -> None:
    assert await store.record(response(1, words="My secret is 1." * 2_000)).stored()
    assert await store.record(
        response(2, words="My wish is 2." * 2_000, person="ann")
    ).stored()
    assert await store.record(response(1, words="Hello.")).stored()
    assert await store.purge(Selection(person_id="ann")) == 1
    assert b"Hello." in all_bytes(file)
    assert b"secret" not in all_bytes(file)
    assert b"wish" not in all_bytes(file)


async def test_responses_are_kept_for_a_time_of_their_own(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url, clock=lambda: MORNING + 300)
    store.record(turn(1))
    store.record(audit(1))
    for number in range(1, 5):
        store.record(response(number))
    assert await store.record(response(5, agent="other", created_at=MORNING)).stored()

    assert await store.prune("agent", Retention(), of_responses=True) == 0
    assert await store.prune("agent", Retention(seconds=177), of_responses=True) == 2
    assert await stored_ids(store) == [
        "turn 1",
        "audit 1",
        "resp 3",
        "resp 4",
        "resp 5",
    ]
    assert await store.prune("agent", Retention(seconds=0), of_responses=True) == 2
    assert await stored_ids(store) == ["turn 1", "audit 1", "resp 5"]


async def test_an_updated_response_does_not_count_as_new(
    url: str, stores: Stores
) -> None:
    """Its row is where it was: else a clock that is set back could make others go with it."""
    store, _ = stores.open(url, clock=lambda: MORNING + DAY)
    store.record(response(1, status="queued"))
    store.record(response(2, created_at=MORNING + DAY))
    assert await store.record(response(1)).stored()
    assert (
        await store.prune("agent", Retention(seconds=DAY / 2), of_responses=True) == 1
    )
    assert await stored_ids(store) == ["resp 2"]


async def test_a_response_of_a_later_time_counts_as_new(
    url: str, stores: Stores
) -> None:
    """It neither goes with those of its old time nor keeps them."""
    store, _ = stores.open(url, clock=lambda: MORNING + DAY)
    for number in range(1, 4):
        store.record(response(number))
    assert await store.record(
        response(1, created_at=MORNING + DAY, words="x" * 1_000)
    ).stored()
    assert await store.response("resp 1") == response(
        1, created_at=MORNING + DAY, words="x" * 1_000
    )
    assert (
        await store.prune("agent", Retention(seconds=DAY / 2), of_responses=True) == 2
    )
    assert await stored_ids(store) == ["resp 1"]
    store.record(response(2, created_at=MORNING + DAY, words="x" * 3_000))
    assert await store.record(response(1, created_at=MORNING + DAY + 1)).stored()
    assert await store.prune("agent", Retention(size=3_000), of_responses=True) == 1
    assert await stored_ids(store) == ["resp 1"]


async def test_responses_are_counted(url: str, stores: Stores) -> None:
    store, _ = stores.open(url)
    assert await store.response_totals(["agent"]) == (0, 0)
    store.record(response(1, words="x" * 1_000))
    store.record(response(2, agent="other"))
    assert await store.record(response(3, agent="third")).stored()
    count, size = await store.response_totals(["agent", "other"])
    assert count == 2
    assert size > 2_000
    assert await store.response_totals([]) == (0, 0)


async def test_a_response_survives_a_database_that_is_down(
    tmp_path: Path, stores: Stores
) -> None:
    folder = tmp_path / "later"
    store, watch = stores.open(sqlite_url(folder / "history.db"))
    state = await watch.until_down(Trouble.CANNOT_OPEN)
    assert "Check that its folder exists" in state.message
    queued = store.record(response(1, status="queued"))
    done = store.record(response(1))
    assert store.state.waiting == 1
    assert await store.response("resp 1") == response(1), "waiting records can be read"
    with pytest.raises(StoreUnavailable):
        await store.response("resp 2")
    with pytest.raises(StoreUnavailable):
        await store.responses("resp 1", AGENTS)
    with pytest.raises(StoreUnavailable):
        await store.delete_response("resp 2")
    folder.mkdir()
    assert await queued.stored()
    assert await done.stored()
    assert await store.response("resp 1") == response(1)

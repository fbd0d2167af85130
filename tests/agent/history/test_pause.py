"""A file of the history is copied while nothing is written to it."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.history.state import StoreUnavailable, Trouble

from .postgresql import PostgreSQL
from .records import turn
from .stores import Stores


def turns_in(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        count: int = connection.execute("SELECT count(*) FROM chatterbox_turns").fetchone()[0]
    return count


async def test_a_copy_of_the_file_alone_is_whole(sqlite: str, file: Path, stores: Stores) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(turn(1)).stored()

    await store.pause()
    waiting = store.record(turn(2))
    copy = Path(shutil.copy(file, file.with_name("copy.db")))
    assert not waiting.given
    assert await store.turns("kitchen talk") == (turn(1), turn(2)), "who reads does not wait"
    store.resume()

    assert await waiting.stored()
    assert turns_in(copy) == 1


async def test_a_store_goes_on_by_itself_when_nobody_says_so(sqlite: str, stores: Stores) -> None:
    store, _ = stores.open(sqlite)

    await store.pause(at_most=0.01)

    assert await store.record(turn(1)).stored()


async def test_a_store_that_is_held_twice_or_closed_ends(sqlite: str, stores: Stores) -> None:
    store, _ = stores.open(sqlite)
    await store.pause()
    await store.pause()
    waiting = store.record(turn(1))

    await store.close()

    assert await waiting.stored()


async def test_a_store_that_is_down_cannot_be_held(tmp_path: Path, stores: Stores) -> None:
    store, _ = stores.open(f"sqlite:///{tmp_path}/no/such/folder/history.db")

    with pytest.raises(StoreUnavailable) as raised:
        await store.pause()

    assert raised.value.trouble is Trouble.CANNOT_OPEN


async def test_a_store_that_is_held_too_late_goes_on(sqlite: str, file: Path, stores: Stores) -> None:
    store, _ = stores.open(sqlite, timeout=0.05)
    assert await store.record(turn(1)).stored()

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as raised:
            await store.pause()
        waiting = store.record(turn(2))

    assert raised.value.trouble is Trouble.SLOW
    async with asyncio.timeout(30):
        assert await waiting.stored()


async def test_a_store_that_goes_down_while_nobody_waits_to_hold_it_comes_up_again(
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


async def test_a_server_is_left_alone(postgresql: PostgreSQL, stores: Stores) -> None:
    store, _ = stores.open(postgresql.new_database("held"))

    await store.pause()

    async with asyncio.timeout(30):
        assert await store.record(turn(1)).stored(), "a server is not copied as a file, so nothing waits"


async def test_what_is_stored_is_brought_into_one_file_at_the_end_only(sqlite: str, file: Path, stores: Stores) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(turn(1)).stored()
    beside = [path.name for path in file.parent.glob(f"{file.name}-*")]
    assert f"{file.name}-wal" in beside, "else each turn would wait for the disk three times more"

    await store.close()

    assert list(file.parent.glob(f"{file.name}*")) == [file]
    assert turns_in(file) == 1

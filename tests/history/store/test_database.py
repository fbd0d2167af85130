"""Faults of the database: callers continue and learn the reason, and no acknowledged record is lost."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from unittest.mock import Mock

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import (
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
    TimeoutError as PoolTimeout,
)

from custom_components.chatterbox.history.store.database import Database, failure_of
from custom_components.chatterbox.history.store.history_store import (
    HistoryStore,
    check_address,
)
from custom_components.chatterbox.history.store.query import HistoryQuery, Selection
from custom_components.chatterbox.history.store.records import (
    RecordRefused,
    StoreUnavailable,
    Trouble,
    WriterLimits,
)
from custom_components.chatterbox.history.store.rows import insert_record
from tests.history.store.history_store.test_history_store import ids

from .postgresql import PostgreSQL
from .records import audit, turn
from .stores import Stores, sqlite_url


class Disk:
    """How large a SQLite file may grow from now on, as on a disk that is nearly full."""

    def __init__(self) -> None:
        self._pages: int = _LARGEST
        self._connections: list[sqlite3.Connection] = []

    def connect(self, connection: object, _record: object) -> None:
        """Hear of a connection that is new."""
        if isinstance(connection, sqlite3.Connection):
            self._connections.append(connection)
            self._tell(connection)

    def closed(self, connection: object, _record: object) -> None:
        """Hear of a connection that is gone: other tests count what is held."""
        if (
            isinstance(connection, sqlite3.Connection)
            and connection in self._connections
        ):
            self._connections.remove(connection)

    def limit(self, pages: int) -> None:
        """Tell every connection that is open, and those that come."""
        self._pages = pages
        for connection in tuple(self._connections):
            try:
                self._tell(connection)
            except sqlite3.ProgrammingError:  # it is closed
                self._connections.remove(connection)

    def _tell(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count={self._pages}")


_LARGEST = 2**32 - 2
_DISK = Disk()
event.listen(
    Engine, "connect", _DISK.connect
)  # for good: to take it away while a thread connects is an error
event.listen(Engine, "close", _DISK.closed)


@contextmanager
def small_disk(pages: int) -> Iterator[None]:
    """Let no SQLite file grow past so many pages meanwhile."""
    _DISK.limit(pages)
    try:
        yield
    finally:
        _DISK.limit(_LARGEST)


# Ruff sees blocking calls in async functions only.
read_bytes, write, remove = Path.read_bytes, Path.write_bytes, Path.unlink


def parts(file: Path) -> list[Path]:
    """Return the files whose names begin like that of a database."""
    return list(file.parent.glob(f"{file.name}*"))


async def test_a_full_disk_loses_no_acknowledged_or_waiting_record(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, watch = stores.open(sqlite)
    assert await store.record(turn(1)).stored()
    await store.pause()  # so that all of these are one batch
    with small_disk(200):
        stored, refused = store.record(turn(2)), store.record(turn(3, ended_at=10**400))
        waits = store.record(turn(4, words="x" * 2_000_000))
        store.resume()
        state = await watch.until_down(Trouble.DISK_FULL)
        assert store.where == str(file)
        assert (
            state.message
            == f"The history in {file} cannot be used now. The disk is full. Make room on it."
        )
        assert await stored.stored()
        assert not await refused.stored()
        assert not waits.given
        assert store.state.waiting == 1
    assert await waits.stored()
    assert await ids(store) == ["turn 1", "turn 2", "turn 4"]


async def test_a_file_that_may_only_be_read(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(turn(1)).stored()
    await store.close()

    read_only, watch = stores.open(f"sqlite:///file:{file}?mode=ro&uri=true")
    answer = read_only.record(turn(2))
    state = await watch.until_down(Trouble.READ_ONLY)
    assert "Let Home Assistant write to it." in state.message
    await read_only.close()
    assert not await answer.stored()
    again, _ = stores.open(sqlite)
    assert await ids(again) == ["turn 1"]


DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "not a database": lambda _: b"x" * 5000,
    "in the middle": lambda whole: whole[:4096] + b"\xff" * (len(whole) - 4096),
    "no UTF-8 in the schema": lambda whole: whole.replace(
        b"CREATE TABLE chatterbox_schema", b"CREATE TABLE \xff" * 2
    ),
    "no UTF-8 in a type": lambda whole: whole.replace(
        b"version INTEGER", b"version INTEGE\xff"
    ),
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_kept_aside_and_a_new_one_begun(
    sqlite: str, file: Path, stores: Stores, damage: str
) -> None:
    store, _ = stores.open(sqlite)
    for number in range(50):
        store.record(turn(number))
    await store.close()
    content = read_bytes(file)
    broken = DAMAGES[damage](content)
    assert broken != content
    write(file, broken)

    again, watch = stores.open(sqlite)
    answer = again.record(turn(99))
    state = await watch.until_down(Trouble.CORRUPT)
    assert "It is damaged." in state.message
    assert await answer.stored()
    state = await watch.until_up()
    assert (
        read_bytes(Path(state.put_aside))[4096:] == broken[4096:]
    )  # its header counts how often it was opened
    assert Path(state.put_aside).name.startswith("history.db.corrupt-")
    assert await ids(again) == ["turn 99"]


async def test_an_empty_file_may_be_chosen(sqlite: str, file: Path) -> None:
    write(file, b"")
    await check_address(sqlite)
    assert read_bytes(file)


async def test_a_file_found_damaged_by_a_reader_is_put_aside(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, watch = stores.open(sqlite)
    assert await store.record(
        turn(1, words="x" * 5_000_000)
    ).stored()  # more than a connection caches
    await store.pause()  # so that all of it is in the file
    store.resume()
    damage = read_bytes(file)
    write(file, damage[:4096] + b"\xff" * (len(damage) - 4096))
    with pytest.raises(StoreUnavailable, match="damaged"):
        await store.turns("kitchen talk")
    await watch.until(lambda state: bool(state.put_aside) and state.trouble is None)
    assert await ids(store) == []


def damage_index(file: Path) -> None:
    """Break the full text index, and nothing else."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "UPDATE chatterbox_search_data SET block = x'00112233445566778899' WHERE id > 1"
        )


def add_lost_page(file: Path) -> None:
    """Let a file have a page more than it knows of."""
    content = read_bytes(file)
    pages = int.from_bytes(content[28:32]) + 1
    write(file, content[:28] + pages.to_bytes(4) + content[32:] + bytes(4096))


async def test_a_damaged_index_is_rebuilt_without_losing_a_turn(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, _ = stores.open(sqlite)
    for number in range(5):
        store.record(turn(number, person="ann", words=f"Lamp {number}."))
    await store.close()
    damage_index(file)

    again, watch = stores.open(sqlite)
    assert await again.record(turn(5, person="ann", words="Lamp 5.")).stored()
    state = await watch.until_up()

    assert not state.put_aside
    assert await ids(again) == [f"turn {number}" for number in range(6)]
    assert len(await again.search(HistoryQuery(words="lamp", person_id="ann"))) == 6
    assert await again.purge(Selection(person_id="ann")) == 6
    assert await again.search(HistoryQuery(words="", person_id="ann")) == ()


async def test_a_file_that_is_damaged_beside_its_index_is_put_aside(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, _ = stores.open(sqlite)
    assert await store.record(turn(1, person="ann")).stored()
    await store.close()
    damage_index(file)
    add_lost_page(file)

    again, watch = stores.open(sqlite)
    assert await again.record(turn(2, person="ann")).stored()
    await watch.until(lambda state: bool(state.put_aside) and state.trouble is None)

    assert await ids(again) == ["turn 2"]


@pytest.mark.parametrize(
    "name",
    ["secrets.yaml", f"{'x' * 244}.db"],
    ids=["something else", "new name too long"],
)
async def test_a_file_that_cannot_be_put_aside_is_left_alone(
    tmp_path: Path, stores: Stores, name: str
) -> None:
    file = tmp_path / name
    write(file, b"password: 1234 " * 500)
    _, watch = stores.open(sqlite_url(file))
    state = await watch.until_down(Trouble.CORRUPT)
    assert state.put_aside == ""
    assert read_bytes(file) == b"password: 1234 " * 500


async def test_two_damaged_files_are_both_kept(
    sqlite: str, file: Path, stores: Stores
) -> None:
    for number in range(3):
        write(file, bytes([number]) * 5000)
        store, watch = stores.open(sqlite)
        await watch.until(lambda state: bool(state.put_aside) and state.trouble is None)
        await store.close()
        remove(file)
    first_bytes = sorted(
        read_bytes(path)[:1] for path in parts(file) if "corrupt" in path.name
    )
    assert first_bytes == [b"\x00", b"\x01", b"\x02"]


async def test_a_locked_file_can_be_read_and_records_wait(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, watch = stores.open(f"{sqlite}?timeout=0.01")
    assert await store.record(turn(1)).stored()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = store.record(turn(2))
        await watch.until_down(Trouble.LOCKED)
        assert await ids(store) == ["turn 1", "turn 2"]
        with pytest.raises(StoreUnavailable, match="Another program holds it"):
            await store.purge(Selection())
    assert await answer.stored()
    assert await ids(store) == ["turn 1", "turn 2"]


async def test_a_database_that_does_not_answer_in_time_is_reported(
    sqlite: str, file: Path, stores: Stores
) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("CREATE TABLE held (a)")
        held = f"{sqlite}?timeout=100"
        store, _ = stores.open(held, timeout=0.01)
        for work in (check_address(held, 0.01), store.turns("kitchen talk")):
            with pytest.raises(
                StoreUnavailable, match="does not answer in time"
            ) as raised:
                await work
            assert raised.value.trouble is Trouble.SLOW


async def test_a_file_that_is_deleted_is_begun_anew(
    file: Path, store: HistoryStore
) -> None:
    assert await store.record(turn(1)).stored()
    for part in parts(file):
        remove(part)
    assert await store.record(turn(2)).stored()
    assert await ids(store) == ["turn 2"]


@pytest.mark.parametrize(
    ("address", "trouble", "says"),
    [
        ("", Trouble.WRONG_URL, "no database URL"),
        ("history.db", Trouble.WRONG_URL, "no database URL"),
        (
            "postgresql://ann:hunter2@db:port/history",
            Trouble.WRONG_URL,
            "no database URL",
        ),
        ("postgresql://ann:hun@ter2@db/history", Trouble.WRONG_URL, "as %40"),
        ("postgresql://ann:h@unter2/x@db/history", Trouble.WRONG_URL, "as %40"),
        ("sqlite://", Trouble.WRONG_URL, "no file"),
        ("sqlite:///:memory:", Trouble.WRONG_URL, "no file"),
        ("sqlite:///file:x?mode=memory&uri=true", Trouble.WRONG_URL, "no file"),
        (
            "oddbase://ann:hunter2@db/history",
            Trouble.UNSUPPORTED,
            "SQLite or PostgreSQL only",
        ),
        (
            "mysql://ann:hunter2@db/history",
            Trouble.UNSUPPORTED,
            "SQLite or PostgreSQL only",
        ),
        (
            "postgresql+odd://ann:hunter2@db/history",
            Trouble.WRONG_URL,
            "no driver called postgresql.odd",
        ),
        (
            "postgresql+pg8000://ann:hunter2@db/history",
            Trouble.NO_DRIVER,
            "postgresql://db/history needs the Python package pg8000",
        ),
        (
            "sqlite:////nowhere.db?timeout=hunter2",
            Trouble.WRONG_URL,
            "after the question mark",
        ),
        (
            "sqlite:////nowhere.db?detect_types=99999999999",
            Trouble.OTHER,
            "OverflowError",
        ),
    ],
)
async def test_an_invalid_address_is_reported_without_its_password(
    address: str, trouble: Trouble, says: str
) -> None:
    with pytest.raises(StoreUnavailable, match=says) as raised:
        await check_address(address)
    assert raised.value.trouble is trouble
    assert "hunter2" not in str(raised.value)
    assert "ter2" not in str(raised.value)


async def test_records_wait_for_a_server_in_their_order(
    postgresql: PostgreSQL, stores: Stores
) -> None:
    store, watch = stores.open(postgresql.new_database("away"))
    assert await store.record(turn(0)).stored()
    postgresql.stop()
    try:
        answers = [store.record(turn(1))]
        state = await watch.until_down(Trouble.SERVER_GONE)
        assert "Its server cannot be reached" in state.message
        with pytest.raises(StoreUnavailable, match="postgresql://localhost/away"):
            await store.turns("kitchen talk")
        answers += [store.record(turn(number)) for number in range(2, 500)]
    finally:
        postgresql.start()
    assert all([await answer.stored() for answer in answers])
    assert await ids(store) == [f"turn {number}" for number in range(500)]


async def test_an_unreachable_server_is_reported_without_the_password(
    stores: Stores,
) -> None:
    address = "postgresql+psycopg://ann:hunter2@127.0.0.1:1/history"
    with pytest.raises(
        StoreUnavailable, match="Its server cannot be reached"
    ) as raised:
        await check_address(address)
    assert "hunter2" not in str(raised.value)
    store, watch = stores.open(address)
    answer = store.record(turn(1))
    state = await watch.until_down(Trouble.SERVER_GONE)
    assert "hunter2" not in state.message
    await store.close()
    assert not await answer.stored()


async def test_a_damaged_record_is_left_out(file: Path, store: HistoryStore) -> None:
    for number in range(1, 6):
        store.record(turn(number))
    assert await store.record(audit(1)).stored()
    other = sqlite3.connect(file)
    other.execute("UPDATE chatterbox_turns SET body = 'oops' WHERE id = 'turn 1'")
    other.execute("UPDATE chatterbox_turns SET body = '{}' WHERE id = 'turn 2'")
    other.execute(
        "UPDATE chatterbox_turns SET body = replace(body, 'user', 'robot') WHERE id = 'turn 3'"
    )
    other.execute("UPDATE chatterbox_audit SET body = '1'")
    other.commit()
    other.close()
    assert await ids(store) == ["turn 4", "turn 5"]
    assert len([line async for line in store.export(Selection())]) == 4, (
        "an export holds whatever is JSON"
    )


class _Answer(Exception):
    """An error that a driver raises."""

    def __init__(self, **codes: object) -> None:
        super().__init__("for user ann, password hunter2")
        self.__dict__.update(codes)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (
            OperationalError("SELECT", {}, _Answer(sqlite_errorcode=266)),
            Trouble.DISK_FAILED,
        ),
        (OperationalError("SELECT", {}, _Answer(sqlite_errorcode=1)), Trouble.OTHER),
        (OperationalError("SELECT", {}, _Answer(sqlstate="53100")), Trouble.DISK_FULL),
        (OperationalError("SELECT", {}, _Answer(pgcode="25006")), Trouble.READ_ONLY),
        (
            OperationalError("SELECT", {}, _Answer(sqlstate="57P01")),
            Trouble.SERVER_GONE,
        ),
        (InterfaceError("SELECT", {}, _Answer()), Trouble.SERVER_GONE),
        (
            ProgrammingError("SELECT", {}, _Answer(), connection_invalidated=True),
            Trouble.SERVER_GONE,
        ),
        (ProgrammingError("SELECT", {}, _Answer(sqlstate="42501")), Trouble.OTHER),
        (ProgrammingError("SELECT", {}, _Answer()), Trouble.OTHER),
        (PoolTimeout("hunter2"), Trouble.OTHER),
        (UnicodeDecodeError("utf-8", b"hunter2", 0, 1, "hunter2"), Trouble.CORRUPT),
    ],
    ids=lambda value: value.value if isinstance(value, Trouble) else None,
)
def test_errors_of_a_database_are_translated(
    error: Exception, trouble: Trouble
) -> None:
    failure = failure_of(error, "postgresql://db/history")
    assert isinstance(failure, StoreUnavailable)
    assert failure.trouble is trouble
    assert "postgresql://db/history" in str(failure)
    assert "hunter2" not in str(failure)


@pytest.mark.parametrize(
    "error",
    [
        IntegrityError("INSERT", {}, _Answer()),
        DataError("INSERT", {}, _Answer()),
        StatementError("hunter2", "INSERT", {}, OverflowError()),
    ],
    ids=["integrity", "data", "statement"],
)
def test_a_rejected_value_is_the_fault_of_the_record(error: SQLAlchemyError) -> None:
    failure = failure_of(error, "history.db")
    assert isinstance(failure, RecordRefused)
    assert "hunter2" not in str(failure)


def test_no_record_is_to_blame_for_a_database_without_tables(
    sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Mock(side_effect=IntegrityError("CREATE", {}, _Answer()))
    monkeypatch.setattr(
        "custom_components.chatterbox.history.store.database.needs_tables", refusal
    )
    with (
        pytest.raises(StoreUnavailable, match="IntegrityError"),
        Database(sqlite).begin(),
    ):
        pass


def test_a_readable_file_may_be_damaged(sqlite: str, file: Path) -> None:
    database = Database(sqlite)
    with database.begin(writes=True) as connection:
        insert_record(connection, turn(1))
    with database.begin() as connection:
        assert database.check(connection) == 0
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("PRAGMA writable_schema=ON")
        other.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, 'device VARCHAR(80)', 'device CHAR NOT NULL')"
        )
    with (
        pytest.raises(StoreUnavailable, match="damaged"),
        database.begin() as connection,
    ):
        database.check(connection)


def test_the_files_of_a_server_are_left_to_it(sqlite: str) -> None:
    server = Database("postgresql://ann:hunter2@db:5432/history")
    assert server.where == "postgresql://db:5432/history", (
        "without the password; two servers on a machine are two"
    )
    server.shrink()
    with Database(sqlite).begin() as connection:
        assert server.check(connection) == 0
    assert server.put_aside() is None


_LONG_QUERY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT count(*) FROM n"


def descriptors_of(file: Path) -> int:
    """Return how often this process has a file open."""
    found = 0
    for one in Path("/dev/fd").iterdir():
        with suppress(FileNotFoundError):  # another thread may close one meanwhile
            found += one.samefile(file)
    return found


def test_many_readers_share_few_descriptors(sqlite: str, file: Path) -> None:
    database = Database(sqlite)
    with database.begin(writes=True) as connection:
        insert_record(connection, turn(1))

    def read(_number: int) -> int:
        with database.begin() as reading:
            reading.exec_driver_sql(_LONG_QUERY).scalar()
            return descriptors_of(file)

    with ThreadPoolExecutor(32) as threads:
        assert 1 <= max(threads.map(read, range(200))) <= 5
    database.close()
    assert descriptors_of(file) == 0


async def test_a_store_that_is_down_leaves_its_file_until_it_is_asked_for_something(
    sqlite: str, file: Path, stores: Stores
) -> None:
    store, watch = stores.open(
        sqlite, limits=WriterLimits(first_pause=3600, longest_pause=3600)
    )
    assert await store.record(turn(1)).stored()
    with small_disk(200):
        waits = store.record(turn(2, words="x" * 2_000_000))
        await watch.until_down(Trouble.DISK_FULL)
        assert descriptors_of(file) == 0, "so that its disk can be changed"

    assert await store.purge(Selection(agent="other")) == 0
    assert await waits.stored()


def test_a_file_is_closed_before_it_is_put_aside(sqlite: str, file: Path) -> None:
    database = Database(sqlite)
    with database.begin(writes=True) as connection:
        insert_record(connection, turn(1))
    database.close()
    add_lost_page(file)

    aside = database.put_aside()

    assert aside is not None
    assert descriptors_of(aside) == 0, (
        "else SQLite may remove the log of the file that takes its place"
    )


def test_a_write_waits_for_others_also_after_it_moved_the_log(
    sqlite: str, file: Path
) -> None:
    database = Database(f"{sqlite}?timeout=0.01")
    with database.begin(writes=True) as connection:
        insert_record(connection, turn(1))
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chatterbox_turns").fetchall()
        with database.begin(writes=True) as connection:
            insert_record(connection, turn(2))
        database.shrink()
        with database.begin(writes=True) as connection:
            insert_record(connection, turn(3))

    with database.begin(writes=True) as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10
    database.close()

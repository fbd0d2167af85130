"""One database: opened when it is needed, its errors told in our words, a damaged file put aside.

Knows SQLAlchemy and what SQLite has to be told. Must not know what is stored. Everything here waits for a disk or a
server, so nothing of it may be called on an event loop. Any thread may read; one thread writes, and closes.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from .migrations import migrate
from .search_filling import make_index_anew
from .store_failures import failure_of, unavailable
from .store_trouble import StoreUnavailable, Trouble

_SQLITE: Final = "sqlite"
_PATIENCE: Final = 10.0
"""Seconds to wait for a free connection."""
_READERS: Final = 4
"""Who read a file at the same time. What they had open, SQLite closes only when nobody has the file open any more, and
who writes always has; until then it uses it again. So as many stay open as there ever were readers at once."""
_DATABASE_ENDINGS: Final = frozenset({".db", ".db3", ".sqlite", ".sqlite3"})
"""Of files that are put aside when they are damaged. Others may be something else, given by mistake."""
_BESIDE: Final = ("", "-wal", "-shm")
"""What SQLite adds to the name of a database for the files that belong to it."""
_SETTINGS: Final = (
    "PRAGMA journal_mode=WAL",  # who reads never waits for who writes, and a process that is killed loses nothing
    "PRAGMA synchronous=FULL",  # what is acknowledged is on the disk, also when the power fails; once for each batch
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",  # what a person has deleted is not left in the file
)


class Database:
    """A database of turns. It is opened by whoever needs it first."""

    def __init__(self, url: str) -> None:
        """Take its address, as SQLAlchemy writes it. Raises StoreUnavailable (WRONG_URL) for what is none."""
        self._url = _parsed(url)
        self._name: Final = self._url.database or ""
        """Where it is, if it is a file."""
        self.is_file: Final = self._url.get_backend_name() == _SQLITE
        """Whether it is a file of SQLite, and no server."""
        self._engine: Engine | None = None
        self._kept: Connection | None = None
        """What writes to a file. SQLite copies all that was written, and waits for the disk three times more, whenever
        nobody has the file open any more; so this stays open."""
        self._kept_file: tuple[int, int] | None = None
        """Which file that is."""
        self._holds_deleted = False
        """Whether what was deleted may still stand beside the file, because somebody was reading then."""
        self._lock = threading.Lock()
        self._readers = threading.Semaphore(_READERS)
        self.where: Final = _where(self._url)
        """What it is called in messages: no user, no password."""

    @contextmanager
    def begin(self, *, writes: bool = False) -> Iterator[Connection]:
        """Give a transaction: kept when the block ends, undone when it raises.

        One that writes says so before it reads: SQLite lets it wait for another program at its beginning only. Raises
        StoreUnavailable or RecordRefused for the errors of the database.
        """
        try:
            if writes and self.is_file:
                yield from self._write()
                return
            with self._reader() if self.is_file else self._opened().connect() as connection, connection.begin():
                yield connection
        except (SQLAlchemyError, sqlite3.Error) as err:
            raise failure_of(err, self.where) from None  # the texts of its cause quote what was stored

    def check(self, _connection: Connection) -> int:
        """Look, in a transaction, whether the file is whole. Raises StoreUnavailable (CORRUPT) when it is not."""
        if self.is_file:
            with self._opened().connect() as fresh:  # it does not remember what stood there before
                self._make_sure(fresh, "PRAGMA quick_check(1)")
        return 0

    def give_back_room(self, *, waits: bool = True) -> None:
        """Make the file smaller after something was deleted, and write over what was, as far as that can be now.

        Where somebody reads, it `waits` for them a little; what it cannot do then is done after what is written next.
        """
        if self.is_file:
            self._holds_deleted = True
            with suppress(sqlite3.Error, SQLAlchemyError, StoreUnavailable):
                connection = self._opened().raw_connection()  # these are not for a transaction
                try:
                    cursor = connection.cursor()
                    if not waits:
                        cursor.execute("PRAGMA busy_timeout=0")
                    cursor.execute("PRAGMA incremental_vacuum")
                    cursor.fetchall()
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._holds_deleted = any(is_busy for is_busy, *_ in cursor.fetchall())
                finally:
                    connection.close()

    def close(self) -> None:
        """Give up all connections; the next use makes new ones."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    def put_aside(self) -> Path | None:
        """Rename a damaged file, so that a new one is begun. Return its new name; None when it is left alone.

        One that is whole but for its full text index gets another index instead: no turn is lost for that.
        """
        self.close()
        file = Path(self._name)
        if not self.is_file or file.suffix not in _DATABASE_ENDINGS or not file.is_file() or self._has_mended_index():
            return None
        self.close()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        aside = file.with_name(f"{file.name}.corrupt-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = file.with_name(f"{file.name}.corrupt-{stamp}-{number}")
        try:
            for ending in _BESIDE:
                beside = file.with_name(file.name + ending)
                if beside.exists():
                    beside.rename(aside.with_name(aside.name + ending))
        except OSError:
            return None
        return aside

    def _has_mended_index(self) -> bool:
        """Make the full text index anew. Return whether everything is whole then; else it is left as it was."""
        try:
            with self.begin(writes=True) as connection:
                make_index_anew(connection)
                self._make_sure(connection, "PRAGMA integrity_check(1)")
        except Exception:  # noqa: BLE001  # in a damaged file there may be anything
            return False
        return True

    def _make_sure(self, connection: Connection, check: str) -> None:
        if connection.exec_driver_sql(check).scalar() != "ok":
            raise unavailable(Trouble.CORRUPT, self.where)

    def _write(self) -> Iterator[Connection]:
        """Give a transaction that writes to a file, begun and ended without SQLAlchemy, which takes far longer."""
        connection = self._writer()
        driver = _driver_of(connection)
        driver.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            driver.commit()
        finally:
            driver.rollback()  # nothing, after a commit
            connection.rollback()  # else SQLAlchemy takes it to go on, where it ran a statement in it
        if self._holds_deleted:
            self.give_back_room(waits=False)

    def _writer(self) -> Connection:
        if self._kept is not None and self._kept_file != self._file():
            self.close()  # what is written into a file that was deleted, or renamed, is lost
        if self._kept is None:
            self._kept = self._opened().connect()
            self._kept_file = self._file()
        return self._kept

    @contextmanager
    def _reader(self) -> Iterator[Connection]:
        with self._readers, self._opened().connect() as connection:
            yield connection

    def _file(self) -> tuple[int, int] | None:
        """Return which file has the name of the database; None where there is none."""
        try:
            found = os.stat(self._name)  # noqa: PTH116  # at every transaction; a Path takes five times as long
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _opened(self) -> Engine:
        with self._lock:
            if self._engine is None:
                engine = self._made()
                try:
                    migrate(engine)
                except Exception as err:  # noqa: BLE001  # no record may pay for it, whatever it is
                    engine.dispose()
                    raise self._unopened(err) from None  # the texts of its cause quote what was stored
                self._engine = engine
            return self._engine

    def _unopened(self, error: Exception) -> StoreUnavailable:
        """Return why the tables are not as they have to be. Whatever it is, no record is to blame."""
        told = failure_of(error, self.where) if isinstance(error, SQLAlchemyError | sqlite3.Error) else error
        return (
            told if isinstance(told, StoreUnavailable) else unavailable(Trouble.OTHER, self.where, type(error).__name__)
        )

    def _made(self) -> Engine:
        try:
            if self.is_file:  # a file is opened in no time; so who reads holds none that another thread puts aside
                engine = create_engine(self._url, hide_parameters=True, poolclass=NullPool)
                event.listen(engine, "connect", _set_up_sqlite)
                event.listen(engine, "begin", _begin_in_sqlite)
            else:
                engine = create_engine(self._url, hide_parameters=True, pool_pre_ping=True, pool_timeout=_PATIENCE)
            engine.connect().close()  # some drivers look at the whole address only now
        except NoSuchModuleError:
            unknown = f"There is no kind of database called {self._url.drivername}."
            raise StoreUnavailable(Trouble.WRONG_URL, unknown) from None
        except ImportError as err:
            needed = f"needs the Python package {err.name}, which is not installed"
            raise StoreUnavailable(Trouble.NO_DRIVER, f"The history in {self.where} {needed}.") from None
        except ArgumentError, TypeError, ValueError:
            wrong = "has something after the question mark that cannot be used"
            raise StoreUnavailable(Trouble.WRONG_URL, f"The address of the history in {self.where} {wrong}.") from None
        return engine


def _parsed(address: str) -> URL:
    """Read an address. Nothing of one that cannot be read is quoted: it may hold a password."""
    try:
        url = make_url(address)
    except ArgumentError, ValueError:
        raise StoreUnavailable(
            Trouble.WRONG_URL, "The address of the history is none of a database, such as sqlite:////config/history.db."
        ) from None
    if url.get_backend_name() != _SQLITE:
        if "@" in f"{url.host}{url.database}":
            raise StoreUnavailable(
                Trouble.WRONG_URL, "Write an @ in the name or the password of the address of the history as %40."
            )
    elif url.database in (None, "", ":memory:") or url.query.get("mode") == "memory":
        raise StoreUnavailable(Trouble.WRONG_URL, "The address of the history names no file to keep it in.")
    return url


def _where(url: URL) -> str:
    if url.get_backend_name() == _SQLITE:
        return str(url.database)
    port = "" if url.port is None else f":{url.port}"
    return f"{url.get_backend_name()}://{url.host or 'localhost'}{port}/{url.database or ''}"


def _set_up_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    """Prepare a new connection. From here on transactions begin where we say, also those that change tables."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA page_count")
    if cursor.fetchone() == (0,):  # a new file: only now can it be told to give back the room of what is deleted
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
    for setting in _SETTINGS:
        cursor.execute(setting)
    cursor.close()


def _begin_in_sqlite(connection: Connection) -> None:
    driver = _driver_of(connection)
    if not driver.in_transaction:  # else it was begun to write
        driver.execute("BEGIN")


def _driver_of(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)  # that of a file

"""One database: opened on first use, its errors translated, a damaged file put aside.

Everything here blocks, so it must not run on an event loop. Any thread may read; one
thread writes and closes.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.pool import ConnectionPoolEntry

from ...agent.text import read_data_file
from .records import RecordRefused, StoreUnavailable, Trouble
from .schema import POSTGRESQL, SQLITE, create_tables, needs_tables
from .search import create_index, rebuild_index

_POOL_SIZE: Final = 5
_POOL_TIMEOUT: Final = 10.0
"""Seconds to wait for a free connection."""
_DATABASE_ENDINGS: Final = frozenset({".db", ".db3", ".sqlite", ".sqlite3"})
"""Only these are put aside when damaged; another file may have been named by mistake."""
_FILE_SUFFIXES: Final = (
    "",
    "-wal",
    "-shm",
)
_PRAGMAS: Final = (
    # readers never wait for the writer, and a killed process loses nothing
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",  # an acknowledged record survives a power failure
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",  # deleted content is overwritten
)


@dataclass(frozen=True, slots=True)
class _Symptoms:
    """The text about a trouble, and the codes that mean it."""

    text: str
    codes: frozenset[int | str] = frozenset()


_TROUBLES: Final = read_data_file(__file__, dict[Trouble, _Symptoms], "troubles.toml")


class Database:
    """A database of records, opened by its first user."""

    def __init__(
        self,
        url: str,
        *,
        may_be_empty: bool = False,
    ) -> None:
        """Take an SQLAlchemy URL. Raises StoreUnavailable (WRONG_URL, UNSUPPORTED) for an invalid one.

        A file that exists and is empty is damaged, unless it `may_be_empty`.
        """
        self._url = _parsed(url)
        self._path: Final = self._url.database or ""
        self.is_file: Final = self._url.get_backend_name() == SQLITE
        """Whether it is an SQLite file, not a server."""
        self.where: Final = _where(self._url)
        """Its name in messages, without user and password."""
        self._may_be_empty = may_be_empty
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._opened_file: tuple[int, int] | None = None
        self._holds_deleted = False
        """Whether deleted content may still be in the WAL file, because somebody was reading."""

    @contextmanager
    def begin(self, *, writes: bool = False) -> Iterator[Connection]:
        """Enter a transaction: committed when the block ends, rolled back when it raises.

        A writing transaction has to say so, because SQLite waits for other processes
        only when it begins. Raises StoreUnavailable or RecordRefused for errors of the
        database.
        """
        try:
            with self._open().connect() as connection:
                connection.execution_options(
                    begin="BEGIN IMMEDIATE" if writes else "BEGIN"
                )
                with connection.begin():
                    yield connection
        except (SQLAlchemyError, UnicodeDecodeError) as err:
            raise failure_of(
                err, self.where
            ) from None  # its texts quote stored content
        if writes and self._holds_deleted:
            self.shrink(waits=False)

    def check(self, _connection: Connection) -> int:
        """Check the file. Raises StoreUnavailable (CORRUPT) when it is damaged."""
        if self.is_file:
            self.close()  # a new connection has cached nothing
            with self.begin() as connection:
                self._require_ok(connection, "PRAGMA quick_check(1)")
        return 0

    def shrink(self, *, waits: bool = True) -> None:
        """Move the WAL into the file, so that deleted content is gone and the file becomes smaller.

        With `waits`, it waits a little for readers. What cannot be done now is repeated
        after the next write.
        """
        if not self.is_file:
            return
        self._holds_deleted = True
        with (
            suppress(SQLAlchemyError, StoreUnavailable),
            self._open().connect() as connection,
        ):
            if not waits:
                # closed afterwards, because the next line stays in force
                connection.detach()
                connection.exec_driver_sql("PRAGMA busy_timeout=0")
            checkpoint = connection.exec_driver_sql(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            ).all()
            self._holds_deleted = any(is_busy for is_busy, *_ in checkpoint)

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        with self._lock:
            engine = self._engine
            self._engine = None
        if engine is not None:
            engine.dispose()

    def put_aside(self) -> Path | None:
        """Rename a damaged file, so that a new one is created. Return its new path; None where it was not renamed.

        All connections must be closed. If only the search index is damaged, it is
        rebuilt instead.
        """
        file = Path(self._path)
        if (
            not self.is_file
            or file.suffix not in _DATABASE_ENDINGS
            or not file.is_file()
            or self._repair_index()
        ):
            return None
        self.close()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        aside = file.with_name(f"{file.name}.corrupt-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = file.with_name(f"{file.name}.corrupt-{stamp}-{number}")
        try:
            for suffix in _FILE_SUFFIXES:
                part = file.with_name(file.name + suffix)
                if part.exists():
                    part.rename(aside.with_name(aside.name + suffix))
        except OSError:
            return None
        return aside

    def _repair_index(self) -> bool:
        """Rebuild the search index. Return whether the file is whole then; otherwise it is left unchanged."""
        try:
            with self.begin(writes=True) as connection:
                rebuild_index(connection)
                self._require_ok(connection, "PRAGMA integrity_check(1)")
        except Exception:  # noqa: BLE001  # a damaged file may cause any error
            return False
        return True

    def _require_ok(
        self,
        connection: Connection,
        check: str,
    ) -> None:
        if connection.exec_driver_sql(check).scalar() != "ok":
            raise _unavailable(Trouble.CORRUPT, self.where)

    def _open(self) -> Engine:
        """Return the engine of a database whose tables exist."""
        with self._lock:
            if self._engine is not None and self._opened_file != self._file_id():
                self._engine.dispose()  # the file was deleted or replaced
                self._engine = None
            if self._engine is None:
                file = Path(self._path)
                if (
                    self.is_file
                    and not self._may_be_empty
                    and file.is_file()
                    and not file.stat().st_size
                ):
                    raise _unavailable(Trouble.CORRUPT, self.where)
                engine = self._create_engine()
                try:
                    with engine.connect() as connection:
                        connection.execution_options(begin="BEGIN")
                        with connection.begin():
                            if needs_tables(connection):
                                create_tables(connection)
                                create_index(connection)
                except Exception as err:  # noqa: BLE001  # no record is to blame for any of them
                    engine.dispose()
                    failure = failure_of(err, self.where)
                    if isinstance(failure, RecordRefused):
                        name = type(err).__name__
                        failure = _unavailable(
                            Trouble.OTHER,
                            self.where,
                            name,
                        )
                    raise failure from None
                self._engine = engine
                self._opened_file = self._file_id()
            return self._engine

    def _file_id(self) -> tuple[int, int] | None:
        """Return device and inode of the file; None for a server, or where there is no file."""
        try:
            found = os.stat(self._path)  # noqa: PTH116  # for every transaction; a Path takes five times as long
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _create_engine(self) -> Engine:
        try:
            engine = create_engine(
                self._url,
                hide_parameters=True,
                pool_size=_POOL_SIZE,
                max_overflow=0,
                pool_timeout=_POOL_TIMEOUT,
                pool_pre_ping=not self.is_file,
            )
            if self.is_file:
                event.listen(
                    engine,
                    "connect",
                    _set_up_sqlite,
                )
                event.listen(
                    engine,
                    "begin",
                    _begin_in_sqlite,
                )
        except NoSuchModuleError:
            raise StoreUnavailable(
                Trouble.WRONG_URL, f"There is no driver called {self._url.drivername}."
            ) from None
        except ImportError as err:
            needed = f"needs the Python package {err.name}, which is not installed"
            raise StoreUnavailable(
                Trouble.NO_DRIVER, f"The history in {self.where} {needed}."
            ) from None
        except ArgumentError, TypeError, ValueError:
            raise StoreUnavailable(
                Trouble.WRONG_URL,
                f"The parameters after the question mark of the address of {self.where} are invalid.",
            ) from None
        return engine


def failure_of(
    error: Exception,
    where: str,
) -> StoreUnavailable | RecordRefused:
    """Translate an error of the database at `where`. Its own text is dropped: it may hold values or a password."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, UnicodeDecodeError):
        return _unavailable(Trouble.CORRUPT, where)
    # A plain StatementError did not reach the database: a value of the record cannot be
    # stored.
    if isinstance(error, IntegrityError | DataError) or type(error) is StatementError:
        return RecordRefused(
            f"The history in {where} does not accept a record ({type(error).__name__})."
        )
    if not isinstance(error, DBAPIError):
        return _unavailable(Trouble.OTHER, where, type(error).__name__)
    code = getattr(error.orig, "sqlite_errorcode", None)
    if isinstance(code, int):
        return _unavailable(
            _meant_by(code & 0xFF, Trouble.OTHER),
            where,
            f"SQLite {code}",
        )
    if isinstance(
        error.orig, sqlite3.OperationalError
    ):  # it has no code for text that is no UTF-8
        return _unavailable(Trouble.CORRUPT, where)
    state = getattr(error.orig, "sqlstate", None) or getattr(
        error.orig,
        "pgcode",
        None,
    )
    is_gone = error.connection_invalidated or isinstance(
        error, OperationalError | InterfaceError
    )
    trouble = _meant_by(state, Trouble.SERVER_GONE if is_gone else Trouble.OTHER)
    return _unavailable(
        trouble,
        where,
        state or type(error).__name__,
    )


def _meant_by(code: object, other: Trouble) -> Trouble:
    """Return the trouble that a code means, or else the other one."""
    return next((one for one, of in _TROUBLES.items() if code in of.codes), other)


def _unavailable(
    trouble: Trouble,
    where: str,
    code: str = "",
) -> StoreUnavailable:
    if trouble in _TROUBLES:
        text = _TROUBLES[trouble].text
    else:
        text = f"It does not work as it should ({code})."
    return StoreUnavailable(
        trouble, f"The history in {where} cannot be used now. {text}"
    )


def _parsed(address: str) -> URL:
    """Parse a database URL. Errors quote nothing of it, because it may hold a password."""
    try:
        url = make_url(address)
    except ArgumentError, ValueError:
        raise StoreUnavailable(
            Trouble.WRONG_URL,
            "The address of the history is no database URL, such as sqlite:////config/history.db.",
        ) from None
    match url.get_backend_name():
        case "sqlite":
            if (
                url.database in (None, "", ":memory:")
                or url.query.get("mode") == "memory"
            ):
                raise StoreUnavailable(
                    Trouble.WRONG_URL, "The address of the history names no file."
                )
        case "postgresql":
            if "@" in f"{url.host}{url.database}":
                raise StoreUnavailable(
                    Trouble.WRONG_URL,
                    "Write an @ in the name or the password of the address of the history as %40.",
                )
        case _:
            raise StoreUnavailable(
                Trouble.UNSUPPORTED,
                "The history can be stored in SQLite or PostgreSQL only.",
            )
    return url


def _where(url: URL) -> str:
    if url.get_backend_name() == SQLITE:
        return str(url.database)
    if url.port is None:
        port = ""
    else:
        port = f":{url.port}"
    return f"{POSTGRESQL}://{url.host or 'localhost'}{port}/{url.database or ''}"


def _set_up_sqlite(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    """Prepare a new connection; `_begin_in_sqlite` begins its transactions, also those that create tables."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA page_count")
    if cursor.fetchone() == (0,):  # only a new file accepts this
        cursor.execute("PRAGMA auto_vacuum=FULL")
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_in_sqlite(connection: Connection) -> None:
    begin = connection.get_execution_options().get("begin")
    if begin:
        connection.exec_driver_sql(begin)

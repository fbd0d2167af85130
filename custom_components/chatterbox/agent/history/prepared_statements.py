"""Statements that are the same at every turn: put together once, and handed to SQLite without a detour.

Knows SQLAlchemy and SQLite's driver. Must not know tables, or what is in a row. SQLAlchemy takes several times as long
for such a statement as SQLite; a server takes much longer than both, so there nothing is spared.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from sqlalchemy import Connection, Insert, Select
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DBAPIError

_DIALECT: Final = SQLiteDialect_pysqlite(paramstyle="qmark")


def insert_rows(connection: Connection, statement: Insert, rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows that all have the same columns; none is fine."""
    if not rows:
        return
    driver = _driver_of(connection)
    if driver is None:
        connection.execute(statement, rows)
        return
    sql, names, _ = _compiled(statement, tuple(rows[0]))
    _run(driver.executemany, sql, [[row[name] for name in names] for row in rows])


def insert_row(connection: Connection, statement: Insert, row: Mapping[str, object]) -> int:
    """Insert a row, and return the number that its table has counted for it."""
    driver = _driver_of(connection)
    if driver is None:
        [number] = cast("tuple[int]", connection.execute(statement, row).inserted_primary_key)  # it always has one
        return number
    sql, names, _ = _compiled(statement, tuple(row))
    return cast("int", _run(driver.execute, sql, [row[name] for name in names]).lastrowid)  # the same


def select_rows(
    connection: Connection, statement: Select[tuple[str, bool]], values: Mapping[str, str]
) -> Sequence[Sequence[object]]:
    """Return the rows that a statement finds with these values of its parameters."""
    driver = _driver_of(connection)
    if driver is None:
        return connection.execute(statement, values).all()
    sql, names, known = _compiled(statement)
    return _run(driver.execute, sql, [values.get(name, known[name]) for name in names]).fetchall()


def run_in_sqlite(connection: Connection, sql: str) -> None:
    """Run a statement that takes and gives nothing; the connection is one to a file of SQLite."""
    _run(cast("sqlite3.Connection", connection.connection.dbapi_connection).execute, sql, ())


def _driver_of(connection: Connection) -> sqlite3.Connection | None:
    driver: object = connection.connection.dbapi_connection
    return driver if isinstance(driver, sqlite3.Connection) else None


@lru_cache(maxsize=64)
def _compiled(
    statement: Insert | Select[tuple[str, bool]], columns: tuple[str, ...] = ()
) -> tuple[str, Sequence[str], Mapping[str, object]]:
    """Return a statement as SQLite takes it, the names of its parameters in their order, and what it knows of them."""
    compiled = statement.compile(dialect=_DIALECT, column_keys=columns or None, for_executemany=bool(columns))
    return compiled.string, tuple(compiled.positiontup or ()), compiled.params


def _run[Values](run: Callable[[str, Values], sqlite3.Cursor], sql: str, values: Values) -> sqlite3.Cursor:
    """Run a statement; an error of SQLite is told as SQLAlchemy tells it."""
    try:
        return run(sql, values)
    except sqlite3.Error as err:
        raise DBAPIError.instance(None, None, err, sqlite3.Error, hide_parameters=True, dialect=_DIALECT) from None

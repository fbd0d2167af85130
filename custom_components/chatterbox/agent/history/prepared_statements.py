"""Statements that are the same at every turn: put together once, and handed to SQLite without a detour.

Knows SQLAlchemy and SQLite's driver. Must not know tables, or what is in a row. SQLAlchemy takes several times as long
for such a statement as SQLite; a server takes much longer than both, so there nothing is spared.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from sqlalchemy import Connection, Insert, Select
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

_DIALECT: Final = SQLiteDialect_pysqlite(paramstyle="qmark")


class PreparedStatements:
    """Runs them in one transaction; an error of SQLite comes as SQLite's."""

    def __init__(self, connection: Connection) -> None:
        """Run them on a connection."""
        self._connection = connection
        driver: object = connection.connection.dbapi_connection
        self._sqlite = driver if isinstance(driver, sqlite3.Connection) else None

    def insert_rows(self, statement: Insert, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert rows that all have the same columns; none is fine."""
        if not rows:
            return
        if self._sqlite is None:
            self._connection.execute(statement, rows)
            return
        sql, names, _ = _compiled(statement, tuple(rows[0]))
        self._sqlite.executemany(sql, [[row[name] for name in names] for row in rows])

    def insert_row(self, statement: Insert, row: Mapping[str, object]) -> int:
        """Insert a row, and return the number that its table has counted for it."""
        if self._sqlite is None:
            [number] = cast("tuple[int]", self._connection.execute(statement, row).inserted_primary_key)  # it has one
            return number
        sql, names, _ = _compiled(statement, tuple(row))
        return cast("int", self._sqlite.execute(sql, [row[name] for name in names]).lastrowid)  # the same

    def select_rows(self, statement: Select[tuple[str, bool]], values: Mapping[str, str]) -> Sequence[Sequence[object]]:
        """Return the rows that a statement finds with these values of its parameters."""
        if self._sqlite is None:
            return self._connection.execute(statement, values).all()
        sql, names, known = _compiled(statement)
        return self._sqlite.execute(sql, [values.get(name, known[name]) for name in names]).fetchall()


@lru_cache(maxsize=64)
def _compiled(
    statement: Insert | Select[tuple[str, bool]], columns: tuple[str, ...] = ()
) -> tuple[str, Sequence[str], Mapping[str, object]]:
    """Return a statement as SQLite takes it, the names of its parameters in their order, and what it knows of them."""
    compiled = statement.compile(dialect=_DIALECT, column_keys=columns or None, for_executemany=bool(columns))
    return compiled.string, tuple(compiled.positiontup or ()), compiled.params

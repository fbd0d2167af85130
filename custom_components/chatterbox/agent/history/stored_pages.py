"""Reads the JSON objects in the rows of any table, some at a time.

Knows the columns that tables of records have in common. Must not know which record it is. Every function works inside a
transaction that it is given.
"""

import logging
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, select

from ..messages import JsonObject
from .json_fields import StoredJsonInvalid, read_object

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Page[T]:
    """Some of what is selected; what cannot be read is left out."""

    found: list[T]
    last: int | None
    """Number of the last row, to go on after; None when there was none."""


def select_bodies(
    connection: Connection, table: Table, where: ColumnElement[bool], after: int, most: int
) -> Page[JsonObject]:
    """Return the first bodies after the number `after`, in the order in which they were stored."""
    chosen = select(table.c.seq, table.c.body).where(where, table.c.seq > after).order_by(table.c.seq).limit(most)
    rows = connection.execute(chosen).all()
    found = [body for row in rows if (body := readable(row.body)) is not None]
    return Page(found, rows[-1].seq if rows else None)


def readable(text: str) -> JsonObject | None:
    """Read a stored object; None, and a line in the log, for one that somebody has damaged."""
    try:
        return read_object(text)
    except StoredJsonInvalid as err:
        _LOGGER.warning("Something that is stored cannot be read: %s", err)
        return None

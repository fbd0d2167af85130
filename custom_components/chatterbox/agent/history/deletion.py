"""Deletes what a person asks for, and what has become too old or too much.

Knows the tables. Must not know who asks, or which database it is. Every function works inside a transaction that
it is given, and returns how many records are gone.
"""

from contextlib import nullcontext
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, select

from .schema import audit, conversations, key_of, responses, turns
from .search_index import deleting_many
from .selected_rows import selected
from .selection import Retention, Selection

_MANY: Final = 500
"""Turns from which on they are deleted together."""


def delete_selected(connection: Connection, selection: Selection) -> int:
    """Delete what is selected."""
    gone = 0
    for table in (turns, audit, responses):
        gone += _delete(connection, table, selected(table, selection))
    _delete_empty_conversations(connection)
    return gone


def delete_beyond(connection: Connection, agent: str, retention: Retention, now: float) -> int:
    """Delete what is too old or too much of what was said and audited; `now` is in seconds since the epoch.

    The oldest goes first.
    """
    return _delete_beyond(connection, (turns, audit), agent, retention, now)


def delete_responses_beyond(connection: Connection, agent: str, retention: Retention, now: float) -> int:
    """Delete what is too old or too much of the responses of the API, in the same way."""
    return _delete_beyond(connection, (responses,), agent, retention, now)


def _delete_beyond(
    connection: Connection, tables: tuple[Table, ...], agent: str, retention: Retention, now: float
) -> int:
    gone = 0
    for table in tables:
        lasts = (
            _last_too_old(connection, table, key_of(agent), retention.seconds, now),
            _last_too_much(connection, table, key_of(agent), retention.size),
        )
        last = max((one for one in lasts if one is not None), default=None)
        if last is not None:
            gone += _delete(connection, table, and_(table.c.agent == key_of(agent), table.c.seq <= last))
    if gone:
        _delete_empty_conversations(connection)
    return gone


def _delete(connection: Connection, table: Table, doomed: ColumnElement[bool]) -> int:
    count: int = connection.scalar(select(func.count()).select_from(table).where(doomed)) or 0
    with deleting_many(connection) if table is turns and count >= _MANY else nullcontext():
        return connection.execute(delete(table).where(doomed)).rowcount


def _last_too_old(connection: Connection, table: Table, agent: str, seconds: float | None, now: float) -> int | None:
    """Return the last row that is too old.

    A row is never older than one that was stored before it, whatever the clock said then; and one from the future is
    as old as those that came after it. So a clock that was wrong for a while costs nobody what is still fresh.
    """
    if seconds is None:
        return None
    its, oldest = table.c.agent == agent, now - seconds
    first_fresh = connection.scalar(select(func.min(table.c.seq)).where(its, table.c.at.between(oldest, now)))
    too_old = select(func.max(table.c.seq)).where(its, table.c.at < oldest)
    last: int | None = connection.scalar(too_old if first_fresh is None else too_old.where(table.c.seq < first_fresh))
    return last


def _last_too_much(connection: Connection, table: Table, agent: str, size: int | None) -> int | None:
    if size is None:
        return None
    running = func.sum(table.c.size).over(order_by=table.c.seq.desc()).label("running")
    sums = select(table.c.seq, running).where(table.c.agent == agent).subquery()
    last: int | None = connection.scalar(select(func.max(sums.c.seq)).where(sums.c.running > size))
    return last


def _delete_empty_conversations(connection: Connection) -> None:
    connection.execute(delete(conversations).where(conversations.c.id.not_in(select(turns.c.conversation))))

"""Records ⇄ rows: insert, select and delete. Every function runs inside a given transaction."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, Final, assert_never

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Insert,
    Table,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
    type_coerce,
    update,
)

from ...agent.messages import JsonObject
from ...agent.text import clipped
from ...agent.transcript import has_outside_content
from .query import (
    Found,
    FoundTurn,
    HistoryQuery,
    ListedTurn,
    Retention,
    Selection,
    TurnList,
)
from .records import (
    AuditRecord,
    Record,
    ResponseRecord,
    StoredJsonInvalid,
    StoredTurn,
    TurnOrigin,
    answered_in,
    audit_as_json,
    audit_from_json,
    key_of,
    read_object,
    response_as_json,
    said_in,
    stored_json,
    turn_as_json,
    turn_from_json,
)
from .schema import SQLITE, audit, responses, turns
from .search import (
    RowCondition,
    add_to_index,
    deleting_many,
    has_words,
    is_in_time,
    search_turns,
)

_LOGGER = logging.getLogger(__name__)

_SHOWN: Final = 500
"""Characters of a question and of an answer that was found."""
_MOST_CHANGES: Final = 1_000
"""Audit records of the turns of one page."""
_LONGEST_QUEUE: Final = 60.0
"""Seconds before a turn in which the response that it belongs to was created."""
_MANY: Final = 2_000
"""Turns from which on a deletion rebuilds the search index."""


def _new(table: Table) -> Insert:
    """Return the insertion of a row whose id is not stored yet. `outside` holds for the rest of a conversation.

    Built once: SQLAlchemy computes the cache key of each statement object anew.
    """
    row = {
        column.name: bindparam(column.name, type_=column.type)
        for column in table.c
        if column.name != "seq"
    }
    values: dict[str, ColumnElement[Any]] = {**row}  # of the types of the columns
    other = table.alias()
    if "outside" in row:
        last = (
            select(other.c.outside)
            .where(other.c.conversation == row["conversation"])
            .order_by(other.c.seq.desc())
        )
        values["outside"] = or_(
            row["outside"],
            func.coalesce(
                last.limit(1).scalar_subquery(),
                false(),
            ),
        )
    is_stored = exists().where(other.c.id == row["id"])
    return insert(table).from_select(
        [*values], select(*values.values()).where(~is_stored)
    )


_NEW_TURN: Final = _new(turns).returning(turns.c.seq)
_NEW_AUDIT: Final = _new(audit)


def insert_record(connection: Connection, record: Record) -> None:
    """Store a record. A turn or an audit record is not stored twice; a response replaces an earlier state of it.

    The row of a response whose time has changed goes to the end, because old rows are
    deleted in their order.
    """
    match record:
        case StoredTurn():
            _insert_turn(connection, record)
        case AuditRecord():
            row = _row(
                record.id,
                record.origin,
                record.at,
                audit_as_json(record),
            )
            connection.execute(_NEW_AUDIT, row)
        case ResponseRecord():
            origin = TurnOrigin(
                conversation_id=record.conversation_id,
                agent=record.agent,
                person_id=record.person_id,
            )
            row = _row(
                record.id,
                origin,
                record.created_at,
                response_as_json(record),
            )
            same = responses.c.id == row["id"]
            in_place = (
                update(responses).where(same, responses.c.at == row["at"]).values(row)
            )
            if not connection.execute(in_place).rowcount:
                connection.execute(delete(responses).where(same))
                connection.execute(insert(responses), row)
        case _ as unreachable:
            assert_never(unreachable)


def _insert_turn(connection: Connection, turn: StoredTurn) -> None:
    row = _row(
        turn.id,
        turn.origin,
        turn.ended_at,
        turn_as_json(turn),
    )
    seq: int | None = connection.scalar(
        _NEW_TURN, {**row, "outside": has_outside_content(turn.messages)}
    )
    if seq is not None:
        add_to_index(
            connection, seq, key_of(turn.origin.person_id or ""), turn.messages
        )


def _row(
    record_id: str, origin: TurnOrigin, at: float, data: JsonObject
) -> dict[str, object]:
    body = stored_json(data)
    return {
        "id": key_of(record_id),
        "conversation": key_of(origin.conversation_id),
        "agent": key_of(origin.agent),
        "person": key_of(origin.person_id) if origin.person_id else None,
        "device": key_of(origin.device_id) if origin.device_id else None,
        "at": at,
        "size": len(body),
        "body": body,
    }


def matching(
    table: Table,
    selection: Selection,
) -> RowCondition:
    """Return the condition for the rows of a selection."""
    keys = (
        (table.c.conversation, selection.conversation_id),
        (table.c.person, selection.person_id),
        (table.c.device, selection.device_id),
        (table.c.agent, selection.agent),
    )
    conditions = [
        column == key_of(value) for column, value in keys if value is not None
    ]
    if selection.before is not None:
        conditions.append(table.c.at < selection.before)
    return and_(true(), *conditions)


def select_page(
    connection: Connection,
    table: Table,
    selection: Selection,
    most: int,
    after: int,
) -> tuple[list[JsonObject], int | None]:
    """Return up to `most` records after a `seq` as JSON, and the last `seq`; None at the end."""
    chosen = select(table.c.seq, table.c.body).where(
        matching(table, selection), table.c.seq > after
    )
    rows = connection.execute(chosen.order_by(table.c.seq).limit(most)).all()
    found = (_readable(table, row.seq, row.body, lambda data: data) for row in rows)
    records = [data for data in found if data is not None]
    if rows:
        return records, rows[-1].seq
    return records, None


def select_newest[T](
    connection: Connection,
    table: Table,
    where: RowCondition,
    parse: Callable[[JsonObject], T],
    most: int | None,
) -> dict[int, T]:
    """Return the newest records by `seq`, in the order in which they were stored."""
    chosen = (
        select(table.c.seq, table.c.body)
        .where(where)
        .order_by(table.c.seq.desc())
        .limit(most)
    )
    found = [
        (row.seq, _readable(table, row.seq, row.body, parse))
        for row in connection.execute(chosen)
    ]
    return {seq: record for seq, record in reversed(found) if record is not None}


def _readable[T](
    table: Table,
    seq: int,
    body: str,
    parse: Callable[[JsonObject], T],
) -> T | None:
    """Read a record; None for a damaged one, which is logged."""
    try:
        return parse(read_object(body))
    except StoredJsonInvalid as err:
        _LOGGER.warning(
            "Row %d of %s cannot be read: %s",
            seq,
            table.name,
            err,
        )
        return None


def find_turns(
    connection: Connection,
    query: HistoryQuery,
) -> tuple[Found, ...]:
    """Return the turns that match a query best, best first."""
    order = search_turns(connection, query)
    chosen = turns.c.seq.in_(order)
    marked = set(connection.scalars(select(turns.c.seq).where(chosen, turns.c.outside)))
    found = select_newest(
        connection,
        turns,
        chosen,
        turn_from_json,
        None,
    )
    return tuple(
        Found(
            turn_id=turn.id,
            at=turn.ended_at,
            words=clipped(said_in(turn.messages), _SHOWN),
            answered=clipped(answered_in(turn.messages), _SHOWN),
            has_outside_content=seq in marked,
        )
        for seq in order
        if (turn := found.get(seq)) is not None
    )


_TURN_ID: Final = "turn_id"
_TIMINGS: Final = "timings"
_FIRST_WORDS: Final = "first_words"


def list_turns(
    connection: Connection, query: TurnList
) -> tuple[tuple[ListedTurn, ...], int | None]:
    """Return a page of turns, the newest first; with the first page, also how many match."""
    where = _listed(connection, query)
    total: int | None = None
    if query.before is None:
        total = (
            connection.scalar(select(func.count()).select_from(turns).where(where)) or 0
        )
    if query.before is None:
        on_page = where
    else:
        on_page = and_(
            where,
            turns.c.seq < query.before,
        )
    found = select_newest(
        connection,
        turns,
        on_page,
        turn_from_json,
        query.most,
    )
    changes = _changes_of(connection, found.values())
    listed = (
        ListedTurn(
            seq=seq,
            turn=turn,
            changes=changes.get(turn.id, ()),
        )
        for seq, turn in found.items()
    )
    return tuple(listed)[::-1], total


def _listed(
    connection: Connection,
    query: TurnList,
) -> RowCondition:
    conditions: list[RowCondition] = [
        matching(
            turns,
            Selection(
                device_id=query.device_id,
                agent=query.agent,
            ),
        ),
        true()
        if query.people is None
        else turns.c.person.in_([key_of(person) for person in query.people]),
        is_in_time(query),
    ]
    if query.words.strip():
        conditions.append(has_words(connection, query.words))
    if query.ends:
        reason = _field(connection, turns, "stop_reason").as_string()
        known = reason.in_([end for end in query.ends if end is not None])
        if None in query.ends:
            cut_off = reason.is_(None)
        else:
            cut_off = false()
        if query.or_failed:
            failed = _field(connection, turns, _TIMINGS, "failed").as_boolean()
        else:
            failed = false()
        conditions.append(or_(known, cut_off, failed))
    if query.slower_than is not None:
        first_words = (
            _field(connection, turns, _TIMINGS, _FIRST_WORDS).as_float() / 1000
        )
        duration = _field(connection, turns, "duration").as_float()
        conditions.append(func.coalesce(first_words, duration) > query.slower_than)
    return and_(true(), *conditions)


def _field(
    connection: Connection, table: Table, *path: str
) -> Any:  # SQLAlchemy types no JSON element
    """Return a field of the stored JSON. Few rows are looked at: those of a page, or those that a person filters."""
    text = table.c.body
    body = (
        type_coerce(text, JSON)
        if connection.dialect.name == SQLITE
        else cast(text, JSON)
    )
    if len(path) > 1:
        return body[path]
    return body[path[0]]


def _changes_of(
    connection: Connection, of: Iterable[StoredTurn]
) -> Mapping[str, tuple[AuditRecord, ...]]:
    """Return the audit records of turns, by their ids."""
    by_id = {turn.id: turn for turn in of}
    where = and_(
        audit.c.conversation.in_(
            {key_of(turn.origin.conversation_id) for turn in by_id.values()}
        ),
        _field(connection, audit, _TURN_ID).as_string().in_(list(by_id)),
    )
    changes: defaultdict[str, list[AuditRecord]] = defaultdict(list)
    for change in (
        select_newest(connection, audit, where, audit_from_json, _MOST_CHANGES).values()
        if by_id
        else ()
    ):
        changes[change.turn_id or ""].append(change)
    return {turn_id: tuple(those) for turn_id, those in changes.items()}


def find_turn(
    connection: Connection, turn_id: str, people: frozenset[str] | None
) -> FoundTurn | None:
    """Return a turn of some people, or of anybody; None for an unknown one. Those beside it are of the same people."""
    theirs = _listed(connection, TurnList(people=people))
    found = select_newest(
        connection,
        turns,
        and_(
            theirs,
            turns.c.id == key_of(turn_id),
        ),
        turn_from_json,
        1,
    )
    for seq, turn in found.items():
        talk = (
            select(turns.c.id)
            .where(theirs, turns.c.conversation == key_of(turn.origin.conversation_id))
            .limit(1)
        )
        return FoundTurn(
            turn=turn,
            changes=_changes_of(connection, [turn]).get(
                turn.id,
                (),
            ),
            previous=connection.scalar(
                talk.where(turns.c.seq < seq).order_by(turns.c.seq.desc())
            ),
            next=connection.scalar(talk.where(turns.c.seq > seq).order_by(turns.c.seq)),
        )
    return None


def delete_turn(connection: Connection, turn: StoredTurn) -> int:
    """Delete a turn, its audit records, and the response that a client of the API got. Return their number.

    A response is created right before its turn, and after the turn before it.
    """
    talk = key_of(turn.origin.conversation_id)
    earlier = select(func.max(turns.c.at)).where(
        turns.c.conversation == talk, turns.c.at < turn.began_at
    )
    since = max(
        connection.scalar(earlier) or 0.0,
        turn.began_at - _LONGEST_QUEUE,
    )
    of_agent = Selection(
        conversation_id=turn.origin.conversation_id, agent=turn.origin.agent
    )
    doomed = (
        (turns, turns.c.id == key_of(turn.id)),
        (
            audit,
            and_(
                audit.c.conversation == talk,
                _field(connection, audit, _TURN_ID).as_string() == turn.id,
            ),
        ),
        (
            responses,
            and_(
                matching(responses, of_agent),
                responses.c.at > since,
                responses.c.at <= turn.ended_at,
            ),
        ),
    )
    return sum(_delete(connection, table, where) for table, where in doomed)


def last_end(connection: Connection) -> int:
    """Return when the turn that was stored last has ended, in seconds since the epoch; 0 without any."""
    newest_first = select(turns.c.at).order_by(turns.c.seq.desc())
    return int(connection.scalar(newest_first.limit(1)) or 0)


def count_responses(connection: Connection, where: RowCondition) -> tuple[int, int]:
    """Return the number of responses, and their size in characters."""
    count, size = connection.execute(
        select(func.count(), func.sum(responses.c.size)).where(where)
    ).one()
    return count, int(size or 0)


def delete_records(connection: Connection, selection: Selection) -> int:
    """Delete a selection. Return the number of deleted records."""
    return sum(
        _delete(
            connection,
            table,
            matching(table, selection),
        )
        for table in (turns, audit, responses)
    )


def delete_response(connection: Connection, response_id: str) -> int:
    """Delete a response. Return the number of deleted records."""
    return _delete(
        connection,
        responses,
        responses.c.id == key_of(response_id),
    )


def delete_beyond(
    connection: Connection,
    tables: tuple[Table, ...],
    agent: str,
    retention: Retention,
    now: float,
) -> int:
    """Delete the oldest records of an agent that are beyond its limits. Return their number."""
    gone = 0
    for table in tables:
        is_theirs = table.c.agent == key_of(agent)
        lasts = (
            _last_too_old(
                connection,
                table,
                is_theirs,
                retention.seconds,
                now,
            ),
            _last_too_much(
                connection,
                table,
                is_theirs,
                retention.size,
            ),
        )
        last = max(
            (one for one in lasts if one is not None),
            default=None,
        )
        if last is not None:
            gone += _delete(
                connection,
                table,
                and_(is_theirs, table.c.seq <= last),
            )
    return gone


def _delete(
    connection: Connection,
    table: Table,
    doomed: RowCondition,
) -> int:
    count: int = (
        connection.scalar(select(func.count()).select_from(table).where(doomed)) or 0
    )
    with (
        deleting_many(connection)
        if table is turns and count >= _MANY
        else nullcontext()
    ):
        return connection.execute(delete(table).where(doomed)).rowcount


def _last_too_old(
    connection: Connection,
    table: Table,
    is_theirs: RowCondition,
    seconds: float | None,
    now: float,
) -> int | None:
    """Return the `seq` of the last record that is too old.

    A record is never older than one that was stored before it, and one from the future
    is as old as the next. So a clock that was wrong for a while costs no fresh record.
    """
    if seconds is None:
        return None
    oldest = now - seconds
    first_fresh = connection.scalar(
        select(func.min(table.c.seq)).where(
            is_theirs,
            table.c.at.between(oldest, now),
        )
    )
    too_old = select(func.max(table.c.seq)).where(
        is_theirs,
        table.c.at < oldest,
    )
    last: int | None = connection.scalar(
        too_old if first_fresh is None else too_old.where(table.c.seq < first_fresh)
    )
    return last


def _last_too_much(
    connection: Connection,
    table: Table,
    is_theirs: RowCondition,
    size: int | None,
) -> int | None:
    """Return the `seq` of the last record that exceeds a total size, counted from the newest."""
    if size is None:
        return None
    total = func.sum(table.c.size)
    newest_first = table.c.seq.desc()
    running = total.over(order_by=newest_first).label("running")
    sums = select(table.c.seq, running).where(is_theirs).subquery()
    last: int | None = connection.scalar(
        select(func.max(sums.c.seq)).where(sums.c.running > size)
    )
    return last

"""Records ⇄ rows: writes them into the tables, and reads turns back.

Knows the tables and the JSON of records. Must not know which database it is, or who writes and when. Every function
works inside a transaction that it is given.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import batched, groupby
from typing import Final, assert_never

from sqlalchemy import ColumnElement, Connection, Table, bindparam, insert, select

from ..messages import JsonObject
from ..transcript import has_outside_content
from .json_fields import StoredJsonInvalid, stored_json
from .prepared_statements import PreparedStatements
from .records import Record
from .response_records import ResponseRecord
from .schema import audit, conversations, key_of, messages, turns
from .search import terms_of_messages
from .search_index import Indexed, add_to_index
from .stored_pages import Page, readable
from .stored_responses import put_responses
from .turn_records import AuditRecord, TurnRecord, audit_as_json, messages_as_json, turn_as_json, turn_from_json

_LOGGER = logging.getLogger(__name__)

_AT_ONCE: Final = 500
"""Values of one statement; databases bear about a thousand."""
_LAST_MARK: Final = (
    select(turns.c.outside)
    .where(turns.c.conversation == conversations.c.id)
    .order_by(turns.c.seq.desc())
    .limit(1)
    .scalar_subquery()
)
_CONVERSATION: Final = select(conversations.c.id, _LAST_MARK).where(conversations.c.id == bindparam("key"))
_INSERT: Final = {table: insert(table) for table in (conversations, turns, messages, audit)}
"""What is asked and stored at every turn is put together once: that takes longer than the answer."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as its rows hold it."""

    seq: int
    body: JsonObject
    messages: tuple[JsonObject, ...]


def insert_records(connection: Connection, records: Iterable[Record], *, are_new: bool = False) -> None:
    """Store records in their order. What is stored already is not stored again, but for responses, which change.

    With `are_new`, it is not looked whether it is: then it is refused, and all the others with it.
    """
    new_turns: dict[str, TurnRecord] = {}
    new_audit: dict[str, AuditRecord] = {}
    new_responses: dict[str, ResponseRecord] = {}
    for record in records:
        match record:
            case TurnRecord():
                new_turns.setdefault(key_of(record.id), record)
            case AuditRecord():
                new_audit.setdefault(key_of(record.id), record)
            case ResponseRecord():
                new_responses[key_of(record.id)] = record
            case _ as unreachable:
                assert_never(unreachable)
    if not are_new:
        for known in _known(connection, turns, new_turns):
            del new_turns[known]
        for known in _known(connection, audit, new_audit):
            del new_audit[known]
    if new_turns:
        _insert_turns(connection, new_turns.values())
    if new_audit:
        rows = [_audit_row(record) for record in new_audit.values()]
        PreparedStatements(connection).insert_rows(_INSERT[audit], rows)
    put_responses(connection, new_responses)


def select_turns(connection: Connection, where: ColumnElement[bool], after: int, most: int) -> Page[StoredTurn]:
    """Return the first turns after the number `after`, in the order in which they were stored."""
    chosen = select(turns.c.seq, turns.c.body).where(where, turns.c.seq > after).order_by(turns.c.seq).limit(most)
    rows = [(row.seq, row.body) for row in connection.execute(chosen)]
    return Page(_with_messages(connection, rows), rows[-1][0] if rows else None)


def select_last_turns(connection: Connection, where: ColumnElement[bool], most: int | None) -> list[StoredTurn]:
    """Return the last turns, in the order in which they were stored."""
    chosen = select(turns.c.seq, turns.c.body).where(where).order_by(turns.c.seq.desc()).limit(most)
    return _with_messages(connection, [(row.seq, row.body) for row in connection.execute(chosen)][::-1])


def read_turns(stored: Iterable[StoredTurn]) -> tuple[TurnRecord, ...]:
    """Return the turns; one that somebody has damaged is left out, and that is logged."""
    found: list[TurnRecord] = []
    for one in stored:
        try:
            found.append(turn_from_json(one.body, one.messages))
        except StoredJsonInvalid as err:
            _LOGGER.warning("Stored turn %d cannot be read: %s", one.seq, err)
    return tuple(found)


def marked_conversations(connection: Connection, keys: Iterable[str]) -> set[str]:
    """Return those of the conversations that hold something from outside the house, or did when their last turn was."""
    return {key for key, is_marked in _conversations(PreparedStatements(connection), keys).items() if is_marked}


def _conversations(statements: PreparedStatements, keys: Iterable[str]) -> dict[str, bool]:
    """Return which conversations there are, and of each whether it is marked."""
    rows = [row for key in keys for row in statements.select_rows(_CONVERSATION, {"key": key})]
    return {str(key): bool(is_marked) for key, is_marked in rows}


def _known(connection: Connection, table: Table, ids: Iterable[str]) -> list[str]:
    found: list[str] = []
    for some in batched(ids, _AT_ONCE, strict=False):
        found += connection.scalars(select(table.c.id).where(table.c.id.in_(some)))
    return found


def _insert_turns(connection: Connection, new: Collection[TurnRecord]) -> None:
    began: dict[str, float] = {}
    for turn in new:
        began.setdefault(key_of(turn.origin.conversation_id), turn.began_at)
    statements = PreparedStatements(connection)
    marks = _conversations(statements, began)
    begun = [{"id": key, "began_at": at} for key, at in began.items() if key not in marks]
    statements.insert_rows(_INSERT[conversations], begun)
    rows_of_messages: list[dict[str, object]] = []
    indexed: list[Indexed] = []
    for turn in new:
        said = messages_as_json(turn)
        bodies = [stored_json(message) for message in said]
        row = _turn_row(turn, sum(map(len, bodies)))
        key = str(row["conversation"])
        marks[key] = row["outside"] = marks.get(key, False) or has_outside_content(turn.messages)
        number = statements.insert_row(_INSERT[turns], row)
        rows_of_messages += [
            {"turn": number, "position": position, "role": message["role"], "body": body}
            for position, (message, body) in enumerate(zip(said, bodies, strict=True))
        ]
        if turn.origin.person_id:
            indexed.append(Indexed(number, key_of(turn.origin.person_id), terms_of_messages(turn.messages)))
    statements.insert_rows(_INSERT[messages], rows_of_messages)
    if indexed:
        add_to_index(connection, indexed)


def _turn_row(turn: TurnRecord, size_of_messages: int) -> dict[str, object]:
    body = stored_json(turn_as_json(turn))
    return _place(turn) | {
        "at": turn.ended_at,
        "stop_reason": turn.stop_reason,
        "input_tokens": turn.usage.input_tokens,
        "output_tokens": turn.usage.output_tokens,
        "cached_tokens": turn.usage.cached_tokens,
        "reasoning_tokens": turn.usage.reasoning_tokens,
        "size": len(body) + size_of_messages,
        "body": body,
    }


def _audit_row(record: AuditRecord) -> dict[str, object]:
    body = stored_json(audit_as_json(record))
    return _place(record) | {"at": record.at, "size": len(body), "body": body}


def _place(record: TurnRecord | AuditRecord) -> dict[str, object]:
    origin = record.origin
    return {
        "id": key_of(record.id),
        "conversation": key_of(origin.conversation_id),
        "agent": key_of(origin.agent),
        "person": key_of(origin.person_id) if origin.person_id else None,
        "device": key_of(origin.device_id) if origin.device_id else None,
    }


def _with_messages(connection: Connection, chosen: Sequence[tuple[int, str]]) -> list[StoredTurn]:
    said: dict[int, tuple[JsonObject | None, ...]] = {}
    for some in batched((seq for seq, _ in chosen), _AT_ONCE, strict=False):
        query = select(messages).where(messages.c.turn.in_(some)).order_by(messages.c.turn, messages.c.position)
        for seq, rows in groupby(connection.execute(query), key=lambda row: row.turn):
            said[seq] = tuple(readable(row.body) for row in rows)
    found: list[StoredTurn] = []
    for seq, text in chosen:
        body, its_messages = readable(text), said.get(seq, ())
        whole = tuple(message for message in its_messages if message is not None)
        if body is not None and len(whole) == len(its_messages):
            found.append(StoredTurn(seq, body, whole))
    return found

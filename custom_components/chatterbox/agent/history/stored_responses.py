"""Responses ⇄ rows: writes responses of the API into their table, and reads them back.

Knows the table and the JSON of responses. Must not know which database it is, or who may see a response. Every function
works inside a transaction that it is given.
"""

import logging
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from .json_fields import StoredJsonInvalid, read_object, stored_json
from .response_records import ResponseRecord, response_as_json, response_from_json
from .schema import key_of, responses

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptResponses:
    """How many responses are stored, and how large they are together."""

    count: int
    size: int
    """Characters."""


def put_responses(connection: Connection, records: Mapping[str, ResponseRecord]) -> None:
    """Store responses by key, in place of what is stored. One after the other, because each may be large."""
    for key, record in records.items():
        row = _row(key, record)
        if not connection.execute(update(responses).where(responses.c.id == key).values(row)).rowcount:
            connection.execute(insert(responses).values(row))


def select_response(connection: Connection, response_id: str) -> ResponseRecord | None:
    """Return a response; None where there is none, or where somebody has damaged it."""
    found = _select(connection, responses.c.id == key_of(response_id), None)
    return found[0] if found else None


def select_chain(
    connection: Connection, conversation_id: str, agents: Iterable[str], newest: int | None
) -> tuple[ResponseRecord, ...]:
    """Return the responses of some agents in a conversation, or the newest, in the order in which they were stored."""
    return _select(connection, (responses.c.conversation == key_of(conversation_id)) & _given_by(agents), newest)


def delete_response(connection: Connection, response_id: str) -> int:
    """Delete a response. Return how many there were."""
    return connection.execute(delete(responses).where(responses.c.id == key_of(response_id))).rowcount


def count_responses(connection: Connection, agents: Iterable[str]) -> KeptResponses:
    """Return how much is stored of some agents."""
    row = connection.execute(select(func.count(), func.sum(responses.c.size)).where(_given_by(agents))).one()
    return KeptResponses(row[0], int(row[1] or 0))


def _given_by(agents: Iterable[str]) -> ColumnElement[bool]:
    return responses.c.agent.in_([key_of(agent) for agent in agents])


def _select(connection: Connection, where: ColumnElement[bool], newest: int | None) -> tuple[ResponseRecord, ...]:
    found: deque[ResponseRecord] = deque()
    chosen = select(responses.c.seq, responses.c.body).where(where).order_by(responses.c.seq.desc()).limit(newest)
    for row in connection.execute(chosen):
        try:
            found.appendleft(response_from_json(read_object(row.body)))
        except StoredJsonInvalid as err:
            _LOGGER.warning("Stored response %d cannot be read: %s", row.seq, err)
    return tuple(found)


def _row(key: str, record: ResponseRecord) -> dict[str, object]:
    body = stored_json(response_as_json(record))
    return {
        "id": key,
        "conversation": key_of(record.conversation_id),
        "agent": key_of(record.agent),
        "person": key_of(record.person_id) if record.person_id else None,
        "at": record.created_at,
        "size": len(body),
        "body": body,
    }

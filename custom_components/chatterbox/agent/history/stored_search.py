"""A search in what is stored, and in what still waits to be.

Knows tables, the index and the turns that wait. Every function works inside a transaction that it is given.
"""

from collections.abc import Sequence
from itertools import takewhile

from sqlalchemy import ColumnElement, Connection, and_, select, true

from ..transcript import has_outside_content
from .schema import key_of, turns
from .search import Found, SearchQuery, found_turn, is_meant, matches
from .search_index import Wanted, best_matches
from .search_terms import phrases_of
from .stored_rows import marked_conversations, read_turns, select_last_turns
from .turn_records import TurnRecord


def search_turns(connection: Connection, query: SearchQuery, waiting: Sequence[TurnRecord]) -> tuple[Found, ...]:
    """Return the turns that match best. Those that wait are the newest, and come first."""
    phrases = phrases_of(query.words)
    if not query.person_id or query.most < 1 or (query.words.strip() and not phrases):
        return ()
    meant = [turn for turn in reversed(waiting) if is_meant(turn, query)]
    if not phrases:
        return _found(connection, query, waiting, meant, _latest(connection, query))
    for needs_all in (True, False):
        wanted = Wanted(key_of(query.person_id), phrases, needs_all)
        stored = best_matches(connection, wanted, _where(query), query.most)
        waits = [turn for turn in meant if matches(turn, phrases, needs_all=needs_all)]
        if stored or waits:
            return _found(connection, query, waiting, waits, stored)
    return ()


def _latest(connection: Connection, query: SearchQuery) -> list[int]:
    chosen = select(turns.c.seq).where(_where(query)).order_by(turns.c.seq.desc()).limit(query.most)
    return list(connection.scalars(chosen))


def _where(query: SearchQuery) -> ColumnElement[bool]:
    return and_(
        turns.c.person == key_of(query.person_id),
        true() if query.agent is None else turns.c.agent == key_of(query.agent),
        true() if query.since is None else turns.c.at >= query.since,
        true() if query.until is None else turns.c.at <= query.until,
    )


def _found(
    connection: Connection,
    query: SearchQuery,
    waiting: Sequence[TurnRecord],
    waits: list[TurnRecord],
    stored: list[int],
) -> tuple[Found, ...]:
    known = {turn.id for turn in waits}
    found = [_waiting(connection, turn, waiting) for turn in waits]
    found += [one for one in _stored(connection, stored) if one.turn_id not in known]
    return tuple(found[: query.most])


def _waiting(connection: Connection, turn: TurnRecord, waiting: Sequence[TurnRecord]) -> Found:
    talk = turn.origin.conversation_id
    until_then = takewhile(lambda one: one is not turn, waiting)
    earlier = [message for one in until_then if one.origin.conversation_id == talk for message in one.messages]
    is_marked = has_outside_content((*earlier, *turn.messages)) or bool(
        marked_conversations(connection, [key_of(talk)])
    )
    return found_turn(turn, has_outside_content=is_marked)


def _stored(connection: Connection, numbers: list[int]) -> list[Found]:
    chosen = turns.c.seq.in_(numbers)
    marked = set(connection.scalars(select(turns.c.seq).where(chosen, turns.c.outside)))
    found = {
        one.seq: found_turn(turn, has_outside_content=one.seq in marked)
        for one in select_last_turns(connection, chosen, None)
        for turn in read_turns([one])
    }
    return [found[number] for number in numbers if number in found]

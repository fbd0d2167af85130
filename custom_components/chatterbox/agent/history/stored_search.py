"""A search in what is stored, and in what still waits to be.

Knows tables, the index and the turns that wait. Every function works inside a transaction that it is given.
"""

from collections.abc import Sequence
from itertools import takewhile

from sqlalchemy import ColumnElement, Connection, and_, func, select, true

from ..transcript import has_outside_content
from .schema import key_of, turns
from .search import Found, SearchQuery, found_turn, is_meant, matches
from .search_index import EVERY_NUMBER, NO_NUMBER, Wanted
from .search_ranking import best_of_all, best_of_any
from .search_terms import phrases_of
from .stored_rows import marked_conversations, read_turns, select_last_turns
from .turn_records import TurnRecord


def search_turns(connection: Connection, query: SearchQuery, waiting: Sequence[TurnRecord]) -> tuple[Found, ...]:
    """Return the turns that match best. Those that wait are the newest, and come first."""
    phrases = phrases_of(query.words)
    if not query.person_id or query.most < 1 or (query.words.strip() and not phrases):
        return ()
    meant = [turn for turn in reversed(waiting) if is_meant(turn, query)]
    where = _where(query)
    between = _between(connection, query, where)
    if not phrases:
        return _found(connection, query, waiting, meant, _latest(connection, where, between, query.most))
    wanted = Wanted(key_of(query.person_id), phrases, where, between)
    for needs_all, best in ((True, best_of_all), (False, best_of_any)):
        stored = best(connection, wanted, query.most)
        waits = [turn for turn in meant if matches(turn, phrases, needs_all=needs_all)]
        if stored or waits:
            return _found(connection, query, waiting, waits, stored)
    return ()


def _where(query: SearchQuery) -> ColumnElement[bool]:
    return and_(
        turns.c.person == key_of(query.person_id),
        true() if query.agent is None else turns.c.agent == key_of(query.agent),
        true() if query.since is None else turns.c.at >= query.since,
        true() if query.until is None else turns.c.at <= query.until,
    )


def _between(connection: Connection, query: SearchQuery, where: ColumnElement[bool]) -> tuple[int, int]:
    """Return the numbers of the first and the last turn of the time that is meant; no others are looked at."""
    if query.since is query.until is None:
        return EVERY_NUMBER
    first, last = connection.execute(select(func.min(turns.c.seq), func.max(turns.c.seq)).where(where)).one()
    return (first, last) if first else NO_NUMBER


def _latest(connection: Connection, where: ColumnElement[bool], between: tuple[int, int], most: int) -> list[int]:
    chosen = select(turns.c.seq).where(where, turns.c.seq.between(*between)).order_by(turns.c.seq.desc()).limit(most)
    return list(connection.scalars(chosen))


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

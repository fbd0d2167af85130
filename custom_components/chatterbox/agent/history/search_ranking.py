"""Which of the turns that match are the best, by whatever index a database has.

Knows the index by its seam. Must not know how a database searches, or what becomes of the turns.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, Select, exists, select

from .schema import turns
from .search_index import SearchIndex, Wanted, index_of

_NEWEST: Final = 200
"""Turns among which the best are looked for. So a word that stands in all of them is found as quickly as any other."""


def best_of_all(connection: Connection, wanted: Wanted, most: int) -> list[int]:
    """Return the numbers of the turns that hold all that is wanted, the best first, of equal ones the newer."""
    index = index_of(connection)
    newest = _newest(index, wanted).add_columns(index.score(wanted))
    return _best(dict(connection.execute(newest).tuples().all()), most)


def best_of_any(connection: Connection, wanted: Wanted, most: int) -> list[int]:
    """Return the same for the turns that hold any of what is wanted. Many count more than few, and rare ones more."""
    index = index_of(connection)
    scores = defaultdict[int, float](float)
    for phrase in wanted.phrases:
        found = connection.scalars(_newest(index, replace(wanted, phrases=(phrase,)))).all()
        for seq in found:
            scores[seq] += 1 / len(found)
    return _best(scores, most)


def _newest(index: SearchIndex, wanted: Wanted) -> Select[tuple[int]]:
    turn = index.table.c.turn
    allowed = exists(select(turns.c.seq).where(turns.c.seq == turn, wanted.where))
    matches = select(turn).where(index.matches(wanted), turn.between(*wanted.between), allowed)
    return matches.order_by(turn.desc()).limit(_NEWEST)


def _best(scores: Mapping[int, float], most: int) -> list[int]:
    return sorted(scores, key=lambda seq: (scores[seq], seq), reverse=True)[:most]

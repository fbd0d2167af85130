"""Full text search in stored turns: their words, the index, the ranking.

SQLite searches with FTS5, PostgreSQL with a `tsvector`. Both get the words as they are
split here, because each would split them in its own way and leave out some. Case and
accents are ignored. In scripts without spaces, such as Chinese, each character is a
word, and characters that stand together in a query have to stand together in a turn.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    and_,
    cast,
    exists,
    false,
    func,
    insert,
    literal_column,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from ...agent.messages import Message
from ...agent.text import fold, runs
from .query import HistoryQuery, TurnList
from .records import answered_in, key_of, said_in
from .schema import POSTGRESQL, SQLITE, turns

MOST_WORDS: Final = 2_000
"""Words at the beginning of a text that it is found by."""
_LONGEST: Final = 40
"""Characters of a word that count. A row of PostgreSQL has room for a megabyte of words."""
_SHORTEST_PREFIX: Final = 2
_MOST_PHRASES: Final = 20
"""Words of a query that count."""
_NEWEST: Final = 200
"""Newest matches that are ranked, so that a frequent word is found as quickly as a rare one."""

_NAME: Final = "chatterbox_search"
_VECTORS: Final = Table(
    _NAME,
    MetaData(),
    Column(
        "turn",
        BigInteger,
        ForeignKey(turns.c.seq, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column(
        "words",
        TSVECTOR,
        nullable=False,
    ),
    Index(
        f"{_NAME}_words",
        "words",
        postgresql_using="gin",
    ),
)
"""The index in PostgreSQL, written and asked in the text form of its types.

Source: https://www.postgresql.org/docs/current/datatype-textsearch.html
"""
_FTS: Final = Table(
    _NAME,
    MetaData(),
    Column(
        "rowid",
        Integer,
        key="turn",
    ),
    Column("person", Text),
    Column("words", Text),
)
"""The index in SQLite. The person is a word of its own, so that frequent words of others cost nothing.

Source: https://sqlite.org/fts5.html
"""
_CREATE_FTS: Final = (
    text(
        f"CREATE VIRTUAL TABLE {_NAME} USING fts5(person, words, tokenize = 'ascii', prefix = '2')"
    ),
    text(
        f"CREATE TRIGGER {_NAME}_delete AFTER DELETE ON {turns.name} "  # noqa: S608  # names of ours
        f"BEGIN DELETE FROM {_NAME} WHERE rowid = old.seq; END"
    ),
)
_SECURE_DELETE: Final = text(
    f"INSERT INTO {_NAME} ({_NAME}, rank) VALUES ('secure-delete', :on)"  # noqa: S608  # a name of ours
)
_REBUILD: Final = text(f"INSERT INTO {_NAME} ({_NAME}) VALUES ('rebuild')")  # noqa: S608  # the same


type RowCondition = ColumnElement[bool]
"""A condition for rows."""


@dataclass(frozen=True, slots=True)
class SearchPhrase:
    """Words that stand together."""

    words: tuple[str, ...]
    is_prefix: bool = False
    """Whether the last word may be incomplete."""


def words_of(value: str) -> list[str]:
    """Return the words of a text."""
    return [word for run in _runs(value) for word in run][:MOST_WORDS]


def search_phrases(words: str) -> tuple[SearchPhrase, ...]:
    """Return the phrases of a query, each once."""
    phrases = [SearchPhrase(tuple(run[:_LONGEST])) for run in _runs(words)]
    if phrases and len(phrases[-1].words[0]) >= _SHORTEST_PREFIX:
        phrases[-1] = SearchPhrase(
            phrases[-1].words,
            is_prefix=True,
        )
    return tuple(dict.fromkeys(phrases))[:_MOST_PHRASES]


def _runs(value: str) -> Iterator[list[str]]:
    """Yield each word alone, and adjacent characters of scripts without spaces together."""
    for run, is_unspaced in runs(fold(value)):
        yield list(run) if is_unspaced else [run[:_LONGEST]]


def create_index(connection: Connection) -> None:
    """Create the index."""
    if connection.dialect.name == POSTGRESQL:
        _VECTORS.create(connection)
        return
    for statement in _CREATE_FTS:
        connection.execute(statement)
    connection.execute(_SECURE_DELETE, {"on": True})


def rebuild_index(connection: Connection) -> None:
    """Rebuild the index of SQLite from the words that it stores."""
    connection.execute(_REBUILD)


def add_to_index(
    connection: Connection, turn: int, person: str, messages: Iterable[Message]
) -> None:
    """Add a turn, by its `seq`, with the words of a person and of the answer. An unknown person is empty."""
    all_messages = tuple(messages)
    words = words_of(said_in(all_messages)) + words_of(answered_in(all_messages))
    if connection.dialect.name == POSTGRESQL:
        vector = " ".join(
            f"'{word}':{position}" for position, word in enumerate(words, 1)
        )
        connection.execute(
            insert(_VECTORS),
            {
                "turn": turn,
                "words": vector,
            },
        )
    else:
        connection.execute(
            insert(_FTS),
            {
                "turn": turn,
                "person": _as_word(person),
                "words": " ".join(words),
            },
        )


@contextmanager
def deleting_many(connection: Connection) -> Iterator[None]:
    """Speed up the deletion of many turns.

    SQLite takes half a millisecond to remove one turn from the index without a trace;
    for many, the index is rebuilt.
    """
    if connection.dialect.name == POSTGRESQL:
        yield
        return
    connection.execute(_SECURE_DELETE, {"on": False})
    yield
    connection.execute(_REBUILD)
    connection.execute(_SECURE_DELETE, {"on": True})


def search_turns(
    connection: Connection,
    query: HistoryQuery,
) -> list[int]:
    """Return the `seq` of the turns that match best, best first, and of equal ones the newer first."""
    phrases = search_phrases(query.words)
    if not query.person_id or query.most < 1 or (query.words.strip() and not phrases):
        return []
    of_person = and_(turns.c.person == key_of(query.person_id), is_in_time(query))
    where = and_(
        of_person,
        true() if query.agent is None else turns.c.agent == key_of(query.agent),
    )
    if not phrases:
        chosen = select(turns.c.seq).where(
            where,
            _in_range(
                connection,
                query,
                of_person,
                turns.c.seq,
            ),
        )
        return list(
            connection.scalars(chosen.order_by(turns.c.seq.desc()).limit(query.most))
        )
    turn = (_FTS if connection.dialect.name == SQLITE else _VECTORS).c.turn
    allowed = exists(select(turns.c.seq).where(turns.c.seq == turn, where))
    newest = (
        select(turn)
        .where(_in_range(connection, query, of_person, turn), allowed)
        .order_by(turn.desc())
        .limit(_NEWEST)
    )
    matches, score = _match(connection, query.person_id, phrases)
    scores = dict(
        connection.execute(newest.where(matches).add_columns(score)).tuples().all()
    )
    if not scores:  # the more of the phrases a turn has, and the rarer, the better
        for phrase in phrases:
            found = connection.scalars(
                newest.where(_match(connection, query.person_id, (phrase,))[0])
            ).all()
            scores |= {seq: scores.get(seq, 0.0) + 1 / len(found) for seq in found}
    return sorted(scores, key=lambda seq: (scores[seq], seq), reverse=True)[
        : query.most
    ]


def is_in_time(query: HistoryQuery | TurnList) -> RowCondition:
    """Return the condition for turns in the time of a query."""
    return and_(
        true() if query.since is None else turns.c.at >= query.since,
        true() if query.until is None else turns.c.at <= query.until,
    )


def _in_range(
    connection: Connection,
    query: HistoryQuery,
    of_person: RowCondition,
    seq: ColumnElement[int],
) -> RowCondition:
    """Return the condition that a `seq` is between the first and the last of a person in the time of a query.

    An index holds all that this needs, which it would not with the agent.
    """
    if query.since is query.until is None:
        return true()
    first, last = connection.execute(
        select(func.min(turns.c.seq), func.max(turns.c.seq)).where(of_person)
    ).one()
    return seq.between(first, last)


def has_words(
    connection: Connection,
    words: str,
) -> RowCondition:
    """Return the condition for turns with all words, whoever spoke; for words of signs alone, no turn."""
    phrases = search_phrases(words)
    if not phrases:
        return false()
    index = _FTS if connection.dialect.name == SQLITE else _VECTORS
    matches, *_ = _match(
        connection,
        None,
        phrases,
    )
    return turns.c.seq.in_(select(index.c.turn).where(matches))


def _ts_phrase(phrase: SearchPhrase) -> str:
    """Write a phrase in PostgreSQL's language of searches: its words follow each other."""
    words = " <-> ".join(f"'{word}'" for word in phrase.words)
    if phrase.is_prefix:
        words += ":*"
    return f"({words})"


def _match(
    connection: Connection, person_id: str | None, phrases: tuple[SearchPhrase, ...]
) -> tuple[RowCondition, ColumnElement[float]]:
    """Return the condition for a row of the index that has all phrases, and its score. Without a person, of anybody."""
    if connection.dialect.name == POSTGRESQL:
        query = cast(
            " & ".join(map(_ts_phrase, phrases)),
            TSQUERY,
        )
        return _VECTORS.c.words.bool_op("@@")(query), func.ts_rank(
            _VECTORS.c.words, query, type_=Float
        )
    quoted = (
        f'"{" ".join(one.words)}"{"*" if one.is_prefix else ""}' for one in phrases
    )
    if person_id is None:
        of_person = ""
    else:
        of_person = f"person : {_as_word(key_of(person_id))} AND "
    matches = literal_column(_NAME, Text).bool_op("MATCH")(
        f"{of_person}words : ({' AND '.join(quoted)})"
    )
    return matches, literal_column(
        f"-bm25({_NAME}, 0.0, 1.0)", Float
    )  # the person does not count


def _as_word(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]

"""The full text index: what it is made of in each database, and how that is asked.

Knows tables and SQL. Must not know who may find what, or what is done with it. The index holds nothing that cannot be
made anew from the turns, so another version of it is made by dropping this one and filling that. A turn that is
deleted is gone from it in the same transaction, whoever deletes it.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, override

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    ForeignKey,
    Index,
    Insert,
    Integer,
    MetaData,
    Table,
    Text,
    and_,
    cast,
    delete,
    func,
    insert,
    literal_column,
    text,
)
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from .prepared_statements import PreparedStatements
from .schema import turns
from .search_terms import Phrase, padded

_NAME: Final = "chatterbox_search"
EVERY_NUMBER: Final = (0, 2**63 - 1)
NO_NUMBER: Final = (0, -1)

_FORGETS: Final = (3, 42)
"""The first SQLite whose full text search can remove what is deleted from the file."""

_FTS5: Final = f"CREATE VIRTUAL TABLE IF NOT EXISTS {_NAME} USING fts5(person, words, tokenize = 'ascii', prefix = '2')"
_SECURE: Final = text(f"INSERT INTO {_NAME} ({_NAME}, rank) VALUES ('secure-delete', :on)")  # noqa: S608  # a name of ours
_SWEEP: Final = text(f"INSERT INTO {_NAME} ({_NAME}) VALUES ('optimize')")  # noqa: S608  # the same
_FORGET: Final = (
    f"CREATE TRIGGER IF NOT EXISTS {_NAME}_delete AFTER DELETE ON {turns.name} "  # noqa: S608  # the same
    f"BEGIN DELETE FROM {_NAME} WHERE rowid = old.seq; END"
)


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a turn is found by."""

    seq: int
    person: str
    """Key of the person who spoke."""
    terms: list[str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for."""

    person: str
    """Key of the person whose words are searched."""
    phrases: tuple[Phrase, ...]
    """At least one."""
    where: ColumnElement[bool]
    """What else has to be true of a turn."""
    between: tuple[int, int]
    """The numbers that turns may have."""


class SearchIndex(Protocol):
    """The index in one kind of database."""

    table: Table
    """Its column `turn` is the number of the turn."""
    added: Insert
    """The statement for a new row."""

    def create(self, connection: Connection) -> None:
        """Make it, where it is not yet."""
        ...

    def row(self, indexed: Indexed) -> dict[str, object]:
        """Return the row for a turn."""
        ...

    def matches(self, wanted: Wanted) -> ColumnElement[bool]:
        """Return the condition for what is wanted."""
        ...

    def score(self, wanted: Wanted) -> ColumnElement[float]:
        """Return how well a row matches; more is better."""
        ...


class FullTextIndex(SearchIndex):
    """SQLite's FTS5.

    It takes words as we cut them: its tokenizer `ascii` divides at spaces only, what is beyond ASCII being letters to
    it. Who spoke is a word too, so that what others say often costs nothing. Source: https://sqlite.org/fts5.html
    """

    table = Table(
        _NAME, MetaData(), Column("rowid", Integer, key="turn"), Column("person", Text), Column("words", Text)
    )
    added = insert(table)

    @override
    def create(self, connection: Connection) -> None:
        connection.execute(text(_FTS5))
        connection.execute(_SECURE, {"on": 1})
        connection.execute(text(_FORGET))

    @override
    def row(self, indexed: Indexed) -> dict[str, object]:
        return {"turn": indexed.seq, "person": _as_one_word(indexed.person), "words": " ".join(indexed.terms)}

    @override
    def matches(self, wanted: Wanted) -> ColumnElement[bool]:
        phrases = (f'"{" ".join(one.terms)}"{"*" if one.is_beginning else ""}' for one in wanted.phrases)
        asked = f"person : {_as_one_word(wanted.person)} AND words : ({' AND '.join(phrases)})"
        return literal_column(_NAME, Text).bool_op("MATCH")(asked)

    @override
    def score(self, wanted: Wanted) -> ColumnElement[float]:
        return literal_column(f"-bm25({_NAME}, 0.0, 1.0)", Float)  # who spoke does not count


class _WordsIndex(SearchIndex):
    """A table of ours, with the words of each turn."""

    table = Table(
        _NAME,
        MetaData(),
        Column("turn", BigInteger, ForeignKey(turns.c.seq, ondelete="CASCADE"), primary_key=True, autoincrement=False),
        Column(
            "words",
            Text().with_variant(LONGTEXT, "mysql", "mariadb").with_variant(TSVECTOR, "postgresql"),
            nullable=False,
        ),
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
    Index(f"{_NAME}_words", table.c.words, postgresql_using="gin").ddl_if(dialect="postgresql")
    added = insert(table)

    @override
    def create(self, connection: Connection) -> None:
        self.table.create(connection, checkfirst=True)


class VectorIndex(_WordsIndex):
    """PostgreSQL's own full text search.

    It takes words as we cut them: a vector is written and a query asked in the form in which PostgreSQL itself writes
    them. Source: https://www.postgresql.org/docs/current/datatype-textsearch.html
    """

    @override
    def row(self, indexed: Indexed) -> dict[str, object]:
        words = (f"'{term}':{position}" for position, term in enumerate(indexed.terms, 1))
        return {"turn": indexed.seq, "words": " ".join(words)}

    @override
    def matches(self, wanted: Wanted) -> ColumnElement[bool]:
        return self.table.c.words.bool_op("@@")(self._asked(wanted))

    @override
    def score(self, wanted: Wanted) -> ColumnElement[float]:
        return func.ts_rank(self.table.c.words, self._asked(wanted), type_=Float)

    @staticmethod
    def _asked(wanted: Wanted) -> ColumnElement[str]:
        phrases = (
            f"({' <-> '.join(f"'{term}'" for term in one.terms)}{':*' if one.is_beginning else ''})"
            for one in wanted.phrases
        )
        return cast(" & ".join(phrases), TSQUERY)


class PlainIndex(_WordsIndex):
    """Any other database: the words of each turn of a person are looked through.

    MariaDB's and MySQL's full text search leaves out short words, common ones and Chinese; this does not.
    """

    @override
    def row(self, indexed: Indexed) -> dict[str, object]:
        return {"turn": indexed.seq, "words": padded(indexed.terms)}

    @override
    def matches(self, wanted: Wanted) -> ColumnElement[bool]:
        return and_(*(self.table.c.words.like(f"%{phrase.padded}%") for phrase in wanted.phrases))

    @override
    def score(self, wanted: Wanted) -> ColumnElement[float]:
        return literal_column("1.0", Float)


def create_index(connection: Connection) -> None:
    """Make the index, empty, where it is not yet."""
    index_of(connection).create(connection)


def drop_index(connection: Connection) -> None:
    """Take the index of an SQLite file away, whatever state it is in."""
    connection.execute(text(f"DROP TRIGGER IF EXISTS {_NAME}_delete"))
    connection.execute(text(f"DROP TABLE IF EXISTS {_NAME}"))
    connection.info.pop(_NAME, None)


def clear_index(connection: Connection) -> None:
    """Empty the index."""
    connection.execute(delete(index_of(connection).table))


def add_to_index(connection: Connection, added: Iterable[Indexed]) -> None:
    """Let turns be found."""
    index = index_of(connection)
    PreparedStatements(connection).insert_rows(index.added, [index.row(one) for one in added])


@contextmanager
def deleting_many(connection: Connection) -> Iterator[None]:
    """Let many turns be deleted inside.

    SQLite takes a millisecond to remove a turn from its index without a trace; of many, the traces are swept together.
    """
    can_sweep = isinstance(index_of(connection), FullTextIndex)
    if can_sweep:
        connection.execute(_SECURE, {"on": 0})
    yield
    if can_sweep:
        connection.execute(_SWEEP)
        connection.execute(_SECURE, {"on": 1})


def index_for(database: str, *, has_full_text: bool) -> SearchIndex:
    """Return the index for a kind of database, as SQLAlchemy calls it, and for an SQLite with FTS5 or without."""
    match database:
        case "postgresql":
            return VectorIndex()
        case "sqlite" if has_full_text:
            return FullTextIndex()
        case _:
            return PlainIndex()


def index_of(connection: Connection) -> SearchIndex:
    """Return the index of a database; a connection that stays open is asked for it once."""
    known: SearchIndex | None = connection.info.get(_NAME)
    if known is None:
        database = connection.dialect.name
        known = index_for(database, has_full_text=database == "sqlite" and _has_full_text(connection))
        connection.info[_NAME] = known
    return known


def _has_full_text(connection: Connection) -> bool:
    """Tell whether the index of an SQLite file is one of FTS5, or, where there is none, whether it can be."""
    made = connection.scalar(text("SELECT sql FROM sqlite_schema WHERE name = :name"), {"name": _NAME})
    if isinstance(made, str):
        return made.startswith("CREATE VIRTUAL")
    can: int = connection.scalar(text("SELECT sqlite_compileoption_used('ENABLE_FTS5')"))
    return bool(can) and sqlite3.sqlite_version_info >= _FORGETS


def _as_one_word(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]

"""The step to version 4 of the tables: who spoke, and where, is indexed in those rows only in which it is known.

Knows the columns as they were then. Bears being begun again. MariaDB and MySQL have no such indexes, and keep theirs.
"""

from typing import Final

from sqlalchemy import Column, Connection, Double, Index, Integer, MetaData, String, Table

_KINDS: Final = frozenset({"sqlite", "postgresql"})
_TABLES: Final = MetaData()
_TURNS: Final = Table(
    "chatterbox_turns",
    _TABLES,
    Column("seq", Integer),
    Column("person", String(80)),
    Column("device", String(80)),
    Column("at", Double),
)
_AUDIT: Final = Table("chatterbox_audit", _TABLES, Column("person", String(80)))
_RESPONSES: Final = Table("chatterbox_responses", _TABLES, Column("person", String(80)))


def _where_known(name: str, first: Column[str], *others: Column[object]) -> Index:
    return Index(name, first, *others, sqlite_where=first.is_not(None), postgresql_where=first.is_not(None))


_INDEXES: Final = (
    _where_known("chatterbox_turns_person", _TURNS.c.person, _TURNS.c.seq),
    _where_known("chatterbox_turns_person_at", _TURNS.c.person, _TURNS.c.at),
    _where_known("chatterbox_turns_device", _TURNS.c.device, _TURNS.c.seq),
    _where_known("chatterbox_audit_person", _AUDIT.c.person),
    _where_known("chatterbox_responses_person", _RESPONSES.c.person),
)


def index_what_is_known(connection: Connection) -> None:
    """Make the indexes of persons and devices anew, where they can be such."""
    if connection.dialect.name not in _KINDS:
        return
    for index in _INDEXES:
        index.drop(connection, checkfirst=True)
        index.create(connection)

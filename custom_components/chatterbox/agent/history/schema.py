"""The tables of the store, as every database that Home Assistant's recorder supports takes them.

Knows SQL only. Must not know what is in the JSON that the tables keep: columns beside it are there to find rows, to
count and to sort, and are never what is read back. Rows are ordered by `seq`, in which they were stored, because a
clock may be set back.
"""

import hashlib
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.dialects.mysql import LONGTEXT

_KEY_LENGTH: Final = 80
_KEY: Final = String(_KEY_LENGTH)
_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts by itself only in a column of this name of a type; both take 64 bits."""
_JSON: Final = Text().with_variant(LONGTEXT, "mysql", "mariadb")
_CHARSET: Final = "utf8mb4"
_COLLATION: Final = "utf8mb4_bin"

metadata: Final = MetaData()


def _where_known(name: str, *columns: str) -> Index:
    """Return an index of the rows whose first of these columns is known; at a satellite, who speaks often is not.

    What looks for a value finds it there; a database that knows no such index has one of all rows.
    """
    is_known = text(f"{columns[0]} IS NOT NULL")
    return Index(name, *columns, sqlite_where=is_known, postgresql_where=is_known)


versions: Final = Table(
    "chatterbox_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("since", Double, nullable=False),
)
"""One row for every version that the tables have had; the highest is theirs now."""

conversations: Final = Table(
    "chatterbox_conversations",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("began_at", Double, nullable=False),
    mysql_charset=_CHARSET,
    mysql_collate=_COLLATION,
    sqlite_with_rowid=False,
)
"""SQLite keeps these rows in their key alone; a file from before version 4 has the keys twice, which nobody sees.
`messages` are not kept so: in a key, a row has room for a thousand bytes only."""

turns: Final = Table(
    "chatterbox_turns",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", _KEY, nullable=False, unique=True),
    Column("conversation", _KEY, ForeignKey(conversations.c.id, ondelete="CASCADE"), nullable=False),
    Column("agent", _KEY, nullable=False),
    Column("person", _KEY),
    Column("device", _KEY),
    Column("at", Double, nullable=False),
    Column("stop_reason", String(40)),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("reasoning_tokens", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", _JSON, nullable=False),
    Column("outside", Boolean, nullable=False, server_default=false()),
    Index("chatterbox_turns_conversation", "conversation", "seq"),
    _where_known("chatterbox_turns_person", "person", "seq"),
    _where_known("chatterbox_turns_person_at", "person", "at"),
    _where_known("chatterbox_turns_device", "device", "seq"),
    Index("chatterbox_turns_agent", "agent", "at"),
    mysql_charset=_CHARSET,
    mysql_collate=_COLLATION,
    sqlite_autoincrement=True,
)
"""`at` is when the turn ended, in seconds since the epoch; `size` counts the characters of all its JSON; `outside`
tells whether anything that its conversation held until then came from outside the house."""

messages: Final = Table(
    "chatterbox_messages",
    metadata,
    Column("turn", _NUMBER, ForeignKey(turns.c.seq, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("role", String(20), nullable=False),
    Column("body", _JSON, nullable=False),
    mysql_charset=_CHARSET,
    mysql_collate=_COLLATION,
)

audit: Final = Table(
    "chatterbox_audit",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", _KEY, nullable=False, unique=True),
    Column("conversation", _KEY, nullable=False),
    Column("agent", _KEY, nullable=False),
    Column("person", _KEY),
    Column("device", _KEY),
    Column("at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", _JSON, nullable=False),
    Index("chatterbox_audit_conversation", "conversation"),
    _where_known("chatterbox_audit_person", "person"),
    Index("chatterbox_audit_agent", "agent", "at"),
    mysql_charset=_CHARSET,
    mysql_collate=_COLLATION,
    sqlite_autoincrement=True,
)

responses: Final = Table(
    "chatterbox_responses",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", _KEY, nullable=False, unique=True),
    Column("conversation", _KEY, nullable=False),
    Column("agent", _KEY, nullable=False),
    Column("person", _KEY),
    Column("at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", _JSON, nullable=False),
    Index("chatterbox_responses_conversation", "conversation", "seq"),
    _where_known("chatterbox_responses_person", "person"),
    Index("chatterbox_responses_agent", "agent", "at"),
    mysql_charset=_CHARSET,
    mysql_collate=_COLLATION,
    sqlite_autoincrement=True,
)
"""Responses of the Responses API. `at` is when one was created; how long they are kept is the upkeep's to say, so a row
holds no moment at which it goes."""


def key_of(value: str) -> str:
    """Return a value as it stands in a column that is searched.

    That is itself, unless some database would not take it, would cut it, or would take it for another one.
    """
    if len(value) <= _KEY_LENGTH and value.isprintable() and value == value.strip() and not value.startswith("sha256:"):
        return value
    return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"

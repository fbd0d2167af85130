"""The step to version 3 of the tables: responses of the Responses API are kept.

Knows the table as it was made then. Bears being begun again.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Connection, Double, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.dialects.mysql import LONGTEXT

_KEY: Final = String(80)

_responses: Final = Table(
    "chatterbox_responses",
    MetaData(),
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", _KEY, nullable=False, unique=True),
    Column("conversation", _KEY, nullable=False),
    Column("agent", _KEY, nullable=False),
    Column("person", _KEY),
    Column("at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("body", Text().with_variant(LONGTEXT, "mysql", "mariadb"), nullable=False),
    Index("chatterbox_responses_conversation", "conversation", "seq"),
    Index("chatterbox_responses_person", "person"),
    Index("chatterbox_responses_agent", "agent", "at"),
    mysql_charset="utf8mb4",
    mysql_collate="utf8mb4_bin",
    sqlite_autoincrement=True,
)


def let_responses_be_kept(connection: Connection) -> None:
    """Add the table of responses, and its indexes."""
    _responses.create(connection, checkfirst=True)
    for index in sorted(_responses.indexes, key=lambda one: str(one.name)):
        index.create(connection, checkfirst=True)

"""The tables, on SQLite and on PostgreSQL.

A record is stored as one row, as JSON in `body`. The other columns only serve to select
and sort rows. Rows are ordered by `seq`, the order in which they were stored, because a
clock may be set back. Decision 26.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
)

from .records import KEY_LENGTH, StoreUnavailable, Trouble

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

VERSION: Final = 1
"""Of the tables. Later versions will need migrations; so far there is none."""
_NUMBER: Final = BigInteger().with_variant(Integer, SQLITE)
"""SQLite counts up only in a column of this very type; both have 64 bits."""

metadata: Final = MetaData()
_schema: Final = Table(
    "chatterbox_schema", metadata, Column("version", Integer, primary_key=True)
)


def _where_known(
    table: Table,
    *columns: str,
) -> None:
    """Index the rows whose first of these columns is not NULL: the speaker at a satellite is often unknown."""
    is_known = table.c[columns[0]].is_not(None)
    name = f"{table.name}_{'_'.join(column for column in columns if column != 'seq')}"
    Index(
        name,
        *(table.c[column] for column in columns),
        sqlite_where=is_known,
        postgresql_where=is_known,
    )


def _records(
    name: str,
    *extra: Column[bool],
) -> Table:
    table = Table(
        name,
        metadata,
        Column(
            "seq",
            _NUMBER,
            primary_key=True,
            autoincrement=True,
        ),
        Column(
            "id",
            String(KEY_LENGTH),
            nullable=False,
            unique=True,
        ),
        Column(
            "conversation",
            String(KEY_LENGTH),
            nullable=False,
        ),
        Column(
            "agent",
            String(KEY_LENGTH),
            nullable=False,
        ),
        Column("person", String(KEY_LENGTH)),
        Column("device", String(KEY_LENGTH)),
        Column("at", Double, nullable=False),
        Column("size", BigInteger, nullable=False),
        Column("body", Text, nullable=False),
        *extra,
        Index(f"{name}_conversation", "conversation", "seq"),
        Index(
            f"{name}_agent",
            "agent",
            "at",
        ),
        sqlite_autoincrement=True,
    )
    _where_known(table, "person", "seq")
    return table


turns: Final = _records(
    "chatterbox_turns",
    Column(
        "outside",
        Boolean,
        nullable=False,
    ),
)
"""`at` is the end of the turn. `outside` tells whether its conversation held content from outside the home by then."""
_where_known(
    turns,
    "person",
    "at",
)
_where_known(
    turns,
    "device",
    "seq",
)
audit: Final = _records("chatterbox_audit")
responses: Final = _records("chatterbox_responses")
"""`at` is the creation of the response."""


def needs_tables(connection: Connection) -> bool:
    """Return whether the database is new. Raises StoreUnavailable (NEWER) for tables of another version."""
    if not inspect(connection).has_table(_schema.name):
        return True
    found = connection.scalar(select(func.max(_schema.c.version)))
    if found != VERSION:
        raise StoreUnavailable(
            Trouble.NEWER,
            f"The history was written by another version of Chatterbox: its tables have version {found}, and this one "
            f"needs version {VERSION}. Update Chatterbox, or choose another database.",
        )
    return False


def create_tables(connection: Connection) -> None:
    """Create the tables, but for the search index."""
    metadata.create_all(connection)
    connection.execute(insert(_schema).values(version=VERSION))

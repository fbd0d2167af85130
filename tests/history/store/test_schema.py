"""Tables are created once, and selections are found by an index."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Select, Table, create_engine, inspect, select, text
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.pool import NullPool

from custom_components.chatterbox.history.store.database import Database
from custom_components.chatterbox.history.store.query import Selection
from custom_components.chatterbox.history.store.records import StoreUnavailable, Trouble
from custom_components.chatterbox.history.store.rows import matching
from custom_components.chatterbox.history.store.schema import audit, responses, turns

from .records import turn
from .stores import Stores


@pytest.fixture
def connection(sqlite: str) -> Iterator[Connection]:
    """Return a connection to a new file."""
    database = Database(sqlite)
    with database.begin(writes=True) as connection:
        yield connection
    database.close()


def plan(connection: Connection, statement: Select[tuple[int]]) -> str:
    """Return how SQLite would run a query whose values it does not know yet."""
    sql = statement.compile(dialect=SQLiteDialect(paramstyle="named"))
    explained = connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"), sql.params)
    return "\n".join(row.detail for row in explained)


@pytest.mark.parametrize(
    ("table", "selection", "index"),
    [
        (
            turns,
            Selection(conversation_id="kitchen talk"),
            "chatterbox_turns_conversation",
        ),
        (turns, Selection(person_id="ann"), "chatterbox_turns_person"),
        (turns, Selection(device_id="satellite"), "chatterbox_turns_device"),
        (turns, Selection(agent="agent"), "chatterbox_turns_agent"),
        (
            audit,
            Selection(conversation_id="kitchen talk"),
            "chatterbox_audit_conversation",
        ),
        (audit, Selection(person_id="ann"), "chatterbox_audit_person"),
        (audit, Selection(agent="agent"), "chatterbox_audit_agent"),
        (
            responses,
            Selection(conversation_id="kitchen talk"),
            "chatterbox_responses_conversation",
        ),
        (responses, Selection(person_id="ann"), "chatterbox_responses_person"),
        (responses, Selection(agent="agent"), "chatterbox_responses_agent"),
    ],
)
def test_a_selection_is_found_by_its_index(
    connection: Connection, table: Table, selection: Selection, index: str
) -> None:
    assert f"USING INDEX {index}" in plan(
        connection, select(table.c.body).where(matching(table, selection))
    )


@pytest.mark.parametrize(
    "selection",
    [
        Selection(conversation_id="kitchen talk"),
        Selection(person_id="ann"),
        Selection(device_id="satellite"),
    ],
)
def test_the_last_turns_are_found_without_sorting(
    connection: Connection, selection: Selection
) -> None:
    last = (
        select(turns.c.seq)
        .where(matching(turns, selection))
        .order_by(turns.c.seq.desc())
        .limit(1)
    )
    assert "TEMP B-TREE" not in plan(connection, last)


def test_turns_of_a_person_in_a_time_are_found_by_an_index(
    connection: Connection,
) -> None:
    statement = select(turns.c.seq).where(
        matching(turns, Selection(person_id="ann")),
        turns.c.at >= 1.0,
        turns.c.at <= 2.0,
    )
    assert (
        "USING COVERING INDEX chatterbox_turns_person_at (person=? AND at>? AND at<?)"
        in plan(connection, statement)
    )


@pytest.mark.parametrize("table", [turns, audit, responses], ids=str)
def test_only_the_speaker_and_the_device_may_be_unknown(
    connection: Connection, table: Table
) -> None:
    columns = inspect(connection).get_columns(table.name)
    assert {column["name"] for column in columns if column["nullable"]} == {
        "person",
        "device",
    }


async def test_tables_of_another_version_are_left_alone(
    url: str, stores: Stores
) -> None:
    store, _ = stores.open(url)
    assert await store.record(turn(1)).stored()
    await store.close()
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text("INSERT INTO chatterbox_schema (version) VALUES (4)"))

    store, watch = stores.open(url)
    store.record(turn(2))
    state = await watch.until_down(Trouble.NEWER)
    assert "tables have version 4" in state.message
    with pytest.raises(StoreUnavailable):
        await store.turns("kitchen talk")
    await store.close()
    with create_engine(url, poolclass=NullPool).begin() as connection:
        assert connection.scalar(text("SELECT count(*) FROM chatterbox_turns")) == 1


async def test_a_foreign_table_is_not_touched_and_records_wait(
    sqlite: str, stores: Stores
) -> None:
    engine = create_engine(sqlite, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE chatterbox_search (words)"))
    store, watch = stores.open(sqlite)
    answer = store.record(turn(1))
    state = await watch.until_down(Trouble.OTHER)
    assert not state.dropped
    assert not answer.given
    with engine.begin() as connection:
        assert not connection.scalars(
            text("SELECT name FROM sqlite_schema WHERE name = 'chatterbox_turns'")
        ).all()
        connection.execute(text("DROP TABLE chatterbox_search"))
    assert await answer.stored()

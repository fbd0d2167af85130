"""What is looked for is found by an index, in a file of SQLite, however much is stored."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import Connection, Executable, Select, Table, create_engine, create_mock_engine, select, text
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.pool import NullPool

from custom_components.chatterbox.agent.history.indexes_where_known import index_what_is_known
from custom_components.chatterbox.agent.history.migrations import migrate
from custom_components.chatterbox.agent.history.schema import audit, responses, turns
from custom_components.chatterbox.agent.history.selected_rows import selected
from custom_components.chatterbox.agent.history.selection import (
    OneAgent,
    OneConversation,
    OneDevice,
    OnePerson,
    Selection,
)
from custom_components.chatterbox.agent.history.stored_rows import insert_records

from .records import audit as audited, turn
from .stores import sqlite_url


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """Return a connection to a new file."""
    engine = create_engine(sqlite_url(tmp_path / "history.db"), poolclass=NullPool)
    migrate(engine)
    with engine.connect() as connection:
        yield connection


def plan(connection: Connection, asked: Select[tuple[int]]) -> str:
    """Return how SQLite looks for something whose values it is not told yet."""
    sql = asked.compile(dialect=SQLiteDialect(paramstyle="named"))
    explained = connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"), sql.params)
    return "\n".join(row.detail for row in explained)


@pytest.mark.parametrize(
    ("table", "selection", "index"),
    [
        (turns, OneConversation("kitchen talk"), "chatterbox_turns_conversation"),
        (turns, OnePerson("ann"), "chatterbox_turns_person"),
        (turns, OneDevice("satellite"), "chatterbox_turns_device"),
        (turns, OneAgent("agent"), "chatterbox_turns_agent"),
        (audit, OneConversation("kitchen talk"), "chatterbox_audit_conversation"),
        (audit, OnePerson("ann"), "chatterbox_audit_person"),
        (audit, OneAgent("agent"), "chatterbox_audit_agent"),
        (responses, OneConversation("kitchen talk"), "chatterbox_responses_conversation"),
        (responses, OnePerson("ann"), "chatterbox_responses_person"),
        (responses, OneAgent("agent"), "chatterbox_responses_agent"),
    ],
)
def test_what_is_selected_is_found_by_its_index(
    connection: Connection, table: Table, selection: Selection, index: str
) -> None:
    assert f"USING INDEX {index}" in plan(connection, select(table.c.body).where(selected(table, selection)))


@pytest.mark.parametrize("who", [OneConversation("kitchen talk"), OnePerson("ann"), OneDevice("satellite")])
def test_the_last_turns_are_found_without_sorting(connection: Connection, who: Selection) -> None:
    last = select(turns.c.seq).where(selected(turns, who)).order_by(turns.c.seq.desc()).limit(1)
    assert "TEMP B-TREE" not in plan(connection, last)


def test_turns_of_a_person_in_some_time_are_found_by_an_index(connection: Connection) -> None:
    asked = select(turns.c.seq).where(selected(turns, OnePerson("ann")), turns.c.at >= 1.0, turns.c.at <= 2.0)
    assert "USING COVERING INDEX chatterbox_turns_person_at (person=? AND at>? AND at<?)" in plan(connection, asked)


def test_of_somebody_unknown_nothing_is_written_beside_the_turn(connection: Connection) -> None:
    beside = text(
        "SELECT name, sum(ncell) FROM dbstat WHERE name LIKE '%_person%' OR name LIKE '%_device' GROUP BY name"
    )
    insert_records(connection, [turn(1), turn(2), audited(1)])
    assert {row[1] for row in connection.execute(beside)} == {0}
    insert_records(connection, [turn(3, person="ann", device="satellite"), audited(2, person="ann")])
    assert dict(connection.execute(beside).tuples().all()) == {
        "chatterbox_audit_person": 1,
        "chatterbox_responses_person": 0,
        "chatterbox_turns_device": 1,
        "chatterbox_turns_person": 1,
        "chatterbox_turns_person_at": 1,
    }


@pytest.mark.parametrize("kind", ["mysql", "mariadb"])
def test_a_database_without_such_indexes_keeps_those_it_has(kind: str) -> None:
    executed: list[Executable] = []
    database = create_mock_engine(f"{kind}://", lambda sql, *_, **__: executed.append(sql))
    index_what_is_known(cast("Connection", database))
    assert executed == []

"""Tables are brought forward step by step, whole or not at all, and never back."""

import gzip
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from custom_components.chatterbox.agent.history.database import Database
from custom_components.chatterbox.agent.history.indexes_where_known import index_what_is_known
from custom_components.chatterbox.agent.history.migrations import VERSION, Step, migrate
from custom_components.chatterbox.agent.history.response_table import let_responses_be_kept
from custom_components.chatterbox.agent.history.search import SearchQuery
from custom_components.chatterbox.agent.history.selection import OneAgent, OnePerson
from custom_components.chatterbox.agent.history.store_trouble import StoreUnavailable, Trouble

from .records import audit, response, turn
from .stores import Stores, sqlite_url


def engine_of(url: str) -> Engine:
    """Return a connection of our own to a database."""
    return create_engine(url, poolclass=NullPool)


def version_of(engine: Engine) -> int | None:
    """Return the version that is written in a database."""
    with engine.connect() as connection:
        found: int | None = connection.scalar(text("SELECT max(version) FROM chatterbox_schema"))
    return found


def add_table(name: str) -> Step:
    """Return a step that adds a table."""

    def step(connection: Connection) -> None:
        connection.execute(text(f"CREATE TABLE {name} (a INTEGER)"))

    return step


def fail(_connection: Connection) -> None:
    """Be a step that fails."""
    raise LookupError


def prepared(url: str) -> Engine:
    """Make the tables of today."""
    database = Database(url)
    with database.begin():
        pass
    database.close()
    return engine_of(url)


def test_a_new_database_gets_the_tables_of_today(url: str) -> None:
    engine = prepared(url)
    assert version_of(engine) == VERSION
    migrate(engine)
    assert version_of(engine) == VERSION


def test_an_older_database_goes_through_every_step(url: str) -> None:
    engine = prepared(url)
    steps = {VERSION + 1: add_table("one"), VERSION + 2: add_table("two")}
    migrate(engine, version=VERSION + 2, steps=steps)
    assert version_of(engine) == VERSION + 2
    assert {"one", "two"} <= set(inspect(engine).get_table_names())
    migrate(engine, version=VERSION + 2, steps=steps)


def test_a_step_that_fails_leaves_the_version_before_it(url: str) -> None:
    engine = prepared(url)
    with pytest.raises(LookupError):
        migrate(engine, version=VERSION + 2, steps={VERSION + 1: add_table("one"), VERSION + 2: fail})
    assert version_of(engine) == VERSION + 1
    migrate(engine, version=VERSION + 2, steps={VERSION + 2: add_table("two")})
    assert version_of(engine) == VERSION + 2


async def test_what_a_newer_chatterbox_has_written_is_left_alone(tmp_path: Path, stores: Stores) -> None:
    url = sqlite_url(tmp_path / "history.db")
    engine = prepared(url)
    migrate(engine, version=VERSION + 1, steps={VERSION + 1: add_table("one")})
    before = (tmp_path / "history.db").read_bytes()

    store, watch = stores.open(url)
    store.record(turn(1))
    state = await watch.until_down(Trouble.NEWER)
    assert "Update Chatterbox, or choose another database." in state.message
    with pytest.raises(StoreUnavailable):
        await store.turns("kitchen talk")
    await store.close()
    assert (tmp_path / "history.db").read_bytes() == before


VERSION_2 = Path(__file__).parents[2] / "fixtures" / "history" / "version_2.db.gz"
"""What version 2 has made of `turn(1, person="ann", said="Turn on the lamp.")`, `turn(2, person="ben")` and
`audit(1, person="ann")`."""


async def test_a_file_of_version_2_keeps_what_it_has_and_takes_responses(tmp_path: Path, stores: Stores) -> None:
    file = tmp_path / "history.db"
    file.write_bytes(gzip.decompress(VERSION_2.read_bytes()))
    assert version_of(engine_of(sqlite_url(file))) == 2

    store, _ = stores.open(sqlite_url(file))
    assert await store.record(response(1)).stored()
    assert await store.turns("kitchen talk") == (turn(1, person="ann", said="Turn on the lamp."), turn(2, person="ben"))
    assert [one.turn_id for one in await store.search(SearchQuery(words="lamp", person_id="ann"))] == ["turn 1"]
    assert await store.response("resp 1") == response(1)
    assert len([line async for line in store.export(OneAgent("agent"))]) == 4
    assert await store.purge(OneAgent("agent")) == 4
    assert version_of(engine_of(sqlite_url(file))) == VERSION


def columns_and_indexes(engine: Engine, table: str) -> object:
    """Return what a table is made of."""
    found = inspect(engine)
    columns = [(one["name"], str(one["type"]), one["nullable"], one["default"]) for one in found.get_columns(table)]
    indexes = {
        one["name"]: (one["column_names"], one["unique"], {str(where) for where in one["dialect_options"].values()})
        for one in found.get_indexes(table)
    }
    return columns, indexes, found.get_unique_constraints(table), found.get_pk_constraint(table)


async def test_an_older_database_gets_the_same_table_of_responses_as_a_new_one(url: str, stores: Stores) -> None:
    engine = prepared(url)
    new = columns_and_indexes(engine, "chatterbox_responses")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE chatterbox_responses"))
        connection.execute(text("DELETE FROM chatterbox_schema"))
        connection.execute(text("INSERT INTO chatterbox_schema (version, since) VALUES (2, 0)"))

    store, _ = stores.open(url)
    assert await store.record(response(1)).stored()
    assert await store.record(audit(1)).stored()
    await store.close()
    assert version_of(engine) == VERSION
    assert columns_and_indexes(engine, "chatterbox_responses") == new


def test_a_step_that_adds_responses_and_was_broken_off_is_begun_again(url: str) -> None:
    engine = prepared(url)
    whole = columns_and_indexes(engine, "chatterbox_responses")
    with engine.begin() as connection:
        connection.execute(text("DROP INDEX chatterbox_responses_agent"))
    with engine.begin() as connection:
        let_responses_be_kept(connection)
    assert columns_and_indexes(engine, "chatterbox_responses") == whole


KNOWN = {
    "chatterbox_turns_person": ("chatterbox_turns", "person, seq"),
    "chatterbox_turns_person_at": ("chatterbox_turns", "person, at"),
    "chatterbox_turns_device": ("chatterbox_turns", "device, seq"),
    "chatterbox_audit_person": ("chatterbox_audit", "person"),
    "chatterbox_responses_person": ("chatterbox_responses", "person"),
}
"""The indexes that hold only what is known, since version 4."""


def indexes_of(engine: Engine) -> list[object]:
    """Return what the tables with such indexes are made of."""
    return [columns_and_indexes(engine, table) for table in sorted({table for table, _ in KNOWN.values()})]


async def test_tables_of_version_3_get_the_same_indexes_as_new_ones(url: str, stores: Stores) -> None:
    engine = prepared(url)
    new = indexes_of(engine)
    with engine.begin() as connection:
        for index, (table, columns) in KNOWN.items():
            connection.execute(text(f"DROP INDEX {index}"))
            connection.execute(text(f"CREATE INDEX {index} ON {table} ({columns})"))
        connection.execute(text("DELETE FROM chatterbox_schema"))
        connection.execute(text("INSERT INTO chatterbox_schema (version, since) VALUES (3, 0)"))
    assert indexes_of(engine) != new

    store, _ = stores.open(url)
    assert await store.record(turn(1, person="ann")).stored()
    assert await store.purge(OnePerson("ann")) == 1
    await store.close()
    assert version_of(engine) == VERSION
    assert indexes_of(engine) == new


def test_a_step_that_makes_indexes_anew_and_was_broken_off_is_begun_again(url: str) -> None:
    engine = prepared(url)
    whole = indexes_of(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP INDEX chatterbox_turns_device"))
    for _ in range(2):
        with engine.begin() as connection:
            index_what_is_known(connection)
    assert indexes_of(engine) == whole

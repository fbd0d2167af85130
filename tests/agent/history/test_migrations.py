"""Tables are brought forward step by step, whole or not at all, and never back."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from custom_components.chatterbox.agent.history.database import Database
from custom_components.chatterbox.agent.history.migrations import VERSION, Step, migrate
from custom_components.chatterbox.agent.history.store_trouble import StoreUnavailable, Trouble

from .records import turn
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

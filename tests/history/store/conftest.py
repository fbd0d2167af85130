"""Databases and stores for the tests of the history."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import pytest

from custom_components.chatterbox.history.store.history_store import HistoryStore

from .postgresql import PostgreSQL
from .stores import Stores, sqlite_url

_numbers = count()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where an SQLite file may be."""
    return tmp_path / "history.db"


@pytest.fixture
def sqlite(file: Path) -> str:
    """Return the address of an SQLite file that is not there yet."""
    return sqlite_url(file)


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)]
)
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new database of each kind; `ON_BOTH` has both each time."""
    if request.param == "sqlite":
        address: str = request.getfixturevalue("sqlite")
        return address
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.new_database(f"history{next(_numbers)}")


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    """Open stores, and close them at the end."""
    async with AsyncExitStack() as stack:
        yield Stores(stack)


@pytest.fixture
async def store(stores: Stores, sqlite: str) -> HistoryStore:
    """Return a store in an SQLite file."""
    opened, _ = stores.open(sqlite)
    return opened

"""Databases and stores for the tests of the history."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import pytest

from .postgresql import PostgreSQL, binaries, running
from .stores import Stores, sqlite_url

_numbers = count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """Run a PostgreSQL server, where one is installed."""
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed here, so the history is not tested on it: run script/postgresql")
    with running(folder) as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where an SQLite file may be."""
    return tmp_path / "history.db"


@pytest.fixture
def sqlite(file: Path) -> str:
    """Return the address of an SQLite file that is not there yet."""
    return sqlite_url(file)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new database of each kind."""
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

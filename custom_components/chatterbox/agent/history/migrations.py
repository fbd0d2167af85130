"""Brings the tables of a database to the version that this Chatterbox knows.

Forward only, each step whole or not at all. Knows versions and steps. A new database gets the tables of `schema.py` as
they are; an older one goes through every step that it lacks. A database that a newer Chatterbox has written to is left
alone.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import Connection, Engine, func, insert, inspect, select

from .indexes_where_known import index_what_is_known
from .response_table import let_responses_be_kept
from .schema import metadata, versions
from .search_filling import let_turns_be_found
from .search_index import create_index
from .store_trouble import StoreUnavailable, Trouble

VERSION: Final = 4
"""Of the tables in `schema.py`."""

type Step = Callable[[Connection], None]

STEPS: Final[Mapping[int, Step]] = {2: let_turns_be_found, 3: let_responses_be_kept, 4: index_what_is_known}
"""By the version that a step leads to, from 2 on. A step does not use `schema.py`, which goes on changing.

MariaDB keeps what a broken off step has changed, so a step has to bear being begun again.
"""


def migrate(engine: Engine, *, version: int = VERSION, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring the tables to a version. Raises StoreUnavailable (NEWER) when they are past it."""
    with engine.begin() as connection:
        found = _version(connection)
        if found is None:
            metadata.create_all(connection)
            create_index(connection)
            _write_version(connection, version)
            return
    if found > version:
        raise StoreUnavailable(
            Trouble.NEWER,
            f"The history was last written by a newer Chatterbox: its tables have version {found}, "
            f"and this one knows version {version}. Update Chatterbox, or choose another database.",
        )
    for following in range(found + 1, version + 1):
        with engine.begin() as connection:
            steps[following](connection)
            _write_version(connection, following)


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(versions.name):
        return None
    highest: int | None = connection.scalar(select(func.max(versions.c.version)))
    return highest


def _write_version(connection: Connection, version: int) -> None:
    connection.execute(insert(versions).values(version=version, since=time.time()))

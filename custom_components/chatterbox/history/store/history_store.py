"""The history: turns, audit records and responses that survive a restart.

Writing never waits, never fails and never blocks the event loop. Reading runs in a
thread, and includes records that wait to be stored.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

from sqlalchemy import Connection

from .database import Database
from .query import (
    Found,
    FoundTurn,
    HistoryQuery,
    ListedTurn,
    Retention,
    Selection,
    TurnList,
)
from .records import (
    Acknowledgement,
    Record,
    ResponseRecord,
    StoredTurn,
    StoreState,
    StoreUnavailable,
    Trouble,
    WriterLimits,
    key_of,
    response_from_json,
    stored_json,
    turn_from_json,
)
from .rows import (
    count_responses,
    delete_beyond,
    delete_records,
    delete_response,
    delete_turn,
    find_turn,
    find_turns,
    last_end,
    list_turns,
    matching,
    select_newest,
    select_page,
)
from .schema import audit, responses, turns
from .search import RowCondition
from .writer import HistoryWriter, nothing

_TIMEOUT: Final = 20.0
"""Seconds to wait for the database."""
_FLUSH_TIMEOUT: Final = 0.2
"""Seconds that a search waits until waiting records are stored."""
_EXPORTED: Final = (
    (
        "turn",
        turns,
        100,
    ),
    (
        "audit",
        audit,
        100,
    ),
    (
        "response",
        responses,
        5,
    ),
)
"""Kinds of records, and how many are read at once; responses may be large."""
_LIMITS: Final = WriterLimits()


class HistoryStore:
    """Keeps records in a database. Reading and deleting raise StoreUnavailable."""

    def __init__(
        self,
        url: str,
        on_state: Callable[[StoreState], None],
        *,
        limits: WriterLimits = _LIMITS,
        clock: Callable[[], float] = time.time,
        timeout: float = _TIMEOUT,
    ) -> None:
        """Take an SQLAlchemy URL, such as `sqlite:////config/history.db`. Raises StoreUnavailable for an invalid one.

        The writer thread calls `on_state` when the store goes down or up, drops a
        record or puts a damaged file aside.
        """
        self._database = Database(url)
        self._writer = HistoryWriter(
            self._database,
            on_state,
            limits,
        )
        self._clock = clock
        self._timeout = timeout
        self._resumed = threading.Event()

    def start(self) -> None:
        """Open the database in a thread; the state tells if that fails."""
        self._writer.start()

    async def close(self, seconds: float = 5.0) -> tuple[Record, ...]:
        """Store the waiting records within some seconds, and end. Return those that were not stored."""
        self.resume()
        return await asyncio.to_thread(self._writer.close, seconds)

    @property
    def where(self) -> str:
        """Name of the database in messages, without user and password."""
        return self._database.where

    @property
    def state(self) -> StoreState:
        """The current state."""
        return self._writer.state

    def record(self, record: Record) -> Acknowledgement:
        """Store a record. Returns at once; `stored()` of the result waits until it is safe."""
        return self._writer.record(record)

    async def turns(
        self, conversation_id: str, most: int | None = None
    ) -> tuple[StoredTurn, ...]:
        """Return the turns of a conversation, or the last `most`, in the order in which they were recorded."""
        return await self._newest_turns(
            Selection(conversation_id=conversation_id), most
        )

    async def last_turn(
        self,
        selection: Selection,
        within: float,
    ) -> StoredTurn | None:
        """Return the latest selected turn.

        None if it ended more than `within` seconds ago, or as far in the future, by a
        clock that was wrong.
        """
        found = await self._newest_turns(selection, 1)
        if found and abs(self._clock() - found[0].ended_at) <= within:
            return found[0]
        return None

    async def _newest_turns(
        self, selection: Selection, most: int | None
    ) -> tuple[StoredTurn, ...]:
        waiting = [
            turn
            for turn in self._writer.waiting(StoredTurn)
            if selection.includes(turn)
        ]  # before it is stored
        # Those that are stored meanwhile must not hide among the older ones that are
        # left out.
        if most:
            limit = most + len(waiting)
        else:
            limit = None
        stored = await self._read(
            lambda connection: select_newest(
                connection, turns, matching(turns, selection), turn_from_json, limit
            )
        )
        found = {turn.id: turn for turn in (*stored.values(), *waiting)}
        return tuple(found.values())[-most if most else None :]

    async def search(self, query: HistoryQuery) -> tuple[Found, ...]:
        """Return the turns of a person that match best, best first.

        Records that wait are stored first, unless that takes too long.
        """
        await self._flush()
        return await self._read(partial(find_turns, query=query))

    async def listed_turns(
        self, query: TurnList
    ) -> tuple[tuple[ListedTurn, ...], int | None]:
        """Return a page of turns, the newest first, with the first page also how many match. Waits as `search` does."""
        await self._flush()
        return await self._read(partial(list_turns, query=query))

    async def turn(
        self, turn_id: str, people: frozenset[str] | None = None
    ) -> FoundTurn | None:
        """Return a turn of some people, or of anybody; None for an unknown one. Waits as `search` does."""
        await self._flush()
        return await self._read(partial(find_turn, turn_id=turn_id, people=people))

    async def delete_turn(self, turn: StoredTurn) -> int:
        """Delete a turn and its audit records. Return the number of deleted records."""
        return await self._delete(partial(delete_turn, turn=turn))

    async def _flush(self) -> None:
        """Have the waiting records stored first, unless that takes too long."""
        if self._writer.state.waiting:
            with suppress(StoreUnavailable):
                await self._do(_no_work, seconds=_FLUSH_TIMEOUT)

    async def response(self, response_id: str) -> ResponseRecord | None:
        """Return the latest state of a response; None for an unknown one."""
        waiting = [
            one for one in self._writer.waiting(ResponseRecord) if one.id == response_id
        ]
        if waiting:
            return waiting[-1]
        where = responses.c.id == key_of(response_id)
        found = await self._read(
            lambda connection: select_newest(
                connection, responses, where, response_from_json, 1
            )
        )
        return next(iter(found.values()), None)

    async def responses(
        self, conversation_id: str, agents: Collection[str], newest: int | None = None
    ) -> tuple[ResponseRecord, ...]:
        """Return the responses of some agents in a conversation, in the order in which their times were recorded.

        `newest` limits those that are stored already.
        """
        waiting = self._writer.waiting(ResponseRecord)  # before they are stored
        where = matching(
            responses, Selection(conversation_id=conversation_id)
        ) & _is_of(agents)
        stored = await self._read(
            lambda connection: select_newest(
                connection, responses, where, response_from_json, newest
            )
        )
        by_id = {one.id: one for one in stored.values()}
        for one in waiting:
            if one.conversation_id == conversation_id and one.agent in agents:
                by_id[one.id] = one
        return tuple(by_id.values())

    async def delete_response(self, response_id: str) -> int:
        """Delete a response, also one that waits. Return the number of deleted records."""
        return await self._delete(partial(delete_response, response_id=response_id))

    async def response_totals(
        self,
        agents: Collection[str],
    ) -> tuple[int, int]:
        """Return the number of responses of some agents, and their size in characters."""
        return await self._read(partial(count_responses, where=_is_of(agents)))

    async def purge(self, selection: Selection) -> int:
        """Delete a selection, also of waiting records. Return the number of deleted records.

        After StoreUnavailable (SLOW) it may still happen; after any other, it does not.
        """
        return await self._delete(partial(delete_records, selection=selection))

    async def prune(
        self, agent: str, retention: Retention, *, of_responses: bool = False
    ) -> int:
        """Delete turns and audit records, or responses, of an agent beyond its limits. Return how many were deleted."""
        tables = (responses,) if of_responses else (turns, audit)
        work = partial(
            delete_beyond,
            tables=tables,
            agent=agent,
            retention=retention,
            now=self._clock(),
        )
        return await self._delete(work)

    async def last_end(self) -> int:
        """Return when the last turn has ended, in seconds since the epoch; 0 without any."""
        return await self._do(last_end)

    async def export(self, selection: Selection) -> AsyncGenerator[str]:
        """Yield each selected record as a line of JSON without line end, with its `kind`: turn, audit or response."""
        await self._do(_no_work)
        for kind, table, most in _EXPORTED:
            after: int | None = 0
            while after is not None:
                page = partial(
                    select_page,
                    table=table,
                    selection=selection,
                    most=most,
                    after=after,
                )
                found, after = await self._read(page)
                for data in found:
                    yield stored_json({"kind": kind, **data})

    async def pause(self, at_most: float = 3_600.0) -> None:
        """Make the file fit to be copied, and stop writing until `resume`, or for `at_most` seconds.

        Does nothing for a server.
        """
        if not self._database.is_file:
            return
        self.resume()
        self._resumed = resumed = threading.Event()
        try:
            await self._do(
                _no_work, self._database.shrink, partial(resumed.wait, at_most)
            )
        except BaseException:  # nobody else would resume
            resumed.set()
            raise

    def resume(self) -> None:
        """Continue writing after `pause`."""
        self._resumed.set()

    async def _delete(self, work: Callable[[Connection], int]) -> int:
        return await self._do(work, self._database.shrink)

    async def _do(
        self,
        work: Callable[[Connection], int],
        after: Callable[[], None] = nothing,
        then: Callable[[], object] = nothing,
        *,
        seconds: float | None = None,
    ) -> int:
        """Have the writer do some work; see `HistoryWriter.do`."""
        answer = self._writer.do(
            work,
            after,
            then,
        )
        async with _in_time(self._database, seconds or self._timeout):
            return await asyncio.wrap_future(answer)

    async def _read[T](
        self,
        work: Callable[[Connection], T],
    ) -> T:
        try:
            async with _in_time(self._database, self._timeout):
                return await asyncio.to_thread(self._in_transaction, work)
        except StoreUnavailable as err:
            if err.trouble is Trouble.CORRUPT:
                self._writer.do(self._database.check)  # the writer replaces the file
            raise

    def _in_transaction[T](
        self,
        work: Callable[[Connection], T],
    ) -> T:
        with self._database.begin() as connection:
            return work(connection)


async def check_address(
    url: str,
    seconds: float = _TIMEOUT,
) -> None:
    """Open a database and create its tables. Raises StoreUnavailable if it cannot be used."""
    database = Database(url, may_be_empty=True)
    async with _in_time(database, seconds):
        await asyncio.to_thread(_open_and_close, database)


def _open_and_close(database: Database) -> None:
    try:
        with database.begin():
            pass
    finally:
        database.close()


def _is_of(agents: Collection[str]) -> RowCondition:
    return responses.c.agent.in_([key_of(agent) for agent in agents])


@asynccontextmanager
async def _in_time(database: Database, seconds: float) -> AsyncGenerator[None]:
    """Raise StoreUnavailable (SLOW) where the database takes longer."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable(
            Trouble.SLOW, f"The history in {database.where} does not answer in time."
        ) from None


def _no_work(_connection: Connection) -> int:
    return 0

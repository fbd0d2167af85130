"""The history of an installation: turns, transcripts, audit records and responses that outlive a restart.

Writing never waits, never fails and never blocks an event loop; `HistoryWriter` does it. Reading runs in a thread and
sees what was recorded before, stored or not. Must not know Home Assistant, or who asks.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import Connection

from ..messages import Transcript
from ..transcript import repair
from .database import Database
from .deletion import delete_beyond, delete_responses_beyond, delete_selected
from .holding import Holding
from .json_fields import stored_json
from .records import Record
from .response_records import ResponseRecord
from .schema import audit, responses, turns
from .search import Found, SearchQuery
from .selected_rows import selected
from .selection import OneAgent, OneConversation, OneDevice, OnePerson, Retention, Selection, is_selected
from .store_state import Acknowledgement, StoreState, WriterLimits
from .store_trouble import StoreUnavailable, Trouble
from .stored_pages import Page, select_bodies
from .stored_responses import KeptResponses, count_responses, delete_response, select_chain, select_response
from .stored_rows import read_turns, select_last_turns, select_turns
from .stored_search import search_turns
from .turn_records import TurnRecord
from .writer import HistoryWriter

_PATIENCE: Final = 20.0
"""Seconds to wait for the database."""
_AT_ONCE: Final = 100
"""Turns of one step of an export."""
_RESPONSES_AT_ONCE: Final = 5
"""The same of responses, which may be large."""
_LIMITS: Final = WriterLimits()


@dataclass(frozen=True, slots=True)
class LastConversation:
    """The conversation that somebody was in last."""

    conversation_id: str
    ended_at: float
    """Seconds since the epoch."""


class HistoryStore:
    """Keeps records in a database, and gives them back."""

    def __init__(
        self,
        url: str,
        on_state: Callable[[StoreState], None],
        *,
        limits: WriterLimits = _LIMITS,
        clock: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
    ) -> None:
        """Take the address of a database, as SQLAlchemy writes it: `sqlite:////config/history.db`.

        `on_state` is called, in another thread, when the store goes down or up again, drops a record or puts a damaged
        file aside. `clock` gives seconds since the epoch; `patience` is how many of them a reader waits. Raises
        StoreUnavailable (WRONG_URL) for what is no address.
        """
        self._database = Database(url)
        self._writer = HistoryWriter(self._database, on_state, limits)
        self._clock = clock
        self._patience = patience
        self._holding = Holding(0)

    def start(self) -> None:
        """Open the database, in a thread. That it cannot be opened is told by the state."""
        self._writer.start()

    async def close(self, patience: float = 5.0) -> tuple[Record, ...]:
        """Store what waits, if that can be done in `patience` seconds, and end. Return what could not be stored."""
        self.go_on()
        return await asyncio.to_thread(self._writer.close, patience)

    @property
    def where(self) -> str:
        """What the database is called in messages: no user, no password."""
        return self._database.where

    @property
    def state(self) -> StoreState:
        """How the store is."""
        return self._writer.state

    @property
    def is_down(self) -> bool:
        """Whether the database could not be used last."""
        return self._writer.is_down

    def record(self, record: Record) -> Acknowledgement:
        """Store something. Returns at once; `stored()` of the answer waits until it is safe."""
        return self._writer.record(record)

    async def turns(self, conversation_id: str, most: int | None = None) -> tuple[TurnRecord, ...]:
        """Return the turns of a conversation, or the last `most` of them, in the order in which they were recorded.

        Raises StoreUnavailable, as does everything below.
        """
        chosen = OneConversation(conversation_id)
        waiting = self._waiting(chosen)  # looked at first, as it may be stored in the meantime
        some = None if most is None else most + len(waiting)
        stored = await self._read(lambda connection: select_last_turns(connection, selected(turns, chosen), some))
        found = read_turns(stored)
        known = {turn.id for turn in found}
        found += tuple(turn for turn in waiting if turn.id not in known)
        return found if most is None else found[max(len(found) - most, 0) :]

    async def transcript(self, conversation_id: str, most_turns: int | None = None) -> Transcript:
        """Return what was said in a conversation, or in its last turns, as any model takes it."""
        found = await self.turns(conversation_id, most_turns)
        return repair(message for turn in found for message in turn.messages)

    async def last_conversation(self, agent: str, who: OnePerson | OneDevice, within: float) -> LastConversation | None:
        """Return the conversation with an agent that a person, or somebody at a device, was in last.

        None if its last turn ended more than `within` seconds ago, or as far in the future: then the clock was wrong,
        and nobody knows how long ago that was.
        """
        waiting = [turn for turn in self._waiting(who) if turn.origin.agent == agent]
        if waiting:
            last = waiting[-1]
        else:
            where = selected(turns, who) & selected(turns, OneAgent(agent))
            stored = read_turns(await self._read(lambda connection: select_last_turns(connection, where, 1)))
            if not stored:
                return None
            last = stored[0]
        if abs(self._clock() - last.ended_at) > within:
            return None
        return LastConversation(last.origin.conversation_id, last.ended_at)

    async def search(self, query: SearchQuery) -> tuple[Found, ...]:
        """Return the turns of a person that match best, the best first; what is not stored yet comes before it."""
        waiting = self._writer.waiting_turns()  # looked at first, as it may be stored in the meantime
        return await self._read(partial(search_turns, query=query, waiting=waiting))

    async def response(self, response_id: str) -> ResponseRecord | None:
        """Return a response of the API, as it was recorded last; None for one that was never stored, or is deleted."""
        waiting = [one for one in self._writer.waiting_responses() if one.id == response_id]
        return waiting[-1] if waiting else await self._read(partial(select_response, response_id=response_id))

    async def responses(
        self, conversation_id: str, agents: Collection[str], newest: int | None = None
    ) -> tuple[ResponseRecord, ...]:
        """Return the responses of some agents in a conversation, in the order in which they were recorded first.

        With `newest`, no more of those that are stored already than so many.
        """
        waiting = self._writer.waiting_responses()  # looked at first, as it may be stored in the meantime
        stored = await self._read(partial(select_chain, conversation_id=conversation_id, agents=agents, newest=newest))
        found = {one.id: one for one in stored}
        theirs = (one for one in waiting if one.conversation_id == conversation_id and one.agent in agents)
        found |= {one.id: one for one in theirs}
        return tuple(found.values())

    async def delete_response(self, response_id: str) -> int:
        """Delete a response, what was recorded of it until now included. Return how many there were."""
        return await self._delete(partial(delete_response, response_id=response_id))

    async def kept_responses(self, agents: Collection[str]) -> KeptResponses:
        """Return how many responses of some agents are stored, and how large they are."""
        return await self._read(partial(count_responses, agents=agents))

    async def purge(self, selection: Selection) -> int:
        """Delete what is selected, what was recorded until now included. Return how many records are gone.

        It may still happen when it is SLOW; after every other StoreUnavailable, it does not.
        """
        return await self._delete(partial(delete_selected, selection=selection))

    async def prune(self, agent: str, retention: Retention) -> int:
        """Delete what is too old or too much of an agent. Return how many records are gone."""
        return await self._delete(partial(delete_beyond, agent=agent, retention=retention, now=self._clock()))

    async def prune_responses(self, agent: str, retention: Retention) -> int:
        """Delete the responses of an agent that are too old or too much. Return how many are gone."""
        work = partial(delete_responses_beyond, agent=agent, retention=retention, now=self._clock())
        return await self._delete(work)

    async def export(self, selection: Selection) -> AsyncGenerator[str]:
        """Yield every turn, audit record and response that is selected, each as a line of JSON without its line end.

        Each has a `kind`, `turn`, `audit` or `response`. What was recorded until now is included.
        """
        await self._finish(self._writer.do(_nothing, _no_more))
        all_turns = self._pages(partial(select_turns, where=selected(turns, selection), most=_AT_ONCE))
        async with aclosing(all_turns) as found:
            async for turn in found:
                yield stored_json({"kind": "turn", **turn.body, "messages": [*turn.messages]})
        for kind, table, most in (("audit", audit, _AT_ONCE), ("response", responses, _RESPONSES_AT_ONCE)):
            where = selected(table, selection)
            bodies = self._pages(partial(select_bodies, table=table, where=where, most=most))
            async with aclosing(bodies) as others:
                async for body in others:
                    yield stored_json({"kind": kind, **body})

    async def hold_still(self, at_most: float = 3_600.0) -> None:
        """Bring the file into a state in which it can be copied, and leave it in it until `go_on`.

        What is recorded meanwhile waits. After `at_most` seconds the store goes on by itself. A database that is no
        file of ours is left alone. Raises StoreUnavailable when that cannot be done now.
        """
        if not self._database.is_file:
            return
        self.go_on()
        self._holding = holding = Holding(at_most)
        doing = self._writer.do(_nothing, partial(holding.hold, self._database.give_back_room))
        doing.add_done_callback(holding.end)
        try:
            await self._finish(holding.holds)
        except BaseException:  # nobody would say when to go on
            holding.released.set()
            raise

    def go_on(self) -> None:
        """Write again."""
        self._holding.released.set()

    async def _pages[T](self, select_page: Callable[..., Page[T]]) -> AsyncGenerator[T]:
        after: int | None = 0
        while after is not None:
            page = await self._read(partial(select_page, after=after))
            for one in page.found:
                yield one
            after = page.last

    def _waiting(self, selection: OneConversation | OnePerson | OneDevice) -> tuple[TurnRecord, ...]:
        return tuple(turn for turn in self._writer.waiting_turns() if is_selected(turn, selection))

    async def _delete(self, work: Callable[[Connection], int]) -> int:
        return await self._finish(self._writer.do(work, self._database.give_back_room))

    async def _finish(self, answer: Future[int]) -> int:
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            raise _slow(self._database) from None

    async def _read[T](self, work: Callable[[Connection], T]) -> T:
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.to_thread(self._in_transaction, work)
        except TimeoutError:
            raise _slow(self._database) from None
        except StoreUnavailable as err:
            if err.trouble is Trouble.CORRUPT:
                self._writer.do(self._database.check, _no_more)  # who writes begins anew
            raise

    def _in_transaction[T](self, work: Callable[[Connection], T]) -> T:
        with self._database.begin() as connection:
            return work(connection)


async def check_address(url: str, patience: float = _PATIENCE) -> None:
    """Look whether a database can be used, and prepare it. Raises StoreUnavailable, which says what is wrong."""
    database = Database(url)
    try:
        async with asyncio.timeout(patience):
            await asyncio.to_thread(_open_and_close, database)
    except TimeoutError:
        raise _slow(database) from None


def _open_and_close(database: Database) -> None:
    try:
        with database.begin():
            pass
    finally:
        database.close()


def _slow(database: Database) -> StoreUnavailable:
    return StoreUnavailable(Trouble.SLOW, f"The history in {database.where} does not answer in time.")


def _nothing(_connection: Connection) -> int:
    return 0


def _no_more() -> None:
    pass

"""Responses in the background: their tasks, and their events, which can be followed from any point.

What has ended is kept for ten minutes, so that a client can resume its stream; after
that there is what is stored.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from ...agent.messages import JsonObject
from ...history.store.records import ResponseRecord, weight_of
from .backend import Backend, Caller
from .errors import INTERRUPTED, ApiError, ErrorType
from .run import ResponseRun

KEPT_SECONDS: Final = 600.0
MOST_RUNNING: Final = 8
"""At once, for one user."""
MOST_KEPT_BYTES: Final = 32_000_000
"""Of all that have ended, roughly; the oldest are dropped first."""
_EVENT_BYTES: Final = 500
"""Memory of an event besides its text, roughly."""


class EventLog:
    """The events of one response. They are numbered from 0, and any number of readers can follow them."""

    def __init__(self) -> None:
        """Start without events."""
        self._events: list[JsonObject] = []
        self._changed = asyncio.Event()
        self._is_over = False

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._events)

    def add(self, event: JsonObject) -> None:
        """Append an event."""
        self._events.append(event)
        self._wake()

    def end(self) -> None:
        """End the log, and with it every reader."""
        self._is_over = True
        self._wake()

    async def follow(self, starting_after: int | None) -> AsyncGenerator[JsonObject]:
        """Yield the events with a higher number, as they come."""
        number = 0 if starting_after is None else starting_after + 1
        while True:
            changed = self._changed
            for event in self._events[number:]:
                yield event
                number += 1
            if self._is_over and number >= len(self._events):
                return
            await changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class BackgroundRun:
    """A response in the background."""

    def __init__(
        self,
        run: ResponseRun,
        clock: Callable[[], float],
    ) -> None:
        """Prepare the response; `work` creates it."""
        self.id = run.plan.id
        self.caller = run.plan.turn.caller
        self.log = EventLog()
        self.ended_at: float | None = None
        self.weight = 0
        """Memory in bytes once it has ended, roughly."""
        self._current: ResponseRun | ResponseRecord = run
        """Only the record once it has ended: a run holds its whole conversation."""
        self._clock = clock
        self._task: asyncio.Task[object] | None = None
        self._is_cancelled = False
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._first: JsonObject | Exception = INTERRUPTED
        """The first response object, or why there is none."""

    @property
    def record(self) -> ResponseRecord:
        """The response as it is now, and its input."""
        if isinstance(self._current, ResponseRecord):
            return self._current
        return self._current.record

    async def begun(self) -> JsonObject:
        """Wait for the first event, and return the response object of that time.

        Raises the `ApiError` of a request that cannot be served. Cancelling this ends
        the response.
        """
        try:
            await self._begun.wait()
        except asyncio.CancelledError:
            self._end()
            raise
        if isinstance(self._first, Exception):
            raise self._first
        return self._first

    async def work(self, run: ResponseRun) -> None:
        """Create the response. `begun` raises what fails before the first event."""
        self._task = asyncio.current_task()
        try:
            await self._create(run)
        except asyncio.CancelledError:
            for event in (
                run.stream.cancel()
                if self._is_cancelled
                else run.stream.fail(INTERRUPTED)
            ):
                self.log.add(event)
            if not self._is_cancelled:
                raise
            if not isinstance(self._first, Exception):
                await run.save()
        except Exception as error:
            if self._begun.is_set():
                raise
            self._first = error
        finally:
            self.ended_at = self._clock()
            self._current = run.record
            self.weight = weight_of(self._current) + len(self.log) * _EVENT_BYTES
            self.log.end()
            self._begun.set()
            self._over.set()

    async def cancel(self) -> None:
        """End it, unless it has ended, and wait until nothing of it runs."""
        self._end()
        await self._over.wait()

    async def _create(self, run: ResponseRun) -> None:
        async with aclosing(run.events()) as events:
            async for event in events:
                if not self._begun.is_set():
                    self._first = run.stream.resource
                    await run.save()
                    self._begun.set()
                self.log.add(event)

    def _end(self) -> None:
        is_running = (
            isinstance(
                self._current,
                ResponseRun,
            )
            and not self._current.stream.is_over
        )
        if self._task is not None and not self._is_cancelled and is_running:
            self._is_cancelled = True
            self._task.cancel()


@dataclass(frozen=True, slots=True)
class BackgroundResponses:
    """The responses in the background that run, or have ended within ten minutes."""

    _backend: Backend
    _clock: Callable[[], float]
    """Returns seconds since the epoch."""
    _runs: dict[str, BackgroundRun] = field(default_factory=dict)

    async def start(self, run: ResponseRun) -> tuple[BackgroundRun, JsonObject]:
        """Start a response, and return it with its first response object.

        Raises `ApiError` for a request that cannot be served, and for too many at once
        (429).
        """
        self.drop_ended()
        user_id = run.plan.turn.caller.user_id
        response_id = run.plan.id
        theirs = (run for run in self._runs.values() if run.caller.user_id == user_id)
        if sum(run.ended_at is None for run in theirs) >= MOST_RUNNING:
            raise ApiError(
                f"{MOST_RUNNING} responses run in the background already. Wait for one, or cancel one.",
                status=429,
                kind=ErrorType.TOO_MANY_REQUESTS,
                code="too_many_background_responses",
            )
        made = self._runs[response_id] = BackgroundRun(
            run,
            self._clock,
        )
        self._backend.start(
            made.work(run),
            f"response {response_id}",
        )
        try:
            return made, await made.begun()
        except BaseException:
            self._runs.pop(response_id, None)
            raise

    def find(
        self,
        caller: Caller,
        response_id: str,
    ) -> BackgroundRun | None:
        """Return a response of the caller; None if it is not kept here."""
        self.drop_ended()
        found = self._runs.get(response_id)
        if found is not None and found.caller == caller:
            return found
        return None

    async def drop(self, made: BackgroundRun) -> None:
        """End a response and drop it. Nothing of it is stored after this returns."""
        await made.cancel()
        self._runs.pop(made.id, None)

    def drop_ended(self) -> None:
        """Drop responses that ended too long ago, and the oldest of those that take too much memory."""
        now = self._clock()
        room = MOST_KEPT_BYTES
        for response_id, background in reversed(list(self._runs.items())):
            if background.ended_at is None:
                continue
            room -= background.weight
            if room < 0 or now - background.ended_at >= KEPT_SECONDS:
                del self._runs[response_id]

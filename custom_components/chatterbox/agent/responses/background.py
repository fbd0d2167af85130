"""Responses that are made in the background: who runs, what was told of it so far, and when that is forgotten.

Knows runs and their owners. Must not know requests, or how a turn is taken. What has ended is kept for ten minutes, so
that a stream that broke can be taken up again; after that there is what is stored.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from ..history.records import weight_of
from ..history.response_records import ResponseRecord
from ..messages import JsonObject
from .backend import Backend, Caller
from .errors import INTERRUPTED, ApiError, ErrorType
from .event_log import EventLog
from .response_run import ResponseRun

KEPT_SECONDS: Final = 600.0
MOST_RUNNING: Final = 8
"""At once, for one caller."""
MOST_KEPT_BYTES: Final = 32_000_000
"""Of all that have ended, roughly; the oldest are forgotten before their time."""


class BackgroundRun:
    """A response that is made in the background."""

    def __init__(self, run: ResponseRun, clock: Callable[[], float]) -> None:
        """Begin with nothing told; `work` makes it."""
        self.id = run.plan.frame.id
        self.caller = run.plan.turn.caller
        self.log = EventLog()
        self.ended_at: float | None = None
        self.weight = 0
        """Bytes of memory that it takes once it has ended, roughly."""
        self._made: ResponseRun | ResponseRecord = run
        """What is left of it once it has ended: no conversation, which may be large."""
        self._clock = clock
        self._task: asyncio.Task[object] | None = None
        self._is_unwanted = False
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._refusal: Exception | None = None
        self._first: JsonObject | None = None

    @property
    def record(self) -> ResponseRecord:
        """The response as far as it is told, and what was sent for it."""
        return self._made if isinstance(self._made, ResponseRecord) else self._made.record

    async def begun(self) -> JsonObject:
        """Wait until nothing can be wrong with the request any more, and return the response as it was at first.

        Raises `ApiError` where something is wrong. Who is cancelled here wants it no longer: it ends.
        """
        try:
            await self._begun.wait()
        except asyncio.CancelledError:
            self._end()
            raise
        if self._first is None:
            raise self._refusal or INTERRUPTED
        return self._first

    async def work(self, run: ResponseRun) -> None:
        """Make the response. What is wrong before it has begun is raised by `begun`."""
        self._task = asyncio.current_task()
        try:
            await self._make(run)
        except asyncio.CancelledError:
            for event in run.cancel() if self._is_unwanted else run.interrupt():
                self.log.add(event)
            if not self._is_unwanted:
                raise
            if self._first is not None:
                await run.save()
        except Exception as error:
            if self._begun.is_set():
                raise
            self._refusal = error
        finally:
            self.ended_at = self._clock()
            self._made = run.record
            self.weight = self.log.characters + weight_of(self._made)
            self.log.end()
            self._begun.set()
            self._over.set()

    async def cancel(self) -> None:
        """End it, unless it has ended. Returns when nothing of it runs any more."""
        self._end()
        await self._over.wait()

    async def _make(self, run: ResponseRun) -> None:
        async with aclosing(run.events()) as events:
            async for event in events:
                if not self._begun.is_set():
                    self._first = run.resource
                    await run.save()
                    self._begun.set()
                self.log.add(event)

    def _end(self) -> None:
        is_being_made = isinstance(self._made, ResponseRun) and not self._made.is_over
        if self._task is not None and not self._is_unwanted and is_being_made:
            self._is_unwanted = True
            self._task.cancel()


class BackgroundResponses:
    """All of them that run, or have ended a moment ago."""

    def __init__(self, backend: Backend, clock: Callable[[], float]) -> None:
        """Begin with none. The clock tells seconds since the epoch."""
        self._backend = backend
        self._clock = clock
        self._kept: dict[str, BackgroundRun] = {}

    async def start(self, run: ResponseRun) -> tuple[BackgroundRun, JsonObject]:
        """Have a response made; return it as it is at first, too.

        Raises `ApiError` for a request that cannot be served, and for one too many at once (429).
        """
        self.forget_ended()
        user_id, response_id = run.plan.turn.caller.user_id, run.plan.frame.id
        if sum(other.ended_at is None for other in self._of(user_id)) >= MOST_RUNNING:
            raise ApiError(
                f"{MOST_RUNNING} responses are being made in the background already. Wait for one, or cancel one.",
                status=429,
                kind=ErrorType.TOO_MANY_REQUESTS,
                code="too_many_background_responses",
            )
        made = self._kept[response_id] = BackgroundRun(run, self._clock)
        self._backend.start(made.work(run), f"response {response_id}")
        try:
            return made, await made.begun()
        except BaseException:
            self._kept.pop(response_id, None)
            raise

    def find(self, caller: Caller, response_id: str) -> BackgroundRun | None:
        """Return one of the caller's; None for what does not run, and is not kept."""
        self.forget_ended()
        found = self._kept.get(response_id)
        return found if found is not None and found.caller == caller else None

    async def drop(self, made: BackgroundRun) -> None:
        """End a response and forget it. When this returns, nothing of it is going to be stored any more."""
        await made.cancel()
        self._kept.pop(made.id, None)

    def forget_ended(self) -> None:
        """Forget what has ended long ago, and the oldest of what takes too much room."""
        now, room = self._clock(), MOST_KEPT_BYTES
        for response_id, made in reversed(list(self._kept.items())):
            if made.ended_at is None:
                continue
            room -= made.weight
            if room < 0 or now - made.ended_at >= KEPT_SECONDS:
                del self._kept[response_id]

    def _of(self, user_id: str) -> list[BackgroundRun]:
        return [made for made in self._kept.values() if made.caller.user_id == user_id]

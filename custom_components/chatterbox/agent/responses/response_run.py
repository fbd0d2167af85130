"""One response being made: the turn of the house, told as events, and stored when it is over.

Knows the plan of the response and drives its turn. Must not know requests that cannot be served, which never come this
far, or whether anybody listens.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from ..errors import AgentError
from ..history.response_records import ResponseRecord
from ..messages import JsonObject, Transcript
from .backend import Backend, ResponseStore, TurnRequest
from .chains import CONTINUABLE, Ground
from .errors import INTERRUPTED, ApiError, as_api_error, traceback_without_words
from .replaced_words import in_other_words, sent_in_other_words
from .request import CreateRequest
from .response_frame import ResponseFrame
from .stream import ResponseStream

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A response that is about to be made, with all that was looked up for it."""

    request: CreateRequest
    frame: ResponseFrame
    ground: Ground
    said: Transcript
    """What the client sent, for the model."""
    turn: TurnRequest
    created_at: float
    """Seconds since the epoch."""
    store: ResponseStore | None
    """None where the response is not to be stored."""


class ResponseRun:
    """A response being made."""

    def __init__(self, backend: Backend, plan: Plan) -> None:
        """Prepare; `events` makes it."""
        self._backend = backend
        self._stream = ResponseStream(plan.request, plan.frame)
        self.plan = plan

    @property
    def is_over(self) -> bool:
        """Whether it has ended, whichever way."""
        return self._stream.is_over

    @property
    def resource(self) -> JsonObject:
        """The response as far as it is told."""
        return self._stream.resource

    @property
    def is_continuable(self) -> bool:
        """Whether it can be gone on from."""
        return self.resource.get("status") in CONTINUABLE

    @property
    def failure(self) -> ApiError | None:
        """Why there is no answer, where nothing was done in the house either: the request can be sent again."""
        return None if self._stream.has_acted else self._stream.error

    async def events(self) -> AsyncGenerator[JsonObject]:
        """Take the turn, and yield what there is to tell; the response is stored before its last event is told.

        Raises `ApiError` before the first event. What goes wrong later is told. Closing it ends the turn.
        """
        async with aclosing(self._backend.take(self.plan.turn)) as turn:
            offered = await anext(turn)
            for told in self._stream.begin(queued=self.plan.request.background):
                yield told
            ending: list[JsonObject] = []
            try:
                for told in self._stream.feed(offered):
                    yield told
                async for event in turn:
                    following = self._stream.feed(event)
                    if self.is_over:
                        ending += following
                        continue
                    for told in following:
                        yield told
            except Exception as error:  # noqa: BLE001  # the client is told of a bug, too, and it is logged
                ending += self._break_off(error)
        if not self.is_over:
            ending += self._break_off(RuntimeError("a turn ended without telling how"))
        if self.failure is None or self.plan.request.stream or self.plan.request.background:
            await self.save()
        for told in ending:
            yield told

    def cancel(self) -> list[JsonObject]:
        """End it because nobody wants it, and return what there is to tell of that. Its turn must be closed."""
        return self._stream.cancel()

    def interrupt(self) -> list[JsonObject]:
        """End it because the house ends its turn, and return what there is to tell of that."""
        return self._stream.fail(INTERRUPTED)

    async def save(self) -> None:
        """Store it as it is now, if it is to be stored."""
        if self.plan.store is not None:
            await self.plan.store.put(self.record)

    @property
    def record(self) -> ResponseRecord:
        """What it takes to show it, and to go on from it."""
        plan, turn = self.plan, self.plan.turn
        said, sent = plan.said, plan.request.items
        if (words := self._stream.prompt) is not None:
            said, sent = in_other_words(said, words), sent_in_other_words(sent, words)
        return ResponseRecord(
            id=plan.frame.id,
            agent=turn.agent,
            model=plan.request.model,
            user_id=turn.caller.user_id,
            conversation_id=turn.conversation_id,
            previous_response_id=plan.request.previous_response_id,
            created_at=plan.created_at,
            response=self.resource,
            input=sent,
            messages=said + self._stream.messages,
        )

    @property
    def ground(self) -> Ground:
        """What a response stands on that goes on from this one."""
        return self.plan.ground.after(self.record)

    def _break_off(self, error: Exception) -> list[JsonObject]:
        """End it because its turn broke off, and return what there is to tell of that."""
        if not isinstance(error, AgentError | ApiError):
            _LOGGER.error("Response %s broke off: %s", self.plan.frame.id, traceback_without_words(error))
        return self._stream.fail(as_api_error(error if isinstance(error, AgentError | ApiError) else None))

"""The requests of one connection that stays open, answered one after the other.

Knows messages as JSON text, and what of the latest response is remembered for the next. Must not know how they are
carried. Everything that goes wrong is told in events.
Source: OpenResponses specification 2026-04-24, "WebSocket transport"; OpenAI API reference, `response.create`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from ..json_text import parse_json
from ..messages import JsonObject
from .api_errors import ApiError, invalid
from .chains import Ground
from .house import Caller, House
from .model_failures import internal_error
from .preparation import Preparation
from .request_reading import read_socket_create
from .response_run import ResponseRun

_LOGGER = logging.getLogger(__name__)

LONGEST_SECONDS: Final = 3600.0
"""After which a connection takes no more requests."""

_OF_COURSE: Final = {"stream": True, "background": False, "generate": True}
"""What clients may say although it cannot be otherwise here; `openai-agents` does."""
_LIMIT_REACHED: Final = ApiError(
    "This connection has been open for an hour. Open another one.", code="websocket_connection_limit_reached"
)


class Socket:
    """The requests of one connection."""

    def __init__(self, house: House, preparation: Preparation, caller: Caller, clock: Callable[[], float]) -> None:
        """Begin with nothing remembered. The clock tells seconds since the epoch."""
        self._house = house
        self._preparation = preparation
        self._caller = caller
        self._clock = clock
        self._opened_at = clock()
        self._latest: dict[str, Ground] = {}
        """What stands after the latest response, by its id: it can be gone on from although it is not stored."""
        self._turn = asyncio.Lock()

    async def answer(self, text: str) -> AsyncGenerator[JsonObject]:
        """Yield the events that answer a message. Another one that comes meanwhile waits for its turn."""
        async with self._turn:
            lane: JsonObject = {}
            try:
                message = self._taken(text)
                if (stream_id := message.pop("stream_id", None)) is not None:
                    lane = {"stream_id": stream_id}
                async with aclosing(self._events(message)) as events:
                    async for event in events:
                        yield {**event, **lane}
            except ApiError as refusal:
                yield {**_told(refusal), **lane}
            except Exception:
                _LOGGER.exception("A request of a connection broke off")
                yield {**_told(internal_error()), **lane}

    def _taken(self, text: str) -> JsonObject:
        if self._clock() - self._opened_at >= LONGEST_SECONDS:
            raise _LIMIT_REACHED
        return _message_of(text)

    async def _events(self, message: JsonObject) -> AsyncGenerator[JsonObject]:
        """Yield the events of a response. What cannot be gone on with cannot be tried again from here either."""
        previous_id = str(message.get("previous_response_id"))
        try:
            plan = await self._preparation.plan(self._caller, message, read_socket_create, self._latest)
            run = ResponseRun(self._house, plan)
            async with aclosing(run.events()) as events:
                async for event in events:
                    yield event
        except Exception:
            self._latest.pop(previous_id, None)
            raise
        if not run.is_continuable:
            self._latest.pop(previous_id, None)
        elif plan.store is None:
            self._latest = {plan.frame.id: run.ground}


def _told(error: ApiError) -> JsonObject:
    """Return an error as an event of a connection."""
    return {"type": "error", "status": error.status, "error": error.payload}


def _message_of(text: str) -> JsonObject:
    """Return what a message holds. Raises `ApiError` (400)."""
    try:
        message = parse_json(text)
    except ValueError as error:
        raise invalid(f"A message has to be JSON: {error}.") from error
    if not isinstance(message, dict):
        raise invalid("A message has to be a JSON object.")
    for name, only in _OF_COURSE.items():
        if message.get(name) is only:
            del message[name]
    return message

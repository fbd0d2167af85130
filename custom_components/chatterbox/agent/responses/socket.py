"""The requests of one connection that stays open, answered one after the other.

Knows messages as JSON text, and what of the latest response is remembered for the next. Must not know how they are
carried. Everything that goes wrong is told in events.
Source: OpenResponses specification 2026-04-24, "WebSocket transport"; OpenAI API reference, `response.create`.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Final

from ..json.text import parse_json
from ..messages import JsonObject, JsonValue
from .backend import Backend, Caller
from .chains import Ground
from .errors import ApiError, invalid
from .preparation import Preparation
from .request_reading import read_socket_create
from .response_run import ResponseRun

_LARGE: Final = 100_000
"""Characters of a message from which on it is read in a thread."""
_OF_COURSE: Final = {"stream": True, "background": False, "generate": True}
"""What clients may say although it cannot be otherwise here; `openai-agents` does."""


class Socket:
    """The requests of one connection."""

    def __init__(self, backend: Backend, preparation: Preparation, caller: Caller) -> None:
        """Begin with nothing remembered."""
        self._backend = backend
        self._preparation = preparation
        self._caller = caller
        self._latest: dict[str, Ground] = {}
        """What stands after the latest response, by its id: it can be gone on from although it is not stored."""
        self._turn = asyncio.Lock()

    async def answer(self, text: str) -> AsyncGenerator[JsonObject]:
        """Yield the events that answer a message. Another one that comes meanwhile waits for its turn."""
        async with self._turn:
            lane: JsonObject = {}
            try:
                message = _message_of(await _parsed(text))
                lane = _lane_of(message)
                async with aclosing(self._events(message)) as events:
                    async for event in events:
                        yield {**event, **lane}
            except ApiError as refusal:
                yield {"type": "error", "status": refusal.status, "error": refusal.payload, **lane}

    async def _events(self, message: JsonObject) -> AsyncGenerator[JsonObject]:
        """Yield the events of a response. What cannot be gone on with cannot be tried again from here either."""
        previous_id = str(message.get("previous_response_id"))
        try:
            plan = await self._preparation.plan(self._caller, message, read_socket_create, self._latest)
            run = ResponseRun(self._backend, plan)
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


async def _parsed(text: str) -> JsonValue:
    parse = partial(parse_json, text, unique_names=True)
    try:
        return parse() if len(text) < _LARGE else await asyncio.to_thread(parse)
    except ValueError as error:
        raise invalid(f"The message is no JSON that can be used: {error}.", code="invalid_json") from error


def _message_of(message: JsonValue) -> JsonObject:
    """Return the fields of a message that say something. Raises `ApiError` (400)."""
    if not isinstance(message, dict):
        raise invalid("A message has to be a JSON object.")
    return {name: value for name, value in message.items() if name not in _OF_COURSE or value is not _OF_COURSE[name]}


def _lane_of(message: JsonObject) -> JsonObject:
    """Take out what a client wants all events of the response to be marked with, and return it as they hold it."""
    match message.pop("stream_id", None):
        case None:
            return {}
        case str(lane):
            return {"stream_id": lane}
        case _:
            raise invalid("stream_id has to be a text.", "stream_id", "invalid_value")

"""The WebSocket mode of the Responses API: the requests of one connection, answered one after the other.

Source: OpenResponses specification 2026-04-24, "WebSocket transport"; OpenAI API
reference, `response.create`.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Final

from ...agent.messages import JsonObject
from .backend import Backend, Caller
from .body import parse_text
from .chains import CONTINUABLE, ConversationState
from .errors import ApiError, bad_value, invalid
from .preparation import Preparation
from .request import read_socket_create
from .run import ResponseRun

_IMPLIED: Final = {
    "stream": True,
    "background": False,
    "generate": True,
}
"""Fields that clients such as `openai-agents` send although they mean nothing here."""


class SocketSession:
    """The requests of one connection."""

    def __init__(
        self, backend: Backend, preparation: Preparation, caller: Caller
    ) -> None:
        """Start without an earlier response."""
        self._backend = backend
        self._preparation = preparation
        self._caller = caller
        self._latest: dict[str, ConversationState] = {}
        """The state after the latest response, by its id: it can be continued although it is not stored."""
        self._turn = asyncio.Lock()

    async def answer(self, text: str) -> AsyncGenerator[JsonObject]:
        """Yield the events that answer a message; errors are events, too. Another message waits until it has ended.

        Closing it ends the turn.
        """
        async with self._turn:
            stream_id: JsonObject = {}
            try:
                message = await self._preparation.bodies.read(
                    len(text), partial(_fields, text)
                )
                stream_id = _pop_stream_id(message)
                async with aclosing(self._events(message, len(text))) as events:
                    async for event in events:
                        yield {
                            **event,
                            **stream_id,
                        }
            except ApiError as error:
                yield {
                    "type": "error",
                    "status": error.status,
                    "error": error.payload,
                    **stream_id,
                }

    async def _events(
        self, message: JsonObject, size: int
    ) -> AsyncGenerator[JsonObject]:
        """Yield the events of a response. One that fails also forgets the response that it would have continued."""
        previous_id = str(message.get("previous_response_id"))
        try:
            plan = await self._preparation.plan(
                self._caller, size, partial(read_socket_create, message), self._latest
            )
            run = ResponseRun(self._backend, plan)
            async with aclosing(run.events()) as events:
                async for event in events:
                    yield event
        except Exception:
            self._latest.pop(previous_id, None)
            raise
        if run.record.response["status"] not in CONTINUABLE:
            self._latest.pop(previous_id, None)
        elif plan.store is None:
            state = plan.state
            record = run.record
            transcript = state.transcript + record.messages
            before = (*state.before, record)
            self._latest = {
                plan.id: replace(
                    state,
                    transcript=transcript,
                    before=before,
                )
            }


def _fields(text: str) -> JsonObject:
    """Return the fields of a message without implied ones. Raises `ApiError` (400)."""
    message = parse_text(text)
    if not isinstance(message, dict):
        raise invalid("A message has to be a JSON object.")
    return {
        name: value
        for name, value in message.items()
        if name not in _IMPLIED or value is not _IMPLIED[name]
    }


def _pop_stream_id(message: JsonObject) -> JsonObject:
    """Remove the `stream_id` from a message, and return it as the field that marks all events of its response."""
    match message.pop("stream_id", None):
        case None:
            return {}
        case str(stream_id):
            return {"stream_id": stream_id}
        case _:
            raise bad_value(
                "stream_id has to be a string.",
                "stream_id",
            )

"""The Responses API: a body and a caller in, JSON or events out. HTTP and Home Assistant are outside of it.

Every method raises `ApiError` for a request that cannot be served. Events may raise it
in place of the first one; later failures are events. Without streaming, the same events
are collected.

A response that is not in the background lives as long as its request: closing its
events, or cancelling `create`, ends the turn, and the response is not stored. What its
tools have done stays recorded in the home.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from secrets import token_bytes
from typing import Final

from ...agent.messages import JsonObject, paragraphs
from ...agent.transcript import has_outside_content, repair
from ...history.store.records import ResponseRecord
from .backend import Backend, Caller, ModelInfo
from .background import BackgroundResponses
from .body import BodyReader, parse_text
from .chains import StoredResponses, shown_response
from .conversations import Conversations
from .errors import invalid, not_found
from .items.encrypted_content import ContentCodec, encode_summary
from .items.schema import item_ids, new_response_id
from .paging import page_of, read_number
from .preparation import Preparation, find_model
from .request import read_compact, read_create
from .run import ResponseRun, usage_json
from .socket import SocketSession

_FLAGS: Final = {
    "true": True,
    "1": True,
    "false": False,
    "0": False,
    "": False,
}


class ResponsesService:
    """Serves the Responses API for the agents of a backend. `query` holds the parameters of a URL as they were sent."""

    def __init__(
        self, backend: Backend, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Serve a backend. The clock returns seconds since the epoch."""
        self._backend = backend
        self._clock = clock
        self._codec = ContentCodec(token_bytes(32))
        self._stored = StoredResponses(backend)
        self._background = BackgroundResponses(backend, clock)
        bodies = BodyReader()
        self.conversations = Conversations(
            backend,
            self._stored,
            bodies,
            clock,
        )
        self._preparation = Preparation(
            backend, self._stored, self.conversations, self._codec, clock, bodies
        )

    async def create(
        self, body: str, caller: Caller
    ) -> JsonObject | AsyncGenerator[JsonObject]:
        """Create a response; return it, or its events if they are streamed."""
        plan = await self._preparation.plan(
            caller, len(body), lambda new_id: read_create(parse_text(body), new_id)
        )
        run = ResponseRun(self._backend, plan)
        if plan.request.background:
            background, first = await self._background.start(run)
            if plan.request.stream:
                return background.log.follow(None)
            return first
        if plan.request.stream:
            return run.events()
        async with aclosing(run.events()) as events:
            async for _ in events:
                pass
        if run.failure is not None:
            raise run.failure
        return run.stream.resource

    async def get(
        self, response_id: str, caller: Caller, query: Mapping[str, str]
    ) -> JsonObject | AsyncGenerator[JsonObject]:
        """Return a response; with `stream`, the events of one that is or was in the background."""
        is_streamed = _flag(query, "stream")
        starting_after = read_number(query, "starting_after")
        if starting_after is not None and not is_streamed:
            raise invalid(
                "starting_after is for streams: add stream=true.", "starting_after"
            )
        background = self._background.find(caller, response_id)
        if background is not None:
            if is_streamed:
                return background.log.follow(starting_after)
            return background.record.response
        record = await self._required(caller, response_id)
        if is_streamed:
            raise invalid(
                "Only a response in the background can be streamed again, until ten minutes after its end. Read it"
                " without stream.",
                "stream",
            )
        return shown_response(record)

    async def delete(
        self,
        response_id: str,
        caller: Caller,
    ) -> JsonObject:
        """Delete a response; one in the background ends."""
        background = self._background.find(caller, response_id)
        if background is not None:
            await self._background.drop(background)
        else:
            await self._required(caller, response_id)
        await self._stored.delete(response_id)
        return {
            "id": response_id,
            "object": "response",
            "deleted": True,
        }

    async def cancel(
        self,
        response_id: str,
        caller: Caller,
    ) -> JsonObject:
        """End a response in the background, and return it; one that has ended stays as it is."""
        background = self._background.find(caller, response_id)
        if background is not None:
            await background.cancel()
            return background.record.response
        resource = shown_response(await self._required(caller, response_id))
        if resource.get("background") is not True:
            raise invalid(
                "Only a response in the background can be cancelled. Close the request to end this one."
            )
        return resource

    async def input_items(
        self, response_id: str, caller: Caller, query: Mapping[str, str]
    ) -> JsonObject:
        """Return a page of the input of a response: `limit`, `order`, `after`."""
        background = self._background.find(caller, response_id)
        if background is not None:
            record = background.record
        else:
            record = await self._required(caller, response_id)
        return page_of(record.input, query)

    async def compact(self, body: str, caller: Caller) -> JsonObject:
        """Return a compaction: a summary that a client sends in place of the conversation. It is not stored."""
        response_id = new_response_id()
        new_id = item_ids(response_id)
        bodies = self._preparation.bodies
        size = len(body)
        request, items = await bodies.read(
            size, lambda: read_compact(parse_text(body), new_id)
        )
        agent = find_model(self._backend, request.model)
        state = await self._preparation.state(
            caller, request.previous_response_id, response_id
        )
        parsed = await self._preparation.parse(
            caller,
            size,
            items,
            state,
        )
        transcript = repair(state.transcript + parsed.messages)
        if not transcript:
            raise invalid(
                "There is nothing to compact: send an input, or a previous_response_id.",
                "input",
            )
        instructions = paragraphs(request.instructions, parsed.instructions)
        text, usage = await self._backend.compact(
            agent.id,
            transcript,
            instructions,
        )
        encrypted = encode_summary(
            text, has_outside_content=has_outside_content(transcript), codec=self._codec
        )
        return {
            "id": response_id,
            "object": "response.compaction",
            "created_at": int(self._clock()),
            "output": [
                {
                    "type": "compaction",
                    "id": new_id("cmp"),
                    "encrypted_content": encrypted,
                }
            ],
            "usage": usage_json(usage),
        }

    def models(self) -> JsonObject:
        """Return the agents as a list of models."""
        return {
            "object": "list",
            "data": [_as_model(info) for info in self._backend.agents()],
        }

    def model(self, model_id: str) -> JsonObject:
        """Return an agent as a model."""
        return _as_model(find_model(self._backend, model_id))

    def socket(self, caller: Caller) -> SocketSession:
        """Return the session of a new WebSocket connection."""
        return SocketSession(
            self._backend,
            self._preparation,
            caller,
        )

    async def _required(
        self,
        caller: Caller,
        response_id: str,
    ) -> ResponseRecord:
        record = await self._stored.find(caller, response_id)
        if record is not None:
            return record
        raise not_found(
            f"Response with id '{response_id}' not found.",
            "response_id",
            "response_not_found",
        )


def _as_model(info: ModelInfo) -> JsonObject:
    return {
        "id": info.id,
        "object": "model",
        "created": info.created_at,
        "owned_by": "chatterbox",
    }


def _flag(
    query: Mapping[str, str],
    name: str,
) -> bool:
    value = _FLAGS.get(query.get(name, "").lower())
    if value is None:
        raise invalid(f"{name} must be true or false.", name)
    return value

"""Answers everything that a client of the Responses API can ask for.

Knows requests, stored responses and the seam to the house. Must not know HTTP or Home Assistant. A response of somebody
else is not there. What is not streamed is the same, collected.

A response that is not in the background lives as long as somebody waits for it: closing its events, or cancelling
`create`, ends the turn, and nothing of the response is stored. What was done in the house stays recorded there.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from secrets import token_bytes

from ..history.response_records import ResponseRecord
from ..messages import JsonObject, JsonValue
from .backend import Backend, Caller
from .background import BackgroundResponses
from .compaction import Compaction
from .endpoint import SocketSession, Streamed, Whole
from .errors import invalid, not_found
from .items.sealed_content import Seal
from .model_list import chosen, listed, shown
from .opened_events import opened
from .pages import Page
from .preparation import Preparation
from .query import Query
from .response_run import ResponseRun
from .socket import Socket
from .stored_responses import StoredResponses, shown_response


class ResponsesService:
    """The endpoint of a house; see `ResponsesEndpoint`."""

    def __init__(self, backend: Backend, *, clock: Callable[[], float] = time.time) -> None:
        """Serve a house. The clock tells seconds since the epoch."""
        seal = Seal(token_bytes(32))
        self._backend = backend
        self._stored = StoredResponses(backend)
        self._background = BackgroundResponses(backend, clock)
        self._preparation = Preparation(backend, self._stored, seal, clock)
        self._compaction = Compaction(backend, self._preparation, seal, clock)

    async def create(self, body: JsonValue, caller: Caller) -> Whole | Streamed:
        """Create a response. Raises `ApiError` for everything that can be wrong with the request."""
        plan = await self._preparation.plan(caller, body)
        run = ResponseRun(self._backend, plan)
        if plan.request.background:
            made, first = await self._background.start(run)
            return Streamed(made.log.follow(None)) if plan.request.stream else Whole(first)
        if plan.request.stream:
            return Streamed(await opened(run.events()))
        async with aclosing(run.events()) as events:
            async for _ in events:
                pass
        if run.failure is not None:
            raise run.failure
        return Whole(run.resource)

    async def get(self, response_id: str, caller: Caller, query: Mapping[str, str]) -> Whole | Streamed:
        """Return a response. With `stream`, the events of one that is, or was a moment ago, made in the background."""
        asked = Query(query)
        is_streamed, starting_after = asked.flag("stream"), asked.number("starting_after")
        if starting_after is not None and not is_streamed:
            raise invalid("starting_after is for streams: add stream=true.", "starting_after")
        made = self._background.find(caller, response_id)
        if made is not None:
            return Streamed(made.log.follow(starting_after)) if is_streamed else Whole(made.record.response)
        record = await self._found(caller, response_id)
        if is_streamed:
            raise invalid(
                "Only a response in the background can be streamed again, until ten minutes after its end. Read it"
                " without stream.",
                "stream",
            )
        return Whole(shown_response(record))

    async def delete(self, response_id: str, caller: Caller) -> JsonObject:
        """Forget a response; one that is being made ends."""
        if (made := self._background.find(caller, response_id)) is not None:
            await self._background.drop(made)
            await self._stored.forget(response_id)
        else:
            await self._stored.forget((await self._found(caller, response_id)).id)
        return {"id": response_id, "object": "response", "deleted": True}

    async def cancel(self, response_id: str, caller: Caller) -> JsonObject:
        """End a response in the background, and return it; one that has ended stays as it is."""
        if (made := self._background.find(caller, response_id)) is not None:
            await made.cancel()
            return made.record.response
        resource = shown_response(await self._found(caller, response_id))
        if resource.get("background") is not True:
            raise invalid("Only a response in the background can be cancelled. Close the request to end this one.")
        return resource

    async def input_items(self, response_id: str, caller: Caller, query: Mapping[str, str]) -> JsonObject:
        """Return a page of what the client sent for a response: `limit`, `order`, `after`."""
        asked = Query(query)
        page = Page.read(asked.number("limit"), query.get("order"), query.get("after"))
        made = self._background.find(caller, response_id)
        record = made.record if made is not None else await self._found(caller, response_id)
        return page.of(record.input)

    async def compact(self, body: JsonValue, caller: Caller) -> JsonObject:
        """Say a conversation in few words."""
        return await self._compaction.compact(caller, body)

    def models(self) -> JsonObject:
        """Return the agents that can be asked."""
        return listed(self._backend)

    def model(self, model_id: str) -> JsonObject:
        """Return one of them."""
        return shown(chosen(self._backend, model_id))

    def socket(self, caller: Caller) -> SocketSession:
        """Return the requests of a new connection."""
        return Socket(self._backend, self._preparation, caller)

    async def _found(self, caller: Caller, response_id: str) -> ResponseRecord:
        if (record := await self._stored.find(caller, response_id)) is not None:
            return record
        raise not_found(f"Response with id '{response_id}' not found.", "response_id", "response_not_found")

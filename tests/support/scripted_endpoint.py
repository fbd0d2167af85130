"""A Responses service that answers by a script, for tests of HTTP."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import override

from aiohttp import ClientResponse
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.const import CONF_RESPONSES_API
from custom_components.chatterbox.responses.exchange import HttpLimits
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.body import parse_text
from custom_components.chatterbox.responses.protocol.errors import ErrorType, not_found
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from custom_components.chatterbox.responses.protocol.socket import SocketSession
from custom_components.chatterbox.responses.views import async_register_views
from tests.support.config_entries import offline_entry

BASE = "/api/chatterbox/v1"
MODELS: JsonObject = {"object": "list", "data": [{"id": "conversation.kitchen"}]}
WHOLE: JsonObject = {"id": "resp_1", "object": "response", "status": "completed"}


def event(
    number: int, kind: str = "response.output_text.delta", **more: JsonValue
) -> JsonObject:
    """Return an event as they are numbered."""
    return {"type": kind, "sequence_number": number, **more}


EVENTS = (
    event(0, "response.created"),
    event(1, delta="Zażółć\n\n✔"),
    event(2, "response.completed"),
)

type Line = JsonObject | Exception | Callable[[], object]


@dataclass
class ScriptedService(ResponsesService):
    """Answers each request with `lines`: as events to whoever asks for a stream, or on a socket.

    A line that is an exception is raised; a function is called, and what it returns is
    awaited if it can be.
    """

    lines: tuple[Line, ...] = EVENTS
    failure: Exception | None = None
    """Raised in place of any answer."""
    requests: list[object] = field(default_factory=list)
    """The requests that came in, in order."""
    callers: list[Caller] = field(default_factory=list)
    played: int = 0
    """Events that somebody has taken."""
    open_streams: int = 0
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever the last open stream has ended."""

    @override
    async def create(
        self, body: str, caller: Caller
    ) -> JsonObject | AsyncGenerator[JsonObject]:
        query = parse_text(body)
        self._note(query, caller)
        if isinstance(query, dict) and query.get("stream"):
            return self.play()
        async for _ in self.play():
            pass
        return WHOLE

    @override
    async def get(
        self, response_id: str, caller: Caller, query: Mapping[str, str]
    ) -> JsonObject | AsyncGenerator[JsonObject]:
        self._note((response_id, dict(query)), caller)
        return self.play() if query.get("stream") == "true" else WHOLE

    @override
    async def delete(self, response_id: str, caller: Caller) -> JsonObject:
        self._note(("delete", response_id), caller)
        return {"id": response_id, "object": "response", "deleted": True}

    @override
    async def cancel(self, response_id: str, caller: Caller) -> JsonObject:
        self._note(("cancel", response_id), caller)
        return WHOLE

    @override
    async def input_items(
        self, response_id: str, caller: Caller, query: Mapping[str, str]
    ) -> JsonObject:
        self._note(("input_items", response_id, dict(query)), caller)
        return {"object": "list", "data": []}

    @override
    async def compact(self, body: str, caller: Caller) -> JsonObject:
        self._note(("compact", parse_text(body)), caller)
        return {"object": "response.compaction"}

    @override
    def models(self) -> JsonObject:
        self._note("models")
        return MODELS

    @override
    def model(self, model_id: str) -> JsonObject:
        self._note(("model", model_id))
        raise not_found(
            "There is no such agent.", param="model", code="model_not_found"
        )

    @override
    def socket(self, caller: Caller) -> ScriptedSession:
        self._note("socket", caller)
        return ScriptedSession(self)

    async def play(self) -> AsyncGenerator[JsonObject]:
        """Play the lines once."""
        self.open_streams += 1
        self.all_closed.clear()
        try:
            for line in self.lines:
                match line:
                    case Exception():
                        raise line
                    case dict():
                        yield line
                        self.played += 1
                    case _:
                        await _awaited(line())
        finally:
            self.open_streams -= 1
            if not self.open_streams:
                self.all_closed.set()

    def _note(self, what: object, caller: Caller | None = None) -> None:
        self.requests.append(what)
        if caller:
            self.callers.append(caller)
        if self.failure:
            raise self.failure


@dataclass
class ScriptedSession(SocketSession):
    """Answers each message of a socket with the lines of its endpoint."""

    endpoint: ScriptedService

    @override
    async def answer(self, text: str) -> AsyncGenerator[JsonObject]:
        self.endpoint.requests.append(text)
        if self.endpoint.failure:
            raise self.endpoint.failure
        events = self.endpoint.play()
        try:
            async for one in events:
                yield one
        finally:
            await events.aclose()


async def serve(
    hass: HomeAssistant,
    *lines: Line,
    limits: HttpLimits | None = None,
    switched_on: bool = True,
) -> ScriptedService:
    """Serve a scripted surface in Home Assistant's own web server."""
    assert await async_setup_component(hass, "http", {})
    entry = offline_entry()
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(
        entry, options={CONF_RESPONSES_API: switched_on}
    )
    entry.mock_state(hass, ConfigEntryState.LOADED)
    endpoint = ScriptedService(lines or EVENTS)
    async_register_views(hass, lambda: endpoint, limits)
    return endpoint


async def error_of(answer: ClientResponse) -> dict[str, object]:
    """Return the error of an answer, after a look at its shape."""
    body = await answer.json()
    assert answer.content_type == "application/json"
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "code", "message", "param"}
    assert body["error"]["type"] in list(ErrorType)
    assert body["error"]["message"]
    assert answer.headers["x-request-id"].startswith("req_")
    error: dict[str, object] = body["error"]
    return error


async def forever() -> None:
    """Wait for what does not come."""
    await asyncio.Event().wait()


async def _awaited(value: object) -> None:
    if asyncio.iscoroutine(value):
        await value

"""The seam between the surface and whatever carries it: JSON and a caller in, JSON in one piece or in events out.

Knows what can be asked for. Must not know how it is carried, such as HTTP, or how it is answered. Every method raises
`ApiError` for a request that cannot be served, before it returns; what is wrong later is told in events.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..messages import JsonObject, JsonValue
from .backend import Caller


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer in one piece."""

    resource: JsonObject


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer in events, each with its `type`; whoever has it closes it.

    Closing it early ends the model call and all tools, unless the response is one in the background. It may raise
    `ApiError` in place of its first event, and nothing after that.
    """

    events: AsyncGenerator[JsonObject]


class SocketSession(Protocol):
    """The requests of one connection, which come one after the other."""

    def answer(self, text: str) -> AsyncGenerator[JsonObject]:
        """Return the events that answer a message, as JSON text, of the client; errors are events, too.

        Closing it early ends the model call and all tools. The next message is asked for once it has ended.
        """
        ...


class ResponsesEndpoint(Protocol):
    """All that can be asked for. `query` holds the parameters of an address, such as `limit`, as they were written."""

    async def create(self, body: JsonValue, caller: Caller) -> Whole | Streamed:
        """Create a response."""
        ...

    async def get(self, response_id: str, caller: Caller, query: Mapping[str, str]) -> Whole | Streamed:
        """Return a response, or with `stream` its events again."""
        ...

    async def delete(self, response_id: str, caller: Caller) -> JsonObject:
        """Forget a response."""
        ...

    async def cancel(self, response_id: str, caller: Caller) -> JsonObject:
        """End a response in the background."""
        ...

    async def input_items(self, response_id: str, caller: Caller, query: Mapping[str, str]) -> JsonObject:
        """Return what a client sent for a response."""
        ...

    async def compact(self, body: JsonValue, caller: Caller) -> JsonObject:
        """Say a conversation in few words."""
        ...

    def models(self) -> JsonObject:
        """Return the agents that can be asked."""
        ...

    def model(self, model_id: str) -> JsonObject:
        """Return one of them."""
        ...

    def socket(self, caller: Caller) -> SocketSession:
        """Return the requests of a new connection."""
        ...

"""Requests of the tests of the service, and readers for its answers."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import ANNA, KITCHEN, BackendDouble
from tests.responses.protocol.valid_stream import check_resource, check_stream
from tests.support.doubles import Line, ScriptedProvider


def serving(*script: Sequence[Line]) -> tuple[BackendDouble, ResponsesService]:
    """Return a backend whose model plays a script, and its service."""
    backend = BackendDouble(ScriptedProvider(*script))
    return backend, ResponsesService(backend)


def request(text: JsonValue = "Hello!", **fields: JsonValue) -> JsonObject:
    """Return the body of a request without tools."""
    return {"model": KITCHEN, "input": text, "tools": [], **fields}


def function(name: str) -> JsonObject:
    """Return a function of the client."""
    return {
        "type": "function",
        "name": name,
        "parameters": {"type": "object", "properties": {}},
    }


def output(call_id: str, text: str = "done") -> JsonObject:
    """Return the result of a function of the client."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def mcp(label: str = "home", **fields: JsonValue) -> JsonObject:
    """Return the tools of the home under a label, asked about only where the home does so."""
    return {"type": "mcp", "server_label": label, "require_approval": "never", **fields}


async def ask(
    service: ResponsesService,
    text: JsonValue = "Hello!",
    caller: Caller = ANNA,
    /,
    **fields: JsonValue,
) -> JsonObject:
    """Ask for a response in one piece, check it, and return it."""
    answer = await service.create(json.dumps(request(text, **fields)), caller)
    assert isinstance(answer, dict)
    check_resource(answer)
    return answer


async def stream(
    service: ResponsesService,
    text: JsonValue = "Hello!",
    caller: Caller = ANNA,
    /,
    **fields: JsonValue,
) -> list[JsonObject]:
    """Ask for a response in events, check the stream, and return them."""
    answer = await service.create(
        json.dumps(request(text, stream=True, **fields)), caller
    )
    assert isinstance(answer, AsyncGenerator)
    events = await collected(answer)
    check_stream(events)
    return events


async def read(
    service: ResponsesService, response_id: JsonValue, caller: Caller = ANNA
) -> JsonObject:
    """Return a response that there is."""
    answer = await service.get(str(response_id), caller, {})
    assert isinstance(answer, dict)
    check_resource(answer)
    return answer


async def collected(
    answer: JsonObject | AsyncGenerator[JsonObject],
) -> list[JsonObject]:
    """Return all events of a stream."""
    assert isinstance(answer, AsyncGenerator)
    async with aclosing(answer) as events:
        return [event async for event in events]


def output_text(response: JsonObject) -> str:
    """Return the words of a response."""
    parts = [
        part for item in items(response, "message") for part in objects(item["content"])
    ]
    return "".join(str(part["text"]) for part in parts)


def items(response: JsonObject, kind: str | None = None) -> list[JsonObject]:
    """Return the items of a response, or those of a type."""
    return [
        item for item in objects(response["output"]) if kind in {None, item["type"]}
    ]


def objects(value: JsonValue) -> list[JsonObject]:
    """Return a list of objects."""
    assert isinstance(value, list)
    found = [one for one in value if isinstance(one, dict)]
    assert len(found) == len(value)
    return found


def last_response(events: list[JsonObject]) -> JsonObject:
    """Return the response that a stream ends with."""
    response = events[-1]["response"]
    assert isinstance(response, dict)
    return response

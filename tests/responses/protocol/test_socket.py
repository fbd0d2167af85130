"""Requests over a connection that stays open: one after the other, with a memory of the latest."""

import asyncio
import json
from contextlib import aclosing

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue, ToolCall
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from custom_components.chatterbox.responses.protocol.socket import SocketSession
from tests.agent.turns import run_other_tasks
from tests.responses.protocol.backend_double import ANNA, BackendDouble
from tests.responses.protocol.service_talk import (
    function,
    last_response,
    output,
    output_text,
    request,
    serving,
)
from tests.responses.protocol.test_background import Broken
from tests.responses.protocol.test_chains import words
from tests.responses.protocol.valid_stream import check_stream
from tests.support.doubles import Gate, ScriptedProvider, call, never, say

PAGE = ToolCall("call_page", "show_page", "{}")


async def tell(socket: SocketSession, text: str) -> list[JsonObject]:
    """Send a message, and return the events that answer it."""
    async with aclosing(socket.answer(text)) as events:
        return [event async for event in events]


async def ask(
    socket: SocketSession, text: JsonValue = "Hello!", **fields: JsonValue
) -> JsonObject:
    """Ask for a response, check its stream, and return it."""
    events = await tell(socket, message(text, **fields))
    check_stream(events)
    return last_response(events)


async def refusal(socket: SocketSession, text: str) -> tuple[JsonValue, JsonValue]:
    """Return status and code of the one event that refuses a message."""
    (event,) = await tell(socket, text)
    error = event["error"]
    assert isinstance(error, dict)
    assert event["type"] == "error"
    assert {"type", "code", "message", "param"} == error.keys()
    return event["status"], error["code"]


def message(text: JsonValue = "Hello!", **fields: JsonValue) -> str:
    """Return the message that asks for a response."""
    return json.dumps({"type": "response.create", **request(text, **fields)})


MISSING = (404, "previous_response_not_found")


async def test_responses_come_one_after_the_other() -> None:
    """Invariant 69."""
    gate = Gate()
    backend = BackendDouble(ScriptedProvider([gate, *say("One.")], say("Two.")))
    socket = ResponsesService(backend).socket(ANNA)

    first = asyncio.create_task(tell(socket, message("a?")))
    await gate.reached.wait()
    second = asyncio.create_task(tell(socket, message("b?")))
    await run_other_tasks()
    assert backend.taking == 1
    gate.opened.set()

    assert [
        output_text(check_stream(events)) for events in (await first, await second)
    ] == ["One.", "Two."]


@pytest.mark.parametrize("store", [True, False])
async def test_what_is_continued_has_an_end(*, store: bool) -> None:
    """Invariant 69."""
    backend = BackendDouble(ScriptedProvider(*(say("Yes.") for _ in range(12))))
    socket = ResponsesService(backend).socket(ANNA)
    long = "word " * 190_000
    latest: JsonObject = {"id": None}
    for _ in range(11):  # each is kept as it was sent, and as messages
        latest = await ask(socket, long, store=store, previous_response_id=latest["id"])

    further = message("And?", store=store, previous_response_id=latest["id"])
    assert await refusal(socket, further) == (400, "context_length_exceeded")
    assert await refusal(socket, further) == (
        (400, "context_length_exceeded") if store else MISSING
    )
    assert output_text(await ask(socket, "Hello!")) == "Yes."


async def test_what_is_not_stored_is_gone_on_from_over_the_same_connection() -> None:
    """Invariant 69."""
    backend, service = serving(say("One."), say("Two."), say("Three."), say("Fresh."))
    socket = service.socket(ANNA)

    first = await ask(socket, "a?", store=False)
    second = await ask(socket, "b?", store=False, previous_response_id=first["id"])
    third = await ask(socket, "c?", previous_response_id=second["id"])

    assert words(backend.turns[2].transcript) == ["a?", "One.", "b?", "Two.", "c?"]
    assert (third["store"], backend.memory.records) == (False, {})
    assert await refusal(socket, message(previous_response_id=first["id"])) == MISSING
    other = service.socket(ANNA)
    assert (
        await refusal(other, message(store=False, previous_response_id=third["id"]))
        == MISSING
    )
    assert output_text(await ask(other)) == "Fresh."


async def test_what_could_not_be_gone_on_from_is_forgotten() -> None:
    """Invariant 69."""
    backend = BackendDouble(ScriptedProvider(call(PAGE), say("Other.")))
    socket = ResponsesService(backend).socket(ANNA)
    first = await ask(socket, store=False, tools=[function("show_page")])

    wrong = message([output("unknown")], store=False, previous_response_id=first["id"])
    assert await refusal(socket, wrong) == (400, None)
    right = message(
        [output("call_page")], store=False, previous_response_id=first["id"]
    )
    assert await refusal(socket, right) == MISSING
    assert output_text(await ask(socket)) == "Other."


async def test_a_continuation_whose_model_failed_is_forgotten() -> None:
    backend = BackendDouble(
        ScriptedProvider(
            say("One."), [ProviderUnreachable("gone")], [ProviderUnreachable("gone")]
        )
    )
    socket = ResponsesService(backend).socket(ANNA)
    first = await ask(socket, store=False)

    assert (await ask(socket))["status"] == "failed"
    failed = await ask(socket, store=False, previous_response_id=first["id"])

    assert failed["status"] == "failed"
    assert (
        await refusal(socket, message(store=False, previous_response_id=first["id"]))
        == MISSING
    )


@pytest.mark.parametrize(
    ("text", "param"),
    [
        ("nonsense", None),
        ("[]", None),
        ("[" * 200, None),
        ("{}", "type"),
        ('{"type": "response.create", "type": "response.cancel"}', None),
        (message(stream_id=1), "stream_id"),
        (message(generate=False), "generate"),
        (message(model="conversation.attic"), "model"),
    ],
)
async def test_a_message_that_cannot_be_served_is_refused_and_the_next_one_is_not(
    text: str, param: str | None
) -> None:
    """Invariant 69."""
    socket = ResponsesService(BackendDouble(ScriptedProvider(say("Hello.")))).socket(
        ANNA
    )

    (event,) = await tell(socket, text)

    assert isinstance(event["error"], dict)
    assert event["error"]["param"] == param
    assert output_text(await ask(socket)) == "Hello."


async def test_what_clients_say_of_course_is_heard() -> None:
    socket = ResponsesService(BackendDouble(ScriptedProvider(say("Hello.")))).socket(
        ANNA
    )

    assert (
        output_text(await ask(socket, stream=True, background=False, generate=True))
        == "Hello."
    )


async def test_events_are_marked_as_the_client_wants_them() -> None:
    socket = ResponsesService(BackendDouble(ScriptedProvider(say("Hello.")))).socket(
        ANNA
    )

    events = await tell(socket, message(stream_id="lane 1"))
    (refused,) = await tell(
        socket, message(stream_id="lane 2", model="conversation.attic")
    )

    assert {event["stream_id"] for event in events} == {"lane 1"}
    assert refused["stream_id"] == "lane 2"


async def test_a_bug_comes_out() -> None:
    socket = ResponsesService(Broken()).socket(ANNA)

    with pytest.raises(RuntimeError, match="a bug"):
        await tell(socket, message())
    assert await refusal(socket, "nonsense") == (400, "invalid_json")


async def test_a_large_message_is_read() -> None:
    backend = BackendDouble(ScriptedProvider(say("Long.")))
    socket = ResponsesService(backend).socket(ANNA)

    assert output_text(await ask(socket, "word " * 50_000)) == "Long."


async def test_closing_ends_the_turn_at_once() -> None:
    provider = ScriptedProvider([*say("Half")[:1], never])
    backend = BackendDouble(provider)
    socket = ResponsesService(backend).socket(ANNA)

    async with aclosing(socket.answer(message())) as events:
        async for event in events:
            if event["type"] == "response.output_text.delta":
                break

    assert (provider.open_streams, backend.taking, backend.memory.records) == (0, 0, {})

"""Many requests at once, clients that go away, and homes that fail in the middle."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import override

import pytest

from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.responses.protocol.backend import (
    BackendEvent,
    TurnRequest,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError, ErrorType
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.agent.turns import run_other_tasks
from tests.responses.protocol.backend_double import ANNA, BackendDouble
from tests.responses.protocol.service_talk import (
    ask,
    last_response,
    mcp,
    output_text,
    request,
    stream,
)
from tests.support.doubles import (
    Gate,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    never,
    say,
    tool,
)

ON = ToolCall("call_on", "light_on", "{}")
LIGHT = tool("light_on")


async def test_a_response_is_stored_before_its_last_event() -> None:
    backend = BackendDouble(ScriptedProvider(say("Hello.")))
    answer = await ResponsesService(backend).create(
        json.dumps(request(stream=True)), ANNA
    )
    assert isinstance(answer, AsyncGenerator)

    async with aclosing(answer) as events:
        async for event in events:
            if event["type"] == "response.completed":
                break
        (record,) = backend.memory.records.values()
        assert (record.response, backend.taking) == (event["response"], 0)


async def test_whoever_goes_away_ends_the_turn_at_once() -> None:
    """Invariants 54, 63."""
    gate = Gate()
    dispatcher = ScriptedDispatcher({"light_on": gate})
    provider = ScriptedProvider(call(ON), say("Again."))
    backend = BackendDouble(provider, dispatcher, tools={"home": (LIGHT,)})
    service = ResponsesService(backend)

    answer = await service.create(json.dumps(request(stream=True, tools=[mcp()])), ANNA)
    assert isinstance(answer, AsyncGenerator)
    async with aclosing(answer) as events:
        async for event in events:
            if event["type"] == "response.mcp_call_arguments.done":
                break
        await gate.reached.wait()

    assert (dispatcher.running, backend.taking, provider.open_streams) == (0, 0, 0)
    assert backend.memory.records == {}
    assert output_text(await ask(service)) == "Again."


async def test_whoever_cancels_a_request_for_a_whole_response_ends_the_turn() -> None:
    """Invariant 54."""
    provider = ScriptedProvider([never])
    backend = BackendDouble(provider)
    asking = asyncio.create_task(ask(ResponsesService(backend)))
    await run_other_tasks()
    assert provider.open_streams == 1

    asking.cancel()
    await asyncio.wait({asking})

    assert (provider.open_streams, backend.taking, backend.memory.puts) == (0, 0, 0)


async def test_events_that_nobody_reads_begin_no_turn() -> None:
    backend = BackendDouble(ScriptedProvider([never]))
    answer = await ResponsesService(backend).create(
        json.dumps(request(stream=True)), ANNA
    )
    assert isinstance(answer, AsyncGenerator)

    await answer.aclose()

    assert backend.turns == []


class Failing(BackendDouble):
    """A backend that fails in the middle of a turn, or forgets to end it, or fails after its end."""

    failure: Exception | None = None
    after = 6
    """Events of the turn that come first."""

    @override
    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        async with aclosing(super().take(turn)) as events:
            left = self.after
            async for event in events:
                if not left:
                    break
                left -= 1
                yield event
        if self.failure is not None:
            raise self.failure


async def test_a_bug_in_the_middle_fails_the_response_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Invariants 44, 59."""
    backend = Failing(ScriptedProvider(say("Hello."), say("Hello.")))
    backend.failure = RuntimeError("a secret")
    service = ResponsesService(backend)

    response = last_response(await stream(service))
    assert (response["status"], "a secret" in str(response)) == ("failed", False)
    with pytest.raises(ApiError) as raised:
        await ask(service)
    assert (raised.value.status, raised.value.code) == (500, "server_error")
    assert [record.levelno for record in caplog.records] == [
        logging.ERROR,
        logging.ERROR,
    ]
    assert ("RuntimeError" in caplog.text, "a secret" in caplog.text) == (True, False)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (
            ApiError("Asleep.", status=503, kind=ErrorType.SERVER, code="asleep"),
            "asleep",
        ),
        (None, "server_error"),
    ],
    ids=["error", "no end"],
)
async def test_a_turn_that_breaks_off_fails_the_response(
    failure: ApiError | None, code: str
) -> None:
    """Invariant 59."""
    backend = Failing(ScriptedProvider(say("Hello.")))
    backend.failure = failure

    response = last_response(await stream(ResponsesService(backend)))

    assert isinstance(response["error"], dict)
    assert (response["status"], response["error"]["code"]) == ("failed", code)


async def test_a_bug_after_the_end_does_not_change_the_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    backend = Failing(ScriptedProvider(say("Hello.")))
    backend.failure, backend.after = RuntimeError("a bug"), 1000

    response = await ask(ResponsesService(backend))

    assert (response["status"], output_text(response)) == ("completed", "Hello.")
    assert " failed: RuntimeError" in caplog.text

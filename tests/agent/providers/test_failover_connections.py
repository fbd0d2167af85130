"""A chain over real connections: whatever the first server does, the second one answers, and no connection is left."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    BetweenTokensTimeout,
    ConnectTimeout,
    FirstTokenTimeout,
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ProviderSwitched,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import FinishReason, ToolCall, Usage, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.http_provider import TimeLimits
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
    Retries,
    Timeouts,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from tests.support.servers.raw_http import Ending, RawHTTPServer, RawReply, event_stream, head, raw_http_server, reply

from .manual_clock import ManualClock

REQUEST = CompletionRequest("Be brief.", (UserMessage("Hi"),))
TIMEOUTS = Timeouts(connect=1, first_token=20, between_tokens=10)
KEY = "topsecretkey"


def delta(**fields: object) -> bytes:
    """Return one event of a stream."""
    return (
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}).encode() + b"\n\n"
    )


HELLO = delta(content="Hello")
CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "on", "arguments": '{"x":1}'}}])
HALF_A_CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "on", "arguments": '{"x'}}])
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n'
DONE = b"data: [DONE]\n\n"

ANSWER = event_stream([HELLO, FINISH, USAGE, DONE])
ANSWER_EVENTS = [TextDelta("Hello"), CompletionResult(FinishReason.STOP, Usage(5, 1))]


@dataclass(slots=True)
class Pair:
    """A chain of two servers."""

    first: RawHTTPServer
    second: RawHTTPServer
    links: Sequence[ManagedProvider]
    clock: ManualClock

    async def ask(self) -> list[ProviderEvent]:
        """Run one inference to its end."""
        async with aclosing(FailoverProvider(self.links, self.clock, lambda: 0.5).stream(REQUEST)) as events:
            return [event async for event in events]


def provider_at(session: aiohttp.ClientSession, port: int) -> OpenAIChatProvider:
    """Return the provider of a server at a port."""
    return OpenAIChatProvider(session, f"http://127.0.0.1:{port}", "small-1", KEY)


@asynccontextmanager
async def pair(session: aiohttp.ClientSession, *replies: RawReply, retries: int = 1) -> AsyncIterator[Pair]:
    """Serve a first server that sends `replies` and a second one that answers; afterwards no task is left."""
    tasks = asyncio.all_tasks()
    clock = ManualClock()
    async with raw_http_server(*replies) as first, raw_http_server(ANSWER) as second:
        links = [
            ManagedProvider(
                name,
                provider_at(session, server.port),
                CircuitBreaker(clock=clock),
                TIMEOUTS,
                Retries(retries),
            )
            for name, server in (("first", first), ("second", second))
        ]
        yield Pair(first, second, links, clock)
    assert asyncio.all_tasks() <= tasks


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (RawReply([], Ending.CLOSE), ProviderUnreachable),
        (RawReply([], Ending.RESET), ProviderUnreachable),
        (reply(b"<h1>Oops</h1>", "text/html", 500), ProviderUnreachable),
        (reply(b"", status=502), ProviderUnreachable),
        (reply(b"", status=503), ProviderBusy),
        (reply(b"", status=429, headers={"Retry-After": "30"}), ProviderBusy),
        (reply(b"", status=401), ProviderRejectedKey),
        (reply(b'{"error":{"message":"no model m"}}', status=404), ModelNotFound),
        (reply(b"", status=413), ProviderRejectedRequest),
        (reply(b"<html>Welcome</html>", "text/html"), ProviderReplyInvalid),
        (reply(b"ok"), ProviderReplyInvalid),
        (event_stream([b": ready\n\n"], Ending.CLOSE), ProviderReplyInvalid),
        (event_stream([b": ready\n\n"]), ProviderReplyInvalid),
        (event_stream([HALF_A_CALL], Ending.CLOSE), ProviderReplyInvalid),
        (event_stream([b'data: {"error":{"message":"boom","code":500}}\n\n']), ProviderUnreachable),
    ],
    ids=[
        "closed",
        "reset",
        "500",
        "502",
        "503",
        "429 with a long wait",
        "401",
        "404 model",
        "413",
        "page",
        "not JSON",
        "cut before the first event",
        "ended before the first event",
        "cut in the first event",
        "error in the stream",
    ],
)
async def test_a_first_server_that_fails(
    session: aiohttp.ClientSession, answer: RawReply, kind: type[ProviderError]
) -> None:
    async with pair(session, answer) as chain:
        assert await chain.ask() == [ProviderSwitched("second", f"first: {kind.__name__}"), *ANSWER_EVENTS]
        assert len(chain.second.requests) == 1


async def test_a_first_server_that_is_not_there(session: aiohttp.ClientSession) -> None:
    async with raw_http_server() as gone:
        pass
    async with pair(session, ANSWER) as chain:
        chain.links = [
            ManagedProvider("gone", provider_at(session, gone.port), CircuitBreaker(clock=chain.clock)),
            *chain.links,
        ]
        assert (await chain.ask())[0] == ProviderSwitched("first", "gone: ProviderUnreachable")


async def test_a_first_server_that_does_not_pick_up(session: aiohttp.ClientSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel takes the call, nobody speaks TLS
        port: int = silent.getsockname()[1]
        async with pair(session, ANSWER) as chain:
            provider = OpenAIChatProvider(session, f"https://127.0.0.1:{port}", "m", limits=TimeLimits(connect=0.05))
            chain.links = [ManagedProvider("silent", provider, CircuitBreaker(clock=chain.clock)), *chain.links]
            assert (await chain.ask())[0] == ProviderSwitched("first", f"silent: {ConnectTimeout.__name__}")


@pytest.mark.parametrize(
    "answer",
    [
        RawReply([], Ending.WAIT),
        RawReply([b"HTTP/1.1 200 OK\r\n"], Ending.WAIT),
        event_stream([], Ending.WAIT),
        event_stream([b": ready\n\n"], Ending.WAIT),
        event_stream([b": still here\n\n"], Ending.REPEAT),
        event_stream([HALF_A_CALL], Ending.WAIT),
        RawReply([head(500, {"Content-Length": "9"}), b"Oo"], Ending.WAIT),
    ],
    ids=["silence", "half a head", "head", "comment", "comments for ever", "half a call", "half an error"],
)
async def test_a_first_server_that_stalls_is_hung_up_on(session: aiohttp.ClientSession, answer: RawReply) -> None:
    async with pair(session, answer) as chain:
        asking = asyncio.create_task(chain.ask())
        await chain.first.arrived.wait()

        chain.clock.advance(TIMEOUTS.first_token)

        assert await asking == [ProviderSwitched("second", f"first: {FirstTokenTimeout.__name__}"), *ANSWER_EVENTS]
        await chain.first.left.wait()


@pytest.mark.parametrize(
    "busy",
    [
        reply(b"", status=429, headers={"Retry-After": "7"}),
        reply(b"", status=503, headers={"Retry-After": "7"}),
        reply(b"", status=529, headers={"Retry-After": "7"}),
    ],
    ids=["429", "503", "529"],
)
async def test_a_server_that_names_a_time_in_reach_is_waited_for(
    session: aiohttp.ClientSession, busy: RawReply
) -> None:
    async with pair(session, busy, ANSWER, retries=2) as chain:
        assert await chain.ask() == ANSWER_EVENTS
        assert chain.clock.sleeps == [7]
        assert len(chain.second.requests) == 0


async def test_a_server_that_stumbles_once_is_asked_again(session: aiohttp.ClientSession) -> None:
    async with pair(session, reply(b"", status=500), ANSWER, retries=2) as chain:
        assert await chain.ask() == ANSWER_EVENTS
        assert chain.clock.sleeps == [0.125]


@pytest.mark.parametrize(
    ("begun", "event"),
    [(HELLO, TextDelta("Hello")), (CALL, ToolCallReady(ToolCall("a", "on", '{"x":1}')))],
    ids=["text", "call"],
)
@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET, Ending.WAIT], ids=lambda ending: ending.name)
async def test_a_server_that_stops_in_the_middle_is_not_answered_for(
    session: aiohttp.ClientSession, begun: bytes, event: ProviderEvent, ending: Ending
) -> None:
    read = asyncio.Event()
    sent = event_stream([begun], ending)
    async with pair(session, RawReply([*sent.pieces, b""], ending, held={-1: read})) as chain:
        stream = FailoverProvider(chain.links, chain.clock).stream(REQUEST)
        assert await anext(stream) == event
        going_on = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)  # now it waits for more
        read.set()
        if ending is Ending.WAIT:
            chain.clock.advance(TIMEOUTS.between_tokens)

        with pytest.raises(BetweenTokensTimeout if ending is Ending.WAIT else ProviderError):
            await going_on

        assert not chain.second.requests
        if ending is Ending.WAIT:
            await chain.first.left.wait()


async def test_leaving_while_the_first_server_thinks_hangs_up(session: aiohttp.ClientSession) -> None:
    async with pair(session, RawReply([], Ending.WAIT)) as chain:
        asking = asyncio.create_task(chain.ask())
        await chain.first.arrived.wait()

        asking.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asking
        await chain.first.left.wait()
        assert not chain.second.requests


async def test_neither_errors_nor_log_hold_the_key(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    async with pair(session, reply(f"Unauthorized: {KEY}".encode(), "text/plain", 401)) as chain:
        chain.second.replies = [reply(f"No credit left for {KEY}".encode(), "text/plain", 403)]
        with pytest.raises(ProviderRejectedKey) as caught:
            await chain.ask()

    assert caught.value.__notes__ == ["second failed too: ProviderRejectedKey: HTTP 403: No credit left for …"]
    assert "Unauthorized" in caplog.text
    assert KEY not in caplog.text + str(caught.value) + str(caught.value.__notes__)

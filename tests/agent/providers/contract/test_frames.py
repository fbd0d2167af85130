"""Words that follow others at once are passed on together, a little later, and nothing else is late or lost."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import override

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderError, ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import FinishReason, ToolCall
from custom_components.chatterbox.agent.providers.http_access import Access
from custom_components.chatterbox.agent.providers.http_stream import DEFAULT_LIMITS, ModelService, TimeLimits
from custom_components.chatterbox.agent.providers.refused_parameters import RefusedParameters
from custom_components.chatterbox.agent.timeouts import SystemClock, Timer
from tests.agent.turns import let_others_go_on
from tests.support.servers.certificate import self_signed
from tests.support.servers.raw_http import Ending, RawHTTPServer, RawReply, raw_http_server

from .dialect import Answer, Dialect
from .service import HI, arrivals, collect, provider_of, streamed, text_of, until_finished

WORDS = Answer(text=("One ", "two ", "three ", "four."))
IN_TIME = 10
"""Seconds, far less than anything that would be too late here takes."""


class _FrameClock(SystemClock):
    """The time of the machine, but that a frame lasts until it is ended."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], None]] = []
        self._are_over = False

    def end_frames(self) -> None:
        """End this frame, and those to come at once."""
        self._are_over = True
        for end in self._ends:
            end()

    @override
    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        if seconds > DEFAULT_LIMITS.frame or self._are_over:
            return super().call_later(seconds, callback)
        self._ends.append(callback)
        return super().call_later(IN_TIME, callback)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What a server says on command, and what is heard of it."""

    server: RawHTTPServer
    reply: RawReply
    go_on: asyncio.Event
    """Makes the server send all that comes after the first words."""
    clock: _FrameClock
    events: AsyncGenerator[ProviderEvent]

    async def end_frame(self) -> None:
        """Have the server send the rest within the frame of the first words, and then end that."""
        self.go_on.set()
        await self.reply.sent.wait()
        self.clock.end_frames()


def _pieces(dialect: Dialect, answer: Answer = WORDS) -> list[bytes]:
    """Return a stream, cut after each of its words."""
    stream = dialect.render(answer)
    ends = [place for place, event in arrivals(dialect, stream) if isinstance(event, TextDelta | ReasoningDelta)]
    return [stream[begin:end] for begin, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


@asynccontextmanager
async def _conversation(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    pieces: list[bytes],
    ending: Ending,
    *,
    limits: TimeLimits | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[_Conversation]:
    go_on, clock = asyncio.Event(), _FrameClock()
    reply = replace(streamed(dialect, pieces, ending), held={2: go_on})
    async with raw_http_server(reply, tls=tls) as server, asyncio.timeout(IN_TIME):
        access = Access(f"{'https' if tls else 'http'}://127.0.0.1:{server.port}")
        service = ModelService(session, access, RefusedParameters("small", ()), limits or TimeLimits(), clock)
        objects = pieces[0].startswith(b"{")
        events = service.stream("answers", {}, dialect.reader(()), streams_objects=objects)
        async with aclosing(events):
            yield _Conversation(server, reply, go_on, clock, events)


async def test_first_words_come_at_once_and_what_follows_in_one_piece(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with _conversation(dialect, session, _pieces(dialect), Ending.KEEP) as told:
        assert await anext(told.events) == TextDelta("One ")
        await told.end_frame()
        rest = [event async for event in told.events]

    assert rest[0] == TextDelta("two three four.")
    assert [type(event) for event in rest[1:]] == [CompletionResult]


async def test_words_wait_for_no_longer_than_a_frame(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    reply = streamed(dialect, _pieces(dialect)[:-1], Ending.WAIT)

    async with raw_http_server(reply) as server, asyncio.timeout(IN_TIME):
        provider = provider_of(dialect, server, session, limits=TimeLimits(frame=0.05))
        async with aclosing(provider.stream(HI)) as events:
            heard: list[ProviderEvent] = []
            while text_of(heard) != "One two three four.":  # in as many pieces as the network makes of them
                heard.append(await anext(events))
            assert {type(event) for event in heard} == {TextDelta}
            assert not server.left.is_set()


async def test_thoughts_and_words_stay_apart(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    answer = Answer(reasoning=("They ", "ask ", "this."), text=("One ", "two."))

    async with _conversation(dialect, session, _pieces(dialect, answer), Ending.KEEP) as told:
        assert await anext(told.events) == ReasoningDelta("They ")
        await told.end_frame()
        assert [await anext(told.events), await anext(told.events)] == [
            ReasoningDelta("ask this."),
            TextDelta("One two."),
        ]


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_what_came_before_a_connection_broke_is_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession, ending: Ending
) -> None:
    async with _conversation(dialect, session, _pieces(dialect)[:-1], ending) as told:
        assert await anext(told.events) == TextDelta("One ")
        await told.end_frame()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderError):
            await anext(told.events)


async def test_what_came_before_a_server_fell_silent_is_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    limits = TimeLimits(between_bytes=0.3)

    async with _conversation(dialect, session, _pieces(dialect)[:-1], Ending.WAIT, limits=limits) as told:
        assert await anext(told.events) == TextDelta("One ")
        await told.end_frame()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderUnreachable, match="in time"):
            await anext(told.events)


async def test_words_before_a_reported_failure_are_passed_on(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    pieces = [*_pieces(dialect)[:-1], dialect.render_failure("boom")]

    async with _conversation(dialect, session, pieces, Ending.KEEP) as told:
        assert await anext(told.events) == TextDelta("One ")
        await told.end_frame()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderError, match="boom"):
            await anext(told.events)


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE])
async def test_over_an_encrypted_connection_nothing_of_a_frame_is_lost(
    dialect: Dialect, tmp_path: Path, ending: Ending
) -> None:
    connector = aiohttp.TCPConnector(ssl=False)
    pieces = _pieces(dialect)[: None if ending is Ending.KEEP else -1]

    async with (
        aiohttp.ClientSession(connector=connector) as session,
        _conversation(dialect, session, pieces, ending, tls=self_signed(tmp_path)) as told,
    ):
        assert await anext(told.events) == TextDelta("One ")
        await told.end_frame()
        assert await anext(told.events) == TextDelta("two three four.")


async def test_after_its_finish_a_message_waits_for_no_frame(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    stream = dialect.render(WORDS)
    whole = until_finished(dialect, stream)
    pieces = [whole, *([rest] if (rest := stream[len(whole) :]) else [])]
    limits = TimeLimits(after_finish=60, after_done=60)

    async with _conversation(dialect, session, pieces, Ending.KEEP, limits=limits) as told:
        assert await anext(told.events) == TextDelta("One two three four.")
        told.go_on.set()
        assert isinstance(await anext(told.events), CompletionResult)


async def test_calls_wait_for_no_frame(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    calls = [ToolCall("call00001", "turn_on", "{}"), ToolCall("call00002", "turn_off", "{}")]
    stream = dialect.render(Answer(calls=calls, finish=FinishReason.TOOL_CALLS))
    places = [place for place, event in arrivals(dialect, stream) if isinstance(event, ToolCallReady)]
    pieces = [stream[: places[0]], stream[places[0] : places[-1]], stream[places[-1] :]]

    async with _conversation(dialect, session, [piece for piece in pieces if piece], Ending.KEEP) as told:
        told.go_on.set()
        events = [event async for event in told.events]

    assert [type(event) for event in events] == [ToolCallReady, ToolCallReady, CompletionResult]


async def test_the_connection_of_a_frame_is_used_again(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    async with raw_http_server(streamed(dialect, _pieces(dialect))) as server, asyncio.timeout(IN_TIME):
        provider = provider_of(dialect, server, session)
        for _ in range(3):
            assert text_of(await collect(provider)) == "One two three four."

    assert server.connections == 1


async def test_who_takes_a_whole_answer_slowly_holds_up_nobody_else(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    go_on = asyncio.Event()
    head, *body = streamed(dialect, [dialect.render(WORDS)]).pieces
    reply = RawReply([head, b"".join(body)], Ending.KEEP, held={1: go_on})  # its end comes with its first words
    async with raw_http_server(reply) as server, asyncio.timeout(IN_TIME):
        provider = provider_of(dialect, server, session)
        async with aclosing(provider.stream(HI)) as slow:
            first = asyncio.ensure_future(anext(slow))
            await server.arrived.wait()
            await let_others_go_on()  # so that the head is read by then
            go_on.set()
            assert text_of([await first]) == "One two three four."
            assert text_of(await collect(provider)) == "One two three four."

    assert server.connections == 1


async def test_who_leaves_amid_a_frame_closes_the_connection(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    async with _conversation(dialect, session, _pieces(dialect)[:-1], Ending.WAIT) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(told.events)
        await told.server.left.wait()

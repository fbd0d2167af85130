"""Words that follow others at once are passed on together, a little later, and nothing else is late or lost."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderError, ProviderUnreachable
from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta
from custom_components.chatterbox.agent.providers.http_stream import TimeLimits
from tests.servers.raw_http import Ending, RawHTTPServer, raw_http_server

from .dialect import Answer, Dialect
from .service import HI, arrivals, provider_of, streamed, text_of, until_finished

WORDS = Answer(text=("One ", "two ", "three ", "four."))
ENDLESS = TimeLimits(frame=60, after_finish=60)
"""Words wait for others for as long as nothing else ends their frame."""
IN_TIME = 10
"""Seconds, far less than anything that would be too late here takes."""


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What a server says on command, and what is heard of it."""

    server: RawHTTPServer
    go_on: asyncio.Event
    """Makes the server send all that comes after the first words."""
    events: AsyncGenerator[ProviderEvent]


def _pieces(dialect: Dialect, answer: Answer = WORDS) -> list[bytes]:
    """Return a stream, cut after each of its words."""
    stream = dialect.render(answer)
    ends = [place for place, event in arrivals(dialect, stream) if isinstance(event, TextDelta | ReasoningDelta)]
    return [stream[begin:end] for begin, end in zip([0, *ends], [*ends, len(stream)], strict=True)]


@asynccontextmanager
async def _conversation(
    dialect: Dialect, session: aiohttp.ClientSession, pieces: list[bytes], ending: Ending, limits: TimeLimits
) -> AsyncIterator[_Conversation]:
    go_on = asyncio.Event()
    reply = replace(streamed(dialect, pieces, ending), held={2: go_on})
    async with raw_http_server(reply) as server, asyncio.timeout(IN_TIME):
        events = provider_of(dialect, server, session, limits=limits).stream(HI)
        async with aclosing(events):
            yield _Conversation(server, go_on, events)


async def test_first_words_come_at_once_and_the_rest_in_one_piece_when_the_answer_ends(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with _conversation(dialect, session, _pieces(dialect), Ending.KEEP, ENDLESS) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        rest = [event async for event in told.events]

    assert rest[0] == TextDelta("two three four.")
    assert [type(event) for event in rest[1:]] == [CompletionResult]


async def test_words_wait_for_no_longer_than_a_frame(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    pieces = _pieces(dialect)[:-1]

    async with _conversation(dialect, session, pieces, Ending.WAIT, TimeLimits(frame=0.05)) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        heard: list[ProviderEvent] = []
        while text_of(heard) != "two three four.":  # in as many pieces as the network makes of them
            heard.append(await anext(told.events))


async def test_thoughts_and_words_stay_apart(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    answer = Answer(reasoning=("They ", "ask ", "this."), text=("One ", "two."))

    async with _conversation(dialect, session, _pieces(dialect, answer), Ending.KEEP, ENDLESS) as told:
        assert await anext(told.events) == ReasoningDelta("They ")
        told.go_on.set()
        assert [await anext(told.events), await anext(told.events)] == [
            ReasoningDelta("ask this."),
            TextDelta("One two."),
        ]


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_what_came_before_a_connection_broke_is_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession, ending: Ending
) -> None:
    pieces = _pieces(dialect)[:-1]

    async with _conversation(dialect, session, pieces, ending, ENDLESS) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderError):
            await anext(told.events)


async def test_what_came_before_a_server_fell_silent_is_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    limits = replace(ENDLESS, between_bytes=0.3)

    async with _conversation(dialect, session, _pieces(dialect)[:-1], Ending.WAIT, limits) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderUnreachable, match="in time"):
            await anext(told.events)


async def test_words_before_a_reported_failure_are_passed_on(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    pieces = [*_pieces(dialect)[:-1], dialect.render_failure("boom")]

    async with _conversation(dialect, session, pieces, Ending.KEEP, ENDLESS) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        assert await anext(told.events) == TextDelta("two three four.")
        with pytest.raises(ProviderError, match="boom"):
            await anext(told.events)


async def test_after_its_finish_a_message_waits_for_no_frame(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    stream = dialect.render(WORDS)
    whole = until_finished(dialect, stream)
    pieces = [whole, *([rest] if (rest := stream[len(whole) :]) else [])]

    async with _conversation(dialect, session, pieces, Ending.WAIT, replace(ENDLESS, after_finish=0.3)) as told:
        assert await anext(told.events) == TextDelta("One two three four.")
        told.go_on.set()
        assert isinstance(await anext(told.events), CompletionResult)


async def test_who_leaves_amid_a_frame_closes_the_connection(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    async with _conversation(dialect, session, _pieces(dialect)[:-1], Ending.WAIT, ENDLESS) as told:
        assert await anext(told.events) == TextDelta("One ")
        told.go_on.set()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(told.events)
        await told.server.left.wait()

"""Each piece of an answer is passed on as it arrives, and nothing that arrived is lost."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderError,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import FinishReason, ToolCall
from custom_components.chatterbox.agent.protocols import AnswerOptions
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from tests.agent.turns import run_other_tasks
from tests.support.servers.certificate import self_signed
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    raw_http_server,
)

from .dialect import KEY, MODEL, Answer, Dialect
from .service import (
    HI,
    answered,
    arrivals,
    calls_of,
    collect,
    provider_of,
    streamed,
    text_of,
    until_finished,
)

WORDS = Answer(text=("One ", "two ", "three ", "four."))


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A server that sends on command, and the events of its answer."""

    server: RawHTTPServer
    reply: RawReply
    proceed: asyncio.Event
    events: AsyncGenerator[ProviderEvent]

    async def send_the_rest(self) -> None:
        """Have the server send all that comes after the first words."""
        self.proceed.set()
        await self.reply.sent.wait()

    async def text_until(
        self, error: type[ProviderError], match: str | None = None
    ) -> str:
        """Return the text that comes before a failure."""
        heard: list[ProviderEvent] = []

        async def hear_all() -> None:
            async for event in self.events:
                heard.append(event)  # noqa: PERF401  # a comprehension would lose them all at the failure

        with pytest.raises(error, match=match):
            await hear_all()
        return text_of(heard)


def _pieces(dialect: Dialect, answer: Answer = WORDS) -> list[bytes]:
    """Return a stream, cut after each of its words."""
    stream = dialect.render(answer)
    ends = [
        place
        for place, event in arrivals(dialect, stream)
        if isinstance(event, TextDelta | ReasoningDelta)
    ]
    return [
        stream[begin:end]
        for begin, end in zip([0, *ends], [*ends, len(stream)], strict=True)
    ]


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
    proceed = asyncio.Event()
    reply = replace(streamed(dialect, pieces, ending), held={2: proceed})
    async with raw_http_server(reply, tls=tls) as server:
        base_url = f"{'https' if tls else 'http'}://127.0.0.1:{server.port}"
        provider = dialect.provider_class(
            session, base_url, MODEL, KEY, limits or TimeLimits()
        )
        async with aclosing(provider.stream(HI)) as events:
            yield _Conversation(server, reply, proceed, events)


async def test_words_are_passed_on_as_they_arrive(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with _conversation(
        dialect, session, _pieces(dialect), Ending.KEEP
    ) as message:
        assert await anext(message.events) == TextDelta("One ")
        message.proceed.set()
        assert text_of([event async for event in message.events]) == "two three four."


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_events_before_a_broken_connection_are_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession, ending: Ending
) -> None:
    async with _conversation(
        dialect, session, _pieces(dialect)[:-1], ending
    ) as message:
        assert await anext(message.events) == TextDelta("One ")
        await message.send_the_rest()
        assert await message.text_until(ProviderError) == "two three four."


async def test_events_before_a_silence_are_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    limits = TimeLimits(between_bytes=0.3)

    async with _conversation(
        dialect, session, _pieces(dialect)[:-1], Ending.WAIT, limits=limits
    ) as message:
        assert await anext(message.events) == TextDelta("One ")
        await message.send_the_rest()
        assert (
            await message.text_until(ProviderUnreachable, "in time")
            == "two three four."
        )


async def test_words_before_a_reported_failure_are_passed_on(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    pieces = [*_pieces(dialect)[:-1], dialect.render_failure("boom")]

    async with _conversation(dialect, session, pieces, Ending.KEEP) as message:
        assert await anext(message.events) == TextDelta("One ")
        await message.send_the_rest()
        assert await message.text_until(ProviderError, "boom") == "two three four."


async def test_a_session_that_is_closed_amid_an_answer_is_a_failure_of_the_service(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with _conversation(
        dialect, session, _pieces(dialect)[:1], Ending.WAIT
    ) as message:
        assert await anext(message.events) == TextDelta("One ")
        await session.close()
        assert await message.text_until(ProviderUnreachable) == ""


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE])
async def test_over_an_encrypted_connection_nothing_is_lost(
    dialect: Dialect, tmp_path: Path, ending: Ending
) -> None:
    pieces = _pieces(dialect)[: None if ending is Ending.KEEP else -1]

    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session,
        _conversation(
            dialect, session, pieces, ending, tls=self_signed(tmp_path)
        ) as message,
    ):
        assert await anext(message.events) == TextDelta("One ")
        await message.send_the_rest()
        if ending is Ending.KEEP:
            assert (
                text_of([event async for event in message.events]) == "two three four."
            )
        else:
            assert await message.text_until(ProviderError) == "two three four."


async def test_a_slow_reader_of_a_whole_answer_holds_up_nobody_else(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    proceed = asyncio.Event()
    head, *body = streamed(dialect, [dialect.render(WORDS)]).pieces
    reply = RawReply(
        [head, b"".join(body)], Ending.KEEP, held={1: proceed}
    )  # its end comes with its first words
    async with raw_http_server(reply) as server:
        provider = provider_of(dialect, server, session)
        async with aclosing(provider.stream(HI)) as slow:
            first = asyncio.ensure_future(anext(slow))
            await server.arrived.wait()
            await run_other_tasks()  # so that the head is read by then
            proceed.set()
            assert await first == TextDelta(
                "One two three four."
            )  # what arrives together is one event
            assert text_of(await collect(provider)) == "One two three four."

    assert server.connections == 1


async def test_an_answer_that_becomes_too_long_is_cut_and_calls_nothing(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = replace(HI, options=AnswerOptions(max_characters=1_000))
    long = Answer(
        ("a" * 800,),
        ("b" * 300,),
        (ToolCall("call00001", "light_on", "{}"),),
        FinishReason.TOOL_CALLS,
    )

    async with raw_http_server(answered(dialect, long)) as server:
        events = await collect(provider_of(dialect, server, session), request)

    parsed = [
        event.text for event in events if isinstance(event, TextDelta | ReasoningDelta)
    ]
    assert 300 < len("".join(parsed)) <= 1_000
    assert max(map(len, parsed)) <= 512
    assert calls_of(events) == []
    assert events[-1] == CompletionResult(FinishReason.LENGTH)


async def test_arguments_count_as_a_part_of_the_answer(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = replace(HI, options=AnswerOptions(max_characters=1_000))
    call = ToolCall("call00001", "light_on", '{"name": "%s"}' % ("a" * 400))
    fits = Answer(("b" * 500,), calls=(call,), finish=FinishReason.TOOL_CALLS)
    too_long = replace(fits, text=("b" * 600,))

    async with raw_http_server(answered(dialect, fits)) as server:
        assert (
            len(calls_of(await collect(provider_of(dialect, server, session), request)))
            == 1
        )
    async with raw_http_server(answered(dialect, too_long)) as server:
        events = await collect(provider_of(dialect, server, session), request)

    assert text_of(events) == "b" * 600
    assert calls_of(events) == []
    assert events[-1] == CompletionResult(FinishReason.LENGTH)


async def test_a_stream_of_too_many_bytes_is_cut_after_what_was_said(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    """Blank lines, which keep connections alive, are no words."""
    lines = [b" " * 65_535 + b"\n"] * 260
    first = _pieces(dialect)[0]

    async with raw_http_server(
        streamed(dialect, [first, *lines], Ending.CLOSE)
    ) as server:
        events = await collect(provider_of(dialect, server, session))
    async with raw_http_server(
        streamed(dialect, [b": nothing\n\n", *lines], Ending.CLOSE)
    ) as server:
        with pytest.raises(ProviderReplyInvalid):
            await collect(provider_of(dialect, server, session))

    assert text_of(events) == "One "
    assert events[-1] == CompletionResult(FinishReason.LENGTH)


async def test_bytes_after_a_finished_answer_take_nothing_from_it(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    stream = dialect.render(WORDS)
    finished = until_finished(dialect, stream)

    async with raw_http_server(
        streamed(dialect, [finished, *[b" " * 65_535 + b"\n"] * 260], Ending.CLOSE)
    ) as server:
        events = await collect(provider_of(dialect, server, session))

    assert text_of(events) == "One two three four."
    assert isinstance(events[-1], CompletionResult)
    assert events[-1].finish_reason is FinishReason.STOP

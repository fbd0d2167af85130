"""A service of any wire format on the loopback address, and how its answers are collected."""

from collections.abc import Sequence
from contextlib import aclosing

import aiohttp

from custom_components.chatterbox.agent.events import (
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import ToolCall, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest, LLMProvider
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.profiles import (
    DEFAULT_OPTIONS,
    ModelOptions,
    ServerProfile,
)
from custom_components.chatterbox.agent.providers.service_client import (
    DEFAULT_LIMITS,
    TimeLimits,
)
from custom_components.chatterbox.agent.wire.reply_reader import ReplyReader
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    reply,
)

from .dialect import KEY, MODEL, Answer, Dialect

HI = CompletionRequest("Be brief.", (UserMessage("Hi"),))
HELLO = Answer(text=("Hello",))
IMPATIENT = TimeLimits(connect=5, between_bytes=0.1, after_finish=0.1)


def provider_of(  # what a provider is made of
    dialect: Dialect,
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    *,
    options: ModelOptions = DEFAULT_OPTIONS,
    limits: TimeLimits = DEFAULT_LIMITS,
    key: str | None = KEY,
    profile: ServerProfile | None = None,
) -> HTTPProvider:
    """Return a provider that asks `server`."""
    base_url = f"http://127.0.0.1:{server.port}"
    return dialect.provider_class(
        session, base_url, MODEL, key, limits, options=options, profile=profile
    )


def streamed(
    dialect: Dialect, pieces: Sequence[bytes], ending: Ending = Ending.KEEP
) -> RawReply:
    """Return a streamed reply that arrives in `pieces`."""
    return event_stream(pieces, ending, dialect.content_type)


def answered(dialect: Dialect, answer: Answer) -> RawReply:
    """Return a whole streamed reply."""
    return streamed(dialect, [dialect.render(answer)])


def refused(
    dialect: Dialect,
    status: int,
    message: str = "no",
    headers: dict[str, str] | None = None,
) -> RawReply:
    """Return an error response."""
    return reply(dialect.render_error(status, message), status=status, headers=headers)


async def collect(
    provider: LLMProvider, request: CompletionRequest = HI
) -> list[ProviderEvent]:
    """Return all events of one inference."""
    async with aclosing(provider.stream(request)) as events:
        return [event async for event in events]


def read(reader: ReplyReader, pieces: Sequence[bytes]) -> list[ProviderEvent]:
    """Return all events of a reply that arrives in `pieces`."""
    return [event for piece in pieces for event in reader.feed(piece)] + list(
        reader.end()
    )


def text_of(events: Sequence[ProviderEvent]) -> str:
    """Return what was said."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def reasoning_of(events: Sequence[ProviderEvent]) -> str:
    """Return what was thought."""
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def calls_of(events: Sequence[ProviderEvent]) -> list[ToolCall]:
    """Return what was called."""
    return [event.call for event in events if isinstance(event, ToolCallReady)]


def arrivals(dialect: Dialect, stream: bytes) -> list[tuple[int, ProviderEvent]]:
    """Return each event of a stream with the number of bytes that are in when it comes."""
    reader = dialect.reader(())
    return [
        (place, event)
        for place in range(1, len(stream) + 1)
        for event in reader.feed(stream[place - 1 : place])
    ]


def until_first_words(dialect: Dialect, stream: bytes) -> bytes:
    """Return the beginning of a stream, up to the end of the piece that brings its first words."""
    return stream[
        : next(
            place
            for place, event in arrivals(dialect, stream)
            if isinstance(event, TextDelta)
        )
    ]


def until_finished(dialect: Dialect, stream: bytes) -> bytes:
    """Return the beginning of a stream, up to the byte at which the message is known to be whole."""
    reader = dialect.reader(())
    for place in range(len(stream)):
        list(reader.feed(stream[place : place + 1]))
        if reader.finished:
            return stream[: place + 1]
    raise AssertionError("the message never became whole")

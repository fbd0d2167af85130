"""A Chat Completions server for these tests: its requests and answers, and a provider that is pointed at it."""

from contextlib import aclosing

import aiohttp

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import FinishReason, Usage, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest, LLMProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from tests.support.servers.raw_http import RawHTTPServer, event_stream

REQUEST = CompletionRequest("Be brief.", (UserMessage("Hi"),))
KEY = "topsecretkey"
HELLO = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n'
DONE = b"data: [DONE]\n\n"
ANSWER = event_stream([HELLO, STOP, USAGE, DONE])
ANSWER_EVENTS = [TextDelta("Hello"), CompletionResult(FinishReason.STOP, Usage(5, 1))]
HI = [TextDelta("Hi"), CompletionResult(FinishReason.STOP)]
IMPATIENT = TimeLimits(connect=5, between_bytes=0.1, after_finish=0.1)


def provider_of(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    key: str | None = KEY,
    limits: TimeLimits | None = None,
) -> OpenAIChatProvider:
    base_url = f"http://127.0.0.1:{server.port}"
    return OpenAIChatProvider(session, base_url, "small-1", key, limits or TimeLimits())


async def collect(
    provider: LLMProvider, request: CompletionRequest = REQUEST
) -> list[ProviderEvent]:
    async with aclosing(provider.stream(request)) as events:
        return [event async for event in events]

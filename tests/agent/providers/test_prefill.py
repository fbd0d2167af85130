"""What is asked next can be sent ahead: read by servers that keep it, and never at anybody's cost."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderError, ProviderRejectedRequest
from custom_components.chatterbox.agent.messages import JsonObject, ToolDefinition, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest, LLMProvider, Prefiller, ReasoningEffort
from custom_components.chatterbox.agent.providers.anthropic_messages import AnthropicMessagesProvider
from custom_components.chatterbox.agent.providers.http_provider import TimeLimits
from custom_components.chatterbox.agent.providers.ollama_chat import OllamaChatProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.openai_responses import OpenAIResponsesProvider
from custom_components.chatterbox.agent.providers.profiles import LLAMA_CPP, ModelOptions, ServerProfile
from tests.agent.providers.contract.dialect import KEY, MODEL, Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.agent.providers.contract.service import HELLO, answered, collect, streamed
from tests.support.servers.raw_http import Ending, RawHTTPServer, RawReply, raw_http_server, reply

REQUEST = CompletionRequest(
    "Be brief.", (UserMessage("Hi"),), (ToolDefinition("light_on", "Light.", {"type": "object", "properties": {}}),)
)
WISHES = ModelOptions(temperature=0.5, max_tokens=500, reasoning_effort=ReasoningEffort.HIGH)
LIMITS = TimeLimits(connect=5, between_bytes=5, after_finish=0.1)
SHORTEST: Mapping[str, tuple[str, ...]] = {
    "openai_chat": ("max_tokens",),
    "openai_responses": ("max_output_tokens",),
    "anthropic_messages": ("max_tokens",),
    "ollama_chat": ("options", "num_predict"),
}


class _Provider(LLMProvider, Prefiller, Protocol):
    """What all four are."""


class _MakeProvider(Protocol):
    """How all four are made."""

    def __call__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None,
        limits: TimeLimits,
        *,
        options: ModelOptions,
        profile: ServerProfile,
    ) -> _Provider: ...


_PROVIDERS: Mapping[str, _MakeProvider] = {
    "openai_chat": OpenAIChatProvider,
    "openai_responses": OpenAIResponsesProvider,
    "anthropic_messages": AnthropicMessagesProvider,
    "ollama_chat": OllamaChatProvider,
}

pytestmark = [
    pytest.mark.usefixtures("socket_enabled"),
    pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name),
]


def _provider(
    dialect: Dialect,
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    *,
    caches: bool = True,
    options: ModelOptions = WISHES,
) -> _Provider:
    profile = replace(LLAMA_CPP, caches_prefix=caches)
    make = _PROVIDERS[dialect.name]
    return make(session, f"http://127.0.0.1:{server.port}", MODEL, KEY, LIMITS, options=options, profile=profile)


def _payloads(server: RawHTTPServer) -> list[JsonObject]:
    return [json.loads(request.body) for request in server.requests]


async def test_all_that_is_sent_ahead_is_what_is_sent_later_but_for_the_length_of_the_answer(dialect: Dialect) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server, aiohttp.ClientSession() as session:
        provider = _provider(dialect, server, session)
        await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        ahead, later = _payloads(server)
        assert server.connections == 1
    *inside, last = SHORTEST[dialect.name]
    shortened, whole = ahead, later
    for name in inside:
        for payload in (shortened, whole):
            assert isinstance(payload[name], dict)
        shortened, whole = shortened[name], whole[name]  # type: ignore[assignment]  # just seen to be objects
    assert (shortened.pop(last), whole.pop(last)) == (1, 500)
    assert ahead == later


async def test_the_answer_is_short_whatever_the_owner_wants(dialect: Dialect) -> None:
    name, *inside = SHORTEST[dialect.name]
    extras: list[JsonObject] = [{}, {name: {inside[0]: 900} if inside else 900}]
    for extra in extras:
        async with raw_http_server(answered(dialect, HELLO)) as server, aiohttp.ClientSession() as session:
            await _provider(dialect, server, session, options=ModelOptions(extra=extra)).prefill(REQUEST)

            (payload,) = _payloads(server)
        assert payload[name] == ({inside[0]: 1} if inside else 1)


async def test_where_nothing_is_kept_only_a_connection_is_opened(dialect: Dialect) -> None:
    async with raw_http_server(reply(b""), answered(dialect, HELLO)) as server, aiohttp.ClientSession() as session:
        provider = _provider(dialect, server, session, caches=False)
        await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        assert [request.method for request in server.requests] == ["HEAD", "POST"]
        assert server.connections == 1


@pytest.mark.parametrize("status", [401, 404, 405, 500])
async def test_any_answer_is_a_connection(dialect: Dialect, status: int) -> None:
    async with raw_http_server(reply(b"", status=status)) as server, aiohttp.ClientSession() as session:
        await _provider(dialect, server, session).connect()

        assert [(request.method, request.body) for request in server.requests] == [("HEAD", b"")]


async def test_a_server_that_is_not_there_is_told(dialect: Dialect) -> None:
    async with aiohttp.ClientSession() as session:
        async with raw_http_server() as server:
            provider = _provider(dialect, server, session)
        for ahead in (provider.prefill(REQUEST), provider.connect()):
            with pytest.raises(ProviderError):
                await ahead


@pytest.mark.parametrize("pieces", [[], [b" "]], ids=["before the headers", "before the answer"])
async def test_who_asks_in_earnest_is_not_kept_waiting(dialect: Dialect, pieces: list[bytes]) -> None:
    waiting = streamed(dialect, pieces, Ending.WAIT) if pieces else RawReply([], Ending.WAIT)
    async with raw_http_server(waiting) as server, aiohttp.ClientSession() as session:
        ahead = asyncio.create_task(_provider(dialect, server, session).prefill(REQUEST))
        await server.arrived.wait()
        ahead.cancel()
        with suppress(asyncio.CancelledError):
            await ahead

        await server.left.wait()


async def test_a_server_that_does_not_stop_is_left(dialect: Dialect) -> None:
    endless = streamed(dialect, [dialect.render(HELLO)[:20]], Ending.REPEAT)
    async with raw_http_server(endless) as server, aiohttp.ClientSession() as session:
        await _provider(dialect, server, session).prefill(REQUEST)

        await server.left.wait()


async def test_a_refusal_teaches_nothing(dialect: Dialect) -> None:
    name = ".".join(SHORTEST[dialect.name])
    body = dialect.render_error(400, f"'{name}' must be at least 16")
    async with (
        raw_http_server(reply(body, status=400), answered(dialect, HELLO)) as server,
        aiohttp.ClientSession() as session,
    ):
        provider = _provider(dialect, server, session)
        with pytest.raises(ProviderRejectedRequest):
            await provider.prefill(REQUEST)
        await collect(provider, REQUEST)

        payload = json.dumps(_payloads(server)[-1])
    assert f'"{SHORTEST[dialect.name][-1]}": 500' in payload

"""The Chat Completions provider asks each server in its own words, which models it has and whether one answers."""

import json
import socket
from typing import override

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, ReasoningEffort
from custom_components.chatterbox.agent.providers.http_client import TimeLimits
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.options import ModelOptions
from custom_components.chatterbox.agent.providers.profiles import (
    DEEPSEEK,
    MISTRAL,
    OPENAI,
    OPENROUTER,
    OTHER,
    ServerProfile,
)
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from custom_components.chatterbox.agent.wire.request_parts import payload_to_bytes
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, raw_http_server, reply

from .chat_completions import ANSWER, HELLO, IMPATIENT, KEY, RECORDED, REQUEST, collect, provider_of


async def test_a_check_that_succeeds_leaves_at_the_first_word(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(event_stream([HELLO], Ending.WAIT)) as server:
        await provider_of(server, session).check()
        await server.left.wait()

    sent = json.loads(server.requests[0].body)
    assert sent["messages"] == [{"role": "user", "content": "Hi"}]
    assert "tools" not in sent


async def test_a_check_is_bounded_although_the_server_keeps_talking(session: aiohttp.ClientSession) -> None:
    endless = RawReply([head(200, {"Content-Type": "text/event-stream"}), b": wait\n\n"], Ending.REPEAT)

    async with raw_http_server(endless) as server:
        provider = provider_of(server, session, limits=TimeLimits(connect=0.1, between_bytes=0.2))
        for attempt in (provider.check, provider.list_models):
            with pytest.raises(ProviderUnreachable, match="in time"):
                await attempt()
        await server.left.wait()


async def test_models_are_listed(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply((RECORDED / "models.json").read_bytes())) as server:
        assert await provider_of(server, session).list_models() == ["tiny.gguf"]

    [request] = server.requests
    assert (request.method, request.target) == ("GET", "/v1/models")
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(b'{"error":"Unexpected endpoint or method. (GET /models)"}', status=404), ProviderReplyInvalid),
        (reply(b"<html>", "text/html"), ProviderReplyInvalid),
        (reply(b'{"error":"no"}', status=401), ProviderRejectedKey),
        (reply(b"", status=503), ProviderBusy),
        (RawReply([head(200, {"Content-Length": "99"})]), ProviderReplyInvalid),
    ],
)
async def test_no_list_of_models(session: aiohttp.ClientSession, answer: RawReply, kind: type[ProviderError]) -> None:
    async with raw_http_server(answer) as server:
        with pytest.raises(kind):
            await provider_of(server, session).list_models()


async def test_a_list_of_models_that_never_ends_is_left(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(RawReply([head(200, {"Content-Length": "99"})], Ending.WAIT)) as server:
        with pytest.raises(ProviderUnreachable, match="in time"):
            await provider_of(server, session, limits=IMPATIENT).list_models()
        await server.left.wait()


WISHES = ModelOptions(max_tokens=9, reasoning_effort=ReasoningEffort.NONE)


@pytest.mark.parametrize(
    ("profile", "wishes"),
    [
        (OTHER, {"max_tokens": 9, "reasoning_effort": "none"}),
        (OPENAI, {"max_completion_tokens": 9, "reasoning_effort": "none"}),
        (OPENROUTER, {"max_tokens": 9, "reasoning": {"effort": "none"}}),
        (DEEPSEEK, {"max_tokens": 9, "thinking": {"type": "disabled"}}),
    ],
    ids=lambda value: value.id if isinstance(value, ServerProfile) else "",
)
async def test_each_server_is_told_in_its_own_words(
    session: aiohttp.ClientSession, profile: ServerProfile, wishes: JsonObject
) -> None:
    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        await collect(OpenAIChatProvider(session, base_url, "m", options=WISHES, profile=profile))

    plain = request_to_payload(REQUEST, "m")
    assert json.loads(server.requests[0].body) == {**plain, **wishes}


async def test_a_profile_decides_how_the_conversation_is_written(session: aiohttp.ClientSession) -> None:
    called = AssistantMessage("", "hm", (ToolCall("functions.on:0", "on", "{}"),))
    request = CompletionRequest("", (UserMessage("Hi"), called, ToolResult("functions.on:0", "on", "done")))

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (DEEPSEEK, MISTRAL):
            await collect(OpenAIChatProvider(session, base_url, "m", profile=profile), request)

    deepseek, mistral = (json.loads(sent.body)["messages"] for sent in server.requests)
    assert deepseek == json.loads(payload_to_bytes(request_to_payload(request, "m", DEEPSEEK.chat)))["messages"]
    assert deepseek[1]["reasoning_content"] == "hm"
    assert len(mistral[2]["tool_call_id"]) == 9


async def test_a_profile_decides_what_can_be_shown(session: aiohttp.ClientSession) -> None:
    request = CompletionRequest("", (UserMessage("", (Attachment("application/pdf", b"%PDF", "bill.pdf"),)),))

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (OPENAI, DEEPSEEK):
            await collect(OpenAIChatProvider(session, base_url, "m", profile=profile), request)

    seen, told = (json.loads(sent.body)["messages"][0]["content"] for sent in server.requests)
    assert seen[0]["file"]["filename"] == "bill.pdf"
    assert "bill.pdf was attached here" in told


@pytest.mark.usefixtures("socket_enabled")
async def test_without_a_profile_the_address_tells() -> None:
    async with raw_http_server(ANSWER) as server:
        local = aiohttp.TCPConnector(resolver=_Everywhere(server.port))
        async with aiohttp.ClientSession(connector=local) as redirected:
            base_url = f"http://api.deepseek.com:{server.port}"
            await collect(OpenAIChatProvider(redirected, base_url, "m", options=WISHES))

    assert json.loads(server.requests[0].body)["thinking"] == {"type": "disabled"}


class _Everywhere(aiohttp.abc.AbstractResolver):
    """Finds every host on the loopback address."""

    def __init__(self, port: int) -> None:
        self._port = port

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[aiohttp.abc.ResolveResult]:
        return [
            {
                "hostname": host,
                "host": "127.0.0.1",
                "port": self._port,
                "family": family,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
        ]

    @override
    async def close(self) -> None:
        pass

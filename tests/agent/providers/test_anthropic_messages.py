"""The Messages provider, against real connections; what it shares with the others is in their contract."""

import json
from contextlib import aclosing
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderBusy
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    AnswerOptions,
    CompletionRequest,
    LLMProvider,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.anthropic_messages import (
    AnthropicMessagesProvider,
)
from custom_components.chatterbox.agent.providers.profiles import (
    LLAMA_CPP,
    ModelOptions,
)
from tests.support.servers.raw_http import (
    RawHTTPServer,
    RawReply,
    event_stream,
    raw_http_server,
    reply,
)

REQUEST = CompletionRequest("Be brief.", (UserMessage("Hi"),))
SIGNED: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "Eqo="}


def event(**fields: object) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


HELLO = event(
    type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello"}
)
FINISH = event(type="message_delta", delta={"stop_reason": "end_turn"})
STOP = FINISH + event(type="message_stop")
ANSWER = event_stream([HELLO, STOP])
SAID = [TextDelta("Hello"), CompletionResult(FinishReason.STOP)]


def provider_of(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    options: ModelOptions | None = None,
) -> AnthropicMessagesProvider:
    base_url = f"http://127.0.0.1:{server.port}"
    return AnthropicMessagesProvider(
        session, base_url, "claude-1", "key", options=options or ModelOptions()
    )


async def collect(
    provider: LLMProvider, request: CompletionRequest = REQUEST
) -> list[ProviderEvent]:
    async with aclosing(provider.stream(request)) as events:
        return [each async for each in events]


def payloads(server: RawHTTPServer) -> list[JsonObject]:
    return [json.loads(request.body) for request in server.requests]


def refusal(message: str) -> RawReply:
    body = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": message},
    }
    return reply(json.dumps(body).encode(), status=400)


async def test_every_request_names_the_version_of_the_format(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(
        ANSWER, reply(b'{"data":[{"id":"claude-1"}]}')
    ) as server:
        provider = provider_of(server, session)
        await provider.check()
        assert await provider.list_models() == ["claude-1"]

    assert [request.headers["anthropic-version"] for request in server.requests] == [
        "2023-06-01"
    ] * 2
    assert [request.target for request in server.requests] == [
        "/v1/messages",
        "/v1/models?limit=1000",
    ]
    assert all("authorization" not in request.headers for request in server.requests)


@pytest.mark.parametrize(
    ("effort", "max_tokens", "fields"),
    [
        (None, 8192, {}),
        (ReasoningEffort.NONE, 8192, {"thinking": {"type": "disabled"}}),
        (
            ReasoningEffort.MINIMAL,
            8192,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        (
            ReasoningEffort.LOW,
            8192,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        (
            ReasoningEffort.MEDIUM,
            8192,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        ),
        (
            ReasoningEffort.HIGH,
            32_000,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
        (
            ReasoningEffort.XHIGH,
            32_000,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "xhigh"}},
        ),
        (
            ReasoningEffort.MAX,
            32_000,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
        ),
    ],
)
async def test_efforts(
    effort: ReasoningEffort | None,
    max_tokens: int,
    fields: JsonObject,
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(
            provider_of(server, session, ModelOptions(reasoning_effort=effort))
        )

    [payload] = payloads(server)
    assert payload["max_tokens"] == max_tokens
    assert {
        name: payload[name] for name in ("thinking", "output_config") if name in payload
    } == fields


HIGH, OFF = ReasoningEffort.HIGH, ReasoningEffort.NONE


@pytest.mark.parametrize(
    ("owners", "wishes", "sampling"),
    [
        (ModelOptions(), AnswerOptions(temperature=1.75), {"temperature": 1.0}),
        (ModelOptions(), AnswerOptions(0.5, 0.5, HIGH), {}),
        (ModelOptions(reasoning_effort=HIGH), AnswerOptions(temperature=0.5), {}),
        (
            ModelOptions(reasoning_effort=HIGH),
            AnswerOptions(top_p=0.96),
            {"top_p": 0.96},
        ),
        (
            ModelOptions(temperature=0.5, top_p=0.5),
            AnswerOptions(reasoning_effort=HIGH),
            {},
        ),
        (
            ModelOptions(temperature=0.5, reasoning_effort=HIGH),
            AnswerOptions(reasoning_effort=OFF),
            {"temperature": 0.5},
        ),
        (
            ModelOptions(temperature=0.5, reasoning_effort=HIGH),
            AnswerOptions(),
            {"temperature": 0.5},
        ),
    ],
    ids=[
        "too hot",
        "both wished",
        "thinks",
        "top_p of thinking",
        "was warm",
        "thinks no more",
        "the owner's",
    ],
)
async def test_a_model_that_thinks_as_is_wished_has_its_own_temperature(
    owners: ModelOptions,
    wishes: AnswerOptions,
    sampling: JsonObject,
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(
            provider_of(server, session, owners), replace(REQUEST, options=wishes)
        )

    [payload] = payloads(server)
    assert {
        name: payload[name] for name in ("temperature", "top_p") if name in payload
    } == sampling


async def test_long_thinking_that_is_wished_has_room(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(
            provider_of(server, session),
            replace(REQUEST, options=AnswerOptions(reasoning_effort=HIGH)),
        )

    assert payloads(server)[0]["max_tokens"] == 32_000


async def test_a_server_without_eyes_is_told_what_it_cannot_see(
    session: aiohttp.ClientSession,
) -> None:
    picture = UserMessage(
        "?",
        (
            Attachment("image/png", b"\x89PNG"),
            Attachment("application/pdf", b"%PDF", "a.pdf"),
        ),
    )

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        provider = AnthropicMessagesProvider(session, base_url, "m", profile=LLAMA_CPP)
        await collect(provider, CompletionRequest("", (picture,)))

    body = server.requests[0].body
    assert b'"type":"image"' in body
    assert b'"type":"document"' not in body
    assert b"a.pdf" in body


async def test_a_failure_in_place_of_a_stream(session: aiohttp.ClientSession) -> None:
    failure = {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
    }

    async with raw_http_server(reply(json.dumps(failure).encode())) as server:
        with pytest.raises(ProviderBusy, match="Overloaded"):
            await collect(provider_of(server, session))


async def test_thinking_that_cannot_go_back_costs_one_request_and_no_answer(
    session: aiohttp.ClientSession,
) -> None:
    item = ProviderItem("anthropic_messages", {"block": SIGNED, "text": 0, "calls": 0})
    call = AssistantMessage("", "hm", (ToolCall("a", "on", "{}"),), (item,))
    request = CompletionRequest(
        "", (UserMessage("Hi"), call, ToolResult("a", "on", "done"))
    )

    async with raw_http_server(
        refusal("messages.1.content.0: Invalid `signature` in `thinking` block"), ANSWER
    ) as server:
        assert await collect(provider_of(server, session), request) == SAID

    first, second = (request.body for request in server.requests)
    assert b'"thinking"' in first
    assert b'"thinking"' not in second

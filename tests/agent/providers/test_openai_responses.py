"""The provider for the Responses API; what it shares with the others is in their contract."""

import json
import logging
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedRequest,
)
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
    ToolDefinition,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
    Verbosity,
)
from custom_components.chatterbox.agent.providers.openai_responses import (
    OpenAIResponsesProvider,
)
from custom_components.chatterbox.agent.providers.profiles import (
    OPENAI,
    ModelOptions,
    ServerProfile,
    ServiceTier,
)
from tests.support.servers.raw_http import (
    RawHTTPServer,
    RawReply,
    event_stream,
    raw_http_server,
    reply,
)

THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "AAA",
}
KEPT = ProviderItem(
    "openai_responses",
    {"block": {"model": "gpt", "item": THOUGHT}, "text": 0, "calls": 0, "skip": 0},
)
REQUEST = CompletionRequest("", (UserMessage("Hi"),))
LATER = replace(
    REQUEST,
    transcript=(
        UserMessage("Hi"),
        AssistantMessage("Hello", "", (), (KEPT,)),
        UserMessage("Bye"),
    ),
)

HELLO = b'data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"delta":"Hello"}\n\n'
END = (
    b'data: {"type":"response.completed","response":{"status":"completed","output":[],'
    b'"usage":{"input_tokens":5,"output_tokens":1}}}\n\n'
)
ANSWER = event_stream([HELLO, END])
EVENTS = [TextDelta("Hello"), CompletionResult(FinishReason.STOP, Usage(5, 1))]


def provider_of(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    options: ModelOptions | None = None,
    profile: ServerProfile = OPENAI,
) -> OpenAIResponsesProvider:
    base_url = f"http://127.0.0.1:{server.port}"
    return OpenAIResponsesProvider(
        session, base_url, "gpt", options=options or ModelOptions(), profile=profile
    )


async def collect(
    provider: OpenAIResponsesProvider, request: CompletionRequest = REQUEST
) -> list[ProviderEvent]:
    return [event async for event in provider.stream(request)]


def payloads(server: RawHTTPServer) -> list[JsonObject]:
    return [json.loads(request.body) for request in server.requests]


def refusal(message: str, status: int = 400, **more: str) -> RawReply:
    return reply(
        json.dumps(
            {"error": {"message": message, "type": "invalid_request_error", **more}}
        ).encode(),
        status=status,
    )


async def test_nothing_is_kept_at_the_service(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        assert await collect(provider_of(server, session)) == EVENTS

    [payload] = payloads(server)
    assert (payload["store"], payload["include"]) == (
        False,
        ["reasoning.encrypted_content"],
    )
    assert payload.keys() == {"model", "stream", "store", "include", "input"}


async def test_settings(session: aiohttp.ClientSession) -> None:
    options = ModelOptions(
        reasoning_effort=ReasoningEffort.HIGH,
        verbosity=Verbosity.LOW,
        service_tier=ServiceTier.PRIORITY,
        prompt_cache_key="agent-1",
    )

    async with raw_http_server(ANSWER) as server:
        await collect(provider_of(server, session, options))

    [payload] = payloads(server)
    assert payload["prompt_cache_key"] == "agent-1"
    assert payload["text"] == {"verbosity": "low"}
    assert payload["service_tier"] == "priority"
    assert payload["reasoning"] == {"effort": "high"}


@pytest.mark.parametrize(
    ("effort", "expected"),
    [
        (ReasoningEffort.NONE, "none"),
        (ReasoningEffort.XHIGH, "xhigh"),
        (ReasoningEffort.MAX, "xhigh"),
    ],
)
async def test_effort(
    session: aiohttp.ClientSession, effort: ReasoningEffort, expected: str
) -> None:
    async with raw_http_server(ANSWER) as server:
        await collect(
            provider_of(server, session, options=ModelOptions(reasoning_effort=effort))
        )

    assert payloads(server)[0]["reasoning"] == {"effort": expected}


async def test_unsupported_attachments_are_not_sent(
    session: aiohttp.ClientSession,
) -> None:
    request = replace(
        REQUEST, transcript=(UserMessage("Hi", (Attachment("image/png", b"\x89PNG"),)),)
    )

    async with raw_http_server(ANSWER) as server:
        await collect(provider_of(server, session), request)
        await collect(
            provider_of(server, session, profile=replace(OPENAI, accepts_images=False)),
            request,
        )

    assert ["input_image" in json.dumps(payload) for payload in payloads(server)] == [
        True,
        False,
    ]


async def test_a_model_without_reasoning_is_not_asked_for_it_again(
    session: aiohttp.ClientSession,
) -> None:
    refused = refusal(
        "Encrypted content is not supported with this model.", param="include"
    )

    async with raw_http_server(refused, ANSWER) as server:
        provider = provider_of(server, session)
        for _ in range(2):
            assert await collect(provider) == EVENTS

    assert ["include" in payload for payload in payloads(server)] == [
        True,
        False,
        False,
    ]
    assert all(payload["store"] is False for payload in payloads(server))


@pytest.mark.parametrize(
    "refused",
    [
        refusal(
            "The encrypted content gAAA...DQ== could not be verified.",
            code="invalid_encrypted_content",
        ),
        refusal(
            "Item 'rs_1' of type 'reasoning' was provided without its required following item."
        ),
        refusal(
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
            404,
        ),
        refusal("item['content'] is not an array"),
        event_stream(
            [
                b'data: {"type":"error","message":"The encrypted content AAA could not be verified."}\n\n'
            ]
        ),
    ],
    ids=[
        "not verified",
        "without following item",
        "not found",
        "llama.cpp",
        "in the stream",
    ],
)
async def test_reasoning_that_the_service_cannot_read_is_left_out_of_the_request(
    session: aiohttp.ClientSession, refused: RawReply, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "custom_components.chatterbox"):
        async with raw_http_server(refused, ANSWER) as server:
            assert await collect(provider_of(server, session), LATER) == EVENTS

    first, second = (payload["input"] for payload in payloads(server))
    assert isinstance(first, list)
    assert THOUGHT in first
    assert second == [item for item in first if item != THOUGHT]
    assert [
        record.levelname
        for record in caplog.records
        if "gpt is asked again" in record.message
    ] == ["INFO"]


async def test_a_refused_item_of_reasoning_is_not_taken_for_the_parameter_of_that_name(
    session: aiohttp.ClientSession,
) -> None:
    refused = refusal(
        "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    )
    options = ModelOptions(reasoning_effort=ReasoningEffort.LOW)

    async with raw_http_server(refused, refused, ANSWER) as server:
        provider = provider_of(server, session, options=options)
        assert await collect(provider, LATER) == EVENTS
        assert await collect(provider) == EVENTS

    assert [payload.get("reasoning") for payload in payloads(server)[2:]] == [
        {"effort": "low"}
    ] * 2


async def test_the_same_refusal_is_final_where_nothing_was_carried(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(
        refusal("The encrypted content could not be verified.")
    ) as server:
        with pytest.raises(ProviderRejectedRequest):
            await collect(provider_of(server, session))

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "field", ["store", "input", "instructions", "tools", "stream", "model"]
)
async def test_without_what_matters_nothing_is_asked(
    session: aiohttp.ClientSession, field: str
) -> None:
    tool = ToolDefinition("turn_on", "", {"type": "object", "properties": {}})

    async with raw_http_server(
        refusal(f"Unknown parameter: '{field}'.", param=field)
    ) as server:
        with pytest.raises(ProviderError, match=field):
            await collect(
                provider_of(server, session),
                replace(REQUEST, instructions="Be brief.", tools=(tool,)),
            )

    assert len(server.requests) == 1


async def test_nothing_is_asked_again_once_the_answer_has_begun(
    session: aiohttp.ClientSession,
) -> None:
    failed = event_stream(
        [HELLO, b'data: {"type":"error","message":"The encrypted content is odd."}\n\n']
    )

    async with raw_http_server(failed) as server:
        with pytest.raises(ProviderFailed, match="encrypted content"):
            await collect(provider_of(server, session), LATER)

    assert len(server.requests) == 1


NO_ROOM = refusal("Resource unavailable for this tier, try again.", 429)


async def test_where_the_cheap_tier_has_no_room_the_default_one_answers(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(NO_ROOM, ANSWER, ANSWER) as server:
        provider = provider_of(
            server, session, ModelOptions(service_tier=ServiceTier.FLEX)
        )
        for _ in range(2):
            assert await collect(provider) == EVENTS

    assert [payload["service_tier"] for payload in payloads(server)] == [
        "flex",
        "default",
        "flex",
    ]


@pytest.mark.parametrize(
    ("tier", "refused"),
    [
        (ServiceTier.FLEX, refusal("Rate limit reached", 429)),
        (ServiceTier.DEFAULT, NO_ROOM),
        (None, NO_ROOM),
        (ServiceTier.FLEX, refusal("resource unavailable", 503)),
    ],
)
async def test_a_service_that_is_busy_is_busy(
    session: aiohttp.ClientSession, tier: ServiceTier | None, refused: RawReply
) -> None:
    async with raw_http_server(refused) as server:
        with pytest.raises(ProviderBusy):
            await collect(provider_of(server, session, ModelOptions(service_tier=tier)))

    assert len({json.dumps(payload) for payload in payloads(server)}) <= 2

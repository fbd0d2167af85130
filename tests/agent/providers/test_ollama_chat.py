"""The provider for Ollama; what it shares with the others is in their contract."""

import json
import logging
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web

from custom_components.chatterbox.agent.errors import (
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import (
    Attachment,
    FinishReason,
    JsonObject,
    JsonValue,
    ToolDefinition,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.ollama_chat import OllamaChatProvider
from custom_components.chatterbox.agent.providers.profiles import (
    OLLAMA,
    ModelOptions,
    ServerProfile,
)
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from custom_components.chatterbox.agent.wire.model_lists import ChatModel
from tests.support.servers.in_process import serving
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    head,
    raw_http_server,
    reply,
)

REQUEST = CompletionRequest(
    "", (UserMessage("Hi", (Attachment("image/png", b"\x89PNG"),)),)
)
LINES = [
    b'{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}\n',
    (
        b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",'
        b'"prompt_eval_count":5,"eval_count":1}\n'
    ),
]
ANSWER = event_stream(LINES, Ending.KEEP, "application/x-ndjson")
EVENTS = [TextDelta("Hello"), CompletionResult(FinishReason.STOP, Usage(5, 1))]


def provider_of(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    options: ModelOptions | None = None,
    *,
    limits: TimeLimits | None = None,
    profile: ServerProfile = OLLAMA,
) -> OllamaChatProvider:
    return OllamaChatProvider(
        session,
        f"http://127.0.0.1:{server.port}/v1",
        "qwen3:4b",
        limits=limits or TimeLimits(),
        options=options or ModelOptions(),
        profile=profile,
    )


async def collect(
    provider: OllamaChatProvider, request: CompletionRequest = REQUEST
) -> list[ProviderEvent]:
    return [event async for event in provider.stream(request)]


async def sent(
    session: aiohttp.ClientSession,
    options: ModelOptions | None = None,
    profile: ServerProfile = OLLAMA,
) -> JsonObject:
    async with raw_http_server(ANSWER) as server:
        assert (
            await collect(provider_of(server, session, options, profile=profile))
            == EVENTS
        )
    payload: JsonObject = json.loads(server.requests[0].body)
    return payload


async def test_nothing_is_set_unless_asked_for(session: aiohttp.ClientSession) -> None:
    assert set(await sent(session)) == {"model", "stream", "messages", "truncate"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ModelOptions(keep_alive=-1), {"keep_alive": -1}),
        (
            ModelOptions(keep_alive=0, num_ctx=16384),
            {"keep_alive": 0, "options": {"num_ctx": 16384}},
        ),
        (ModelOptions(keep_alive="30m"), {"keep_alive": "30m"}),
    ],
)
async def test_settings(
    session: aiohttp.ClientSession, settings: ModelOptions, expected: JsonObject
) -> None:
    payload = await sent(session, settings)

    assert {
        name: payload[name]
        for name in payload.keys() - {"model", "stream", "messages", "truncate"}
    } == expected


@pytest.mark.parametrize(
    ("effort", "think"),
    [
        (ReasoningEffort.NONE, False),
        (ReasoningEffort.LOW, "low"),
        (ReasoningEffort.MINIMAL, "low"),
        (ReasoningEffort.MAX, "high"),
    ],
)
async def test_thinking(
    session: aiohttp.ClientSession,
    effort: ReasoningEffort,
    think: bool | str,  # noqa: FBT001  # what the server is sent
) -> None:
    assert (await sent(session, ModelOptions(reasoning_effort=effort)))[
        "think"
    ] == think


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"top_k": 20}, {"num_ctx": 8192, "temperature": 0.5, "top_k": 20}),
        ({"num_ctx": 4096, "temperature": None}, {"num_ctx": 4096}),
        (None, None),
        ("odd", "odd"),
    ],
)
async def test_a_persons_own_options_are_laid_over_ours(
    session: aiohttp.ClientSession, own: JsonValue, expected: JsonValue
) -> None:
    options = ModelOptions(
        temperature=0.5, num_ctx=8192, extra={"options": own, "format": "json"}
    )

    payload = await sent(session, options)

    assert (payload.get("options"), payload["format"]) == (expected, "json")


async def test_pictures_are_shown_to_models_with_eyes_alone(
    session: aiohttp.ClientSession,
) -> None:
    content = await sent(session)
    unseen = await sent(session, profile=replace(OLLAMA, accepts_images=False))

    assert json.dumps(content).count("images") == 1
    assert "images" not in json.dumps(unseen)
    assert "image/png" in json.dumps(unseen)


@pytest.mark.parametrize(
    "words",
    [
        'think value "high" is not supported for this model',
        '"qwen3:4b" does not support thinking',
    ],
)
async def test_an_effort_that_the_model_does_not_know_is_left_out_from_then_on(
    session: aiohttp.ClientSession, words: str
) -> None:
    refusal = reply(json.dumps({"error": words}).encode(), status=400)

    async with raw_http_server(refusal, ANSWER) as server:
        provider = provider_of(
            server, session, ModelOptions(reasoning_effort=ReasoningEffort.HIGH)
        )
        for _ in range(2):
            assert await collect(provider) == EVENTS

    assert ["think" in json.loads(request.body) for request in server.requests] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "words",
    ["bad messages", "no such model", "stream is on"],
)
async def test_without_what_matters_nothing_is_asked(
    session: aiohttp.ClientSession, words: str
) -> None:
    refusal = reply(json.dumps({"error": words}).encode(), status=400)
    tool = ToolDefinition("turn_on", "", {"type": "object", "properties": {}})

    async with raw_http_server(refusal) as server:
        with pytest.raises(ProviderError, match=words):
            await collect(provider_of(server, session), replace(REQUEST, tools=(tool,)))

    assert len(server.requests) == 1


async def test_a_model_that_takes_no_tools_is_asked_without_them(
    session: aiohttp.ClientSession,
) -> None:
    refusal = reply(
        b'{"error": "registry.ollama.ai/library/gemma:2b does not support tools"}',
        status=400,
    )
    request = replace(
        REQUEST,
        tools=(ToolDefinition("turn_on", "", {"type": "object", "properties": {}}),),
    )

    async with raw_http_server(refusal, ANSWER, ANSWER) as server:
        provider = provider_of(server, session)
        for _ in range(2):
            assert await collect(provider, request) == EVENTS

    assert ["tools" in json.loads(request.body) for request in server.requests] == [
        True,
        False,
        False,
    ]
    assert "does not support tools" in provider.tools_refusal


async def test_a_server_that_does_not_stream_is_understood(
    session: aiohttp.ClientSession,
) -> None:
    whole = b'{"message":{"content":"Hello"},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":1}'

    async with raw_http_server(reply(whole)) as server:
        assert await collect(provider_of(server, session)) == EVENTS


async def test_the_last_line_is_the_end(session: aiohttp.ClientSession) -> None:
    lines = [*LINES, b'{"error":"too late"}\n']
    endless = RawReply(
        [head(200, {"Content-Type": "application/x-ndjson"}), b"".join(lines), b" "],
        Ending.REPEAT,
    )

    async with raw_http_server(endless) as server:
        assert (
            await collect(
                provider_of(server, session, limits=TimeLimits(after_done=0.05))
            )
            == EVENTS
        )
        await server.left.wait()


REFUSED_TO_CUT = reply(
    b'{"error":"the input length exceeds the context length"}', status=400
)
COUNTED = reply(
    b'{"error":"request (9000 tokens) exceeds the available context size (4096 tokens)"}',
    status=400,
)
LONG = CompletionRequest("word " * 4000, REQUEST.transcript)


def numbers_of(error: PromptTooLong | None) -> tuple[int | None, int | None]:
    assert error is not None
    return error.prompt_tokens, error.window_tokens


async def test_a_prompt_that_does_not_fit_is_answered_by_what_is_left_of_it(
    session: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    options = ModelOptions(num_ctx=4096)
    async with raw_http_server(
        REFUSED_TO_CUT, ANSWER, REFUSED_TO_CUT, ANSWER, ANSWER
    ) as server:
        provider = provider_of(server, session, options)
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                assert await collect(provider, LONG) == EVENTS
                assert numbers_of(provider.overflow) == (5024, 4096)

        assert await collect(provider) == EVENTS

    assert provider.overflow is None
    payloads = [json.loads(request.body) for request in server.requests]
    assert [payload.get("truncate") for payload in payloads] == [
        False,
        None,
        False,
        None,
        False,
    ]
    warnings = [
        record.message for record in caplog.records if record.levelno == logging.WARNING
    ]
    assert warnings == [
        "A prompt of about 5024 tokens does not fit qwen3:4b, which reads 4096"
    ]


async def test_the_servers_own_numbers_come_first(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(COUNTED, ANSWER) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=8192))
        assert await collect(provider) == EVENTS

    assert numbers_of(provider.overflow) == (9000, 4096)


@pytest.mark.parametrize(
    ("running", "numbers"),
    [
        (
            reply(
                b'{"models":[{"name":"a:b","context_length":1},{"name":"qwen3:4b","context_length":2048}]}'
            ),
            2048,
        ),
        (reply(b'{"models":[{"name":"qwen3:4b","context_length":2048000}]}'), 2048000),
        (reply(b'{"models":[{"name":"qwen3:4b"}]}'), None),
        (reply(b'{"models":[]}'), None),
        (reply(b"404 page not found", "text/plain", 404), None),
        (RawReply([head(200, {"Content-Length": "99"})], Ending.WAIT), None),
    ],
    ids=[
        "loaded",
        "hardly too long",
        "loaded by an old server",
        "not loaded",
        "no Ollama",
        "silence",
    ],
)
@pytest.mark.usefixtures("loop_clock")
async def test_where_nothing_is_set_the_server_knows_the_window(
    session: aiohttp.ClientSession, running: RawReply, numbers: int | None
) -> None:
    limits = TimeLimits(connect=5, between_bytes=0.1)
    async with raw_http_server(
        REFUSED_TO_CUT, running, ANSWER, REFUSED_TO_CUT, ANSWER
    ) as server:
        provider = provider_of(server, session, limits=limits)
        for _ in range(2):
            assert await collect(provider, LONG) == EVENTS
            assert numbers_of(provider.overflow) == (
                max(5024, (numbers or 0) + 1),
                numbers,
            )

    assert [request.target for request in server.requests].count("/api/ps") == 1


async def test_an_old_server_that_filled_the_window_has_cut_the_prompt(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(ANSWER) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=5))
        assert await collect(provider, LONG) == EVENTS
        assert numbers_of(provider.overflow) == (5024, 5)

        provider = provider_of(server, session, ModelOptions(num_ctx=6))
        assert await collect(provider, LONG) == EVENTS
        assert provider.overflow is None


async def test_a_prompt_that_must_not_be_cut_is_refused_with_numbers(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(REFUSED_TO_CUT, ANSWER) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=4096))
        with pytest.raises(PromptTooLong) as refusal:
            await collect(provider, replace(LONG, may_be_cut=False))
        assert numbers_of(refusal.value) == (5024, 4096)
        assert provider.overflow is None

        assert await collect(provider, replace(LONG, may_be_cut=False)) == EVENTS


@pytest.mark.parametrize(
    "options",
    [
        ModelOptions(num_ctx=16_384),
        ModelOptions(extra={"options": {"num_ctx": 16_384}}),
        ModelOptions(num_ctx=8_192, extra={"options": {"num_ctx": 16_384}}),
    ],
)
async def test_the_window_that_is_wished_for_needs_no_question(
    session: aiohttp.ClientSession, options: ModelOptions
) -> None:
    async with raw_http_server(ANSWER) as server:
        assert await provider_of(server, session, options).context_window() == 16_384
    assert not server.requests


async def test_the_window_is_that_of_the_loaded_model(
    session: aiohttp.ClientSession,
) -> None:
    loaded = reply(b'{"models":[{"name":"qwen3:4b","context_length":4096}]}')
    async with raw_http_server(loaded) as server:
        assert await provider_of(server, session).context_window() == 4_096


@pytest.mark.parametrize(
    ("described", "window"),
    [
        (
            b'{"parameters":"num_ctx 12288","model_info":{"general.architecture":"q","q.context_length":262144}}',
            12_288,
        ),
        (
            b'{"model_info":{"general.architecture":"q","q.context_length":262144}}',
            None,
        ),
    ],
)
async def test_the_window_of_a_model_that_is_not_loaded_is_that_of_its_author(
    session: aiohttp.ClientSession, described: bytes, window: int | None
) -> None:
    async with raw_http_server(reply(b'{"models":[]}'), reply(described)) as server:
        assert await provider_of(server, session).context_window() == window


@pytest.mark.parametrize("truncate", [False, True, None])
async def test_a_person_has_the_last_word_on_cutting(
    session: aiohttp.ClientSession, truncate: JsonValue
) -> None:
    async with raw_http_server(REFUSED_TO_CUT) as server:
        provider = provider_of(
            server, session, ModelOptions(num_ctx=9, extra={"truncate": truncate})
        )
        with pytest.raises(PromptTooLong):
            await collect(provider)

    assert [
        json.loads(request.body).get("truncate") for request in server.requests
    ] == [truncate]
    assert provider.overflow is not None


async def test_a_prompt_that_is_refused_even_when_it_may_be_cut(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(REFUSED_TO_CUT) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=4096))
        with pytest.raises(PromptTooLong):
            await collect(provider)

    assert len(server.requests) == 2
    assert provider.overflow is not None


async def test_an_answer_that_has_begun_is_not_begun_anew(
    session: aiohttp.ClientSession,
) -> None:
    late = [LINES[0], b'{"error":"the input length exceeds the context length"}\n']
    async with raw_http_server(
        event_stream(late, Ending.KEEP, "application/x-ndjson")
    ) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=4096))
        stream = provider.stream(REQUEST)
        assert await anext(stream) == TextDelta("Hello")
        with pytest.raises(PromptTooLong):
            await anext(stream)

    assert len(server.requests) == 1


async def test_pictures_are_not_counted_as_words(
    session: aiohttp.ClientSession,
) -> None:
    picture = CompletionRequest(
        "", (UserMessage("Hi", (Attachment("image/png", b"0" * 100_000),)),)
    )
    async with raw_http_server(REFUSED_TO_CUT, ANSWER) as server:
        provider = provider_of(server, session, ModelOptions(num_ctx=10))
        assert await collect(provider, picture) == EVENTS

    prompt, _ = numbers_of(provider.overflow)
    assert prompt is not None
    assert prompt < 50


async def test_messages_of_a_persons_own_are_not_counted(
    session: aiohttp.ClientSession,
) -> None:
    options = ModelOptions(num_ctx=10, extra={"messages": "odd"})
    async with raw_http_server(REFUSED_TO_CUT, ANSWER) as server:
        provider = provider_of(server, session, options)
        assert await collect(provider) == EVENTS

    assert numbers_of(provider.overflow) == (11, 10)


DESCRIPTION = (
    b'{"capabilities":["completion","tools"],'
    b'"model_info":{"general.architecture":"qwen3","qwen3.context_length":262144}}'
)


async def test_a_model_is_described(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply(DESCRIPTION)) as server:
        described = await provider_of(server, session).describe_model()

    assert described.context_window == 262144
    assert described.capabilities == frozenset({"completion", "tools"})
    [request] = server.requests
    assert (request.method, request.target, request.body) == (
        "POST",
        "/api/show",
        b'{"model":"qwen3:4b"}',
    )


async def test_models_tell_whether_they_use_tools(
    session: aiohttp.ClientSession,
) -> None:
    message = {
        "acts": DESCRIPTION.decode(),
        "talks": '{"capabilities":["completion"]}',
        "vectors": '{"capabilities":["embedding"]}',
        "broken": "no JSON",
        "old": "{}",
    }

    async def list_models(_request: web.Request) -> web.Response:
        return web.json_response(
            {"models": [{"name": name} for name in (*message, "nomic-embed-text")]}
        )

    async def show(request: web.Request) -> web.Response:
        return web.Response(
            text=message[(await request.json())["model"]],
            content_type="application/json",
        )

    server = web.Application()
    server.add_routes([web.get("/api/tags", list_models), web.post("/api/show", show)])
    async with serving(server, "") as address:
        models = await OllamaChatProvider(session, address, "").chat_models()

    assert models == [
        ChatModel("acts", uses_tools=True),
        ChatModel("broken"),
        ChatModel("old"),
        ChatModel("talks", uses_tools=False),
    ]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(b'{"error":"model \'qwen3:4b\' not found"}', status=404), ModelNotFound),
        (reply(b"404 page not found", "text/plain", 404), ProviderReplyInvalid),
        (reply(b'{"error":"unauthorized"}', status=401), ProviderRejectedKey),
        (reply(b"<html>", "text/html"), ProviderReplyInvalid),
        (
            RawReply([head(200, {"Content-Length": "99"})], Ending.WAIT),
            ProviderUnreachable,
        ),
    ],
    ids=["no such model", "no Ollama", "no key", "page", "silence"],
)
@pytest.mark.usefixtures("loop_clock")
async def test_no_description(
    session: aiohttp.ClientSession, answer: RawReply, kind: type[ProviderError]
) -> None:
    async with raw_http_server(answer) as server:
        with pytest.raises(kind):
            await provider_of(
                server, session, limits=TimeLimits(connect=5, between_bytes=0.1)
            ).describe_model()

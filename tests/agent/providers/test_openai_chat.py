"""Provider of Chat Completions: what is special about its servers, beside the contract of all formats."""

import gzip
import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ServerOutOfMemory,
    UnparsedReply,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.json.text import payload_to_bytes
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.profiles import (
    LLAMA_CPP,
    OPENAI,
    OTHER,
    PROFILES,
    ModelOptions,
    ServerProfile,
)
from custom_components.chatterbox.agent.wire.openai_chat import request_to_payload
from tests.support.doubles import tool
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    head,
    raw_http_server,
    reply,
)

from .chat_completions import (
    ANSWER,
    ANSWER_EVENTS,
    DONE,
    HELLO,
    HI,
    KEY,
    REQUEST,
    STOP,
    USAGE,
    collect,
    provider_of,
)


async def test_an_answer_is_streamed(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(ANSWER) as server:
        assert await collect(provider_of(server, session)) == ANSWER_EVENTS

    [request] = server.requests
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.body == payload_to_bytes(request_to_payload(REQUEST, "small-1"))


@pytest.mark.parametrize(
    ("path", "sent", "key"),
    [
        (
            "/openai/deployments/my-gpt/chat/completions",
            "/openai/deployments/my-gpt/chat/completions",
            KEY,
        ),
        ("/openai/v1", "/openai/v1/chat/completions", None),
    ],
)
async def test_a_deployment_of_azure_gets_the_key_in_its_own_header_too(
    session: aiohttp.ClientSession, path: str, sent: str, key: str | None
) -> None:
    async with raw_http_server(ANSWER) as server:
        address = f"http://127.0.0.1:{server.port}{path}?api-version=2024-06-01"
        assert (
            await collect(OpenAIChatProvider(session, address, "my-gpt", KEY))
            == ANSWER_EVENTS
        )

    [request] = server.requests
    assert request.target == f"{sent}?api-version=2024-06-01"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers.get("api-key") == key


async def test_done_is_the_finish_of_what_was_said_and_of_nothing_else(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(event_stream([HELLO, DONE])) as server:
        assert await collect(provider_of(server, session)) == [
            TextDelta("Hello"),
            CompletionResult(FinishReason.STOP),
        ]

    async with raw_http_server(event_stream([DONE])) as server:
        with pytest.raises(ProviderReplyInvalid, match="before the service said"):
            await collect(provider_of(server, session))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "text/event-stream",
        "text/plain",
        "application/x-ndjson",
        "nonsense",
    ],
)
@pytest.mark.parametrize(
    ("body", "events"),
    [
        (HELLO + STOP + USAGE + DONE, ANSWER_EVENTS),
        (b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', HI),
        (
            b' \r\n\t{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}',
            HI,
        ),
    ],
    ids=["stream", "whole", "whole after blanks"],
)
async def test_whole_answers_and_streams_are_told_apart_by_their_first_bytes(
    session: aiohttp.ClientSession,
    content_type: str,
    body: bytes,
    events: list[ProviderEvent],
) -> None:
    async with raw_http_server(reply(body, content_type)) as server:
        assert await collect(provider_of(server, session)) == events


async def test_blanks_that_arrive_before_a_whole_answer_are_passed_over(
    session: aiohttp.ClientSession,
) -> None:
    pieces = [
        b"\n",
        b" \n",
        b'\n{"choices":[{"message"',
        b':{"content":"Hi"},"finish_reason":"stop"}]}',
    ]

    async with raw_http_server(
        event_stream(pieces, content_type="application/json")
    ) as server:
        assert await collect(provider_of(server, session)) == HI


@pytest.mark.parametrize("status", [200, 500])
async def test_a_compressed_answer_is_not_unpacked(
    session: aiohttp.ClientSession, status: int
) -> None:
    packed = reply(
        gzip.compress(HELLO + STOP),
        "text/event-stream",
        status,
        {"Content-Encoding": "gzip"},
    )

    async with raw_http_server(packed) as server:
        with pytest.raises(
            ProviderReplyInvalid if status == 200 else ProviderFailed
        ) as refused:
            await collect(provider_of(server, session))

    assert str(refused.value) == (
        "the service sent a compressed answer, which was not asked for"
        if status == 200
        else "HTTP 500"
    )
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b'{"message":"boom, topsecretkey"}', ProviderFailed, "error: boom, …$"),
        (
            b'{"error":{"message":"slow down","code":429}}',
            ProviderBusy,
            "error: slow down$",
        ),
        (
            b'{"message":"no such key","code":"invalid_api_key"}',
            ProviderRejectedKey,
            "error: no such key$",
        ),
        (
            b'{"message":"cut off: \\ud83d","type":"overloaded_error"}',
            ProviderBusy,
            "error: cut off:$",
        ),
        (b'"boom"', ProviderFailed, "error: boom$"),
        (b"out of memory", ServerOutOfMemory, "error: out of memory$"),
        (
            b'{"choices":[{"index":0,"delta":{"content":"boom"}}]}',
            ProviderFailed,
            "error",
        ),
        (b'{"message":"' + b"x" * 5000 + b'"}', ProviderFailed, "error: x{199}…$"),
    ],
    ids=[
        "message",
        "error",
        "key",
        "half a character",
        "JSON text",
        "words",
        "usual chunk",
        "long",
    ],
)
@pytest.mark.parametrize("ending", [b"\n\n", b""])
async def test_an_event_named_error_keeps_the_words_of_the_server(
    session: aiohttp.ClientSession,
    data: bytes,
    kind: type[ProviderError],
    words: str,
    ending: bytes,
) -> None:
    async with raw_http_server(
        event_stream([HELLO, b"event: error\ndata: " + data + ending])
    ) as server:
        with pytest.raises(ProviderError, match=words) as caught:
            await collect(provider_of(server, session))

    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RawReply([head(204, {})]), "before the service said"),
        (reply(b"x" * (8 * 1024 * 1024 + 1)), "more than"),
        (reply(b"{" * (8 * 1024 * 1024 + 1)), "more than"),
        (
            RawReply(
                [
                    head(
                        200,
                        {"Content-Type": "application/json", "Content-Length": "99"},
                    ),
                    b"{",
                ]
            ),
            "cut",
        ),
    ],
    ids=["no content", "too long", "too long JSON", "cut"],
)
async def test_an_answer_that_is_no_chat_completion(
    session: aiohttp.ClientSession, answer: RawReply, words: str
) -> None:
    async with raw_http_server(answer) as server:
        with pytest.raises(ProviderReplyInvalid, match=words):
            await collect(provider_of(server, session))


async def test_a_refusal_that_leaving_out_does_not_mend_is_final(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(
        reply(b"neither stream_options nor you", status=400)
    ) as server:
        provider = provider_of(server, session)
        for requested in (2, 4):
            with pytest.raises(ProviderRejectedRequest, match="nor you"):
                await collect(provider)
            assert len(server.requests) == requested


def _telling(
    server: RawHTTPServer, session: aiohttp.ClientSession
) -> OpenAIChatProvider:
    """Return a provider for a server that is known to tell how much of a prompt it has read."""
    return OpenAIChatProvider(
        session, f"http://127.0.0.1:{server.port}", "small-1", profile=LLAMA_CPP
    )


def _progress(report: str) -> bytes:
    """Write a report as llama.cpp does."""
    delta = (
        '{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}'
    )
    return f'data: {{"choices":[{delta}],"prompt_progress":{report}}}\n\n'.encode()


TOLD = _progress('{"total":237,"cache":7,"processed":128,"time_ms":181}')


async def test_progress_with_the_prompt_is_asked_for_and_told(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(
        event_stream([TOLD, HELLO, STOP, USAGE, DONE])
    ) as server:
        assert await collect(_telling(server, session)) == [
            PromptProgress(128, 237),
            *ANSWER_EVENTS,
        ]

    assert json.loads(server.requests[0].body)["return_progress"] is True


@pytest.mark.parametrize(
    "report",
    [
        "null",
        "1",
        "[]",
        "{}",
        '{"total":"all","processed":1}',
        '{"total":9,"processed":-1}',
        '{"total":9,"processed":NaN}',
        '{"total":9,"processed":1e400}',
        '{"total":9,"processed":' + "9" * 5000 + "}",
        '{"total":9,"processed":[' + "[" * 300 + "]" * 300 + "]}",
    ],
    ids=lambda report: report[:30],
)
async def test_progress_that_is_none_is_passed_over(
    session: aiohttp.ClientSession, report: str
) -> None:
    async with raw_http_server(
        event_stream([_progress(report), HELLO, STOP, USAGE, DONE])
    ) as server:
        assert await collect(_telling(server, session)) == ANSWER_EVENTS


async def test_progress_after_the_first_word_is_none(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(
        event_stream([HELLO, TOLD, STOP, TOLD, USAGE, DONE])
    ) as server:
        assert await collect(_telling(server, session)) == ANSWER_EVENTS


async def test_progress_is_not_asked_for_again_where_it_was_refused(
    session: aiohttp.ClientSession,
) -> None:
    refusal = reply(
        b'{"error":{"message":"Extra inputs are not permitted: return_progress"}}',
        status=422,
    )

    async with raw_http_server(refusal, ANSWER) as server:
        provider = _telling(server, session)
        for _ in range(2):
            assert await collect(provider) == ANSWER_EVENTS

    assert [
        "return_progress" in json.loads(request.body) for request in server.requests
    ] == [True, False, False]


async def test_progress_without_an_end_has_a_bound(
    session: aiohttp.ClientSession,
) -> None:
    long = _progress('{"total":9,"processed":1,"note":"' + "x" * 2_000_000 + '"}')

    async with raw_http_server(event_stream([long] * 9)) as server:
        with pytest.raises(ProviderReplyInvalid, match="more than"):
            await collect(_telling(server, session))


async def test_hanging_up_while_a_prompt_is_read_frees_the_connection(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(event_stream([TOLD], Ending.WAIT)) as server:
        events = _telling(server, session).stream(REQUEST)
        assert await anext(events) == PromptProgress(128, 237)
        await events.aclose()

        await server.left.wait()


UNPARSED = (
    "The model produced output that does not match the expected peg-native format"
)
WHOLE = reply(b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
THINKS = b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}\n\n'


def _unparsed(words: str) -> bytes:
    return json.dumps(
        {"error": {"code": 500, "message": words, "type": "server_error"}}
    ).encode()


@pytest.mark.parametrize(
    "words",
    [
        UNPARSED,
        "Failed to parse input at pos 12: <tool_call>temperature",
        "Invalid diff: 'a' not found at start of 'b'",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
async def test_an_answer_that_the_server_cannot_parse_is_asked_for_once_as_a_whole(
    session: aiohttp.ClientSession, words: str, status: int
) -> None:
    async with raw_http_server(
        reply(_unparsed(words), status=status), WHOLE, ANSWER
    ) as server:
        provider = _telling(server, session)
        assert await collect(provider) == HI
        assert await collect(provider) == ANSWER_EVENTS, (
            "the next answer may well be parsed"
        )

    bodies = [json.loads(request.body) for request in server.requests]
    assert [one["stream"] for one in bodies] == [True, False, True]
    assert bodies[1] == {key: bodies[0][key] for key in ("model", "messages")} | {
        "stream": False
    }


async def test_words_of_the_model_in_a_refusal_name_no_parameter(
    session: aiohttp.ClientSession,
) -> None:
    words = 'Failed to parse input at pos 3: <tool_call>{"temperature": 21}'
    async with raw_http_server(reply(_unparsed(words), status=500), WHOLE) as server:
        wishes, address = (
            ModelOptions(temperature=0.5),
            f"http://127.0.0.1:{server.port}",
        )
        await collect(
            OpenAIChatProvider(
                session, address, "small-1", options=wishes, profile=LLAMA_CPP
            )
        )

    assert [json.loads(request.body)["temperature"] for request in server.requests] == [
        0.5,
        0.5,
    ]


@pytest.mark.parametrize(
    "before", [[], [TOLD]], ids=["at once", "after the prompt was read"]
)
async def test_a_stream_that_fails_before_its_first_word_is_asked_for_as_a_whole(
    session: aiohttp.ClientSession, before: list[bytes]
) -> None:
    failed = event_stream([*before, b"data: " + _unparsed(UNPARSED) + b"\n\n"])

    async with raw_http_server(failed, WHOLE) as server:
        events = await collect(_telling(server, session))

    assert [event for event in events if not isinstance(event, PromptProgress)] == HI
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "words",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "Missing `reasoning_content` field in the assistant message at message index 2.",
    ],
)
async def test_a_model_that_needs_its_reasoning_back_gets_it_on_any_server(
    session: aiohttp.ClientSession, words: str
) -> None:
    called = AssistantMessage("", "They want light.", (ToolCall("a", "light", "{}"),))
    request = replace(
        REQUEST, transcript=(UserMessage("Hi"), called, ToolResult("a", "light", "On."))
    )
    refused = reply(json.dumps({"error": {"message": words}}).encode(), status=400)
    async with raw_http_server(refused, ANSWER, ANSWER, refused) as server:
        provider = provider_of(server, session)
        assert await collect(provider, request) == ANSWER_EVENTS
        assert await collect(provider, request) == ANSWER_EVENTS
        with pytest.raises(ProviderRejectedRequest):
            await collect(provider, request)

    sent = [
        json.loads(one.body)["messages"][-2].get("reasoning_content")
        for one in server.requests
    ]
    assert sent == [None, "They want light.", "They want light.", "They want light."]


def _unfit(written: str) -> bytes:
    words = (
        "tool call validation failed: parameters for tool light did not match schema"
    )
    error = {
        "message": words,
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": written,
    }
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize("streams", [False, True])
async def test_calls_that_a_service_quotes_as_unfit_are_calls(
    session: aiohttp.ClientSession, *, streams: bool
) -> None:
    body = _unfit('<function=light>{"domain": "light"}</function>')
    refused = (
        event_stream([b"event: error\ndata: " + body + b"\n\n"])
        if streams
        else reply(body, status=400)
    )
    async with raw_http_server(refused) as server:
        events = await collect(
            _telling(server, session), replace(REQUEST, tools=(tool("light"),))
        )

    called, end = events
    assert isinstance(called, ToolCallReady)
    assert called.call.key == ("light", '{"domain":"light"}')
    assert isinstance(end, CompletionResult)
    assert end.finish_reason is FinishReason.TOOL_CALLS


@pytest.mark.parametrize(
    "written", ["", "I am sorry.", '<function(light){"domain": "light"}']
)
async def test_what_a_service_quotes_without_a_call_is_asked_for_again(
    session: aiohttp.ClientSession, written: str
) -> None:
    async with raw_http_server(reply(_unfit(written), status=400), WHOLE) as server:
        assert (
            await collect(
                _telling(server, session), replace(REQUEST, tools=(tool("light"),))
            )
            == HI
        )


@pytest.mark.parametrize("second", [500, 400])
async def test_a_whole_answer_that_cannot_be_parsed_is_final(
    session: aiohttp.ClientSession, second: int
) -> None:
    async with raw_http_server(
        reply(_unparsed(UNPARSED), status=500),
        reply(_unparsed(UNPARSED), status=second),
    ) as one:
        with pytest.raises(UnparsedReply) as failed:
            await collect(_telling(one, session))

    assert len(one.requests) == 2
    assert not failed.value.retryable


@pytest.mark.parametrize("heard", [HELLO, THINKS], ids=["words", "thoughts"])
async def test_an_answer_of_which_something_was_passed_on_is_not_asked_for_again(
    session: aiohttp.ClientSession, heard: bytes
) -> None:
    async with raw_http_server(
        event_stream([heard, b"data: " + _unparsed(UNPARSED) + b"\n\n"]), WHOLE
    ) as server:
        with pytest.raises(UnparsedReply):
            await collect(_telling(server, session))

    assert len(server.requests) == 1


async def test_an_answer_that_has_begun_is_not_begun_anew_with_its_reasoning(
    session: aiohttp.ClientSession,
) -> None:
    refused = b'{"error":{"message":"Missing `reasoning_content` field."}}'
    async with raw_http_server(
        event_stream([HELLO, b"data: " + refused + b"\n\n"]), ANSWER
    ) as server:
        with pytest.raises(ProviderError, match="reasoning_content"):
            await collect(_telling(server, session))

    assert len(server.requests) == 1


WISHES = ModelOptions(max_tokens=9, reasoning_effort=ReasoningEffort.NONE)


@pytest.mark.parametrize(
    ("profile", "wishes"),
    [
        (OTHER, {"max_tokens": 9, "reasoning_effort": "none"}),
        (OPENAI, {"max_completion_tokens": 9, "reasoning_effort": "none"}),
        (PROFILES["openrouter"], {"max_tokens": 9, "reasoning": {"effort": "none"}}),
        (PROFILES["deepseek"], {"max_tokens": 9, "thinking": {"type": "disabled"}}),
    ],
    ids=lambda value: value.id if isinstance(value, ServerProfile) else "",
)
async def test_each_server_is_told_in_its_own_words(
    session: aiohttp.ClientSession, profile: ServerProfile, wishes: JsonObject
) -> None:
    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        await collect(
            OpenAIChatProvider(session, base_url, "m", options=WISHES, profile=profile)
        )

    plain = request_to_payload(REQUEST, "m")
    assert json.loads(server.requests[0].body) == {**plain, **wishes}


async def test_a_profile_decides_how_the_conversation_is_written(
    session: aiohttp.ClientSession,
) -> None:
    called = AssistantMessage("", "hm", (ToolCall("functions.on:0", "on", "{}"),))
    request = CompletionRequest(
        "", (UserMessage("Hi"), called, ToolResult("functions.on:0", "on", "done"))
    )

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (PROFILES["deepseek"], PROFILES["mistral"]):
            await collect(
                OpenAIChatProvider(session, base_url, "m", profile=profile), request
            )

    deepseek, mistral = (json.loads(sent.body)["messages"] for sent in server.requests)
    assert (
        deepseek
        == json.loads(
            payload_to_bytes(
                request_to_payload(request, "m", PROFILES["deepseek"].chat)
            )
        )["messages"]
    )
    assert deepseek[1]["reasoning_content"] == "hm"
    assert len(mistral[2]["tool_call_id"]) == 9


async def test_a_profile_decides_what_can_be_shown(
    session: aiohttp.ClientSession,
) -> None:
    request = CompletionRequest(
        "", (UserMessage("", (Attachment("application/pdf", b"%PDF", "bill.pdf"),)),)
    )

    async with raw_http_server(ANSWER) as server:
        base_url = f"http://127.0.0.1:{server.port}"
        for profile in (OPENAI, PROFILES["deepseek"]):
            await collect(
                OpenAIChatProvider(session, base_url, "m", profile=profile), request
            )

    seen, limits = (
        json.loads(sent.body)["messages"][0]["content"] for sent in server.requests
    )
    assert seen[0]["file"]["filename"] == "bill.pdf"
    assert "bill.pdf was attached here" in limits

"""Whatever a service or its connection does wrong, one error of ours says so, without keys."""

import errno
import json
from datetime import UTC, datetime
from pathlib import Path
from ssl import SSLCertVerificationError

import aiohttp
import pytest
from aiohttp import client_exceptions
from aiohttp.client_reqrep import ConnectionKey
from freezegun.api import FrozenDateTimeFactory
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import (
    ConnectTimeout,
    ContentRefused,
    CreditSpent,
    FirstTokenTimeout,
    ModelLoading,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
    ServerOutOfMemory,
    ToolsRefused,
)
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.providers.failures import (
    CONNECTION_ERRORS,
    error_of_exception,
    error_of_report,
    error_of_response,
    find_overflow,
)

RECORDED = Path(__file__).parents[2] / "fixtures" / "llama.cpp-0.7.0"
EXCEPTIONS = [
    value
    for value in vars(client_exceptions).values()
    if isinstance(value, type)
    and issubclass(value, aiohttp.ClientError)
    and value is not aiohttp.ClientError
]


@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_every_exception_of_aiohttp_has_its_place(
    exception: type[aiohttp.ClientError],
) -> None:
    known = {kind.__name__ for kind in exception.__mro__} & {*CONNECTION_ERRORS}

    assert known - {"TimeoutError", "OSError"}  # or add it to error_meanings.toml


KEY = ConnectionKey(
    "model.example",
    443,
    is_ssl=True,
    ssl=True,
    proxy=None,
    proxy_auth=None,
    proxy_headers_hash=None,
)


@pytest.mark.parametrize(
    ("exception", "kind", "words"),
    [
        (
            aiohttp.ClientConnectorError(
                KEY, ConnectionRefusedError(111, "Connection refused")
            ),
            ProviderUnreachable,
            "no connection to the service: Connection refused",
        ),
        (
            aiohttp.ClientConnectorDNSError(
                KEY, OSError(-2, "Name or service not known")
            ),
            ProviderUnreachable,
            "the name of the service is not known: Name or service not known",
        ),
        (
            aiohttp.ClientConnectorCertificateError(
                KEY, SSLCertVerificationError("self-signed certificate")
            ),
            ProviderUnreachable,
            r"no secure connection \(TLS\) to the service: .*self-signed",
        ),
        (aiohttp.ConnectionTimeoutError(), ConnectTimeout, "in time"),
        (aiohttp.SocketTimeoutError(), FirstTokenTimeout, "in time"),
        (TimeoutError(), FirstTokenTimeout, "in time"),
        (OSError(5, "Input/output error"), ProviderUnreachable, "no connection"),
        (aiohttp.ServerDisconnectedError(), ProviderUnreachable, "no connection"),
        (aiohttp.ClientPayloadError(), ProviderReplyInvalid, "the answer was cut"),
        (aiohttp.InvalidURL("http://user:password@"), ProviderUnreachable, "address"),
        (aiohttp.ClientError(), ProviderUnreachable, "no connection"),
    ],
)
def test_exceptions(
    exception: aiohttp.ClientError | OSError, kind: type[ProviderError], words: str
) -> None:
    error = error_of_exception(exception)

    assert type(error) is kind
    with pytest.raises(kind, match=words):
        raise error
    assert "password" not in str(error)


@pytest.mark.parametrize(
    ("number", "is_refused"), [(errno.ECONNREFUSED, True), (errno.EHOSTUNREACH, False)]
)
def test_a_refused_connection_is_told_from_a_machine_that_is_off(
    number: int, *, is_refused: bool
) -> None:
    error = error_of_exception(
        aiohttp.ClientConnectorError(KEY, OSError(number, "No connection"))
    )

    assert isinstance(error, ProviderUnreachable)
    assert error.is_refused is is_refused


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (301, "", ProviderReplyInvalid),
        (
            400,
            '{"error": {"message": "bad", "type": "invalid_request_error"}}',
            ProviderRejectedRequest,
        ),
        (401, '{"error": "no"}', ProviderRejectedKey),
        (
            401,
            '{"error": {"message": "Invalid API key. You need one to access model x."}}',
            ProviderRejectedKey,
        ),
        (
            403,
            '{"error": {"message": "Please sign in to access this model"}}',
            ProviderRejectedKey,
        ),
        (
            429,
            '{"error": {"message": "API key limit exceeded. Retry in 20 seconds"}}',
            ProviderBusy,
        ),
        (
            404,
            '{"message": "Model x not found", "detail": {"loc": "model"}}',
            ModelNotFound,
        ),
        (
            402,
            '{"error": {"message": "This request requires more credits"}}',
            CreditSpent,
        ),
        (
            400,
            '{"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}',
            CreditSpent,
        ),
        (
            400,
            '{"type": "error", "error": {"message": "Your credit balance is too low"}}',
            CreditSpent,
        ),
        (400, '{"code": "Arrearage", "message": "Access denied"}', CreditSpent),
        (
            429,
            '{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}',
            CreditSpent,
        ),
        (
            429,
            '{"error": {"message": "Allocated quota exceeded", "code": "insufficient_quota"}}',
            ProviderBusy,
        ),
        (
            429,
            '{"error": {"message": "You exceeded your quota", "status": "RESOURCE_EXHAUSTED"}}',
            ProviderBusy,
        ),
        (403, "Forbidden", ProviderRejectedKey),
        (
            403,
            '{"error": {"code": "unsupported_country_region_territory"}}',
            ProviderRejectedRequest,
        ),
        (404, "404 page not found", ProviderReplyInvalid),
        (404, '{"detail": "Not Found"}', ProviderReplyInvalid),
        (
            404,
            '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}',
            ProviderReplyInvalid,
        ),
        (404, "<html><title>Our models are lost</title></html>", ProviderReplyInvalid),
        (
            404,
            '{"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}',
            ModelNotFound,
        ),
        (
            404,
            '{"error": {"message": "model \\"x\\" not found, try pulling it first"}}',
            ModelNotFound,
        ),
        (
            404,
            '{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError"}',
            ModelNotFound,
        ),
        (
            403,
            '{"error": {"message": "Project `x` does not have access to model `y`"}}',
            ModelNotFound,
        ),
        (
            403,
            '{"error": {"message": "Model not found", "code": 403, "type": "Forbidden"}}',
            ModelNotFound,
        ),
        (
            401,
            '{"error": {"message": "no", "type": "key_model_access_denied", "code": "401"}}',
            ModelNotFound,
        ),
        (
            403,
            '{"error": {"message": "Key limit exceeded. Choose another model or key."}}',
            CreditSpent,
        ),
        (
            403,
            '{"error": {"message": "Choose another model or key."}}',
            ProviderRejectedKey,
        ),
        (
            404,
            '{"error": {"message": "No endpoints found for x.", "code": 404}}',
            ModelNotFound,
        ),
        (
            400,
            '{"error": {"message": "x is not a valid model ID", "code": 400}}',
            ModelNotFound,
        ),
        (400, '{"error": {"message": "Model Not Exist"}}', ModelNotFound),
        (
            400,
            '{"object": "error", "message": "Invalid model: x", "type": "invalid_model"}',
            ModelNotFound,
        ),
        (
            400,
            '{"error": {"message": "this model does not support tools"}}',
            ToolsRefused,
        ),
        (
            500,
            '{"error": {"message": "tools param requires --jinja flag"}}',
            ToolsRefused,
        ),
        (
            500,
            '{"error": "model requires more system memory (9.1 GiB) than is available (5.6 GiB)"}',
            ServerOutOfMemory,
        ),
        (500, '{"error": {"message": "CUDA error: out of memory"}}', ServerOutOfMemory),
        (
            400,
            '[{"error": {"message": "API key not valid. Please pass one.", "code": 400}}]',
            ProviderRejectedKey,
        ),
        (400, '{"error": "Incorrect API key provided"}', ProviderRejectedKey),
        (405, "", ProviderReplyInvalid),
        (408, "", ProviderUnreachable),
        (413, "", ProviderRejectedRequest),
        (418, "", ProviderRejectedRequest),
        (
            422,
            '{"detail": [{"loc": ["body"], "msg": "Field required", "input": "secret"}]}',
            ProviderRejectedRequest,
        ),
        (429, "", ProviderBusy),
        (500, '{"error": {"message": "boom"}}', ProviderFailed),
        (502, "<html>Bad Gateway</html>", ProviderFailed),
        (
            503,
            '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
            ModelLoading,
        ),
        (529, '{"error": {"type": "overloaded_error"}}', ProviderBusy),
        (
            500,
            '{"error":"unexpected server status: llm server loading model"}',
            ModelLoading,
        ),
        (
            503,
            '{"error":"Model Qwen/Qwen3-8B is currently loading","estimated_time":20.0}',
            ModelLoading,
        ),
        (503, '{"message":"The model is not ready yet"}', ModelLoading),
        (503, '{"message":"the server is still starting"}', ModelLoading),
        (500, '{"error":"error loading model /models/a.gguf"}', ProviderFailed),
        (500, '{"error":"Failed while loading model: bad file"}', ProviderFailed),
        (500, '{"error":"loading model: not enough memory"}', ServerOutOfMemory),
        (
            503,
            '{"error":"server busy, please try again. maximum pending requests exceeded"}',
            ProviderBusy,
        ),
        (500, '{"error":{"message":"The engine is overloaded"}}', ProviderBusy),
        (500, '{"error":"no slots are free, task queue is full"}', ProviderBusy),
        (503, "<html><h1>503 Service Unavailable</h1></html>", ProviderBusy),
        (599, "", ProviderFailed),
    ],
)
def test_responses(status: int, body: str, kind: type[ProviderError]) -> None:
    error = error_of_response(status, body.encode())

    assert type(error) is kind
    assert str(error).startswith(f"HTTP {status}")
    assert "<" not in str(error)
    assert "secret" not in str(error)


INVALID: JsonValue = {
    "type": "extra_forbidden",
    "loc": ["body", "store"],
    "msg": "Not permitted",
    "input": "secret",
}
TOO_LONG = "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"


@pytest.mark.parametrize(
    ("status", "words", "refuses"),
    [
        (404, "No endpoints found that support image input", True),
        (
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            True,
        ),
        (
            400,
            "Invalid content type. image_url is only supported by certain models.",
            True,
        ),
        (
            500,
            "Image input detected, but the loaded model is not configured with a mmproj module.",
            True,
        ),
        (400, "m is not a multimodal model", True),
        (400, "this model is missing data required for image input", True),
        (400, "The image is too large", False),
    ],
)
def test_that_a_model_sees_no_images_is_no_failure_of_the_service(
    status: int, words: str, *, refuses: bool
) -> None:
    error = error_of_response(
        status, json.dumps({"error": {"message": words}}).encode()
    )

    assert type(error) is ProviderRejectedRequest
    assert error.refuses_images is refuses


@pytest.mark.parametrize(
    ("status", "report"),
    [
        (
            403,
            {
                "code": 403,
                "message": 'x requires moderation on OpenAI. Your input was flagged for "violence".',
            },
        ),
        (403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"),
        (
            400,
            {
                "code": "content_filter",
                "message": "The response was filtered",
                "status": 400,
            },
        ),
        (400, {"code": 400, "type": "content_filter", "message": "Moderation Block"}),
        (
            400,
            {
                "code": "data_inspection_failed",
                "message": "Input data may contain inappropriate content.",
            },
        ),
        (400, {"code": 400, "message": "Content Exists Risk"}),
        (
            400,
            {
                "code": "invalid_prompt",
                "message": "flagged as potentially violating our usage policy.",
            },
        ),
        (
            400,
            {
                "type": "invalid_request_error",
                "message": "Output blocked by content filtering policy",
            },
        ),
    ],
)
def test_words_that_a_service_declines_are_no_wrong_key(
    status: int, report: JsonValue
) -> None:
    """Gitlawb/openclaude#273, XiaomiMiMo/MiMo-V2-Flash#18."""
    errors = [error_of_response(status, json.dumps({"error": report}).encode())]
    errors += [error_of_report(report)] if isinstance(report, dict) else []

    for error in errors:
        assert type(error) is ContentRefused


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            400,
            f'{{"error": {{"message": "{TOO_LONG}", "code": "context_length_exceeded"}}}}',
            PromptTooLong,
        ),
        (
            400,
            f'{{"object": "error", "message": "{TOO_LONG}", "type": "BadRequestError"}}',
            PromptTooLong,
        ),
        (400, f'{{"detail": "{TOO_LONG}"}}', PromptTooLong),
        (413, f'{{"error": "{TOO_LONG}"}}', PromptTooLong),
        (422, TOO_LONG, PromptTooLong),
        (
            429,
            f'{{"error": {{"message": "{TOO_LONG}", "code": "rate_limit_exceeded"}}}}',
            PromptTooLong,
        ),
        (500, f'{{"error": {{"message": "{TOO_LONG}"}}}}', PromptTooLong),
        (401, TOO_LONG, ProviderRejectedKey),
        (404, TOO_LONG, ModelNotFound),
        (502, TOO_LONG, ProviderFailed),
    ],
)
def test_a_prompt_that_does_not_fit(
    status: int, body: str, kind: type[ProviderError]
) -> None:
    error = error_of_response(status, body.encode())

    assert type(error) is kind
    if isinstance(error, PromptTooLong):
        assert (error.prompt_tokens, error.window_tokens) == (9000, 4096)


@pytest.mark.parametrize(
    ("fields", "prompt", "window"),
    [
        ('"n_prompt_tokens": 5000, "n_ctx": 4096', 5000, 4096),
        ('"n_prompt_tokens": "many", "n_ctx": true', None, None),
    ],
)
def test_numbers_that_stand_beside_the_words(
    fields: str, prompt: int | None, window: int | None
) -> None:
    sentence = "the request exceeds the available context size, try increasing it"
    error = error_of_response(
        400, f'{{"error": {{"message": "{sentence}", {fields}}}}}'.encode()
    )

    assert isinstance(error, PromptTooLong)
    assert (error.prompt_tokens, error.window_tokens) == (prompt, window)


def test_a_recorded_prompt_that_does_not_fit() -> None:
    body = (RECORDED / "error-context-overflow.json").read_bytes().removeprefix(b"400 ")

    error = error_of_response(400, body)

    assert isinstance(error, PromptTooLong)
    assert (error.prompt_tokens, error.window_tokens) == (45019, 16384)


NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("30", 30.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("9999999", 86_400.0),
        ("Sat, 21 Nov 2026 12:00:20 GMT", 20.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
@pytest.mark.parametrize("status", [429, 503, 529])
async def test_how_long_to_wait(
    freezer: FrozenDateTimeFactory,
    status: int,
    header: str | None,
    seconds: float | None,
) -> None:
    freezer.move_to(NOW)
    error = error_of_response(status, b"", retry_after=header)

    assert isinstance(error, ProviderBusy)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("delay", "header", "seconds"),
    [
        ("12s", None, 12.0),
        ("8.25s", None, 8.25),
        ("12s", "3", 3.0),
        ("soon", None, None),
        (12, None, None),
    ],
)
def test_google_tells_in_the_body_how_long_to_wait(
    delay: JsonValue, header: str | None, seconds: float | None
) -> None:
    """googleapis/python-genai#1875."""
    details: JsonValue = [
        "odd",
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"retryDelay": delay},
    ]
    report: JsonObject = {
        "code": 429,
        "message": "Quota exceeded",
        "status": "RESOURCE_EXHAUSTED",
        "details": details,
    }

    error = error_of_response(
        429, json.dumps([{"error": report}]).encode(), retry_after=header
    )

    assert type(error) is ProviderBusy
    assert error.retry_after == seconds
    if header is None:
        assert error_of_report(report).retry_after == seconds


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1795280420000", 18_020.0),
        ("1795262399000", 0.0),
        ("1795280420", None),
        (7, None),
    ],
)
async def test_openrouter_tells_until_when_free_models_are_used_up(
    freezer: FrozenDateTimeFactory, reset: JsonValue, seconds: float | None
) -> None:
    """Gitlawb/openclaude#936."""
    metadata: JsonValue = {
        "headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    }
    report: JsonValue = {
        "message": "Rate limit exceeded: free-models-per-day",
        "code": 429,
        "metadata": metadata,
    }

    freezer.move_to(NOW)
    error = error_of_response(429, json.dumps({"error": report}).encode())

    assert type(error) is ProviderBusy
    assert error.retry_after == seconds


def test_a_date_is_counted_from_the_clock() -> None:
    error = error_of_response(429, b"", retry_after="Fri, 21 Nov 2025 12:00:00 GMT")

    assert isinstance(error, ProviderBusy)
    assert error.retry_after == 0.0


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ({"message": "slow down", "code": 429}, ProviderBusy),
        ({"message": "slow down", "code": "429"}, ProviderBusy),
        (
            {"message": "slow down", "type": "rate_limit_error", "code": None},
            ProviderBusy,
        ),
        ({"message": "pay", "code": "insufficient_quota"}, CreditSpent),
        (
            {"message": "Requests throttling triggered.", "code": "Throttling"},
            ProviderBusy,
        ),
        ({"message": "later", "type": "overloaded_error"}, ProviderBusy),
        ({"message": "no", "type": "authentication_error"}, ProviderRejectedKey),
        ({"message": "The model is gone", "code": "model_not_found"}, ModelNotFound),
        ({"message": "too long", "type": "exceed_context_size_error"}, PromptTooLong),
        ({"message": "boom", "type": "server_error", "code": 500}, ProviderFailed),
        ({"message": "boom", "code": 1}, ProviderFailed),
        ({"type": "server_error"}, ProviderFailed),
        ("boom", ProviderFailed),
        (["boom"], ProviderFailed),
        (5, ProviderFailed),
    ],
)
def test_failures_reported_inside_a_reply(
    report: JsonValue, kind: type[ProviderError]
) -> None:
    error = error_of_report(report)

    assert type(error) is kind
    assert str(error).startswith("the service reported an error")


def test_errors_quote_the_service_in_one_short_line() -> None:
    error = error_of_response(
        400,
        b'{"error": {"message": "first\\n  second ' + b"and more " * 10_000 + b'"}}',
    )

    assert str(error).startswith("HTTP 400: first second and more")
    assert str(error).endswith("…")
    assert len(str(error)) <= 220


@pytest.mark.parametrize(
    ("code", "raw", "kind", "words"),
    [
        (
            400,
            json.dumps({"error": {"message": TOO_LONG}}),
            PromptTooLong,
            f"Provider returned error: {TOO_LONG}",
        ),
        (
            429,
            "x is rate-limited upstream",
            ProviderBusy,
            "Provider returned error: x is rate-limited upstream",
        ),
        (
            400,
            "Tool use is not supported",
            ToolsRefused,
            "Provider returned error: Tool use is not supported",
        ),
        (502, "<html>Bad Gateway</html>", ProviderFailed, "Provider returned error"),
        (
            400,
            '{"input": "secret words"}',
            ProviderRejectedRequest,
            "Provider returned error",
        ),
        (500, "", ProviderFailed, "Provider returned error"),
    ],
)
def test_a_gateway_quotes_the_service_behind_it(
    code: int, raw: str, kind: type[ProviderError], words: str
) -> None:
    metadata: JsonValue = {"raw": raw, "provider_name": "X"}
    report: JsonValue = {
        "message": "Provider returned error",
        "code": code,
        "metadata": metadata,
    }

    for error in (
        error_of_response(code, json.dumps({"error": report}).encode()),
        error_of_report(report),
    ):
        assert type(error) is kind
        assert str(error).partition(": ")[2] == words


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (
            422,
            {"object": "error", "message": {"detail": [INVALID]}},
            ProviderRejectedRequest,
            "Not permitted",
        ),
        (
            422,
            {"message": {"detail": [{"loc": ["body"]}]}},
            ProviderRejectedRequest,
            "",
        ),
        (
            401,
            {"success": False, "errors": [{"code": 10000, "message": "No"}]},
            ProviderRejectedKey,
            "No",
        ),
        (
            400,
            {"errors": [{"code": 5007, "message": "No such model @cf/x"}]},
            ModelNotFound,
            "No such model @cf/x",
        ),
        (
            400,
            {"errors": [{"code": 3030, "message": TOO_LONG}], "result": None},
            PromptTooLong,
            TOO_LONG,
        ),
        (
            400,
            {"errors": [{"code": 7003, "message": "odd"}], "message": "No"},
            ProviderRejectedRequest,
            "No",
        ),
        (400, {"errors": []}, ProviderRejectedRequest, ""),
        (
            503,
            {"detail": {"msg": "Server is busy", "type": "service_unavailable"}},
            ProviderBusy,
            "Server is busy",
        ),
    ],
)
def test_words_that_are_elsewhere(
    status: int, body: JsonValue, kind: type[ProviderError], words: str
) -> None:
    error = error_of_response(status, json.dumps(body).encode())

    assert type(error) is kind
    assert error.words == words


@pytest.mark.parametrize(
    "sentence",
    [
        "Incorrect API key provided: topsecretkey.",
        "Key 'topsecretkey' is unknown",
        "Incorrect API key provided: topse****tkey",
        "Incorrect API key: sk-proj-topsecret-key_1 is wrong",
    ],
)
def test_a_key_that_the_service_repeats_is_hidden(sentence: str) -> None:
    for error in (
        error_of_response(401, sentence.encode(), secret="topsecretkey"),
        error_of_report({"message": sentence, "code": 401}, "topsecretkey"),
    ):
        assert type(error) is ProviderRejectedKey
        assert "tops" not in str(error)
        assert "key" in str(error).casefold()


@given(
    status=st.integers(min_value=300, max_value=599),
    body=st.binary(max_size=200) | st.text().map(str.encode),
)
def test_any_error_body_becomes_one_of_our_errors(status: int, body: bytes) -> None:
    error = error_of_response(status, body)

    assert isinstance(error, ProviderError)
    assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    "piece", [b"[", b'{"error":', b"model ", b"invalid api", b"*", b" *", b"sk-"]
)
def test_a_body_made_to_take_long_is_read_in_time(piece: bytes) -> None:
    assert isinstance(
        error_of_response(400, piece * 50_000, secret="secret"), ProviderError
    )


CONTEXT = "This model's maximum context length is"


@pytest.mark.parametrize(
    ("words", "prompt", "window"),
    [
        (
            f"{CONTEXT} 4097 tokens. However, your messages resulted in 13393 tokens.",
            13393,
            4097,
        ),
        (
            f"{CONTEXT} 4097 tokens, however you requested 4116 tokens (1044 in your prompt; 3072 for",
            1044,
            4097,
        ),
        (
            "context_length_exceeded Your input exceeds the context window of this model.",
            None,
            None,
        ),
        (
            f"{CONTEXT} 65536 tokens. However, you requested 80000 tokens (75904 in the messages, 4",
            75904,
            65536,
        ),
        (
            f"{CONTEXT} 4096 tokens. However, your request has 5000 input tokens.",
            5000,
            4096,
        ),
        (
            f"{CONTEXT} 4096 tokens, but the prompt contains 5000 input tokens",
            5000,
            4096,
        ),
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure",
            5000,
            4096,
        ),
        (
            (
                "You passed 5000 input tokens and requested 1000 output tokens. However, the model's context length is"
                " only 4096 tokens, resulting in a maximum input length of 3096 tokens."
            ),
            5000,
            4096,
        ),
        (
            f"'max_tokens' is too large. {CONTEXT} 4096 tokens and your request has 1222 input tokens",
            1222,
            4096,
        ),
        (
            "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
            5000,
            4096,
        ),
        (
            (
                "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total"
                " of 6000 tokens: 5000 tokens from the input messages and 1000 tokens for the completion."
            ),
            5000,
            4096,
        ),
        (
            "request (45019 tokens) exceeds the available context size (16384 tokens), try increasing",
            45019,
            16384,
        ),
        (
            "the request exceeds the available context size, try increasing it",
            None,
            None,
        ),
        (
            (
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with"
                " context length of only 7866 tokens, which is not enough."
            ),
            10136,
            7866,
        ),
        (
            (
                "The number of tokens to keep from the initial prompt is greater than the context length"
                " (n_keep: 13055>= n_ctx: 4096)."
            ),
            13055,
            4096,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000),
        (
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease",
            178959,
            200000,
        ),
        (
            "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            65673,
            32768,
        ),
        (
            (
                "Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand`"
                " on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size."
            ),
            14137,
            12000,
        ),
        (
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30,000, Requested 342,389.",
            342389,
            30000,
        ),
        ("Please reduce the length of the messages or completion.", None, None),
        (
            "Please reduce the length of the messages. Current length is 10000 while limit is 8192",
            10000,
            8192,
        ),
        (
            "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
            1200293,
            1048576,
        ),
        (
            (
                f"{CONTEXT} 32768 tokens. However, you requested about 42832 tokens (39000 of text input, 2832 of tool"
                " input, 1000 in the output). Please reduce the length of either one."
            ),
            41832,
            32768,
        ),
        (
            f"{CONTEXT} 8192 tokens. However, you requested about 9000 tokens.",
            9000,
            8192,
        ),
        ("prompt too long; exceeded max context length by 4096 tokens", None, None),
        ("the input length exceeds the context length", None, None),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            537812,
            131072,
        ),
        (
            "Your request exceeded model token limit: 262144 (requested: 300000)",
            300000,
            262144,
        ),
        ("Range of input length should be [1, 229376]", None, 229376),
        ("prompt token count of 200000 exceeds the limit of 128000", 200000, 128000),
        (
            "Request body too large for gpt-4o model. Max size: 8000 tokens. tokens_limit_reached",
            None,
            8000,
        ),
        (
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
            5000,
            4096,
        ),
        ("model_context_window_exceeded", None, None),
        ("Input is too long for requested model.", None, None),
    ],
)
def test_messages_about_an_overlong_prompt(
    words: str, prompt: int | None, window: int | None
) -> None:
    assert find_overflow(words) == (prompt, window)
    assert find_overflow(words.upper()) is not None


@pytest.mark.parametrize(
    "words",
    [
        "",
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        "Too many tokens, please wait before trying again.",
        "You exceeded your current quota, please check your plan and billing details.",
        "The model does not exist. Its context length is unknown.",
        "Request exceeds the maximum size",
        "num_ctx must be a number",
        "string too long. Expected a string with maximum length 64",
        "This model does not support context windows",
    ],
)
def test_something_else(words: str) -> None:
    assert find_overflow(words) is None


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_numbers_are_read_with_and_without_commas(prompt: int, window: int) -> None:
    expected = (prompt, window)
    assert (
        find_overflow(f"prompt is too long: {prompt} tokens > {window} maximum")
        == expected
    )
    assert (
        find_overflow(f"prompt is too long: {prompt:,} tokens > {window:,} maximum")
        == expected
    )


@given(st.text(max_size=300))
def test_no_words_are_too_odd(words: str) -> None:
    assert find_overflow(f"prompt is too long: {words}") is not None

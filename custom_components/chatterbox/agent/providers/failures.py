"""What goes wrong between us and a model service → our error tree.

Knows HTTP statuses, the error bodies of Chat Completions servers and the exceptions of
`aiohttp`; must not know what is asked of a service, or who asks. Messages say what the
service said, in one short line, without keys.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import aiohttp

from ..errors import (
    ConnectTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from ..messages import JsonObject, JsonValue
from .context_overflow import find_overflow

OVERLOADED: Final = 529
"""Status of services that are out of capacity; not registered, but widely sent."""

MAX_RETRY_AFTER: Final = 86_400.0
"""Seconds. Nobody waits longer than a day."""

_MESSAGE_LENGTH: Final = 200
_WORDS_READ: Final = 1_000
"""Characters of a body that are searched; more would only cost time."""
_HIDDEN: Final = "…"
_MASKED_KEY: Final = re.compile(r"\bsk-[\w-]+|\S*\*{2,}\S*")
"""A key as services repeat it: whole, or with asterisks in it."""

STATUS_ERRORS: Final[Mapping[int, type[ProviderError]]] = {
    HTTPStatus.UNAUTHORIZED: ProviderRejectedKey,
    HTTPStatus.FORBIDDEN: ProviderRejectedKey,
    HTTPStatus.NOT_FOUND: ProviderReplyInvalid,  # a wrong path; a missing model says so in its body
    HTTPStatus.METHOD_NOT_ALLOWED: ProviderReplyInvalid,
    HTTPStatus.REQUEST_TIMEOUT: ProviderUnreachable,
    HTTPStatus.TOO_MANY_REQUESTS: ProviderBusy,
    HTTPStatus.SERVICE_UNAVAILABLE: ProviderBusy,
    OVERLOADED: ProviderBusy,
}
"""Statuses with a meaning of their own. Other 4xx refuse the request, other 5xx mean that nobody is there to answer."""

_SAYINGS: Final[tuple[tuple[re.Pattern[str], frozenset[int], type[ProviderError]], ...]] = (
    (
        re.compile(r"\bmodels?\b|model_not_found|no endpoints found", re.IGNORECASE),
        frozenset({HTTPStatus.NOT_FOUND}),
        ModelNotFound,
    ),
    (
        re.compile(
            r"model_not_found|invalid_model|invalid model"
            r"|\bmodel\b.*\b(not found|not exist|unknown|not a valid|is not valid|is invalid)|not a valid model",
            re.IGNORECASE,
        ),
        frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}),
        ModelNotFound,
    ),
    (
        re.compile(r"invalid_api_key|\b(invalid|incorrect)\b.*\bapi.?key\b|\bapi.?key\b.*\bnot valid", re.IGNORECASE),
        frozenset({HTTPStatus.BAD_REQUEST}),
        ProviderRejectedKey,
    ),
)
"""What a body says that its status does not: OpenRouter, DeepSeek and Mistral refuse a model with 400, Google a key."""

_OVERFLOW_STATUSES: Final = frozenset({400, 413, 422, 429, 500, 503})
"""How a prompt that does not fit is refused. 429: nor within the share of a minute; 500 and 503: local servers."""

_REPORTED_STATUSES: Final[tuple[tuple[re.Pattern[str], int], ...]] = (
    (re.compile("rate_?limit|quota|too_many", re.IGNORECASE), HTTPStatus.TOO_MANY_REQUESTS),
    (re.compile("overload|unavailable|capacity", re.IGNORECASE), HTTPStatus.SERVICE_UNAVAILABLE),
    (re.compile("auth|api_?key|permission", re.IGNORECASE), HTTPStatus.UNAUTHORIZED),
    (re.compile("not_?found", re.IGNORECASE), HTTPStatus.NOT_FOUND),
    (re.compile("invalid|bad_?request|exceed|context", re.IGNORECASE), HTTPStatus.BAD_REQUEST),
)
"""Type or code of an error that is reported without a number → the status it stands for."""

CONNECTION_ERRORS: Final[Mapping[type[BaseException], tuple[type[ProviderError], str]]] = {
    aiohttp.ConnectionTimeoutError: (ConnectTimeout, "no connection to the service in time"),
    aiohttp.ServerTimeoutError: (ProviderUnreachable, "the service did not answer in time"),
    aiohttp.ClientSSLError: (ProviderUnreachable, "no secure connection (TLS) to the service"),
    aiohttp.ServerFingerprintMismatch: (ProviderUnreachable, "the certificate of the service is not the expected one"),
    aiohttp.ClientConnectorDNSError: (ProviderUnreachable, "the name of the service is not known"),
    aiohttp.ClientConnectionError: (ProviderUnreachable, "no connection to the service"),
    aiohttp.ClientHttpProxyError: (ProviderUnreachable, "the proxy refused the connection"),
    aiohttp.ClientResponseError: (ProviderReplyInvalid, "the service did not answer in HTTP"),
    aiohttp.client_exceptions.UploadAbortedError: (ProviderUnreachable, "no connection to the service"),
    aiohttp.ClientPayloadError: (ProviderReplyInvalid, "the answer was cut"),
    aiohttp.InvalidURL: (ProviderUnreachable, "the address of the service is not valid"),
    aiohttp.NonHttpUrlClientError: (ProviderUnreachable, "the address of the service is not an http address"),
    aiohttp.RedirectClientError: (ProviderReplyInvalid, "the service sent us to another address"),
    TimeoutError: (ProviderUnreachable, "the service did not answer in time"),
    OSError: (ProviderUnreachable, "no connection to the service"),
}
"""What `aiohttp` may raise, by class; the nearest class above an exception counts."""


def error_of_exception(exception: aiohttp.ClientError | OSError) -> ProviderError:
    """Return our error for one of `aiohttp`'s; raise it from the original, which says more."""
    known = (CONNECTION_ERRORS[kind] for kind in type(exception).__mro__ if kind in CONNECTION_ERRORS)
    error, message = next(known, (ProviderUnreachable, "no connection to the service"))
    match exception:
        case aiohttp.ClientConnectorCertificateError():
            detail = _line(str(exception.certificate_error))
        case aiohttp.ClientConnectorError():
            detail = _line(exception.os_error.strerror or "")
        case _:
            detail = ""
    return error(f"{message}: {detail}" if detail else message)


def error_of_response(
    status: int,
    body: bytes,
    *,
    retry_after: str | None = None,
    secret: str = "",
    now: datetime | None = None,
) -> ProviderError:
    """Return the error for a response that is no success.

    `retry_after` is the header of that name, `secret` what no message may hold, `now` the
    time that an HTTP date is counted from (default: the clock's).
    """
    if status < HTTPStatus.BAD_REQUEST:
        return ProviderReplyInvalid(f"HTTP {status}: the service is not at this address")
    report = _read_body(body.decode(errors="replace"))
    error = _error(status, report, _message(f"HTTP {status}", report, secret))
    if isinstance(error, ProviderBusy):
        error.retry_after = _parse_retry_after(retry_after, now or datetime.now(UTC))
    return error


def error_of_report(reported: JsonValue, secret: str = "") -> ProviderError:
    """Return the error for a failure that the service reports inside a successful response.

    `reported` is the object or text that stands under `error`; `secret` as above.
    """
    report = _read_report(reported)
    numbers = (int(label) for label in report.labels.split() if re.fullmatch("[45][0-9]{2}", label))
    meant = (status for pattern, status in _REPORTED_STATUSES if pattern.search(report.labels))
    status = next(numbers, next(meant, HTTPStatus.INTERNAL_SERVER_ERROR))
    return _error(status, report, _message("the service reported an error", report, secret))


@dataclass(frozen=True, slots=True)
class _Report:
    """What a service says about a failure: words for people, labels for programs."""

    message: str = ""
    labels: str = ""
    prompt_tokens: int | None = None
    window_tokens: int | None = None


def _read_body(body: str) -> _Report:
    """Read an error body: JSON of any usual shape, or one line of plain text; a page is not read."""
    try:
        return _read_report(json.loads(body))
    except ValueError, RecursionError:
        return _Report("" if body.lstrip().startswith("<") else body)


def _read_report(value: JsonValue) -> _Report:
    """Read `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, FastAPI's `detail`, Google's list of one."""
    match value:
        case str():
            return _Report(value)
        case [first, *_]:
            return _read_report(first)
        case {"error": (dict() | str()) as inner}:
            return _read_report(inner)
        case dict():
            labels = (value.get(key) for key in ("type", "code", "status"))
            said = " ".join(str(label) for label in labels if isinstance(label, str | int))
            return _Report(_words(value), said, *(_count(value.get(key)) for key in ("n_prompt_tokens", "n_ctx")))
        case _:
            return _Report()


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _words(report: JsonObject) -> str:
    match report:
        case {"message": str(words)} | {"detail": str(words)} | {"detail": [{"msg": str(words)}, *_]}:
            return words
        case _:
            return ""


def _error(status: int, report: _Report, message: str) -> ProviderError:
    words = f"{report.labels} {report.message}"[:_WORDS_READ]
    if status in _OVERFLOW_STATUSES and (overflow := find_overflow(words)) is not None:
        return PromptTooLong(
            message,
            overflow.prompt_tokens or report.prompt_tokens,
            overflow.window_tokens or report.window_tokens,
        )
    return _kind(status, words)(message)


def _kind(status: int, words: str) -> type[ProviderError]:
    for pattern, statuses, error in _SAYINGS:
        if status in statuses and pattern.search(words):
            return error
    if status in STATUS_ERRORS:
        return STATUS_ERRORS[status]
    return ProviderRejectedRequest if status < HTTPStatus.INTERNAL_SERVER_ERROR else ProviderUnreachable


def _message(what: str, report: _Report, secret: str) -> str:
    said = report.message.replace(secret, _HIDDEN) if secret else report.message
    said = _line(_MASKED_KEY.sub(_HIDDEN, said[:_WORDS_READ]))
    return f"{what}: {said}" if said else what


def _line(text: str) -> str:
    """Return the beginning of a text, on one line and without control characters."""
    words = " ".join(text[:_WORDS_READ].split())
    line = "".join(character for character in words if character.isprintable())
    return line if len(line) <= _MESSAGE_LENGTH else f"{line[: _MESSAGE_LENGTH - 1]}…"


def _parse_retry_after(header: str | None, now: datetime) -> float | None:
    """Read a number of seconds or an HTTP date (RFC 9110, 10.2.3); None when it is neither."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header).replace(tzinfo=UTC) - now).total_seconds()
        except ValueError:
            return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER) if math.isfinite(seconds) else None

"""Translates failures of model services to `ProviderError`: HTTP statuses, error bodies, exceptions, refused prompts.

Messages quote what the service said in one short line, without keys. `failures.toml`
has the wordings. Their sources: the documentation and the source code of the services
named beside them.
"""

import errno
import json
import math
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated, Final, TypedDict

import aiohttp
from pydantic import BeforeValidator

from .. import errors
from ..errors import (
    ModelLoading,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
    UnparsedReply,
)
from ..json.text import objects_in
from ..messages import MAX_CALL_LENGTH, JsonObject, JsonValue
from ..text import clipped, read_data_file

MAX_RETRY_AFTER: Final = 86_400.0
"""Seconds."""

_MESSAGE_LENGTH: Final = 200
_WORDS_READ: Final = 1_000
"""Characters of a body that are searched."""
_HIDDEN: Final = "…"
_MILLISECONDS: Final = re.compile("[0-9]{13}")
_MASKED_KEY: Final = re.compile(r"(?<!\S)\S*\*{2,}\S*|\bsk-[\w-]+")
"""A key as services repeat it: whole or with asterisks."""

type _ErrorClass = Annotated[
    type[ProviderError], BeforeValidator(lambda name: vars(errors)[name])
]


class _Meanings(TypedDict):
    """The errors that failures mean, as `error_meanings.toml` lists them."""

    statuses: dict[int, _ErrorClass]
    exceptions: dict[str, tuple[_ErrorClass, str]]


_MEANINGS: Final = read_data_file(__file__, _Meanings, "error_meanings.toml")
CONNECTION_ERRORS: Final = _MEANINGS["exceptions"]
"""Errors of `aiohttp` by the names of their classes; the nearest base class counts."""


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile(
        "|".join(patterns).replace(
            "<number>",
            r"(\d[\d,]{0,12})",
        ),
        re.IGNORECASE,
    )


@dataclass(frozen=True, slots=True)
class FailureWording:
    """The words of services for one kind of failure."""

    patterns: Annotated[re.Pattern[str], BeforeValidator(_any_of)]
    what: str = ""
    """The feature that the model does not accept, for the log."""
    statuses: frozenset[int] = frozenset()
    """Of responses of which it says more than their status."""
    error: _ErrorClass = ProviderError
    """The error of such a response."""

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first place in a text that has these words."""
        return self.patterns.search(text)


WORDINGS: Final = read_data_file(__file__, dict[str, FailureWording])
"""By meaning; also of refusals after which a request is made in another way."""

_TOOL_SETTINGS: Final = {
    "enable-auto-tool-choice": "vllm",
    "tool-call-parser": "vllm",
    "jinja": "llama_cpp",
}
"""Words of a refusal of tools, and the server that has this setting."""

_OVERFLOW_STATUSES: Final = frozenset({400, 413, 422, 429, 500, 503})
"""Of prompts that are too long. 429: beyond the tokens per minute; 500 and 503: local servers."""

_PARTS_OF_PROMPT: Final = re.compile(r"(\d{1,9}) of \w+ input")
"""OpenRouter reports parts: text and tools."""


def server_refusing_tools(refusal: str) -> str:
    """Return the server whose setting allows the tools that were refused in these words: vllm, llama_cpp or other."""
    return next(
        (server for setting, server in _TOOL_SETTINGS.items() if setting in refusal),
        "other",
    )


def error_of_exception(exception: aiohttp.ClientError | OSError) -> ProviderError:
    """Return our error for one of `aiohttp`; raise it from the original."""
    known = (
        CONNECTION_ERRORS[kind.__name__]
        for kind in type(exception).__mro__
        if kind.__name__ in CONNECTION_ERRORS
    )
    error, message = next(known, (ProviderUnreachable, "no connection to the service"))
    match exception:
        case aiohttp.ClientConnectorCertificateError():
            detail = _line(str(exception.certificate_error))
        case aiohttp.ClientConnectorError():
            detail = _line(exception.os_error.strerror or "")
        case _:
            detail = ""
    failure = error(f"{message}: {detail}" if detail else message)
    failure.is_cut = isinstance(exception, aiohttp.ClientPayloadError)
    if isinstance(failure, ProviderUnreachable):
        failure.is_refused = (
            isinstance(exception, OSError) and exception.errno == errno.ECONNREFUSED
        )
    return failure


def error_of_response(
    status: int,
    body: bytes,
    *,
    retry_after: str | None = None,
    secret: str = "",
) -> ProviderError:
    """Return the error of an unsuccessful response.

    `retry_after` is the header of that name, `secret` is removed from messages.
    """
    if status < HTTPStatus.BAD_REQUEST:
        return ProviderReplyInvalid(
            f"HTTP {status}: the service is not at this address"
        )
    report = _read_text(body.decode(errors="replace"))
    report = replace(report, retry_after=retry_after or report.retry_after)
    return _error(
        status,
        report,
        f"HTTP {status}",
        secret,
    )


def error_of_report(
    reported: JsonValue,
    secret: str = "",
) -> ProviderError:
    """Return the error of a failure that the service reports in a successful response.

    `reported` is the object or text of `error`; `secret` is removed from messages.
    """
    report = _read_report(reported)
    numbers = (
        int(label)
        for label in report.labels.split()
        if re.fullmatch("[45][0-9]{2}", label)
    )
    meant = (
        int(name[-3:])
        for name, words in WORDINGS.items()
        if name[:4] == "like" and words.search(report.labels)
    )
    status = next(
        numbers,
        next(meant, HTTPStatus.INTERNAL_SERVER_ERROR),
    )
    return _error(
        status,
        report,
        "the service reported an error",
        secret,
    )


@dataclass(frozen=True, slots=True)
class _Report:
    """A service's report of a failure."""

    message: str = ""
    labels: str = ""
    prompt_tokens: int | None = None
    window_tokens: int | None = None
    written: str = ""
    retry_after: str = ""
    """As in the header of that name."""


def _read_text(text: str) -> _Report:
    """Parse JSON; other text is the message, and a web page is ignored."""
    try:
        return _read_report(json.loads(text))
    except ValueError, RecursionError:
        return _Report("" if text.lstrip().startswith("<") else text)


def _read_report(value: JsonValue) -> _Report:
    """Parse `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}`, `detail`, Cloudflare's `errors`, a list."""
    match value:
        case str():
            return _Report(value)
        case [first, *_]:
            return _read_report(first)
        case {"error": (dict() | str()) as inner}:
            return _read_report(inner)
        case {"detail": dict() as inner} | {"errors": [inner, *_]} if isinstance(
            value, dict
        ) and not _words(value):
            return _read_report(inner)  # the first is KoboldCpp's
        case dict():
            labels = (value.get(key) for key in ("type", "code", "status"))
            labelled = " ".join(
                str(label) for label in labels if isinstance(label, str | int)
            )
            numbers = (value.get(key) for key in ("n_prompt_tokens", "n_ctx"))
            prompt, window = (
                number if type(number) is int else None for number in numbers
            )
            written = value.get("failed_generation")  # Groq
            written = written if isinstance(written, str) else ""
            return _Report(
                _words(value), labelled, prompt, window, written, _retry_delay(value)
            )
        case _:
            return _Report()


def _words(report: JsonObject) -> str:
    match report:
        case {"message": str(words), "metadata": {"raw": str(raw)}} if (
            quoted := _read_text(raw).message
        ):
            return f"{words}: {quoted}"  # OpenRouter, of a service behind it
        case {"message": dict() as inner}:  # Mistral
            return _words(inner)
        case (
            {"message": str(words)}
            | {"msg": str(words)}
            | {"detail": str(words)}
            | {"detail": [{"msg": str(words)}, *_]}
        ):
            return words
        case _:
            return ""


def _retry_delay(report: JsonObject) -> str:
    """Return when to ask again: Google's `RetryInfo`, sent as "12s", or OpenRouter's time in milliseconds."""
    match report:
        case {"metadata": {"headers": {"X-RateLimit-Reset": str(reset)}}} if (
            _MILLISECONDS.fullmatch(reset)
        ):
            return format_datetime(
                datetime.fromtimestamp(
                    int(reset) / 1000,
                    UTC,
                ),
                usegmt=True,
            )
    delays = (detail.get("retryDelay") for detail in objects_in(report.get("details")))
    return next(
        (delay.removesuffix("s") for delay in delays if isinstance(delay, str)), ""
    )


def _error(
    status: int,
    report: _Report,
    what: str,
    secret: str,
) -> ProviderError:
    text = report.message.replace(secret, _HIDDEN) if secret else report.message
    message = _line(_MASKED_KEY.sub(_HIDDEN, text[:_WORDS_READ]))
    error = _error_saying(
        f"{what}: {message}" if message else what,
        status,
        report,
    )
    error.words = message
    if type(error) in {ProviderBusy, ModelLoading}:
        error.retry_after = _parse_retry_after(report.retry_after)
    if isinstance(error, ProviderRejectedRequest):
        error.refuses_images = (
            WORDINGS["images_refused"].search(report.message) is not None
        )
    if isinstance(error, UnparsedReply):
        error.written = report.written[:MAX_CALL_LENGTH]
    return error


def _error_saying(
    message: str,
    status: int,
    report: _Report,
) -> ProviderError:
    words = f"{report.labels} {report.message}"[:_WORDS_READ]
    if status in _OVERFLOW_STATUSES and (overflow := find_overflow(words)) is not None:
        prompt, window = overflow
        return PromptTooLong(
            message, prompt or report.prompt_tokens, window or report.window_tokens
        )
    meant = (
        one.error
        for one in WORDINGS.values()
        if status in one.statuses and one.search(words)
    )
    other = (
        ProviderRejectedRequest
        if status < HTTPStatus.INTERNAL_SERVER_ERROR
        else ProviderFailed
    )
    return next(meant, _MEANINGS["statuses"].get(status, other))(message)


def _line(text: str) -> str:
    """Return the start of a text as one line without control characters."""
    words = " ".join(text[:_WORDS_READ].split())
    return clipped(
        "".join(filter(str.isprintable, words)),
        _MESSAGE_LENGTH,
    )


def _parse_retry_after(header: str) -> float | None:
    """Parse a number of seconds or an HTTP date (RFC 9110, 10.2.3); None if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header).replace(tzinfo=UTC)
        except ValueError:
            return None
        seconds = (at - datetime.now(UTC)).total_seconds()
    if math.isfinite(seconds):
        return min(max(seconds, 0.0), MAX_RETRY_AFTER)
    return None


def find_overflow(words: str) -> tuple[int | None, int | None] | None:
    """Return the tokens of prompt and context window in a message about an overlong prompt; None for other messages.

    Numbers that the message does not hold are None.
    """
    if not WORDINGS["overflows"].search(words):
        return None
    parts = _PARTS_OF_PROMPT.findall(words)
    if parts:
        return sum(map(int, parts)), _number("windows", words)
    prompts = (_number(meaning, words) for meaning in ("prompts", "sums"))
    return next((prompt for prompt in prompts if prompt is not None), None), _number(
        "windows", words
    )


def _number(
    meaning: str,
    words: str,
) -> int | None:
    """Return the number of the first match."""
    match = WORDINGS[meaning].search(words)
    if match:
        return int(match[match.lastindex or 0].replace(",", ""))
    return None

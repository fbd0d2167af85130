"""How a reply gets lost between a model and us: one function for each way.

Knows HTTP and the replies that `raw_http.py` sends. Must not know what is said in them.
"""

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random
from typing import Final

from tests.agent.providers.contract.dialect import KEY, Dialect
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, reply

type Fault = Callable[[Random, Dialect, bytes], RawReply]
"""Takes where to draw from, the wire format, and the whole stream that a service meant to send."""

_LARGE: Final = 65_536
_LEAVES: Final = (Ending.CLOSE, Ending.RESET, Ending.WAIT)
_BREAKS: Final = (Ending.CLOSE, Ending.RESET)
_STATUSES: Final = (
    400,
    401,
    402,
    403,
    404,
    405,
    408,
    409,
    413,
    422,
    429,
    429,
    500,
    502,
    503,
    504,
    529,
    599,
)
_RETRY_AFTER: Final = (
    "0",
    "1",
    "0.05",
    "120",
    "-3",
    "1e400",
    "Wed, 21 Oct 2065 07:28:00 GMT",
    "soon",
    "",
)
_TYPES: Final = (
    "text/plain",
    "application/json",
    "application/octet-stream",
    "application/x-ndjson",
    "nonsense",
    "",
)
_JSON: Final = (
    "null",
    "[]",
    "{}",
    "0",
    '"ok"',
    '{"choices": 5, "message": [], "output": "no", "content": 1}',
    '{"choices": [{"delta": ["a"]}], "message": "hi"}',
    '{"choices": [{"message": {"content": {"text": 1}}, "finish_reason": 7}]}',
    '{"type": "response.completed", "response": null}',
    '{"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta", "text": "lost"}}',
    '{"error": null}',
    '{"error": {"message": "overloaded", "code": 529}}',
    '{"error": "model not found"}',
    "[" * 5_000,
    '{"a":' * 2_000 + "1" + "}" * 2_000,
)
_PAGE: Final = (
    b"<!doctype html><html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>"
)


def whole(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    """Send all of it, cut as networks cut."""
    cuts = sorted(
        random.randrange(1, len(stream)) for _ in range(random.choice((0, 1, 3)))
    )
    return event_stream(_pieces(stream, cuts), content_type=dialect.content_type)


def _slow(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    size = max(len(stream) // random.randrange(3, 12), 1)
    pieces = _pieces(stream, list(range(size, len(stream), size)))
    sent = event_stream(
        pieces, random.choice((Ending.KEEP, Ending.CLOSE)), dialect.content_type
    )
    return RawReply(sent.pieces, sent.ending, pause=random.choice((0.002, 0.02, 0.08)))


def _cut(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    ending = random.choice((Ending.KEEP, *_LEAVES))
    return event_stream(
        [stream[: random.randrange(len(stream))]], ending, dialect.content_type
    )


def _stalled_before_head(random: Random, _dialect: Dialect, _stream: bytes) -> RawReply:
    start = head(200, {"Content-Type": "text/event-stream"})
    return RawReply([start[: random.choice((0, 0, 9, 30))]], Ending.WAIT)


def _stalled_before_body(_random: Random, dialect: Dialect, _stream: bytes) -> RawReply:
    return event_stream([], Ending.WAIT, dialect.content_type)


def _gone(random: Random, _dialect: Dialect, _stream: bytes) -> RawReply:
    start = head(200, {"Content-Type": "text/event-stream"})
    return RawReply([start[: random.choice((0, 0, 9, 30))]], random.choice(_BREAKS))


def _garbled(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    garbled = bytearray(stream)
    for _ in range(random.choice((1, 3, 50))):
        garbled[random.randrange(len(garbled))] = random.randrange(256)
    return event_stream(
        [bytes(garbled)], random.choice((Ending.KEEP, *_BREAKS)), dialect.content_type
    )


def _no_http(random: Random, _dialect: Dialect, _stream: bytes) -> RawReply:
    return RawReply(
        [random.randbytes(random.choice((1, 20, 2_000)))], random.choice(_LEAVES)
    )


def _broken_framing(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    kinds: tuple[dict[str, str], ...] = (
        {"Transfer-Encoding": "chunked"},  # it is not
        {"Content-Length": str(len(stream) + 1_000)},
        {"Content-Length": str(len(stream) // 2)},
        {"Content-Length": "many"},
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "br"},
        {"X-Long": "x" * 70_000},
    )
    lines = {"Content-Type": dialect.content_type, **random.choice(kinds)}
    return RawReply([head(200, lines), stream], random.choice(_LEAVES))


def _wrong_type(random: Random, _dialect: Dialect, stream: bytes) -> RawReply:
    return event_stream([stream], content_type=random.choice(_TYPES))


def _page(random: Random, dialect: Dialect, _stream: bytes) -> RawReply:
    return reply(
        _PAGE,
        random.choice(("text/html", dialect.content_type)),
        random.choice((200, 200, 502, 404)),
    )


def _wrong_json(random: Random, dialect: Dialect, _stream: bytes) -> RawReply:
    text = random.choice(_JSON)
    if random.random() < 0.5:
        return reply(text.encode())
    return event_stream(
        [f"data: {text}\n\n".encode(), f"{text}\n".encode()],
        content_type=dialect.content_type,
    )


def _status(random: Random, dialect: Dialect, _stream: bytes) -> RawReply:
    status = random.choice(_STATUSES)
    headers = (
        {"Retry-After": random.choice(_RETRY_AFTER)} if random.random() < 0.5 else {}
    )
    words = random.choice(
        (
            "no",
            "model `small-1` not found",
            "context length exceeded",
            f"invalid key {KEY}",
        )
    )
    body = random.choice(
        (
            dialect.render_error(status, words),
            dialect.refusal.body,
            _PAGE,
            b"",
            b"\xff\xfe{",
        )
    )
    sent = reply(
        body,
        random.choice(("application/json", "text/plain", "text/html")),
        status,
        headers,
    )
    return RawReply(sent.pieces, random.choice((Ending.KEEP, Ending.CLOSE)))


def _stalled_error(_random: Random, _dialect: Dialect, _stream: bytes) -> RawReply:
    return RawReply([head(500, {"Content-Length": "500"}), b'{"error":'], Ending.WAIT)


def _reported_amid(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    events = stream.split(b"\n\n") if b"\n\n" in stream else stream.split(b"\n")
    gap = b"\n\n" if b"\n\n" in stream else b"\n"
    sent = gap.join(events[: random.randrange(len(events))])
    start = sent + gap if sent else b""
    return event_stream(
        [start + dialect.render_failure("overloaded")],
        content_type=dialect.content_type,
    )


def _elsewhere(random: Random, _dialect: Dialect, _stream: bytes) -> RawReply:
    status = random.choice((204, 301, 302, 307, 100))
    return RawReply([head(status, {"Location": "/elsewhere"})], random.choice(_BREAKS))


def _endless(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    filling = random.choice(
        (b": no news" + b"." * 500 + b"\n\n", b"x" * _LARGE, b" " * _LARGE, b"\n" * 100)
    )
    status = random.choice((200, 200, 500))
    start = random.choice((b"", stream[: random.randrange(len(stream))]))
    return RawReply(
        [head(status, {"Content-Type": dialect.content_type}), start, filling],
        Ending.REPEAT,
    )


def _with_postscript(random: Random, dialect: Dialect, stream: bytes) -> RawReply:
    more = random.choice(
        (stream, b"\n\n\n", json.dumps({"error": "too late"}).encode(), b"x" * _LARGE)
    )
    return event_stream(
        [stream, more], random.choice((Ending.KEEP, *_LEAVES)), dialect.content_type
    )


FAULTS: Final[Mapping[Fault, int]] = {
    whole: 12,  # what is wrong then is what the model says
    _slow: 4,
    _cut: 10,
    _stalled_before_head: 2,
    _stalled_before_body: 2,
    _gone: 5,
    _garbled: 5,
    _no_http: 2,
    _broken_framing: 4,
    _wrong_type: 3,
    _page: 3,
    _wrong_json: 5,
    _status: 10,
    _stalled_error: 1,
    _reported_amid: 4,
    _elsewhere: 2,
    _endless: 1,
    _with_postscript: 3,
}
"""How often each is drawn. A stall costs its whole wait, and what never ends costs work: they are rare."""


def _pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *cuts, len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]

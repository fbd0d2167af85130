"""Answers of model servers that mean harm or are broken, as data: what each sends, and what is still heard."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import JsonValue, ToolCall, UserMessage
from custom_components.chatterbox.agent.protocols import OutputFormat
from tests.agent.providers.contract.dialect import KEY, Answer, Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.support.servers.raw_http import Ending, RawReply, event_stream, head, reply

STOLEN: Final = "Thank you for the key"
"""Said at the address to which a harmful server redirects."""
TOOL: Final = "light_on"

_CHAT: Final = next(dialect for dialect in DIALECTS if dialect.name == "openai_chat")
_HELLO: Final = "The light is on. "
_SAID: Final = _HELLO.strip()
_FAILED: Final = "The model could not be reached. ("
_SECRET: Final = f"wrong key {KEY}"
_TURN: Final = Turn("Light on!")


@dataclass(frozen=True, slots=True)
class HarmfulAnswer:
    """The behaviour of a server with one request."""

    does: str
    """In words; names the case."""
    send: Callable[[Dialect], RawReply]
    hears: str
    """Part of what a person hears in the end."""
    dialects: Sequence[Dialect] = (_CHAT,)
    seconds: float = 20.0
    """Until the deadline of the turn: short where the answer never ends by itself."""
    characters: int = 200_000
    """The longest answer that is heard."""
    turn: Turn = _TURN
    """The request to the model."""
    is_held: bool = False
    """Whether a hook holds all words until the last one has arrived."""

    @property
    def in_the_home(self) -> bool:
        """Return whether it is sent to a whole Home Assistant, too."""
        return self.does in _IN_THE_HOME


def _head(**lines: str) -> bytes:
    return head(
        200,
        {"Content-Type": "text/event-stream"}
        | {name.replace("_", "-"): v for name, v in lines.items()},
    )


def _raw(
    *pieces: bytes, ending: Ending = Ending.CLOSE, pause: float = 0
) -> Callable[[Dialect], RawReply]:
    return lambda _: RawReply(pieces, ending, pause=pause)


def _begun(dialect: Dialect) -> bytes:
    """Return the first words of an answer that goes on."""
    stream = dialect.render(Answer((_HELLO,)))
    end = b"\n" if dialect.content_type.endswith("ndjson") else b"\n\n"
    return b"".join(
        part + end
        for part in stream.split(end)
        if part and stream.index(part) <= stream.index(b"light")
    )


def _then(
    *more: bytes, ending: Ending = Ending.CLOSE, pause: float = 0
) -> Callable[[Dialect], RawReply]:
    """Say the first words, and then send what follows."""
    return lambda dialect: RawReply(
        (head(200, {"Content-Type": dialect.content_type}), _begun(dialect), *more),
        ending,
        pause=pause,
    )


def _whole(answer: Answer) -> Callable[[Dialect], RawReply]:
    """Say all of an answer, in an event for each of its pieces."""
    return lambda dialect: event_stream(
        [dialect.render(answer)], content_type=dialect.content_type
    )


def _text(*pieces: str) -> Callable[[Dialect], RawReply]:
    return _whole(Answer((_HELLO, *pieces)))


def _chunk(delta: JsonValue, finish: str | None = None) -> bytes:
    choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": finish}
    return (
        b"data: %s\n\n"
        % json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode()
    )


def _called(
    *functions: tuple[str, str], each: int = 1
) -> Callable[[Dialect], RawReply]:
    """Call tools by name and arguments, `each` in one event."""
    sent: list[JsonValue] = [
        {
            "index": place,
            "id": f"call{place}",
            "function": {"name": name, "arguments": arguments},
        }
        for place, (name, arguments) in enumerate(functions)
    ]
    events = [
        _chunk({"tool_calls": sent[at : at + each]}) for at in range(0, len(sent), each)
    ]
    return _events(
        _chunk({"content": _HELLO}),
        *events,
        _chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    )


def _events(
    *events: bytes, ending: Ending = Ending.KEEP
) -> Callable[[Dialect], RawReply]:
    return lambda _: event_stream(events, ending)


def _packed(
    body: Callable[[], bytes], coding: str, *, status: int = 200
) -> Callable[[Dialect], RawReply]:
    return lambda dialect: reply(
        body(), dialect.content_type, status, {"Content-Encoding": coding}
    )


def _error(
    body: bytes, *, status: int = 500, **lines: str
) -> Callable[[Dialect], RawReply]:
    return lambda _: reply(body, "application/json", status, lines)


def _moved(status: int, location: str) -> Callable[[Dialect], RawReply]:
    return lambda _: reply(b"", status=status, headers={"Location": location})


def _json(text: str) -> Callable[[Dialect], RawReply]:
    """Send an event with these characters in place of JSON, after the first words."""
    return _then(
        b"data: %s\n\n" % text.encode("utf-8", "surrogatepass"), b"data: [DONE]\n\n"
    )


def _flood_of(unit: bytes) -> bytes:
    return unit * (65_536 // len(unit))


@cache
def _bomb(*, raw: bool = False) -> bytes:
    """Return 100 MB of comments in less than a thousandth of their size."""
    packer = zlib.compressobj(1, wbits=-15 if raw else 31)
    comments = b": nothing\n" * 100_000
    return b"".join([*(packer.compress(comments) for _ in range(100)), packer.flush()])


_IN_THE_HOME: Final = (
    *(
        "answers whole with 2 MB of words",
        "sends a bomb in gzip",
        "calls 10,000 tools in many events",
    ),
    *("resets amid its words", "redirects with 307 to /elsewhere"),
)
_MB: Final = 1_000_000
_LONG_TURN: Final = Turn(
    "Light on!",
    history=tuple(
        UserMessage(
            f"{place}. " + "The \u201cquick\u201d brown fox &amp; its friends. " * 500
        )
        for place in range(50)
    ),
)
_DATA: Final = Turn("Light on!", output=OutputFormat("numbers", {"type": "object"}))
_JOINED: Final[JsonValue] = {"content": "word " * 800}
_HOSTILE_TEXTS: Final = {
    "200 KB of quotation marks": "\u2039\u203a",
    "1 MB of quotation marks": "\u2039",
    "1 MB without a space": "a",
    "1 MB of spaces": " ",
    "1 MB of newlines": "\n",
    "1 MB of opening brackets": "[",
    "1 MB of opening braces": '{"a":',
    "1 MB of backslashes": "\\",
    "1 MB of half links": "](a",
    "1 MB of comments that do not end": "<!--",
    "1 MB of combining marks": "\u0316\u0301",
    "1 MB of claims": "I have turned on the light, ",
    "1 MB of pipes": "|-",
    "1 MB of fences": "```json\n",
    "openings of calls": "<tool_call>",
    "openings of functions": f"<function={TOOL}>",
    "beginnings of calls": '{"name": "',
    "openings of thoughts": "<think>",
    "tokens of templates": "<|a|>",
    "half markers": "<|",
}
"""The repeated text, by its kind."""


def _hostile_texts() -> Iterator[HarmfulAnswer]:
    case = partial(HarmfulAnswer, hears=_SAID, characters=80_000)
    for place, (what, unit) in enumerate(_HOSTILE_TEXTS.items()):
        sent = partial(_repeated, unit, 66_000 if what.startswith("200") else 1_000_000)
        yield case(
            f"says {what} in one event",
            sent,
            dialects=(DIALECTS[place % len(DIALECTS)],),
        )
        if place % 8 == 0:
            yield case(f"says {what} in many events", partial(sent, pieces=500))


def _repeated(
    unit: str, size: int, dialect: Dialect, pieces: int = 1, *, before: str = _HELLO
) -> RawReply:
    times = max(300 // len(unit), 1)
    text = "".join(
        f"{unit * times}{number}" for number in range(size // times // len(unit))
    )  # no mere repetition
    step = len(text) // pieces
    return _whole(
        Answer((before, *(text[at : at + step] for at in range(0, len(text), step))))
    )(dialect)


def _silences() -> Iterator[HarmfulAnswer]:
    case = partial(HarmfulAnswer, seconds=0.4)
    yield case("says nothing", _raw(b"", ending=Ending.WAIT), _FAILED)
    yield case("stops amid its head", _raw(_head()[:30], ending=Ending.WAIT), _FAILED)
    yield case("stops after its head", _raw(_head(), ending=Ending.WAIT), _FAILED)
    yield case(
        "stops amid its words",
        _then(b"data: {", ending=Ending.WAIT),
        _SAID,
        DIALECTS[1:3],
    )
    yield case("trickles", _raw(_head(), *(b":", b" ") * 500, pause=0.005), _FAILED)
    yield case("closes at once", _raw(b""), _FAILED)
    yield case("resets at once", _raw(b"", ending=Ending.RESET), _FAILED)
    yield case(
        "resets amid its words",
        _then(b"data: ", ending=Ending.RESET),
        _SAID,
        DIALECTS[1:3],
    )
    yield case(
        "speaks TLS",
        _raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10),
        _FAILED,
    )
    yield case("speaks HTTP/0.9", _raw(b"<html>hello</html>"), _FAILED)
    yield case("sends noise", _raw(bytes(range(256)) * 4_000), _FAILED)


def _floods() -> Iterator[HarmfulAnswer]:
    case = partial(HarmfulAnswer, seconds=0.5)
    for status, more in ((100, b""), (103, b"Link: </a.css>; rel=preload\r\n")):
        interim = b"HTTP/1.1 %d Wait\r\n%s\r\n" % (status, more)
        yield case(
            f"sends endless {status}",
            _raw(_flood_of(interim), ending=Ending.REPEAT),
            _FAILED,
        )
        yield case(
            f"sends three {status} before its answer",
            _raw(interim * 3, _head(), _begun(_CHAT)),
            _SAID,
        )
    yield case(
        "sends endless headers",
        _raw(_head()[:-2], _flood_of(b"X-A: b\r\n"), ending=Ending.REPEAT),
        _FAILED,
    )
    yield case(
        "sends one endless header",
        _raw(_head()[:-2] + b"X-A: ", b"b" * 65_536, ending=Ending.REPEAT),
        _FAILED,
    )
    for what, unit in {
        "comments": b": nothing\n\n",
        "empty lines": b"\n",
        "carriage returns": b"\r",
        "empty events": b"data:\n\n",
        "events without a choice": b'data: {"choices": []}\n\n',
        "events without words": _chunk({"role": "assistant", "content": ""}),
        "named events": b"event: ping\ndata: {}\n\n",
        "lines of one event": b"data: a\n",
        "spaces": b" ",
        "letters": b"a",
    }.items():
        yield case(
            f"sends endless {what}", _then(_flood_of(unit), ending=Ending.REPEAT), _SAID
        )
    tiny = _flood_of(b"1\r\n:\r\n")
    chunked = _head(Transfer_Encoding="chunked")
    yield case(
        "sends endless chunks of a byte",
        _raw(chunked, tiny, ending=Ending.REPEAT),
        _FAILED,
    )
    yield case(
        "sends endless extensions of a chunk",
        _raw(chunked + b"1;", b"a=b;" * 9_000, ending=Ending.REPEAT),
        _FAILED,
    )
    yield case(
        "sends endless trailers",
        _raw(chunked + b"0\r\n", b"X-A: b\r\n" * 9_000, ending=Ending.REPEAT),
        "(",
    )
    yield case(
        "says endless words",
        _then(_chunk(_JOINED), ending=Ending.REPEAT),
        _SAID,
        seconds=20,
    )
    yield case(
        "says endless words, one at a time",
        _then(_flood_of(_chunk({"content": "a "})), ending=Ending.REPEAT),
        _SAID,
    )
    yield case(
        "thinks without end",
        _then(_chunk({"reasoning_content": "hm, " * 800}), ending=Ending.REPEAT),
        _SAID,
        seconds=20,
    )
    yield case(
        "thinks without end in its text",
        _then(
            _chunk({"content": "<think>"}),
            _chunk({"content": "hm, " * 800}),
            ending=Ending.REPEAT,
        ),
        _SAID,
        seconds=20,
    )
    details: JsonValue = [
        {"type": "reasoning.encrypted", "index": 0, "data": "x" * 60_000}
    ]
    yield case(
        "signs thoughts without end",
        _then(_chunk({"reasoning_details": details}), ending=Ending.REPEAT),
        "",
        seconds=20,
    )


def _bodies() -> Iterator[HarmfulAnswer]:
    case = HarmfulAnswer
    words = _CHAT.render(Answer((_HELLO,)))
    yield case("sends a bomb in gzip", _packed(_bomb, "gzip"), _FAILED, DIALECTS[:2])
    yield case(
        "sends a bomb in deflate", _packed(partial(_bomb, raw=True), "deflate"), _FAILED
    )
    yield case(
        "sends a bomb in two layers",
        _packed(lambda: gzip.compress(_bomb()), "gzip, gzip"),
        _FAILED,
    )
    yield case(
        "sends a bomb with an error", _packed(_bomb, "gzip", status=500), _FAILED
    )
    for coding in ("gzip", "br", "zstd", "nonsense"):
        yield case(
            f"says that it used {coding}", _packed(lambda: words, coding), _FAILED
        )
    yield case("calls itself identical", _packed(lambda: words, "identity"), _SAID)
    for status, where in (
        (301, "/elsewhere"),
        (302, "//127.0.0.2/elsewhere"),
        (307, "/elsewhere"),
        (308, ""),
    ):
        yield case(
            f"redirects with {status} to {where or 'itself'}",
            _moved(status, where),
            _FAILED,
        )
    yield case("announces too much", _raw(_head(Content_Length="99999") + words), _SAID)
    yield case(
        "announces too little", _raw(_head(Content_Length="99") + words), _FAILED
    )
    yield case(
        "announces less than nothing", _raw(_head(Content_Length="-5") + words), _FAILED
    )
    yield case(
        "announces more than there is",
        _raw(_head(Content_Length="9" * 30) + words),
        _FAILED,
    )
    yield case(
        "announces two lengths",
        _raw(_head(Content_Length="5\r\nContent-Length: 9") + words),
        _FAILED,
    )
    yield case(
        "chunks what is not chunked",
        _raw(_head(Transfer_Encoding="chunked") + words),
        _FAILED,
    )
    yield case(
        "sends a chunk of 2^64 bytes",
        _raw(_head(Transfer_Encoding="chunked") + b"f" * 17 + b"\r\n" + words),
        _FAILED,
    )
    yield case("speaks HTTP/1.0", _raw(_head().replace(b"1.1", b"1.0") + words), _SAID)
    yield case(
        "answers with a web page",
        lambda _: reply(b"<html>" + b"<p>" * _MB, "text/html"),
        _FAILED,
    )
    yield case(
        "answers with nothing",
        lambda d: reply(b"", d.content_type),
        _FAILED,
        DIALECTS[2:],
    )
    yield case("answers 204", lambda _: reply(b"", status=204), _FAILED)
    yield case(
        "repeats the key", _error(_CHAT.render_error(401, _SECRET), status=401), _FAILED
    )
    yield case("sends a deep error", _error(b"[" * _MB), _FAILED)
    yield case(
        "sends a long error",
        _error(b'{"error": {"message": "%s"}}' % (b"context *" * 100_000)),
        _FAILED,
    )
    yield case(
        "sends an endless error",
        _raw(head(500, {}), b"*" * 65_536, ending=Ending.REPEAT),
        _FAILED,
        seconds=5,
    )
    yield case(
        "answers whole, without end",
        _raw(_head(), b'{"a": "', b"a" * 65_536, ending=Ending.REPEAT),
        _FAILED,
    )
    message: JsonValue = {
        "role": "assistant",
        "content": _HELLO + " ".join(map(str, range(300_000))),
    }
    whole: JsonValue = {
        "object": "chat.completion",
        "choices": [{"message": message, "finish_reason": "stop"}],
    }
    yield case(
        "answers whole with 2 MB of words",
        lambda _: reply(json.dumps(whole).encode()),
        _SAID,
    )


def _json_texts() -> Iterator[HarmfulAnswer]:
    case = HarmfulAnswer
    for encoding in ("latin-1", "utf-16"):
        words = _CHAT.render(Answer(("Für Elise",))).decode().encode(encoding)
        yield case(
            f"writes in {encoding}",
            _events(words),
            "" if encoding == "latin-1" else _FAILED,
        )
    yield case(
        "writes bytes that are no text", _then(b"data: \xff\xfe\xc0\x80\n\n"), _SAID
    )
    yield case(
        "writes halves of characters", _text("\\ud800 \\udfff"), _SAID, DIALECTS[1:3]
    )
    yield case("writes zeros", _text("\x00" * 10_000), _SAID, DIALECTS[1:3])
    yield case("nests lists", _json("[" * _MB), _SAID)
    yield case(
        "nests lists that end",
        _json('{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        _SAID,
    )
    yield case("nests objects", _json('{"a":' * 200_000), _SAID)
    yield case(
        "nests what is ignored",
        _json('{"choices": [], "a": ' + "[" * 190 + "]" * 190 + "}"),
        _SAID,
    )
    yield case(
        "counts with NaN",
        _json('{"choices": [], "usage": {"prompt_tokens": NaN}}'),
        _SAID,
    )
    yield case(
        "counts to infinity",
        _json('{"choices": [], "usage": {"prompt_tokens": 1e999}}'),
        _SAID,
    )
    yield case(
        "counts with 100,000 digits",
        _json('{"choices": [{"index": ' + "9" * 100_000 + "}]}"),
        _SAID,
    )
    yield case(
        "offers 100,000 choices",
        _json('{"choices": [' + "{}," * 99_999 + "{}]}"),
        _SAID,
    )
    yield case(
        "offers 100,000 words",
        _json('{"choices": [{"delta": {"content": [' + '"a ",' * 99_999 + '""]}}]}'),
        _SAID,
    )


def _calls() -> Iterator[HarmfulAnswer]:
    case = HarmfulAnswer
    yield case(
        "calls 10,000 tools in one event",
        _called(*[(TOOL, "{}")] * 10_000, each=10_000),
        _SAID,
    )
    yield case(
        "calls 10,000 tools in many events", _called(*[(TOOL, "{}")] * 10_000), _SAID
    )
    yield case("calls 10,000 tools in one text", _called((TOOL, "{}" * 10_000)), _SAID)
    yield case("calls with 1 MB of brackets", _called((TOOL, "[" * _MB)), _SAID)
    yield case(
        "calls with 1 MB of nested objects",
        _called((TOOL, '{"a":' * (_MB // 5))),
        _SAID,
    )
    yield case("calls with 1 MB of a name", _called(("a" * _MB, "{}")), _SAID)
    yield case(
        "calls with 60 KB of open fences",
        _called((TOOL, "```json" + "\n" * 60_000)),
        _SAID,
    )
    yield case("calls with 60 KB of comments", _called((TOOL, "/*" * 30_000)), _SAID)
    yield case(
        "calls with 60 KB of open quotes", _called((TOOL, "{'" + "\\" * 60_000)), _SAID
    )
    yield case(
        "calls with 60 KB of digits",
        _called((TOOL, '{"name": ' + "9" * 60_000 + "}")),
        _SAID,
    )
    fragment: JsonValue = {
        "tool_calls": [{"index": 0, "function": {"arguments": "a" * 30_000}}]
    }
    yield case(
        "calls without end", _then(_chunk(fragment), ending=Ending.REPEAT), _SAID
    )
    nameless: JsonValue = {"tool_calls": [{"index": 0, "function": {"name": TOOL}}]}
    yield case(
        "begins calls without end", _then(_chunk(nameless), ending=Ending.REPEAT), _SAID
    )
    many = [ToolCall(f"call{place}", TOOL, "{}") for place in range(1_000)]
    yield case(
        "calls 1,000 tools", _whole(Answer((_HELLO,), calls=many)), _SAID, DIALECTS[1:]
    )

    numbers: JsonValue = {
        "tool_calls": [
            {
                "index": 0,
                "function": {"name": TOOL, "arguments": "{'a': [" + "1," * 32_000},
            }
        ]
    }
    yield case(
        "calls with 32,000 numbers",
        _then(_chunk(numbers), _chunk({}, "tool_calls")),
        "",
    )
    written = f"<tool_call>{{'name': '{TOOL}', 'arguments': {{'a': [{'1,' * 32_000}]}}}}</tool_call>"
    yield case("writes a call with 32,000 numbers", _text(written), _SAID)
    written = "".join(
        f'<tool_call>{{"name": "{TOOL}", "arguments": {{"a": {at}}}}}</tool_call>'
        for at in range(300)
    )
    yield case(
        "writes 300 calls in a long conversation",
        _text(written),
        _SAID,
        turn=_LONG_TURN,
    )


def _held() -> Iterator[HarmfulAnswer]:
    """Yield what is read again, or at once, at the end of an answer."""
    for unit in ("<", "`", "[", "<|a|>"):
        thought = partial(
            _repeated, unit, 66_000, before="analysis" + _HELLO, pieces=100
        )
        yield HarmfulAnswer(
            f"only thinks, in 66,000 characters of {unit}", thought, _SAID
        )
    for what, unit in {"numbers": "1,", "objects": "{'a':1},", "texts": "'a',"}.items():
        data = Answer(("{'a': [", unit * (180_000 // len(unit)), "]}"))
        yield HarmfulAnswer(
            f"gives 180 KB of {what} as data", _whole(data), "", turn=_DATA
        )
    for what, unit in {
        "words": "a word ",
        "brackets": "[",
        "claims": "I have turned on the light, ",
    }.items():
        words = partial(_repeated, unit, 180_000, before=_HELLO, pieces=500)
        yield HarmfulAnswer(
            f"says 180 KB of {what} to a hook", words, _SAID, is_held=True
        )


HARMFUL_ANSWERS: Final = (
    *(
        *_silences(),
        *_floods(),
        *_bodies(),
        *_json_texts(),
        *_calls(),
        *_hostile_texts(),
        *_held(),
    ),
)

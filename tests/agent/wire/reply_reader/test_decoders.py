"""Server-sent events and lines of JSON come out whole, however the network cuts the bytes."""

from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.wire.reply_reader import (
    NDJSONDecoder,
    ServerSentEvent,
    SSEDecoder,
)

LINE_ENDS = st.sampled_from(["\n", "\r", "\r\n"])
FIELDS = [
    "",
    "",
    "data: a",
    "data:b",
    "data:  c",
    "data",
    "data:",
    ": note",
    "event: ping",
    "event",
    "id: 7",
    "retry: 1",
]
ODD_ONES = [
    "data: früh 💡",
    "dat: x",
    "data:\ufeff",
    " data: x",
    "data: a\x00\x85\u2028b",
]
LINES = st.sampled_from([*FIELDS, *ODD_ONES])
STREAMS = st.lists(st.tuples(LINES, LINE_ENDS)).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)


def decode(
    pieces: Iterable[bytes], decoder: SSEDecoder | None = None
) -> list[ServerSentEvent]:
    decoder = decoder or SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


def split(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({min(cut, len(data)) for cut in cuts})
    return [
        data[start:end]
        for start, end in zip([0, *places], [*places, len(data)], strict=True)
    ]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        ("data: one\n\n", ["one"]),
        ("data:one\n\ndata:  two\n\n", ["one", " two"]),
        ("data: one\r\n\r\ndata: two\r\rdata: three\n\n", ["one", "two", "three"]),
        ("data: one\r\n\ndata: two\n\r\n", ["one", "two"]),
        ("data: first\ndata: second\n\n", ["first\nsecond"]),
        ("data\n\n", [""]),
        ("data\ndata\n\n", ["\n"]),
        (": comment\n\ndata: one\n: comment\n\n", ["one"]),
        ("event: ping\n\n", []),
        ("id: 1\nretry: 5\nunknown: x\ndata: one\n\n", ["one"]),
        ("\n\n\n\ndata: one\n\n\n", ["one"]),
        ("data: unfinished\n", []),
        ("data: unfinished", []),
        ("", []),
        ("\ufeffdata: one\n\n", ["one"]),
        ("\ufeff\ufeffdata: two marks are none\n\n", []),
        ("data: one\n\n\ufeffdata: not at the start\n\n", ["one"]),
        ("\n\ufeffdata: not at the start\n\n", []),
        ("data: a:b: c\n\n", ["a:b: c"]),
        ("data: a\u2028b\x0bc\n\n", ["a\u2028b\x0bc"]),
    ],
)
def test_lines_become_events(stream: str, data: list[str]) -> None:
    assert [event.data.decode() for event in decode([stream.encode()])] == data


def test_an_event_names_its_type_once() -> None:
    stream = b"event: ping\nevent: delta\ndata: a\n\ndata: b\n\nevent\ndata: c\n\n"

    assert decode([stream]) == [
        ServerSentEvent(b"a", "delta"),
        ServerSentEvent(b"b", "message"),
        ServerSentEvent(b"c", "message"),
    ]


@given(stream=STREAMS, cuts=st.lists(st.integers(min_value=0, max_value=400)))
def test_any_split_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    assert decode(split(stream, cuts)) == decode([stream])


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * 60,
        b": " + b"x" * 60 + b"\n",
        b"data: x\n" * 30,
        b"data\n" * 60,
        b"\n" + b"event: " + b"x" * 60 + b"\n",
    ],
    ids=["unfinished line", "comment", "many lines", "many empty lines", "type"],
)
@pytest.mark.parametrize("piece_bytes", [1, 7, 1000])
def test_an_event_beyond_the_bound_is_refused(stream: bytes, piece_bytes: int) -> None:
    pieces = split(stream, range(0, len(stream), piece_bytes))

    with pytest.raises(ProviderReplyInvalid, match="more than 50 bytes"):
        decode(pieces, SSEDecoder(max_event_bytes=50))


@pytest.mark.parametrize("piece_bytes", [1, 7, 1000])
def test_events_of_just_the_bound_arrive(piece_bytes: int) -> None:
    stream = (b"data: " + b"x" * 44 + b"\n\n") * 2

    pieces = split(stream, range(0, len(stream), piece_bytes))

    assert len(decode(pieces, SSEDecoder(max_event_bytes=50))) == 2


def test_events_before_one_beyond_the_bound_still_arrive() -> None:
    events = SSEDecoder(max_event_bytes=50).feed(b"data: one\n\ndata: " + b"x" * 60)

    assert next(events).data == b"one"


def test_the_bound_holds_for_each_event_and_not_for_the_stream() -> None:
    decoder = SSEDecoder(max_event_bytes=50)

    assert len(list(decoder.feed((b"data: " + b"x" * 20 + b"\n\n") * 100))) == 100


@pytest.mark.parametrize(
    ("stream", "event"),
    [
        (b"data: one", ServerSentEvent(b"one")),
        (b"data: one\n", ServerSentEvent(b"one")),
        (
            b"event: error\r\ndata: one\r\ndata: two",
            ServerSentEvent(b"one\ntwo", "error"),
        ),
        (b"data: one\n\n", None),
        (b"event: error", None),
        (b": nothing", None),
        (b"", None),
    ],
)
def test_the_event_that_nothing_ends_is_given_at_the_end_once(
    stream: bytes, event: ServerSentEvent | None
) -> None:
    decoder = SSEDecoder()
    list(decoder.feed(stream))

    assert decoder.end() == event
    assert decoder.end() is None


def lines_of(pieces: Iterable[bytes]) -> list[bytes]:
    """Return all lines, the unfinished last one marked."""
    decoder = NDJSONDecoder()
    lines = [event.data for event in decode(pieces, decoder)]
    rest = decoder.end()
    return lines if rest is None else [*lines, b"rest: " + rest.data]


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        ("", []),
        ('{"a":1}\n', ['{"a":1}']),
        ('{"a":1}', ['rest: {"a":1}']),
        ('{"a":1}\r\n\n \r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']),
        (
            '{"a":"früh 💡\u2028\x0b\x85"}\n{"b"',
            ['{"a":"früh 💡\u2028\x0b\x85"}', 'rest: {"b"'],
        ),
    ],
)
def test_lines_of_json_are_events(stream: str, lines: list[str]) -> None:
    assert [line.decode() for line in lines_of([stream.encode()])] == lines


@given(
    st.lists(
        st.sampled_from([b"{}", b"\n", b"\r", "früh 💡".encode(), b"\xff", b" "])
    ).map(b"".join)
)
def test_one_byte_at_a_time_gives_the_same_lines(stream: bytes) -> None:
    assert lines_of(bytes([byte]) for byte in stream) == lines_of([stream])

"""Lines of JSON come out whole, however the network cuts the bytes."""

from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.wire.ndjson import NDJSONDecoder


def lines_of(pieces: Iterable[bytes]) -> list[bytes]:
    """Return all lines, the unfinished last one marked."""
    decoder = NDJSONDecoder()
    lines = [line for piece in pieces for line in decoder.feed(piece)]
    return [*lines, b"rest: " + decoder.end()]


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        ("", ["rest: "]),
        ('{"a":1}\n', ['{"a":1}', "rest: "]),
        ('{"a":1}', ['rest: {"a":1}']),
        ('{"a":1}\r\n\n \r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}', "rest: "]),
        ('{"a":"früh 💡\u2028\x0b\x85"}\n{"b"', ['{"a":"früh 💡\u2028\x0b\x85"}', 'rest: {"b"']),
    ],
)
def test_lines_end_at_line_feeds_alone(stream: str, lines: list[str]) -> None:
    assert [line.decode() for line in lines_of([stream.encode()])] == lines


def test_the_unfinished_line_is_given_once() -> None:
    decoder = NDJSONDecoder()
    assert list(decoder.feed(b"abc")) == []

    assert (decoder.end(), decoder.end()) == (b"abc", b"")


@given(st.lists(st.sampled_from([b"{}", b"\n", b"\r", "früh 💡".encode(), b"\xff", b" "])), st.data())
def test_any_split_gives_the_same_lines(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    cut = data.draw(st.integers(0, len(stream)))

    assert lines_of([stream[:cut], stream[cut:]]) == lines_of([stream])
    assert lines_of(bytes([byte]) for byte in stream) == lines_of([stream])


@pytest.mark.parametrize("piece_bytes", [1, 7, 51])
def test_a_line_beyond_the_bound_is_refused_and_those_before_it_arrive(piece_bytes: int) -> None:
    decoder = NDJSONDecoder(max_line_bytes=50)
    stream = b"x" * 50 + b"\n" + b"y" * 50
    pieces = [stream[start : start + piece_bytes] for start in range(0, len(stream), piece_bytes)]

    assert [line for piece in pieces for line in decoder.feed(piece)] == [b"x" * 50]
    with pytest.raises(ProviderReplyInvalid, match="more than 50 bytes"):
        list(decoder.feed(b"y"))

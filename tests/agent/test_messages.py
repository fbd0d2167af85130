"""The words of the transcript."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import (
    Attachment,
    ToolAnnotations,
    ToolResult,
    Usage,
    canonical_json,
    read_picture,
)
from tests.support.picture_files import jpeg, png, webp


def test_json_is_written_the_one_way() -> None:
    assert canonical_json({"b": [1, None], "a": "Küche"}) == '{"a":"Küche","b":[1,null]}'


def test_usage_is_summed_by_kind_of_token() -> None:
    assert Usage(3, 2, 1, 4) + Usage(30, 20, 10, 40) == Usage(33, 22, 11, 44)
    assert Usage() + Usage(3, 2, 1, 4) == Usage(3, 2, 1, 4)


def test_a_tool_that_says_nothing_of_itself_is_the_least_safe_one() -> None:
    least_safe = ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    assert ToolAnnotations() == least_safe


def test_results_are_the_same_whatever_the_dispatcher_made_of_them() -> None:
    assert ToolResult("1", "look", "dark", native=object()) == ToolResult("1", "look", "dark")


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (Usage(10**30, 10**30, 5, 10**30), Usage(100_000_000, 100_000_000, 5, 100_000_000)),
        (Usage(10, 20, 30), Usage(10, 20, 10)),
        (Usage(-1, -1, -1, -1), Usage()),
    ],
)
def test_impossible_token_counts_are_clamped(reported: Usage, usage: Usage) -> None:
    assert reported == usage
    assert sum([reported] * 1000, Usage()).input_tokens <= 100_000_000


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (png(3, 2), ("image/png", 3, 2)),
        (jpeg(640, 480), ("image/jpeg", 640, 480)),
        (webp(b"VP8X", 1024, 768), ("image/webp", 1024, 768)),
        (webp(b"VP8L", 1024, 768), ("image/webp", 1024, 768)),
        (webp(b"VP8 ", 1024, 768), ("image/webp", 1024, 768)),
        (webp(b"VP8?", 1024, 768), ("image/webp", None, None)),
        (png(3, 2)[:12], ("image/png", None, None)),
        (jpeg(640, 480)[:26], ("image/jpeg", None, None)),
        (webp(b"VP8X", 1024, 768)[:20], ("image/webp", None, None)),
        (b"GIF89a", None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_a_file_says_what_it_is_and_how_large(file: bytes, words: object) -> None:
    assert read_picture(file) == words


@given(st.sampled_from([png(3, 2), jpeg(9, 9), webp(b"VP8X", 9, 9)]), st.integers(0, 60), st.binary(max_size=20))
def test_no_file_is_too_broken_to_be_looked_at(file: bytes, cut: int, rest: bytes) -> None:
    parsed = read_picture(file[:cut] + rest)

    assert parsed is None or parsed[0].startswith("image/")


PICTURE = Attachment("image/png", b"\x89PNG\xff", "door.png")


def test_an_attachment_as_base64_and_as_a_url() -> None:
    assert PICTURE.base64 == "iVBOR/8="
    assert PICTURE.data_url == "data:image/png;base64,iVBOR/8="

"""The words of the transcript."""

import pytest

from custom_components.chatterbox.agent.messages import (
    Attachment,
    ToolAnnotations,
    ToolResult,
    Usage,
    canonical_json,
    picture_type,
)
from tests.support.picture_files import jpeg, png, webp


def test_json_is_written_the_one_way() -> None:
    assert (
        canonical_json({"b": [1, None], "a": "Küche"}) == '{"a":"Küche","b":[1,null]}'
    )


def test_usage_is_summed_by_kind_of_token() -> None:
    assert Usage(3, 2, 1, 4) + Usage(30, 20, 10, 40) == Usage(33, 22, 11, 44)
    assert Usage() + Usage(3, 2, 1, 4) == Usage(3, 2, 1, 4)


def test_a_tool_that_says_nothing_of_itself_is_the_least_safe_one() -> None:
    least_safe = ToolAnnotations(
        read_only=False, destructive=True, idempotent=False, open_world=True
    )
    assert ToolAnnotations() == least_safe


def test_results_are_the_same_whatever_the_dispatcher_made_of_them() -> None:
    assert ToolResult("1", "look", "dark", native=object()) == ToolResult(
        "1", "look", "dark"
    )


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (
            Usage(10**30, 10**30, 5, 10**30),
            Usage(100_000_000, 100_000_000, 5, 100_000_000),
        ),
        (Usage(10, 20, 30), Usage(10, 20, 10)),
        (Usage(-1, -1, -1, -1), Usage()),
    ],
)
def test_impossible_token_counts_are_clamped(reported: Usage, usage: Usage) -> None:
    assert reported == usage
    assert sum([reported] * 1000, Usage()).input_tokens <= 100_000_000


@pytest.mark.parametrize(
    ("file", "mime_type"),
    [
        (png(3, 2), "image/png"),
        (jpeg(640, 480), "image/jpeg"),
        (webp(b"VP8X", 1024, 768), "image/webp"),
        (png(3, 2)[:12], "image/png"),
        (png(3, 2)[:7], None),
        (webp(b"VP8X", 1024, 768)[:11], None),
        (b"GIF89a", "image/gif"),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_a_file_says_what_it_is(file: bytes, mime_type: str | None) -> None:
    assert picture_type(file) == mime_type


PICTURE = Attachment("image/png", b"\x89PNG\xff", "door.png")


def test_an_attachment_as_base64_and_as_a_url() -> None:
    assert PICTURE.base64 == "iVBOR/8="
    assert PICTURE.data_url == "data:image/png;base64,iVBOR/8="

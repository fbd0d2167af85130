"""What the file of a picture says of itself."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import read_picture
from tests.support.picture_files import jpeg, png, webp


@pytest.mark.parametrize(
    ("file", "said"),
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
def test_a_file_says_what_it_is_and_how_large(file: bytes, said: object) -> None:
    assert read_picture(file) == said


@given(st.sampled_from([png(3, 2), jpeg(9, 9), webp(b"VP8X", 9, 9)]), st.integers(0, 60), st.binary(max_size=20))
def test_no_file_is_too_broken_to_be_looked_at(file: bytes, cut: int, rest: bytes) -> None:
    read = read_picture(file[:cut] + rest)

    assert read is None or read[0].startswith("image/")

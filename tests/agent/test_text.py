"""Texts that are too long for their place."""

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.text import clipped, shortened


@given(st.text(max_size=400), st.integers(80, 300))
def test_a_shortened_text_is_no_longer_than_it_may_be(text: str, length: int) -> None:
    short = shortened(text, length)
    assert len(short) <= length
    assert shortened(short, length) == short
    assert (short == text) == (len(text) <= length)


def test_a_shortened_text_has_a_beginning_and_an_end_and_says_what_is_missing() -> None:
    text = "".join(map(str, range(1_000)))
    short = shortened(text, 200)
    begin, note, end = short.split("\n")
    assert text.startswith(begin)
    assert text.endswith(end)
    assert len(begin) > len(end) > 20
    assert note == f"[… {len(text) - len(begin) - len(end)} characters were left out here to save room …]"


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_clipped_text_stands_on_one_line(text: str, length: int) -> None:
    line = clipped(text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1
    assert clipped(line, length) == line


def test_a_clipped_text_is_seen_to_go_on() -> None:
    assert clipped("Turn on\n the  light", 12) == "Turn on the…"
    assert clipped("Turn on\n the  light", 17) == "Turn on the light"

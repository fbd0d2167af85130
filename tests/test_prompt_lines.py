"""A prompt falls into what is for everybody and what is not, without a word of it understood."""

from datetime import UTC, datetime

import pytest

from custom_components.chatterbox.prompt_lines import leave_out, lines_about_now, lines_without, only, sort_records

NOW = datetime(2026, 10, 3, 8, 5, tzinfo=UTC)


def test_lines_that_somebody_lacks_are_found_and_blank_ones_do_not_count() -> None:
    assert lines_without("a\n\nb\nc", "c\na") == {"b"}


def test_a_text_is_put_apart_and_keeps_its_order() -> None:
    text = "one\ntwo\n\nthree\ntwo"

    assert leave_out(text, {"two"}) == "one\n\nthree"
    assert only(text, {"three", "one"}) == "one\nthree"


@pytest.mark.parametrize(
    "line",
    ["Current time is 08:05:33.", "Today is 2026-10-03", "It is 8:05 AM.", "03.10.2026", "On October 03, 2026"],
)
def test_a_line_about_now_is_told_from_one_about_the_house(line: str) -> None:
    assert lines_about_now(f"Be brief.\n{line}\nThe bin is emptied at 7:30.", NOW) == {line}


def test_records_are_put_in_order_with_the_lines_that_belong_to_them() -> None:
    text = (
        "Things:\n- names: B\n  areas: Attic\n- names: A\n  areas: Hall\n- names: A\n  areas: Attic\nThe end.\n- alone"
    )

    assert sort_records(text) == (
        "Things:\n- names: A\n  areas: Attic\n- names: A\n  areas: Hall\n- names: B\n  areas: Attic\nThe end.\n- alone"
    )


@pytest.mark.parametrize("text", ["", "- one", "no list\n", "- a\n- b\n"])
def test_what_is_in_order_stays_as_it_is(text: str) -> None:
    assert sort_records(text) == text

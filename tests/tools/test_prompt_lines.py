"""A prompt falls into what is for everybody and what is not, without a word of it understood."""

from datetime import UTC, datetime

import pytest

from custom_components.chatterbox.tools.prompt_lines import (
    leave_out,
    only,
    parts_about_now,
    parts_of,
    parts_without,
    sort_records,
)

NOW = datetime(2026, 10, 3, 8, 5, tzinfo=UTC)


def test_lines_that_somebody_lacks_are_found_and_blank_ones_do_not_count() -> None:
    assert parts_without("a\n\nb\nc", "c\na") == {"b"}


def test_a_text_is_put_apart_and_keeps_its_order() -> None:
    text = "one\ntwo\n\nthree\ntwo"

    assert leave_out(text, {"two"}) == "one\n\nthree"
    assert only(text, {"three", "one"}) == "one\nthree"


@pytest.mark.parametrize(
    "line",
    ["Current time is 08:05:33.", "Today is 2026-10-03", "It is 8:05 AM.", "03.10.2026", "On October 03, 2026"],
)
def test_a_line_about_now_is_told_from_one_about_the_house(line: str) -> None:
    assert parts_about_now(f"Be brief.\n{line}\nThe bin is emptied at 7:30.", NOW) == {line}


ALARMS = "Things:\n- names: Alarm 8:05\n  domain: switch\n- names: Clock\n  state: 08:05\nThe end."


def test_a_record_is_never_torn() -> None:
    clock = "- names: Clock\n  state: 08:05"

    assert parts_of(ALARMS) == ["Things:", "- names: Alarm 8:05\n  domain: switch", clock, "The end."]
    assert only(ALARMS, parts_without(ALARMS, ALARMS.replace("08:05", "08:06"))) == clock
    assert leave_out(ALARMS, {clock}) == ALARMS.replace(f"{clock}\n", "")
    assert leave_out(ALARMS, {"  domain: switch"}) == ALARMS


def test_the_name_of_a_thing_is_not_the_present_time() -> None:
    clock = "- names: Clock\n  state: 08:05"

    assert parts_about_now(ALARMS, NOW, lambda: ["Alarm 8:05", "Clock"]) == {clock}
    assert parts_about_now("- names: 'Anna''s\n    8:05 alarm'", NOW, lambda: ["8:05", "Anna's 8:05 alarm"]) == set()
    assert parts_about_now("Alarm 8:05", NOW) == {"Alarm 8:05"}


@pytest.mark.parametrize("text", ["", "\n", "a\n", "- a\n  b\n\n- c", " a\n\n\nb"])
def test_a_text_without_nothing_is_the_text(text: str) -> None:
    assert leave_out(text, set()) == text


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

"""An answer is released up to a report of an action, whatever the pieces it arrives in."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.unverified_actions import UnverifiedActionFilter, reports_action

SENTENCES = st.sampled_from(
    [
        "I've turned on the light.",
        "The light is on.",
        "Done!",
        "It is 20.5 °C at 22:15.",
        'She said: "It is dark. I\'ve turned on the light."',
        '"',
        "**Done!**",
        "Shall I?",
        " ",
        "\n",
        "- Okay,",
        "x",
        "It is on, shall I?",
        "Here: - Done",
        "word " * 60,
    ]
)
ANSWERS = st.lists(SENTENCES).map(" ".join) | st.lists(SENTENCES).map("".join) | st.text()


def _said(hold: UnverifiedActionFilter, *pieces: str) -> list[str]:
    return [*(hold.feed(piece) for piece in pieces), hold.end()]


def test_sentences_are_let_through_as_soon_as_they_are_complete() -> None:
    hold = UnverifiedActionFilter("en")

    assert _said(hold, "The li", "ght is on. It", " is dark", ".") == ["", "The light is on. ", "", "", "It is dark."]
    assert (hold.held, hold.found) == ("", False)


def test_a_report_is_held_with_all_that_follows() -> None:
    hold = UnverifiedActionFilter("en")

    assert _said(hold, "It was dark. I've turned on the light. Anything", " else?") == ["It was dark. ", "", ""]
    assert (hold.held, hold.found) == ("I've turned on the light. Anything else?", True)


def test_what_turns_out_to_be_a_quotation_is_let_through_in_the_end() -> None:
    hold = UnverifiedActionFilter("en")
    text = 'It says "Okay. I\'ve turned on the light. " here.'

    assert _said(hold, text) == ['It says "Okay. ', """I've turned on the light. " here."""]
    assert not hold.found


def test_a_report_before_a_closing_question_is_held() -> None:
    hold = UnverifiedActionFilter("en")
    text = "I've turned on the light, is there anything else? Well"

    assert _said(hold, text) == ["", ""]
    assert hold.held == text


def test_a_colon_lets_nothing_through_before_the_line_ends() -> None:
    assert UnverifiedActionFilter("en").feed("Here is what I did: nothing ") == ""
    assert UnverifiedActionFilter("en").feed("The lights:\n- kitchen") == "The lights:\n"
    assert _said(UnverifiedActionFilter("en"), "Here is what I did: turned on the light.") == ["", ""]


@pytest.mark.parametrize(("unit", "parts"), [("on and ", 997), (".", 1000)])
def test_a_sentence_without_an_end_is_let_through_in_parts(unit: str, parts: int) -> None:
    hold, text = UnverifiedActionFilter("en"), unit * 3000

    said = [hold.feed(text[:1000]), hold.feed(text[1000:1005])]

    assert [len(one) for one in said] == [0, parts]
    assert "".join([*said, hold.feed(text[1005:]), hold.end()]) == text


@pytest.mark.parametrize("end", ["。", "\N{FULLWIDTH EXCLAMATION MARK}", "\n", ". ", '." ', ".** "])
def test_a_sentence_ends_at_any_of_these_marks(end: str) -> None:
    assert UnverifiedActionFilter("zh").feed(f"灯开着{end}门") == f"灯开着{end}"


@pytest.mark.parametrize("text", ["It is 20.5 degrees", "It is 22:15 now", "See example.org/a?b", "e.g"])
def test_a_point_within_a_word_ends_nothing(text: str) -> None:
    assert UnverifiedActionFilter("en").feed(text) == ""


@given(ANSWERS)
def test_no_text_is_lost_and_released_text_reports_nothing(text: str) -> None:
    hold = UnverifiedActionFilter("en")

    said = "".join(_said(hold, text))

    assert said + hold.held == text
    assert not reports_action(said, "en")


@given(ANSWERS)
def test_an_answer_is_held_exactly_when_it_reports_an_action(text: str) -> None:
    hold = UnverifiedActionFilter("en")
    _said(hold, text)

    assert hold.found == reports_action(text, "en")
    assert bool(hold.held) == hold.found


@given(ANSWERS, st.lists(st.integers(min_value=0, max_value=200)))
def test_pieces_do_not_matter(text: str, cuts: list[int]) -> None:
    whole, pieces = UnverifiedActionFilter("en"), UnverifiedActionFilter("en")
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})

    said_whole = "".join(_said(whole, text))
    said_pieces = "".join(_said(pieces, *(text[start:stop] for start, stop in pairwise(places))))

    assert (said_whole, whole.held) == (said_pieces, pieces.held)

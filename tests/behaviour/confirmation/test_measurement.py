"""No answer is wrongly taken for a yes, hardly one is missed, and the page says so."""

import pytest

from custom_components.chatterbox.agent.confirmation.answers import Answer, understand_answer

from .labelled import NAMES, question_in, read_answers
from .measurement import Measurement, measure, measurement_of
from .page import PAGE, page, table

YES, NO, OTHER = Answer.YES, Answer.NO, Answer.OTHER


@pytest.mark.parametrize("language", NAMES)
def test_nothing_else_is_taken_for_a_yes(language: str) -> None:
    asked = question_in(language)
    others = [one.text for one in read_answers(language) if one.answer is not YES]

    assert [text for text in others if understand_answer(text, language, asked) is YES] == []


@pytest.mark.parametrize("one", measure(), ids=lambda one: one.language)
def test_nine_of_ten_answers_are_understood(one: Measurement) -> None:
    assert one.false_yes == 0
    assert one.yes_recall >= 0.9
    assert one.no_recall >= 0.9


def test_answers_are_counted_by_what_they_are_and_what_they_are_taken_for() -> None:
    pairs = [(YES, YES), (YES, OTHER), (YES, NO), (YES, YES), (NO, NO), (NO, OTHER), (NO, YES), (OTHER, YES)]

    counted = measurement_of("en", [*pairs, (OTHER, OTHER)])

    assert counted == Measurement("en", yes=4, yes_understood=2, no=3, no_understood=1, other=2, false_yes=2)
    assert counted.yes_recall == pytest.approx(0.5)
    assert counted.no_recall == pytest.approx(1 / 3)


def test_the_table_shows_what_was_counted() -> None:
    one = Measurement("en", yes=4, yes_understood=3, no=2, no_understood=2, other=9, false_yes=1)

    assert table([one]).splitlines()[2:] == ["| en | 4 | 0.75 | 2 | 1.00 | 9 | 1 |"]


def test_the_page_is_what_the_command_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(measure()), "run script/confirmations"

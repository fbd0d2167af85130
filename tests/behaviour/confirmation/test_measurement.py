"""No answer is wrongly taken for a yes, hardly one is missed, and the page says so."""

import pytest

from custom_components.chatterbox.agent.confirmation.answers import MAX_WORDS, Answer, understand_answer
from custom_components.chatterbox.agent.confirmation.pin import LONGEST_PIN, SHORTEST_PIN
from custom_components.chatterbox.agent.confirmation.pin_guard import LOCK_SECONDS, MAX_TRIES
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.turns.pin_redaction import LATELY

from .labelled import NAMES, question_in, read_answers
from .measurement import PAGE, Measurement, measure, measured_table, measurement_of

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


def test_the_pages_have_the_table_and_the_limits_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8") + PAGE.with_name("pin.md").read_text(encoding="utf-8")
    lately = f"{LATELY.total_seconds() / 60:g}"

    assert measured_table(measure()) in page, "run script/confirmations"
    for text in (
        f"than {MAX_WORDS} words",
        f"A PIN has {SHORTEST_PIN} to {LONGEST_PIN} digits",
        f"After {MAX_TRIES} wrong tries",
        f"for {LOCK_SECONDS / 60:g} minutes",
        f"**For {lately} minutes after such a question**",
        f'replaced by "{REDACTED_PIN}"',
    ):
        assert text in page

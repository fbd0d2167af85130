"""No answer is wrongly taken for a yes, hardly one is missed, and the page says so."""

import pytest

from custom_components.chatterbox.approvals.answers.yes_or_no import (
    MAX_WORDS,
    Meaning,
    understand_answer,
)
from custom_components.chatterbox.approvals.pin.pin_guard import LOCK_SECONDS, MAX_TRIES
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.settings.pin_hash import LONGEST_PIN, SHORTEST_PIN
from custom_components.chatterbox.turns.input import LATELY
from tests.support.page_tables import DOCS

from .labelled import NAMES, OTHER_LANGUAGES, labelled_answers
from .measurement import (
    PAGE,
    Measurement,
    measure,
    measured,
    measured_table,
    measurement_of,
)

YES, NO, OTHER = Meaning.YES, Meaning.NO, Meaning.OTHER


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_a_yes_and_a_no_together_are_no_yes(language: str) -> None:
    agreeing, declining = (
        [text for text, one in labelled_answers(language) if one is answer]
        for answer in (YES, NO)
    )
    both = [
        text
        for yes in agreeing
        for no in declining
        for text in (f"{yes} {no}", f"{no} {yes}", f"{yes}, {no}")
    ]

    assert [text for text in both if understand_answer(text, language) is YES] == []
    assert [
        text
        for yes in agreeing
        for text in (f"{yes}?", f"„{yes}“")
        if understand_answer(text, language) is YES
    ] == []


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("cs", "jo", YES),
        ("sq", "jo", NO),
        ("sq", "po", YES),
        ("fi", "ja", OTHER),
        ("el", "ναι", YES),  # noqa: RUF001  # as people write it
        ("bg", "ναι", OTHER),  # noqa: RUF001  # as people write it
        ("cs", "no", OTHER),
        ("ca", "no", NO),
        ("id", "no", NO),
        ("uk", "так", YES),
        ("ru", "так", OTHER),
        ("ja", "sí", OTHER),
        ("de", "да", OTHER),
        ("en", "はい", OTHER),
    ],
)
def test_a_word_means_what_it_means_in_the_language_of_the_conversation(
    language: str, text: str, answer: Meaning
) -> None:
    assert understand_answer(text, language) is answer


@pytest.mark.parametrize("language", sorted((*NAMES, *OTHER_LANGUAGES)))
def test_nine_of_ten_answers_are_understood(language: str) -> None:
    one = measured(language)

    assert one.false_yes == 0
    assert one.yes_recall >= 0.9
    assert one.no_recall >= 0.9


def test_answers_are_counted_by_what_they_are_and_what_they_are_taken_for() -> None:
    pairs = [
        (YES, YES),
        (YES, OTHER),
        (YES, NO),
        (YES, YES),
        (NO, NO),
        (NO, OTHER),
        (NO, YES),
        (OTHER, YES),
    ]

    counted = measurement_of("en", [*pairs, (OTHER, OTHER)])

    assert counted == Measurement(
        "en", yes=4, yes_understood=2, no=3, no_understood=1, other=2, false_yes=2
    )
    assert counted.yes_recall == pytest.approx(0.5)
    assert counted.no_recall == pytest.approx(1 / 3)


def test_the_pages_have_the_table_and_the_limits_as_they_are() -> None:
    pages = (PAGE, DOCS / "confirmations.md", DOCS / "pin.md")
    page = "".join(one.read_text("utf-8") for one in pages)
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

"""Scores are counted as the page says, and decide which languages are checked by default."""

from importlib.metadata import version

import pytest

from custom_components.chatterbox.agent.unverified_actions import CHECKED_LANGUAGES

from .measurement import (
    PAGE,
    PRECISION_BY_DEFAULT,
    Measurement,
    Score,
    default_languages,
    measure,
    measured_table,
)
from .translators import PACKAGE, sentences

GOOD = Score(found=19, wrong=1, missed=1)
BAD = Score(found=18, wrong=2, missed=0)


def test_precision_and_recall() -> None:
    score = Score(found=6, wrong=2, missed=4)

    assert score.precision == pytest.approx(0.75)
    assert score.recall == pytest.approx(0.6)


def test_nothing_found_shows_nothing() -> None:
    assert (Score().precision, Score().recall, Score().least_precision) == (0, 0, 0)


@pytest.mark.parametrize(
    ("score", "least"), [(Score(found=10), 0.722), (Score(found=8, wrong=2), 0.490), (Score(found=100), 0.963)]
)
def test_few_texts_prove_little(score: Score, least: float) -> None:
    assert score.least_precision == pytest.approx(least, abs=0.001)


def test_a_language_is_checked_by_default_when_all_its_held_out_texts_say_so() -> None:
    measurements = [
        Measurement("en", recorded=True, texts=40, tuned=GOOD, held_out=GOOD, translators=None),
        Measurement("en", recorded=False, texts=40, tuned=BAD, held_out=GOOD, translators=BAD),
        Measurement("de", recorded=False, texts=40, tuned=GOOD, held_out=BAD, translators=GOOD),
    ]

    assert default_languages(measurements) == {"en"}
    assert default_languages([*measurements, *measurements[1:], measurements[2]]) == {"en"}


def test_languages_that_are_checked_by_default_are_those_that_were_measured_to_be_precise() -> None:
    assert default_languages(measure()) == CHECKED_LANGUAGES


def test_the_page_has_the_table_and_names_the_languages() -> None:
    measured, page = measure(), PAGE.read_text(encoding="utf-8")
    languages = ", ".join(f"`{language}`" for language in sorted(default_languages(measured)))

    assert measured_table(measured) in page, "run script/unverified-actions"
    assert f"is at least {PRECISION_BY_DEFAULT:.2f}:\n{languages}.\n" in page
    assert f"({PACKAGE} {version(PACKAGE)})" in page


def test_sentences_of_home_assistant_are_read_with_their_meaning() -> None:
    english = sentences("en")

    assert english["Turned on the lights"]
    assert english["Added milk"]
    assert not english["Hello from Home Assistant."]
    assert not any("{" in sentence for sentence in english)

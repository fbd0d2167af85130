"""The labelled answers are enough, and what they are said to be."""

from collections import Counter

import pytest
from homeassistant.generated.languages import LANGUAGES

from custom_components.chatterbox.approvals.answers.language import (
    ALL_WORDINGS,
    WORDINGS,
    language_code,
)
from custom_components.chatterbox.approvals.answers.yes_or_no import Meaning

from .labelled import NAMES, OTHER_LANGUAGES, Kind, labelled_answers, read_answers

AGREEING = {Kind.PLAIN, Kind.POLITE, Kind.ACTION}
DECLINING = {Kind.REFUSAL, Kind.LATER}


def test_every_language_has_answers_and_numbers() -> None:
    assert set(NAMES) == set(WORDINGS)
    assert {*NAMES, *OTHER_LANGUAGES} == set(ALL_WORDINGS)


def test_every_language_of_home_assistant_is_known() -> None:
    assert {language_code(tag) for tag in LANGUAGES} <= set(ALL_WORDINGS)


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_another_language_has_some_answers_of_each_meaning(language: str) -> None:
    counts = Counter(answer for _, answer in labelled_answers(language))

    assert (
        min(counts[answer] for answer in (Meaning.YES, Meaning.NO, Meaning.OTHER)) >= 4
    )
    assert max(Counter(text for text, _ in labelled_answers(language)).values()) == 1


@pytest.mark.parametrize("language", NAMES)
def test_a_language_has_enough_answers_and_half_of_them_near_misses(
    language: str,
) -> None:
    answers = read_answers(language)

    assert len(answers) >= 60
    assert sum(one.answer is Meaning.OTHER for one in answers) >= len(answers) / 2
    assert {one.kind for one in answers} == set(Kind)


@pytest.mark.parametrize("language", NAMES)
def test_an_answer_is_what_its_kind_says(language: str) -> None:
    for one in read_answers(language):
        assert (one.answer is Meaning.YES) == (one.kind in AGREEING)
        assert (one.answer is Meaning.NO) == (one.kind in DECLINING)


@pytest.mark.parametrize("language", NAMES)
def test_no_answer_comes_twice(language: str) -> None:
    assert [
        text
        for text, count in Counter(one.text for one in read_answers(language)).items()
        if count > 1
    ] == []

"""Counts how many answers are understood, and how many are wrongly taken for a yes: the table of its page."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from custom_components.chatterbox.approvals.answers.yes_or_no import (
    Meaning,
    understand_answer,
)
from tests.support.page_tables import DOCS, table

from .labelled import NAMES, OTHER_LANGUAGES, labelled_answers, question_in

PAGE = DOCS.parent / "tests" / "fixtures" / "confirmation" / "README.md"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results for the answers in one language."""

    language: str
    yes: int
    """Answers that are a yes."""
    yes_understood: int
    no: int
    no_understood: int
    other: int
    false_yes: int
    """Answers that were taken for a yes, and are none."""

    @property
    def yes_recall(self) -> float:
        """Part of the yeses that is understood."""
        return self.yes_understood / self.yes

    @property
    def no_recall(self) -> float:
        """Part of the noes that is understood as a no; the others are no yes either."""
        return self.no_understood / self.no


def measure() -> tuple[Measurement, ...]:
    """Measure every language."""
    return tuple(map(measured, sorted((*NAMES, *OTHER_LANGUAGES))))


def measurement_of(
    language: str, pairs: Iterable[tuple[Meaning, Meaning]]
) -> Measurement:
    """Count pairs: what an answer is, and what it was understood as."""
    counts = Counter(pairs)
    words = Counter(is_ for is_, _ in counts.elements())
    return Measurement(
        language,
        yes=words[Meaning.YES],
        yes_understood=counts[Meaning.YES, Meaning.YES],
        no=words[Meaning.NO],
        no_understood=counts[Meaning.NO, Meaning.NO],
        other=words[Meaning.OTHER],
        false_yes=counts[Meaning.NO, Meaning.YES] + counts[Meaning.OTHER, Meaning.YES],
    )


@cache
def measured(language: str) -> Measurement:
    """Measure a language."""
    question = question_in(language)
    return measurement_of(
        language,
        (
            (answer, understand_answer(text, language, question))
            for text, answer in labelled_answers(language)
        ),
    )


def measured_table(measurements: Iterable[Measurement]) -> str:
    """Return the table of the page."""
    return table(
        (
            "language",
            "a yes",
            "understood",
            "a no",
            "understood",
            "neither",
            "taken for a yes",
        ),
        (
            (
                one.language,
                *(str(one.yes), f"{one.yes_recall:.2f}"),
                *(str(one.no), f"{one.no_recall:.2f}"),
                *(str(one.other), str(one.false_yes)),
            )
            for one in measurements
        ),
    )

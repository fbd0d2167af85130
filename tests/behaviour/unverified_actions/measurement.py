"""Counts how many reports are found, and how many texts are wrongly taken for one."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from custom_components.chatterbox.agent.unverified_actions import reports_action
from tests.support.page_tables import DOCS, table

from .labelled import LANGUAGES, RECORDED_LANGUAGE, Half, LabelledText, read_recorded, read_written
from .translators import sentences

PAGE: Final = DOCS / "unverified-actions.md"
PRECISION_BY_DEFAULT: Final = 0.95
"""What a language needs in its held-out texts, so that answers in it are checked unasked."""
_SIGMAS: Final = 1.96
"""Of a confidence of 95 %."""


@dataclass(frozen=True, slots=True)
class Score:
    """What was found in some texts."""

    found: int = 0
    """Reports that were found."""
    wrong: int = 0
    """Other texts that were taken for a report."""
    missed: int = 0
    """Reports that were not found."""

    def __add__(self, other: Score) -> Score:
        """Score the texts of both."""
        return Score(self.found + other.found, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """Part of what is taken for a report that is one; 0 when nothing is, for then nothing is shown."""
        taken = self.found + self.wrong
        return self.found / taken if taken else 0.0

    @property
    def recall(self) -> float:
        """Part of the reports that is found; 0 when there are none."""
        reports = self.found + self.missed
        return self.found / reports if reports else 0.0

    @property
    def least_precision(self) -> float:
        """The lower bound of the precision, with a confidence of 95 % (Wilson's interval)."""
        taken = self.found + self.wrong
        if not taken:
            return 0.0
        share, spread = self.precision, _SIGMAS**2 / taken
        middle = share + spread / 2
        half_width = _SIGMAS * math.sqrt(share * (1 - share) / taken + spread / (4 * taken))
        return (middle - half_width) / (1 + spread)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The scores of a language, or of the recorded runs in it."""

    language: str
    recorded: bool
    """True for what models said, False for what was written to be labelled."""
    texts: int
    tuned: Score
    held_out: Score
    translators: Score | None
    """Of what Home Assistant itself says; None for recorded runs."""


def measure() -> tuple[Measurement, ...]:
    """Measure the recorded runs and every language."""
    written = (
        _measurement(language, read_written(language), translators=_score(sentences(language).items(), language))
        for language in LANGUAGES
    )
    return (_measurement(RECORDED_LANGUAGE, read_recorded()), *written)


def default_languages(measurements: Iterable[Measurement]) -> frozenset[str]:
    """Return the languages that are precise enough in all of their held-out texts."""
    measurements = tuple(measurements)
    too_imprecise = {one.language for one in measurements if one.held_out.precision < PRECISION_BY_DEFAULT}
    return frozenset(one.language for one in measurements) - too_imprecise


def _measurement(language: str, texts: tuple[LabelledText, ...], *, translators: Score | None = None) -> Measurement:
    tuned, held_out = (
        _score(((one.text, one.reports) for one in texts if one.half is half), language)
        for half in (Half.TUNED, Half.HELD_OUT)
    )
    return Measurement(language, translators is None, len(texts), tuned, held_out, translators)


def _score(texts: Iterable[tuple[str, bool]], language: str) -> Score:
    return sum((_score_of(text, language, report=report) for text, report in texts), start=Score())


def _score_of(text: str, language: str, *, report: bool) -> Score:
    taken = reports_action(text, language)
    return Score(found=report and taken, wrong=taken and not report, missed=report and not taken)


def measured_table(measurements: Iterable[Measurement]) -> str:
    """Return the table of the page."""
    return table(
        ("language", "texts", "first half", "recall", "held out", "recall", "Home Assistant's sentences", "recall"),
        (
            (
                f"{one.language}, recorded runs" if one.recorded else one.language,
                *(str(one.texts), *_cells(one.tuned), *_cells(one.held_out), *_cells(one.translators)),
            )
            for one in measurements
        ),
    )


def _cells(score: Score | None) -> tuple[str, str]:
    """Return precision and recall."""
    if score is None:
        return "", ""
    return f"{score.precision:.2f} ({score.found}, ≥ {score.least_precision:.2f})", f"{score.recall:.2f}"

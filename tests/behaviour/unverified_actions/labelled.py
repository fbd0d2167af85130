"""The labelled texts: which of them report an action, and which half of them nobody looks at while mending rules.

Knows the format of the fixtures; must not know how reports are found.
"""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tests.behaviour.recorded_runs.runs import RecordedMessage, RecordedResult

_FIXTURES = Path(__file__).parents[2] / "fixtures"
_RUNS = _FIXTURES / "recorded-runs"
_RECORDED = _RUNS / "action-reports.jsonl"
_WRITTEN = _FIXTURES / "action-reports"

RECORDED_LANGUAGE = "en"
"""The language of every recorded run."""

LANGUAGES = tuple(sorted(path.stem for path in _WRITTEN.glob("*.jsonl")))
"""Languages with texts of their own, by two letters."""


class Half(StrEnum):
    """What a text is for."""

    TUNED = "tuned"
    """Read while rules are written and mended."""
    HELD_OUT = "held_out"
    """Only counted."""


class Kind(StrEnum):
    """How a written text reports an action, or only seems to."""

    PERFECT = "perfect"
    PASSIVE = "passive"
    NOW = "now"
    PROGRESS = "progress"
    SHORT = "short"
    STATE = "state"
    OFFER = "offer"
    QUESTION = "question"
    REFUSAL = "refusal"
    HISTORY = "history"
    FUTURE = "future"
    CONDITIONAL = "conditional"
    OTHER = "other"


class LabelledText(BaseModel):
    """A text, and whether it reports that an action was done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    reports: bool
    half: Half
    kind: Kind | None = None
    """Of a written text."""


def read_written(language: str) -> tuple[LabelledText, ...]:
    """Read the texts that were written for a language."""
    return _read(_WRITTEN / f"{language}.jsonl")


def read_recorded() -> tuple[LabelledText, ...]:
    """Read what models said in the recorded runs."""
    return _read(_RECORDED)


class RecordedAnswers(BaseModel):
    """What a model said in a recorded run, and what came of its calls."""

    model_config = ConfigDict(extra="ignore")

    resp: str | None
    """The final answer."""
    asst: list[RecordedMessage]
    results: list[RecordedResult]


def read_runs(name: str) -> list[RecordedAnswers]:
    """Read the recorded runs of one of their files."""
    lines = (_RUNS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [RecordedAnswers.model_validate_json(line) for line in lines if line]


def _read(path: Path) -> tuple[LabelledText, ...]:
    lines = path.read_text(encoding="utf-8").split("\n")  # a line of JSON may hold other line separators
    return tuple(LabelledText.model_validate_json(line) for line in lines if line)

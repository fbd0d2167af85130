"""The labelled answers, and the question that they were given to.

Knows the format of the fixtures; must not know how answers are understood.
"""

import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from custom_components.chatterbox.approvals.answers.language import Action
from custom_components.chatterbox.approvals.answers.yes_or_no import (
    Meaning,
    QuestionContext,
)

_WRITTEN = Path(__file__).parents[2] / "fixtures" / "confirmation"
_OTHER_LANGUAGES = tomllib.loads((_WRITTEN / "other_languages.toml").read_text("utf-8"))
OTHER_LANGUAGES = tuple(_OTHER_LANGUAGES)
"""The languages of which only a yes, a no and the digits are known."""

NAMES = {
    "de": "Haustür",
    "en": "Front door",
    "es": "Puerta principal",
    "fr": "Porte d'entrée",
    "it": "Porta d'ingresso",
    "nl": "Voordeur",
    "pl": "Drzwi wejściowe",
    "pt": "Porta da frente",
    "sv": "Ytterdörren",
    "zh": "前门",
}
"""The name of the door, in each language that there are answers in."""


class Kind(StrEnum):
    """How somebody agrees, declines, or does neither."""

    PLAIN = "plain"
    POLITE = "polite"
    ACTION = "action"
    REFUSAL = "refusal"
    LATER = "later"
    MIXED = "mixed"
    MORE = "more"
    DEVICE = "device"
    OPPOSITE = "opposite"
    DOUBT = "doubt"
    QUESTION = "question"
    QUOTE = "quote"
    NEGATION = "negation"
    UNRELATED = "unrelated"
    NUMBER = "number"
    DISGUISE = "disguise"


class LabelledAnswer(BaseModel):
    """An answer of a person, and its meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    answer: Meaning
    kind: Kind


def question_in(language: str) -> QuestionContext:
    """Return the question, "Unlock the front door?"."""
    return QuestionContext(
        Action.UNLOCK, (NAMES[language],) if language in NAMES else ()
    )


def labelled_answers(language: str) -> Iterator[tuple[str, Meaning]]:
    """Yield the answers of any language, and what they are."""
    if language in NAMES:
        yield from ((one.text, one.answer) for one in read_answers(language))
        return
    for answer, texts in _OTHER_LANGUAGES[language].items():
        yield from ((text, Meaning(answer)) for text in texts)


def read_answers(language: str) -> tuple[LabelledAnswer, ...]:
    """Read the answers that were written for a language."""
    lines = (_WRITTEN / f"{language}.jsonl").read_text(encoding="utf-8").split("\n")
    return tuple(LabelledAnswer.model_validate_json(line) for line in lines if line)

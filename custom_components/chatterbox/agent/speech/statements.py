"""Reads an answer of a model clause by clause: whether it reports an action, cannot act, announces one, or asks.

Only what is worded plainly counts: a clause that no pattern describes is `Statement.OTHER`, so that a reason is not
taken for a report. `languages/<language>.toml` has the patterns; an answer may also be in English.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from ..text import HAN, base_language, fold, heard_words, read_language_files
from .speech_filter import QUESTION_MARKS, asks_back

_LONGEST: Final = 600
"""Characters of an answer that is read; a longer one has more to say than that something was done."""
_CLAUSE_END: Final = re.compile(
    rf"(?<=[{re.escape(QUESTION_MARKS)}.!…])\s+|[,;:](?=\s|$)|\s[-\u2013\u2014]+\s|\u2014"
    "|[\n。、\uff01\uff0c\uff1a\uff1b]"
)
_AROUND: Final = " \t\n.!…*_\"'()[]`\u201c\u201d«»„" + QUESTION_MARKS
_SPELLING: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "*": None, "_": None})
_SHORT_WORD: Final = 3
"""Letters of an article or a preposition, which do not tell what a sentence is about."""


class Statement(Enum):
    """What a clause says."""

    DONE = auto()
    """An action was done, or is under way: "I've turned on the lamp"."""
    STATE = auto()
    """What the request is about has a state: "The lamp is on"."""
    CANNOT = auto()
    """The model cannot act: "I can't control that"."""
    ANNOUNCEMENT = auto()
    """The model is about to look or to act: "Let me check"."""
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """What an answer says."""

    statements: tuple[Statement, ...]
    """In their order; clauses that say nothing ("Sure", "Sorry") are left out."""
    asks: bool
    """Whether it contains a question, other than whether anything else is wanted."""
    has_reservations: bool
    """Whether it gives a reason, states a preference, or asks for a detail without a question mark."""
    has_conditions: bool = False
    """Whether the person has to say or to allow something first: "Say yes and I'll turn it on"."""

    @property
    def ends_with_announcement(self) -> bool:
        """Whether nothing follows what was announced, and nobody is asked for anything first."""
        return not (self.asks or self.has_conditions) and self.statements[-1:] == (Statement.ANNOUNCEMENT,)


class _Patterns(BaseModel):
    """The fields of a language file: regular expressions for clauses, without regard to capitals and accents.

    `<verbs>` stands for one of the `verbs`. Patterns are searched, those of `fillers` describe a whole clause.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    verbs: str
    """Forms of the verbs for actions in a home, divided by spaces."""
    done: tuple[str, ...]
    states: tuple[str, ...]
    """The group `subject` is what has the state."""
    pronouns: str
    """Subjects that stand for what the request is about."""
    cannot: tuple[str, ...]
    announcements: tuple[str, ...]
    fillers: tuple[str, ...]
    reservations: tuple[str, ...]
    conditions: tuple[str, ...]

    def compiled(self, patterns: tuple[str, ...]) -> re.Pattern[str]:
        """Return one expression for all patterns of a field."""
        verbs = "(?:" + "|".join(fold(self.verbs).split()) + ")"
        folded = "|".join(f"(?:{fold(pattern)})" for pattern in patterns)
        return re.compile(folded.replace("<verbs>", verbs).replace("(?<", "(?P<"))


_LANGUAGES: Final = read_language_files(Path(__file__).with_name("languages"), _Patterns)
"""By language code (ISO 639-1). Read at import, which Home Assistant does in an executor."""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The patterns of a language, compiled."""

    done: re.Pattern[str]
    states: re.Pattern[str]
    pronouns: frozenset[str]
    cannot: re.Pattern[str]
    announcements: re.Pattern[str]
    fillers: re.Pattern[str]
    reservations: re.Pattern[str]
    conditions: re.Pattern[str]

    def statement(self, clause: str, request: frozenset[str]) -> Statement | None:
        """Return what a clause says; None for a filler."""
        if self.fillers.fullmatch(clause):
            return None
        if self.announcements.search(clause):
            return Statement.ANNOUNCEMENT
        if self.cannot.search(clause):
            return Statement.CANNOT
        if (state := self.states.search(clause)) is not None:
            subject = _content_words(state["subject"])
            is_meant = bool(subject & request) or state["subject"] in self.pronouns
            return Statement.STATE if is_meant else Statement.OTHER
        return Statement.DONE if self.done.search(clause) else Statement.OTHER


def answer_content(answer: str, request: str, language: str) -> AnswerContent:
    """Return what an answer to a request says. `language` is a BCP 47 tag; in others than ten, English is known."""
    if len(answer) > _LONGEST:
        return AnswerContent((Statement.OTHER,), asks=asks_back(answer, language), has_reservations=True)
    about = _content_words(fold(request))
    grammars = [_grammar(one) for one in dict.fromkeys((base_language(language), "en")) if one in _LANGUAGES]
    statements: list[Statement] = []
    asks = has_reservations = has_conditions = False
    for clause, is_question in _clauses(answer):
        said = [grammar.statement(clause, about) for grammar in grammars]
        if None in said:
            continue
        asks = asks or is_question
        has_reservations = has_reservations or any(grammar.reservations.search(clause) for grammar in grammars)
        has_conditions = has_conditions or any(grammar.conditions.search(clause) for grammar in grammars)
        statements.append(next((one for one in said if one and one is not Statement.OTHER), Statement.OTHER))
    return AnswerContent(tuple(statements), asks, has_reservations, has_conditions)


def _clauses(answer: str) -> Iterator[tuple[str, bool]]:
    """Yield the folded clauses of an answer, and whether each ends with a question mark."""
    for part in _CLAUSE_END.split(answer.translate(_SPELLING)):
        clause = " ".join(fold(part).strip(_AROUND).split())
        if clause or any(mark in part for mark in QUESTION_MARKS):
            yield clause, any(mark in part for mark in QUESTION_MARKS)


def _content_words(folded: str) -> frozenset[str]:
    words = heard_words(folded)
    return frozenset(word for word in words if len(word) > _SHORT_WORD or re.match(f"[{HAN}]", word))


@cache
def _grammar(language: str) -> _Grammar:
    patterns = _LANGUAGES[language]
    return _Grammar(
        done=patterns.compiled(patterns.done),
        states=patterns.compiled(patterns.states),
        pronouns=frozenset(fold(patterns.pronouns).split()),
        cannot=patterns.compiled(patterns.cannot),
        announcements=patterns.compiled(patterns.announcements),
        fillers=patterns.compiled(patterns.fillers),
        reservations=patterns.compiled(patterns.reservations),
        conditions=patterns.compiled(patterns.conditions),
    )

"""Reads an answer of a model clause by clause: whether it reports an action, cannot act, announces one, or asks.

Only what is worded plainly counts: a clause that no pattern describes is
`Statement.OTHER`, so that a reason is not taken for a report.
`languages/<language>/speech.toml` has the patterns; an answer may also be in English. Decision
44.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, lru_cache
from typing import Final

from ...agent.text import HAN, base_language, fold, heard_words
from .language import LANGUAGES, StatementPatterns
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
    """The meaning of a clause."""

    DONE = auto()
    """An action was done, or is under way: "I've turned on the lamp"."""
    STATE = auto()
    """The subject of the request has a state: "The lamp is on"."""
    CANNOT = auto()
    """The model cannot act: "I can't control that"."""
    ANNOUNCEMENT = auto()
    """The model is about to look or to act: "Let me check"."""
    OTHER = auto()


REPORTS: Final = frozenset({Statement.DONE, Statement.STATE})
"""Clauses that may tell that something was done."""


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """The meaning of an answer."""

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
        return not (self.asks or self.has_conditions) and self.statements[-1:] == (
            Statement.ANNOUNCEMENT,
        )


@lru_cache(maxsize=2)  # a turn compares its answer several times
def answer_content(
    answer: str,
    request: str,
    language: str,
) -> AnswerContent:
    """Return what an answer to a request says. `language` is a BCP 47 tag; in others than ten, English is known."""
    if len(answer) > _LONGEST:
        return AnswerContent(
            (Statement.OTHER,), asks=asks_back(answer, language), has_reservations=True
        )
    about = _content_words(fold(request))
    codes = dict.fromkeys((base_language(language), "en"))
    known = [LANGUAGES[code].statements for code in codes if code in LANGUAGES]
    statements: list[Statement] = []
    asks = has_reservations = has_conditions = False
    for clause, is_question in _clauses(answer):
        meanings = [_statement(patterns, clause, about) for patterns in known]
        if None in meanings:
            continue
        asks = asks or is_question
        has_reservations = has_reservations or any(
            _compiled(one.verbs, one.reservations).search(clause) for one in known
        )
        has_conditions = has_conditions or any(
            _compiled(one.verbs, one.conditions).search(clause) for one in known
        )
        statements.append(
            next(
                (one for one in meanings if one and one is not Statement.OTHER),
                Statement.OTHER,
            )
        )
    return AnswerContent(
        tuple(statements),
        asks,
        has_reservations,
        has_conditions,
    )


def _clauses(answer: str) -> Iterator[tuple[str, bool]]:
    """Yield the folded clauses of an answer, and whether each ends with a question mark."""
    for part in _CLAUSE_END.split(answer.translate(_SPELLING)):
        clause = " ".join(fold(part).strip(_AROUND).split())
        if clause or any(mark in part for mark in QUESTION_MARKS):
            yield clause, any(mark in part for mark in QUESTION_MARKS)


def _content_words(folded: str) -> frozenset[str]:
    words = heard_words(folded)
    return frozenset(
        word for word in words if len(word) > _SHORT_WORD or re.match(f"[{HAN}]", word)
    )


def _statement(
    patterns: StatementPatterns, clause: str, request: frozenset[str]
) -> Statement | None:
    """Return what a clause says; None for a filler."""
    if _compiled(patterns.verbs, patterns.fillers).fullmatch(clause):
        return None
    if _compiled(patterns.verbs, patterns.announcements).search(clause):
        return Statement.ANNOUNCEMENT
    if _compiled(patterns.verbs, patterns.cannot).search(clause):
        return Statement.CANNOT
    state = _compiled(patterns.verbs, patterns.states).search(clause)
    if state is not None:
        subject = _content_words(state["subject"])
        is_meant = (
            bool(subject & request)
            or state["subject"] in fold(patterns.pronouns).split()
        )
        if is_meant:
            return Statement.STATE
        return Statement.OTHER
    if _compiled(patterns.verbs, patterns.done).search(clause):
        return Statement.DONE
    return Statement.OTHER


@cache
def _compiled(
    verbs: str,
    patterns: tuple[str, ...],
) -> re.Pattern[str]:
    """Return one expression for all patterns of a field."""
    one_verb = f"(?:{'|'.join(fold(verbs).split())})"
    folded = fold("|".join(f"(?:{pattern})" for pattern in patterns))
    return re.compile(folded.replace("<verbs>", one_verb).replace("(?<", "(?P<"))

"""Understands that guest mode is to be switched on or off: "guest mode on", "we have guests"."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final, TypedDict

from ..agent.text import read_language_files
from ..speech.text.phrases import divided
from .lexicon import COMMA, Lexicon, Role, tokens_of_phrase

_QUESTION_MARKS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")
_MODE: Final = "*"
"""Stands for each of the names of guest mode."""


class _GuestWords(TypedDict):
    mode: str
    """The names of guest mode."""
    on: str
    """Whole sentences that want it on; `*` stands for its name."""
    off: str


class GuestModeWish(StrEnum):
    """A wish about guest mode; the values are fields of the words."""

    ON = "on"
    OFF = "off"


_LANGUAGES: Final = read_language_files("guests", _GuestWords)


@cache
def _sentences(
    language: str,
    wish: GuestModeWish,
) -> frozenset[tuple[str, ...]]:
    known = _LANGUAGES[language]
    sentences = (
        sentence.replace(_MODE, mode)
        for sentence in divided(known["off" if wish is GuestModeWish.OFF else "on"])
        for mode in divided(known["mode"])
    )
    return frozenset(tuple(tokens_of_phrase(sentence)) for sentence in sentences)


def guest_mode_wish(
    sentence: str,
    words: Lexicon,
) -> GuestModeWish | None:
    """Return what a sentence wants of guest mode; None for any other sentence."""
    code = words.language
    heard = [one.word for one in words.tokens(sentence) if one.word != COMMA]
    is_question = sentence.rstrip().endswith(_QUESTION_MARKS)
    for wish in GuestModeWish if code in _LANGUAGES else ():
        for phrase in _sentences(code, wish):
            # "Guest mode on?" asks; "could you turn guest mode on?" does not.
            asks = is_question and len(heard) == len(phrase)
            if not asks and _is_said(phrase, heard, 0, words):
                return wish
    return None


def _is_said(
    phrase: tuple[str, ...],
    heard: Sequence[str],
    start: int,
    words: Lexicon,
) -> bool:
    """Return whether the words from one on are a phrase, apart from courtesy."""
    if start == len(heard):
        return not phrase
    if phrase and phrase[0] == heard[start]:
        return _is_said(
            phrase[1:],
            heard,
            start + 1,
            words,
        )
    found = words.phrases.found(heard, start)
    ends = [end for end, one in found if one.role is Role.FILLER]
    return any(_is_said(phrase, heard, end, words) for end in ends)

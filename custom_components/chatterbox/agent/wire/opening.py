"""Patterns that can say "not yet": for text that arrives in pieces.

A regular expression tells whether a text matches; a stream also has to know whether it may
still match when more comes. Knows patterns; nothing of what they are for.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, assert_never


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several texts, whatever their case unless it counts."""

    texts: tuple[str, ...]
    case_counts: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Up to `most` characters of a class, which is written as in a regular expression."""

    characters: str
    most: int | None = None
    least: int = 0


type Part = str | OneOf | Run

NOT_YET: Final = "not yet"


class Opening:
    """A sequence of parts: plain text, in any case, a choice of texts, or a run of characters."""

    def __init__(self, *parts: Part, then: str = "") -> None:
        """Make the pattern. `then` is one class of characters that has to follow and is not part of it."""
        whole = [_whole(part) for part in parts]
        begun = ["".join(whole[:index]) + _begun(part) for index, part in enumerate(parts)]
        if then:
            begun.append("".join(whole))
            whole.append(f"(?={then})")
        self._whole = re.compile("".join(whole), re.IGNORECASE)
        self._begun = re.compile(f"(?:{'|'.join(begun)})\\Z", re.IGNORECASE)

    def match(self, text: str, position: int) -> re.Match[str] | Literal["not yet"] | None:
        """Match at `position`; `NOT_YET` when the text ends too early to tell."""
        if found := self._whole.match(text, position):
            return found
        return NOT_YET if self._begun.match(text, position) else None


def _whole(part: Part) -> str:
    match part:
        case str():
            return re.escape(part)
        case OneOf(texts, case_counts):
            longest_first = sorted(texts, key=len, reverse=True)
            return f"{_group(case_counts=case_counts)}{'|'.join(map(re.escape, longest_first))})"
        case Run(characters, most, least):
            return f"{characters}{{{least},{'' if most is None else most}}}"
        case _:
            assert_never(part)


def _begun(part: Part) -> str:
    """Return a pattern for the whole part and for every beginning of it, the empty one too."""
    match part:
        case str():
            return _begun_text(part)
        case OneOf(texts, case_counts):
            return f"{_group(case_counts=case_counts)}{'|'.join(_begun_text(text) for text in texts)})"
        case Run(characters, most, _):
            return f"{characters}{{0,{'' if most is None else most}}}"
        case _:
            assert_never(part)


def _group(*, case_counts: bool) -> str:
    return "(?-i:" if case_counts else "(?:"


def _begun_text(text: str) -> str:
    return "".join(f"(?:{re.escape(char)}" for char in text) + ")?" * len(text)

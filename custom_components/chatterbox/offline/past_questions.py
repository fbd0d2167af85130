"""Recognizes questions about what was: when something was last so, whether it was so, and for how long.

Home Assistant's own sentences ask about the present. Templates and words by language are in `past_questions.toml`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from ..agent.messages import JsonObject
from ..agent.text import base_language, heard_words, read_data_file
from ..home.entities import Home

_MOST_WORDS: Final = 24
_PART: Final = re.compile(r"\{\w+\}|[()\[\]|]|[^{}()\[\]|]+")
_MARKS: Final = {"(": "(?:", "[": "(?:", "]": ")?", ")": ")", "|": "|"}


class PastForm(StrEnum):
    """A kind of question."""

    LAST = "last"
    """When something was last so."""
    WHETHER = "whether"
    LENGTH = "length"
    """For how long it was so."""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question about what was."""

    form: PastForm
    arguments: JsonObject
    """Those of the tool that tells what was."""


class _Words(BaseModel):
    """The templates and words of a language. Choices are divided by `|`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    articles: str
    """Words that may stand before a name, a kind or a room."""
    kinds: Mapping[str, str]
    states: Mapping[str, str]
    periods: Mapping[str, str]
    last: tuple[str, ...]
    whether: tuple[str, ...]
    length: tuple[str, ...]


_LANGUAGES: Final = read_data_file(Path(__file__).with_suffix(".toml"), dict[str, _Words])

type _Heard = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Templates:
    """The words of a language, prepared."""

    patterns: Sequence[tuple[PastForm, re.Pattern[str]]]
    articles: Sequence[_Heard]
    """The longest first."""
    kinds: Mapping[_Heard, str]
    states: Mapping[_Heard, str]
    periods: Mapping[_Heard, str]


def past_question(home: Home, text: str, language: str) -> PastQuestion | None:
    """Return what a sentence asks about the past of entities that are exposed; None for any other one."""
    heard = heard_words(text)
    if (base := base_language(language)) not in _LANGUAGES or len(heard) > _MOST_WORDS:
        return None
    templates, spoken = _templates(base), "".join(f"{word} " for word in heard)
    for form, pattern in templates.patterns:
        if found := pattern.fullmatch(spoken):
            parts = {name: tuple((part or "").split()) for name, part in found.groupdict().items()}
            if about := _about(home, templates, parts["entity"]):
                state = {"state": templates.states[parts["state"]]}
                period = {"period": templates.periods[parts["period"]]} if parts.get("period") else {}
                return PastQuestion(form, {**about, **state, **period})
    return None


def _about(home: Home, templates: _Templates, words: _Heard) -> JsonObject | None:
    """Return the arguments for words that name an entity, or a kind of them in the whole home or in a room."""
    names, rooms = _names(home)
    for rest in _without_articles(templates, words):
        if name := names.get(rest):
            return {"name": name}
        for kind, value in templates.kinds.items():
            if rest[: len(kind)] == kind:
                if not (place := rest[len(kind) :]):
                    return {"kind": value}
                if room := next(filter(None, map(rooms.get, _without_articles(templates, place))), None):
                    return {"kind": value, "area": room}
    return None


def _without_articles(templates: _Templates, words: _Heard) -> Iterator[_Heard]:
    """Yield words as they are, and without what stands before a name; elided as in "l'entrée", too."""
    yield words
    for article in templates.articles:
        if article[-1].endswith("'") and words and words[0].startswith(article[-1]):
            yield (words[0].removeprefix(article[-1]), *words[1:])
        elif words[: len(article)] == article:
            yield words[len(article) :]


@lru_cache(maxsize=2)
def _names(home: Home) -> tuple[Mapping[_Heard, str], Mapping[_Heard, str]]:
    """Return the names of entities and of rooms by their words."""
    return (
        {heard_words(name): name for entity in home.entities for name in entity.names},
        {heard_words(name): room.name for room in home.rooms for name in (room.name, *room.aliases)},
    )


@cache
def _templates(language: str) -> _Templates:
    words = _LANGUAGES[language]
    kinds, states, periods = map(_by_words, (words.kinds, words.states, words.periods))
    slots = {
        "{entity}": r"(?P<entity>(?:\S+ )+?)",
        "{state}": f"(?P<state>{_choices(states)})",
        "{period}": f"(?P<period>{_choices(periods)})",
    }
    written = {PastForm.LAST: words.last, PastForm.WHETHER: words.whether, PastForm.LENGTH: words.length}
    patterns = [(form, _pattern(template, slots)) for form, several in written.items() for template in several]
    articles = sorted(map(_elided, words.articles.split("|")), key=len, reverse=True)
    return _Templates(patterns, articles, kinds, states, periods)


def _elided(text: str) -> _Heard:
    """Return the words of a text; an elided one keeps its apostrophe."""
    words = heard_words(text)
    return (*words[:-1], f"{words[-1]}'") if text.strip().endswith("'") else words


def _by_words(values: Mapping[str, str]) -> Mapping[_Heard, str]:
    return {heard_words(choice): value for value, choices in values.items() for choice in choices.split("|")}


def _choices(values: Mapping[_Heard, str]) -> str:
    spoken = ("".join(f"{re.escape(word)} " for word in words) for words in values)
    return "|".join(sorted(spoken, key=len, reverse=True))


def _pattern(template: str, slots: Mapping[str, str]) -> re.Pattern[str]:
    """Return a pattern for words that end with a space each."""
    parts = (
        slots.get(part) or _MARKS.get(part) or "".join(f"{re.escape(word)} " for word in heard_words(part))
        for part in _PART.findall(template)
    )
    return re.compile("".join(parts))

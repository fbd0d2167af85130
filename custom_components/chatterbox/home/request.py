"""The words of a person, and the things at home that they may mean.

A model chooses names and rooms; what the person said is known without it. Words are
compared folded, and with the endings that languages give to names: "Küche" is in
"Küchenlicht", "kuchnia" in "kuchni".
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from ..agent.text import (
    MOST_COMPARED,
    base_language,
    heard_words,
    read_language_files,
    words_alike,
)
from .entities import telling_words

type _Phrases = Mapping[str, Sequence[str]]

_ASKING: Final = (
    "asks",
    "asks_within",
    "asks_marked",
    "unless",
)
_NO_WISH: Final = frozenset({"articles", "where", *_ASKING})
QUESTION_ENDS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")


def _pattern(
    phrase: str,
    articles: Sequence[str],
) -> re.Pattern[str]:
    """Return an expression for a phrase in words that are divided by spaces.

    The last of several parts is a preposition before an article or a number: "the lamp
    on the desk", "auf 50 %".
    """
    parts = [rf"\b({' '.join(heard_words(part))})\b" for part in phrase.split("*")]
    if len(parts) > 1:
        end = rf"(?! (?:\d|(?:{'|'.join(articles)})\b))"
    else:
        end = ""
    return re.compile(
        rf" (?:(?!{parts[0].replace('(', '(?:')})\S+ )*?".join(parts) + end
    )


# Each field but those named here has ways to want something done: "open", "off". `*` stands
# for any words between two others. Where phrases overlap, the longest counts: "take it off
# mute" wants no "off". Words that often mean something else are left out. Beside one of
# `told`, which tell of something, make a condition or join two wishes, nothing is plainly
# wanted; `named` has phrases that name a thing. After `articles`, the last part of a phrase
# with `*` is a preposition: "the lamp on the desk". `where` has phrases before the name of a
# place, and `pause` those ways to say `stop` that want nothing to move. A question begins with
# one of `asks`, or holds one of `asks_marked` and ends with a question mark, unless it also
# holds one of `unless`, as "can you" in a polite command; or it holds one of `asks_within`.
_PHRASES: Final[Mapping[str, _Phrases]] = read_language_files(
    "wishes", dict[str, list[str]]
)
_WANTED: Final = {
    language: [
        (wanted, _pattern(way, phrases.get("articles", ("-",))))
        for wanted, ways in phrases.items()
        if wanted not in _NO_WISH
        for way in ways
    ]
    for language, phrases in _PHRASES.items()
}
"""Phrases by language and by what they want done; those of `told` and `named` want nothing."""


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{'|'.join(' '.join(heard_words(one)) for one in phrases) or '(?!)'})\b"
    )


_PLACES: Final = {
    language: re.compile(rf"{_any_of(phrases.get('where', ())).pattern} (\S+)")
    for language, phrases in _PHRASES.items()
}
_ASKS: Final = {
    language: [_any_of(phrases.get(field, ())) for field in _ASKING]
    for language, phrases in _PHRASES.items()
}
"""The patterns of questions, by language."""


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a person, and where they were said."""

    hass: HomeAssistant
    text: str = ""
    """Empty if nobody said anything, or if it is not known."""
    area_id: str | None = None
    """The area of the device that heard them."""
    language: str = "en"
    words: tuple[str, ...] = field(
        init=False,
        compare=False,
    )
    """The words, the last ones of a long text."""
    _meant: dict[str, frozenset[str]] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )
    """Those words that are forms of a word, by that word."""

    def __post_init__(self) -> None:
        """Find the words."""
        object.__setattr__(
            self,
            "words",
            heard_words(self.text[-MOST_COMPARED:]),
        )

    @property
    def places(self) -> frozenset[str]:
        """The words that stand where a place is named: "in the attic"."""
        pattern = _PLACES.get(base_language(self.language))
        if pattern:
            return frozenset(pattern.findall(" ".join(self.words)))
        return frozenset()

    @property
    def asks(self) -> bool:
        """Whether the words ask how things are, or were, and nothing follows the question."""
        words = " ".join(self.words)
        text = self.text.rstrip()
        bare = text.rstrip("".join(QUESTION_ENDS))
        patterns = _ASKS.get(base_language(self.language))
        if (
            patterns is None
            or len(text) > MOST_COMPARED
            or any(mark in bare for mark in QUESTION_ENDS)
        ):
            return False
        begins, within, marked, unless = patterns
        is_marked = bare != text and marked.search(words)
        return bool(
            within.search(words)
            or ((begins.match(words) or is_marked) and not unless.search(words))
        )

    @property
    def wanted(self) -> frozenset[str]:
        """The wishes of the words, as far as they are plain commands: "open", "off"; see `wishes.toml`."""
        words = " ".join(self.words)
        phrases = _WANTED.get(
            base_language(self.language),
            (),
        )
        found = [
            (match, wanted)
            for wanted, pattern in phrases
            for match in pattern.finditer(words)
        ]
        if len(self.text) > MOST_COMPARED or any(
            wanted == "told" for _, wanted in found
        ):
            return frozenset()
        taken: dict[int, re.Match[str]] = {}
        counted: set[str] = set()
        for match, wanted in sorted(found, key=_precedence):
            places = [
                place
                for group in range(match.re.groups)
                for place in range(*match.span(group + 1))
            ]
            if all(
                place not in taken or taken[place].regs == match.regs
                for place in places
            ):
                taken |= dict.fromkeys(places, match)
                counted.add(wanted)
        return frozenset(counted - {"named"})

    def may_mean(
        self,
        kind: str,
        place_ids: AbstractSet[str],
    ) -> bool:
        """Return whether the words may mean one of some areas or floors: they name it, or it is around the person."""
        if not self.text:
            return bool(place_ids)
        areas = ar.async_get(self.hass)
        floors = fr.async_get(self.hass)
        if self.area_id:
            here = areas.async_get_area(self.area_id)
        else:
            here = None
        if here and not place_ids.isdisjoint(
            {here.id} if kind == "area" else {here.floor_id}
        ):
            return True
        places = map(
            areas.async_get_area if kind == "area" else floors.async_get_floor,
            place_ids,
        )
        return any(
            self.has_word_of(place.name, *place.aliases) for place in places if place
        )

    def has_word_of(self, *names: str) -> bool:
        """Return whether the words hold a word of one of some names."""
        return bool(self.words_of(names))

    def words_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return those words that are words of some names, or forms of them."""
        if not self.words:
            return frozenset()
        forms = _telling(tuple(names))
        self._meant.update(
            {
                form: words_alike(self.words, (form,))
                for form in forms - self._meant.keys()
            }
        )
        return frozenset[str]().union(*(self._meant[form] for form in forms))


@lru_cache(maxsize=4096)
def _telling(names: tuple[str, ...]) -> frozenset[str]:
    return telling_words(*names)


def _precedence(found: tuple[re.Match[str], str]) -> tuple[int, int, int]:
    """Return a key by which the most words are first, of as many those that stand closest, then those said first."""
    match, _ = found
    return (
        -sum(len(part.split()) for part in match.groups()),
        match.end() - match.start(),
        match.start(),
    )

"""Guesses which command was said from words that were misheard.

Names and beginnings are replaced by those that sound alike, and a guess counts only if Home Assistant understands the
whole sentence then. It is always asked about. Sounds are compared by letters and by groups of consonants that
recognizers mix up, with `difflib`. Weighed: rapidfuzz and jellyfish, which Home Assistant does not install and which
build from C or Rust; Metaphone, which knows English alone; `gazetteer_matcher.fuzzy`, a private part of a dependency.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations, groupby
from pathlib import Path
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from pydantic import BaseModel, ConfigDict
from unicode_rbnf import RbnfEngine

from ..agent.text import base_language, fold, read_data_file
from ..effects.effect import NOTHING, Touches, Unresolved
from ..effects.recognition import async_recognize
from ..home.entities import Home, async_get_home
from .sentence_effects import async_is_certain, async_sentence_effects

_ALIKE: Final = 0.58
"""Likeness from which two names may have been the same."""
_ALIKE_OPENING: Final = 0.75
_ALIKE_WORD: Final = 0.5
"""The same, for each of several words."""
_MISHEARD: Final = 0.9
"""Likeness of what is known to be misheard."""
_MOST_NAMES: Final = 8
_MOST_GUESSES: Final = 24
_MOST_WORDS: Final = 24
_MOST_OTHER_WORDS: Final = 2
"""Words that a name may be heard with in addition."""
_LARGEST: Final = 100
"""Number that is compared as it sounds."""
_WORD: Final = re.compile(r"[\w']+")
_GROUPS: Final = str.maketrans("bdgqcvwzxj", "ptkkkffsss")
"""Consonants that recognizers mix up."""
_UNHEARD: Final = re.compile(r"[aeiouyh' ]+")


class _Words(BaseModel):
    """The words of a language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    openings: str
    """Beginnings of requests, divided by commas."""
    misheard: Mapping[str, str] = {}
    """Beginnings that stand for others, divided by commas, although these sound otherwise."""
    particles: str = ""
    """Words that end a request, and are heard as a part of the name before them, divided by spaces."""


_WORDS: Final = read_data_file(Path(__file__).with_name("misheard.toml"), dict[str, _Words])


@dataclass(frozen=True, slots=True)
class _Guess:
    """A part of a sentence that may have been said."""

    start: int
    end: int
    text: str
    likeness: float


_NO_GUESS: Final = _Guess(0, 0, "", 1.0)


def guesses(home: Home, text: str, language: str) -> Sequence[tuple[str, float]]:
    """Return sentences that may have been said in place of one, with their likeness to it, the likeliest first."""
    words, found = _WORDS.get(base_language(language)), [*_WORD.finditer(text)]
    if words is None or not words.openings or not 1 < len(found) <= _MOST_WORDS:
        return ()
    guessed: dict[str, float] = {}
    names = [_NO_GUESS, *_names(home, found, words, language)]
    for opening in (_NO_GUESS, *_openings(found, words)):
        for name in names:
            start = name.start or opening.end
            if opening.end <= start:
                sentence = opening.text + text[opening.end : start] + name.text + text[max(name.end, start) :]
                likeness = opening.likeness * name.likeness
                guessed[sentence] = max(guessed.get(sentence, 0.0), likeness)
    guessed.pop(text, None)
    return sorted(guessed.items(), key=lambda one: -one[1])[:_MOST_GUESSES]


def _openings(found: Sequence[re.Match[str]], words: _Words) -> Iterator[_Guess]:
    """Yield beginnings that sound like the first one or two words, unless these are one."""
    ends = [one.end() for one in found[:2]]
    heard = [fold(found[0].string[found[0].start() : end]) for end in ends]
    known = [(one, fold(one)) for one in _divided(words.openings)]
    is_opening = any(folded in heard for _, folded in known)
    for end, start in zip(ends, heard, strict=True):
        yield from (_Guess(0, end, one, _MISHEARD) for one in _divided(words.misheard.get(start, "")))
        for one, folded in () if is_opening else known:
            if (likeness := _likeness(start, folded)) >= _ALIKE_OPENING:
                yield _Guess(0, end, one, likeness)


def _names(home: Home, found: Sequence[re.Match[str]], words: _Words, language: str) -> list[_Guess]:
    """Return the names that sound like some of the words, the likeliest first."""
    names, known = _names_of(home)
    heard = [_sounded(one[0], language) for one in found]
    guessed = [
        _Guess(found[start].start(), found[end - 1].end(), f"{name} {particle}".strip(), likeness)
        for start, end in combinations(range(1, len(heard) + 1), 2)
        for name, own in names.items()
        if -1 <= end - start - len(own) <= _MOST_OTHER_WORDS
        for particle in ("", *words.particles.split())
        if (likeness := _likeness_of_names(heard[start:end], (*own, *([fold(particle)] if particle else [])), known))
        >= _ALIKE
    ]
    return sorted(guessed, key=lambda one: -one.likeness)[:_MOST_NAMES]


def _likeness_of_names(heard: Sequence[str], name: Sequence[str], known: frozenset[str]) -> float:
    """Return how much words sound like a name, without those that both have; 0 if one of them is another name."""
    shared = set(heard) & set(name)
    rest, own = [one for one in heard if one not in shared], [one for one in name if one not in shared]
    if not rest or not own or not known.isdisjoint(rest):
        return 0.0
    if len(rest) == len(own) and min(map(_likeness, rest, own, strict=True)) < _ALIKE_WORD:
        return 0.0
    return _likeness("".join(rest), "".join(own))


def _likeness(one: str, other: str) -> float:
    """Return how alike two words sound: 1 for the same. Letters count twice as much as consonants alone."""
    pairs = ((one, other), (one, other), (_skeleton(one), _skeleton(other)))
    return sum(SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs) / len(pairs)


@lru_cache(maxsize=8192)
def _skeleton(word: str) -> str:
    """Return the consonants of a word, those that sound alike as one."""
    consonants = _UNHEARD.sub("", word.replace("sch", "s").translate(_GROUPS))
    return "".join(one for one, _ in groupby(consonants))


@lru_cache(maxsize=256)
def _sounded(word: str, language: str) -> str:
    """Return a heard word as it sounds: digits as a word."""
    if word.isascii() and word.isdecimal() and int(word) <= _LARGEST:
        return fold(RbnfEngine.for_language(base_language(language)).format_number(int(word)).text)
    return fold(word)


@lru_cache(maxsize=2)
def _names_of(home: Home) -> tuple[Mapping[str, tuple[str, ...]], frozenset[str]]:
    """Return the words of each name of a home, and the names of a single word."""
    named = (
        *(entity.names for entity in home.all_entities),
        *((room.name, *room.aliases) for room in home.rooms),
        *((floor.name, *floor.aliases) for floor in home.floors),
    )
    names = {name: tuple(_WORD.findall(fold(name))) for several in named for name in several}
    return names, frozenset(words[0] for words in names.values() if len(words) == 1)


def _divided(texts: str) -> list[str]:
    return [text for text in map(str.strip, texts.split(",")) if text]


async def async_meant(hass: HomeAssistant, user_input: ConversationInput) -> str:
    """Return the command that was probably said in place of words that are not understood; empty if there is none.

    Questions are not guessed: their answers do not tell what was understood.
    """
    home, language = async_get_home(hass, conversation.DOMAIN), user_input.language
    guessed = await hass.async_add_executor_job(lambda: guesses(home, user_input.text, language))
    best, likest = "", 0.0
    meant: Touches | Unresolved = NOTHING
    for text, likeness in guessed:
        if likeness < likest:
            break
        guess = replace(user_input, text=text)
        found = await async_recognize(hass, guess)
        if (found is None or found.is_question) and not await async_is_certain(hass, guess):
            continue
        effects = await async_sentence_effects(hass, guess, "")
        if best and effects != meant:
            return ""  # two of them sound the same
        best, likest, meant = best or text, likeness, effects
    return best

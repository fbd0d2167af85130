"""Guesses which command was said from words that were misheard.

Names and beginnings are replaced by those that sound alike, and a guess counts only if
Home Assistant understands the whole sentence then. It is always asked about. Sounds are
compared by letters and by groups of consonants that recognizers mix up, with `difflib`.
Weighed: rapidfuzz and jellyfish, which Home Assistant does not install and which build
from C or Rust; Metaphone, which knows English alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from itertools import combinations, groupby
from typing import Final
from zlib import crc32

from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from pydantic import BaseModel, ConfigDict
from unicode_rbnf import RbnfEngine

from ..agent.text import base_language, fold, read_language_files
from ..effects.effect import NOTHING, ActionKind, Effects, kind_of
from ..effects.reading import async_is_explained
from ..effects.recognition import async_recognize
from ..home.entities import Home, async_get_home
from ..nlu.lexicon import lexicon
from ..speech.text.phrases import divided
from ..speech.text.times import times_in
from .sentence_effects import async_read_sentence, async_sentence_effects

_ALIKE: Final = 0.58
"""Likeness from which two names may have been the same."""
_ALIKE_OPENING: Final = 0.75
_ALIKE_WORD: Final = 0.5
"""The same, for each of several words."""
_MISHEARD: Final = 0.9
"""Likeness of what is known to be misheard."""
_APART: Final = 0.1
"""Likeness by which "on" is likelier than "off"."""
_ALIKE_KINDS: Final = frozenset(
    {
        ActionKind.TURN_ON,
        ActionKind.TURN_OFF,
        ActionKind.TOGGLE,
        ActionKind.CHANGE,
    }
)
"""Kinds of actions that may be guessed beside their opposite, if that is less likely. Others open a door, or run."""
_MOST_COMPARED: Final = 60
"""Names that are compared letter by letter: those that share most letters."""
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


_WORDS: Final = read_language_files("misheard", _Words)


@dataclass(frozen=True, slots=True)
class _Guess:
    """A part of a sentence that may have been said."""

    start: int
    end: int
    text: str
    likeness: float


_NO_GUESS: Final = _Guess(
    0,
    0,
    "",
    1.0,
)


def guesses(
    home: Home,
    text: str,
    language: str,
) -> Sequence[tuple[str, float]]:
    """Return sentences that may have been said in place of one, with their likeness to it, the likeliest first.

    No name takes the place of a time: what is meant for later would be done at once.
    """
    words = _WORDS.get(base_language(language))
    found = [*_WORD.finditer(text)]
    if words is None or not words.openings or not 1 < len(found) <= _MOST_WORDS:
        return ()
    if is_negated(text, language):
        return ()
    guessed: dict[str, float] = {}
    times = [time.words for time in times_in(text, language)]
    alike = _names(
        home,
        found,
        words,
        language,
    )
    names = [
        _NO_GUESS,
        *(
            one
            for one in alike
            if all(time in text[: one.start] + text[one.end :] for time in times)
        ),
    ]
    for opening in (_NO_GUESS, *_openings(found, words)):
        for name in names:
            start = name.start or opening.end
            if opening.end <= start:
                sentence = (
                    opening.text
                    + text[opening.end : start]
                    + name.text
                    + text[max(name.end, start) :]
                )
                likeness = opening.likeness * name.likeness
                guessed[sentence] = max(
                    guessed.get(sentence, 0.0),
                    likeness,
                )
    guessed.pop(text, None)
    return sorted(guessed.items(), key=lambda one: -one[1])[:_MOST_GUESSES]


def is_negated(text: str, language: str) -> bool:
    """Return whether words hold one by which nothing is asked for."""
    words = lexicon(language)
    return words is not None and words.is_negated(text)


def _openings(
    found: Sequence[re.Match[str]],
    words: _Words,
) -> Iterator[_Guess]:
    """Yield beginnings that sound like the first one or two words, unless these are one."""
    ends = [one.end() for one in found[:2]]
    heard = []
    for end in ends:
        begin = found[0].start()
        heard.append(fold(found[0].string[begin:end]))
    known = [(one, fold(one)) for one in divided(words.openings)]
    is_opening = any(folded in heard for _, folded in known)
    for end, start in zip(ends, heard, strict=True):
        yield from (
            _Guess(
                0,
                end,
                one,
                _MISHEARD,
            )
            for one in divided(words.misheard.get(start, ""))
        )
        for one, folded in () if is_opening else known:
            likeness = _likeness(start, folded)
            if likeness >= _ALIKE_OPENING:
                yield _Guess(
                    0,
                    end,
                    one,
                    likeness,
                )


def _names(
    home: Home,
    found: Sequence[re.Match[str]],
    words: _Words,
    language: str,
) -> list[_Guess]:
    """Return the names that sound like some of the words, the likeliest first. Only the last words hold a particle."""
    heard = [_sounded(one[0], language) for one in found]
    known = frozenset(own[0] for _, own, _ in _names_of(home) if len(own) == 1)
    alike = nlargest(
        _MOST_COMPARED,
        (
            (
                (bits & own_bits).bit_count()
                / (bits.bit_count() + own_bits.bit_count()),
                start,
                end,
                name,
                own,
            )
            for start, end in combinations(range(1, len(heard) + 1), 2)
            for bits in [_bits("".join(heard[start:end]))]
            for particle in (
                "",
                *(words.particles.split() if end == len(heard) else ()),
            )
            for name, own, own_bits in _names_of(home, particle)
            if -1 - bool(particle)
            <= end - start - len(own)
            <= _MOST_OTHER_WORDS - bool(particle)
        ),
    )
    guessed = [
        _Guess(
            found[start].start(),
            found[end - 1].end(),
            name,
            likeness,
        )
        for _, start, end, name, own in alike
        if (likeness := _likeness_of_names(heard[start:end], own, known)) >= _ALIKE
    ]
    return sorted(guessed, key=lambda one: -one.likeness)[:_MOST_NAMES]


def _likeness_of_names(
    heard: Sequence[str], name: Sequence[str], known: frozenset[str]
) -> float:
    """Return how much words sound like a name, without those that both have; 0 if one of them is another name."""
    shared = set(heard) & set(name)
    rest = [one for one in heard if one not in shared]
    own = [one for one in name if one not in shared]
    is_other = (
        len(rest) == len(own)
        and min(map(_likeness, rest, own, strict=True), default=0.0) < _ALIKE_WORD
    )
    if is_other or not known.isdisjoint(rest):
        return 0.0
    return _likeness("".join(rest), "".join(own))


def _likeness(one: str, other: str) -> float:
    """Return how alike two words sound: 1 for the same. Letters count twice as much as consonants alone."""
    pairs = ((one, other), (_skeleton(one), _skeleton(other)))
    letters, consonants = (
        SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs
    )
    return (2 * letters + consonants) / 3


@lru_cache(maxsize=8192)
def _bits(text: str) -> int:
    """Return a number with a bit for each letter and consonant, so that two texts are soon known to share few."""
    parts = ((text, ""), (_skeleton(text), "."))
    marks = (
        f"{letter}{part[:place].count(letter)}{sign}"
        for part, sign in parts
        for place, letter in enumerate(part)
    )
    return sum({1 << crc32(mark.encode()) % 1024 for mark in marks})


@lru_cache(maxsize=8192)
def _skeleton(word: str) -> str:
    """Return the consonants of a word, those that sound alike as one."""
    consonants = _UNHEARD.sub(
        "",
        word.replace("sch", "s").translate(_GROUPS),
    )
    return "".join(one for one, _ in groupby(consonants))


@lru_cache(maxsize=256)
def _sounded(word: str, language: str) -> str:
    """Return a heard word as it sounds: digits as a word."""
    if word.isascii() and word.isdecimal() and int(word) <= _LARGEST:
        return fold(
            RbnfEngine.for_language(base_language(language))
            .format_number(int(word))
            .text
        )
    return fold(word)


@lru_cache(maxsize=16)
def _names_of(
    home: Home, particle: str = ""
) -> Sequence[tuple[str, tuple[str, ...], int]]:
    """Return the names of a home before a particle, with their words and the bits of these."""
    names = dict.fromkeys(f"{name} {particle}".strip() for name in home.all_names)
    known = []
    for name in names:
        own = tuple(_WORD.findall(fold(name)))
        if own:
            known.append((name, own, _bits("".join(own))))
    return known


async def async_meant(
    hass: HomeAssistant,
    user_input: ConversationInput,
) -> str:
    """Return the command that was probably said in place of words that are not understood; empty if there is none.

    Questions are not guessed: their answers do not tell what was understood. Neither is
    a command whose effects are not known, since nobody would be asked about it, nor one
    that may have been its opposite.
    """
    is_unknown = bool((await async_read_sentence(hass, user_input)).unknown)
    if await async_is_explained(hass, user_input, has_names=not is_unknown):
        return ""
    home = async_get_home(hass, conversation.DOMAIN)
    language = user_input.language
    guessed = await hass.async_add_executor_job(
        lambda: guesses(home, user_input.text, language)
    )
    best = ""
    likest = 0.0
    meant: Effects = NOTHING
    for text, likeness in guessed:
        effects = await _async_effects_of(
            hass,
            replace(user_input, text=text),
        )
        if effects == NOTHING:
            continue
        if not best:
            best = text
            likest = likeness
            meant = effects
        elif effects != meant and (
            likeness == likest or _is_opposite(effects, meant, likest - likeness)
        ):
            return ""
    return best


async def _async_effects_of(hass: HomeAssistant, guess: ConversationInput) -> Effects:
    """Return the effects of a guess; none if it is no command."""
    found = await async_recognize(hass, guess)
    is_read = (await async_read_sentence(hass, guess)).calls
    if (found is None or found.is_question) and not is_read:
        return NOTHING
    return await async_sentence_effects(hass, guess)


def _is_opposite(
    one: Effects,
    other: Effects,
    distance: float,
) -> bool:
    """Return whether two guesses do something else to the same entities, and may be confused: always for a door."""
    is_light = all(kind_of(action.action) in _ALIKE_KINDS for action in other.actions)
    is_sure = is_light and distance >= _APART
    return one.entity_ids == other.entity_ids and not is_sure

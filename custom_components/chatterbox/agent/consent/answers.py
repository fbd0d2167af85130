"""Understands what a person says to a question such as "Unlock the front door?", without a model.

Only a plain yes is a yes. It has to be understood from its first word to its last: whatever is said
besides, a condition, an exception, a second wish, another device, a doubt, makes it something
else. Knows words; must not know what was asked to be done, nor by whom, and keeps nothing of what
was said.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Final

from ..text import base_language
from . import WORDINGS
from .reading import Phrase, phrases_of, without_accents, words_of
from .wording import Action, Wording

MAX_WORDS: Final = 16
"""Whoever says more than this says more than yes or no. In Chinese, characters are counted."""
_MAX_CHARACTERS: Final = 200


class Answer(StrEnum):
    """What was said to a question whether something shall be done."""

    YES = "yes"
    NO = "no"
    OTHER = "other"
    """Neither a plain yes nor a plain no; it may be a new request, and is never a yes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question named, so that an answer may repeat it: "yes, unlock the front door"."""

    action: Action | None = None
    """The one thing to be done; None if there is no word for it here, or if several things are to be done."""
    names: tuple[str, ...] = ()
    """What the one device that was asked about is called. A name has to mean this device and no other in the home."""
    place: str = ""
    """What the room is called that the one device is in."""
    several: bool = False
    """True if more than one device was asked about: then "both" is an answer, and a name is none."""
    repetition: str = ""
    """All that was asked, in the words of the question: "unlock the front door and open the garage door"."""

    def __post_init__(self) -> None:
        """Refuse names of several devices."""
        if self.several and (self.names or self.place):
            raise ValueError("a yes that names one of several devices is no yes to all: give no names, and no place")


NOTHING_NAMED: Final = Asked()
"""A question of which an answer repeats nothing."""


def understand_answer(text: str, language: str, asked: Asked = NOTHING_NAMED) -> Answer:
    """Tell what `text` is for an answer, in a language such as `de` or `pt-BR`.

    In a language that is not known here, every answer is `OTHER`.
    """
    language = base_language(language)
    if language not in WORDINGS or len(text) > _MAX_CHARACTERS + len(asked.repetition):
        return Answer.OTHER
    folded = WORDINGS[language].folded
    words = words_of(text, folded)
    if words is None or len(words) > MAX_WORDS + len(words_of(asked.repetition, folded) or ()):
        return Answer.OTHER
    ways = _ways(language, asked)
    if ways.agree(words):
        return Answer.YES
    return Answer.NO if ways.decline(words) else Answer.OTHER


type _Step = tuple[int, frozenset[Phrase], int]
"""From one state, by any of the phrases, to another."""

_BEGUN: Final = 0
_ANSWERED: Final = 1
_FINISHED: Final = 2


@dataclass(frozen=True, slots=True)
class _Ways:
    """The phrases with which one question is answered."""

    yes: frozenset[Phrase]
    yes_alone: frozenset[Phrase]
    behind_yes: frozenset[Phrase]
    no: frozenset[Phrase]
    no_alone: frozenset[Phrase]
    courtesies: frozenset[Phrase]

    def agree(self, words: Phrase) -> bool:
        """Tell whether the words are a plain yes."""
        return self._lead(words, self.yes, self.behind_yes, self.yes_alone)

    def decline(self, words: Phrase) -> bool:
        """Tell whether the words are a plain no."""
        return self._lead(words, self.no, self.no, self.no_alone)

    def _lead(self, words: Phrase, first: frozenset[Phrase], then: frozenset[Phrase], alone: frozenset[Phrase]) -> bool:
        """Tell whether the words, all of them and in their order, are a first phrase and others, or one alone."""
        polite = self.courtesies
        steps: tuple[_Step, ...] = (
            (_BEGUN, polite, _BEGUN),
            (_BEGUN, first, _ANSWERED),
            (_ANSWERED, then | polite, _ANSWERED),
            (_BEGUN, alone, _FINISHED),
            (_FINISHED, polite, _FINISHED),
        )
        reached: list[set[int]] = [{_BEGUN}, *(set[int]() for _ in words)]
        for start, end in combinations(range(len(words) + 1), 2):
            phrase = words[start:end]
            reached[end] |= {
                after for before, phrases, after in steps if before in reached[start] and phrase in phrases
            }
        return not reached[-1].isdisjoint((_ANSWERED, _FINISHED))


@lru_cache(maxsize=4)  # questions, never answers; a quarter of a megabyte each
def _ways(language: str, asked: Asked) -> _Ways:
    """Put together what a language knows and what the question named."""
    wording = WORDINGS[language]
    names = [form.replace("{name}", name) for name in _usable_names(wording, asked.names) for form in wording.named]
    places = [form.replace("{place}", name) for name in _usable_places(wording, asked) for form in wording.placed]
    things = wording.them if asked.several else (*wording.it, *names)
    actions = wording.actions[asked.action] if asked.action else ()
    agreeing = {"action": actions, "order": [one for one in actions if "{it}" not in one], "it": things}
    declining = {"action": actions, "it": (*wording.it, *wording.them, *names)}
    courtesies = _as_said(wording, wording.courtesies)
    repeated = _as_said(wording, (*actions, *(wording.them if asked.several else names), *places), agreeing)
    if (whole := words_of(asked.repetition, wording.folded)) and not _negates(whole, wording):
        repeated |= {whole}
    return _Ways(
        yes=_as_said(wording, wording.yes, agreeing),
        yes_alone=_as_said(wording, wording.yes_alone, agreeing),
        behind_yes=_as_said(wording, wording.behind_yes, agreeing) | repeated,
        no=_as_said(wording, wording.no, declining),
        no_alone=_as_said(wording, wording.no_alone, declining),
        courtesies=courtesies,
    )


def _as_said(
    wording: Wording, templates: Iterable[str], slots: Mapping[str, Iterable[str]] | None = None
) -> frozenset[Phrase]:
    """Return the phrases of templates, also as speech recognition writes them that leaves accents out."""
    phrases = phrases_of(templates, slots)
    kept = wording.accents_matter
    return phrases | {tuple(word if word in kept else without_accents(word) for word in phrase) for phrase in phrases}


def _usable_places(wording: Wording, asked: Asked) -> list[str]:
    """Return the name of the place, unless it could be taken for a no, an action or a time: "in 10 minutes"."""
    return [] if any(map(str.isnumeric, asked.place)) else _usable_names(wording, [asked.place])


def _usable_names(wording: Wording, names: Iterable[str]) -> list[str]:
    """Return the names, without those that could be taken for a no or for an action."""
    told = [one for templates in wording.actions.values() for one in templates]
    actions = phrases_of(told, {"it": (*wording.it, *wording.them)})
    read = [words for name in names if (words := words_of(name, wording.folded))]
    return [" ".join(words) for words in read if words not in actions and not _negates(words, wording)]


def _negates(words: Phrase, wording: Wording) -> bool:
    """Tell whether one of the words says no, all alone."""
    negations = phrases_of((*wording.no, *wording.no_alone))
    return any((word,) in negations for word in words)

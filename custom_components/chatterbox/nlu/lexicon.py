"""The words of a language by what they do in a request, read from its `requests.toml` and `modes.toml`.

A phrase with `…` stands around other words: "turn … off". All phrases are folded.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from ..agent.text import ELIDED, HAN, base_language, read_language_files
from ..speech.text.phrases import (
    PhraseTree,
    Token,
    accented_words,
    divided,
    number_phrases,
    text_tokens,
)

GAP: Final = "…"
ARTICLE: Final = "article"
SLIGHTLY: Final = "slightly"
POLITE: Final = "polite"
ACCENTED: Final = "accented"
EXCEPT: Final = "except"
COMMA: Final = ","
_LETTER: Final = rf"[^\W\d_{HAN}]"
_PAUSES: Final = ".!?;:¡¿。！？；：…"  # noqa: RUF001 - also Chinese marks
_TOKEN: Final = re.compile(
    rf"\d+(?:[.,]\d+)?|,|(?<!\w)-(?=\d)|[%°{HAN}]|(?i:{ELIDED})|{_LETTER}+(?:'{_LETTER}+)*|[^\w\s'{_PAUSES}-]"
)
"""A number, a comma, a minus, a sign of a unit, a word, or any sign that is more than a pause.

A Chinese character is a word, and so is what is elided before one: "l'entrée" are two.
"""
_SHORTEST_STEM: Final = 3
_LONGEST_ENDING: Final = 5


class Role(StrEnum):
    """The part that a phrase has in a request."""

    ACT = "act"
    """Something to do; its value is one of the acts of `commands.py`."""
    VERB = "verb"
    """The first part of an act around other words; its value is the phrase."""
    PARTICLE = "particle"
    """The last part of one."""
    ENTITY = "entity"
    """The name of entities, or a part of it that no others have; its value is a `Named`."""
    PLACE = "place"
    """A room or a floor of the home."""
    KIND = "kind"
    """A kind of entities, such as lights."""
    ASPECT = "aspect"
    """A property that can be more or less: brightness, volume."""
    STATE = "state"
    AMOUNT = "amount"
    """A number with its unit."""
    LIMIT = "limit"
    """Words before an amount that something may be above or below."""
    LEVEL = "level"
    """An amount in words: the most, half."""
    COLOUR = "colour"
    MODE = "mode"
    """A way in which something heats, cools or plays, or a source."""
    QUANTIFIER = "quantifier"
    PRONOUN = "pronoun"
    QUESTION = "question"
    BE = "be"
    """A form of "to be", which begins a question or tells of a state."""
    AND = "joining"
    FILLER = "filler"
    """Words that change nothing: courtesy, articles, prepositions."""
    PREPOSITION = "preposition"
    """The same, before a place or a list."""
    TOPIC = "topic"
    """The subject of a question about the world around the home: the time, the weather."""
    DAY = "day"
    ZONE = "zone"
    """A place elsewhere in the world, whose time is known; its value is a time zone."""
    UNIT = "unit"
    TEXT = "text"
    """Words of the person's own, such as those of an item on a list."""
    REVERSING = "reversing"
    """Words with which a sentence is no plain request: negations, conditions, reports, exceptions."""
    UNKNOWN = "unknown"


PhraseTable = dict[str, dict[str, str] | str]
"""The words of one language: for each role, its phrases divided by commas, mostly by their values.

Beside roles, it has `article`, the fillers that are dropped before an item of a list,
`slightly`, those with which a change is a small one, `polite`, those with which a
command may end as a question, `except`, the reversing words before what a command leaves
out, the texts of `_MARKS`,
`accented`, words that differ from others in an accent alone, such as "apagué", and
`past_day`, the words around a weekday that is past: "last …".
"""
_VALUES_OF_ROLES: Final = {
    ARTICLE: Role.FILLER,
    SLIGHTLY: Role.FILLER,
    POLITE: Role.FILLER,
    EXCEPT: Role.REVERSING,
}
"""Sections that are values of a role."""
_MARKS: Final = (
    "indefinite",
    "endings",
    "clitics",
    "point",
    "heads",
    "negations",
)
"""Texts that name no item of a list, endings of names, pronouns in one word with a verb, decimal points, heads, and
negations.
"""
_PAST: Final = "past_day"
WEEKDAYS: Final = (
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
)


SMALL: Final = frozenset({Role.FILLER, Role.PREPOSITION})
"""The roles of words that name nothing."""
SILENT: Final = SMALL | {Role.AND}
"""Those of words that stand between others."""


_UNDONE_BY: Final = {
    "on": "off",
    "open": "close",
    "mute": "unmute",
}
_UNDOING: Final = _UNDONE_BY | {undoing: act for act, undoing in _UNDONE_BY.items()}
"""Acts, and those that undo them."""


@dataclass(frozen=True, slots=True)
class PhraseMeaning:
    """One meaning of a phrase."""

    role: Role
    value: str


@dataclass(frozen=True, eq=False, slots=True)
class Lexicon:
    """The words of a language. It equals itself alone."""

    language: str
    """Its code."""
    phrases: PhraseTree[PhraseMeaning]
    acts: Mapping[tuple[str, str], tuple[str, ...]]
    """Acts by the two parts of phrases around other words."""
    numbers: PhraseTree[int]
    """Numbers in words."""
    acts_of_verbs: Mapping[str, frozenset[str]]
    """All acts whose first part is a phrase."""
    indefinite: frozenset[str]
    """Folded texts that name no item of a list."""
    endings: frozenset[str]
    """Endings that the words of names may have."""
    clitics: frozenset[str]
    """Pronouns that are written in one word with the verb before them."""
    point: frozenset[str]
    """Words for the decimal separator."""
    heads: frozenset[str]
    """Last parts of names that are written in one word with what tells them apart: "Kaffeemaschine"."""
    negations: frozenset[str]
    """Words by which nothing is asked for."""

    def is_negated(self, text: str) -> bool:
        """Return whether a text has a word by which nothing is asked for."""
        return any(token.word in self.negations for token in self.tokens(text))

    def begins_negated(self, text: str) -> bool:
        """Return whether a text, or what is joined to it, begins with a negation: "milk and not eggs"."""
        heard = [token.word for token in self.tokens(text)]
        starts = {0}
        for at, word in enumerate(heard):
            joining = self.phrases.found(heard, at)
            starts |= {end for end, one in joining if one.role is Role.AND}
            if word == COMMA:
                starts.add(at + 1)
        return any(
            word in self.negations for at, word in enumerate(heard) if at in starts
        )

    def is_reversing(self, word: str) -> bool:
        """Return whether a word is one with which a sentence is no plain request."""
        found = self.phrases.found([word], 0)
        return any(one.role is Role.REVERSING for _, one in found)

    def tokens(self, text: str) -> list[Token]:
        """Return the words, numbers and signs of a text; a comma stands between parts."""
        return tokens(text, self.phrases.accented)

    def begins(
        self,
        meaning: PhraseMeaning,
        acts: AbstractSet[str],
    ) -> bool:
        """Return whether a phrase is, or begins, one of some acts."""
        return not acts.isdisjoint(self.acts_of(meaning))

    def acts_of(self, meaning: PhraseMeaning) -> frozenset[str]:
        """Return the acts that a phrase is, or begins."""
        if meaning.role is Role.VERB:
            return self.acts_of_verbs.get(
                meaning.value,
                frozenset(),
            )
        return frozenset({meaning.value} if meaning.role is Role.ACT else ())

    def joined(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield what stands before each joining word of a text, and the same with that word."""
        heard = self.tokens(text)
        words = [token.word for token in heard]
        for at, token in enumerate(heard):
            for end, one in self.phrases.found(words, at):
                if one.role is Role.AND:
                    yield text[: token.start], text[: heard[end - 1].end]

    def undoing(self, text: str) -> Iterator[str]:
        """Yield a text with an act replaced by the one that undoes it, for each of its acts, the longest first."""
        heard = self.tokens(text)
        acts = sorted(
            self._acts_in([token.word for token in heard]),
            key=lambda one: len(one[1]),
            reverse=True,
        )
        for act, (first, *others) in dict.fromkeys(acts):
            words = dict.fromkeys(others, "")
            words[first] = _first_phrase(self.language, _UNDOING[act])
            undoing = text
            for at in sorted(words, reverse=True):
                token = heard[at]
                undoing = undoing[: token.start] + words[at] + undoing[token.end :]
            yield " ".join(undoing.split())

    def _acts_in(
        self,
        words: Sequence[str],
    ) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the acts in some words that can be undone, and the places of their words."""
        found = [
            (meaning, range(start, end))
            for start in range(len(words))
            for end, meaning in self.phrases.found(words, start)
        ]
        for meaning, places in found:
            if meaning.role is Role.ACT and meaning.value in _UNDOING:
                yield meaning.value, (*places,)
            if meaning.role is not Role.VERB:
                continue
            for particle, after in found:
                pair = (meaning.value, particle.value)
                if particle.role is not Role.PARTICLE or after.start < places.stop:
                    continue
                for act in _UNDOING.keys() & {*self.acts.get(pair, ())}:
                    yield act, (*places, *after)

    def stem(self, word: str) -> str:
        """Return a word of a name without its ending: "kuchni" and "kuchnia" are the same room.

        A word for several of a kind is kept: "światła" are more than what is called
        "Światło".
        """
        found = self.phrases.found([word], 0) if self.endings else ()
        stem = (
            ""
            if any(
                one.role is Role.KIND and one.value.endswith("s") for _, one in found
            )
            else word
        )
        while stem:
            word = stem
            starts = range(
                max(_SHORTEST_STEM, len(stem) - _LONGEST_ENDING),
                len(stem),
            )
            stem = next(
                (word[:start] for start in starts if word[start:] in self.endings), ""
            )
        return word

    def is_kind(self, words: Sequence[str]) -> bool:
        """Return whether some words are words for kinds of entities alone."""
        return self._are(
            words,
            lambda meaning: meaning.role is Role.KIND,
        )

    def is_timer(self, word: str) -> bool:
        """Return whether a word is one for timers, which may follow a name in one word: "Nudeltimer"."""
        return any(one.value == "timer" for _, one in self.phrases.found([word], 0))

    def is_small(self, *words: str) -> bool:
        """Return whether one of some words is a preposition, or changes nothing."""
        return any(
            meaning.role in SMALL
            for word in words
            for _, meaning in self.phrases.found([word], 0)
        )

    def is_idle(self, words: Sequence[str]) -> bool:
        """Return whether some words have meanings of their own, and tell no entity of a home from others.

        A word for one entity of a kind may: "the heater".
        """
        return self._are(
            words,
            lambda meaning: (
                meaning.role not in {Role.KIND, Role.MODE} or meaning.value in _MANY
            ),
        )

    def _are(
        self, words: Sequence[str], is_one: Callable[[PhraseMeaning], bool]
    ) -> bool:
        """Return whether phrases with some meanings cover all words."""
        ends = (end for end, meaning in self.phrases.found(words, 0) if is_one(meaning))
        return not words or any(self._are(words[end:], is_one) for end in ends)


def tokens(
    text: str,
    accented: AbstractSet[str] = frozenset(),
) -> list[Token]:
    """Return the words, numbers and signs of a text; a comma stands between parts."""
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return text_tokens(
        plain,
        _TOKEN,
        accented,
    )


def tokens_of_phrase(text: str) -> list[str]:
    """Return the words of a phrase."""
    return [token.word for token in tokens(text)]


def read_lexicon(
    table: PhraseTable, language: str, modes: PhraseTable | None = None
) -> Lexicon:
    """Return the words of a language for sentences to be read, with those for modes."""
    accented = accented_words(str(table.get(ACCENTED, "")))
    tree = PhraseTree[PhraseMeaning](accented=accented)
    acts = dict[tuple[str, str], tuple[str, ...]]()
    for meaning, text in (*_phrases(table), *_phrases(modes or {})):
        first, _, last = (
            " ".join(token.word for token in tokens(part, accented))
            for part in text.partition(GAP)
        )
        tree.add(f"{first} {last}".split(), meaning)
        if GAP in text:
            tree.add(
                first.split(),
                PhraseMeaning(Role.VERB, first),
            )
            tree.add(
                last.split(),
                PhraseMeaning(Role.PARTICLE, last),
            )
            acts[first, last] = (*acts.get((first, last), ()), meaning.value)
    of_verbs = {
        verb: frozenset(
            act for (one, _), found in acts.items() if one == verb for act in found
        )
        for verb, _ in acts
    }
    marks = [
        frozenset(
            " ".join(tokens_of_phrase(one)) for one in divided(str(table.get(key, "")))
        )
        for key in _MARKS
    ]
    return Lexicon(
        language,
        tree,
        acts,
        number_phrases(language),
        of_verbs,
        *marks,
    )


def _phrases(table: PhraseTable) -> Iterator[tuple[PhraseMeaning, str]]:
    """Yield the phrases of a language with what they mean."""
    for key, section in table.items():
        if key in {*_MARKS, ACCENTED, _PAST}:
            continue
        role = _VALUES_OF_ROLES.get(key) or Role(key)
        if isinstance(section, dict):
            values = section
        else:
            values = {"" if key == role else key: section}
        for value, texts in values.items():
            for text in divided(texts):
                yield PhraseMeaning(role, value), text
                is_weekday = role is Role.DAY and value in WEEKDAYS
                for past in divided(str(table.get(_PAST, ""))) if is_weekday else ():
                    yield PhraseMeaning(role, f"-{value}"), past.replace(GAP, text)


_MANY: Final = frozenset(
    {
        "light",
        "lights",
        "fans",
        "plugs",
        "covers",
        "curtains",
        "awnings",
        "garages",
        "doors",
        "windows",
        "locks",
        "thermostats",
        "players",
        "tvs",
        "valves",
        "list",
        "lists",
    }
)
"""Kinds of which there are mostly several."""
_LANGUAGES: Final = read_language_files(
    "requests",
    PhraseTable,
)
_MODES: Final = read_language_files(
    "modes",
    PhraseTable,
)


def phrase_table(code: str) -> PhraseTable | None:
    """Return the phrases of a language as they are written, if there are any."""
    return _LANGUAGES.get(code)


def _first_phrase(code: str, act: str) -> str:
    """Return the first phrase for an act in a language that stands around no other words."""
    acts = _LANGUAGES[code]["act"]
    texts = divided(acts[act]) if isinstance(acts, dict) else ()
    return next(text for text in texts if GAP not in text)


@cache
def lexicon(language: str) -> Lexicon | None:
    """Return the words of a language, if there are any."""
    words = _LANGUAGES.get(code := base_language(language))
    if words:
        return read_lexicon(
            words,
            code,
            _MODES.get(code),
        )
    return None

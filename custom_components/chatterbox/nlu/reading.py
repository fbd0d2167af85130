"""Reads a sentence: covers all its words with phrases of known roles, by dynamic programming, never greedily.

Several readings are kept, the most likely first; the rules of `understanding.py` decide
which of them is meant. Decision 57.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, Self

from ..agent.text import HAN, MOST_UNDERSTOOD, plain, read_data_file
from ..speech.text.phrases import Token, coverings
from .lexicon import COMMA, SMALL, Lexicon, PhraseMeaning, Role
from .requests import Surroundings
from .vocabulary import HomeVocabulary, Named
from .zones import zones

MOST_WORDS: Final = 40
"""Words of a sentence that is read. A longer one is a story."""
MOST_READINGS: Final = 24
_COSTS: Final = read_data_file(__file__, dict[Role, float])
_COST: Final = 1.0
_COST_OF_PART: Final = 1.3
"""The cost of a part of a name, before which other readings of the same words go."""
_COST_OF_ONLY_PART: Final = 0.95
"""The cost of a part of a name that only one entity has. It goes before a kind: "the heater"."""
_COST_OF_TEXT: Final = 2.0
_COST_OF_WORD: Final = 0.7
"""The cost of each word of a text."""
_MOST_TEXT: Final = 12
DURATIONS: Final = (
    "hours",
    "minutes",
    "seconds",
)
"""Units of time."""
_BEFORE_TEXT: Final = frozenset({"add", "remove", "complete", "play"})
"""Acts after which a text of the person's own may stand."""
_NUMBER: Final = re.compile(r"\d+(?:\.\d\d?)?")
"""A number, unless its point may divide thousands."""
_BETWEEN_HAN: Final = re.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")
NAMING: Final = frozenset({Role.ENTITY, Role.PLACE, Role.KIND})
"""The roles of words that name things of the home."""
ACTING: Final = frozenset({Role.ACT, Role.VERB, Role.PARTICLE})
"""The roles of what is to be done."""
_IN_PAIRS: Final = frozenset({Role.VERB, Role.PARTICLE})
_REPORTED: Final = frozenset({Role.REVERSING, Role.STATE})
"""The roles of words that may reverse a request: "zamknąłem" tells of a state."""
_NOT_TELLING: Final = SMALL | {Role.KIND}


@dataclass(frozen=True, slots=True)
class PhraseSpan:
    """Some words of a sentence with their role."""

    start: int
    end: int
    role: Role
    value: str = ""
    named: Named | None = None
    number: float = 0.0


type Spans = Sequence[PhraseSpan]
"""Phrases of a sentence, in order."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a sentence, divided into phrases that cover all of them."""

    sentence: str
    tokens: tuple[Token, ...]
    spans: tuple[PhraseSpan, ...]
    names: HomeVocabulary

    @property
    def words(self) -> Lexicon:
        """The words of its language."""
        return self.names.words

    def text(
        self,
        start: int,
        end: int,
    ) -> str:
        """Return some words as they were said."""
        if start < end:
            return self.sentence[self.tokens[start].start : self.tokens[end - 1].end]
        return ""

    @property
    def heard(self) -> Sequence[str]:
        """Its words, folded."""
        return [token.word for token in self.tokens]

    def meanings(
        self,
        at: int,
    ) -> Iterator[tuple[int, PhraseMeaning]]:
        """Yield the ends and meanings of the phrases that begin at a word."""
        return self.words.phrases.found(
            self.heard,
            at,
        )

    def meanings_in(self, text: PhraseSpan) -> Iterator[PhraseMeaning]:
        """Yield the meanings of the phrases that begin within a text."""
        for at in range(text.start, text.end):
            for _, meaning in self.meanings(at):
                yield meaning

    def named_in(self, text: PhraseSpan) -> Iterator[Named]:
        """Yield what is named by the words of a text, or by those that begin there."""
        for at in range(text.start, text.end):
            for _, named in self.names.found(self.heard, at):
                yield named

    @property
    def is_asked(self) -> bool:
        """Whether the sentence is written as a question."""
        return "?" in plain(self.sentence)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The words that nothing explains."""
        return tuple(
            self.text(span.start, span.end)
            for span in self.spans
            if span.role is Role.UNKNOWN
        )


@dataclass(frozen=True)
class Parts:
    """The phrases of a request, by their roles, with the sentence and the surroundings in which it was spoken."""

    spans: Spans
    reading: Reading
    surroundings: Surroundings = field(default_factory=Surroundings)

    def of(self, spans: Spans) -> Self:
        """Return other phrases of the same sentence."""
        return replace(self, spans=spans)

    @property
    def names(self) -> HomeVocabulary:
        """The names of the home."""
        return self.reading.names

    @cached_property
    def by_role(self) -> Mapping[Role, Spans]:
        """The spans of each role that occurs."""
        found: dict[Role, list[PhraseSpan]] = {}
        for span in self.spans:
            found.setdefault(span.role, []).append(span)
        return found

    def all(self, *roles: Role) -> Spans:
        """Return the spans of some roles."""
        return [span for role in roles for span in self.by_role.get(role, ())]

    def values(self, role: Role) -> list[str]:
        """Return the values of a role, each once."""
        return [*dict.fromkeys(span.value for span in self.all(role))]

    @property
    def named(self) -> Sequence[Named]:
        """The entities that each name means."""
        return [span.named for span in self.all(Role.ENTITY) if span.named]

    def areas_of(self, place: PhraseSpan) -> frozenset[str | None]:
        """Return the areas of a place, none for one that is not known."""
        if place.named:
            return frozenset(place.named.ids)
        return frozenset(self.names.areas_of(place.value))

    @property
    def act(self) -> str:
        """The act; empty if it is not clear."""
        if len(self.acts) == 1:
            return self.acts[0]
        return ""

    @cached_property
    def acts(self) -> Sequence[str]:
        """The acts that may be meant, by one or by two parts of one: "把…打开" is to open, or to turn on."""
        match self.all(
            Role.ACT,
            Role.VERB,
            Role.PARTICLE,
        ):
            case [PhraseSpan(role=Role.ACT, value=act)]:
                return (act,)
            case [
                PhraseSpan(role=Role.VERB) as verb,
                PhraseSpan(role=Role.PARTICLE) as particle,
            ] if verb.start < particle.start:
                pair = verb.value, particle.value
                return self.reading.words.acts.get(
                    pair,
                    (),
                )
            case _:
                return ()


@lru_cache(maxsize=8)
def read(
    sentence: str,
    names: HomeVocabulary,
) -> Sequence[Reading]:
    """Return the readings of a sentence, the most likely first; none for one that is too long.

    Several steps of a turn ask for those of the same sentence: it is read once.
    """
    spoken = names.words.tokens(sentence) if len(sentence) <= MOST_UNDERSTOOD else ()
    found = _divided(spoken, names)
    if not 0 < len(found) <= MOST_WORDS:
        return ()
    heard = _HeardWords(
        [token.word for token in found],
        names,
    )
    ways = coverings(
        len(found),
        heard.spans,
        _cost,
        MOST_READINGS,
    )
    return tuple(
        Reading(
            sentence,
            tuple(found),
            spans,
            names,
        )
        for _, spans in ways
    )


def _divided(
    spoken: Iterable[Token],
    names: HomeVocabulary,
) -> list[Token]:
    """Return the words of a sentence; two for one of which only the parts are known: "Küchenlicht", "apágalas"."""
    found: list[Token] = []
    for token in spoken:
        word = token.word
        known = (names.found([word], 0), names.words.phrases.found([word], 0))
        cuts = range(2, len(word)) if not any(map(any, known)) else ()
        parts = ((word[:cut], word[cut:]) for cut in cuts)
        pair = next(
            (one for one in parts if _is_pair(*one, names)),
            (word,),
        )
        found += [
            Token(
                part,
                token.start,
                token.end,
            )
            for part in pair
        ]
    return found


def _is_pair(
    first: str,
    last: str,
    names: HomeVocabulary,
) -> bool:
    """Return whether two words may be written as one: a place with a kind, or an act with a pronoun."""
    words = names.words
    if last in words.clitics:
        return any(
            one.role in {Role.ACT, Role.VERB}
            for _, one in words.phrases.found([first], 0)
        )
    if len(first) > 2 and words.is_timer(last):  # noqa: PLR2004 "Eitimer"
        return True
    return words.is_kind([last]) and any(
        one.role is Role.PLACE for _, one in names.found([first], 0)
    )


def _cost(span: PhraseSpan) -> float:
    if span.role is Role.TEXT:
        return _COST_OF_TEXT + _COST_OF_WORD * (span.end - span.start)
    if span.named and not span.named.is_whole:
        if len(span.named.ids) == 1:
            return _COST_OF_ONLY_PART
        return _COST_OF_PART
    return _COSTS.get(span.role, _COST)


@dataclass(frozen=True)
class _HeardWords:
    """The folded words of a sentence, and what is known of all of them."""

    heard: Sequence[str]
    names: HomeVocabulary

    def _meanings(
        self,
        at: int,
    ) -> Iterator[tuple[int, PhraseMeaning]]:
        return self.names.words.phrases.found(
            self.heard,
            at,
        )

    @cached_property
    def _phrases(self) -> Sequence[tuple[int, int, PhraseMeaning]]:
        """The starts, ends and meanings of all phrases."""
        return [
            (start, *one)
            for start in range(len(self.heard))
            for one in self._meanings(start)
        ]

    @cached_property
    def _texts(self) -> frozenset[int]:
        """Where a text may begin: after an act that takes one."""
        words = self.names.words
        names = self.names
        is_about_list = any(
            names.domains(one.ids) == {"todo"}
            for start in range(len(self.heard))
            for _, one in names.found(self.heard, start)
        )
        is_timed, is_asked = (
            any(meaning.value == kind for _, _, meaning in self._phrases)
            for kind in ("timer", "list")
        )
        return frozenset(
            end
            for start, end, meaning in self._phrases
            if words.begins(meaning, _BEFORE_TEXT)
            or (is_timed and _begins_name(meaning, words))
            or (
                (is_asked or is_about_list)
                and start == 0
                and meaning.role in {Role.BE, Role.QUESTION}
            )
        )

    @cached_property
    def _pairs(self) -> frozenset[tuple[int, str]]:
        """The starts and values of the first and last parts of acts of which both are there."""
        parts = [
            (start, meaning.value)
            for start, _, meaning in self._phrases
            if meaning.role in _IN_PAIRS
        ]
        pairs = (
            (first, last) for first in parts for last in parts if first[0] < last[0]
        )
        acts = self.names.words.acts
        both = (pair for pair in pairs if tuple(value for _, value in pair) in acts)
        return frozenset(chain.from_iterable(both))

    def spans(self, start: int) -> Iterator[PhraseSpan]:
        """Yield what may begin at a word; the word alone as unknown if nothing does.

        Words that reverse a request are never read as others, unless a longer phrase has
        them, and the last part of an act is none of the words that change nothing: "schalte
        das Licht ein und den Fernseher aus".
        """
        known = [*self._known(start)]
        reversing = [span.end for span in known if span.role is Role.REVERSING]
        least = max([start, *reversing])
        last = {
            span.end
            for span in known
            if span.role is Role.PARTICLE and self._ends_part(span.end)
        }
        count = len(self.heard)
        known = [
            span
            for span in known
            if _is_read(span, least, count)
            and (span.end not in last or span.role not in SMALL)
        ]
        yield from known
        if start in self._texts:
            for end in range(start + 1, min(count, start + _MOST_TEXT) + 1):
                yield PhraseSpan(start, end, Role.TEXT)
        if not known:
            yield PhraseSpan(
                start,
                start + 1,
                Role.UNKNOWN,
            )

    def _ends_part(self, end: int) -> bool:
        """Return whether a word stands before the end, a joining word or a preposition."""
        following = (meaning.role for _, meaning in self._meanings(end))
        return (
            end == len(self.heard)
            or self.heard[end] == COMMA
            or not {Role.AND, Role.PREPOSITION}.isdisjoint(following)
        )

    def _known(self, start: int) -> Iterator[PhraseSpan]:
        """Yield the phrases, names and amounts that begin at a word; of acts in two parts, those with both."""
        heard = self.heard
        names = self.names
        meanings = [*self._meanings(start)]
        is_state = start > 0 and (len(heard), Role.STATE) in [
            (end, meaning.role) for end, meaning in meanings
        ]
        for end, meaning in meanings:
            # "Garage door open" may tell of it.
            if meaning.role is Role.ACT and end == len(heard) and is_state:
                continue
            if meaning.role is Role.MODE and not names.has_mode(meaning.value):
                continue
            is_part = meaning.role in _IN_PAIRS
            if not is_part or (start, meaning.value) in self._pairs:
                yield PhraseSpan(
                    start,
                    end,
                    meaning.role,
                    meaning.value,
                )
        for end, named in names.found(heard, start):
            yield PhraseSpan(
                start,
                end,
                named.role,
                named=named,
            )
        for role, tree in ((Role.MODE, names.mode_phrases), (Role.ZONE, zones())):
            for end, value in tree.found(heard, start):
                yield PhraseSpan(start, end, role, value)
        if heard[start] == COMMA:
            yield PhraseSpan(
                start,
                start + 1,
                Role.AND,
            )
        yield from self._amounts(start)

    def _amounts(self, start: int) -> Iterator[PhraseSpan]:
        """Yield the numbers that begin at a word, alone and with a unit after or before them: "百分之五十"."""
        for at, unit in ((start, ""), *self._units(start)):
            for end, number in self._numbers(at):
                for until, unit_after in (
                    (end, unit),
                    *(self._units(end) if not unit else ()),
                ):
                    yield PhraseSpan(
                        start,
                        until,
                        Role.AMOUNT,
                        unit_after,
                        number=number,
                    )
        for end, measure in self._units(start):
            count, _, unit = measure.partition(" ")
            if unit:  # "half an hour"
                yield PhraseSpan(
                    start,
                    end,
                    Role.AMOUNT,
                    unit,
                    number=float(count),
                )

    def _units(self, start: int) -> list[tuple[int, str]]:
        """Return the ends and values of the units that begin at a word."""
        return [
            (end, meaning.value)
            for end, meaning in self._meanings(start)
            if meaning.role is Role.UNIT
        ]

    def _numbers(self, start: int) -> Iterator[tuple[int, float]]:
        """Yield the ends and values of the numbers that begin at a word."""
        heard = self.heard
        words = self.names.words
        if start < len(heard) and _NUMBER.fullmatch(
            written := heard[start].replace(",", ".")
        ):
            yield start + 1, float(written)
        for end, whole in words.numbers.found(heard, start):
            yield end, whole
            if end < len(heard) and heard[end] in words.point:
                yield from (
                    (last, float(f"{whole}.{part}"))
                    for last, part in words.numbers.found(heard, end + 1)
                )


def _begins_name(
    meaning: PhraseMeaning,
    words: Lexicon,
) -> bool:
    """Return whether the name of a timer may stand after a phrase."""
    is_duration = meaning.role is Role.UNIT and meaning.value.endswith(DURATIONS)
    is_named = meaning.value in {"for", "timer"}
    return is_duration or is_named or words.begins(meaning, {"set", "start"})


def _is_read(
    span: PhraseSpan,
    least: int,
    count: int,
) -> bool:
    """Return whether a phrase may stand where words that reverse a request do: it is longer, or asks "… or not?"."""
    is_tag = span.role is Role.QUESTION and span.end == count
    return span.end > least or span.role in _REPORTED or is_tag


def telling_text(text: str, words: Lexicon) -> str:
    """Return a text without idle words and kinds: "beatles" of "some music by the beatles"."""
    found_words = words.tokens(text)
    telling = list[str]()
    at = 0
    heard = [token.word for token in found_words]
    while at < len(heard):
        found = (
            one for one in words.phrases.found(heard, at) if one[1].role in _NOT_TELLING
        )
        end = max(
            (end for end, _ in found),
            default=at,
        )
        if end == at:
            telling.append(text[found_words[at].start : found_words[at].end])
        at = max(end, at + 1)
    return _BETWEEN_HAN.sub("", " ".join(telling))

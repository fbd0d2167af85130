"""Reads a sentence: covers all its words with phrases of known roles, by dynamic programming, never greedily.

Several readings are kept, the most likely first; the rules of `understanding.py` decide
which of them is meant. Decision 57.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from ..agent.text import HAN, MOST_UNDERSTOOD, plain
from ..speech.text.phrases import Token, coverings
from .lexicon import COMMA, SMALL, Lexicon, PhraseMeaning, Role
from .vocabulary import HomeVocabulary, Named
from .zones import zones

MOST_WORDS: Final = 40
"""Words of a sentence that is read. A longer one is a story."""
MOST_READINGS: Final = 24
_COSTS: Final[Mapping[Role, float]] = {
    Role.FILLER: 0.6,
    Role.PREPOSITION: 0.6,
    Role.AND: 0.7,
    Role.ACT: 0.9,
    Role.VERB: 0.5,
    Role.PARTICLE: 0.9,
    Role.MODE: 0.85,
    Role.ZONE: 1.5,
    Role.UNKNOWN: 6.0,
}
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


@dataclass(frozen=True)
class Parts:
    """The phrases of a request, by their roles."""

    spans: Sequence[PhraseSpan]

    @cached_property
    def by_role(self) -> Mapping[Role, Sequence[PhraseSpan]]:
        """The spans of each role that occurs."""
        found: dict[Role, list[PhraseSpan]] = {}
        for span in self.spans:
            found.setdefault(span.role, []).append(span)
        return found

    def all(self, role: Role) -> Sequence[PhraseSpan]:
        """Return the spans of a role."""
        return self.by_role.get(role, ())

    def values(self, role: Role) -> list[str]:
        """Return the values of a role, each once."""
        return [*dict.fromkeys(span.value for span in self.all(role))]

    @property
    def named(self) -> Sequence[Named]:
        """The entities that each name means."""
        return [span.named for span in self.all(Role.ENTITY) if span.named]

    def act(self, words: Lexicon) -> str:
        """Return what is to be done; empty if that is not clear."""
        acts = self.acts(words)
        if len(acts) == 1:
            return acts[0]
        return ""

    def acts(self, words: Lexicon) -> Sequence[str]:
        """Return what may be to be done, by one act or by two parts of one: "把…打开" is to open, or to turn on."""
        acts, verbs, particles = (
            self.all(role) for role in (Role.ACT, Role.VERB, Role.PARTICLE)
        )
        if len(acts) == 1 and not verbs and not particles:
            return (acts[0].value,)
        if acts or len(verbs) != 1 or len(particles) != 1:
            return ()
        joined = words.acts.get(
            (verbs[0].value, particles[0].value),
            (),
        )
        if verbs[0].start < particles[0].start:
            return joined
        return ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a sentence, divided into phrases that cover all of them."""

    sentence: str
    words: tuple[Token, ...]
    spans: tuple[PhraseSpan, ...]
    cost: float

    def text(
        self,
        start: int,
        end: int,
    ) -> str:
        """Return some words as they were said."""
        if start < end:
            return self.sentence[self.words[start].start : self.words[end - 1].end]
        return ""

    @property
    def heard(self) -> Sequence[str]:
        """Its words, folded."""
        return [token.word for token in self.words]

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


@lru_cache(maxsize=8)
def read(
    sentence: str,
    words: Lexicon,
    names: HomeVocabulary,
) -> Sequence[Reading]:
    """Return the readings of a sentence, the most likely first; none for one that is too long.

    Several steps of a turn ask for those of the same sentence: it is read once.
    """
    found = _divided(
        words.tokens(sentence) if len(sentence) <= MOST_UNDERSTOOD else (), words, names
    )
    if not 0 < len(found) <= MOST_WORDS:
        return ()
    heard = [token.word for token in found]
    phrases = [
        (start, *one)
        for start in range(len(heard))
        for one in words.phrases.found(heard, start)
    ]
    is_about_list = any(
        names.domains(one.ids) == {"todo"}
        for start in range(len(heard))
        for _, one in names.found(heard, start)
    )
    starts = _starts_of_text(
        phrases,
        words,
        is_about_list=is_about_list,
    )
    sentence_words = _SentenceWords(
        heard,
        starts,
        _pairs(phrases, words),
    )
    ways = coverings(
        len(heard),
        lambda start: _spans(sentence_words, start, words, names),
        _cost,
        MOST_READINGS,
    )
    return tuple(Reading(sentence, tuple(found), spans, cost) for cost, spans in ways)


def _divided(
    spoken: Iterable[Token], words: Lexicon, names: HomeVocabulary
) -> list[Token]:
    """Return the words of a sentence; two for one of which only the parts are known: "Küchenlicht", "apágalas"."""
    found: list[Token] = []
    for token in spoken:
        word = token.word
        is_known = any(names.found([word], 0)) or any(words.phrases.found([word], 0))
        cuts = range(2, len(word)) if not is_known else ()
        parts = ((word[:cut], word[cut:]) for cut in cuts)
        pair = next(
            (one for one in parts if _is_pair(*one, words, names)),
            (word,),
        )
        found += [Token(part, token.start, token.end) for part in pair]
    return found


def _is_pair(
    first: str,
    last: str,
    words: Lexicon,
    names: HomeVocabulary,
) -> bool:
    """Return whether two words may be written as one: a place with a kind, or an act with a pronoun."""
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


def _starts_of_text(
    found: Sequence[tuple[int, int, PhraseMeaning]],
    words: Lexicon,
    *,
    is_about_list: bool,
) -> frozenset[int]:
    """Return where a text may begin: after an act that takes one. `found` has the starts and ends of all phrases."""
    is_timed, is_asked = (
        any(meaning.value == kind for _, _, meaning in found)
        for kind in ("timer", "list")
    )
    return frozenset(
        end
        for start, end, meaning in found
        if words.begins(meaning, _BEFORE_TEXT)
        or (is_timed and _begins_name(meaning, words))
        or (
            (is_asked or is_about_list)
            and start == 0
            and meaning.role in {Role.BE, Role.QUESTION}
        )
    )


def _begins_name(meaning: PhraseMeaning, words: Lexicon) -> bool:
    """Return whether the name of a timer may stand after a phrase."""
    is_duration = meaning.role is Role.UNIT and meaning.value.endswith(DURATIONS)
    is_named = meaning.value in {"for", "timer"}
    return is_duration or is_named or words.begins(meaning, {"set", "start"})


def _pairs(
    found: Iterable[tuple[int, int, PhraseMeaning]], words: Lexicon
) -> frozenset[tuple[int, str]]:
    """Return the starts and values of the first and last parts of acts of which both are there."""
    parts = [
        (start, meaning.value)
        for start, _, meaning in found
        if meaning.role in _IN_PAIRS
    ]
    pairs = ((first, last) for first in parts for last in parts if first[0] < last[0])
    both = (pair for pair in pairs if tuple(value for _, value in pair) in words.acts)
    return frozenset(chain.from_iterable(both))


def _cost(span: PhraseSpan) -> float:
    if span.role is Role.TEXT:
        return _COST_OF_TEXT + _COST_OF_WORD * (span.end - span.start)
    if span.named and not span.named.is_whole:
        if len(span.named.ids) == 1:
            return _COST_OF_ONLY_PART
        return _COST_OF_PART
    return _COSTS.get(span.role, _COST)


class _SentenceWords(NamedTuple):
    """The folded words of a sentence, and what is known of all of them."""

    words: Sequence[str]
    texts: frozenset[int]
    """Where a text may begin."""
    pairs: frozenset[tuple[int, str]]
    """The starts and values of the parts of acts of which the other part is there, too."""


def _spans(
    sentence: _SentenceWords, start: int, words: Lexicon, names: HomeVocabulary
) -> Iterator[PhraseSpan]:
    """Yield what may begin at a word; the word alone as unknown if nothing does.

    Words that reverse a request are never read as others, unless a longer phrase has
    them, and the last part of an act is none of the words that change nothing: "schalte
    das Licht ein und den Fernseher aus".
    """
    heard = sentence.words
    known = [*_known(sentence, start, words, names)]
    reversing = [span.end for span in known if span.role is Role.REVERSING]
    least = max([start, *reversing])
    last = {
        span.end
        for span in known
        if span.role is Role.PARTICLE and _ends_part(heard, span.end, words)
    }
    known = [span for span in known if _is_read(span, least, len(heard))]
    known = [span for span in known if span.end not in last or span.role not in SMALL]
    yield from known
    if start in sentence.texts:
        ends = range(
            start + 1,
            min(len(heard), start + _MOST_TEXT) + 1,
        )
        yield from (PhraseSpan(start, end, Role.TEXT) for end in ends)
    if not known:
        yield PhraseSpan(
            start,
            start + 1,
            Role.UNKNOWN,
        )


def _is_read(
    span: PhraseSpan,
    least: int,
    count: int,
) -> bool:
    """Return whether a phrase may stand where words that reverse a request do: it is longer, or asks "… or not?"."""
    is_tag = span.role is Role.QUESTION and span.end == count
    return span.end > least or span.role in _REPORTED or is_tag


def _ends_part(
    heard: Sequence[str],
    end: int,
    words: Lexicon,
) -> bool:
    """Return whether a word stands before the end, a joining word or a preposition."""
    following = (meaning.role for _, meaning in words.phrases.found(heard, end))
    return (
        end == len(heard)
        or heard[end] == COMMA
        or not {Role.AND, Role.PREPOSITION}.isdisjoint(following)
    )


def _known(
    sentence: _SentenceWords, start: int, words: Lexicon, names: HomeVocabulary
) -> Iterator[PhraseSpan]:
    """Yield the phrases, names and amounts that begin at a word; of acts in two parts, those with both."""
    heard = sentence.words
    meanings = [*words.phrases.found(heard, start)]
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
        if not is_part or (start, meaning.value) in sentence.pairs:
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
    for end, mode in names.mode_phrases.found(heard, start):
        yield PhraseSpan(
            start,
            end,
            Role.MODE,
            mode,
        )
    for end, zone in zones().found(heard, start):
        yield PhraseSpan(
            start,
            end,
            Role.ZONE,
            zone,
        )
    if heard[start] == COMMA:
        yield PhraseSpan(start, start + 1, Role.AND)
    yield from _amounts(heard, start, words)


def _amounts(
    heard: Sequence[str],
    start: int,
    words: Lexicon,
) -> Iterator[PhraseSpan]:
    """Yield the numbers that begin at a word, alone and with a unit after or before them: "百分之五十"."""
    for at, unit in ((start, ""), *_units(heard, start, words)):
        for end, number in _numbers(heard, at, words):
            for until, unit_after in (
                (end, unit),
                *(_units(heard, end, words) if not unit else ()),
            ):
                yield PhraseSpan(
                    start,
                    until,
                    Role.AMOUNT,
                    unit_after,
                    number=number,
                )
    for end, measure in _units(heard, start, words):
        count, _, unit = measure.partition(" ")
        if unit:  # "half an hour"
            yield PhraseSpan(
                start,
                end,
                Role.AMOUNT,
                unit,
                number=float(count),
            )


def _units(
    heard: Sequence[str],
    start: int,
    words: Lexicon,
) -> list[tuple[int, str]]:
    """Return the ends and values of the units that begin at a word."""
    return [
        (end, meaning.value)
        for end, meaning in words.phrases.found(heard, start)
        if meaning.role is Role.UNIT
    ]


def _numbers(
    heard: Sequence[str], start: int, words: Lexicon
) -> Iterator[tuple[int, float]]:
    """Yield the ends and values of the numbers that begin at a word."""
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


def telling_text(text: str, words: Lexicon) -> str:
    """Return a text without idle words and kinds: "beatles" of "some music by the beatles"."""
    found_words, telling, at = words.tokens(text), list[str](), 0
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

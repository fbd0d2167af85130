"""Understands a sentence: every word is explained, and it means one entity.

What the rules cannot explain is not understood. They are tried on the readings of a
sentence, the most likely first.
"""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from ..speech.text.phrases import PhraseTree
from .commands import (
    KINDS,
    PLAIN_ACTS,
    Choice,
    EntityCommand,
    OpenQuestion,
    Surroundings,
    UnknownName,
    commands,
    following_commands,
    may_mean,
)
from .lexicon import (
    ARTICLE,
    COMMA,
    GAP,
    Lexicon,
    PhraseMeaning,
    Role,
    tokens,
    tokens_of_phrase,
)
from .questions import (
    StateQuestion,
    WorldQuestion,
    is_about_weather,
    state_question,
    world_question,
)
from .reading import Parts, PhraseSpan, Reading, read, telling_text
from .vocabulary import HomeVocabulary


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request about a list."""

    act: str
    """`add`, `remove`, `complete`, `read` or `count`."""
    list_id: str = ""
    """Empty where none is named."""
    items: tuple[str, ...] = ()
    is_all: bool = False
    """Whether it is about the names of all lists."""


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """A request for music that is searched for."""

    query: str
    """The words that tell what is meant."""
    words: str = ""
    """All words."""


@dataclass(frozen=True, slots=True)
class TimerRequest:
    """A timer to start."""

    durations: Mapping[str, int]
    """Numbers by `hours`, `minutes` and `seconds`."""
    name: str = ""


type SpokenRequest = (
    EntityCommand
    | Choice
    | OpenQuestion
    | UnknownName
    | WorldQuestion
    | StateQuestion
    | ListRequest
    | PlayRequest
    | TimerRequest
)

_SILENT: Final = frozenset({Role.FILLER, Role.PREPOSITION, Role.AND})
_OF_LISTS: Final = _SILENT | {
    *(
        Role.ACT,
        Role.VERB,
        Role.PARTICLE,
        Role.ENTITY,
        Role.KIND,
        Role.TEXT,
        Role.DAY,
        Role.QUESTION,
        Role.BE,
    ),
    Role.QUANTIFIER,
}
_LIST: Final = "todo"
_LISTS: Final = frozenset({"list", "lists"})
_OF_COMMANDS: Final = (
    *(
        Role.ACT,
        Role.VERB,
        Role.KIND,
        Role.ASPECT,
        Role.LEVEL,
        Role.COLOUR,
        Role.UNIT,
        Role.QUANTIFIER,
        Role.PRONOUN,
    ),
)
"""The roles of phrases that are no title where the act may be another one."""
_ACTING: Final = frozenset({Role.ACT, Role.VERB})
_OF_ITEMS: Final = frozenset({"add", "remove", "complete"})
_DURATIONS: Final = frozenset({"hours", "minutes", "seconds"})
_LONGEST_UNKNOWN: Final = 3
_BEFORE_NAMES: Final = frozenset({Role.ACT, Role.VERB, Role.AND, Role.PREPOSITION})
_BEFORE_TIMES: Final = frozenset({"at", "by", "for", "to"})
_AFTER_NAMES: Final = frozenset(
    {
        Role.AND,
        Role.PREPOSITION,
        Role.PARTICLE,
        Role.KIND,
        Role.AMOUNT,
        Role.COLOUR,
        Role.LEVEL,
    }
)
_MOST_ALIKE: Final = 3


@lru_cache(maxsize=64)
def understand(
    sentence: str, words: Lexicon, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[SpokenRequest]:
    """Return what a sentence asks for; empty if it is not understood. A turn asks often, and reads once."""
    readings = read(sentence, words, names)
    best: Sequence[SpokenRequest] = ()
    for reading in readings:
        if reading.unknown:
            break
        requests = _requests(reading, words, names, surroundings)
        if not any(
            isinstance(one, (Choice, OpenQuestion, UnknownName)) for one in requests
        ):
            is_choice = any(isinstance(one, Choice) for one in best)
            if requests and (not is_choice or _has_whole_names(reading, names)):
                return requests
        else:
            best = best or requests
    unknown = _unknown_name(readings[0], names) if readings and not best else None
    return [unknown] if unknown else best


def is_assumed(
    sentence: str, words: Lexicon, names: HomeVocabulary, domains: AbstractSet[str]
) -> bool:
    """Return whether all words of a sentence are explained, and none of them is about entities of some domains."""
    found = (Parts(one.spans) for one in read(sentence, words, names))
    explained = [
        parts
        for parts in found
        if not (parts.all(Role.UNKNOWN) or parts.all(Role.TEXT))
    ]
    return bool(explained) and not any(
        may_mean(parts, words, domains) for parts in explained
    )


def _has_whole_names(reading: Reading, names: HomeVocabulary) -> bool:
    """Return whether all is named by names, no aliases or kinds: the lamp called "Lamp", before a choice of lamps."""
    named = [
        (span, one)
        for span in reading.spans
        if span.named and span.role is Role.ENTITY
        for one in span.named.ids
    ]
    is_by_name = all(
        tokens_of_phrase(reading.text(span.start, span.end))
        == tokens_of_phrase(names.by_id[one].names[0])
        for span, one in named
    )
    return (
        bool(named)
        and is_by_name
        and all(span.role is not Role.KIND for span in reading.spans)
    )


def _requests(
    reading: Reading, words: Lexicon, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[SpokenRequest]:
    """Return the requests of a reading; empty if one of them is none."""
    whole = Parts(reading.spans)
    if question := world_question(whole, is_marked=reading.is_asked) or state_question(
        whole, reading, names, surroundings
    ):
        return [question]
    found: list[SpokenRequest] = []
    for spans in _divided(reading.spans):
        parts = Parts(spans)
        listed, timed = (
            _of_list(parts, reading, words, names),
            _of_timer(parts, reading, words),
        )
        question = (
            world_question(parts, is_marked=reading.is_asked)
            or state_question(parts, reading, names, surroundings)
            or _following_question(parts, surroundings)
        )
        if (
            other := question
            or listed
            or timed
            or _to_play(parts, reading, words, names)
        ):
            found.append(other)
            continue
        if reading.is_asked and not parts.all(Role.ACT) and not parts.all(Role.VERB):
            return ()  # "lights on?"
        several = commands(parts, reading, words, names, surroundings)
        several = several or following_commands(parts, reading, names, surroundings)
        if not several:
            return ()
        found += several
        done = [one.ids for one in several if isinstance(one, EntityCommand)]
        surroundings = replace(surroundings, last=frozenset[str]().union(*done))
    return found


def _following_question(
    parts: Parts, surroundings: Surroundings
) -> WorldQuestion | None:
    """Return the question before, for another day: "and tomorrow"."""
    days, question = parts.values(Role.DAY), surroundings.before
    is_day = bool(days) and parts.by_role.keys() <= {Role.DAY, *_SILENT}
    if not (is_day and isinstance(question, WorldQuestion)) or not is_about_weather(
        question.topics
    ):
        return None
    return replace(question, days=tuple(days), on=None)


def _divided(spans: Sequence[PhraseSpan]) -> list[Sequence[PhraseSpan]]:
    """Return the spans of each request: after a joining word, a new one begins with an act, or ends with one.

    An act may stand last: "het licht uitdoen en de gordijnen sluiten", "Licht ausmachen
    und Tor schließen".
    """
    starts = [
        at
        for at, (before, span) in enumerate(pairwise(spans), start=1)
        if before.role is Role.AND
        and (span.role in _ACTING or _has_two_acts(spans, at))
    ]
    bounds = [0, *starts, len(spans)]
    found = [_without_joining(spans[start:end]) for start, end in pairwise(bounds)]
    return [one for one in found if one]


def _has_two_acts(spans: Sequence[PhraseSpan], at: int) -> bool:
    """Return whether an act ends before the joining word before a span, and another one follows."""
    is_ended = at > 1 and spans[at - 2].role in {Role.ACT, Role.PARTICLE}
    return is_ended and any(span.role in _ACTING for span in spans[at:])


def _without_joining(spans: Sequence[PhraseSpan]) -> Sequence[PhraseSpan]:
    return spans[:-1] if spans and spans[-1].role is Role.AND else spans


def _of_list(
    parts: Parts, reading: Reading, words: Lexicon, names: HomeVocabulary
) -> ListRequest | OpenQuestion | None:
    """Return what is to be done with a list and the items on it."""
    texts, kinds, forms = (
        parts.all(Role.TEXT),
        parts.values(Role.KIND),
        parts.values(Role.QUESTION),
    )
    act = parts.act(words) or _act_of_question(parts, forms)
    if act not in {*_OF_ITEMS, "read", "has"} or not _OF_LISTS.issuperset(
        parts.by_role
    ):
        return None
    is_dated = {*parts.values(Role.DAY)} - {"0"}
    if len(texts) != (act in {*_OF_ITEMS, "has"}) or (texts and is_dated):
        return None
    lists = {
        one for span in parts.all(Role.ENTITY) if span.named for one in span.named.ids
    }
    is_list = all(
        names.by_id[one].domain == _LIST for one in lists
    ) and _LISTS.issuperset(kinds)
    if not is_list or len(lists) > 1 or not (lists or kinds):
        return None
    list_id = next(iter(lists), "")
    if not texts:
        act = "count" if "how_many" in parts.values(Role.QUESTION) else act
        return ListRequest(act, list_id, is_all="lists" in kinds)
    following = next((span for span in parts.spans if span.start == texts[0].end), None)
    items = _items(reading, texts[0], words)
    is_after_list = following is None and any(
        span.role in {Role.KIND, Role.ENTITY} and span.end <= texts[0].start
        for span in parts.spans
    )
    is_before_list = following is not None and following.role in {
        Role.PREPOSITION,
        Role.PARTICLE,
    }
    if not (is_before_list or is_after_list):
        return None
    text = reading.text(texts[0].start, texts[0].end)
    if " ".join(tokens_of_phrase(text)) in words.indefinite:
        return OpenQuestion("item", reading.sentence.replace(text, GAP, 1))
    return ListRequest(act, list_id, items) if items else None


def _act_of_question(parts: Parts, forms: Sequence[str]) -> str:
    """Return what a question about lists without an act wants: their names, or whether an item is there."""
    if any(parts.all(role) for role in (Role.ACT, Role.VERB, Role.PARTICLE)):
        return ""
    is_whether = {*forms} <= {"is"} and parts.spans[0].role in {Role.BE, Role.QUESTION}
    is_which = "lists" in parts.values(Role.KIND) and not {"what", "which"}.isdisjoint(
        forms
    )
    return "has" if is_whether else "read" if is_which else ""


def _items(reading: Reading, text: PhraseSpan, words: Lexicon) -> tuple[str, ...]:
    """Return the items of a text: "milk, eggs and bread" are three. It is empty if one of them is no name."""
    heard = [token.word for token in reading.words]
    starts, ends, at = [text.start], list[int](), text.start
    while at < text.end:
        joining = [
            end
            for end, meaning in words.phrases.found(heard, at)
            if meaning.role is Role.AND
        ]
        if heard[at] == COMMA or joining:
            ends.append(at)
            at = max(joining, default=at + 1)
            starts.append(at)
        else:
            at += 1
    bounds = zip(starts, [*ends, text.end], strict=True)
    spans = [
        (_after_articles(heard[:end], start, words), end)
        for start, end in bounds
        if start < end
    ]
    is_vague = any(
        " ".join(heard[start:end]) in words.indefinite for start, end in spans
    )
    is_list = any(
        one.value in _LISTS
        for at in range(text.start, text.end)
        for _, one in words.phrases.found(heard, at)
    )
    if is_vague or is_list or _has(reading, text, words.phrases, Role.REVERSING):
        return ()
    items = tuple(reading.text(start, end) for start, end in spans)
    return items if all(telling_text(item, words) for item in items) else ()


def _after_articles(heard: Sequence[str], start: int, words: Lexicon) -> int:
    """Return where an item begins after its articles: "leche" of "la leche"."""
    ends = [
        end
        for end, meaning in words.phrases.found(heard, start)
        if meaning.value == ARTICLE
    ]
    return (
        _after_articles(heard, max(ends), words)
        if ends and max(ends) < len(heard)
        else start
    )


def _has(
    reading: Reading,
    text: PhraseSpan,
    phrases: PhraseTree[PhraseMeaning] | HomeVocabulary,
    *roles: Role,
) -> bool:
    """Return whether a text has phrases of some roles."""
    heard = [token.word for token in reading.words]
    return any(
        one.role in roles
        for at in range(text.start, text.end)
        for _, one in phrases.found(heard, at)
    )


def _has_other_acts(reading: Reading, end: int, words: Lexicon) -> bool:
    """Return whether the act before a text may be another one: "pon" stands before lights, too."""
    heard = [token.word for token in reading.words[:end]]
    found = {
        one
        for start in range(end)
        for until, one in words.phrases.found(heard, start)
        if until == end
    }
    return any(
        one.role is Role.VERB or (one.role is Role.ACT and one.value != "play")
        for one in found
    )


def _to_play(
    parts: Parts, reading: Reading, words: Lexicon, names: HomeVocabulary
) -> PlayRequest | None:
    """Return what is to be played, up to the end of the words, which name no place and no time."""
    texts, music = (
        parts.all(Role.TEXT),
        [span for span in parts.all(Role.KIND) if span.value == "music"],
    )
    is_whole = {*parts.by_role} <= {*_SILENT, Role.ACT, Role.TEXT, Role.KIND}
    if (
        parts.act(words) != "play"
        or not is_whole
        or len(texts) + len(parts.all(Role.KIND)) != 1
    ):
        return None
    if music:
        text = reading.text(music[0].start, music[0].end)
        return PlayRequest(text, text)
    if not texts or any(
        span.start > texts[0].start and span.role is not Role.FILLER
        for span in parts.spans
    ):
        return None
    is_elsewhere = _has(reading, texts[0], names, Role.PLACE, Role.ENTITY)
    text = reading.text(texts[0].start, texts[0].end)
    query = telling_text(text, words)
    known = _OF_COMMANDS if _has_other_acts(reading, texts[0].start, words) else ()
    is_plain = not is_elsewhere and not _has(
        reading, texts[0], words.phrases, Role.REVERSING, Role.DAY, Role.UNIT, *known
    )
    return PlayRequest(query, text) if query and is_plain else None


def _of_timer(parts: Parts, reading: Reading, words: Lexicon) -> TimerRequest | None:
    """Return a timer to start, with its name: "a 5 minute pasta timer", "a timer for the pasta, 9 minutes"."""
    amounts, texts, acts = (
        parts.all(Role.AMOUNT),
        parts.all(Role.TEXT),
        (Role.ACT, Role.VERB, Role.PARTICLE),
    )
    durations = {
        span.value: int(span.number)
        for span in amounts
        if span.number == int(span.number)
    }
    is_started = parts.act(words) in {"set", "start", "on"} or not any(
        parts.all(role) for role in acts
    )
    is_changed = "to" in parts.values(Role.PREPOSITION)
    is_whole = not is_changed and not parts.by_role.keys() - {
        *_SILENT,
        *acts,
        Role.AMOUNT,
        Role.KIND,
        Role.TEXT,
    }
    if (
        not (is_started and is_whole and parts.values(Role.KIND) == ["timer"])
        or len(texts) > 1
    ):
        return None
    if (
        not durations
        or len(durations) < len(amounts)
        or not durations.keys() <= _DURATIONS
    ):
        return None
    if not texts:
        return TimerRequest(durations)
    before = max(
        (span for span in parts.spans if span.end <= texts[0].start),
        key=lambda span: span.end,
    )
    after = next(
        (span.role for span in parts.spans if span.start == texts[0].end), None
    )
    is_before = after is Role.KIND or before.value == "for"
    is_plain = not _has(
        reading, texts[0], words.phrases, Role.REVERSING, Role.DAY, Role.UNIT, Role.AND
    )
    name = telling_text(reading.text(texts[0].start, texts[0].end), words)
    return TimerRequest(durations, name) if name and is_before and is_plain else None


def _unknown_name(reading: Reading, names: HomeVocabulary) -> UnknownName | None:
    """Return the name in a command that nothing has, if that is all that is not explained."""
    spans = [span for span in reading.spans if span.role is not Role.FILLER]
    unknown = [at for at, span in enumerate(spans) if span.role is Role.UNKNOWN]
    if not 0 < len(unknown) <= _LONGEST_UNKNOWN or unknown[-1] - unknown[0] >= len(
        unknown
    ):
        return None
    first, end = spans[unknown[0]], spans[unknown[-1]].end
    before, after = spans[: unknown[0]], spans[unknown[-1] + 1 :]
    kind = (
        KINDS.get(after[0].value)
        if after and after[0].role is Role.KIND and after[0].start == end
        else None
    )
    is_for_entities = any(
        span.role is Role.ACT and span.value in PLAIN_ACTS for span in (*before, *after)
    )
    is_set = any(
        span.role in {Role.PARTICLE, Role.AMOUNT, Role.LEVEL, Role.COLOUR}
        for span in after
    )
    is_noun = (
        bool(before)
        and before[-1].role in _BEFORE_NAMES
        and before[-1].value not in _BEFORE_TIMES
        and (not after or after[0].role in _AFTER_NAMES)
    )
    is_place = bool(before) and before[-1].role is Role.PREPOSITION
    if is_place and not any(span.role is Role.KIND for span in before):
        return None  # "the floor lamp in December"
    if (
        not is_noun
        or not (kind or is_for_entities or is_set)
        or any(span.role is Role.REVERSING for span in spans)
    ):
        return None
    text = reading.text(first.start, after[0].end if kind else end)
    of_kind = [one.names[0] for one in names.entities if kind and kind.has(one)]
    called = [
        name for name in of_kind if tokens(text)[-1].word in tokens_of_phrase(name)
    ]
    return UnknownName(text, tuple(dict.fromkeys((*called, *of_kind)))[:_MOST_ALIKE])

"""Understands a sentence: every word is explained, and it means one entity.

What the rules cannot explain is not understood. They are tried on the readings of a sentence, the most likely first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Final

from .commands import Choice, EntityCommand, Surroundings, commands
from .lexicon import ARTICLE, COMMA, Lexicon, PhraseMeaning, PhraseTree, Role
from .reading import Parts, PhraseSpan, Reading, read, telling_text
from .vocabulary import HomeVocabulary


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question about the world around the home: the time, the date, the weather."""

    topics: tuple[str, ...]
    days: tuple[str, ...] = ()
    is_whether: bool = False
    """Whether its answer begins with yes or no."""
    zone: str = ""
    """The time zone of the place whose time is asked for; empty for here."""
    on: date | None = None
    """The date that is asked about, if it is none of the `days`."""


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


type SpokenRequest = EntityCommand | Choice | WorldQuestion | ListRequest | PlayRequest

_WEATHER: Final = frozenset({"weather", "rain", "snow", "sun", "wind", "fog", "clouds", "storm", "feel"})
_CLOCK: Final = frozenset({"time", "date"})
_NOW: Final = frozenset({"0", "now"})
_SILENT: Final = frozenset({Role.FILLER, Role.PREPOSITION, Role.AND})
_OF_QUESTIONS: Final = _SILENT | {
    *(Role.QUESTION, Role.BE, Role.TOPIC, Role.ZONE, Role.DAY, Role.QUANTIFIER, Role.PLACE, Role.PRONOUN),
}
_OF_LISTS: Final = _SILENT | {
    *(Role.ACT, Role.VERB, Role.PARTICLE, Role.ENTITY, Role.KIND, Role.TEXT, Role.DAY, Role.QUESTION, Role.BE),
    Role.QUANTIFIER,
}
_LIST: Final = "todo"
_LISTS: Final = frozenset({"list", "lists"})
_OF_COMMANDS: Final = (
    *(Role.ACT, Role.VERB, Role.KIND, Role.ASPECT, Role.LEVEL, Role.COLOUR, Role.UNIT, Role.QUANTIFIER, Role.PRONOUN),
)
"""The roles of phrases that are no title where the act may be another one."""
_ACTING: Final = frozenset({Role.ACT, Role.VERB})
_OF_ITEMS: Final = frozenset({"add", "remove", "complete"})


@lru_cache(maxsize=64)
def understand(
    sentence: str, words: Lexicon, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[SpokenRequest]:
    """Return what a sentence asks for; empty if it is not understood. A turn asks often, and reads once."""
    for reading in read(sentence, words, names):
        if reading.unknown:
            break
        if requests := _requests(reading, words, names, surroundings):
            return requests
    return ()


def _requests(
    reading: Reading, words: Lexicon, names: HomeVocabulary, surroundings: Surroundings
) -> Sequence[SpokenRequest]:
    """Return the requests of a reading; empty if one of them is none."""
    if question := _question(Parts(reading.spans), is_marked=reading.is_asked):
        return [question]
    found: list[SpokenRequest] = []
    for spans in _divided(reading.spans):
        parts = Parts(spans)
        if other := _of_list(parts, reading, words, names) or _to_play(parts, reading, words, names):
            found.append(other)
            continue
        if reading.is_asked and not parts.all(Role.ACT) and not parts.all(Role.VERB):
            return ()  # "lights on?"
        several = commands(parts, words, names, surroundings)
        if not several:
            return ()
        found += several
        done = [one.ids for one in several if isinstance(one, EntityCommand)]
        surroundings = replace(surroundings, last=frozenset[str]().union(*done))
    return found


def _divided(spans: Sequence[PhraseSpan]) -> list[Sequence[PhraseSpan]]:
    """Return the spans of each request: after a joining word, a new one begins with an act, or ends with one.

    An act may stand last: "het licht uitdoen en de gordijnen sluiten", "Licht ausmachen und Tor schließen".
    """
    starts = [
        at
        for at, (before, span) in enumerate(pairwise(spans), start=1)
        if before.role is Role.AND and (span.role in _ACTING or _has_two_acts(spans, at))
    ]
    bounds = [0, *starts, len(spans)]
    return [_without_joining(spans[start:end]) for start, end in pairwise(bounds)]


def _has_two_acts(spans: Sequence[PhraseSpan], at: int) -> bool:
    """Return whether an act ends before the joining word before a span, and another one follows."""
    is_ended = at > 1 and spans[at - 2].role in {Role.ACT, Role.PARTICLE}
    return is_ended and any(span.role in _ACTING for span in spans[at:])


def _without_joining(spans: Sequence[PhraseSpan]) -> Sequence[PhraseSpan]:
    return spans[:-1] if len(spans) > 1 and spans[-1].role is Role.AND else spans


def _question(parts: Parts, *, is_marked: bool) -> WorldQuestion | None:
    """Return the question about the time or the weather that all words ask."""
    topics = parts.values(Role.TOPIC)
    is_elsewhere = any(span.named for span in parts.all(Role.PLACE))
    is_told = parts.spans[0].role is Role.PRONOUN  # "it is cold"
    if not topics or is_elsewhere or is_told or not _OF_QUESTIONS.issuperset(parts.by_role):
        return None
    if _CLOCK.issuperset(topics):
        return _about_clock(parts, topics)
    if topics == ["song"]:
        return (
            WorldQuestion(("song",)) if _NOW.issuperset(parts.values(Role.DAY)) and not parts.all(Role.ZONE) else None
        )
    is_indoors = bool(parts.all(Role.QUANTIFIER)) and "feel" in topics
    if parts.all(Role.ZONE) or is_indoors or not _WEATHER.issuperset(topics):
        return None
    forms = parts.values(Role.QUESTION)
    days = parts.values(Role.DAY) or ["0"] * any(one in {"will", "need"} for one in forms)
    phenomena = tuple(topic for topic in topics if topic != "weather")
    is_whether = bool(parts.all(Role.BE) or not {"is", "will", "need"}.isdisjoint(forms)) and "what" not in forms
    is_whether = is_whether or bool(is_marked and phenomena and not forms)  # "¿llueve mañana?"
    is_asked = is_whether or bool(forms)
    if (is_whether and len(phenomena) > 1) or not (is_asked or days or topics == ["weather"]):
        return None
    return WorldQuestion(phenomena or ("weather",), tuple(days), is_whether)


def _about_clock(parts: Parts, topics: Sequence[str]) -> WorldQuestion | None:
    zones = parts.values(Role.ZONE)
    is_asked = bool(parts.all(Role.QUESTION) or parts.all(Role.BE)) or parts.spans[0].role is Role.TOPIC
    if not is_asked or parts.all(Role.PLACE) or not _NOW.issuperset(parts.values(Role.DAY)):
        return None
    if len(zones) > 1 or (zones and topics != ["time"]):
        return None
    return WorldQuestion(tuple(topics), zone=zones[0] if zones else "")


def _of_list(parts: Parts, reading: Reading, words: Lexicon, names: HomeVocabulary) -> ListRequest | None:
    """Return what is to be done with a list and the items on it."""
    act, texts, kinds = parts.act(words), parts.all(Role.TEXT), parts.values(Role.KIND)
    if act not in {*_OF_ITEMS, "read"} or not _OF_LISTS.issuperset(parts.by_role):
        return None
    if len(texts) != (act in _OF_ITEMS) or (texts and parts.all(Role.DAY)):
        return None
    lists = {one for span in parts.all(Role.ENTITY) if span.named for one in span.named.ids}
    is_list = all(names.by_id[one].domain == _LIST for one in lists) and _LISTS.issuperset(kinds)
    if not is_list or len(lists) > 1 or not (lists or kinds):
        return None
    list_id = next(iter(lists), "")
    if not texts:
        act = "count" if "how_many" in parts.values(Role.QUESTION) else act
        return ListRequest(act, list_id, is_all="lists" in kinds)
    following = next((span for span in parts.spans if span.start == texts[0].end), None)
    items = _items(reading, texts[0], words)
    is_after_list = following is None and any(
        span.role in {Role.KIND, Role.ENTITY} and span.end <= texts[0].start for span in parts.spans
    )
    is_before_list = following is not None and following.role in {Role.PREPOSITION, Role.PARTICLE}
    return ListRequest(act, list_id, items) if (is_before_list or is_after_list) and items else None


def _items(reading: Reading, text: PhraseSpan, words: Lexicon) -> tuple[str, ...]:
    """Return the items of a text: "milk, eggs and bread" are three. It is empty if one of them is no name."""
    heard = [token.word for token in reading.words]
    starts, ends, at = [text.start], list[int](), text.start
    while at < text.end:
        joining = [end for end, meaning in words.phrases.found(heard, at) if meaning.role is Role.AND]
        if heard[at] == COMMA or joining:
            ends.append(at)
            at = max(joining, default=at + 1)
            starts.append(at)
        else:
            at += 1
    bounds = zip(starts, [*ends, text.end], strict=True)
    spans = [(_after_articles(heard[:end], start, words), end) for start, end in bounds if start < end]
    is_vague = any(" ".join(heard[start:end]) in words.indefinite for start, end in spans)
    if is_vague or _has(reading, text, words.phrases, Role.REVERSING):
        return ()
    items = tuple(reading.text(start, end) for start, end in spans)
    return items if all(telling_text(item, words) for item in items) else ()


def _after_articles(heard: Sequence[str], start: int, words: Lexicon) -> int:
    """Return where an item begins after its articles: "leche" of "la leche"."""
    ends = [end for end, meaning in words.phrases.found(heard, start) if meaning.value == ARTICLE]
    return _after_articles(heard, max(ends), words) if ends and max(ends) < len(heard) else start


def _has(reading: Reading, text: PhraseSpan, phrases: PhraseTree[PhraseMeaning] | HomeVocabulary, *roles: Role) -> bool:
    """Return whether a text has phrases of some roles."""
    heard = [token.word for token in reading.words]
    return any(one.role in roles for at in range(text.start, text.end) for _, one in phrases.found(heard, at))


def _has_other_acts(reading: Reading, end: int, words: Lexicon) -> bool:
    """Return whether the act before a text may be another one: "pon" stands before lights, too."""
    heard = [token.word for token in reading.words[:end]]
    found = {one for start in range(end) for until, one in words.phrases.found(heard, start) if until == end}
    return any(one.role is Role.VERB or (one.role is Role.ACT and one.value != "play") for one in found)


def _to_play(parts: Parts, reading: Reading, words: Lexicon, names: HomeVocabulary) -> PlayRequest | None:
    """Return what is to be played, up to the end of the words, which name no place and no time."""
    texts = parts.all(Role.TEXT)
    is_whole = {*parts.by_role} <= {*_SILENT, Role.ACT, Role.TEXT}
    if parts.act(words) != "play" or not is_whole or len(texts) != 1 or parts.spans[-1] is not texts[0]:
        return None
    is_elsewhere = _has(reading, texts[0], names, Role.PLACE, Role.ENTITY)
    query = telling_text(reading.text(texts[0].start, texts[0].end), words)
    known = _OF_COMMANDS if _has_other_acts(reading, texts[0].start, words) else ()
    is_plain = not is_elsewhere and not _has(reading, texts[0], words.phrases, Role.REVERSING, Role.DAY, *known)
    return PlayRequest(query) if query and is_plain else None

"""Ranks the entities of a home by how well they match the words of a request.

A word that is rare in the home counts more than a common one, a name more than a room,
and an entity in the room of the speaker, or used last, more than another. Words match
in spite of other endings and typing errors, in any language and without a grammar: two
words are compared by their pairs of letters. The same query always has the same result.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Final

from ..agent.text import fold, runs
from .entities import ExposedEntity, Home, telling_words

_HANGUL: Final = re.compile(r"([\uac00-\ud7af]+)")
"""Korean has spaces, but adds particles to nouns: it is compared by syllable."""
_LEAST: Final = 0.5
"""Part of their pairs of letters that two words must share to be similar."""
_STEM: Final = 4
"""Letters that two words must share at the beginning to differ in their endings only."""
_SURELY: Final = 0.9
"""Similarity of two words that differ in their endings; only equal words have more."""
_ENDING: Final = 3
"""Letters of the longest ending."""
_PAIR: Final = 2
_PART: Final = 4
"""Letters of the shortest word that is found within another: "lampe" in "stehlampe"."""
_MOST_CACHED: Final = 2_000
"""Words of queries whose similar words are cached."""
_NAME: Final = 1.0
_ROOM: Final = 0.8
_KIND: Final = 0.6
_FLOOR: Final = 0.4
"""Weights of a word in the name of an entity, of its room, of its kind, of its floor."""
_BEFORE: Final = 0.4
"""Weight of the words of the previous request: people say "and in the bedroom?"."""
_HERE: Final = 0.3
"""Weight of being in the room of the speaker, as a part of the best match by words alone."""
_USED: Final = 1.0
"""Weight of having been used last, as the same part: "turn it off again" names nothing."""
_SURE: Final = 0.7
"""Similarity that a word must have to the name of a room to mean it."""
_OF_THE_NAMED: Final = 0.75
"""Least part of the results that is reserved for a room that the request names."""
_OF_THE_NEAR: Final = 0.5
"""The same for the room of the speaker, if the request names none."""
_MUCH_WORSE: Final = 0.4
"""Part of the best score below which an entity is no match."""
_USUAL: Final = (
    "light",
    "switch",
    "cover",
    "climate",
    "media_player",
    "fan",
    "lock",
    "scene",
    "vacuum",
    "humidifier",
    "water_heater",
    "valve",
    "alarm_control_panel",
    "lawn_mower",
    "siren",
    "weather",
    "person",
    "todo",
    "binary_sensor",
    "sensor",
)
"""Domains that people speak of, the most frequent first: they decide between equal scores."""


def words_in(text: str) -> list[str]:
    """Return the words of a text as they are compared; where there are no spaces, each character and each pair."""
    words: list[str] = []
    for run, is_unspaced in runs(fold(text)):
        if is_unspaced:
            words += _characters(run)
            continue
        for part in _HANGUL.split(run):
            if _HANGUL.match(part):
                words += _characters(part)
            elif part:
                words.append(part)
    return words


def _characters(run: str) -> list[str]:
    pairs = (run[place : place + _PAIR] for place in range(len(run) - 1))
    return [*run, *pairs]


class Vocabulary:
    """The words of a home, found by similar words."""

    def __init__(self, words: Iterable[str]) -> None:
        """Index words, as `words_in` returns them."""
        self._words = sorted(set(words))
        self._sizes = [len(_pairs(word)) for word in self._words]
        self._having: dict[str, list[int]] = defaultdict(list)
        for index, word in enumerate(self._words):
            for pair in _pairs(word):
                self._having[pair].append(index)
        self.similar = lru_cache(_MOST_CACHED)(self._similar)
        """Return the words similar to one, each with its similarity: up to 1 for the same word."""

    def _similar(self, heard: str) -> Mapping[str, float]:
        pairs = _pairs(heard)
        common = Counter(
            index for pair in pairs for index in self._having.get(pair, ())
        )
        found = {
            self._words[index]: _similarity(
                heard,
                self._words[index],
                2 * number / (len(pairs) + self._sizes[index]),
            )
            for index, number in common.items()
        }
        return {word: similarity for word, similarity in found.items() if similarity}


def _pairs(word: str) -> frozenset[str]:
    """Return the pairs of letters of a word, including its beginning and end; a short word is compared as a whole."""
    if len(word) <= _PAIR or not word.isalpha():
        return frozenset((word,))
    marked = f"^{word}$"
    return frozenset(marked[place : place + _PAIR] for place in range(len(marked) - 1))


def _similarity(
    heard: str,
    word: str,
    in_common: float,
) -> float:
    """Return the similarity of two words that share so much of their pairs of letters; 0 if they are not similar."""
    if heard == word:
        return 1.0
    shorter, longer = sorted((heard, word), key=len)
    if (
        len(shorter) > _STEM
        and longer[: len(shorter) - 1] == shorter[:-1]
        and len(longer) - len(shorter) <= _ENDING
    ):
        return _SURELY
    if len(shorter) >= _PART and (
        longer.startswith(shorter) or longer.endswith(shorter)
    ):
        return 0.7
    if in_common >= _LEAST:
        return min(in_common, _SURELY)
    return 0.0


@dataclass(frozen=True, slots=True)
class EntityQuery:
    """The words that an entity is searched by."""

    words: str
    before: str = ""
    """Words of the previous request."""
    area_id: str | None = None
    """Area of the speaker."""
    used: tuple[str, ...] = ()
    """Ids of the entities used last."""


class EntityIndex:
    """The entities of a home by the words of their names."""

    def __init__(
        self,
        home: Home,
        kinds: Mapping[str, Iterable[str]],
    ) -> None:
        """Index a home. `kinds` has the names of the kind of each entity, in any language, by entity id."""
        self.home = home
        rooms = {room.area_id: room for room in home.rooms}
        floors = {floor.floor_id: floor.names for floor in home.floors}
        self._having: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, entity in enumerate(home.entities):
            room = rooms.get(entity.area_id or "")
            texts = (
                (_FLOOR, floors.get(room.floor_id or "", ()) if room else ()),
                (_KIND, (entity.domain, *kinds.get(entity.entity_id, ()))),
                (_ROOM, room.names if room else ()),
                (_NAME, entity.names),
            )
            for word, weight in _weighted(texts).items():
                self._having[word].append((index, weight))
        self._rarity = {
            word: log(1 + len(home.entities) / len(found))
            for word, found in self._having.items()
        }
        self._vocabulary = Vocabulary(self._having)
        usual = {domain: place for place, domain in enumerate(_USUAL)}
        self._usual = [usual.get(one.domain, len(usual)) for one in home.entities]
        self._indexes = {
            entity.entity_id: index for index, entity in enumerate(home.entities)
        }
        self._rooms: dict[str, set[str]] = defaultdict(set)
        for room in home.rooms:
            for word in _weighted([(_ROOM, room.names)]):
                self._rooms[word].add(room.area_id)
        self._room_words = Vocabulary(self._rooms)

    def find(
        self,
        query: EntityQuery,
        most: int,
    ) -> list[ExposedEntity]:
        """Return the entities that a query may mean, the likeliest first."""
        scores = self._scores(query.words)
        for index, score in self._scores(query.before).items():
            scores[index] += _BEFORE * score
        best = max(scores.values(), default=1.0)
        for index in self._in_rooms({query.area_id}):
            scores[index] += _HERE * best
        for entity_id in query.used:
            if entity_id in self._indexes:
                scores[self._indexes[entity_id]] += _USED * best

        def place(index: int) -> tuple[float, int, int]:
            return -scores[index], self._usual[index], index

        named = self.named_rooms(query.words)
        reserved = int(most * (_OF_THE_NAMED if named else _OF_THE_NEAR))
        near = sorted(self._in_rooms(named or {query.area_id}), key=place)[:reserved]
        left = most - len(near)
        others = sorted(scores.keys() - {*near}, key=place)[:left]
        return [
            self.home.entities[index] for index in sorted((*near, *others), key=place)
        ]

    def fitting(
        self, words: str, among: Iterable[ExposedEntity]
    ) -> list[ExposedEntity]:
        """Return the given entities that match words, the best match first, without much worse ones."""
        scores = self._scores(words)
        indexes = [
            index
            for index in (self._indexes[entity.entity_id] for entity in among)
            if index in scores
        ]
        least = _MUCH_WORSE * max((scores[index] for index in indexes), default=0)
        ranked = sorted(
            indexes, key=lambda index: (-scores[index], self._usual[index], index)
        )
        return [self.home.entities[index] for index in ranked if scores[index] >= least]

    def _in_rooms(self, area_ids: Collection[str | None]) -> Iterator[int]:
        for area_id in area_ids:
            if area_id is not None:
                yield from (
                    self._indexes[entity.entity_id]
                    for entity in self.home.by_room.get(area_id, ())
                )

    def named_rooms(self, text: str) -> Collection[str]:
        """Return the ids of the areas that a text surely names, the best matches only."""
        named: defaultdict[str, float] = defaultdict(float)
        for heard in _telling(text):
            least = 1 if heard in self._having else _SURE
            sure = [
                word
                for word, similarity in self._room_words.similar(heard).items()
                if similarity >= least
            ]
            for area_id in {area_id for word in sure for area_id in self._rooms[word]}:
                named[area_id] += max(
                    1 / len(self._rooms[word])
                    for word in sure
                    if area_id in self._rooms[word]
                )
        best = max(named.values(), default=0)
        return {area_id for area_id, worth in named.items() if worth == best}

    def _scores(self, text: str) -> defaultdict[int, float]:
        """Return the scores of entities by their index in the home."""
        scores: defaultdict[int, float] = defaultdict(float)
        for heard in dict.fromkeys(_telling(text)):
            best: dict[int, float] = {}
            for word, similarity in self._vocabulary.similar(heard).items():
                worth = self._rarity[word] * similarity * similarity
                for index, weight in self._having[word]:
                    if worth * weight > best.get(index, 0):
                        best[index] = worth * weight
            for index, worth in best.items():
                scores[index] += worth
        return scores


def _weighted(texts: Iterable[tuple[float, Iterable[str]]]) -> Mapping[str, float]:
    """Return the telling words of names, each with the weight of the last names that have it."""
    return {
        word: weight
        for weight, names in texts
        for name in names
        for word in _telling(name)
    }


def _telling(text: str) -> list[str]:
    """Return the words of a text without articles and the like, if there are other words."""
    telling = sorted(telling_words(text))
    return words_in(" ".join(telling)) or words_in(text)

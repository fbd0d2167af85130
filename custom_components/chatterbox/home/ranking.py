"""Which things of a home somebody may mean by what they say, the likeliest first.

Pure: works on the names of a home, as `home/entities.py` reads it. Must not know who speaks, or what is told to a
model. What is rare in the home counts more than what everything there is called, a name more than a room, and what is
where somebody speaks, or was used last, more than what is not. The same question always has the same answer.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Final
from unicodedata import normalize

from .entities import Home, Thing
from .names import words_of
from .similar_words import Vocabulary, words_in

_NAME: Final = 1.0
_ROOM: Final = 0.8
_KIND: Final = 0.6
_FLOOR: Final = 0.4
"""What a word counts by where it stands: in a name of a thing, of its room, of what it is, of its floor."""
_BEFORE: Final = 0.4
"""What the words of the sentence before count: people say "and in the bedroom?"."""
_HERE: Final = 0.3
"""What it counts that a thing is where somebody speaks, as a part of the best match that words alone have."""
_USED: Final = 1.0
"""The same of having been used last: "turn it off again" names nothing."""
_SURE: Final = 0.7
"""How alike a word has to be to the name of a room to be taken for it."""
_OF_THE_NAMED: Final = 0.75
"""The part of all places that is for things of a room that somebody names, at least."""
_OF_THE_NEAR: Final = 0.5
"""The same for the room where somebody speaks and names none."""
_MUCH_WORSE: Final = 0.4
"""What fits less than this part of the best match is nothing that somebody looks for."""
_USUAL: Final = (
    *("light", "switch", "cover", "climate", "media_player", "fan", "lock", "scene", "vacuum", "humidifier"),
    *("water_heater", "valve", "alarm_control_panel", "lawn_mower", "siren", "weather", "person", "todo"),
    *("binary_sensor", "sensor"),
)
"""Domains in which people are interested, the most spoken of first: they decide between things that fit alike."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody says, and where."""

    words: str
    before: str = ""
    """What they said before."""
    area_id: str | None = None
    """Where they are."""
    used: tuple[str, ...] = ()
    """Entity ids of what was used last."""


class ThingIndex:
    """The things of one home by the words that they go by."""

    def __init__(self, home: Home, kinds: Mapping[str, Iterable[str]]) -> None:
        """Take in a home. `kinds` says what each thing is, in words of any language, by its entity id."""
        self.home = home
        rooms = {room.area_id: room for room in home.rooms}
        floors = {floor.floor_id: (floor.name, *floor.aliases) for floor in home.floors}
        self._having: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, thing in enumerate(home.things):
            room = rooms.get(thing.area_id or "")
            texts = (
                (_FLOOR, floors.get(room.floor_id or "", ()) if room else ()),
                (_KIND, (thing.domain, *kinds.get(thing.entity_id, ()))),
                (_ROOM, (room.name, *room.aliases) if room else ()),
                (_NAME, thing.names),
            )
            counts = {word: weight for weight, names in texts for name in names for word in _telling(name)}
            for word, weight in counts.items():
                self._having[word].append((index, weight))
        self._rarity = {word: log(1 + len(home.things) / len(found)) for word, found in self._having.items()}
        self._vocabulary = Vocabulary(self._having)
        self._usual = [_USUAL.index(one.domain) if one.domain in _USUAL else len(_USUAL) for one in home.things]
        self._indexes = {thing.entity_id: index for index, thing in enumerate(home.things)}
        self._rooms: dict[str, set[str]] = defaultdict(set)
        for room in home.rooms:
            for word in (word for name in (room.name, *room.aliases) for word in _telling(name)):
                self._rooms[word].add(room.area_id)
        self._room_words = Vocabulary(self._rooms)

    def find(self, asked: Asked, most: int) -> list[Thing]:
        """Return the things that may be meant, the likeliest first."""
        scores = self._scores(asked.words)
        for index, score in self._scores(asked.before).items():
            scores[index] += _BEFORE * score
        best = max(scores.values(), default=1.0)
        for index in self._in_rooms({asked.area_id}):
            scores[index] += _HERE * best
        for entity_id in asked.used:
            if entity_id in self._indexes:
                scores[self._indexes[entity_id]] += _USED * best

        def place(index: int) -> tuple[float, int, int]:
            return -scores[index], self._usual[index], index

        named = self.named_rooms(asked.words)
        reserved = int(most * (_OF_THE_NAMED if named else _OF_THE_NEAR))
        near = sorted(self._in_rooms(named or {asked.area_id}), key=place)[:reserved]
        others = sorted(scores.keys() - {*near}, key=place)[: most - len(near)]
        return [self.home.things[index] for index in sorted((*near, *others), key=place)]

    def fitting(self, words: str, among: Iterable[Thing]) -> list[Thing]:
        """Return those of some things that fit words, the likeliest first; none that fits much worse than the best."""
        scores = self._scores(words)
        indexes = [index for index in (self._indexes[thing.entity_id] for thing in among) if index in scores]
        least = _MUCH_WORSE * max((scores[index] for index in indexes), default=0)
        ranked = sorted(indexes, key=lambda index: (-scores[index], self._usual[index], index))
        return [self.home.things[index] for index in ranked if scores[index] >= least]

    def _in_rooms(self, area_ids: Collection[str | None]) -> Iterator[int]:
        for area_id in area_ids:
            if area_id is not None:
                yield from (self._indexes[thing.entity_id] for thing in self.home.by_room.get(area_id, ()))

    def named_rooms(self, text: str) -> Collection[str]:
        """Return the ids of the areas that are named for sure, and no less than others."""
        named: defaultdict[str, float] = defaultdict(float)
        for said in _telling(text):
            least = 1 if said in self._having else _SURE
            sure = [word for word, likeness in self._room_words.similar(said).items() if likeness >= least]
            for area_id in {area_id for word in sure for area_id in self._rooms[word]}:
                named[area_id] += max(1 / len(self._rooms[word]) for word in sure if area_id in self._rooms[word])
        best = max(named.values(), default=0)
        return {area_id for area_id, worth in named.items() if worth == best}

    def _scores(self, text: str) -> defaultdict[int, float]:
        """Return how well things fit words, by their place in the home."""
        scores: defaultdict[int, float] = defaultdict(float)
        for said in dict.fromkeys(_telling(text)):
            best: dict[int, float] = {}
            for word, likeness in self._vocabulary.similar(said).items():
                worth = self._rarity[word] * likeness * likeness
                for index, weight in self._having[word]:
                    if worth * weight > best.get(index, 0):
                        best[index] = worth * weight
            for index, worth in best.items():
                scores[index] += worth
        return scores


def _telling(text: str) -> list[str]:
    """Return the words of a text that tell something: all but those that connect others, if there are any."""
    telling = sorted(words_of(normalize("NFC", text)))
    return words_in(" ".join(telling)) or words_in(text)

"""The names of a home as phrases: entities, rooms and floors, by whole names and by the words that tell them apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from ..agent.text import compared
from ..speech.text.phrases import PhraseTree
from .lexicon import Lexicon, Role

TOLD: Final = "!"
"""Ends the values of words that say by themselves that they are modes."""
_USUAL: Final = frozenset(
    {
        "heat",
        "cool",
        "heat_cool",
        "auto",
        "dry",
        "fan_only",
        "eco",
        "shuffle",
        "repeat_one",
        "repeat_all",
    }
)
"""Modes that are understood wherever anything has modes: a device that lacks one says so."""
_LONGEST_NAME: Final = 8
"""Words. Of a longer name, only the whole is known."""


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity that may be named."""

    entity_id: str
    domain: str
    names: tuple[str, ...]
    """Its name first, then its aliases."""
    device_class: str = ""
    area_id: str | None = None


@dataclass(frozen=True, slots=True)
class KnownMode:
    """A value that an entity may be set to."""

    entity_id: str
    slot: str
    """The value of the entity, as Home Assistant names it: `preset_mode`, `source`."""
    value: str = ""
    """Empty for one that is a number or a switch."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A room or a floor."""

    names: tuple[str, ...]
    area_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """The entities or rooms that a phrase names."""

    role: Role
    """`ENTITY` or `PLACE`."""
    ids: frozenset[str]
    """Entity ids, or ids of areas."""
    is_whole: bool
    """Whether it is the whole name, or an alias."""
    is_kind: bool
    """Whether it is a part that may also mean another entity of a kind: "the heater"."""


@dataclass(frozen=True, eq=False)
class HomeVocabulary:
    """The names of a home."""

    entities: tuple[KnownEntity, ...]
    places: tuple[NamedPlace, ...]
    words: Lexicon
    """The language of the names."""
    modes: frozenset[KnownMode] = frozenset()

    @cached_property
    def by_id(self) -> Mapping[str, KnownEntity]:
        """The entities by their ids."""
        return {entity.entity_id: entity for entity in self.entities}

    def found(
        self,
        heard: Sequence[str],
        start: int,
    ) -> Iterator[tuple[int, Named]]:
        """Yield the ends and meanings of the names that begin at a word."""
        return self._phrases.found(
            heard,
            start,
            self.words.stem,
        )

    def with_modes(self, modes: frozenset[KnownMode]) -> Self:
        """Return the same names, which stay indexed, with other modes."""
        other = copy(self)
        object.__setattr__(
            other,
            "modes",
            modes,
        )
        for known in ("mode_phrases", "_mode_values"):
            other.__dict__.pop(known, None)
        return other

    @cached_property
    def mode_phrases(self) -> PhraseTree[str]:
        """The modes as they are called by their devices."""
        tree = PhraseTree[str]()
        for value in {one.value for one in self.modes if one.value}:
            tree.add(
                self._words_of(value.replace("_", " ")),
                value,
            )
        return tree

    def able(
        self,
        slot: str,
        value: str = "",
    ) -> frozenset[str]:
        """Return the entities that may be set to a value, or have one."""
        return frozenset(
            one.entity_id
            for one in self.modes
            if one.slot == slot and (not value or is_mode(one.value, value))
        )

    def has_mode(self, word: str) -> bool:
        """Return whether a word may be for a mode: one that devices mostly have, or that one at home has."""
        value = word.removesuffix(TOLD)
        return bool(self.modes) and (value in _USUAL or value in self._mode_values)

    @cached_property
    def _mode_values(self) -> frozenset[str]:
        return frozenset(_plain_mode(one.value) for one in self.modes)

    @property
    def is_indexed(self) -> bool:
        """Return whether `index` was called."""
        return "_phrases" in self.__dict__

    def index(self) -> None:
        """Index the names, which takes some time in a large home; else the first search does."""
        _ = self._phrases

    def domains(self, ids: Iterable[str]) -> frozenset[str]:
        """Return the domains of some entities; a place has none."""
        return frozenset(self.by_id[one].domain for one in ids if one in self.by_id)

    def within(
        self, ids: Iterable[str], areas: AbstractSet[str | None]
    ) -> frozenset[str]:
        """Return those of some entities that are in some areas."""
        return frozenset(one for one in ids if self.by_id[one].area_id in areas)

    def areas_of(self, kind: str) -> frozenset[str]:
        """Return the areas of the places called by a word for a kind of places, such as "outside"."""
        return self._areas.get(kind, frozenset())

    @cached_property
    def _areas(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for place in self.places:
            for heard in map(self._words_of, place.names):
                for end, meaning in self.words.phrases.found(heard, 0):
                    if end == len(heard) and meaning.role is Role.PLACE:
                        found[meaning.value] = (
                            found.get(meaning.value, frozenset()) | place.area_ids
                        )
        return found

    @cached_property
    def _phrases(self) -> PhraseTree[Named]:
        """The phrases that name something, with all that they may name, by their stems.

        Words for kinds tell an entity from others in its name, but not in an alias.
        """
        whole: dict[tuple[str, ...], set[str]] = {}
        parts: dict[tuple[str, ...], set[str]] = {}
        kinds: set[tuple[str, ...]] = set()
        for entity in self.entities:
            for at, name in enumerate(entity.names):
                words = tuple(self._words_of(name))
                whole.setdefault(self._stems(words), set()).add(entity.entity_id)
                for part in (
                    _parts(words, self.words) if len(words) <= _LONGEST_NAME else ()
                ):
                    is_kind = self.words.is_kind(part)
                    if (at == 0 or not is_kind) and not self.words.is_idle(part):
                        parts.setdefault(self._stems(part), set()).add(entity.entity_id)
                        kinds |= {self._stems(part)} if is_kind else set()
        rooms: dict[tuple[str, ...], set[str]] = {}
        for place in self.places:
            for name in place.names:
                rooms.setdefault(self._stems(self._words_of(name)), set()).update(
                    place.area_ids
                )
        tree = PhraseTree[Named]()
        _add(
            tree,
            Role.ENTITY,
            whole.items(),
            is_whole=True,
        )
        telling = (
            (part, ids)
            for part, ids in parts.items()
            if part not in rooms and whole.get(part, ids) <= ids
        )
        _add(
            tree,
            Role.ENTITY,
            telling,
            is_whole=False,
            kinds=kinds,
        )
        _add(tree, Role.PLACE, rooms.items(), is_whole=True)
        return tree

    def _words_of(self, name: str) -> Sequence[str]:
        return [token.word for token in self.words.tokens(name)]

    def _stems(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.words.stem, words))


def is_mode(value: str, other: str) -> bool:
    """Return whether two values are the same: devices write "Eco" and "eco"."""
    return _plain_mode(value) == _plain_mode(other)


def _plain_mode(value: str) -> str:
    return compared(value).replace(" ", "_")


def _parts(
    words: Sequence[str],
    language: Lexicon,
) -> Iterable[tuple[str, ...]]:
    """Return the phrases within a name that may tell it from others, without itself.

    In one word, its first part does: "Kaffeemaschine". Single characters do not, and
    none begins or ends with a preposition or an article: "de la cocina" is a place.
    """
    count = len(words)
    spans = (
        (start, end) for start in range(count) for end in range(start + 1, count + 1)
    )
    parts = [tuple(words[start:end]) for start, end in spans if end - start < count]
    parts += [
        (word.removesuffix(head),)
        for word in words
        for head in language.heads
        if word.endswith(head)
    ]
    return (
        part
        for part in parts
        if len("".join(part)) > 1 and not language.is_small(part[0], part[-1])
    )


def _add(
    tree: PhraseTree[Named],
    role: Role,
    phrases: Iterable[tuple[tuple[str, ...], set[str]]],
    *,
    is_whole: bool,
    kinds: AbstractSet[tuple[str, ...]] = frozenset(),
) -> None:
    for words, ids in phrases:
        if words:
            tree.add(
                words,
                Named(
                    role,
                    frozenset(ids),
                    is_whole,
                    words in kinds,
                ),
            )

"""The names of a home as phrases: entities, rooms and floors, by whole names and by the words that tell them apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from .lexicon import PhraseTree, Role, tokens_of_phrase

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
class NamedPlace:
    """A room or a floor."""

    place_id: str
    names: tuple[str, ...]
    area_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """The entities or rooms that a phrase names."""

    role: Role
    """`ENTITY` or `PLACE`."""
    ids: frozenset[str]
    """Entity ids, or ids of areas."""
    is_whole: bool = True
    """Whether it is the whole name, or an alias."""
    is_kind: bool = False
    """Whether it is a part that may also mean another entity of a kind: "the heater"."""


@dataclass(frozen=True, eq=False)
class HomeVocabulary:
    """The names of a home."""

    entities: tuple[KnownEntity, ...]
    places: tuple[NamedPlace, ...]
    idle: frozenset[str] = frozenset()
    """Folded words that name nothing alone, such as articles."""
    kinds: frozenset[str] = frozenset()
    """Folded words for kinds, which tell an entity from others in its name, but not in an alias."""
    by_id: Mapping[str, KnownEntity] = field(init=False)

    def __post_init__(self) -> None:
        """Index the entities."""
        object.__setattr__(self, "by_id", {entity.entity_id: entity for entity in self.entities})

    @cached_property
    def phrases(self) -> PhraseTree[Named]:
        """The phrases that name something, with all that they may name."""
        whole: dict[tuple[str, ...], set[str]] = {}
        parts: dict[tuple[str, ...], set[str]] = {}
        for entity in self.entities:
            for at, name in enumerate(entity.names):
                words = tuple(tokens_of_phrase(name))
                whole.setdefault(words, set()).add(entity.entity_id)
                for part in _parts(words) if len(words) <= _LONGEST_NAME else ():
                    if at == 0 or not self.kinds.issuperset(part):
                        parts.setdefault(part, set()).add(entity.entity_id)
        rooms: dict[tuple[str, ...], set[str]] = {}
        for place in self.places:
            for name in place.names:
                rooms.setdefault(tuple(tokens_of_phrase(name)), set()).update(place.area_ids)
        tree = PhraseTree[Named]()
        _add(tree, Role.ENTITY, whole.items(), is_whole=True)
        telling = ((part, ids) for part, ids in parts.items() if part not in rooms and not self.idle.issuperset(part))
        _add(tree, Role.ENTITY, telling, is_whole=False, kinds=self.kinds)
        _add(tree, Role.PLACE, rooms.items(), is_whole=True)
        return tree


def _parts(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return the phrases within a name, without itself."""
    count = len(words)
    spans = ((start, end) for start in range(count) for end in range(start + 1, count + 1))
    return (tuple(words[start:end]) for start, end in spans if end - start < count)


def _add(
    tree: PhraseTree[Named],
    role: Role,
    phrases: Iterable[tuple[tuple[str, ...], set[str]]],
    *,
    is_whole: bool,
    kinds: frozenset[str] = frozenset(),
) -> None:
    for words, ids in phrases:
        if words:
            tree.add(words, Named(role, frozenset(ids), is_whole, kinds.issuperset(words)))

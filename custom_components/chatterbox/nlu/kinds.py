"""The kinds of entities that words may mean, and what may be done with them. `kinds.toml` lists both."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypedDict

from ..agent.text import read_data_file
from .vocabulary import KnownEntity


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A kind of entities."""

    domains: frozenset[str]
    device_classes: frozenset[str] = frozenset()
    """Empty for any. Locks have none."""
    is_plural: bool = False

    def has(self, entity: KnownEntity) -> bool:
        """Return whether an entity is of this kind."""
        if entity.domain not in self.domains:
            return False
        return (
            not self.device_classes
            or entity.domain == "lock"
            or entity.device_class in self.device_classes
        )


class _Data(TypedDict):
    kinds: dict[str, EntityKind]
    sensors: dict[str, str]
    domains: dict[str, dict[str, str]]


_DATA: Final = read_data_file(__file__, _Data)


def _by_word(texts: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """Return the keys of texts by the words in these."""
    found = defaultdict[str, set[str]](set)
    for key, text in texts.items():
        for word in text.split():
            found[word].add(key)
    return {word: frozenset(keys) for word, keys in found.items()}


def domains_by(field: str) -> Mapping[str, frozenset[str]]:
    """Return the domains with a value in a field, by the values."""
    domains = _DATA["domains"].items()
    return _by_word({domain: fields.get(field, "") for domain, fields in domains})


ACTS_ON: Final = domains_by("acts")
"""The domains that an act is for."""
BY_STATE: Final = domains_by("states")
"""The domains of entities that may be in a state."""
BY_ASPECT: Final = domains_by("aspects")
"""The domains of entities of which a property may be set."""
BY_UNIT: Final = domains_by("units")
"""The domains of entities that may be set to an amount in a unit; `number` is none."""
ON_OFF: Final = BY_STATE["on"]
OPENED: Final = BY_STATE["open"]
CLASSES: Final = _by_word(_DATA["sensors"])
"""The device classes of binary sensors that tell whether something is in a state."""
OPENINGS: Final = CLASSES["open"]
KINDS: Final = {
    **_DATA["kinds"],
    **{
        f"{name}s": replace(one, is_plural=True) for name, one in _DATA["kinds"].items()
    },
    "everything": EntityKind(ON_OFF, is_plural=True),
}
"""Kinds of entities to control. Others, such as lists and alarms, are none."""

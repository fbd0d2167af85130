"""The kinds of entities that words may mean, and what may be done with them. `kinds.toml` lists both."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
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
    domains: dict[str, dict[str, str]]


_DATA: Final = read_data_file(Path(__file__).with_suffix(".toml"), _Data)


def _domains_by(field: str) -> Mapping[str, frozenset[str]]:
    """Return the domains with a value in a field, by the values."""
    found = defaultdict[str, set[str]](set)
    for domain, fields in _DATA["domains"].items():
        for value in fields.get(field, "").split():
            found[value].add(domain)
    return {value: frozenset(domains) for value, domains in found.items()}


ACTS_ON: Final = _domains_by("acts")
"""The domains that an act is for."""
BY_STATE: Final = _domains_by("states")
"""The domains of entities that may be in a state."""
BY_ASPECT: Final = _domains_by("aspects")
"""The domains of entities of which a property may be set."""
BY_UNIT: Final = _domains_by("units")
"""The domains of entities that may be set to an amount in a unit; `number` is none."""
ON_OFF: Final = BY_STATE["on"]
OPENED: Final = BY_STATE["open"]
OPENINGS: Final = frozenset({"door", "garage_door", "opening", "window"})
"""The classes of sensors that tell whether something is open."""
KINDS: Final[Mapping[str, EntityKind]] = {
    **_DATA["kinds"],
    **{
        f"{name}s": replace(one, is_plural=True) for name, one in _DATA["kinds"].items()
    },
    "everything": EntityKind(ON_OFF, is_plural=True),
}
"""Kinds of entities to control. Others, such as lists and alarms, are none."""

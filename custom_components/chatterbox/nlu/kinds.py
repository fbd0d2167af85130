"""The kinds of entities that words may mean."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

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


def _kind(
    domains: str,
    classes: str = "",
) -> EntityKind:
    return EntityKind(
        frozenset(domains.split()),
        frozenset(classes.split()),
    )


ON_OFF: Final = frozenset(
    {
        "light",
        "switch",
        "fan",
        "media_player",
        "climate",
        "humidifier",
        "input_boolean",
        "siren",
        "water_heater",
        "remote",
    }
)
OPENED: Final = frozenset({"cover", "valve"})
OPENINGS: Final = frozenset({"door", "garage_door", "opening", "window"})
"""The classes of sensors that tell whether something is open."""
BY_STATE: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("on", "off"),
        ON_OFF,
    ),
    **dict.fromkeys(
        ("open", "closed"),
        OPENED,
    ),
    **dict.fromkeys(
        ("locked", "unlocked"),
        frozenset({"lock"}),
    ),
    **dict.fromkeys(
        ("home", "not_home"),
        frozenset({"person"}),
    ),
    **dict.fromkeys(
        ("playing", "paused"),
        frozenset({"media_player"}),
    ),
    **dict.fromkeys(
        ("docked", "cleaning"),
        frozenset({"vacuum"}),
    ),
}
"""The domains of entities that may be in a state, by the values of the lexicon."""
_KINDS: Final = {
    "light": _kind("light"),
    "fan": _kind("fan"),
    "plug": _kind("switch", "outlet"),
    "cover": _kind("cover", "blind shade shutter curtain awning"),
    "curtain": _kind("cover", "curtain"),
    "awning": _kind("cover", "awning"),
    "garage": _kind("cover", "garage"),
    "door": _kind("cover lock", "door"),
    "window": _kind("cover", "window"),
    "lock": _kind("lock"),
    "thermostat": _kind("climate"),
    "player": _kind("media_player"),
    "music": _kind("media_player"),
    "radio": _kind("media_player"),
    "tv": _kind("media_player", "tv"),
    "vacuum": _kind("vacuum"),
    "mower": _kind("lawn_mower"),
    "valve": _kind("valve"),
    "scene": _kind("scene"),
    "mood": _kind("scene"),
}
KINDS: Final[Mapping[str, EntityKind]] = {
    **_KINDS,
    **{f"{name}s": replace(one, is_plural=True) for name, one in _KINDS.items()},
    "everything": EntityKind(ON_OFF, is_plural=True),
}
"""Kinds of entities to control, by the values of the lexicon. Others, such as lists and alarms, are none."""

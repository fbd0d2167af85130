"""The kinds of entities that words may mean."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    *,
    plural: bool = False,
) -> EntityKind:
    return EntityKind(
        frozenset(domains.split()),
        frozenset(classes.split()),
        plural,
    )


_SHADES: Final = "blind shade shutter curtain awning"
ON_OFF: Final = frozenset(
    {
        *(
            "light",
            "switch",
            "fan",
            "media_player",
            "climate",
            "humidifier",
        ),
        *(
            "input_boolean",
            "siren",
            "water_heater",
            "remote",
        ),
    }
)
KINDS: Final[Mapping[str, EntityKind]] = {
    "light": _kind("light"),
    "lights": _kind("light", plural=True),
    "fan": _kind("fan"),
    "fans": _kind("fan", plural=True),
    "plug": _kind("switch", "outlet"),
    "plugs": _kind(
        "switch",
        "outlet",
        plural=True,
    ),
    "cover": _kind("cover", _SHADES),
    "covers": _kind(
        "cover",
        _SHADES,
        plural=True,
    ),
    "curtain": _kind("cover", "curtain"),
    "curtains": _kind(
        "cover",
        "curtain",
        plural=True,
    ),
    "awning": _kind("cover", "awning"),
    "awnings": _kind(
        "cover",
        "awning",
        plural=True,
    ),
    "garage": _kind("cover", "garage"),
    "garages": _kind(
        "cover",
        "garage",
        plural=True,
    ),
    "door": _kind("cover lock", "door"),
    "doors": _kind(
        "cover lock",
        "door",
        plural=True,
    ),
    "window": _kind("cover", "window"),
    "windows": _kind(
        "cover",
        "window",
        plural=True,
    ),
    "lock": _kind("lock"),
    "locks": _kind("lock", plural=True),
    "thermostat": _kind("climate"),
    "thermostats": _kind("climate", plural=True),
    "player": _kind("media_player"),
    "music": _kind("media_player"),
    "radio": _kind("media_player"),
    "players": _kind("media_player", plural=True),
    "tv": _kind("media_player", "tv"),
    "tvs": _kind(
        "media_player",
        "tv",
        plural=True,
    ),
    "vacuum": _kind("vacuum"),
    "mower": _kind("lawn_mower"),
    "valve": _kind("valve"),
    "valves": _kind("valve", plural=True),
    "scene": _kind("scene"),
    "mood": _kind("scene"),
    "everything": EntityKind(ON_OFF, is_plural=True),
}
"""Kinds of entities to control, by the values of the lexicon. Others, such as lists and alarms, are none."""

"""Counts the tries to say a PIN, and locks a place after too many of them.

Pure: time comes in as seconds since 1970, a new state goes out. So the count outlives a restart,
which the caller sees to by storing it. Knows neither PINs nor words.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Self

from ..messages import JsonValue

MAX_TRIES: Final = 5
"""In a row, all of them wrong, until a place is locked."""
LOCK_SECONDS: Final = 600.0
"""For so long. After that, there are as many tries again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where tries are counted together."""

    agent: str
    """Id of the agent."""
    spot: str
    """Id of the device that somebody speaks to; one and the same for whatever has none."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A PIN may be compared, once."""

    tries_left: int
    """If this one is wrong; 0 if the place is then locked."""


@dataclass(frozen=True, slots=True)
class Locked:
    """No PIN may be compared, not even the right one."""

    seconds_left: float


type Permission = Allowed | Locked


@dataclass(frozen=True, slots=True)
class Tries:
    """What is known of a place where a PIN was tried since the last success."""

    place: Place
    begun: int = 0
    """1 to `MAX_TRIES`."""
    locked_until: float | None = None
    """Seconds since 1970; None before the last try."""

    def seconds_locked(self, now: float) -> float:
        """Tell for how long the place stays locked: 0 if it is not, and never for longer than `LOCK_SECONDS`."""
        return 0.0 if self.locked_until is None else min(max(self.locked_until - now, 0.0), LOCK_SECONDS)


@dataclass(frozen=True, slots=True)
class PinGuard:
    """The tries of all places.

    A try counts from when it begins, and only success takes it back: who says two PINs at once, or
    makes Home Assistant restart in between, wins nothing.
    """

    places: tuple[Tries, ...] = ()

    def begin_try(self, place: Place, now: float) -> tuple[Self, Permission]:
        """Ask for leave to compare a PIN. The new state has to be taken, and stored, before it is compared."""
        tries = next((one for one in self.places if one.place == place), Tries(place))
        others = (one for one in self.places if one.place != place)
        kept = tuple(one for one in others if one.locked_until is None or one.seconds_locked(now))
        permission: Permission
        if seconds := tries.seconds_locked(now):
            tries, permission = Tries(place, tries.begun, now + seconds), Locked(seconds)
        else:
            begun = 1 if tries.locked_until is not None else tries.begun + 1
            tries = Tries(place, begun, now + LOCK_SECONDS if begun == MAX_TRIES else None)
            permission = Allowed(MAX_TRIES - begun)
        return type(self)((*kept, tries)), permission

    def succeed(self, place: Place) -> Self:
        """Forget the tries of a place where the PIN was right."""
        return type(self)(tuple(one for one in self.places if one.place != place))

    def of_agents(self, agents: Collection[str]) -> Self:
        """Forget the tries of all other agents."""
        return type(self)(tuple(one for one in self.places if one.place.agent in agents))

    def as_json(self) -> list[JsonValue]:
        """Return what `from_json` reads. It tells nothing about a PIN."""
        return [
            {
                "agent": one.place.agent,
                "spot": one.place.spot,
                "begun": one.begun,
                "locked_until": one.locked_until,
            }
            for one in self.places
        ]

    @classmethod
    def from_json(cls, stored: JsonValue) -> Self:
        """Read what `as_json` wrote; raises ValueError if it is something else."""
        match stored:
            case list():
                return cls(tuple(map(_tries, stored)))
            case _:
                raise ValueError("the stored tries of a PIN are no list")


def _tries(stored: JsonValue) -> Tries:
    match stored:
        case {
            "agent": str(agent),
            "spot": str(spot),
            "begun": int(begun),
            "locked_until": None | int() | float() as until,
        }:
            is_locked = until is not None and math.isfinite(until)
            if (1 <= begun < MAX_TRIES and until is None) or (begun == MAX_TRIES and is_locked):
                return Tries(Place(agent, spot), begun, until)
        case _:
            pass
    raise ValueError("the stored tries of a PIN are not what was stored")

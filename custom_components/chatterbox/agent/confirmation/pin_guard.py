"""Limits the tries to say a PIN: after too many wrong ones, an agent takes none from a device for a while.

The state is immutable and time is an argument; the caller stores each new state, so that the count survives a restart.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Self

from ..messages import JsonValue

MAX_TRIES: Final = 5
"""Wrong tries in a row after which a scope is locked."""
LOCK_SECONDS: Final = 600.0
"""Duration of the lock. After that, there are as many tries again."""


@dataclass(frozen=True, slots=True)
class TryScope:
    """An agent and a device, whose tries are counted together."""

    agent: str
    """Id of the agent."""
    device: str
    """Id of the satellite; one and the same for everything that is none."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A PIN may be compared, once."""

    tries_left: int
    """Tries left if this one is wrong; 0 if the scope is then locked."""


@dataclass(frozen=True, slots=True)
class Locked:
    """No PIN may be compared, not even the right one."""

    seconds_left: float


type Permission = Allowed | Locked


@dataclass(frozen=True, slots=True)
class Tries:
    """The tries of a scope since the last success."""

    scope: TryScope
    begun: int = 0
    """1 to `MAX_TRIES`."""
    locked_until: float | None = None
    """Seconds since 1970; None before the last try."""

    def seconds_locked(self, now: float) -> float:
        """Return the seconds until the scope is unlocked: 0 if it is not locked, at most `LOCK_SECONDS`."""
        return 0.0 if self.locked_until is None else min(max(self.locked_until - now, 0.0), LOCK_SECONDS)


@dataclass(frozen=True, slots=True)
class PinGuard:
    """The tries of all scopes.

    A try counts from its beginning, and only success takes it back: two PINs at once, or a restart of Home Assistant in
    between, gain nothing.
    """

    scopes: tuple[Tries, ...] = ()

    def begin_try(self, scope: TryScope, now: float) -> tuple[Self, Permission]:
        """Count a try. The new state has to be stored before a PIN is compared."""
        tries = next((one for one in self.scopes if one.scope == scope), Tries(scope))
        others = (one for one in self.scopes if one.scope != scope)
        kept = tuple(one for one in others if one.locked_until is None or one.seconds_locked(now))
        permission: Permission
        if seconds := tries.seconds_locked(now):
            tries, permission = Tries(scope, tries.begun, now + seconds), Locked(seconds)
        else:
            begun = 1 if tries.locked_until is not None else tries.begun + 1
            tries = Tries(scope, begun, now + LOCK_SECONDS if begun == MAX_TRIES else None)
            permission = Allowed(MAX_TRIES - begun)
        return type(self)((*kept, tries)), permission

    def succeed(self, scope: TryScope) -> Self:
        """Forget the tries of a scope after the right PIN."""
        return type(self)(tuple(one for one in self.scopes if one.scope != scope))

    def of_agents(self, agents: Collection[str]) -> Self:
        """Forget the tries of all other agents."""
        return type(self)(tuple(one for one in self.scopes if one.scope.agent in agents))

    def as_json(self) -> list[JsonValue]:
        """Return the tries as JSON. It reveals nothing about a PIN."""
        return [
            {"agent": one.scope.agent, "device": one.scope.device, "begun": one.begun, "locked_until": one.locked_until}
            for one in self.scopes
        ]

    @classmethod
    def from_json(cls, stored: JsonValue) -> Self:
        """Read the result of `as_json`; raises ValueError for anything else."""
        if isinstance(stored, list):
            return cls(tuple(map(_tries, stored)))
        raise ValueError("the stored tries of a PIN are not a list")


def _tries(stored: JsonValue) -> Tries:
    match stored:
        case {
            "agent": str(agent),
            "device": str(device),
            "begun": int(begun),
            "locked_until": None | int() | float() as until,
        }:
            is_locked = until is not None and math.isfinite(until)
            if (1 <= begun < MAX_TRIES and until is None) or (begun == MAX_TRIES and is_locked):
                return Tries(TryScope(agent, device), begun, until)
        case _:
            pass
    raise ValueError("the stored tries of a PIN are invalid")

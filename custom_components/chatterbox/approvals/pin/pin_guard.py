"""Limits the tries to say a PIN: after too many wrong ones, none is taken from a device for a while.

The state is immutable and time is an argument; the caller stores each new state, so
that the count survives a restart.
"""

import math
from dataclasses import dataclass
from typing import Final, Self

from ...agent.messages import JsonValue

MAX_TRIES: Final = 5
"""Wrong tries in a row after which a scope is locked."""
LOCK_SECONDS: Final = 600.0
"""Duration of the lock. After that, there are as many tries again."""


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
    """The tries at a device since the last success, with whatever agent."""

    device: str
    """Id of the satellite; one and the same for everything that is none."""
    begun: int = 0
    """1 to `MAX_TRIES`."""
    locked_until: float | None = None
    """Seconds since 1970; None before the last try."""

    def seconds_locked(self, now: float) -> float:
        """Return the seconds until the device is unlocked: 0 if it is not locked, at most `LOCK_SECONDS`."""
        if self.locked_until is None:
            return 0.0
        return min(
            max(self.locked_until - now, 0.0),
            LOCK_SECONDS,
        )


@dataclass(frozen=True, slots=True)
class PinGuard:
    """The tries at all devices.

    A try counts from its beginning, and only success takes it back: two PINs at once,
    or a restart of Home Assistant in between, gain nothing.
    """

    tries: tuple[Tries, ...] = ()

    def begin_try(
        self,
        device: str,
        now: float,
    ) -> tuple[Self, Permission]:
        """Count a try. The new state has to be stored before a PIN is compared."""
        known = (
            one for one in self.tries if one.device == device
        )  # several from two files
        tries = max(
            known,
            key=lambda one: one.begun,
            default=Tries(device),
        )
        others = (one for one in self.tries if one.device != device)
        remaining = tuple(
            one for one in others if one.locked_until is None or one.seconds_locked(now)
        )
        permission: Permission
        seconds = tries.seconds_locked(now)
        if seconds:
            tries = Tries(
                device,
                tries.begun,
                now + seconds,
            )
            permission = Locked(seconds)
        else:
            begun = 1 if tries.locked_until is not None else tries.begun + 1
            tries = Tries(
                device, begun, now + LOCK_SECONDS if begun == MAX_TRIES else None
            )
            permission = Allowed(MAX_TRIES - begun)
        return type(self)((*remaining, tries)), permission

    def succeed(self, device: str) -> Self:
        """Forget the tries at a device after the right PIN."""
        return type(self)(tuple(one for one in self.tries if one.device != device))

    def as_json(self) -> list[JsonValue]:
        """Return the tries as JSON. It reveals nothing about a PIN."""
        return [
            {
                "device": one.device,
                "begun": one.begun,
                "locked_until": one.locked_until,
            }
            for one in self.tries
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
            "device": str(device),
            "begun": int(begun),
            "locked_until": None | int() | float() as until,
        }:
            is_locked = until is not None and math.isfinite(until)
            if (1 <= begun < MAX_TRIES and until is None) or (
                begun == MAX_TRIES and is_locked
            ):
                return Tries(
                    device,
                    begun,
                    until,
                )
        case _:
            pass
    raise ValueError("the stored tries of a PIN are invalid")

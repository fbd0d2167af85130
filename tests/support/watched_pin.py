"""A PIN that is watched while it is compared."""

from dataclasses import dataclass, field
from typing import override

from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash


@dataclass(frozen=True, slots=True)
class WatchedPin(PinHash):
    """A PIN that notes what it is compared with."""

    compared: list[str] = field(default_factory=list)

    @override
    def matches(self, pin: str) -> bool:
        self.compared.append(pin)
        return PinHash.matches(self, pin)


def watched(pin: str) -> WatchedPin:
    """Return a PIN, not compared with anything yet."""
    hashed = PinHash.of(pin, HashCost(memory=2, repeats=1))
    return WatchedPin(hashed.salt, hashed.digest, hashed.cost)

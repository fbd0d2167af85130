"""A PIN as it is kept: hashed, so that nobody reads it in a file or a backup.

Four digits are soon tried through by whoever has the hash, however slow each try is: what is kept
here is a secret too, and shows itself nowhere. Knows nothing of who may try, or how often.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, Self, override

from ..messages import JsonObject, JsonValue

SHORTEST_PIN: Final = 4
LONGEST_PIN: Final = 10
"""Digits of a PIN."""

_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_MAX_MEMORY: Final = 64 * 2**20
"""Bytes. What would need more is not a hash of ours."""
_MAX_REPEATS: Final = 16


class PinFlaw(StrEnum):
    """Why a PIN is refused when it is chosen."""

    NOT_DIGITS = "not_digits"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    OBVIOUS = "obvious"
    """The first that anybody would try: 0000, 1234, 9876, 1212."""


def flaw_of_pin(pin: str) -> PinFlaw | None:
    """Tell why a PIN cannot be chosen; None if it can."""
    if not (pin.isascii() and pin.isdigit()):
        return PinFlaw.NOT_DIGITS
    if len(pin) < SHORTEST_PIN:
        return PinFlaw.TOO_SHORT
    if len(pin) > LONGEST_PIN:
        return PinFlaw.TOO_LONG
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(pin)}
    is_one_step = steps in ({0}, {1}, {9})
    return PinFlaw.OBVIOUS if is_one_step or pin[2:] == pin[:-2] else None


@dataclass(frozen=True, slots=True)
class HashCost:
    """How much work a hash is (scrypt, RFC 7914): 16 MB of memory, several times over."""

    memory: int = 2**14
    """Blocks of 1024 bytes; a power of two."""
    repeats: int = 5
    """Each time takes as long as the first, in the same memory."""

    def __post_init__(self) -> None:
        """Refuse what cannot be worked out, or not in bearable time."""
        if self.memory <= 1 or self.memory & (self.memory - 1) or self.memory * 1024 > _MAX_MEMORY:
            raise ValueError("memory must be a power of two, at least 2, and fit into 64 MB")
        if not 1 <= self.repeats <= _MAX_REPEATS:
            raise ValueError(f"repeats must be 1 to {_MAX_REPEATS}")


_DEFAULT_COST: Final = HashCost()


@dataclass(frozen=True, slots=True, repr=False)
class PinHash:
    """A PIN that can be recognised, and not read."""

    salt: bytes
    digest: bytes
    cost: HashCost

    @override
    def __repr__(self) -> str:
        """Show nothing: whoever has a hash finds the PIN."""
        return "PinHash(…)"

    @classmethod
    def of(cls, pin: str, cost: HashCost = _DEFAULT_COST) -> Self:
        """Hash a new PIN. Takes a tenth of a second and more: in an event loop, leave it to an executor.

        Raises ValueError, which does not quote the PIN, if `flaw_of_pin` finds a flaw.
        """
        if flaw := flaw_of_pin(pin):
            raise ValueError(f"a PIN cannot be chosen that is {flaw}")
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(salt, _digest(pin, salt, cost), cost)

    def matches(self, pin: str) -> bool:
        """Tell whether this is the PIN. Takes as long as `of`, and equally long for each PIN."""
        return hmac.compare_digest(_digest(pin, self.salt, self.cost), self.digest)

    def as_json(self) -> JsonObject:
        """Return what `from_json` reads. It is to be kept like a secret: out of logs and diagnostics."""
        return {
            "scheme": "scrypt",
            "memory": self.cost.memory,
            "repeats": self.cost.repeats,
            "salt": base64.b64encode(self.salt).decode(),
            "digest": base64.b64encode(self.digest).decode(),
        }

    @classmethod
    def from_json(cls, stored: JsonValue) -> Self:
        """Read what `as_json` wrote; raises ValueError, which quotes nothing of it, if it is something else."""
        read: Self | None = None
        try:
            match stored:
                case {
                    "scheme": "scrypt",
                    "memory": int(memory),
                    "repeats": int(repeats),
                    "salt": str(salt),
                    "digest": str(digest),
                }:
                    read = cls(_bytes(salt, _SALT_BYTES), _bytes(digest, _HASH_BYTES), HashCost(memory, repeats))
                case _:
                    pass
        except ValueError:
            pass
        if read is None:  # outside of the handler, for what was read would stand in the chain of errors
            raise ValueError("the stored PIN cannot be read: choose it again")
        return read


def _digest(pin: str, salt: bytes, cost: HashCost) -> bytes:
    return hashlib.scrypt(
        pin.encode("utf-8", "surrogatepass"),  # nothing is refused here, as the refusal would quote it
        salt=salt,
        n=cost.memory,
        r=8,
        p=cost.repeats,
        maxmem=2 * _MAX_MEMORY,
        dklen=_HASH_BYTES,
    )


def _bytes(text: str, length: int) -> bytes:
    """Read so many bytes from Base64; raises ValueError."""
    read = base64.b64decode(text, validate=True)
    if len(read) != length:
        raise ValueError("it has another length")
    return read

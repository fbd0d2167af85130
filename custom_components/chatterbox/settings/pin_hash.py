"""PIN hashes and the rules for choosing a PIN.

Four digits are soon found by trial, however slow the hash is: a hash is a secret, too,
and is never shown. Decision 49.
"""

import base64
import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, Self, override

from ..agent.messages import JsonObject, JsonValue

SHORTEST_PIN: Final = 4
LONGEST_PIN: Final = 10
"""Limits of the number of digits."""

_LENGTHS: Final = range(SHORTEST_PIN, LONGEST_PIN + 1)
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_MAX_MEMORY: Final = 64 * 2**20
"""Bytes. A stored hash that needs more is refused."""
_MAX_REPEATS: Final = 16


class PinFlaw(StrEnum):
    """The reason why a new PIN is refused."""

    NOT_DIGITS = "not_digits"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    OBVIOUS = "obvious"
    """A PIN that is tried first: 0000, 1234, 9876, 1212."""


def flaw_of_pin(pin: str) -> PinFlaw | None:
    """Return the reason why a PIN cannot be chosen; None if it can."""
    if not (pin.isascii() and pin.isdigit()):
        return PinFlaw.NOT_DIGITS
    if len(pin) < SHORTEST_PIN:
        return PinFlaw.TOO_SHORT
    if len(pin) > LONGEST_PIN:
        return PinFlaw.TOO_LONG
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(pin)}
    is_one_step = steps in ({0}, {1}, {9})
    if is_one_step or pin[2:] == pin[:-2]:
        return PinFlaw.OBVIOUS
    return None


@dataclass(frozen=True, slots=True)
class HashCost:
    """The cost of a hash (scrypt, RFC 7914): 16 MB of memory, several times over."""

    memory: int = 2**14
    """Blocks of 1024 bytes; a power of two."""
    repeats: int = 5
    """Parallelization parameter: each time takes as long as the first, in the same memory."""

    def __post_init__(self) -> None:
        """Refuse parameters that are invalid or take too long."""
        if (
            self.memory <= 1
            or self.memory & (self.memory - 1)
            or self.memory * 1024 > _MAX_MEMORY
        ):
            raise ValueError(
                "memory must be a power of two, at least 2, and fit into 64 MB"
            )
        if not 1 <= self.repeats <= _MAX_REPEATS:
            raise ValueError(f"repeats must be 1 to {_MAX_REPEATS}")


_DEFAULT_COST: Final = HashCost()


@dataclass(frozen=True, slots=True, repr=False)
class PinHash:
    """The hash of a PIN."""

    salt: bytes
    digest: bytes
    cost: HashCost
    length: int | None = None
    """Number of digits, so that a PIN that was misheard costs no try; None for a PIN that was stored without."""

    @override
    def __repr__(self) -> str:
        """Show nothing, since the PIN can be found from the hash."""
        return "PinHash(…)"

    @classmethod
    def of(
        cls,
        pin: str,
        cost: HashCost = _DEFAULT_COST,
    ) -> Self:
        """Hash a new PIN. It takes a tenth of a second and more: call it in an executor.

        Raises ValueError, which does not quote the PIN, if `flaw_of_pin` finds a flaw.
        """
        flaw = flaw_of_pin(pin)
        if flaw:
            raise ValueError(f"a PIN cannot be chosen that is {flaw}")
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(
            salt,
            _digest(
                pin,
                salt,
                cost,
            ),
            cost,
            len(pin),
        )

    def matches(self, pin: str) -> bool:
        """Return True if this is the PIN. It takes as long as `of`, and equally long for each PIN."""
        return hmac.compare_digest(
            _digest(
                pin,
                self.salt,
                self.cost,
            ),
            self.digest,
        )

    def as_json(self) -> JsonObject:
        """Return the hash as JSON. It is a secret: keep it out of logs and diagnostics."""
        return {
            "scheme": "scrypt",
            "memory": self.cost.memory,
            "repeats": self.cost.repeats,
            "salt": base64.b64encode(self.salt).decode(),
            "digest": base64.b64encode(self.digest).decode(),
            **({} if self.length is None else {"length": self.length}),
        }

    @classmethod
    def from_json(cls, stored: JsonValue) -> Self:
        """Read the result of `as_json`; raises ValueError, which does not quote the data, for anything else."""
        match stored:
            case {
                "scheme": "scrypt",
                "memory": int(size),
                "repeats": int(times),
                "salt": str(salt),
                "digest": str(digest),
                **others,
            } if (length := others.get("length")) is None or (
                isinstance(length, int) and length in _LENGTHS
            ):
                with suppress(ValueError):
                    return cls(
                        _bytes(salt, _SALT_BYTES),
                        _bytes(digest, _HASH_BYTES),
                        HashCost(size, times),
                        length,
                    )
            case _:
                pass
        # Raised outside of the handler, whose error quotes the data.
        raise ValueError("the stored PIN cannot be read: choose it again")


def _digest(
    pin: str,
    salt: bytes,
    cost: HashCost,
) -> bytes:
    return hashlib.scrypt(
        pin.encode(
            "utf-8", "surrogatepass"
        ),  # never fails, since the error would quote the PIN
        salt=salt,
        n=cost.memory,
        r=8,
        p=cost.repeats,
        maxmem=2 * _MAX_MEMORY,
        dklen=_HASH_BYTES,
    )


def _bytes(
    text: str,
    length: int,
) -> bytes:
    """Decode so many bytes of Base64; raises ValueError."""
    decoded = base64.b64decode(text, validate=True)
    if len(decoded) != length:
        raise ValueError("it has another length")
    return decoded

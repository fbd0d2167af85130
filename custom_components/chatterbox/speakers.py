"""Who speaks to an agent, as far as it is known, and whether they can be asked something.

Knows users, persons and devices of Home Assistant. Must not know rules, or what was said.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Asking(StrEnum):
    """What comes of a question whether something may be done."""

    PERSON = "person"
    """Somebody is there who can answer it."""
    NOBODY = "nobody"
    """Nobody hears it, so the answer is no."""
    TRUSTED = "trusted"
    """An automation or a script asks that the owner trusts: the answer is yes, but where a PIN has to be said."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who asks, as far as it is known."""

    user_id: str | None = None
    device_id: str | None = None
    name: str | None = None
    """What they are called."""
    asking: Asking = Asking.NOBODY
    caller: str | None = None
    """Entity id of the automation or the script that speaks in nobody's place."""


NOBODY: Final = Speaker()

"""Tells the rest of Chatterbox that a turn is over, and how it went: for numbers, diagnostics and budgets.

Others in the house are told by events (`turns/events.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.util.signal_type import SignalType

from ..agent.messages import JsonValue
from ..const import DOMAIN
from .facts import TurnFacts
from .report import TurnReport


@dataclass(frozen=True, slots=True)
class TurnNews:
    """A turn of an agent is over."""

    agent: str
    """Its subentry id."""
    origin: Mapping[str, JsonValue]
    """See `turn_events.turn_origin`."""
    facts: TurnFacts
    report: TurnReport | None = None
    """What was said and done in it, for those only who were asked to show it."""


SIGNAL_TURN: Final[SignalType[TurnNews]] = SignalType(f"{DOMAIN}_turn")
"""Sent once for each turn, also for one that was cut off."""

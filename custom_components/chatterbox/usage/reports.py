"""Tells the rest of Chatterbox what a model has read and written outside of turns, so that it is counted too.

What a turn took is told with the turn (`records/news.py`), and never here as well.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from homeassistant.util.signal_type import SignalType

from ..agent.messages import Usage
from ..const import DOMAIN


class UsagePurpose(StrEnum):
    """What a model was asked for."""

    SUMMARY = "summary"
    """To sum up the part of a conversation that is no longer sent."""
    PICTURE = "picture"
    """To make a picture. Another model did, whose price nobody knows."""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """A model has answered, not in a turn."""

    agent: str
    """Subentry id of the one whose model answered, as `InferenceFacts.answered_by`."""
    usage: Usage
    purpose: UsagePurpose


SIGNAL_USAGE: Final[SignalType[ModelUsage]] = SignalType(f"{DOMAIN}_usage")
"""Sent once for each request that was answered."""

"""What an agent's own tools answer, and whom they serve.

Knows speakers. Must not know what any of the tools does.
"""

from dataclasses import dataclass
from typing import Final

from .agent.messages import JsonObject
from .speakers import Asking, Speaker

_NOBODY: Final = (
    "It is not known who speaks, so nothing can be remembered for them, or found of what they said. Say so. It works "
    "for who is signed in to Home Assistant, and at a satellite for which a person is chosen in this agent's settings."
)
_AUTOMATION: Final = "Only a person who speaks for themself can use this. No automation and no script can."


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answers, as JSON."""

    data: JsonObject
    is_error: bool = False
    open_world: bool = False
    """It holds what people outside the house may have written."""


def refused(why: str) -> ToolAnswer:
    """Return the answer of a tool that did nothing."""
    return ToolAnswer({"error": why}, is_error=True)


def person_served(speaker: Speaker) -> str | ToolAnswer:
    """Return the id of the person who speaks and is known, or what somebody else is told."""
    if speaker.asking is not Asking.PERSON:
        return refused(_AUTOMATION)
    return speaker.person_id or refused(_NOBODY)

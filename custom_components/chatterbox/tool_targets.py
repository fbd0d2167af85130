"""Which entities a call of one of Home Assistant's tools may change, for the order of calls.

Knows the effects of calls. Must not know how a call runs.
"""

from typing import Final

from .effects import Effects, Touches

_ACTS_ELSEWHERE: Final = frozenset({"automation", "button", "input_button", "scene", "script"})
"""Domains whose entities change something other than themselves."""


def targets_of(effects: Effects) -> frozenset[str] | None:
    """Return the ids of the entities that a call with these effects may change, or None when it cannot be told.

    Members of groups are among them. It can be told for the intents that act on entities by name, area, floor, domain
    or device class.
    """
    if not isinstance(effects, Touches) or not effects.actions:
        return None
    if not _ACTS_ELSEWHERE.isdisjoint([action.domain for action in effects.actions]):
        return None
    return frozenset([action.entity_id for action in effects.actions])

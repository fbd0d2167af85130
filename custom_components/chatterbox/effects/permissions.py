"""What a user of Home Assistant may not control of what a call would do, before it runs.

Knows users and their permissions. Must not know rules, questions or tools. Home Assistant asks for the same permissions
when its own services are called; asked here, a call is refused as a whole before a part of it was done, and so is one
that would reach an entity by a way on which nobody asks any more.
"""

from dataclasses import dataclass
from typing import assert_never

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant

from .effect import Annotated, Effects, Touches, Unresolved, actions_of


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Something of a call is not for its user to do."""

    entity_ids: frozenset[str] = frozenset()
    """What they may not control, as far as it is known; empty when it cannot be told what the call would do."""


async def async_forbidden(hass: HomeAssistant, user_id: str | None, effects: Effects) -> Forbidden | None:
    """Return what a user may not do of what a call would do; None when they may do all of it.

    `user_id` is that of the context in which the call would run. Without one it is Home Assistant itself that acts,
    which may do everything. A user who is gone or deactivated may change nothing. Whoever may not control every entity
    may do nothing of which nobody knows what it would do.
    """
    if user_id is None:
        return None
    user = await hass.auth.async_get_user(user_id)
    is_active = user is not None and user.is_active
    if user is not None and is_active and (user.is_admin or user.permissions.access_all_entities(POLICY_CONTROL)):
        return None
    entity_ids = {action.entity_id for action in actions_of(effects)}
    if user is not None and is_active:
        check = user.permissions.check_entity
        entity_ids = {entity_id for entity_id in entity_ids if not check(entity_id, POLICY_CONTROL)}
    return Forbidden(frozenset(entity_ids)) if entity_ids or _is_unknown(effects) else None


def _is_unknown(effects: Effects) -> bool:
    """Tell whether a call may change something that nobody can name."""
    match effects:
        case Touches():
            return False
        case Unresolved():
            return True
        case Annotated(annotations):
            return not annotations.read_only
        case _ as unreachable:
            assert_never(unreachable)

"""Checks the permissions of a user for the effects of a call before it runs.

Home Assistant checks the same permissions in its own services. Here a call is refused as a whole, before a part of it
is done, and also if it reaches an entity in a way that Home Assistant does not check.
"""

from dataclasses import dataclass
from typing import assert_never

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant

from .effect import Annotated, Effects, Touches, Unresolved, actions_of


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The user may not do all that a call would do."""

    entity_ids: frozenset[str] = frozenset()
    """The known entities that the user may not control. Empty if only unknown effects are the problem."""


async def async_forbidden(hass: HomeAssistant, user_id: str | None, effects: Effects) -> Forbidden | None:
    """Return the effects that a user may not have, or None.

    `user_id` comes from the context of the call. Without one Home Assistant itself acts, which may do everything. A
    deleted or inactive user may change nothing. A user who may not control every entity may not cause unknown effects.
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
    """Tell whether a call may have unknown effects."""
    match effects:
        case Touches():
            return False
        case Unresolved():
            return True
        case Annotated(annotations):
            return not annotations.read_only
        case _ as unreachable:
            assert_never(unreachable)

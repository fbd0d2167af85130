"""Describes our events for Home Assistant's logbook.

Knows the data of `chatterbox_change`, whose texts were written when it was fired. Data of other versions may lack some.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from homeassistant.components.logbook import (
    LOGBOOK_ENTRY_CONTEXT_ID,
    LOGBOOK_ENTRY_ENTITY_ID,
    LOGBOOK_ENTRY_ICON,
    LOGBOOK_ENTRY_MESSAGE,
    LOGBOOK_ENTRY_NAME,
    LazyEventPartialState,
)
from homeassistant.core import HomeAssistant, callback

from .approvals.review import ApprovalWay, CallState
from .const import DOMAIN, EVENT_CHANGE
from .home.entity_matches import entity_name

_APPROVED_ICON: Final = "mdi:shield-check-outline"
_WAITING_ICON: Final = "mdi:timer-sand"
_FAILED_ICON: Final = "mdi:alert-circle-outline"
_NOT_DONE_ICON: Final = "mdi:shield-remove-outline"
_DONE_ICON: Final = "mdi:forum-outline"

type Description = dict[str, str | None]


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[LazyEventPartialState], Description]], None],
) -> None:
    """Register descriptions of the changes that agents made or failed to make."""
    async_describe_event(DOMAIN, EVENT_CHANGE, partial(_describe_change, hass))


@callback
def _describe_change(hass: HomeAssistant, event: LazyEventPartialState) -> Description:
    """Describe a change as one of its only entity, else as one of the actor.

    If an entry has an entity, the frontend shows the entity's name instead of the entry's.
    """
    data: Mapping[str, object] = event.data
    place, person = data.get("place") or "Chatterbox", data.get("person")
    entity_ids, activity = data.get("done_to") or data.get("entity_ids"), data.get("activity")
    name, message, entity_id = f"{place} ({person})" if person else str(place), data.get("message", ""), None
    if activity and isinstance(entity_ids, list) and entity_ids:
        entity_id, message = str(entity_ids[0]), activity
        name = entity_name(hass, entity_id)
    return {
        LOGBOOK_ENTRY_NAME: name,
        LOGBOOK_ENTRY_MESSAGE: str(message),
        LOGBOOK_ENTRY_ENTITY_ID: entity_id,
        LOGBOOK_ENTRY_ICON: _icon(data),
        LOGBOOK_ENTRY_CONTEXT_ID: event.context_id,
    }


def _icon(data: Mapping[str, object]) -> str:
    match data.get("outcome"):
        case CallState.DONE if data.get("approval") == ApprovalWay.NOT_NEEDED:
            return _DONE_ICON
        case CallState.DONE:
            return _APPROVED_ICON
        case CallState.WAITING:
            return _WAITING_ICON
        case CallState.FAILED | CallState.INTERRUPTED:
            return _FAILED_ICON
        case _:
            return _NOT_DONE_ICON

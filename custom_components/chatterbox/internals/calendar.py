"""The inside of `homeassistant.components.calendar`: its entities, which alone tell the ids of events."""

from typing import TYPE_CHECKING, Final

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant

from .reliance import Reliance

if TYPE_CHECKING:
    from homeassistant.components.calendar import CalendarEntity

_CALENDARS: Final = Reliance(
    "calendar_events", "homeassistant.components.calendar.const", ("DATA_COMPONENT",)
)


def calendar_entity(
    hass: HomeAssistant,
    entity_id: str,
) -> CalendarEntity | None:
    """Return a calendar; None for one that is unavailable, or not known. Source: `calendar.CalendarEntity`."""
    found = _CALENDARS.find(hass)
    component = hass.data.get(found.DATA_COMPONENT) if found else None
    is_gone = hass.states.is_state(entity_id, STATE_UNAVAILABLE)
    if component is None or is_gone:
        return None
    entity: CalendarEntity | None = component.get_entity(entity_id)
    return entity

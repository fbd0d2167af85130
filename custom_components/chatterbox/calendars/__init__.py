"""The calendars of the home: what is in them, when nothing is, and events that are added, deleted and moved."""

from homeassistant.core import HomeAssistant

from ..offline.local_commands import recognizers
from ..tools.own.registry import own_tools
from .sentences import async_recognize_calendar
from .tools import ADD_EVENT, DELETE_EVENT, FIND_FREE_TIME, GET_EVENTS, MOVE_EVENT


def async_setup_calendars(hass: HomeAssistant) -> None:
    """Add the tools to those of the agents that act, and what is understood without a model."""
    own_tools(hass).extend(
        (
            GET_EVENTS,
            FIND_FREE_TIME,
            ADD_EVENT,
            DELETE_EVENT,
            MOVE_EVENT,
        )
    )
    recognizers(hass)[GET_EVENTS.definition.name] = async_recognize_calendar

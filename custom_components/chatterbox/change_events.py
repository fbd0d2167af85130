"""Fires the event that tells what became of a call, with the words for it.

Knows the bus. Must not know how a record comes about.
"""

from homeassistant.core import Context, callback

from .change_record import ChangeRecord
from .change_words import ChangeWords
from .const import EVENT_CHANGE


@callback
def async_fire_change(words: ChangeWords, record: ChangeRecord, context: Context) -> None:
    """Tell automations and the logbook. `context` is that in which the call ran, or would have run."""
    said = {"place": words.place(record), "message": words.message(record)}
    words.hass.bus.async_fire(EVENT_CHANGE, {**record.as_event_data(), **said}, context=context)

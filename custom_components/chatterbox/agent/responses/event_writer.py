"""Writes the events of one response: numbers them, and places its items one after the other.

Knows what events and items have in common; must not know what is in them.
Source: OpenResponses specification 2026-04-24, "Streaming".
"""

from ..messages import JsonObject, JsonValue


class EventWriter:
    """The events of a response that are not fetched yet, and its items that are done."""

    def __init__(self) -> None:
        """Begin at number 0."""
        self.items: list[JsonValue] = []
        """What `response.output_item.done` has told, in order."""
        self._number = 0
        self._written: list[JsonObject] = []

    def write(self, kind: str, **fields: JsonValue) -> None:
        """Write an event."""
        self._written.append({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1

    def fetch(self) -> list[JsonObject]:
        """Return what was written since the last time."""
        written, self._written = self._written, []
        return written

    def open(self, item: JsonObject, item_id: str) -> ItemWriter:
        """Write that an item begins, with nothing in it yet. The one before it must be done."""
        return ItemWriter(self, item, item_id)

    def place(self, item: JsonObject, item_id: str) -> None:
        """Write an item that is done as soon as it is there."""
        self.open(item, item_id).done(item)


class ItemWriter:
    """The events of one item."""

    def __init__(self, events: EventWriter, item: JsonObject, item_id: str) -> None:
        """Begin the item, as it is at first."""
        self._events = events
        self._id = item_id
        self._index = len(events.items)
        events.write("response.output_item.added", output_index=self._index, item=item)

    def write(self, kind: str, **fields: JsonValue) -> None:
        """Write an event of the item."""
        self._events.write(kind, item_id=self._id, output_index=self._index, **fields)

    def done(self, item: JsonObject) -> None:
        """End the item, as it is at last. It must not be changed after that."""
        self._events.items.append(item)
        self._events.write("response.output_item.done", output_index=self._index, item=item)

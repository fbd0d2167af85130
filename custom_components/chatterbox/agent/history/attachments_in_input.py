"""Stores the bytes that a client sent once: in its input, of which the attachments of the messages only tell where.

Pure. Knows JSON as `stored_transcripts.py` writes it; must not know what an item of an input is. Bytes that are not
found in the input, letter by letter, stay with their message.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ..messages import JsonObject, JsonValue
from .json_fields import StoredJsonInvalid, count_of, objects_of, values_in

_PLACE: Final = "in_input"
"""Which of the long texts of the input holds the bytes, from 0 on."""
_LONG: Final = 1_000
"""Characters from which on it is worth it."""
_MARK: Final = ";base64,"
"""In front of the bytes in a `data:` URL."""


def point_to_input(messages: Iterable[JsonObject], items: Iterable[JsonObject]) -> None:
    """Take the bytes out of messages, where the input has the same."""
    places = {payload: place for place, payload in enumerate(_payloads(items))}
    for attachment in _attachments(messages):
        place = places.get(str(attachment.get("data")))
        if place is not None:
            del attachment["data"]
            attachment[_PLACE] = place


def take_from_input(messages: Iterable[JsonObject], items: Iterable[JsonObject]) -> None:
    """Put the bytes back. Raises StoredJsonInvalid where the input does not have them."""
    pointing = [attachment for attachment in _attachments(messages) if _PLACE in attachment]
    payloads = list(_payloads(items)) if pointing else []
    for attachment in pointing:
        place = count_of(attachment, _PLACE)
        if not 0 <= place < len(payloads):
            raise StoredJsonInvalid("The input does not hold the bytes of an attachment.")
        del attachment[_PLACE]
        attachment["data"] = payloads[place]


def _attachments(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        yield from objects_of(message, "attachments")


def _payloads(items: Iterable[JsonObject]) -> Iterator[str]:
    every: list[JsonValue] = [*items]
    for value in values_in(every):
        if isinstance(value, str) and len(value) >= _LONG:
            head, mark, data = value[:_LONG].partition(_MARK)
            yield value[len(head) + len(mark) :] if mark and head.startswith("data:") and data else value

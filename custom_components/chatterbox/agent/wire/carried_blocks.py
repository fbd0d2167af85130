"""Parts of a message that its service wants back unchanged, and their place among its words and calls.

Knows how such a part is kept in a transcript and read again; not what it holds. A service
may check that a part stands where it stood, so each is kept with what came before it.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from pydantic import NonNegativeInt, TypeAdapter, ValidationError, with_config

from ..messages import AssistantMessage, JsonObject, ProviderItem


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class CarriedBlock:
    """One part, as the service sent it."""

    block: JsonObject
    text: NonNegativeInt
    """Characters of the message's text that came before it."""
    calls: NonNegativeInt
    """Calls of the message that came before it."""
    skip: NonNegativeInt = 0
    """Characters after it that we added ourselves, to keep two texts apart."""

    def as_item(self, wire_format: str) -> ProviderItem:
        """Return it in the form that a transcript keeps."""
        return ProviderItem(wire_format, asdict(self))


_CARRIED: Final = TypeAdapter(CarriedBlock)


def carried_by(message: AssistantMessage, wire_format: str) -> Iterator[CarriedBlock]:
    """Yield the parts that `wire_format` left in a message, in order; what it cannot have written is passed over."""
    for item in message.provider_items:
        if item.format == wire_format:
            try:
                yield _CARRIED.validate_python(item.data)
            except ValidationError:
                continue

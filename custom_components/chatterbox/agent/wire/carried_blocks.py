"""Blocks of a message that its service wants back unchanged, and where they stood in it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from pydantic import NonNegativeInt, TypeAdapter, ValidationError, with_config

from ..messages import AssistantMessage, JsonObject, ProviderItem


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class CarriedBlock:
    """A block of a message that its service wants back unchanged, such as signed reasoning.

    A service may check that a block stands where it stood, so each is stored with its
    position.
    """

    block: JsonObject
    text: NonNegativeInt
    """Characters of the message's text before it."""
    calls: NonNegativeInt
    """Calls of the message before it."""
    skip: NonNegativeInt = 0
    """Characters after it that we added to separate two texts."""

    def as_item(self, wire_format: str) -> ProviderItem:
        """Return the block as a transcript stores it."""
        return ProviderItem(wire_format, asdict(self))


_CARRIED: Final = TypeAdapter(CarriedBlock)


def carried_by(
    message: AssistantMessage,
    wire_format: str,
) -> Iterator[CarriedBlock]:
    """Yield the blocks of `wire_format` in a message, in order; items of another shape are skipped."""
    for item in message.provider_items:
        if item.format == wire_format:
            try:
                yield _CARRIED.validate_python(item.data)
            except ValidationError:
                continue

"""Remembers how the schemas of tools were converted, because most of them are the same in every turn.

Knows what makes two schemas the same; how one is converted stands in `tool_schema.py`. Home Assistant wraps the
arguments of an intent anew for each turn, around validators that live as long as the intent. So a schema is known by
the very objects that it is made of, which are kept here, lest another one take the place of one that is gone.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import probatio

from .tool_schema import CustomSerializer, ToolSchema, convert_schema

MAX_SCHEMAS: Final = 512
"""Conversions that are kept; the one that was not needed for longest goes first."""


class SchemaCache:
    """Conversions of one running Home Assistant."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._converted: OrderedDict[tuple[int, ...], tuple[tuple[object, ...], ToolSchema]] = OrderedDict()

    def __len__(self) -> int:
        """Return how many conversions are kept."""
        return len(self._converted)

    def convert(self, schema: probatio.Schema, custom_serializer: CustomSerializer | None = None) -> ToolSchema:
        """Convert the arguments of a tool, or return what came of it before. Raises what `convert_schema` raises."""
        parts = (custom_serializer, *_parts(schema))
        identity = tuple(map(id, parts))
        if identity in self._converted:
            self._converted.move_to_end(identity)
            return self._converted[identity][1]
        converted = convert_schema(schema, custom_serializer)
        self._converted[identity] = (parts, converted)
        if len(self._converted) > MAX_SCHEMAS:
            self._converted.popitem(last=False)
        return converted


def _parts(schema: probatio.Schema) -> Iterator[object]:
    """Yield what a schema is made of, down to the validators of its arguments."""
    yield from (type(schema), schema.required, schema.extra)
    match schema.schema:
        case dict() as arguments:
            for marker, validator in arguments.items():
                yield from (marker, validator)
        case other:
            yield other

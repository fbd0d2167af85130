"""What shape an answer has to have, where it is data for a program instead of words for a person.

Knows JSON Schema by name alone. How an answer is read stands in `structured_output.py`, and how a service is told in
`wire/output_schema.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from .messages import JsonObject, canonical_json

_TOLD: Final = (
    "Your answer is read by a program. It has to be one JSON object that fits this JSON Schema, with nothing before or"
    " after it and no Markdown around it:\n{schema}"
)


def _no_flaw(_: JsonObject) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The shape of the last answer of a turn. Tools may be called before."""

    name: str
    """1 to 64 characters from `[A-Za-z0-9_-]`, the set that every provider accepts."""
    schema: JsonObject
    """JSON Schema; the top level is an object with properties."""
    flaw_of: Callable[[JsonObject], str] = field(default=_no_flaw, compare=False)
    """Says, in words for the model, what is wrong with data that fits the schema; nothing when nothing is."""

    @property
    def told(self) -> str:
        """What a model is told, whether or not its service can be made to keep to the schema: many cannot."""
        return _TOLD.format(schema=canonical_json(self.schema))

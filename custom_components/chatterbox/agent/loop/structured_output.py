"""An answer that has to be data: from what a model wrote to an object that fits.

Knows JSON as models write it, and schemas. Must not know turns, or who has asked.
"""

from typing import Final

from ..json.coercion import Unfit, fit
from ..json.repair import fenced_blocks, read_value, repair_json
from ..json.text import parse_json, shown
from ..messages import JsonObject, JsonValue
from ..protocols import OutputFormat

MAX_LENGTH: Final = 1_000_000
"""Characters; what is longer was written by a model that cannot stop."""

_NO_OBJECT: Final = "There is no JSON object in it."


class Misfit(ValueError):
    """An answer that is not what was asked for. The message is written for the model, and tells what is wrong."""


def read_output(text: str, output: OutputFormat) -> JsonObject:
    """Return the data of an answer. Raises `Misfit`.

    Words around the object, fences and slips of the pen are forgiven where there is one way to read the answer. What is
    optional and null counts as left out.
    """
    value = _read(text)
    if isinstance(value, str):  # some models encode the object twice
        value = _read(value)
    if not isinstance(value, dict):
        raise Misfit(f"It has to be one JSON object, not {shown(value)}.")
    try:
        fitted = fit(value, output.schema)
    except Unfit as err:
        raise Misfit(str(err)) from err
    if not isinstance(fitted, dict):
        raise Misfit("The schema does not describe an object.")
    if flaw := output.flaw_of(fitted):
        raise Misfit(flaw)
    return fitted


def _read(text: str) -> JsonValue:
    if not text.strip():
        raise Misfit("It is empty.")
    if len(text) > MAX_LENGTH:
        raise Misfit(f"It is too long: {len(text)} characters, at most {MAX_LENGTH}.")
    try:
        return parse_json(text)
    except ValueError as err:
        problem = err
    try:
        return repair_json(text)
    except ValueError:
        return _among_words(text, problem)


def _among_words(text: str, problem: ValueError) -> JsonValue:
    """Read the only object that stands in a text."""
    fenced = fenced_blocks(text)
    start = text.find("{")
    if start < 0 or len(fenced) > 1:
        raise Misfit(_NO_OBJECT if start < 0 else "There is more than one JSON object in it.")
    try:
        if fenced:
            return repair_json(fenced[0])
        value, end = read_value(text, start)
    except ValueError:
        raise Misfit(f"It is not valid JSON: {problem}.") from problem
    if "{" in text[end:]:
        raise Misfit("There is more than one JSON object in it.")
    return value

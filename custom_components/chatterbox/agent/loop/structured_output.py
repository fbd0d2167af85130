"""Reads structured output: parses the text of a model into an object that fits the schema."""

from typing import Final

from ..json.coercion import Unfit, fit_object
from ..json.malformed_json import fenced_blocks, read_value, repair_json
from ..json.text import display, parse_json
from ..messages import JsonObject, JsonValue
from ..protocols import OutputFormat
from ..timeouts import read_aside

MAX_LENGTH: Final = 1_000_000
"""Characters; longer text comes from a model that does not stop."""

_NO_OBJECT: Final = "There is no JSON object in it."


async def read_output(
    text: str,
    output: OutputFormat,
) -> JsonObject:
    """Return the data of an answer. Raises `Unfit`.

    Text around the object, code fences and small syntax errors are tolerated if only
    one reading is possible. An optional property that is null counts as omitted. A text
    in place of a list is none: it may hold several items.
    """
    fitted = await read_aside(
        len(text),
        _fitted,
        text,
        output.schema,
    )
    flaw = output.flaw_of(fitted)
    if flaw:  # foreign code that may need the event loop
        raise Unfit(flaw)
    return fitted


def _fitted(text: str, schema: JsonObject) -> JsonObject:
    value = _read(text)
    if isinstance(value, str):  # some models encode the object twice
        value = _read(value)
    if not isinstance(value, dict):
        raise Unfit(f"It has to be one JSON object, not {display(value)}.")
    return fit_object(
        value,
        schema,
        text_is_list=False,
    )


def _read(text: str) -> JsonValue:
    if not text.strip():
        raise Unfit("It is empty.")
    if len(text) > MAX_LENGTH:
        raise Unfit(f"It is too long: {len(text)} characters, at most {MAX_LENGTH}.")
    try:
        return parse_json(text)
    except ValueError as err:
        problem = err
    try:
        return repair_json(text)
    except ValueError:
        return _among_words(text, problem)


def _among_words(text: str, problem: ValueError) -> JsonValue:
    """Parse the only object in a text."""
    fenced = fenced_blocks(text)
    start = text.find("{")
    if start < 0 or len(fenced) > 1:
        raise Unfit(
            _NO_OBJECT if start < 0 else "There is more than one JSON object in it."
        )
    try:
        if fenced:
            return repair_json(fenced[0])
        value, end = read_value(text, start)
    except ValueError:
        raise Unfit(f"It is not valid JSON: {problem}.") from problem
    if "{" in text[end:]:
        raise Unfit("There is more than one JSON object in it.")
    return value

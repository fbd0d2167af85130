"""Parses the arguments of a tool call and coerces them to the tool's JSON Schema."""

from typing import Final

from ..messages import JsonObject, JsonValue
from .coercion import Unfit, fit
from .repair import repair_json
from .text import parse_json, shown

MAX_ARGUMENTS_LENGTH: Final = 65_536
"""Characters. A spoken request never needs more; a model that repeats itself writes far more."""


class UnusableArguments(ValueError):
    """Invalid arguments. The message is written for the model."""


def read_arguments(text: str, schema: JsonObject) -> JsonObject:
    """Parse the arguments of a call and coerce them to the tool's schema.

    Empty text means no arguments, and malformed JSON is repaired where that is unambiguous. Raises `UnusableArguments`.
    """
    if len(text) > MAX_ARGUMENTS_LENGTH:
        raise UnusableArguments(f"The arguments are too long: {len(text)} characters, at most {MAX_ARGUMENTS_LENGTH}.")
    value = _parse(text)
    if isinstance(value, str):  # Some models encode the object twice.
        value = _parse(value)
    if not isinstance(value, dict):
        raise UnusableArguments(f"The arguments must be one JSON object, got {shown(value)}.")
    try:
        fitted = fit(value, schema)
    except Unfit as err:
        raise UnusableArguments(str(err)) from err
    if not isinstance(fitted, dict):
        raise UnusableArguments("The tool's schema does not describe an object.")
    return fitted


def _parse(text: str) -> JsonValue:
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except ValueError as err:
        value = _repaired(text, err)
    return {} if value is None else value


def _repaired(text: str, problem: ValueError) -> JsonValue:
    try:
        return repair_json(text)
    except ValueError:
        raise UnusableArguments(f"The arguments are not valid JSON ({problem}). Send one JSON object.") from problem

"""The structure of a task, as Home Assistant has it → the shape that a model is asked for, and back to data.

Knows Home Assistant's schemas and selectors. Must not know who is asked. A selector checks what no JSON Schema says,
such as that an entity id is one.
"""

from typing import Any, Final

import voluptuous as vol
from homeassistant.helpers import llm
from homeassistant.util import slugify

from .agent.messages import JsonObject
from .agent.output_format import OutputFormat
from .agent.structured_output import read_output
from .task_errors import task_error
from .tool_schema import convert_schema

_MOST: Final = 64
"""Characters of a name that every provider takes."""


def shape_of(task: str, structure: vol.Schema) -> OutputFormat:
    """Return the shape that the answer to a task has to have.

    Raises `HomeAssistantError` for a structure that no model can be given.
    """
    try:
        converted = convert_schema(structure, llm.selector_serializer)
    except Exception as error:  # a schema may hold anybody's code
        raise task_error("task_structure_unusable", task=task, problem=str(error)) from error
    remarks: JsonObject = {"description": " ".join(converted.remarks)} if converted.remarks else {}
    return OutputFormat(
        slugify(task)[:_MOST] or "answer", {**remarks, **converted.parameters}, lambda data: _flaw(structure, data)
    )


def data_of(answer: str, shape: OutputFormat, structure: vol.Schema) -> Any:
    """Return the data of an answer, with what the structure adds to it. Raises `Misfit`."""
    data = read_output(answer, shape)
    checked = structure(data)
    return data if checked == data else checked  # 5 stays 5, and does not become 5.0


def _flaw(structure: vol.Schema, data: JsonObject) -> str:
    """Tell what is wrong with data that fits the JSON Schema; nothing when nothing is."""
    try:
        structure(data)
    except vol.Invalid as error:
        problems = error.errors if isinstance(error, vol.MultipleInvalid) else [error]
        return " ".join(f"{'.'.join(map(str, one.path))}: {one.msg}.".lstrip(": ") for one in problems)
    return ""

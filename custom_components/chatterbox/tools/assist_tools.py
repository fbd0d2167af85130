"""Tells how a model is shown the tools of Assist, from `assist_tools.toml`: shorter, and several as one."""

from pathlib import Path
from typing import Final, NamedTuple, NotRequired, TypedDict

from homeassistant.helpers import llm

from ..agent.messages import JsonObject, ToolGroup, ToolPart
from ..agent.text import read_data_file


class _Group(TypedDict):
    description: str
    actions: dict[str, str]
    parameters: NotRequired[JsonObject]
    omitted: NotRequired[list[str]]
    renamed: NotRequired[dict[str, dict[str, str]]]


class _Forms(TypedDict):
    unlisted: list[str]
    descriptions: dict[str, str]
    parameters: JsonObject
    groups: dict[str, _Group]


class ShownForm(NamedTuple):
    """How a model is shown a tool."""

    description: str = ""
    """Empty for its own."""
    parameters: JsonObject | None = None
    """Schemas of arguments, in place of its own."""
    part: ToolPart | None = None
    is_listed: bool = True


_FORMS: Final = read_data_file(Path(__file__).with_suffix(".toml"), _Forms)


def _parts() -> dict[str, ToolPart]:
    parts: dict[str, ToolPart] = {}
    for name, one in _FORMS["groups"].items():
        group = ToolGroup(
            name,
            one["description"],
            tuple(one["actions"]),
            one.get("parameters", {}),
            tuple(one.get("omitted", ())),
        )
        renamed = one.get("renamed", {})
        for action, tool in one["actions"].items():
            parts[tool] = ToolPart(group, action, renamed.get(action, {}))
    return parts


_PARTS: Final = _parts()


def form_of(tool: llm.Tool) -> ShownForm:
    """Return how a model is shown a tool of Assist, which is not wrapped."""
    name = tool.name
    if isinstance(tool, llm.IntentTool):
        name = tool.intent_type
    elif type(tool).__module__ != f"homeassistant.components.{tool.integration}.llm":
        return ShownForm()
    description = _FORMS["descriptions"].get(name, "")
    return ShownForm(
        description,
        _FORMS["parameters"] if description else None,
        _PARTS.get(name),
        name not in _FORMS["unlisted"],
    )

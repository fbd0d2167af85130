"""Tells how a model is shown the tools of Assist, from `assist_tools.toml`: shorter, and several as one."""

from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from homeassistant.helpers import llm

from ..agent.messages import ToolGroup, ToolPart
from ..agent.text import read_data_file


class _Forms(TypedDict):
    unlisted: list[str]
    descriptions: dict[str, str]
    groups: list[ToolGroup]


class ShownForm(NamedTuple):
    """How a model is shown a tool."""

    description: str = ""
    """Empty for its own."""
    part: ToolPart | None = None
    is_listed: bool = True


_FORMS: Final = read_data_file(Path(__file__).with_suffix(".toml"), _Forms)
_PARTS: Final = {
    tool: ToolPart(group, action)
    for group in _FORMS["groups"]
    for action, tool in group.actions.items()
}


def form_of(tool: llm.Tool) -> ShownForm:
    """Return how a model is shown a tool of Assist, which is not wrapped."""
    name = tool.name
    if isinstance(tool, llm.IntentTool):
        name = tool.intent_type
    elif type(tool).__module__ != f"homeassistant.components.{tool.integration}.llm":
        return ShownForm()
    return ShownForm(
        _FORMS["descriptions"].get(name, ""),
        _PARTS.get(name),
        name not in _FORMS["unlisted"],
    )

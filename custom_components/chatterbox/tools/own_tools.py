"""Describes an agent's own tools to its model: memories, a search of earlier conversations, and a search of entities.

Every speaker has the same tools, so that the beginning of the prompt stays the same. A tool that cannot serve the
speaker says so in its answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..agent.messages import JsonObject, ToolAnnotations, ToolDefinition
from ..const import TOOL_FORGET, TOOL_LIST_MEMORIES, TOOL_REMEMBER, TOOL_SEARCH_HISTORY
from ..home.description import FIND_ENTITIES
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings

_NOBODY: Final = (
    "It is not known who speaks, so nothing can be remembered for them, or found of what they said. Say so. It works "
    "for who is signed in to Home Assistant, and at a satellite for which a person is chosen in this agent's settings."
)
_AUTOMATION: Final = "Only a person who speaks for themself can use this. No automation and no script can."


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of one of these tools."""

    data: JsonObject
    is_error: bool = False
    open_world: bool = False
    """Whether it may contain text from outside the home."""


def error_answer(message: str) -> ToolAnswer:
    """Return the answer of a tool that did nothing."""
    return ToolAnswer({"error": message}, is_error=True)


def known_person(speaker: Speaker) -> str | ToolAnswer:
    """Return the id of the speaker if it is a known person, or else the answer of a tool that needs one."""
    if speaker.asking is not Asking.PERSON:
        return error_answer(_AUTOMATION)
    return speaker.person_id or error_answer(_NOBODY)


FACT: Final = "fact"
WORDS: Final = "words"
AREA: Final = "area"
KIND: Final = "domain"
DAYS: Final = "days"
SINCE: Final = "since"
UNTIL: Final = "until"

_READS: Final = ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)
_CHANGES: Final = ToolAnnotations(read_only=False, destructive=False, idempotent=True, open_world=False)


def _parameters(properties: Mapping[str, tuple[str, str]], *required: str) -> JsonObject:
    """Return a JSON Schema for properties given by type and description."""
    return {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": description} for name, (kind, description) in properties.items()
        },
        "required": list(required),
        "additionalProperties": False,
    }


_MEMORY_TOOLS: Final = (
    ToolDefinition(
        TOOL_FORGET,
        "Forgets a fact that you remember of the person who speaks. Only when they ask for it in their own words.",
        _parameters({FACT: ("string", "Id of the fact.")}, FACT),
        _CHANGES,
    ),
    ToolDefinition(
        TOOL_LIST_MEMORIES,
        "Lists everything that the person who speaks has asked you to remember. The newest facts stand beside their "
        "words already.",
        _parameters({}),
        _READS,
    ),
    ToolDefinition(
        TOOL_REMEMBER,
        "Remembers a fact about the person who speaks, in all later conversations with them. Only when they ask for it "
        "in their own words, and never a password or a PIN.",
        _parameters({FACT: ("string", "The fact as one short sentence that makes sense by itself.")}, FACT),
        _CHANGES,
    ),
)

_HISTORY_TOOL: Final = ToolDefinition(
    TOOL_SEARCH_HISTORY,
    "Searches what the person who speaks has said to you in earlier conversations, and what you answered. Give words, "
    "a time, or both.",
    _parameters(
        {
            WORDS: ("string", "A few words that were said, in the language in which they were said."),
            DAYS: ("integer", "Only the last so many days; 1 is today."),
            SINCE: ("string", "Only from this day or moment on, in local time: 2026-11-22 or 2026-11-22T18:00."),
            UNTIL: ("string", "Only up to this day or moment, written like since; a day counts to its end."),
        }
    ),
    _READS,
)

_FIND_TOOL: Final = ToolDefinition(
    FIND_ENTITIES,
    "Finds things of this home by words, by their room or floor, and by their domain; give any of these. Answers "
    "names, areas and domains, but no states.",
    _parameters(
        {
            WORDS: ("string", "What it is called, or what it is, in the language of the names in this home."),
            AREA: ("string", "Name of a room or a floor."),
            KIND: ("string", "Such as light, cover or sensor."),
        }
    ),
    _READS,
)


def own_definitions(settings: AgentSettings, *, home_is_large: bool = False) -> tuple[ToolDefinition, ...]:
    """Return the agent's own tools. `home_is_large` is explained at `TurnTools`."""
    return (
        *((_FIND_TOOL,) if home_is_large else ()),
        *(_MEMORY_TOOLS if settings.remember_facts else ()),
        *((_HISTORY_TOOL,) if settings.search_history else ()),
    )


def with_own_tools(offered: Sequence[ToolDefinition], own: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """Add the agent's own tools to those that are `offered`, sorted by name. They replace others of the same name."""
    tools = {tool.name: tool for tool in (*offered, *own)}
    return tuple(tools[name] for name in sorted(tools)) if own else tuple(offered)

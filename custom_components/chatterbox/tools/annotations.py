"""Tells what a tool does from its annotations and its name.

`annotations.toml` lists the words of names, which count where a tool says nothing of
itself, too little, or the opposite. A name is the server's. It can make a tool need an
approval; it saves one only if nothing in it could be a change. Decision 12.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from homeassistant.helpers import llm

from ..agent.messages import ToolAnnotations
from ..agent.text import heard_words, read_data_file
from ..internals.llm import KnownTool, known_tool

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORDS: Final = {
    use: frozenset(words.split())
    for use, words in read_data_file(__file__, dict[str, str]).items()
}
_READING: Final = _WORDS["reading"]
_LOOKING: Final = _READING | _WORDS["looking"]
_HARMING: Final = _WORDS["harming"]
_CHANGING: Final = _HARMING | _WORDS["changing"]
_OF_CONSEQUENCE: Final = _HARMING | _WORDS["of_consequence"]


def reads_by_name(name: str) -> bool:
    """Return whether the name of a tool, such as `list_events` or `brave_web_search`, leaves nothing but reading."""
    words = _words_after_source(name)
    if not words or words[0] not in _READING:
        return False
    return (
        _CHANGING.isdisjoint(words) and words[-1] not in _WORDS["changing_at_the_end"]
    )


def acts_by_name(name: str) -> bool:
    """Return whether the name of a tool that declares itself read-only means an effect: `unlock_front_door`."""
    words = _words_after_source(name)
    changing = _CHANGING.intersection(words)
    if words and words[0] in _LOOKING:
        return (
            not _WORDS["joining"].isdisjoint(changing)
            and not changing <= _WORDS["joining"]
        )
    return bool(
        changing - _WORDS["reported"]
        if words and words[-1] in _WORDS["reports"]
        else changing
    )


def has_consequences(
    name: str,
    arguments: Mapping[str, object],
) -> bool:
    """Return whether the name or the arguments of a tool name an action that people want to be asked about."""
    return any(
        not _OF_CONSEQUENCE.isdisjoint(_words(one))
        for one in (name, *_naming_values(arguments))
    )


def is_no_error(text: str) -> bool:
    """Return whether the text of an error says that there is none: "none", "No error", "kein Fehler"."""
    words = heard_words(text.replace("_", " "))
    none = _WORDS["no_error"]
    return not words or (
        none.issuperset(words) and not _WORDS["error"].issuperset(words)
    )


def _naming_values(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield what a tool is told to do, at any depth, in one argument or in lists."""
    waiting: list[tuple[str, object]] = [("", arguments)]
    while waiting:
        key, value = waiting.pop()
        match value:
            case str() if (
                key.replace("_", "").casefold().removesuffix("s") in _WORDS["naming"]
            ):
                yield value
            case list():
                waiting += [(key, one) for one in value]
            case Mapping():
                waiting += value.items()
            case _:
                pass


def _words_after_source(name: str) -> list[str]:
    words = _words(name)
    while words and words[0] in _WORDS["sources"]:
        words = words[1:]
    return words


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


_MEDIA_TOOLS: Final = frozenset({KnownTool.PLAY_MEDIA, KnownTool.SEARCH_MEDIA})
"""Annotated as open-world by Home Assistant, although they return only titles of media."""


def annotations_of(tool: llm.Tool) -> ToolAnnotations:
    """Return the annotations of a tool, with corrections for Home Assistant's own tools and those that have none."""
    own = own_annotations(tool)
    named = unwrapped(tool)
    known = known_tool(named)
    return ToolAnnotations(
        read_only=own.read_only or is_reading_by_name(tool),
        destructive=own.destructive,
        idempotent=own.idempotent,
        open_world=known is KnownTool.UNKNOWN
        or (own.open_world and known not in _MEDIA_TOOLS),
    )


def own_annotations(tool: llm.Tool) -> llm.ToolAnnotations:
    """Return the annotations that a tool declares; the defaults if it is read-only by these alone, not by its name."""
    named = unwrapped(tool)
    is_named_freely = not isinstance(named, llm.IntentTool | llm.ActionTool)
    is_false = (
        tool.annotations.read_only and is_named_freely and acts_by_name(named.name)
    )
    if is_false:
        return llm.ToolAnnotations()
    return tool.annotations


def is_reading_by_name(tool: llm.Tool) -> bool:
    """Return whether a tool that declares nothing of itself reads, going by its name, such as `list_events`."""
    named = unwrapped(tool)
    if tool.annotations != llm.ToolAnnotations() or isinstance(
        named, llm.IntentTool | llm.ActionTool
    ):
        return False
    return reads_by_name(named.name)


def unwrapped(tool: llm.Tool) -> llm.Tool:
    """Return the tool behind wrappers that only rename it."""
    while isinstance(tool, llm.NamespacedTool):
        tool = tool.tool
    return tool

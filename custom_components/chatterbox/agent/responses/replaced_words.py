"""The words of a client that a hook has replaced: what is stored has the others in their place.

Pure. Knows items and transcripts.
"""

from dataclasses import replace
from typing import Final

from ..messages import JsonObject, JsonValue, Transcript, UserMessage

_ROLES: Final = (frozenset({"user"}), frozenset({"system", "developer"}))
"""Whose words a turn may begin with: those of a user; where there are none, those of whoever instructs."""


def in_other_words(said: Transcript, words: str) -> Transcript:
    """Return what was said with other words in its last message, where that is a user's."""
    match said:
        case (*others, UserMessage() as last):
            return (*others, replace(last, text=words))
        case _:
            return said


def sent_in_other_words(items: tuple[JsonObject, ...], words: str) -> tuple[JsonObject, ...]:
    """Return the items that a client sent with other words in the last that a turn may begin with.

    What is shown beside the words is kept.
    """
    for roles in _ROLES:
        for index in range(len(items) - 1, -1, -1):
            if items[index].get("role") in roles:
                changed: JsonObject = {**items[index], "content": _content(items[index].get("content"), words)}
                return (*items[:index], changed, *items[index + 1 :])
    return items


def _content(content: JsonValue, words: str) -> JsonValue:
    parts = content if isinstance(content, list) else []
    shown = [part for part in parts if isinstance(part, dict) and part.get("type") != "input_text"]
    return [{"type": "input_text", "text": words}, *shown]

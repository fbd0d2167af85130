"""The words of a client that a hook has replaced: what is stored has the others in their place.

Pure. Knows items and transcripts.
"""

from dataclasses import replace

from ..messages import JsonObject, JsonValue, Transcript, UserMessage


def in_other_words(said: Transcript, words: str) -> Transcript:
    """Return what was said with other words in its last message, which is a user's."""
    *others, last = said
    return (*others, replace(last, text=words) if isinstance(last, UserMessage) else last)


def sent_in_other_words(items: tuple[JsonObject, ...], words: str) -> tuple[JsonObject, ...]:
    """Return the items that a client sent with other words in the last message of a user; what it shows is kept."""
    for index in range(len(items) - 1, -1, -1):
        if items[index].get("role") == "user":
            changed: JsonObject = {**items[index], "content": _content(items[index].get("content"), words)}
            return (*items[:index], changed, *items[index + 1 :])
    return items


def _content(content: JsonValue, words: str) -> JsonValue:
    parts = content if isinstance(content, list) else []
    shown = [part for part in parts if isinstance(part, dict) and part.get("type") != "input_text"]
    return [{"type": "input_text", "text": words}, *shown]

"""Messages of Chat Completions in turns: user, assistant, user, as many models' templates insist.

Knows roles and contents of written messages; nothing of transcripts or servers. The words
that fill a gap are read by models alone.
"""

from collections.abc import Iterable
from typing import Final

from ..messages import JsonObject, JsonValue

NO_ANSWER: Final = "(There was no answer.)"
"""Stands between the results of tools and what the person said next."""

NO_QUESTION: Final = "(The assistant speaks first.)"
"""Stands before an assistant that nobody had asked."""


def in_turns(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Return messages of which no two neighbours are a user's, or an assistant's; results follow their calls.

    The words of neighbours stay, as paragraphs of one message.
    """
    turns: list[JsonObject] = []
    for message in messages:
        before = turns[-1]["role"] if turns else "system"
        match before, message["role"]:
            case ("user", "user") | ("assistant", "assistant"):
                turns[-1] = {**turns[-1], **message, "content": _joined(turns[-1]["content"], message["content"])}
            case ("tool", "user"):
                turns += [{"role": "assistant", "content": NO_ANSWER}, message]
            case ("system", "assistant"):
                turns += [{"role": "user", "content": NO_QUESTION}, message]
            case _:
                turns.append(message)
    return turns


def _joined(one: JsonValue, other: JsonValue) -> JsonValue:
    """Join two contents: texts, lists of parts, or nothing."""
    if not one or not other:
        return one or other
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: JsonValue) -> list[JsonValue]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]

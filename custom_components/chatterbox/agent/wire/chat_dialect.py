"""Dialects of Chat Completions as data, and the rewriting of messages for servers whose roles must alternate.

`providers/profiles.py` says which server speaks which dialect.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from ..messages import JsonObject, JsonValue

ANY_ID: Final = ".+"
"""Pattern of a service that accepts any id of a call."""

# Marks, not sentences: small models answer with sentences that they read.
# `repair/text_markup.toml` has them too, since an echo of one is not spoken.
NO_ANSWER: Final = '<answer status="none"/>'
"""Stands between tool results and the next user message."""

NO_QUESTION: Final = '<message status="none"/>'
"""Stands before an assistant message that begins the conversation."""


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """The dialect of one server. The defaults suit an unknown server."""

    reasoning_field: Literal["", "reasoning_content", "reasoning"] = ""
    """The field of a message with calls in which a server wants the model's reasoning back; empty for none."""
    needs_reasoning: bool = False
    """Whether a message with calls is refused without that field; then an empty one is sent."""
    returns_items: bool = True
    """Whether signed reasoning is sent back. A server that sends none may refuse that of another."""
    call_ids: str = ANY_ID
    """Pattern of accepted ids of calls; others are replaced, in calls and results."""
    alternates: bool = False
    """Whether user and assistant must alternate: then neighbours are merged."""
    forces_by_name: bool = True
    """Whether a tool can be forced by name; otherwise a call of any tool is required."""


DEFAULT_DIALECT: Final = ChatDialect()


def in_turns(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Return messages in which user and assistant alternate; tool results follow their calls.

    Neighbours of one role become paragraphs of one message.
    """
    turns: list[JsonObject] = []
    for message in messages:
        if turns:
            before = turns[-1]["role"]
        else:
            before = "system"
        match before, message["role"]:
            case ("user", "user") | ("assistant", "assistant"):
                turns[-1] = {
                    **turns[-1],
                    **message,
                    "content": _joined(
                        turns[-1]["content"],
                        message["content"],
                    ),
                }
            case ("tool", "user"):
                turns += [{"role": "assistant", "content": NO_ANSWER}, message]
            case ("system", "assistant"):
                turns += [{"role": "user", "content": NO_QUESTION}, message]
            case _:
                turns.append(message)
    return turns


def _joined(one: JsonValue, other: JsonValue) -> JsonValue:
    """Join two contents: texts, lists of parts, or None."""
    if not one or not other:
        return one or other
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}]

"""Signed reasoning in Chat Completions: what a server sends once and wants back unchanged.

Knows the two forms that there are: `reasoning_details` of a message (OpenRouter, "Reasoning
Tokens", "Preserving Reasoning Blocks") and `extra_content` of a call (Gemini API, "OpenAI
compatibility", "Thought signatures"); not what they hold. The order of details is theirs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

from pydantic import TypeAdapter, ValidationError

from ..messages import AssistantMessage, JsonObject, JsonValue, ProviderItem

FORMAT: Final = "openai_chat"
"""Marks our own items in a transcript."""

_TEXTS: Final = ("text", "summary")
"""Fields of a detail that a stream brings in pieces."""

_DETAILS: Final = TypeAdapter(list[JsonObject])
_EXTRAS: Final = TypeAdapter(dict[str, JsonObject])


@dataclass(slots=True)
class SignedReasoning:
    """What goes back with one message."""

    details: list[JsonObject] = field(default_factory=list)
    call_extras: dict[str, JsonObject] = field(default_factory=dict)
    """By the id of the call."""

    @classmethod
    def of(cls, message: AssistantMessage) -> Self:
        """Read it from a message's items; what we cannot have written is passed over."""
        signed = cls()
        for item in message.provider_items:
            if item.format == FORMAT:
                details = _read(_DETAILS, item.data.get("reasoning_details"))
                extras = _read(_EXTRAS, item.data.get("extra_content"))
                signed.details.extend(details or [])
                signed.call_extras.update(extras or {})
        return signed

    def items(self) -> tuple[ProviderItem, ...]:
        """Return it as a transcript keeps it."""
        data: JsonObject = {}
        if self.details:
            data["reasoning_details"] = [*self.details]
        if self.call_extras:
            data["extra_content"] = {**self.call_extras}
        return (ProviderItem(FORMAT, data),) if data else ()

    def add_details(self, pieces: Iterable[JsonObject]) -> None:
        """Take the details of one chunk; a piece of the text of the last one is added to it."""
        for piece in pieces:
            if self.details and _continues(self.details[-1], piece):
                self.details[-1] = _joined(self.details[-1], piece)
            else:
                self.details.append(piece)


def details_text(details: Iterable[JsonObject]) -> str:
    """Return what can be read in details."""
    texts = (detail.get(name) for detail in details for name in _TEXTS)
    return "".join(text for text in texts if isinstance(text, str))


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    same = all(last.get(name) == piece.get(name) for name in ("type", "index"))
    one_id = last.get("id") == piece.get("id") or None in {last.get("id"), piece.get("id")}
    return same and one_id and any(isinstance(piece.get(name), str) or "signature" in piece for name in _TEXTS)


def _joined(last: JsonObject, piece: JsonObject) -> JsonObject:
    joined = {**last, **{name: value for name, value in piece.items() if value is not None}}
    for name in _TEXTS:
        one, other = last.get(name), piece.get(name)
        if isinstance(one, str) and isinstance(other, str):
            joined[name] = one + other
    return joined


def _read[T](kind: TypeAdapter[T], value: JsonValue) -> T | None:
    try:
        return kind.validate_python(value)
    except ValidationError:
        return None

"""What travels in items of the Responses format that only we can read, and what stands beside a message's words.

Knows the sealed content of reasoning and of compactions, and the phase of a message. Must not know whole items.
"""

from dataclasses import asdict
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ...messages import AssistantMessage, JsonObject, ProviderItem, ToolCall, ToolResult
from ...wire.openai_responses import FORMAT
from ...wire.reply_parts import CarriedBlock, carried_by
from .sealed_content import Seal

_SUMMARY_TOOL: Final = "earlier_conversation"
"""Name of the call as whose result a model reads what a compaction says: words that no person has said."""
_HEADING: Final = "[What was said before, in few words:]\n"

_PROVIDER_ITEMS: Final = TypeAdapter(list[ProviderItem])


def sealed_provider_items(items: tuple[ProviderItem, ...], seal: Seal) -> str:
    """Return the `encrypted_content` of a reasoning item that carries what a provider wants back with a message."""
    return seal.write({"provider_items": [asdict(item) for item in items]})


def provider_items(encrypted_content: str, seal: Seal) -> tuple[ProviderItem, ...]:
    """Return what such an item carries; nothing where it is not exactly what we wrote."""
    unsealed = seal.read(encrypted_content)
    if unsealed is None or not unsealed.is_ours:
        return ()
    try:
        return tuple(_PROVIDER_ITEMS.validate_python(unsealed.content.get("provider_items")))
    except ValidationError:
        return ()


def sealed_summary(text: str, *, has_outside_content: bool, seal: Seal) -> str:
    """Return the `encrypted_content` of a compaction.

    `has_outside_content` tells that what it stands for held what people outside the house may have written.
    """
    return seal.write({"summary": text, "has_outside_content": has_outside_content})


def summary_messages(encrypted_content: str, call_id: str, seal: Seal) -> tuple[AssistantMessage, ToolResult] | None:
    """Return what a model reads in place of what was compacted; None for a compaction that is not one of ours.

    One that nobody vouches for, as after a restart, counts as holding content from outside of the house.
    """
    unsealed = seal.read(encrypted_content)
    if unsealed is None or not isinstance(text := unsealed.content.get("summary"), str):
        return None
    is_open = not unsealed.is_ours or unsealed.content.get("has_outside_content") is not False
    call = ToolCall(call_id, _SUMMARY_TOOL, "{}")
    result = ToolResult(call_id, _SUMMARY_TOOL, f"{_HEADING}{text}", open_world=is_open)
    return AssistantMessage(tool_calls=(call,)), result


def summary_of(result: ToolResult) -> str | None:
    """Return what a compaction says, where this is its result."""
    is_summary = result.name == _SUMMARY_TOOL and result.content.startswith(_HEADING)
    return result.content.removeprefix(_HEADING) if is_summary else None


def phase_item(phase: str) -> ProviderItem:
    """Return what tells a provider whether a message is the answer, or a comment on the way there."""
    block: JsonObject = {"model": "", "item": {"type": "message", "phase": phase}}
    return CarriedBlock(block, 0, 0).as_item(FORMAT)


def phase_of(message: AssistantMessage) -> str | None:
    """Return the phase of a message, where it has one."""
    for carried in carried_by(message, FORMAT):
        match carried.block:
            case {"item": {"type": "message", "phase": str(phase)}} if phase:
                return phase
            case _:
                pass
    return None

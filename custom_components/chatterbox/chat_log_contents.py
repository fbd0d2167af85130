"""One content of a ChatLog ⇄ one message of the transcript.

Knows Home Assistant's contents and our messages. Must not know turns or their events. A content never changes, so its
message is made once, and is the same object in every later turn: whoever writes or weighs messages need not do that
again either.
"""

import weakref
from dataclasses import dataclass
from typing import TypeIs

from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import json_loads_object

from .agent.messages import (
    AssistantMessage,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
    canonical_json,
)
from .const import DOMAIN
from .native_results import from_native, to_native
from .shown_files import ShownFiles
from .turn_report import shown_arguments

type SaidContent = UserContent | AssistantContent | ToolResultContent


@dataclass(frozen=True)
class SpokenContent(UserContent):
    """Words of a person, with what held when they were said."""

    context: str = ""
    """As the model read it. It is sent again with the words, so that a conversation keeps its beginning."""


_MESSAGES: HassKey[dict[int, tuple[weakref.ref[SaidContent], Message]]] = HassKey(f"{DOMAIN}_messages")
"""By the `id` of the content, for as long as somebody keeps the content."""


@callback
def message_of(hass: HomeAssistant, content: SaidContent, files: ShownFiles) -> Message:
    """Return what a content says, with what `files` tells of what was shown with it."""
    if isinstance(content, UserContent) and content.attachments:
        return user_message(content, files)  # a file may be gone by the next turn
    messages, key = hass.data.setdefault(_MESSAGES, {}), id(content)
    if (kept := messages.get(key)) is None:
        kept = weakref.ref(content, lambda _: messages.pop(key, None)), _translated(hass, content, files)
        messages[key] = kept
    return kept[1]


def _translated(hass: HomeAssistant, content: SaidContent, files: ShownFiles) -> Message:
    match content:
        case UserContent():
            return user_message(content, files)
        case AssistantContent():
            calls = tuple(ToolCall(call.id, call.tool_name, _arguments_text(call)) for call in content.tool_calls or ())
            items = content.native if _is_ours(content.native) else ()
            return AssistantMessage(content.content or "", content.thinking_content or "", calls, items)
        case ToolResultContent():
            return from_native(hass, content)


def user_message(said: UserContent, files: ShownFiles) -> UserMessage:
    """Return what a person said, with what is shown with it and what was kept beside it."""
    shown = files.shown_with(said)
    held = said.context if isinstance(said, SpokenContent) else ""
    return UserMessage(said.content, shown.attachments, "\n\n".join(filter(None, (held, shown.note))))


def _arguments_text(call: llm.ToolInput) -> str:
    """Write arguments as our calls have them; those of another agent may hold what is no JSON."""
    try:
        return canonical_json(json_loads_object(json_dumps(call.tool_args)))
    except TypeError, ValueError:
        return "{}"


def _is_ours(native: object) -> TypeIs[tuple[ProviderItem, ...]]:
    """Tell our native content from what another agent left in the conversation."""
    return isinstance(native, tuple) and all(isinstance(item, ProviderItem) for item in native)


def content_of(message: Message, agent_id: str) -> Content:
    """Return a message as the ChatLog keeps it; `agent_id` has said it, or had it done."""
    match message:
        case UserMessage():
            return SpokenContent(message.text, None, message.context)
        case AssistantMessage():
            return AssistantContent(
                agent_id=agent_id,
                content=message.text or None,
                thinking_content=message.reasoning or None,
                tool_calls=[tool_input(call) for call in message.tool_calls] or None,
                native=message.provider_items or None,
            )
        case ToolResult():
            return ToolResultContent(
                agent_id=agent_id,
                tool_call_id=message.call_id,
                tool_name=message.name,
                result=to_native(message),
            )


def tool_input(call: ToolCall) -> llm.ToolInput:
    """Return a call that our loop runs itself."""
    return llm.ToolInput(call.name, shown_arguments(call), id=call.id, external=True)

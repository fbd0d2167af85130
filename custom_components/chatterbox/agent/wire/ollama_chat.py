"""Ollama's own chat format, both directions: a request to JSON, a reply's lines to events.

Knows the format; must not know connections, addresses or keys.
Source: Ollama's API documentation, "Generate a chat completion"; Home Assistant's `ollama` integration.

A request's bytes follow from its value, nothing volatile before the last message: its
beginning stays the same over a conversation, and the model need not read it again.
"""

import json
from collections.abc import Callable, Iterator
from typing import Final, assert_never

from ..errors import ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest
from .attachments import IMAGE_TYPES, attachment_note, base64_data
from .call_assembly import MAX_CALLS
from .ollama_chat_schema import Chunk, SentCall
from .output_schema import enforced_output, plain_schema
from .sendable import call_ids, new_call_id, sendable_arguments, sendable_name, sendable_text

_FINISH_REASONS: Final = {
    "": FinishReason.STOP,  # not told by servers before 0.1.35
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.STOP,  # servers that imitate Ollama
    "length": FinishReason.LENGTH,
}


def request_to_payload(
    request: CompletionRequest, model: str, *, attachments: frozenset[str] = IMAGE_TYPES
) -> JsonObject:
    """Return the body of `POST /api/chat`.

    The format has no tool choice: calls are forbidden by offering no tools, and cannot be forced. Of
    `attachments`, MIME types, only pictures can be shown; a note stands in place of the rest.
    """
    payload: JsonObject = {"model": model, "stream": True}
    if request.tools and request.tool_choice is not ToolChoiceMode.NONE:
        payload["tools"] = [_tool(tool) for tool in request.tools]
    payload["messages"] = list(_messages(request, attachments))
    if (output := enforced_output(request, beside_tools=False)) is not None:
        payload["format"] = plain_schema(output.schema)
    return payload


def _tool(tool: ToolDefinition) -> JsonValue:
    function: JsonValue = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _messages(request: CompletionRequest, attachments: frozenset[str]) -> Iterator[JsonValue]:
    if request.instructions:
        yield {"role": "system", "content": request.instructions}
    for message in request.transcript:
        yield from _message(message, attachments)
    if request.directive:
        yield {"role": "user", "content": request.directive}


def _message(message: Message, attachments: frozenset[str]) -> Iterator[JsonValue]:
    """Write one message; an assistant message that says and calls nothing is left out."""
    match message:
        case UserMessage():
            yield _user(message, attachments)
        case AssistantMessage(text="", tool_calls=()):
            pass
        case AssistantMessage():
            yield _assistant(message)
        case ToolResult(call_id=call_id, name=name, content=content):
            # Servers before 0.12 know no ids: they go by the name and the order.
            yield {"role": "tool", "tool_name": sendable_name(name), "tool_call_id": call_id, "content": content}
        case _:
            assert_never(message)


def _user(message: UserMessage, attachments: frozenset[str]) -> JsonValue:
    shown = [each for each in message.attachments if each.mime_type in attachments & IMAGE_TYPES]
    notes = [attachment_note(each) for each in message.attachments if each not in shown]
    written: JsonObject = {"role": "user", "content": "\n".join([*filter(None, [message.prompt]), *notes])}
    if shown:
        written["images"] = [base64_data(each) for each in shown]
    return written


def _assistant(message: AssistantMessage) -> JsonValue:
    """Write a message; thoughts go back only where calls follow them, as no template reads others."""
    written: JsonObject = {"role": "assistant", "content": message.text}
    if message.tool_calls:
        if message.reasoning:
            written["thinking"] = message.reasoning
        written["tool_calls"] = [_call(call) for call in message.tool_calls]
    return written


def _call(call: ToolCall) -> JsonValue:
    arguments: JsonValue = json.loads(sendable_arguments(call.arguments))
    return {"id": call.id, "function": {"name": sendable_name(call.name), "arguments": arguments}}


class ReplyReader:
    """Turns the lines of one reply into events; a whole answer is one line."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._taken_ids = set(call_ids(transcript))
        self._new_id = new_id
        self._calls = 0
        self._last: Chunk | None = None

    @property
    def finished(self) -> bool:
        """True once the service said that the message is whole."""
        return self._last is not None

    def read(self, chunk: Chunk) -> Iterator[ProviderEvent]:
        """Yield what a line brings: thoughts, text, then calls, which are always whole.

        Raises `ProviderReplyInvalid` for more than `MAX_CALLS` calls.
        """
        if (message := chunk.message) is not None:
            if thoughts := sendable_text(message.thinking or ""):
                yield ReasoningDelta(thoughts)
            if text := sendable_text(message.content or ""):
                yield TextDelta(text)
            for sent in message.tool_calls or []:
                yield ToolCallReady(self._call(sent))
        if chunk.done:
            self._last = chunk

    def end(self) -> Iterator[ProviderEvent]:
        """Yield the `CompletionResult`. To be called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the service never said that it was finished.
        """
        if self._last is None:
            raise ProviderReplyInvalid("the reply ended before the service said that it was finished")
        reason = _FINISH_REASONS.get((self._last.done_reason or "").casefold(), FinishReason.UNKNOWN)
        if self._calls and reason is not FinishReason.LENGTH:
            reason = FinishReason.TOOL_CALLS
        yield CompletionResult(reason, self._last.usage())

    def _call(self, sent: SentCall) -> ToolCall:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ProviderReplyInvalid(f"the service sent more than {MAX_CALLS} calls in one message")
        call_id = sent.id or ""
        while not call_id or call_id in self._taken_ids:
            call_id = self._new_id()
        self._taken_ids.add(call_id)
        name, arguments = sent.function.name or "", sent.function.arguments
        match arguments:
            case None | "":
                text = "{}"
            case str():
                text = arguments
            case _:
                text = canonical_json(arguments)
        return ToolCall(call_id, sendable_text(name), sendable_text(text))

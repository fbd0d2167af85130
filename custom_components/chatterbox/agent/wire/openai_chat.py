"""Chat Completions, both directions: a request to JSON, a reply's chunks to events.

Knows the format and its dialects; must not know connections, addresses or keys.
Source: OpenAI API reference, "Create chat completion" and "Chat completion chunk object".

A request's bytes follow from its value: fields in one order, JSON objects in the order
that their authors gave them, nothing volatile before the last message. So two requests of
one conversation share every byte of their common beginning, and a server's cache keeps it.
"""

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
    NamedTool,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest
from .call_assembly import CallAssembler, CallFragment
from .openai_chat_schema import Chunk, ToolCallFragment
from .sendable import call_ids, new_call_id, sendable_arguments, sendable_name, sendable_text

DONE: Final = "[DONE]"
"""The data of the event that ends a stream."""

_FINISH_REASONS: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def request_to_payload(request: CompletionRequest, model: str) -> JsonObject:
    """Return the body of `POST /chat/completions`."""
    payload: JsonObject = {"model": model, "messages": _messages(request)}
    if request.tools:
        payload["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not ToolChoiceMode.AUTO:  # the default, which some servers refuse to be told
            payload["tool_choice"] = _tool_choice(request)
        payload["parallel_tool_calls"] = True  # not the default of llama.cpp
    payload["stream"] = True
    payload["stream_options"] = {"include_usage": True}
    return payload


def _messages(request: CompletionRequest) -> list[JsonValue]:
    messages: list[JsonValue] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    for message in request.transcript:
        messages.extend(_message(message))
    if request.directive:
        messages.append({"role": "user", "content": request.directive})
    return messages


def _message(message: Message) -> Iterator[JsonValue]:
    """Write one message; an assistant message that says and calls nothing is left out.

    Servers send `content: null` with calls themselves, so they take it back.
    """
    match message:
        case UserMessage(text):
            yield {"role": "user", "content": text}
        case AssistantMessage(text=text, tool_calls=()):
            if text:
                yield {"role": "assistant", "content": text}
        case AssistantMessage(text=text, tool_calls=calls):
            yield {"role": "assistant", "content": text or None, "tool_calls": [_call(call) for call in calls]}
        case ToolResult(call_id=call_id, content=content):
            yield {"role": "tool", "tool_call_id": call_id, "content": content}
        case _:
            assert_never(message)


def _call(call: ToolCall) -> JsonValue:
    """Write a call; what a model wrote and servers would refuse is made to fit."""
    function: JsonValue = {"name": sendable_name(call.name), "arguments": sendable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _tool(tool: ToolDefinition) -> JsonValue:
    function: JsonValue = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _tool_choice(request: CompletionRequest) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "function", "function": {"name": name}}
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)


class ReplyReader:
    """Turns the chunks of one reply into events; a whole completion is one chunk."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._calls = CallAssembler(call_ids(transcript), new_id)
        self._has_calls = False
        self._finish = ""
        self._usage = Usage()

    @property
    def finished(self) -> bool:
        """True once the service said why the message ends; usage may still follow."""
        return bool(self._finish)

    def read(self, chunk: Chunk) -> Iterator[ProviderEvent]:
        """Yield what a chunk brings: reasoning, text, then calls that are whole."""
        if chunk.usage is not None:
            self._usage = chunk.usage.usage()
        for choice in chunk.choices or []:
            if choice.index:  # a second answer, which was not asked for
                continue
            if (delta := choice.delta or choice.message) is not None:
                if thoughts := sendable_text(delta.thoughts()):
                    yield ReasoningDelta(thoughts)
                if text := sendable_text(delta.text()):
                    yield TextDelta(text)
                yield from self._ready(self._calls.add(_fragment(piece) for piece in delta.tool_calls or []))
            if choice.finish_reason:
                self._finish = choice.finish_reason
                yield from self._ready(self._calls.finish())

    def end(self) -> Iterator[ProviderEvent]:
        """Yield what is left, `CompletionResult` last. To be called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the service never said that it was finished.
        """
        if not self.finished:
            raise ProviderReplyInvalid("the reply ended before the service said that it was finished")
        yield from self._ready(self._calls.finish())
        yield CompletionResult(self._finish_reason(), self._usage)

    def _ready(self, calls: Iterator[ToolCall]) -> Iterator[ProviderEvent]:
        for call in calls:
            self._has_calls = True
            yield ToolCallReady(call)

    def _finish_reason(self) -> FinishReason:
        """Read the reason; where it contradicts the calls, or is unknown beside them, the calls are right."""
        reason = _FINISH_REASONS.get(self._finish.casefold(), FinishReason.UNKNOWN)
        if reason in {FinishReason.LENGTH, FinishReason.CONTENT_FILTER}:
            return reason
        if self._has_calls:
            return FinishReason.TOOL_CALLS
        return FinishReason.STOP if reason is FinishReason.TOOL_CALLS else reason


def _fragment(piece: ToolCallFragment) -> CallFragment:
    name, arguments = (piece.function.name, piece.function.arguments) if piece.function else (None, None)
    text = arguments if isinstance(arguments, str) else "" if arguments is None else canonical_json(arguments)
    return CallFragment(piece.index, piece.id or "", sendable_text(name or ""), sendable_text(text))

"""Ollama's chat format: requests to JSON, and replies, streamed or whole, to events.

Sources: Ollama's API documentation, "Generate a chat completion", "List local models",
"Show model information", "List running models"; Home Assistant's `ollama` integration.

Nothing volatile stands before the last message, so the prefix of a conversation stays
cached.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Final, assert_never, override

from pydantic import JsonValue as AnyJson, PositiveInt, TypeAdapter

from ..errors import ProviderBusy
from ..json.text import sendable_arguments
from ..messages import (
    IMAGE_TYPES,
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    UserMessage,
    described_tools,
)
from ..protocols import CompletionRequest
from ..text import attachment_note, sendable_name
from .call_assembly import CallFragment
from .output_schema import plain_schema
from .reply_reader import (
    Count,
    Events,
    Lenient,
    NDJSONDecoder,
    ReplyReader,
    ReportedFailure,
    TokenCounts,
    WireModel,
    arguments_text,
    at,
    parse_as,
)

_LOADS: Final = frozenset({"load", "unload"})
"""Reasons of a reply that is no answer of the model."""
_NUM_CTX: Final = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


def request_to_payload(
    request: CompletionRequest, model: str, *, attachments: frozenset[str] = IMAGE_TYPES
) -> JsonObject:
    """Return the body of `POST /api/chat`.

    The format has no tool choice: calls are forbidden by offering no tools, and cannot
    be forced. Of the MIME types in `attachments`, only images can be sent; a note
    replaces the rest.
    """
    payload: JsonObject = {
        "model": model,
        "stream": True,
    }
    if request.tools and request.tool_choice is not ToolChoiceMode.NONE:
        payload["tools"] = [
            {
                "type": "function",
                "function": tool,
            }
            for tool in described_tools(request.tools)
        ]
    payload["messages"] = list(_messages(request, attachments))
    output = request.enforced_output(beside_tools=False)
    if output is not None:
        payload["format"] = plain_schema(output.schema)
    return payload


def _messages(
    request: CompletionRequest, attachments: frozenset[str]
) -> Iterator[JsonValue]:
    if request.instructions:
        yield {
            "role": "system",
            "content": request.instructions,
        }
    for message in request.transcript:
        yield from _message(message, attachments)
    if request.directive:
        yield {
            "role": "user",
            "content": request.directive,
        }


def _message(
    message: Message,
    attachments: frozenset[str],
) -> Iterator[JsonValue]:
    """Yield one message; nothing for an assistant message without text and calls."""
    match message:
        case UserMessage():
            yield _user(message, attachments)
        case AssistantMessage(text="", tool_calls=()):
            pass
        case AssistantMessage():
            yield _assistant(message)
        case ToolResult(call_id=call_id, name=name, content=content):
            # Servers before 0.12 match by name and order instead of ids.
            yield {
                "role": "tool",
                "tool_name": sendable_name(name),
                "tool_call_id": call_id,
                "content": content,
            }
        case _:
            assert_never(message)


def _user(
    message: UserMessage,
    attachments: frozenset[str],
) -> JsonValue:
    images = [
        each
        for each in message.attachments
        if each.mime_type in attachments & IMAGE_TYPES
    ]
    notes = [
        attachment_note(each) for each in message.attachments if each not in images
    ]
    written: JsonObject = {
        "role": "user",
        "content": "\n".join([*filter(None, [message.prompt]), *notes]),
    }
    if images:
        written["images"] = [each.base64 for each in images]
    return written


def _assistant(message: AssistantMessage) -> JsonValue:
    """Return a message; reasoning is sent back only with calls, as no template reads it elsewhere."""
    written: JsonObject = {
        "role": "assistant",
        "content": message.text,
    }
    if message.tool_calls:
        if message.reasoning:
            written["thinking"] = message.reasoning
        written["tool_calls"] = [_call(call) for call in message.tool_calls]
    return written


def _call(call: ToolCall) -> JsonValue:
    arguments: JsonValue = json.loads(sendable_arguments(call.arguments))
    return {
        "id": call.id,
        "function": {
            "name": sendable_name(call.name),
            "arguments": arguments,
        },
    }


class _SentCall(WireModel):
    """A call; Ollama before 0.12 sends no id."""

    id: Lenient[str] = None
    name: Annotated[Lenient[str], at("function.name", "name")] = None
    arguments: Annotated[AnyJson, at("function.arguments", "arguments")] = None
    """An object, or JSON text from servers that imitate Ollama."""


class _Message(WireModel):
    """An addition to the message."""

    content: str | None = None
    thinking: Lenient[str] = None
    tool_calls: list[_SentCall] | None = None


class _Chunk(TokenCounts):
    """One line of a stream, or a complete answer. Cached tokens are not reported."""

    message: _Message | None = None
    done: Lenient[bool] = None
    """True in the last line, the only one with the fields below."""
    done_reason: Lenient[str] = None
    input_tokens: Annotated[Count, at("prompt_eval_count")] = None
    output_tokens: Annotated[Count, at("eval_count")] = None
    error: AnyJson = None
    """The service failed after it had begun to answer."""


class _RunningModel(WireModel):
    name: Lenient[str] = None
    context_length: Lenient[PositiveInt] = None


class _RunningModels(WireModel):
    models: list[_RunningModel]


class ModelDescription(WireModel):
    """A model, as `POST /api/show` describes it."""

    capabilities: Lenient[frozenset[str]] = None
    """Such as `completion`, `tools`, `vision`, `thinking`; None from old servers."""
    model_info: Lenient[dict[str, AnyJson]] = None
    parameters: Lenient[str] = None
    """Lines of name and value."""

    @property
    def context_window(self) -> int | None:
        """The context length that the model was trained for; the server may be set to less."""
        info = self.model_info or {}
        length = info.get(f"{info.get('general.architecture')}.context_length")
        if isinstance(length, int) and not isinstance(length, bool) and length > 0:
            return length
        return None

    @property
    def num_ctx(self) -> int | None:
        """The default context length in the Modelfile, if set."""
        found = _NUM_CTX.search(self.parameters or "")
        if found:
            return int(found[1])
        return None


_CHUNK: Final = TypeAdapter(_Chunk)
_RUNNING: Final = TypeAdapter(_RunningModels)
_DESCRIPTION: Final = TypeAdapter(ModelDescription)


def parse_running_window(
    text: str,
    model: str,
) -> int | None:
    """Parse the answer to `GET /api/ps`: the context length that `model` is loaded with; None if it is not loaded.

    Raises `ProviderReplyInvalid`.
    """
    running = parse_as(_RUNNING, text, "a list of running models").models
    return next(
        (
            each.context_length
            for each in running
            if each.name in {model, f"{model}:latest"}
        ),
        None,
    )


def parse_model_description(text: str) -> ModelDescription:
    """Parse the answer to `POST /api/show`. Raises `ProviderReplyInvalid`."""
    return parse_as(
        _DESCRIPTION,
        text,
        "a description of a model",
    )


class OllamaReplyReader(ReplyReader):
    """Reads the lines of a stream, or a whole answer."""

    _DECODER = NDJSONDecoder
    _MAY_OMIT_LAST_LINE = True

    @override
    def _read(self, sent: str | bytes) -> Events:
        chunk = parse_as(
            _CHUNK,
            sent,
            "an answer",
        )
        if chunk.error:
            raise ReportedFailure(chunk.error)
        message = chunk.message or _Message()
        yield from self._reasoning(message.thinking)
        yield from self._text(message.content)
        for call in message.tool_calls or []:
            arguments = arguments_text(call.arguments)
            yield from self._call(
                CallFragment(
                    self._calls_begun,
                    call.id or "",
                    call.name or "",
                    arguments,
                    ended=True,
                )
            )
            self._calls_begun += 1
        if (
            chunk.done
            and chunk.done_reason in _LOADS
            and not (self._text_length or self._calls_begun)
        ):
            raise ProviderBusy("the server loads or unloads its model", retry_after=1.0)
        if chunk.done:
            self.done = True
            self._finish = (
                chunk.done_reason or "stop"
            )  # omitted by servers before 0.1.35
            self._usage = chunk.usage()

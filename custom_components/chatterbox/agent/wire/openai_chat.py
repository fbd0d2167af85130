"""OpenAI's Chat Completions format: requests to JSON, and replies, streamed or whole, to events.

Sources: OpenAI API reference, "Create chat completion", "The chat completion chunk object" and "Models". Signed
reasoning: OpenRouter, "Preserving Reasoning Blocks" (`reasoning_details` of a message); Gemini API, "Thought
signatures" (`extra_content` of a call). Other dialects are named where they are read.

A request is deterministic and has nothing volatile before its last message, so the prefix of a conversation stays
cached.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self, assert_never, override

from pydantic import JsonValue as AnyJson, NonNegativeInt, TypeAdapter, ValidationError

from ..errors import PromptTooLong, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ProviderItem,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest, OutputFormat
from .call_assembly import CallAssembler, CallFragment
from .chat_dialect import DEFAULT_DIALECT, ChatDialect, ReasoningField, in_turns
from .event_streams import DONE, ServerSentEvent, SSEDecoder
from .output_schema import OPENAI, enforced_output, plain_schema, strict_schema
from .parts import (
    IMAGE_TYPES,
    CallIds,
    Lenient,
    ReplyReader,
    ReportedFailure,
    WireModel,
    attachment_note,
    data_url,
    new_call_id,
    parse_as,
    resolve_finish_reason,
    sendable_arguments,
    sendable_call_id,
    sendable_name,
    sendable_text,
    unfinished_reply,
)

FORMAT: Final = "openai_chat"
"""Name of the format in provider items."""

_WINDOW_FULL: Final = "model_context_window_exceeded"
"""Finish reason of Z.ai."""
_FINISH_REASONS: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    _WINDOW_FULL: FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_TEXTS: Final = ("text", "summary")
"""Fields of a reasoning detail that are streamed in pieces."""
_DETAILS: Final = TypeAdapter(list[JsonObject])
_EXTRAS: Final = TypeAdapter(dict[str, JsonObject])


@dataclass(slots=True)
class _SignedReasoning:
    """Signed reasoning of one message: the server wants it back unchanged."""

    details: list[JsonObject] = field(default_factory=list)
    call_extras: dict[str, JsonObject] = field(default_factory=dict)
    """By the id of the call."""

    @classmethod
    def of(cls, message: AssistantMessage) -> Self:
        """Read it from the provider items of a message; items of another shape are skipped."""
        signed = cls()
        for item in message.provider_items:
            if item.format == FORMAT:
                details = _read(_DETAILS, item.data.get("reasoning_details"))
                extras = _read(_EXTRAS, item.data.get("extra_content"))
                signed.details.extend(details or [])
                signed.call_extras.update(extras or {})
        return signed

    def items(self) -> tuple[ProviderItem, ...]:
        """Return it as a transcript stores it."""
        data: JsonObject = {}
        if self.details:
            data["reasoning_details"] = [*self.details]
        if self.call_extras:
            data["extra_content"] = {**self.call_extras}
        return (ProviderItem(FORMAT, data),) if data else ()

    def add_details(self, pieces: Iterable[JsonObject]) -> None:
        """Add the details of one chunk; a continuation is joined with the last detail."""
        for piece in pieces:
            if self.details and _continues(self.details[-1], piece):
                self.details[-1] = _joined(self.details[-1], piece)
            else:
                self.details.append(piece)


def _details_text(details: Iterable[JsonObject]) -> str:
    """Return the readable text of details."""
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


def request_to_payload(
    request: CompletionRequest,
    model: str,
    dialect: ChatDialect = DEFAULT_DIALECT,
    shown: Collection[str] = IMAGE_TYPES,
    *,
    output_beside_tools: bool = False,
) -> JsonObject:
    """Return the body of `POST /chat/completions`. Attachments of other MIME types than `shown` become a note.

    `output_beside_tools` allows tools and a structured output in one request.
    """
    payload: JsonObject = {"model": model, "messages": _messages(request, dialect, shown)}
    if request.tools:
        functions: list[JsonObject] = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ]
        payload["tools"] = [{"type": "function", "function": function} for function in functions]
        if request.tool_choice is not ToolChoiceMode.AUTO:  # some servers refuse the default
            payload["tool_choice"] = _tool_choice(request, dialect)
        payload["parallel_tool_calls"] = request.options.parallel_tool_calls  # llama.cpp defaults to false
    if (output := enforced_output(request, beside_tools=output_beside_tools)) is not None:
        payload["response_format"] = {"type": "json_schema", "json_schema": _output(output)}
    payload["stream"] = True
    payload["stream_options"] = {"include_usage": True}
    return payload


def _output(output: OutputFormat) -> JsonValue:
    strict = strict_schema(output.schema, OPENAI)
    schema = plain_schema(output.schema) if strict is None else strict
    return {"name": output.name, "schema": schema, "strict": strict is not None}


def _messages(request: CompletionRequest, dialect: ChatDialect, shown: Collection[str]) -> list[JsonValue]:
    messages: list[JsonObject] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    messages += [sent for message in request.transcript if (sent := _message(message, dialect, shown)) is not None]
    if request.directive:
        messages.append({"role": "user", "content": request.directive})
    return [*(in_turns(messages) if dialect.alternates else messages)]


def _message(message: Message, dialect: ChatDialect, shown: Collection[str]) -> JsonObject | None:
    """Return a message; None for an assistant message without text and calls."""
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            return {"role": "user", "content": _content(prompt, attachments, shown)}
        case AssistantMessage(text=text, tool_calls=()):
            return {"role": "assistant", "content": text} if text else None
        case AssistantMessage():
            return _message_with_calls(message, dialect)
        case ToolResult(call_id=call_id, content=content):
            sent_id = sendable_call_id(call_id, dialect.call_ids)
            return {"role": "tool", "tool_call_id": sent_id, "content": content}
        case _:
            assert_never(message)


def _content(text: str, attachments: Collection[Attachment], shown: Collection[str]) -> JsonValue:
    """Return text and attachments; plain text if no attachment can be sent, because every server accepts that."""
    if not attachments:
        return text
    if not any(attachment.mime_type in shown for attachment in attachments):
        return "\n\n".join([*([text] if text else []), *map(attachment_note, attachments)])
    parts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    return parts + [_part(attachment, shown) for attachment in attachments]


def _part(attachment: Attachment, shown: Collection[str]) -> JsonValue:
    if attachment.mime_type not in shown:
        return {"type": "text", "text": attachment_note(attachment)}
    if attachment.mime_type in IMAGE_TYPES:
        return {"type": "image_url", "image_url": {"url": data_url(attachment)}}
    return {"type": "file", "file": {"filename": attachment.name or "attachment", "file_data": data_url(attachment)}}


def _message_with_calls(message: AssistantMessage, dialect: ChatDialect) -> JsonObject:
    """Return a message with calls, and the reasoning before them if the server wants it back.

    `content: null` is accepted: servers send it with calls themselves.
    """
    signed = _SignedReasoning.of(message) if dialect.returns_items else _SignedReasoning()
    written: JsonObject = {"role": "assistant", "content": message.text or None}
    if signed.details:
        written["reasoning_details"] = [*signed.details]
    elif dialect.reasoning_field is not ReasoningField.NONE and (message.reasoning or dialect.needs_reasoning):
        written[dialect.reasoning_field.value] = message.reasoning
    written["tool_calls"] = [_call(call, signed, dialect) for call in message.tool_calls]
    return written


def _call(call: ToolCall, signed: _SignedReasoning, dialect: ChatDialect) -> JsonValue:
    """Return a call, sanitized where services would refuse what the model wrote."""
    function: JsonValue = {"name": sendable_name(call.name), "arguments": sendable_arguments(call.arguments)}
    written: JsonObject = {"id": sendable_call_id(call.id, dialect.call_ids), "type": "function", "function": function}
    if call.id in signed.call_extras:
        written["extra_content"] = signed.call_extras[call.id]
    return written


def _tool_choice(request: CompletionRequest, dialect: ChatDialect) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name) if dialect.forces_by_name:
            return {"type": "function", "function": {"name": name}}
        case NamedTool():
            return ToolChoiceMode.REQUIRED.value
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)


class _FunctionFragment(WireModel):
    """Name and arguments of a call, or a fragment of them."""

    name: Lenient[str] = None
    arguments: AnyJson = None
    """JSON text; some servers send the object itself."""


class _ToolCallFragment(WireModel):
    """A fragment of a call in a stream, or a call of a whole message, which has no index."""

    index: Lenient[int] = None
    id: Lenient[str] = None
    function: Lenient[_FunctionFragment] = None
    extra_content: Lenient[dict[str, AnyJson]] = None
    """Gemini's signature of the call."""


class _ContentPart(WireModel):
    """A part of the content as Mistral's reasoning models send it; plain texts may stand between such parts."""

    text: Lenient[str] = None
    thinking: Lenient[list[_ContentPart]] = None


class _Delta(WireModel):
    """An addition to the message, or the message itself."""

    content: str | list[str | _ContentPart] | None = None
    refusal: Lenient[str] = None
    """The model declines, in words for the user."""
    reasoning_content: Lenient[str] = None
    """DeepSeek, llama.cpp, vLLM."""
    reasoning: Lenient[str] = None
    """OpenRouter, Ollama, vLLM; some servers send both."""
    reasoning_details: Lenient[list[dict[str, AnyJson]]] = None
    """OpenRouter and MiniMax: the same again, in parts that may be signed or encrypted."""
    tool_calls: list[_ToolCallFragment] | None = None

    def text(self) -> str:
        """Return the answer."""
        if isinstance(self.content, list):
            return "".join(part if isinstance(part, str) else part.text or "" for part in self.content)
        return self.content or self.refusal or ""

    def reasoning_text(self) -> str:
        """Return the reasoning."""
        text = ""
        if isinstance(self.content, list):
            parts = [part for part in self.content if isinstance(part, _ContentPart)]
            text = "".join(thought.text or "" for part in parts for thought in part.thinking or [])
        text = text or self.reasoning_content or self.reasoning or ""
        return text or (_details_text(self.reasoning_details) if self.reasoning_details else "")


class _Choice(WireModel):
    """One of the answers; requests ask for one, which has index 0."""

    index: Lenient[int] = None
    delta: _Delta | None = None
    message: _Delta | None = None
    """Replaces `delta` in a whole completion; some servers repeat the message at the end of a stream."""
    finish_reason: Lenient[str] = None


class _InputDetails(WireModel):
    cached_tokens: Lenient[NonNegativeInt] = None


class _OutputDetails(WireModel):
    reasoning_tokens: Lenient[NonNegativeInt] = None


class _UsageReport(WireModel):
    """Token counts."""

    prompt_tokens: Lenient[NonNegativeInt] = None
    completion_tokens: Lenient[NonNegativeInt] = None
    prompt_tokens_details: Lenient[_InputDetails] = None
    completion_tokens_details: Lenient[_OutputDetails] = None
    prompt_cache_hit_tokens: Lenient[NonNegativeInt] = None
    """DeepSeek's name for cached tokens."""

    def usage(self) -> Usage:
        """Return the counts."""
        cached = self.prompt_tokens_details.cached_tokens if self.prompt_tokens_details else None
        reasoning = self.completion_tokens_details.reasoning_tokens if self.completion_tokens_details else None
        return Usage(
            input_tokens=self.prompt_tokens or 0,
            output_tokens=self.completion_tokens or 0,
            cached_tokens=cached or self.prompt_cache_hit_tokens or 0,
            reasoning_tokens=reasoning or 0,
        )


class _Chunk(WireModel):
    """One event of a stream, or a whole completion."""

    object: Lenient[str] = None
    choices: list[_Choice] | None = None
    usage: Lenient[_UsageReport] = None
    error: AnyJson = None

    message: AnyJson = None
    type: AnyJson = None
    code: AnyJson = None

    @property
    def reported_error(self) -> JsonValue:
        """The failure that the service reports, else None. vLLM sends it without `error` around it."""
        if self.object == "error":
            return {"message": self.message, "type": self.type, "code": self.code}
        return self.error or None


class _Model(WireModel):
    id: str


class _ModelList(WireModel):
    data: list[_Model]


_CHUNK: Final = TypeAdapter(_Chunk)
_MODEL_LIST: Final = TypeAdapter(_ModelList)


def parse_model_list(text: str) -> list[str]:
    """Parse the answer to `GET /models`: the unique names, sorted. Raises `ProviderReplyInvalid`."""
    listed = parse_as(_MODEL_LIST, text, "a list of models")
    return sorted({model.id for model in listed.data}, key=lambda name: (name.casefold(), name))


class ChatReplyReader(ReplyReader):
    """Reads one reply: the chunks of a stream, or a whole completion."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = SSEDecoder()
        self._done = False
        self._calls = CallAssembler(CallIds(transcript, new_id))
        self._has_calls = False
        self._has_text = False
        self._streams = False
        """True once a `delta` brought something: a `message` after it repeats it."""
        self._finish = ""
        self._usage = Usage()
        self._signed = _SignedReasoning()

    @property
    @override
    def finished(self) -> bool:
        return bool(self._finish)

    @property
    @override
    def done(self) -> bool:
        return self._done

    @override
    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        for event in self._decoder.feed(chunk):
            yield from self._read_event(event)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        return self._read(text)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        if (event := self._decoder.end()) is not None:
            with suppress(ProviderReplyInvalid):  # a truncated event: the earlier ones decide
                yield from self._read_event(event)
        if not self.finished:
            raise unfinished_reply()
        yield from self._ready(self._calls.finish())
        if self._finish.casefold() == _WINDOW_FULL and not (self._has_text or self._has_calls):
            raise PromptTooLong("the prompt leaves no room for an answer", self._usage.input_tokens or None)
        self._signed.call_extras |= self._calls.extras
        reason = _FINISH_REASONS.get(self._finish.casefold(), FinishReason.UNKNOWN)
        reason = resolve_finish_reason(reason, has_calls=self._has_calls)
        yield CompletionResult(reason, self._usage, self._signed.items())

    def _read_event(self, event: ServerSentEvent) -> Iterator[ProviderEvent]:
        data = event.data.strip()
        self._done = self._done or data == DONE
        if self._done or not data:
            return
        if event.type == "error":
            raise ReportedFailure(_error_event(data))
        yield from self._read(data)

    def _read(self, sent: str | bytes) -> Iterator[ProviderEvent]:
        chunk = parse_as(_CHUNK, sent, "an answer")
        if (reported := chunk.reported_error) is not None:
            raise ReportedFailure(reported)
        if chunk.usage is not None:
            self._usage = chunk.usage.usage()
        for choice in chunk.choices or []:
            if choice.index:  # a second answer, which was not requested
                continue
            if choice.message is not None and not self._streams:
                yield from self._read_delta(choice.message)
            elif choice.delta is not None:
                self._streams = self._streams or bool(choice.delta.tool_calls)
                for event in self._read_delta(choice.delta):
                    self._streams = True
                    yield event
            if choice.finish_reason:
                self._finish = choice.finish_reason
                yield from self._ready(self._calls.finish())

    def _read_delta(self, delta: _Delta) -> Iterator[ProviderEvent]:
        if reasoning := delta.reasoning_text():
            yield ReasoningDelta(sendable_text(reasoning))
        if text := delta.text():
            self._has_text = True
            yield TextDelta(sendable_text(text))
        if delta.reasoning_details:
            self._signed.add_details(delta.reasoning_details)
        if delta.tool_calls:
            yield from self._ready(self._calls.add(map(_fragment, delta.tool_calls)))

    def _ready(self, calls: list[ToolCall]) -> list[ToolCallReady]:
        self._has_calls = self._has_calls or bool(calls)
        return [ToolCallReady(call) for call in calls]


def _fragment(piece: _ToolCallFragment) -> CallFragment:
    name, arguments = (piece.function.name, piece.function.arguments) if piece.function else (None, None)
    text = arguments if isinstance(arguments, str) else "" if arguments is None else canonical_json(arguments)
    return CallFragment(
        piece.index, sendable_text(piece.id or ""), sendable_text(name or ""), sendable_text(text), piece.extra_content
    )


def _error_event(data: bytes) -> JsonValue:
    """Return the data of an event named `error`: JSON as under `error` elsewhere, or plain text."""
    text = data.decode(errors="replace")
    try:
        report: JsonValue = json.loads(text)
    except ValueError, RecursionError:
        return text
    return report

"""Anthropic's Messages format: requests to JSON, and replies, streamed or whole, to events.

Sources: Claude API reference, "Create a message", "Streaming messages" and "Errors"; the guides "Handle tool calls",
"Prompt caching", "Preserved thinking", "Stop reasons and fallback" and "Fine-grained tool streaming".

Thinking is sent back within the turn it belongs to, where the service asks for it. Thinking of earlier turns is left
out: the service would check that nothing before it has changed, and a window or directive of that time may be gone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, assert_never, override

from pydantic import ConfigDict, JsonValue as AnyJson, NonNegativeInt, TypeAdapter

from ..errors import PromptTooLong, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..json.text import parse_json
from ..messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest
from .event_streams import DONE, SSEDecoder
from .output_schema import ANTHROPIC, enforced_output, strict_schema
from .parts import (
    IMAGE_TYPES,
    PDF,
    CallIds,
    CarriedBlock,
    Lenient,
    ReplyReader,
    ReportedFailure,
    WireModel,
    attachment_note,
    base64_data,
    carried_by,
    new_call_id,
    parse_as,
    resolve_finish_reason,
    sendable_call_id,
    sendable_name,
    sendable_text,
    unfinished_reply,
)

FORMAT: Final = "anthropic_messages"
"""Name of the format in provider items."""
ATTACHMENTS: Final = IMAGE_TYPES | {PDF}
"""MIME types that the format can carry."""
MAX_BLOCKS: Final = 1_000
"""Blocks in one message."""
MAX_BLOCK_CHARACTERS: Final = 1_000_000

_CALL_ID: Final = "[A-Za-z0-9_-]+"
_CACHE_HERE: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}
_REFUSED_AT_THE_TOP: Final = frozenset({"allOf", "anyOf", "oneOf"})
"""Keywords that the top level of a tool's schema must not have."""
_NOTHING_SAID: Final = "(Nothing was said.)"
"""Replaces an empty user message, which services refuse."""
_ASSISTANT_BEGAN: Final = "(The assistant begins.)"
"""Stands before a conversation that the assistant opened: the first message has to be the user's."""

_WINDOW_FULL: Final = "model_context_window_exceeded"
_FINISH_REASONS: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    _WINDOW_FULL: FinishReason.LENGTH,
    "pause_turn": FinishReason.LENGTH,  # a server-side tool took too long: the answer is incomplete
    "refusal": FinishReason.CONTENT_FILTER,
}
_NO_REASON: Final = "end_turn"
_CARRIED_TYPES: Final = frozenset({"thinking", "redacted_thinking"})
_GAP: Final = "\n\n"
"""Separates two texts of one message."""


def request_to_payload(
    request: CompletionRequest, model: str, max_tokens: int, shown: frozenset[str] = ATTACHMENTS
) -> JsonObject:
    """Return the body of `POST /messages`. `shown` are the MIME types of attachments that the model can read.

    It has at most four cache breakpoints, the limit of the format: after the tools, after the instructions, and after
    the last two user messages, so that the next request hits the end of this one. The directive follows them all.
    """
    payload: JsonObject = {"model": model, "max_tokens": max_tokens}
    if tools := _tools(request):
        payload["tools"] = tools
    if request.instructions.strip():
        payload["system"] = [{"type": "text", "text": request.instructions, **_CACHE_HERE}]
    payload["messages"] = _messages(request, shown)
    if (choice := _tool_choice(request)) is not None:
        payload["tool_choice"] = choice
    output = enforced_output(request, beside_tools=True)
    if output is not None and (schema := strict_schema(output.schema, ANTHROPIC)) is not None:
        payload["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    payload["stream"] = True
    return payload


def _tools(request: CompletionRequest) -> list[JsonValue]:
    """Return the offered tools, else those that the transcript calls: a request with calls has to define tools."""
    offered = [_tool(tool) for tool in request.tools]
    if not offered:
        called = {sendable_name(call.name) for call in _calls_of(request.transcript)}
        offered = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(called)]
    return [*offered[:-1], *[{**last, **_CACHE_HERE} for last in offered[-1:]]]


def _tool(tool: ToolDefinition) -> JsonObject:
    schema = {keyword: value for keyword, value in tool.parameters.items() if keyword not in _REFUSED_AT_THE_TOP}
    return {"name": tool.name, "description": tool.description, "input_schema": {"type": "object", **schema}}


def _calls_of(transcript: Transcript) -> Iterator[ToolCall]:
    for message in transcript:
        if isinstance(message, AssistantMessage):
            yield from message.tool_calls


def _tool_choice(request: CompletionRequest) -> JsonValue:
    choice: ToolChoice = request.tool_choice
    if not request.tools:
        return {"type": "none"} if any(_calls_of(request.transcript)) else None
    alone: JsonObject = {} if request.options.parallel_tool_calls else {"disable_parallel_tool_use": True}
    match choice:
        case NamedTool(name):
            return {"type": "tool", "name": name, **alone}
        case ToolChoiceMode.REQUIRED:
            return {"type": "any", **alone}
        case ToolChoiceMode.NONE:
            return {"type": "none"}
        case ToolChoiceMode.AUTO:
            return {"type": "auto", **alone} if alone else None
        case _:
            assert_never(choice)


def _messages(request: CompletionRequest, shown: frozenset[str]) -> list[JsonValue]:
    """Return the messages, alternating and beginning with the user."""
    turns: list[tuple[str, list[JsonObject]]] = []
    this_turn = _begin_of_turn(request.transcript)
    for number, message in enumerate(request.transcript):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks = list(_blocks(message, shown, carry=number > this_turn))
        if blocks and turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    if turns and turns[0][0] == "assistant":
        turns.insert(0, ("user", [_text(_ASSISTANT_BEGAN)]))
    for blocks in [blocks for role, blocks in turns if role == "user"][-2:]:
        blocks[-1] = {**blocks[-1], **_CACHE_HERE}
    if request.directive.strip():
        if not turns or turns[-1][0] == "assistant":
            turns.append(("user", []))
        turns[-1][1].append(_text(request.directive))
    return [{"role": role, "content": [*blocks]} for role, blocks in turns]


def _begin_of_turn(transcript: Transcript) -> int:
    """Return the index of the last user message, -1 for none."""
    return max((number for number, message in enumerate(transcript) if isinstance(message, UserMessage)), default=-1)


def _blocks(message: Message, shown: frozenset[str], *, carry: bool) -> Iterator[JsonObject]:
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            for attachment in attachments:
                yield _attachment(attachment, shown)
            if prompt.strip():
                yield _text(prompt)
            elif not attachments:
                yield _text(_NOTHING_SAID)
        case AssistantMessage():
            yield from _assistant_blocks(message, carry=carry)
        case ToolResult():
            yield _result(message)
        case _:
            assert_never(message)


def _assistant_blocks(message: AssistantMessage, *, carry: bool) -> Iterator[JsonObject]:
    """Yield text, calls and carried blocks, each at its position; nothing for a message without text and calls."""
    text, calls = message.text, message.tool_calls
    if not text.strip() and not calls:
        return
    text_begin = call_begin = 0
    for carried in carried_by(message, FORMAT) if carry else ():
        yield from _said(text[text_begin : carried.text], calls[call_begin : carried.calls])
        yield carried.block
        text_begin, call_begin = carried.text + carried.skip, carried.calls
    yield from _said(text[text_begin:], calls[call_begin:])


def _said(text: str, calls: Sequence[ToolCall]) -> Iterator[JsonObject]:
    if text.strip():
        yield _text(text)
    for call in calls:
        yield {
            "type": "tool_use",
            "id": sendable_call_id(call.id, _CALL_ID),
            "name": sendable_name(call.name),
            "input": _input(call.arguments),
        }


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _result(result: ToolResult) -> JsonObject:
    """Return a tool result. It may be empty, unless it is an error."""
    block: JsonObject = {"type": "tool_result", "tool_use_id": sendable_call_id(result.call_id, _CALL_ID)}
    if result.content.strip():
        block["content"] = result.content
    if result.is_error:
        block.setdefault("content", "error")
        block["is_error"] = True
    return block


def _input(arguments: str) -> JsonObject:
    """Return the arguments of a call, an empty object if services would refuse them."""
    try:
        value = parse_json(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _attachment(attachment: Attachment, shown: frozenset[str]) -> JsonObject:
    """Return an image or a PDF, and a note for anything else."""
    mime_type = attachment.mime_type.lower().replace("image/jpg", "image/jpeg")
    if mime_type not in shown & ATTACHMENTS:
        return _text(attachment_note(attachment))
    source: JsonObject = {"type": "base64", "media_type": mime_type, "data": base64_data(attachment)}
    if mime_type != PDF:
        return {"type": "image", "source": source}
    title: JsonObject = {"title": attachment.name} if attachment.name.strip() else {}
    return {"type": "document", "source": source, **title}


class _ContentBlock(WireModel):
    """A part of a message: its start in a stream, or complete. Unknown fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str
    """`text`, `thinking`, `redacted_thinking`, `tool_use`, or a type of server-side tools."""
    text: str | None = None
    thinking: Lenient[str] = None
    signature: Lenient[str] = None
    id: Lenient[str] = None
    name: Lenient[str] = None
    input: AnyJson = None
    """A call's arguments; an empty object where they are streamed."""

    def as_sent(self) -> JsonObject:
        """Return exactly the fields that the service sent."""
        return self.model_dump(exclude_unset=True)


class _Delta(WireModel):
    """An addition to a block or to the message."""

    text: str | None = None
    thinking: Lenient[str] = None
    signature: Lenient[str] = None
    partial_json: str | None = None
    stop_reason: Lenient[str] = None


class _OutputDetails(WireModel):
    thinking_tokens: Lenient[NonNegativeInt] = None


class _UsageReport(WireModel):
    """Token counts so far; `input_tokens` excludes the cached ones."""

    input_tokens: Lenient[NonNegativeInt] = None
    cache_creation_input_tokens: Lenient[NonNegativeInt] = None
    cache_read_input_tokens: Lenient[NonNegativeInt] = None
    output_tokens: Lenient[NonNegativeInt] = None
    output_tokens_details: Lenient[_OutputDetails] = None

    def updated(self, later: Self | None) -> Self:
        """Return the counts after a later event. They are running totals, so smaller values are ignored."""
        known = {} if later is None else {name: value for name, value in later if value is not None}
        counts = {
            name: max(value, earlier) if isinstance(earlier := getattr(self, name), int) else value
            for name, value in known.items()
        }
        return self.model_copy(update=counts)

    def usage(self) -> Usage:
        """Return the counts; cached tokens are input too."""
        cached = self.cache_read_input_tokens or 0
        details = self.output_tokens_details
        return Usage(
            input_tokens=(self.input_tokens or 0) + (self.cache_creation_input_tokens or 0) + cached,
            output_tokens=self.output_tokens or 0,
            cached_tokens=cached,
            reasoning_tokens=(details.thinking_tokens or 0) if details else 0,
        )


class _MessageStart(WireModel):
    """The start of a message."""

    usage: Lenient[_UsageReport] = None


class _Event(WireModel):
    """One event of a stream, or a whole message."""

    type: Lenient[str] = None
    message: Lenient[_MessageStart] = None
    index: Lenient[int] = None
    content_block: _ContentBlock | None = None
    delta: _Delta | None = None
    usage: Lenient[_UsageReport] = None
    error: AnyJson = None

    content: list[_ContentBlock] | None = None
    stop_reason: Lenient[str] = None


_EVENT: Final = TypeAdapter(_Event)


@dataclass(slots=True, eq=False)
class _OpenBlock:
    """A content block that is being written, and its position in the message."""

    begun: _ContentBlock
    text: int
    calls: int
    skip: int = 0
    pieces: list[str] = field(default_factory=list)
    """Of the thinking, or of the arguments."""
    signature: list[str] = field(default_factory=list)
    length: int = 0
    ended: bool = False

    def add(self, pieces: list[str], piece: str) -> None:
        """Append a piece of the thinking, the signature or the arguments."""
        if not piece:
            return
        self.length += len(piece)
        if self.length > MAX_BLOCK_CHARACTERS:
            raise ProviderReplyInvalid(f"the service sent a block of more than {MAX_BLOCK_CHARACTERS} characters")
        pieces.append(piece)

    def arguments(self) -> str:
        """Return the streamed arguments, else those that came with the start of the block."""
        if written := "".join(self.pieces).strip():
            return written
        return canonical_json(self.begun.input) if self.begun.input else "{}"

    def carried(self) -> CarriedBlock:
        """Return the complete block, as it is to be sent back."""
        block = self.begun.as_sent()
        if self.begun.type == "thinking":
            block["thinking"] = (self.begun.thinking or "") + "".join(self.pieces)
        if signature := (self.begun.signature or "") + "".join(self.signature):
            block["signature"] = signature
        return CarriedBlock(block, self.text, self.calls, self.skip)


class AnthropicReplyReader(ReplyReader):
    """Reads one reply: the events of a stream, or a whole message."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._decoder = SSEDecoder()
        self._ids = CallIds(transcript, new_id)
        self._done = False
        self._blocks: list[_OpenBlock] = []
        self._by_index: dict[int, _OpenBlock] = {}
        self._calls: list[_OpenBlock] = []
        self._ready = 0
        self._text_length = 0
        self._text_is_open = False
        self._ends_with_space = True
        self._finish = ""
        self._usage = _UsageReport()

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
            data = event.data.strip()
            self._done = self._done or data == DONE
            if data and not self._done:
                yield from self._read(data)

    @override
    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        return self._read(text)

    @override
    def end(self) -> Iterator[ProviderEvent]:
        if not self.finished:
            raise unfinished_reply()
        if self._finish.casefold() == _WINDOW_FULL and not (self._text_length or self._calls):
            raise PromptTooLong("the prompt leaves no room for an answer", self._usage.usage().input_tokens or None)
        carried = (block.carried() for block in self._blocks if block.begun.type in _CARRIED_TYPES)
        items = tuple(block.as_item(FORMAT) for block in carried)
        reason = _FINISH_REASONS.get(self._finish.casefold(), FinishReason.UNKNOWN)
        reason = resolve_finish_reason(reason, has_calls=bool(self._calls))
        yield CompletionResult(reason, self._usage.usage(), items)

    def _read(self, sent: str | bytes) -> Iterator[ProviderEvent]:
        event = parse_as(_EVENT, sent, "an answer")
        if event.error is not None:
            raise ReportedFailure(event.error)
        match event.type:
            case "message_start" if event.message is not None:
                self._usage = self._usage.updated(event.message.usage)
            case "content_block_start" if event.content_block is not None:
                yield from self._begin(event.content_block, event.index)
            case "content_block_delta" if event.delta is not None:
                yield from self._add(event.delta, event.index)
            case "content_block_stop":
                yield from self._end_block(event.index)
            case "message_delta":
                self._usage = self._usage.updated(event.usage)
                yield from self._end_message(event.delta.stop_reason if event.delta else None)
            case "message_stop":
                self._done = True
                yield from self._end_message(_NO_REASON)
            case "message":
                yield from self._read_message(event)
            case _:  # ping, and additions of later versions
                pass

    def _read_message(self, message: _Event) -> Iterator[ProviderEvent]:
        self._usage = self._usage.updated(message.usage)
        for index, block in enumerate(message.content or []):
            yield from self._begin(block, index)
            yield from self._end_block(index)
        yield from self._end_message(message.stop_reason)

    def _begin(self, block: _ContentBlock, index: int | None) -> Iterator[ProviderEvent]:
        if len(self._blocks) >= MAX_BLOCKS:
            raise ProviderReplyInvalid(f"the service sent more than {MAX_BLOCKS} blocks in one message")
        begun = _OpenBlock(block, self._text_length, len(self._calls))
        self._blocks.append(begun)
        if index is not None:
            self._by_index[index] = begun
        if block.type == "tool_use":
            self._calls.append(begun)
        self._text_is_open = self._text_is_open and block.type == "text"
        yield from self._say(block.text)
        yield from _reasoning(block.thinking)

    def _add(self, delta: _Delta, index: int | None) -> Iterator[ProviderEvent]:
        yield from self._say(delta.text)
        yield from _reasoning(delta.thinking)
        block = self._find(index)
        if block is not None:
            block.add(block.pieces, delta.thinking or delta.partial_json or "")
            block.add(block.signature, delta.signature or "")
        elif delta.partial_json:
            raise ProviderReplyInvalid("the service sent a piece of a call that it had not begun")

    def _end_block(self, index: int | None) -> Iterator[ProviderEvent]:
        if (block := self._find(index)) is not None:
            block.ended = True
        yield from self._complete_calls()

    def _find(self, index: int | None) -> _OpenBlock | None:
        """Return the block of an index; the last one if the event has none."""
        if index is not None:
            return self._by_index.get(index)
        return self._blocks[-1] if self._blocks else None

    def _end_message(self, reason: str | None) -> Iterator[ProviderEvent]:
        self._finish = self._finish or reason or ""
        if self.finished:
            for block in self._blocks:
                block.ended = True
            yield from self._complete_calls()

    def _complete_calls(self) -> Iterator[ProviderEvent]:
        """Yield the complete calls, none before an earlier one."""
        while self._ready < len(self._calls) and (call := self._calls[self._ready]).ended:
            self._ready += 1
            name, arguments = sendable_name(call.begun.name or ""), sendable_text(call.arguments())
            yield ToolCallReady(ToolCall(self._ids.unique(call.begun.id or ""), name, arguments))

    def _say(self, text: str | None) -> Iterator[ProviderEvent]:
        """Yield text, separated from earlier text where another block came between them."""
        if not text:
            return
        text = sendable_text(text)
        if not (self._text_is_open or self._ends_with_space or text[0].isspace()):
            carried = [block for block in self._blocks if block.begun.type in _CARRIED_TYPES]
            if carried and carried[-1].text == self._text_length:
                carried[-1].skip = len(_GAP)
            text = _GAP + text
        self._text_is_open = True
        self._ends_with_space = text[-1].isspace()
        self._text_length += len(text) if self._text_length else len(text.lstrip())
        yield TextDelta(text)


def _reasoning(text: str | None) -> Iterator[ProviderEvent]:
    if text:
        yield ReasoningDelta(sendable_text(text))

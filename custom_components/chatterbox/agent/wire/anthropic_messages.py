"""Anthropic's Messages format: requests to JSON, and replies, streamed or whole, to events.

Sources: Claude API reference, "Create a message", "Streaming messages" and "Errors";
the guides "Handle tool calls", "Prompt caching", "Preserved thinking", "Stop reasons
and fallback" and "Fine-grained tool streaming".

Thinking is sent back within the turn it belongs to, where the service asks for it.
Thinking of earlier turns is left out: the service would check that nothing before it
has changed, and a window or directive of that time may be gone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Final, assert_never, override

from pydantic import JsonValue as AnyJson, TypeAdapter

from ..errors import ProviderReplyInvalid
from ..json.text import as_object, parse_json
from ..messages import (
    IMAGE_TYPES,
    PDF,
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ProviderItem,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from ..protocols import CompletionRequest
from ..text import attachment_note, plain_tool_name, sendable_call_id, sendable_name
from ..transcript import calls_in
from .call_assembly import CallFragment, new_call_id
from .carried_blocks import CarriedBlock, carried_by
from .output_schema import ANTHROPIC, strict_schema
from .reply_reader import (
    Count,
    Events,
    FoundPage,
    Lenient,
    ReplyReader,
    ReportedFailure,
    TokenCounts,
    WireModel,
    arguments_text,
    at,
    parse_as,
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

_NO_REASON: Final = "end_turn"
_SEARCH: Final = "web_search"
_SEARCH_USE: Final = "server_tool_use"
_SEARCH_RESULT: Final = "web_search_tool_result"
OF_SEARCHES: Final = frozenset({_SEARCH_USE, _SEARCH_RESULT})
"""Types of the blocks of a search."""
_CARRIED_TYPES: Final = OF_SEARCHES | {"thinking", "redacted_thinking"}
_GAP: Final = "\n\n"
"""Separates two texts of one message."""


def request_to_payload(
    request: CompletionRequest,
    model: str,
    max_tokens: int,
    accepted: frozenset[str] = ATTACHMENTS,
    search_tool: str = "",
) -> JsonObject:
    """Return the body of `POST /messages`. `accepted` are the MIME types of attachments that the model can read.

    `search_tool` is the type of the service's own tool that searches the web.

    It has at most four cache breakpoints, the limit of the format: after the tools,
    after the instructions, and after the last two user messages, so that the next
    request hits the end of this one. The directive follows them all.
    """
    payload: JsonObject = {
        "model": model,
        "max_tokens": max_tokens,
    }
    tools = [*_tools(request), *_search_tools(request, search_tool)]
    if tools:
        payload["tools"] = tools
    if request.instructions.strip():
        payload["system"] = [
            {
                "type": "text",
                "text": request.instructions,
                **_CACHE_HERE,
            }
        ]
    payload["messages"] = _messages(request, accepted)
    choice = _tool_choice(request)
    if choice is not None:
        payload["tool_choice"] = choice
    output = request.enforced_output(beside_tools=True)
    if (
        output is not None
        and (schema := strict_schema(output.schema, ANTHROPIC)) is not None
    ):
        payload["output_config"] = {
            "format": {
                "type": "json_schema",
                "schema": schema,
            }
        }
    payload["stream"] = True
    return payload


def _tools(request: CompletionRequest) -> list[JsonValue]:
    """Return the offered tools, else those that the transcript calls: a request with calls has to define tools."""
    offered = [_tool(tool) for tool in request.tools]
    if not offered:
        called = {sendable_name(call.name) for call in calls_in(request.transcript)}
        offered = [
            {
                "name": name,
                "input_schema": {"type": "object"},
            }
            for name in sorted(called)
        ]
    if offered:
        offered[-1] |= _CACHE_HERE
    return [*offered]


def _search_tools(
    request: CompletionRequest,
    kind: str,
) -> list[JsonValue]:
    """Return the service's own tool that searches the web, unless a tool of the turn has its name."""
    is_taken = any(tool.name == _SEARCH for tool in request.tools)
    if is_taken or not (request.searches and kind):
        return []
    return [{"type": kind, "name": _SEARCH, "max_uses": request.searches}]


def _tool(tool: ToolDefinition) -> JsonObject:
    schema = {
        keyword: value
        for keyword, value in (tool.short_parameters or tool.parameters).items()
        if keyword not in _REFUSED_AT_THE_TOP
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {
            "type": "object",
            **schema,
        },
    }


def _tool_choice(request: CompletionRequest) -> JsonValue:
    choice: ToolChoice = request.tool_choice
    if not request.tools:
        if any(calls_in(request.transcript)):
            return {"type": "none"}
        return None
    alone: JsonObject = (
        {}
        if request.options.parallel_tool_calls
        else {"disable_parallel_tool_use": True}
    )
    match choice:
        case NamedTool(name):
            return {
                "type": "tool",
                "name": name,
                **alone,
            }
        case ToolChoiceMode.REQUIRED:
            return {
                "type": "any",
                **alone,
            }
        case ToolChoiceMode.NONE:
            return {"type": "none"}
        case ToolChoiceMode.AUTO:
            if alone:
                return {
                    "type": "auto",
                    **alone,
                }
            return None
        case _:
            assert_never(choice)


def _messages(
    request: CompletionRequest,
    accepted: frozenset[str],
) -> list[JsonValue]:
    """Return the messages, alternating and beginning with the user."""
    turns: list[tuple[str, list[JsonObject]]] = []

    def add(
        role: str,
        blocks: list[JsonObject],
    ) -> None:
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))

    turns_after = sum(isinstance(one, UserMessage) for one in request.transcript)
    for message in request.transcript:
        turns_after -= isinstance(message, UserMessage)
        if isinstance(message, AssistantMessage):
            role = "assistant"
        else:
            role = "user"
        add(
            role,
            [*_blocks(message, accepted, carry=not turns_after)],
        )
    if turns and turns[0][0] == "assistant":
        turns.insert(
            0,
            ("user", [_text(_ASSISTANT_BEGAN)]),
        )
    for blocks in [blocks for role, blocks in turns if role == "user"][-2:]:
        blocks[-1] = {
            **blocks[-1],
            **_CACHE_HERE,
        }
    if request.directive.strip():
        add("user", [_text(request.directive)])
    return [{"role": role, "content": [*blocks]} for role, blocks in turns]


def _blocks(
    message: Message, accepted: frozenset[str], *, carry: bool
) -> Iterator[JsonObject]:
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            for attachment in attachments:
                yield _attachment(attachment, accepted)
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


def _assistant_blocks(
    message: AssistantMessage, *, carry: bool
) -> Iterator[JsonObject]:
    """Yield text, calls and carried blocks, each at its position; nothing for a message with thinking alone."""
    text = message.text
    calls = message.tool_calls
    if carry:
        blocks = [*carried_by(message, FORMAT)]
    else:
        blocks = []
    searches = [one for one in blocks if one.block.get("type") in OF_SEARCHES]
    if not text.strip() and not calls and not searches:
        return
    text_begin = call_begin = 0
    for carried in blocks:
        yield from _text_blocks(
            text[text_begin : carried.text], calls[call_begin : carried.calls]
        )
        yield carried.block
        text_begin = carried.text + carried.skip
        call_begin = carried.calls
    yield from _text_blocks(
        text[text_begin:],
        calls[call_begin:],
    )


def _text_blocks(
    text: str,
    calls: Sequence[ToolCall],
) -> Iterator[JsonObject]:
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
    return {
        "type": "text",
        "text": text,
    }


def _result(result: ToolResult) -> JsonObject:
    """Return a tool result. It may be empty, unless it is an error."""
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": sendable_call_id(result.call_id, _CALL_ID),
    }
    if result.content.strip():
        block["content"] = result.content
    if result.is_error:
        block.setdefault("content", "error")
        block["is_error"] = True
    return block


def _input(arguments: str) -> JsonObject:
    """Return the arguments of a call, an empty object if services would refuse them."""
    try:
        return as_object(parse_json(arguments))
    except ValueError:
        return {}


def _attachment(
    attachment: Attachment,
    accepted: frozenset[str],
) -> JsonObject:
    """Return an image or a PDF, and a note for anything else."""
    mime_type = attachment.mime_type.lower().replace(
        "image/jpg",
        "image/jpeg",
    )
    if mime_type not in accepted & ATTACHMENTS:
        return _text(attachment_note(attachment))
    source: JsonObject = {
        "type": "base64",
        "media_type": mime_type,
        "data": attachment.base64,
    }
    if mime_type != PDF:
        return {
            "type": "image",
            "source": source,
        }
    document: JsonObject = {
        "type": "document",
        "source": source,
    }
    if attachment.name.strip():
        document["title"] = attachment.name
    return document


class _ContentBlock(WireModel, frozen=True, extra="allow"):
    """A part of a message: its start in a stream, or complete. Unknown fields are kept."""

    type: str
    """`text`, `thinking`, `redacted_thinking`, `tool_use`, or a type of server-side tools."""
    text: str | None = None
    thinking: Lenient[str] = None
    signature: Lenient[str] = None
    id: Lenient[str] = None
    name: Lenient[str] = None
    input: AnyJson = None
    """A call's arguments; an empty object where they are streamed."""
    tool_use_id: Lenient[str] = None
    content: AnyJson = None
    """The pages that a search has found, or an error."""

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


class _UsageReport(TokenCounts):
    """Token counts so far; `input_tokens` excludes the cached ones."""

    cached_tokens: Annotated[Count, at("cache_read_input_tokens")] = None
    cache_creation_input_tokens: Count = None
    reasoning_tokens: Annotated[Count, at("output_tokens_details.thinking_tokens")] = (
        None
    )

    @override
    def usage(self) -> Usage:
        counts = (
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cached_tokens,
        )
        return TokenCounts.usage(
            self.model_copy(
                update={"input_tokens": sum(count or 0 for count in counts)}
            )
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
_FOUND: Final[TypeAdapter[list[FoundPage] | None]] = TypeAdapter(
    Lenient[list[FoundPage]]
)


@dataclass(slots=True, eq=False)
class _OpenBlock:
    """A content block that is being written, and its position in the message."""

    begun: _ContentBlock
    text: int
    """Characters of text before it."""
    calls: int
    """Calls before it: the number of a call."""
    skip: int = 0
    thinking: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    """Those of a search."""
    length: int = 0
    has_arguments: bool = False
    """Whether arguments were streamed."""
    ended: bool = False

    def add(
        self,
        thinking: str,
        signature: str,
        arguments: str,
    ) -> None:
        """Append a piece of the thinking, of the signature, or of the arguments of a search."""
        self.thinking.append(thinking)
        self.signature.append(signature)
        self.arguments.append(arguments)
        self.length += len(thinking) + len(signature) + len(arguments)
        if self.length > MAX_BLOCK_CHARACTERS:
            raise ProviderReplyInvalid(
                f"the service sent a block of more than {MAX_BLOCK_CHARACTERS} characters"
            )

    def carried(self) -> CarriedBlock:
        """Return the complete block, as it is to be sent back."""
        block = self.begun.as_sent()
        if self.begun.type == "thinking":
            block["thinking"] = (self.begun.thinking or "") + "".join(self.thinking)
        signature = (self.begun.signature or "") + "".join(self.signature)
        if signature:
            block["signature"] = signature
        written = "".join(self.arguments)
        if written:
            block["input"] = _input(written)
        return CarriedBlock(
            block,
            self.text,
            self.calls,
            self.skip,
        )


class AnthropicReplyReader(ReplyReader):
    """Reads the events of a stream, or a whole message."""

    def __init__(
        self, transcript: Transcript, new_id: Callable[[], str] = new_call_id
    ) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        super().__init__(transcript, new_id)
        self._blocks: list[_OpenBlock] = []
        self._by_index: dict[int, _OpenBlock] = {}
        self._ended_blocks = 0
        """Blocks of the messages that searches have ended."""
        self._text_is_open = False
        self._ends_with_space = True

    @override
    def _read(self, sent: str | bytes) -> Events:
        event = parse_as(
            _EVENT,
            sent,
            "an answer",
        )
        if event.error is not None:
            raise ReportedFailure(event.error)
        match event.type:
            case "message_start" if event.message is not None:
                self._count(event.message.usage)
            case "content_block_start" if event.content_block is not None:
                yield from self._begin(event.content_block, event.index)
            case "content_block_delta" if event.delta is not None:
                yield from self._add(event.delta, event.index)
            case "content_block_stop":
                yield from self._end_block(self._find(event.index))
            case "message_delta":
                self._count(event.usage)
                yield from self._end_message(
                    event.delta.stop_reason if event.delta else None
                )
            case "message_stop":
                self.done = True
                yield from self._end_message(_NO_REASON)
            case "message":
                self._count(event.usage)
                for index, block in enumerate(event.content or []):
                    yield from self._begin(block, index)
                    yield from self._end_block(self._find(index))
                yield from self._end_message(event.stop_reason)
            case _:  # ping, and additions of later versions
                pass

    @override
    def _provider_items(self) -> Iterator[ProviderItem]:
        for block in self._blocks[self._ended_blocks :]:
            if block.begun.type in _CARRIED_TYPES:
                yield block.carried().as_item(FORMAT)

    def _count(self, report: _UsageReport | None) -> None:
        """Note token counts. They are running totals, so smaller values are ignored."""
        if report is not None:
            totals = attrgetter(
                "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"
            )
            self._usage = Usage(
                *map(
                    max,
                    totals(self._usage),
                    totals(report.usage()),
                    strict=True,
                )
            )

    def _begin(
        self,
        block: _ContentBlock,
        index: int | None,
    ) -> Events:
        if len(self._blocks) >= MAX_BLOCKS:
            raise ProviderReplyInvalid(
                f"the service sent more than {MAX_BLOCKS} blocks in one message"
            )
        begun = _OpenBlock(
            block,
            self._text_length,
            self._calls_begun,
        )
        self._blocks.append(begun)
        if index is not None:
            self._by_index[index] = begun
        self._text_is_open = self._text_is_open and block.type == "text"
        if block.type == "tool_use":
            self._calls_begun += 1
            name = sendable_name(plain_tool_name(block.name or ""))
            yield from self._call(CallFragment(begun.calls, block.id or "", name, ""))
        yield from self._say(block.text)
        yield from self._reasoning(block.thinking)

    def _add(
        self,
        delta: _Delta,
        index: int | None,
    ) -> Events:
        yield from self._say(delta.text)
        yield from self._reasoning(delta.thinking)
        block = self._find(index)
        if block is None:
            if delta.partial_json:
                raise ProviderReplyInvalid(
                    "the service sent a piece of a call that it had not begun"
                )
            return
        is_search = block.begun.type == _SEARCH_USE
        wanted = delta.partial_json if is_search else ""
        block.add(
            delta.thinking or "",
            delta.signature or "",
            wanted or "",
        )
        if delta.partial_json and block.begun.type == "tool_use":
            block.has_arguments = (
                block.has_arguments or not delta.partial_json.isspace()
            )
            yield from self._call(CallFragment(block.calls, "", "", delta.partial_json))

    def _find(self, index: int | None) -> _OpenBlock | None:
        """Return the block of an index; the last one if the event has none."""
        if index is not None:
            return self._by_index.get(index)
        if self._blocks:
            return self._blocks[-1]
        return None

    def _end_block(self, block: _OpenBlock | None) -> Events:
        """End a block. The arguments of a call came in pieces, else with its start."""
        if block and not block.ended and block.begun.type == _SEARCH_RESULT:
            block.ended = True
            yield from self._end_search(block.begun)
        elif block is not None and not block.ended and block.begun.type == "tool_use":
            if block.has_arguments or not block.begun.input:
                arguments = ""
            else:
                arguments = arguments_text(block.begun.input)
            yield from self._call(
                CallFragment(
                    block.calls,
                    "",
                    "",
                    arguments,
                    ended=True,
                )
            )
            block.ended = True

    def _end_search(self, result: _ContentBlock) -> Events:
        """Yield a search. That of an earlier request, which a call of ours has interrupted, has no query here."""
        searches = (
            block.carried().block
            for block in self._blocks
            if block.begun.type == _SEARCH_USE and block.begun.id == result.tool_use_id
        )
        wanted = next(searches, {}).get("input")
        found = _FOUND.validate_python(result.content)
        yield from self._searched(
            result.tool_use_id or "",
            as_object(wanted),
            found or [],
            failed=found is None,
        )

    @override
    def _items_of_ended(self) -> tuple[ProviderItem, ...]:
        items = tuple(self._provider_items())
        self._ended_blocks = len(self._blocks)
        self._text_length = 0
        self._text_is_open = False
        self._ends_with_space = True
        return items

    def _end_message(self, reason: str | None) -> Events:
        self._finish = self._finish or reason or ""
        for block in self._blocks if self.finished else ():
            yield from self._end_block(block)

    def _say(self, text: str | None) -> Events:
        """Yield text, separated from earlier text where another block came between them."""
        if not text:
            return
        if not (self._text_is_open or self._ends_with_space or text[0].isspace()):
            carried = [
                block
                for block in self._blocks[self._ended_blocks :]
                if block.begun.type in _CARRIED_TYPES
            ]
            if carried and carried[-1].text == self._text_length:
                carried[-1].skip = len(_GAP)
            text = _GAP + text
        self._text_is_open = True
        self._ends_with_space = text[-1].isspace()
        yield from self._text(text)

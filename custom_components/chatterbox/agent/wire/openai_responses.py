"""OpenAI's Responses format: requests to JSON, and replies, streamed or whole, to events.

Sources: OpenAI API reference, "Create a model response" and "Streaming events", and its
guides on reasoning and on conversation state; the OpenResponses specification, schema
of 2026-04-24; recorded bytes of llama.cpp.

Nothing is stored at the service (`store: false`): each request holds the whole
conversation, encrypted reasoning included, each item of it before the item that it led
to. A request is deterministic and has nothing volatile before its last message, so the
prefix of a conversation stays cached.

OpenAI locates each event by the index of its item and by the item's id. Other servers
omit one of them, or end all items at the end of the stream; so an item is found by
whatever is there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, assert_never, override

from pydantic import JsonValue as AnyJson, TypeAdapter, model_validator

from ..errors import ProviderReplyInvalid
from ..json.text import objects_in, sendable_arguments
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
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
    described_tools,
)
from ..protocols import CompletionRequest
from ..text import attachment_note, sendable_call_id, sendable_name
from .call_assembly import CallFragment, new_call_id
from .carried_blocks import CarriedBlock, carried_by
from .output_schema import openai_output
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

FORMAT: Final = "openai_responses"
"""Name of the format in provider items."""
ATTACHMENTS: Final = IMAGE_TYPES | {PDF}
"""MIME types that the format can carry."""
MAX_ITEMS: Final = 1_000
"""Items in one reply."""

_CALL_ID: Final = ".{1,64}"
_PLAIN_ITEMS: Final = frozenset({"message", "function_call", "function_call_output"})
_CALL: Final = "function_call"
_MESSAGE: Final = "message"
_SEARCH: Final = "web_search_call"
_SOURCES: Final = "web_search_call.action.sources"
_GAP: Final = "\n\n"
"""Separates two messages of one reply, and two paragraphs of reasoning."""
_REASONING_DELTAS: Final = frozenset(
    {
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning.delta",  # OpenResponses
    }
)


def request_to_payload(
    request: CompletionRequest,
    model: str,
    *,
    attachments: frozenset[str] = ATTACHMENTS,
    output_beside_tools: bool = True,
    search_tool: str = "",
) -> JsonObject:
    """Return the body of `POST /responses`. Attachments of other MIME types than `attachments` become a note.

    `output_beside_tools` allows tools and a structured output in one request.
    `search_tool` is the type of the service's own tool that searches the web.
    """
    payload: JsonObject = {
        "model": model,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.instructions:
        payload["instructions"] = request.instructions
    if request.tools:
        # Few schemas of tools meet the demands of strict ones.
        payload["tools"] = [
            {"type": "function", **tool, "strict": False}
            for tool in described_tools(request.tools)
        ]
        payload["parallel_tool_calls"] = (
            request.options.parallel_tool_calls
        )  # llama.cpp defaults to false
    if request.searches and search_tool:
        tools = payload.get("tools", [])
        payload["tools"] = [*objects_in(tools), {"type": search_tool}]
        payload["max_tool_calls"] = request.searches  # of the service's own tools
        payload["include"] = ["reasoning.encrypted_content", _SOURCES]
    payload["input"] = list(_input(request, model, attachments))
    if request.tools and request.tool_choice is not ToolChoiceMode.AUTO:
        payload["tool_choice"] = _tool_choice(request)
    output = request.enforced_output(beside_tools=output_beside_tools)
    if output is not None:
        payload["text"] = {
            "format": {
                "type": "json_schema",
                **openai_output(output),
            }
        }
    return payload


def without_carried_items(payload: JsonObject) -> JsonObject:
    """Return a payload without items that only their service can read, such as encrypted reasoning."""
    match payload.get("input"):
        case list(items):
            plain: list[JsonValue] = [
                item
                for item in items
                if isinstance(item, dict) and item.get("type") in _PLAIN_ITEMS
            ]
            return {
                **payload,
                "input": plain,
            }
        case _:
            return payload


def carried(
    item: JsonObject,
    model: str,
) -> JsonObject | None:
    """Return an item of a reply as a transcript stores it; None if it need not be sent back.

    Reasoning that is neither encrypted nor in plain text would have to be stored at the
    service.
    """
    rest: JsonObject = {
        name: value
        for name, value in item.items()
        if name != "status" and value not in (None, "", [])
    }
    if item.get("type") == _SEARCH:
        action = item.get("action")
        rest["status"] = item.get("status") or "completed"  # required
        rest["action"] = (
            {name: value for name, value in action.items() if name != "sources"}
            if isinstance(action, dict)
            else action
        )
    if item.get("type") == "reasoning":
        if not rest.keys() & {"encrypted_content", "content"}:
            return None
        rest["summary"] = item.get("summary") or []  # required, even if empty
    return {
        "model": model,
        "item": rest,
    }


def _input(
    request: CompletionRequest, model: str, attachments: frozenset[str]
) -> Iterator[JsonValue]:
    for message in request.transcript:
        yield from _items(
            message,
            model,
            attachments,
        )
    if request.directive:
        yield _said_by_user([_input_text(request.directive)])


def _items(
    message: Message, model: str, attachments: frozenset[str]
) -> Iterator[JsonObject]:
    match message:
        case UserMessage(attachments=files, prompt=prompt):
            yield _said_by_user(list(_parts(prompt, files, attachments)))
        case AssistantMessage():
            yield from _assistant_items(message, model)
        case ToolResult(call_id=call_id, content=content):
            yield {
                "type": "function_call_output",
                "call_id": sendable_call_id(call_id, _CALL_ID),
                "output": content,
            }
        case _:
            assert_never(message)


def _said_by_user(parts: list[JsonValue]) -> JsonObject:
    return {
        "type": "message",
        "role": "user",
        "content": parts,
    }


def _parts(
    text: str, files: Sequence[Attachment], attachments: frozenset[str]
) -> Iterator[JsonValue]:
    if text or not files:
        yield _input_text(text)
    for attachment in files:
        if attachment.mime_type not in attachments:
            yield _input_text(attachment_note(attachment))
        elif attachment.mime_type in IMAGE_TYPES:
            yield {
                "type": "input_image",
                "image_url": attachment.data_url,
                "detail": "auto",
            }
        else:
            yield {
                "type": "input_file",
                "filename": attachment.name or "document",
                "file_data": attachment.data_url,
            }


def _input_text(text: str) -> JsonObject:
    return {
        "type": "input_text",
        "text": text,
    }


def _assistant_items(
    message: AssistantMessage,
    model: str,
) -> Iterator[JsonObject]:
    """Yield text, calls and carried items, each at its position.

    Items of another model are left out, and so is reasoning that nothing follows, which
    services refuse.
    """
    items: list[JsonObject] = []
    text = message.text
    calls = message.tool_calls
    phase = ""
    text_begin = call_begin = 0
    for block in carried_by(message, FORMAT):
        items += _message_items(
            text[text_begin : block.text], calls[call_begin : block.calls], phase
        )
        text_begin = block.text + block.skip
        call_begin = block.calls
        match block.block:
            case {"item": {"type": "message", "phase": str(phase)}}:
                pass
            case {"model": by, "item": dict(item)} if by == model:
                items.append(item)
            case _:
                pass
    items += _message_items(
        text[text_begin:],
        calls[call_begin:],
        phase,
    )
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    yield from items


def _message_items(
    text: str, calls: Sequence[ToolCall], phase: str
) -> Iterator[JsonObject]:
    if text.strip():
        parts: JsonValue = [{"type": "output_text", "text": text}]
        item: JsonObject = {
            "type": "message",
            "role": "assistant",
            "content": parts,
        }
        yield {**item, "phase": phase} if phase else item
    for call in calls:
        yield {
            "type": "function_call",
            "call_id": sendable_call_id(call.id, _CALL_ID),
            "name": sendable_name(call.name),
            "arguments": sendable_arguments(call.arguments),
        }


def _tool_choice(request: CompletionRequest) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name):
            return {
                "type": "function",
                "name": name,
            }
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)


class _ContentPart(WireModel):
    """A part of a message: text or a refusal."""

    text: Lenient[str] = None
    refusal: Lenient[str] = None


class _SearchAction(WireModel):
    """The words of a search, or the page that was opened."""

    query: Lenient[str] = None
    queries: Lenient[list[str]] = None
    url: Lenient[str] = None
    sources: Lenient[list[FoundPage]] = None


class _OutputItem(WireModel):
    """One item of the output, complete or begun. The fields after `id` belong to messages and calls."""

    sent: JsonObject
    """The item as it was sent."""
    type: str
    id: Lenient[str] = None
    content: Lenient[str | list[_ContentPart]] = None
    phase: Lenient[str] = None
    """Whether a message is the answer or a comment before it; it has to be sent back."""
    call_id: Lenient[str] = None
    name: Lenient[str] = None
    arguments: AnyJson = None
    """JSON text; some servers send the object itself."""
    status: Lenient[str] = None
    action: Lenient[_SearchAction] = None
    """Of a search, like the status."""

    @model_validator(mode="before")
    @classmethod
    def _keep(cls, value: object) -> object:
        if isinstance(value, dict):
            return {
                **value,
                "sent": value,
            }
        return value

    def text(self) -> str:
        """Return the text of a message."""
        if isinstance(self.content, list):
            text = ""
            for piece in (part.text or part.refusal or "" for part in self.content):
                text += _gap_between(text, piece) + piece
            return text
        return self.content or ""


def _gap_between(text: str, part: str) -> str:
    """Return a space if a part of a message begins with a letter after the end of a sentence."""
    if text.endswith((".", "!", "?", "…")) and part[:1].isalpha():
        return " "
    return ""


class _UsageReport(TokenCounts):
    cached_tokens: Annotated[Count, at("input_tokens_details.cached_tokens")] = None
    reasoning_tokens: Annotated[Count, at("output_tokens_details.reasoning_tokens")] = (
        None
    )


class _Response(WireModel):
    """A response, complete or partial."""

    status: Lenient[str] = None
    output: list[_OutputItem] | None = None
    error: AnyJson = None
    incomplete_reason: Annotated[Lenient[str], at("incomplete_details.reason")] = None
    usage: Lenient[_UsageReport] = None

    @property
    def reported_error(self) -> JsonValue:
        """The failure that the service reports, else None."""
        if self.error:
            return self.error
        if self.status in {"failed", "cancelled"}:
            return f"the response ended as {self.status}"
        return None


class _StreamEvent(WireModel):
    """One event of a stream; its type decides which fields it has."""

    type: Lenient[str] = None
    item_id: Lenient[str] = None
    output_index: Lenient[int] = None
    summary_index: Lenient[int] = None
    content_index: Lenient[int] = None
    item: _OutputItem | None = None
    delta: AnyJson = None
    arguments: AnyJson = None
    response: _Response | None = None

    error: AnyJson = None
    code: AnyJson = None
    message: AnyJson = None

    @property
    def piece(self) -> str:
        """The text that the event adds. Raises `ProviderReplyInvalid` if it is none."""
        if not isinstance(self.delta, str):
            raise ProviderReplyInvalid(
                "the service sent an answer of the wrong shape, at delta"
            )
        return self.delta

    @property
    def reported_error(self) -> JsonValue:
        """The failure that the service reports, else None: under `error` or, from OpenAI, beside the type."""
        if self.error:
            return self.error
        if self.type == "error":
            return {
                "code": self.code,
                "message": self.message,
            }
        if self.response:
            return self.response.reported_error
        return None


_EVENT: Final = TypeAdapter(_StreamEvent)
_RESPONSE: Final = TypeAdapter(_Response)


@dataclass(slots=True, eq=False)
class _OpenItem:
    """An item of the output, and its position."""

    type: str
    id: str
    index: int | None
    text: int
    """Characters of text before it."""
    calls: int
    """Calls before it: the number of a call."""
    call_id: str = ""
    name: str = ""
    skip: int = 0
    """Characters of the gap before a message."""
    written: bool = False
    """Whether its text or arguments were streamed."""
    whole: _OutputItem | None = None

    def has_id(self, item_id: str | None) -> bool:
        return bool(item_id) and item_id in {self.id, self.call_id}


class ResponsesReplyReader(ReplyReader):
    """Reads the events of a stream, or a whole response."""

    def __init__(
        self,
        transcript: Transcript,
        model: str,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """Keep the ids of new calls apart from those of `transcript`; `model` is the one that answers."""
        super().__init__(transcript, new_id)
        self._model = model
        self._items: list[_OpenItem] = []
        self._speaking: _OpenItem | None = None
        self._ended_items = 0
        """Items of the messages that searches have ended."""
        self._in_pieces = False
        self._part: int | None = None
        """Index of the part of the message that was written last."""
        self._last_piece = ""

    @override
    def read_whole(self, text: str) -> Events:
        response = parse_as(
            _RESPONSE,
            text,
            "an answer",
        )
        reported = response.reported_error
        if reported is not None:
            raise ReportedFailure(reported)
        if response.status in {"completed", "incomplete"}:
            yield from self._end_all(
                response,
                completed=response.status == "completed",
            )

    @override
    def _read(self, sent: str | bytes) -> Events:
        event = parse_as(_EVENT, sent, "an answer")
        reported = event.reported_error
        if reported is not None:
            raise ReportedFailure(reported)
        match event.type:
            case "response.output_item.added" if event.item:
                yield from self._begin(event.item, event.output_index)
            case "response.output_text.delta" | "response.refusal.delta":
                self._in_pieces = True
                self._declines = (
                    self._declines or event.type == "response.refusal.delta"
                )
                index = event.output_index
                item_id = event.item_id
                message = self._locate(
                    _MESSAGE,
                    index,
                    item_id,
                    or_newest=True,
                )
                message = message or self._open(_MESSAGE, item_id, index)
                yield from self._say(
                    event.piece,
                    message,
                    event.content_index,
                )
            case (
                "response.function_call_arguments.delta"
                | "response.function_call_arguments.done"
            ):
                yield from self._add_arguments(event)
            case "response.output_item.done" if event.item:
                yield from self._end(
                    event.item,
                    event.output_index,
                    may_begin=True,
                )
            case "response.completed" | "response.incomplete" if event.response:
                yield from self._end_all(
                    event.response, completed=event.type == "response.completed"
                )
            case str(kind) if kind in _REASONING_DELTAS:
                yield from self._reasoning(event.piece)
            case "response.reasoning_summary_part.added" if event.summary_index:
                yield from self._reasoning(_GAP)
            case _:
                pass

    def _begin(
        self,
        item: _OutputItem,
        index: int | None,
    ) -> Events:
        begun = self._locate(item.type, index, item.call_id, item.id) or self._open(
            item.type, item.id, index
        )
        if item.type == _CALL:
            yield from self._write_call(
                begun,
                item,
                "",
            )

    def _say(
        self,
        text: str,
        message: _OpenItem,
        part: int | None = None,
    ) -> Events:
        if not text:
            return
        if message is not self._speaking:
            self._speaking = message
            message.text = self._text_length
            if self._text_length:
                message.skip = len(_GAP)
                text = _GAP + text
        elif part != self._part:
            text = _gap_between(self._last_piece, text) + text
        self._part, self._last_piece = part, text
        yield from self._text(text)

    def _add_arguments(self, event: _StreamEvent) -> Events:
        """Add a piece or all of the arguments. Those of an unknown call are repeated at its end."""
        call = self._locate(
            _CALL,
            event.output_index,
            event.item_id,
            or_newest=True,
        )
        if call is None:
            return
        if event.type == "response.function_call_arguments.delta":
            yield from self._write_call(
                call,
                None,
                event.piece,
            )
        elif not call.written:
            yield from self._write_call(
                call,
                None,
                arguments_text(event.arguments),
            )

    def _end(
        self,
        item: _OutputItem,
        index: int | None,
        *,
        may_begin: bool,
    ) -> Events:
        ended = self._locate(
            item.type,
            index,
            item.call_id,
            item.id,
        )
        if ended is None:
            if not may_begin:
                return
            ended = self._open(
                item.type,
                item.id,
                index,
            )
        if ended.whole is not None:
            return
        ended.whole = item
        if isinstance(item.content, list):
            parts = item.content
        else:
            parts = []
        self._declines = self._declines or any(part.refusal for part in parts)
        if item.type == _CALL:
            yield from self._write_call(
                ended, item, "" if ended.written else arguments_text(item.arguments)
            )
        elif item.type == _MESSAGE and not self._in_pieces:
            yield from self._say(item.text(), ended)
        elif item.type == _SEARCH:
            yield from self._end_search(item)

    def _end_search(self, item: _OutputItem) -> Events:
        action = item.action or _SearchAction()
        query = action.query or ", ".join(action.queries or [])
        wanted: JsonObject = {"url": action.url} if action.url else {"query": query}
        found = action.sources or [FoundPage(url=action.url)]
        failed = item.status == "failed"
        yield from self._searched(
            item.id or "",
            wanted,
            found,
            failed=failed,
        )

    @override
    def _items_of_ended(self) -> tuple[ProviderItem, ...]:
        items = tuple(self._provider_items())
        self._ended_items, self._text_length = len(self._items), 0
        return items

    def _end_all(
        self,
        response: _Response,
        *,
        completed: bool,
    ) -> Events:
        """End the response. Some servers list items here that the stream did not mention."""
        known = {item.type for item in self._items}
        for index, item in enumerate(response.output or []):
            yield from self._end(
                item,
                index,
                may_begin=item.type not in known,
            )
        yield from self._ready(self._calls.finish())
        if response.usage is not None:
            self._usage = response.usage.usage()
        if completed:
            self._finish = "completed"
        else:
            self._finish = response.incomplete_reason or "incomplete"
        self.done = True

    def _write_call(
        self, call: _OpenItem, item: _OutputItem | None, arguments: str
    ) -> Events:
        if item is not None:
            call.call_id = call.call_id or item.call_id or item.id or ""
            call.name = call.name or item.name or ""
        call.written = call.written or bool(arguments)
        yield from self._call(
            CallFragment(
                call.calls,
                call.call_id,
                call.name,
                arguments,
            )
        )

    def _open(
        self,
        kind: str,
        item_id: str | None,
        index: int | None,
    ) -> _OpenItem:
        if len(self._items) >= MAX_ITEMS:
            raise ProviderReplyInvalid(
                f"the service sent more than {MAX_ITEMS} items in one reply"
            )
        item = _OpenItem(
            kind, item_id or "", index, self._text_length, self._calls_begun
        )
        self._items.append(item)
        self._calls_begun += kind == _CALL
        return item

    def _locate(
        self, kind: str, index: int | None, *ids: str | None, or_newest: bool = False
    ) -> _OpenItem | None:
        """Return the item with one of the ids, else the open one at the index, else, without both, the newest one."""
        same = [item for item in reversed(self._items) if item.type == kind]
        named = next(
            (item for item in same if any(map(item.has_id, ids))),
            None,
        )
        if named is not None:
            return named
        still_open = [item for item in same if item.whole is None]
        if index is not None:
            return next(
                (item for item in still_open if item.index == index),
                None,
            )
        if or_newest and not any(ids):
            return next(iter(still_open), None)
        return None

    @override
    def _provider_items(self) -> Iterator[ProviderItem]:
        phase = ""
        for item in self._items[self._ended_items :]:
            if item.whole is None or item.type == _CALL:
                continue
            block = carried(item.whole.sent, self._model)
            if item.type == _MESSAGE:
                before, phase = phase, item.whole.phase or ""
                if before or phase:
                    block = {
                        "model": self._model,
                        "item": {
                            "type": _MESSAGE,
                            "phase": phase,
                        },
                    }
                else:
                    block = None
            if block is not None:
                yield CarriedBlock(block, item.text, item.calls, item.skip).as_item(
                    FORMAT
                )

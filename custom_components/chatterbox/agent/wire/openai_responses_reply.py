"""The Responses format, a reply: a stream's events, or a whole response → our events.

Knows the format and its dialects; must not know connections, nor who asked. The way there
stands in `openai_responses.py`.
Sources: OpenAI API reference, "Streaming events"; the OpenResponses specification, schema of
2026-04-24; recorded bytes of llama.cpp.

OpenAI places each event by the index of its item and by the item's id. Other servers leave
out one or the other, give one item several ids, or end all items at the end of the stream:
so an item is found by whatever is there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..messages import FinishReason, JsonValue, ProviderItem, ToolCall, Transcript, Usage, canonical_json
from .call_assembly import CallAssembler, CallFragment
from .carried_blocks import CarriedBlock
from .openai_responses import FORMAT, carried
from .openai_responses_schema import OutputItem, Response, StreamEvent
from .sendable import call_ids, new_call_id, sendable_text

MAX_ITEMS: Final = 1_000
"""Items in one reply, far beyond what any model writes."""

_BETWEEN_MESSAGES: Final = "\n\n"
"""Between two messages of one reply, so that their sentences do not run into each other."""
_BETWEEN_PARAGRAPHS: Final = "\n\n"

_THOUGHTS: Final = frozenset(
    {
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning.delta",  # OpenResponses
    }
)

_INCOMPLETE: Final = {
    "max_output_tokens": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


_CALL: Final = "function_call"
_MESSAGE: Final = "message"


@dataclass(slots=True, eq=False)
class _Item:
    """An item of the output, and what came before it."""

    type: str
    id: str
    index: int | None
    text: int
    """Characters of text before it."""
    calls: int
    """Calls before it: for a call, its number."""
    call_id: str = ""
    name: str = ""
    skip: int = 0
    """Characters that we put before a message."""
    written: bool = False
    """True once its text, or its arguments, came in pieces."""
    whole: OutputItem | None = None

    def is_called(self, item_id: str | None) -> bool:
        return bool(item_id) and item_id in {self.id, self.call_id}


class ReplyReader:
    """Turns the events of one reply into ours."""

    def __init__(self, transcript: Transcript, model: str, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`; `model` is the one that answers."""
        self._model = model
        self._assembler = CallAssembler(call_ids(transcript), new_id)
        self._items: list[_Item] = []
        self._speaking: _Item | None = None
        self._in_pieces = False
        self._text_length = 0
        self._calls_begun = 0
        self._has_calls = False
        self._finish: FinishReason | None = None
        self._usage = Usage()

    @property
    def finished(self) -> bool:
        """True once the service said that the response is over."""
        return self._finish is not None

    def read(self, event: StreamEvent) -> Iterator[ProviderEvent]:
        """Yield what an event brings: reasoning, text, and each call as soon as it is whole.

        Raises `ProviderReplyInvalid` for a reply beyond all bounds, or for a piece that is no text.
        """
        match event.type:
            case "response.output_item.added" if event.item:
                yield from self._begin(event.item, event.output_index)
            case "response.output_text.delta" | "response.refusal.delta":
                self._in_pieces = True
                yield from self._say(event.piece, self._message_of(event))
            case "response.function_call_arguments.delta" | "response.function_call_arguments.done":
                yield from self._add_arguments(event)
            case "response.output_item.done" if event.item:
                yield from self._end(event.item, event.output_index, may_begin=True)
            case "response.completed" | "response.incomplete" if event.response:
                yield from self._end_all(event.response, completed=event.type == "response.completed")
            case str(other):
                yield from _thoughts(other, event)
            case _:
                pass

    def say_on(self, item_id: str, text: str) -> TextDelta | None:
        """Take the next piece of the message that is being said; None where that may be another one."""
        said = self._speaking
        if text and said is not None and said is self._items[-1] and said.whole is None and said.is_called(item_id):
            self._text_length += len(text)
            return TextDelta(text)
        return None

    def read_whole(self, response: Response) -> Iterator[ProviderEvent]:
        """Yield what a whole response brings; nothing where it is not over. Raises as `read` does."""
        if response.status in {"completed", "incomplete"}:
            yield from self._end_all(response, completed=response.status == "completed")

    def end(self) -> Iterator[ProviderEvent]:
        """Yield the `CompletionResult`. To be called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the service never said that it was finished.
        """
        if self._finish is None:
            raise ProviderReplyInvalid("the reply ended before the service said that it was finished")
        yield CompletionResult(self._finish, self._usage, tuple(self._provider_items()))

    def _begin(self, item: OutputItem, index: int | None) -> Iterator[ProviderEvent]:
        begun = self._named(item) or self._open(item.type, item.id, index)
        if item.type == _CALL:
            yield from self._write_call(begun, item, "")

    def _say(self, piece: str, message: _Item) -> Iterator[ProviderEvent]:
        if not (text := sendable_text(piece)):
            return
        if message is not self._speaking:
            self._speaking, message.text = message, self._text_length
            if self._text_length:
                message.skip = len(_BETWEEN_MESSAGES)
                text = _BETWEEN_MESSAGES + text
        message.written = True
        self._text_length += len(text)
        yield TextDelta(text)

    def _add_arguments(self, event: StreamEvent) -> Iterator[ProviderEvent]:
        """Add a piece, or all of the arguments. Those of an unknown call come once more when it is whole."""
        if (call := self._call_of(event)) is None:
            return
        if event.type == "response.function_call_arguments.delta":
            yield from self._write_call(call, None, event.piece)
        elif not call.written:
            yield from self._write_call(call, None, _arguments_text(event.arguments))

    def _end(self, item: OutputItem, index: int | None, *, may_begin: bool) -> Iterator[ProviderEvent]:
        ended = self._find(item, index)
        if ended is None:
            if not may_begin:
                return
            ended = self._open(item.type, item.id, index)
        if ended.whole is not None:
            return
        ended.whole = item
        if item.type == _CALL:
            yield from self._write_call(ended, item, "" if ended.written else _arguments_text(item.arguments))
        elif item.type == _MESSAGE and not self._in_pieces:
            yield from self._say(item.text(), ended)

    def _end_all(self, response: Response, *, completed: bool) -> Iterator[ProviderEvent]:
        """End the response. Items of a kind that the stream never mentioned are only known from here."""
        known = {item.type for item in self._items}
        for index, item in enumerate(response.output or []):
            yield from self._end(item, index, may_begin=item.type not in known)
        yield from self._ready(self._assembler.finish())
        if response.usage is not None:
            self._usage = response.usage.usage()
        if completed:
            self._finish = FinishReason.TOOL_CALLS if self._has_calls else FinishReason.STOP
        else:
            reason = response.incomplete_details.reason if response.incomplete_details else None
            self._finish = _INCOMPLETE.get(reason or "", FinishReason.UNKNOWN)

    def _write_call(self, call: _Item, item: OutputItem | None, arguments: str) -> Iterator[ProviderEvent]:
        if item is not None:
            call.call_id = call.call_id or item.call_id or item.id or ""
            call.name = call.name or sendable_text(item.name or "")
        call.written = call.written or bool(arguments)
        fragment = CallFragment(call.calls, call.call_id, call.name, sendable_text(arguments))
        yield from self._ready(self._assembler.add([fragment]))

    def _ready(self, calls: list[ToolCall]) -> list[ToolCallReady]:
        self._has_calls = self._has_calls or bool(calls)
        return [ToolCallReady(call) for call in calls]

    def _open(self, kind: str, item_id: str | None, index: int | None) -> _Item:
        if len(self._items) >= MAX_ITEMS:
            raise ProviderReplyInvalid(f"the service sent more than {MAX_ITEMS} items in one reply")
        item = _Item(kind, item_id or "", index, self._text_length, self._calls_begun)
        self._items.append(item)
        self._calls_begun += kind == _CALL
        return item

    def _find(self, item: OutputItem, index: int | None) -> _Item | None:
        """Return the begun item that `item` is: by its ids, else by its place; a message, else the newest open one."""
        if (named := self._named(item)) is not None:
            return named
        same = (begun for begun in reversed(self._items) if begun.type == item.type and begun.whole is None)
        still_open = [begun for begun in same if begun.name == (item.name or "")]
        in_place = (begun for begun in still_open if index is not None and begun.index == index)
        newest = still_open[0] if still_open and item.type == _MESSAGE else None
        return next(in_place, newest)

    def _named(self, item: OutputItem) -> _Item | None:
        same = (begun for begun in self._items if begun.type == item.type)
        return next((begun for begun in same if begun.is_called(item.call_id) or begun.is_called(item.id)), None)

    def _message_of(self, event: StreamEvent) -> _Item:
        """Return the message that a piece belongs to: if none is called so, one without words yet, or a new one."""
        if (placed := self._placed(event, _MESSAGE)) is not None:
            return placed
        silent = (item for item in self._items if item.type == _MESSAGE and not (item.written or item.whole))
        if (begun := next(silent, None)) is None:
            return self._open(_MESSAGE, event.item_id, event.output_index)
        begun.id = event.item_id or begun.id
        return begun

    def _call_of(self, event: StreamEvent) -> _Item | None:
        return self._placed(event, _CALL)

    def _placed(self, event: StreamEvent, kind: str) -> _Item | None:
        """Return the open item that an event belongs to: by its id, else by its place, else the newest."""
        newest_first = [item for item in reversed(self._items) if item.type == kind and item.whole is None]
        by_id = (item for item in newest_first if item.is_called(event.item_id))
        by_place = (item for item in newest_first if item.index == event.output_index)
        if (found := next(by_id, None)) is not None:
            return found
        if event.output_index is not None:
            return next(by_place, None)
        return None if event.item_id else next(iter(newest_first), None)

    def _provider_items(self) -> Iterator[ProviderItem]:
        phase = ""
        for item in self._items:
            if item.whole is None or item.type == _CALL:
                continue
            block = carried(item.whole.sent, self._model)
            if item.type == _MESSAGE:
                before, phase = phase, item.whole.phase or ""
                block = {"model": self._model, "item": {"type": _MESSAGE, "phase": phase}} if before or phase else None
            if block is not None:
                yield CarriedBlock(block, item.text, item.calls, item.skip).as_item(FORMAT)


def _thoughts(kind: str, event: StreamEvent) -> Iterator[ProviderEvent]:
    if kind in _THOUGHTS:
        if thoughts := sendable_text(event.piece):
            yield ReasoningDelta(thoughts)
    elif kind == "response.reasoning_summary_part.added" and event.summary_index:
        yield ReasoningDelta(_BETWEEN_PARAGRAPHS)


def _arguments_text(arguments: JsonValue) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else canonical_json(arguments)

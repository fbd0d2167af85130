"""The Messages format, a reply: a stream's events, or a whole message → our events.

Knows the format and its dialects; must not know connections, nor who asked. The way there
stands in `anthropic_messages.py`.
Sources: Claude API guides "Streaming messages", "Stop reasons and fallback" and "Fine-grained
tool streaming".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..errors import PromptTooLong, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..messages import FinishReason, ToolCall, Transcript, canonical_json
from .anthropic_messages import FORMAT
from .anthropic_messages_schema import ContentBlock, Delta, Event, UsageReport
from .carried_blocks import CarriedBlock
from .sendable import call_ids, new_call_id, sendable_name, sendable_text

MAX_BLOCKS: Final = 1_000
"""Blocks in one message, far beyond what any model writes."""
MAX_BLOCK_CHARACTERS: Final = 1_000_000

_WINDOW_FULL: Final = "model_context_window_exceeded"
_FINISH_REASONS: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    _WINDOW_FULL: FinishReason.LENGTH,
    "pause_turn": FinishReason.LENGTH,  # a tool of the service's own took too long: the answer is not whole
    "refusal": FinishReason.CONTENT_FILTER,
}
_NO_REASON: Final = "end_turn"
_CARRIED_TYPES: Final = frozenset({"thinking", "redacted_thinking"})


@dataclass(slots=True, eq=False)
class _Block:
    """A part of the message that is being written, and what came before it."""

    begun: ContentBlock
    text: int
    calls: int
    skip: int = 0
    pieces: list[str] = field(default_factory=list)
    """Of the thinking, or of the arguments."""
    signature: list[str] = field(default_factory=list)
    length: int = 0
    ended: bool = False

    def add(self, pieces: list[str], piece: str) -> None:
        """Keep a piece of the thinking, the signature or the arguments."""
        if not piece:
            return
        self.length += len(piece)
        if self.length > MAX_BLOCK_CHARACTERS:
            raise ProviderReplyInvalid(f"the service sent a block of more than {MAX_BLOCK_CHARACTERS} characters")
        pieces.append(piece)

    def arguments(self) -> str:
        """Return the arguments as they were written; those that came whole where none were streamed."""
        if written := "".join(self.pieces).strip():
            return written
        return canonical_json(self.begun.input) if self.begun.input else "{}"

    def carried(self) -> CarriedBlock:
        """Return the whole block, as it is to go back."""
        block = self.begun.as_sent()
        if self.begun.type == "thinking":
            block["thinking"] = (self.begun.thinking or "") + "".join(self.pieces)
        if signature := (self.begun.signature or "") + "".join(self.signature):
            block["signature"] = signature
        return CarriedBlock(block, self.text, self.calls, self.skip)


class ReplyReader:
    """Turns the events of one reply into ours; a whole message is one event."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self.done = False
        """True once the service has said that nothing follows."""
        self._taken_ids = set(call_ids(transcript))
        self._new_id = new_id
        self._blocks: list[_Block] = []
        self._by_index: dict[int, _Block] = {}
        self._calls: list[_Block] = []
        self._ready = 0
        self._text_length = 0
        self._text_is_open = False
        self._ends_with_space = True
        self._finish = ""
        self._usage = UsageReport()

    @property
    def finished(self) -> bool:
        """True once the service said why the message ends; usage may still follow."""
        return bool(self._finish)

    def read(self, event: Event) -> Iterator[ProviderEvent]:
        """Yield what an event brings: reasoning, text, and each call as soon as it is whole.

        Raises `ProviderReplyInvalid` for a message beyond all bounds, or a piece of nothing.
        """
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
                self.done = True
                yield from self._end_message(_NO_REASON)
            case "message":
                yield from self._whole(event)
            case _:  # ping, and what later versions add
                pass

    def end(self) -> Iterator[ProviderEvent]:
        """Yield `CompletionResult`. To be called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the service never said that it was finished, and
        `PromptTooLong` when it was because the prompt left no room for an answer.
        """
        if not self.finished:
            raise ProviderReplyInvalid("the reply ended before the service said that it was finished")
        if self._finish.casefold() == _WINDOW_FULL and not (self._text_length or self._calls):
            raise PromptTooLong("the prompt leaves no room for an answer", self._usage.usage().input_tokens or None)
        carried = (block.carried() for block in self._blocks if block.begun.type in _CARRIED_TYPES)
        items = tuple(block.as_item(FORMAT) for block in carried)
        yield CompletionResult(self._finish_reason(), self._usage.usage(), items)

    def _whole(self, message: Event) -> Iterator[ProviderEvent]:
        self._usage = self._usage.updated(message.usage)
        for index, block in enumerate(message.content or []):
            yield from self._begin(block, index)
            yield from self._end_block(index)
        yield from self._end_message(message.stop_reason)

    def _begin(self, block: ContentBlock, index: int | None) -> Iterator[ProviderEvent]:
        if len(self._blocks) >= MAX_BLOCKS:
            raise ProviderReplyInvalid(f"the service sent more than {MAX_BLOCKS} blocks in one message")
        begun = _Block(block, self._text_length, len(self._calls))
        self._blocks.append(begun)
        if index is not None:
            self._by_index[index] = begun
        if block.type == "tool_use":
            self._calls.append(begun)
        self._text_is_open = self._text_is_open and block.type == "text"
        yield from self.say(block.text)
        yield from _thought(block.thinking)

    def _add(self, delta: Delta, index: int | None) -> Iterator[ProviderEvent]:
        yield from self.say(delta.text)
        yield from _thought(delta.thinking)
        block = self._find(index)
        if block is not None:
            block.add(block.pieces, delta.thinking or delta.partial_json or "")
            block.add(block.signature, delta.signature or "")
        elif delta.partial_json:
            raise ProviderReplyInvalid("the service sent a piece of a call that it had not begun")

    def _end_block(self, index: int | None) -> Iterator[ProviderEvent]:
        if (block := self._find(index)) is not None:
            block.ended = True
        yield from self._whole_calls()

    def _find(self, index: int | None) -> _Block | None:
        """Return the block that an event means: that of its index, or the last one where it has none."""
        if index is not None:
            return self._by_index.get(index)
        return self._blocks[-1] if self._blocks else None

    def _end_message(self, reason: str | None) -> Iterator[ProviderEvent]:
        self._finish = self._finish or reason or ""
        if self.finished:
            for block in self._blocks:
                block.ended = True
            yield from self._whole_calls()

    def _whole_calls(self) -> Iterator[ProviderEvent]:
        """Yield the calls that are whole, but none before an earlier one."""
        while self._ready < len(self._calls) and (call := self._calls[self._ready]).ended:
            self._ready += 1
            yield ToolCallReady(self._tool_call(call))

    def _tool_call(self, block: _Block) -> ToolCall:
        call_id = block.begun.id or ""
        while not call_id or call_id in self._taken_ids:
            call_id = self._new_id()
        self._taken_ids.add(call_id)
        return ToolCall(call_id, sendable_name(block.begun.name or ""), sendable_text(block.arguments()))

    def say(self, text: str | None) -> Iterator[ProviderEvent]:
        """Yield text. Where something else came in between, the new text is set apart from the old one."""
        if not text:
            return
        text = sendable_text(text)
        if not (self._text_is_open or self._ends_with_space or text[0].isspace()):
            self._set_apart("\n\n")
            text = f"\n\n{text}"
        self._text_is_open = True
        self._ends_with_space = text[-1].isspace()
        self._text_length += len(text) if self._text_length else len(text.lstrip())
        yield TextDelta(text)

    def _set_apart(self, gap: str) -> None:
        """Note that the text after the last block that is carried begins with a gap of ours."""
        carried = [block for block in self._blocks if block.begun.type in _CARRIED_TYPES]
        if carried and carried[-1].text == self._text_length:
            carried[-1].skip = len(gap)

    def _finish_reason(self) -> FinishReason:
        """Read the reason; where it contradicts the calls, or is unknown beside them, the calls are right."""
        reason = _FINISH_REASONS.get(self._finish.casefold(), FinishReason.UNKNOWN)
        if reason in {FinishReason.LENGTH, FinishReason.CONTENT_FILTER}:
            return reason
        if self._calls:
            return FinishReason.TOOL_CALLS
        return FinishReason.STOP if reason is FinishReason.TOOL_CALLS else reason


def _thought(text: str | None) -> Iterator[ProviderEvent]:
    if text:
        yield ReasoningDelta(sendable_text(text))

"""Chat Completions, the way back: a reply's chunks to events.

Knows the format and its dialects; must not know connections, addresses or keys.
Source: OpenAI API reference, "The chat completion chunk object"; the dialects are named in `openai_chat_schema.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..errors import PromptTooLong, ProviderReplyInvalid
from ..events import CompletionResult, ProviderEvent, ReasoningDelta, TextDelta, ToolCallReady
from ..messages import FinishReason, ToolCall, Transcript, Usage, canonical_json
from .call_assembly import CallAssembler, CallFragment
from .openai_chat_items import SignedReasoning
from .openai_chat_schema import Chunk, Delta, PlainEnd, ToolCallFragment
from .sendable import call_ids, new_call_id, sendable_text

_WINDOW_FULL: Final = "model_context_window_exceeded"
"""Z.ai ends a message so that has no room, or none any more."""
_FINISH_REASONS: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    _WINDOW_FULL: FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


class ReplyReader:
    """Turns the chunks of one reply into events; a whole completion is one chunk."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Keep the ids of new calls apart from those of `transcript`."""
        self._calls = CallAssembler(call_ids(transcript), new_id)
        self._has_calls = False
        self._has_text = False
        self._streams = False
        """True once a `delta` brought something: a `message` after it says the same again."""
        self._finish = ""
        self._usage = Usage()
        self._signed = SignedReasoning()

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
            if choice.message is not None and not self._streams:
                yield from self._read_piece(choice.message)
            elif choice.delta is not None:
                self._streams = self._streams or bool(choice.delta.tool_calls)
                for event in self._read_piece(choice.delta):
                    self._streams = True
                    yield event
            if choice.finish_reason:
                self._finish = choice.finish_reason
                yield from self._ready(self._calls.finish())

    def read_words(self, words: str) -> TextDelta:
        """Return the words of chunks that bring nothing else."""
        self._streams = self._has_text = True
        return TextDelta(words)

    def read_fragments(self, fragments: Iterable[CallFragment]) -> list[ToolCallReady]:
        """Return the calls that are whole now that pieces of them came."""
        self._streams = True
        calls = self._calls.add(fragments)
        return self._ready(calls) if calls else []

    def read_end(self, end: PlainEnd) -> list[ToolCallReady]:
        """Return the calls that are whole now that the message ends."""
        self._usage = end.usage or self._usage
        if not end.finish_reason:
            return []
        self._finish = end.finish_reason
        return self._ready(self._calls.finish())

    def _read_piece(self, piece: Delta) -> Iterator[ProviderEvent]:
        if thoughts := piece.thoughts():
            yield ReasoningDelta(sendable_text(thoughts))
        if text := piece.text():
            self._has_text = True
            yield TextDelta(sendable_text(text))
        if piece.reasoning_details:
            self._signed.add_details(piece.reasoning_details)
        if piece.tool_calls:
            yield from self._ready(self._calls.add(map(_fragment, piece.tool_calls)))

    def end(self) -> Iterator[ProviderEvent]:
        """Yield what is left, `CompletionResult` last. To be called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the service never said that it was finished, and
        `PromptTooLong` when it was because the prompt left no room for an answer.
        """
        if not self.finished:
            raise ProviderReplyInvalid("the reply ended before the service said that it was finished")
        yield from self._ready(self._calls.finish())
        if self._finish.casefold() == _WINDOW_FULL and not (self._has_text or self._has_calls):
            raise PromptTooLong("the prompt leaves no room for an answer", self._usage.input_tokens or None)
        self._signed.call_extras |= self._calls.extras
        yield CompletionResult(self._finish_reason(), self._usage, self._signed.items())

    def _ready(self, calls: list[ToolCall]) -> list[ToolCallReady]:
        self._has_calls = self._has_calls or bool(calls)
        return [ToolCallReady(call) for call in calls]

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
    return CallFragment(
        piece.index, sendable_text(piece.id or ""), sendable_text(name or ""), sendable_text(text), piece.extra_content
    )

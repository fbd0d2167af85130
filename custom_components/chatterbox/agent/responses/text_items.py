"""What the model says and thinks, as items: messages, refusals, and summaries of its reasoning.

Knows the events of these items. Must not know turns, or why something is said.
Source: OpenResponses specification 2026-04-24, "Streaming", `Message`, `ReasoningBody`.
"""

from typing import Final

from .event_writer import EventWriter
from .items.shapes import IN_PROGRESS, message_item, output_text, reasoning_item, refusal, summary_text
from .response_frame import NewId

COMMENTARY: Final = "commentary"
"""Phase of a message that is not the answer: who asked for data must not read it as such."""
FINAL_ANSWER: Final = "final_answer"
"""Phase of a message that is the answer."""


class TextItems:
    """The text items of a response: at most one of them is open, and what is of another kind ends it."""

    def __init__(self, events: EventWriter, new_id: NewId) -> None:
        """Begin with none."""
        self._events = events
        self._new_id = new_id
        self._open: _MessageItem | _ReasoningItem | None = None

    @property
    def is_saying(self) -> bool:
        """Whether a message is open."""
        return isinstance(self._open, _MessageItem)

    def say(self, text: str, phase: str | None = None) -> None:
        """Add words to the message; nothing if there are none. The phase is that of a message that begins so."""
        if not text:
            return
        if not isinstance(self._open, _MessageItem):
            self.close()
            self._open = _MessageItem(self._events, self._new_id("msg"), phase)
        self._open.add(text)

    def think(self, text: str) -> None:
        """Add words to the summary of the reasoning."""
        if not text:
            return
        if not isinstance(self._open, _ReasoningItem):
            self.close()
            self._open = _ReasoningItem(self._events, self._new_id("rs"))
        self._open.add(text)

    def close(self, *, is_whole: bool = True) -> None:
        """End what is open. A message that is not whole must be the last item of the response."""
        if self._open is not None:
            self._open.close(is_whole=is_whole)
            self._open = None

    def refuse(self, reason: str) -> None:
        """Say that there will be no answer."""
        self.close()
        message_id = self._new_id("msg")
        item = self._events.open(message_item(message_id, "assistant", [], status=IN_PROGRESS), message_id)
        item.write("response.content_part.added", content_index=0, part=refusal(""))
        item.write("response.refusal.delta", content_index=0, delta=reason)
        item.write("response.refusal.done", content_index=0, refusal=reason)
        part = refusal(reason)
        item.write("response.content_part.done", content_index=0, part=part)
        item.done(message_item(message_id, "assistant", [part]))

    def enclose(self, encrypted_content: str) -> None:
        """Hand over what nobody but us can read, to be brought back."""
        self.close()
        reasoning_id = self._new_id("rs")
        self._events.place(reasoning_item(reasoning_id, encrypted_content=encrypted_content), reasoning_id)


class _MessageItem:
    """A message of the assistant: one part, which grows."""

    def __init__(self, events: EventWriter, item_id: str, phase: str | None) -> None:
        self._pieces: list[str] = []
        self._begun = message_item(item_id, "assistant", [], status=IN_PROGRESS, phase=phase)
        self._item = events.open(self._begun, item_id)
        self._item.write("response.content_part.added", content_index=0, part=output_text(""))

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._item.write("response.output_text.delta", content_index=0, delta=text, logprobs=[])

    def close(self, *, is_whole: bool) -> None:
        text = "".join(self._pieces)
        self._item.write("response.output_text.done", content_index=0, text=text, logprobs=[])
        self._item.write("response.content_part.done", content_index=0, part=output_text(text))
        status = "completed" if is_whole else "incomplete"
        self._item.done({**self._begun, "status": status, "content": [output_text(text)]})


class _ReasoningItem:
    """A summary of the model's reasoning: one part, which grows."""

    def __init__(self, events: EventWriter, item_id: str) -> None:
        self._id = item_id
        self._pieces: list[str] = []
        self._item = events.open(reasoning_item(item_id), item_id)
        self._item.write("response.reasoning_summary_part.added", summary_index=0, part=summary_text(""))

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._item.write("response.reasoning_summary_text.delta", summary_index=0, delta=text)

    def close(self, *, is_whole: bool) -> None:  # noqa: ARG002  # a summary has no status
        text = "".join(self._pieces)
        self._item.write("response.reasoning_summary_text.done", summary_index=0, text=text)
        self._item.write("response.reasoning_summary_part.done", summary_index=0, part=summary_text(text))
        self._item.done(reasoning_item(self._id, text))

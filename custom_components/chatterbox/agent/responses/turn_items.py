"""What happens in a turn, as the items of a response.

Knows which events a client sees, as what, and when it is sure. Must not know the response around the items, nor how an
item looks, which is `text_items.py`'s and `call_items.py`'s.
"""

from ..events import (
    ApprovalRequested,
    MessageDone,
    PendingApproval,
    Phase,
    PhaseEntered,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from ..messages import AssistantMessage, ProviderItem, ToolResult, Transcript
from .approval_ids import approval_request_id
from .backend import BackendEvent, ToolsOffered
from .call_items import show_approval_request, show_tool_list
from .call_queue import CallQueue
from .event_writer import EventWriter
from .request import CreateRequest
from .response_frame import ResponseFrame
from .text_items import COMMENTARY, FINAL_ANSWER, TextItems


class TurnItems:
    """The items of one turn, written one after the other."""

    def __init__(self, request: CreateRequest, frame: ResponseFrame, events: EventWriter) -> None:
        """Begin with none."""
        self._request = request
        self._frame = frame
        self._events = events
        self._texts = TextItems(events, frame.new_id)
        self._calls = CallQueue(events, frame.new_id, frame.approval)
        self._turn_phase = Phase.RECEIVE_INPUT
        self._held = ""
        """Words of the model that wait until it is sure that they are the answer."""
        self._composed = ""
        """Words that the loop has found, until it is known what for."""
        self._to_seal: tuple[ProviderItem, ...] = ()

    @property
    def has_acted(self) -> bool:
        """Whether a tool of the house was started."""
        return self._calls.has_acted

    def take(self, event: BackendEvent) -> None:
        """Write what an event brings to see; the end of the turn has its own method."""
        match event:
            case ToolsOffered():
                self._offer(event)
            case PhaseEntered(phase):
                self._turn_phase = phase
            case TextDelta(text):
                self._hear(text)
            case ReasoningDelta(text):
                self._think(text)
            case MessageDone(message):
                self._end_message(message)
            case ToolStarted(call):
                self._calls.start(call)
                self._calls.show()
            case ToolFinished():
                self._finish_call(event)
            case ApprovalRequested(pending):
                self._ask(pending)
            case _:
                pass  # nothing that a client sees

    def end(self, end: TurnFinished, *, is_whole: bool) -> None:
        """Write what was waiting for the end of the turn. What is not whole ends with an item that says so."""
        for call in end.client_calls:
            self._calls.hand_out(call)
        self._calls.show()
        phase = self._phase_of(FINAL_ANSWER if is_whole else COMMENTARY)
        self._say_held(phase)
        match end.stop_reason:
            case StopReason.PROVIDER_FAILED:
                pass  # the error is told in other words than to a person
            case StopReason.PROMPT_DENIED:
                self._texts.refuse(self._composed)
            case _:
                self._texts.say(self._composed, phase)
        self._texts.close(is_whole=is_whole)
        if is_whole:
            self._enclose()

    def break_off(self, transcript: Transcript) -> None:
        """End what was begun in a turn that never ends. The transcript has a result for every call."""
        for calls in (one.tool_calls for one in transcript if isinstance(one, AssistantMessage)):
            self._calls.expect(calls)
        for result in (one for one in transcript if isinstance(one, ToolResult)):
            self._calls.finish(result)
        self._say_held(self._phase_of(COMMENTARY))
        self._texts.close(is_whole=not self._calls.is_empty)
        self._calls.show()

    def _offer(self, offered: ToolsOffered) -> None:
        self._calls.offer(offered)
        for wanted in self._request.hosted or ():
            label = wanted.server_label
            if label not in self._frame.listed:
                tools, failure = offered.tools.get(label, ()), offered.failures.get(label)
                show_tool_list(self._events, self._frame.new_id("mcpl"), label, tools, failure)

    def _think(self, text: str) -> None:
        """Show reasoning that is asked for. A message that is to be brought back as it was must not come in two."""
        is_in_a_message = self._texts.is_saying and self._request.include_encrypted_reasoning
        if self._request.reasoning_summary is not None and not is_in_a_message:
            self._texts.think(text)

    def _hear(self, text: str) -> None:
        """Show words at once, but for data: what is not of the shape that was asked for is asked for once more."""
        if self._turn_phase is Phase.RESPONSE_COMPOSITION:
            self._composed += text
        elif self._request.output is not None:
            self._held += text
        else:
            self._texts.say(text)

    def _end_message(self, message: AssistantMessage) -> None:
        if self._turn_phase is Phase.RESPONSE_COMPOSITION:
            self._to_seal = message.provider_items
        elif message.tool_calls:
            self._say_held(self._phase_of(COMMENTARY))
            self._texts.close()
            self._to_seal = message.provider_items
            self._calls.expect(message.tool_calls)
            self._show_calls()
        else:  # the model is asked to give its data once more
            self._held = ""
            self._texts.close()

    def _finish_call(self, event: ToolFinished) -> None:
        if event.awaits_approval:
            self._calls.hide(event.result.call_id)
            self._to_seal = ()  # they belong to a message that is not shown as a whole
        else:
            self._calls.finish(event.result)
        self._show_calls()

    def _show_calls(self) -> None:
        self._calls.show()
        if self._calls.is_empty:
            self._enclose()

    def _enclose(self) -> None:
        """Hand over what the provider wants back with the message whose items are shown."""
        items, self._to_seal = self._to_seal, ()
        if items and self._frame.seal is not None and self._request.include_encrypted_reasoning:
            self._texts.enclose(self._frame.seal(items))

    def _ask(self, pending: PendingApproval) -> None:
        for index, gated in enumerate(pending.calls):
            label = self._calls.label_of(gated.call)
            show_approval_request(self._events, approval_request_id(pending.id, index), label, gated.call)

    def _phase_of(self, phase: str) -> str | None:
        """Return the phase where data is wanted, and it has to be told from what is none."""
        return None if self._request.output is None else phase

    def _say_held(self, phase: str | None) -> None:
        self._texts.say(self._held, phase)
        self._held = ""

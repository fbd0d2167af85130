"""Turns the events of a turn into output items, in the order in which a client can read them."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

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
from ..loop.turn import Approved
from ..messages import AssistantMessage, ProviderItem, ToolCall, ToolResult, Transcript
from .backend import ApprovalDecisions, BackendEvent, ToolsOffered
from .ids import NewId, approval_request_id
from .items.encrypted_content import encode_provider_items
from .items.schema import approval_request_item
from .output_items import (
    COMMENTARY,
    FINAL_ANSWER,
    EventWriter,
    McpCall,
    TextItems,
    write_function_call,
    write_tool_list,
)
from .preparation import Plan


@dataclass(slots=True)
class CallQueue:
    """The calls of a message. They run at once, and are written one after the other."""

    _events: EventWriter
    _new_id: NewId
    _approval: ApprovalDecisions | None
    """The client's answer that the turn begins with."""
    offered: ToolsOffered = field(default_factory=lambda: ToolsOffered({}))
    started: set[str] = field(default_factory=set)
    results: dict[str, ToolResult] = field(default_factory=dict)
    of_client: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    """Calls that wait for approval, and are written as approval requests instead."""
    _known: set[str] = field(default_factory=set)
    _waiting: deque[ToolCall] = field(default_factory=deque)
    _approved: dict[str, str] = field(default_factory=dict)
    """Approval request ids, by call."""
    _open: McpCall | None = None

    @property
    def is_empty(self) -> bool:
        """Whether all calls are written that are going to be."""
        return all(call.id in self.hidden for call in self._waiting)

    def expect(self, calls: Iterable[ToolCall]) -> None:
        """Append the calls of a message; those that are known already keep their place."""
        new = [call for call in calls if call.id not in self._known]
        if new and not self._known and self.offered.question is not None:
            self._note_approvals(self.offered.question.id, new)
        self._known |= {call.id for call in new}
        self._waiting.extend(new)

    def write(self) -> None:
        """Write all calls that can be written by now."""
        while self._waiting:
            call = self._waiting[0]
            if call.id in self.of_client:
                write_function_call(self._events, self._new_id("fc"), call)
            elif call.id not in self.hidden and not self._write_hosted(call):
                return
            self._waiting.popleft()

    def _write_hosted(self, call: ToolCall) -> bool:
        """Write a call of a hosted tool as far as it has come; return whether it is done."""
        result = self.results.get(call.id)
        if self._open is None and (result is not None or call.id in self.started):
            approved = self._approved.get(call.id)
            self._open = McpCall(self._events, self._new_id("mcp"), self.offered.label_of(call.name), call, approved)
        if self._open is None or result is None:
            return False
        self._open.close(result)
        self._open = None
        return True

    def _note_approvals(self, pending_id: str, calls: list[ToolCall]) -> None:
        """Note which calls were approved. Denied ones are not written: only the model is told."""
        decisions = self._approval.decisions if self._approval else {}
        for index, call in enumerate(calls):
            if isinstance(decisions.get(index), Approved):
                self._approved[call.id] = approval_request_id(pending_id, index)
            else:
                self.hidden.add(call.id)


class TurnItems:
    """The output items of one turn."""

    def __init__(self, plan: Plan, events: EventWriter) -> None:
        """Start without items."""
        self._plan = plan
        self._request = plan.request
        self._events = events
        self._texts = TextItems(events, plan.new_id)
        self._calls = CallQueue(events, plan.new_id, plan.turn.approval)
        self._turn_phase = Phase.RECEIVE_INPUT
        self._held = ""
        """Text of the model that may not be the answer yet."""
        self._composed = ""
        """Text that the loop has composed; the end of the turn tells what it is."""
        self._provider_items: tuple[ProviderItem, ...] = ()
        """What the provider wants back with the message that is being written."""

    @property
    def has_acted(self) -> bool:
        """Whether a hosted tool was started."""
        return bool(self._calls.started)

    def add(self, event: BackendEvent) -> None:
        """Write the items of an event; for the end of the turn, use `end`."""
        match event:
            case ToolsOffered():
                self._list_tools(event)
            case PhaseEntered(phase):
                self._turn_phase = phase
            case TextDelta(text):
                self._add_text(text)
            case ReasoningDelta(text):
                self._add_reasoning(text)
            case MessageDone(message):
                self._end_message(message)
            case ToolStarted(call):
                self._calls.started.add(call.id)
                self._calls.write()
            case ToolFinished():
                self._finish_call(event)
            case ApprovalRequested(pending):
                self._request_approval(pending)
            case _:
                pass  # nothing that a client sees

    def end(self, end: TurnFinished, *, is_whole: bool) -> None:
        """Write what has waited for the end of the turn. The last item of an incomplete response is incomplete."""
        self._calls.of_client |= {call.id for call in end.client_calls}
        self._calls.write()
        phase = self._phase_of(FINAL_ANSWER if is_whole else COMMENTARY)
        self._write_held(phase)
        match end.stop_reason:
            case StopReason.PROVIDER_FAILED:
                pass  # a client gets the error instead
            case StopReason.PROMPT_DENIED:
                self._texts.add_refusal(self._composed)
            case _:
                self._texts.add_text(self._composed, phase)
        self._texts.close(is_whole=is_whole)
        if is_whole:
            self._write_encrypted()

    def break_off(self, transcript: Transcript) -> None:
        """Complete the items of a turn that has no end. The transcript has a result for every call."""
        for calls in (one.tool_calls for one in transcript if isinstance(one, AssistantMessage)):
            self._calls.expect(calls)
        self._calls.results |= {one.call_id: one for one in transcript if isinstance(one, ToolResult)}
        self._write_held(self._phase_of(COMMENTARY))
        self._texts.close(is_whole=not self._calls.is_empty)
        self._calls.write()

    def _list_tools(self, offered: ToolsOffered) -> None:
        self._calls.offered = offered
        for hosted in self._request.hosted or ():
            label = hosted.server_label
            if label not in self._plan.listed:
                tools, failure = offered.tools.get(label, ()), offered.failures.get(label)
                write_tool_list(self._events, self._plan.new_id("mcpl"), label, tools, failure)

    def _add_reasoning(self, text: str) -> None:
        """Write requested reasoning. A message that goes back to its provider must not be split in two."""
        is_in_message = self._texts.has_open_message and self._request.include_encrypted_reasoning
        if self._request.reasoning_summary is not None and not is_in_message:
            self._texts.add_reasoning(text)

    def _add_text(self, text: str) -> None:
        """Write text at once; structured output is held, as the model may be asked again for data that do not fit."""
        if self._turn_phase is Phase.RESPONSE_COMPOSITION:
            self._composed += text
        elif self._request.output is not None:
            self._held += text
        else:
            self._texts.add_text(text)

    def _end_message(self, message: AssistantMessage) -> None:
        if self._turn_phase is Phase.RESPONSE_COMPOSITION:
            self._provider_items = message.provider_items
        elif message.tool_calls:
            self._write_held(self._phase_of(COMMENTARY))
            self._texts.close()
            self._provider_items = message.provider_items
            self._calls.expect(message.tool_calls)
            self._write_calls()
        else:  # the model is asked again for its data
            self._held = ""
            self._texts.close()

    def _finish_call(self, event: ToolFinished) -> None:
        if event.awaits_approval:
            self._calls.hidden.add(event.result.call_id)
            self._provider_items = ()  # they belong to a message that is not written as a whole
        else:
            self._calls.results[event.result.call_id] = event.result
        self._write_calls()

    def _write_calls(self) -> None:
        self._calls.write()
        if self._calls.is_empty:
            self._write_encrypted()

    def _write_encrypted(self) -> None:
        """Write what the provider wants back with the message whose items are written."""
        items, self._provider_items = self._provider_items, ()
        if items and self._request.include_encrypted_reasoning:
            self._texts.add_encrypted(encode_provider_items(items, self._plan.codec))

    def _request_approval(self, pending: PendingApproval) -> None:
        for index, pending_call in enumerate(pending.calls):
            label = self._calls.offered.label_of(pending_call.call.name)
            request_id = approval_request_id(pending.id, index)
            self._events.place(approval_request_item(request_id, label, pending_call.call), request_id)

    def _phase_of(self, phase: str) -> str | None:
        """Return the phase for structured output, which has to be told from commentary."""
        return None if self._request.output is None else phase

    def _write_held(self, phase: str | None) -> None:
        self._texts.add_text(self._held, phase)
        self._held = ""

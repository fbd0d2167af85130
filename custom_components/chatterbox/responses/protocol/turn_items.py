"""Turns the events of a turn into output items, and writes these as streaming events.

Items come one after the other, in the order in which a client can read them: each is
done before the next one is added. Sources: OpenResponses specification 2026-04-24,
"Streaming"; OpenAI API reference, "MCP tool call", "MCP list tools", "MCP approval
request", and their streaming events.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from ...agent.events import (
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
from ...agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from ...agent.transcript import results_in
from .backend import OWN_LABEL, BackendEvent, ToolsOffered
from .items.encrypted_content import encode_provider_items
from .items.parts import output_text, refusal, summary_text
from .items.schema import (
    COMPLETED,
    CUT_OFF,
    IN_PROGRESS,
    NewId,
    approval_request_id,
    approval_request_item,
    begun_message_item,
    function_call_item,
    mcp_call_item,
    reasoning_item,
)
from .preparation import Plan

COMMENTARY: Final = "commentary"
"""Phase of a message that is not the answer."""
FINAL_ANSWER: Final = "final_answer"
"""Phase of the answer."""


class EventWriter:
    """Numbers the events of a response, and collects its items."""

    def __init__(self) -> None:
        """Start at number 0."""
        self.items: list[JsonValue] = []
        """The items that are done, in order."""
        self._number = 0
        self._written: list[JsonObject] = []

    def write(
        self,
        kind: str,
        **fields: JsonValue,
    ) -> None:
        """Write an event."""
        self._written.append({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1

    def fetch(self) -> list[JsonObject]:
        """Return the events that were written since the last call."""
        written = self._written
        self._written = []
        return written

    def place(self, item: JsonObject) -> None:
        """Add an item that is complete at once."""
        ItemWriter(self, item).done(item)


class ItemWriter:
    """Writes the events of one item."""

    def __init__(
        self,
        events: EventWriter,
        item: JsonObject,
    ) -> None:
        """Add the item, empty as yet. The one before it must be done."""
        self._events = events
        self._id = item["id"]
        self._index = len(events.items)
        events.write(
            "response.output_item.added",
            output_index=self._index,
            item=item,
        )

    def write(
        self,
        kind: str,
        **fields: JsonValue,
    ) -> None:
        """Write an event of the item."""
        self._events.write(
            kind,
            item_id=self._id,
            output_index=self._index,
            **fields,
        )

    def done(self, item: JsonObject) -> None:
        """Complete the item; it must not be changed afterwards."""
        self._events.items.append(item)
        self._events.write(
            "response.output_item.done", output_index=self._index, item=item
        )


class TextItems:
    """The messages and reasoning items of a response. At most one is open, and the next one closes it."""

    def __init__(
        self,
        events: EventWriter,
        new_id: NewId,
    ) -> None:
        """Start without an open item."""
        self._events = events
        self._new_id = new_id
        self._open: _TextItem | None = None

    @property
    def has_open_message(self) -> bool:
        """Whether a message is open."""
        return self._open is not None and self._open.form is _ANSWER

    def add_text(
        self,
        text: str,
        phase: str | None = None,
    ) -> None:
        """Add text to the message, which is opened with this phase if there is none."""
        if text and not self.has_open_message:
            self._begin(
                _ANSWER,
                begun_message_item(self._new_id("msg"), phase),
            )
        self._add(text)

    def add_reasoning(self, text: str) -> None:
        """Add text to the summary of the reasoning."""
        if text and (self._open is None or self._open.form is not _REASONING):
            self._begin(
                _REASONING,
                reasoning_item(self._new_id("rs")),
            )
        self._add(text)

    def add_refusal(self, reason: str) -> None:
        """Write a message that refuses to answer."""
        opened = self._begin(
            _REFUSAL,
            begun_message_item(self._new_id("msg")),
        )
        opened.add(reason)
        self.close()

    def close(self, *, is_whole: bool = True) -> None:
        """Complete the open item. A message that is not whole must be the last item of the response."""
        if self._open:
            self._open.close(COMPLETED if is_whole else CUT_OFF)
        self._open = None

    def _begin(
        self,
        form: _Form,
        begun: JsonObject,
    ) -> _TextItem:
        self.close()
        self._open = _TextItem(
            self._events,
            form,
            begun,
        )
        return self._open

    def _add(self, text: str) -> None:
        if text and self._open:
            self._open.add(text)

    def add_encrypted(self, encrypted_content: str) -> None:
        """Write a reasoning item with encrypted content."""
        self.close()
        self._events.place(
            reasoning_item(self._new_id("rs"), encrypted_content=encrypted_content)
        )


class _Form(NamedTuple):
    """The names in the events of an item with one part."""

    field: str
    """The field of the item that has the part."""
    part: str
    text: str
    of: Callable[[str], JsonObject]
    """Returns the part."""
    more: JsonObject


_ANSWER: Final = _Form(
    "content", "content_part", "output_text", output_text, {"logprobs": []}
)
_REFUSAL: Final = _Form(
    "content",
    "content_part",
    "refusal",
    refusal,
    {},
)
_REASONING: Final = _Form(
    "summary", "reasoning_summary_part", "reasoning_summary_text", summary_text, {}
)


class _TextItem:
    """An item with one part, whose text comes in pieces."""

    def __init__(
        self,
        events: EventWriter,
        form: _Form,
        begun: JsonObject,
    ) -> None:
        self.form = form
        self._begun = begun
        self._text = ""
        self._item = ItemWriter(events, begun)
        self._write(
            f"{form.part}.added",
            part=form.of(""),
        )

    def add(self, text: str) -> None:
        self._text += text
        self._write(
            f"{self.form.text}.delta",
            delta=text,
            **self.form.more,
        )

    def close(self, status: str) -> None:
        form = self.form
        part = self.form.of(self._text)
        spoken = {name: part[name] for name in ("text", "refusal") if name in part}
        self._write(
            f"{form.text}.done",
            **spoken,
            **form.more,
        )
        self._write(
            f"{form.part}.done",
            part=part,
        )
        ended: JsonObject = {"status": status} if "status" in self._begun else {}
        self._item.done({**self._begun, **ended, form.field: [part]})

    def _write(
        self,
        kind: str,
        **fields: JsonValue,
    ) -> None:
        index = {f"{self.form.field}_index": 0}
        self._item.write(
            f"response.{kind}",
            **index,
            **fields,
        )


class McpCall:
    """A call of a hosted tool, from its start to its result."""

    def __init__(
        self,
        events: EventWriter,
        item_id: str,
        server_label: str,
        call: ToolCall,
        approval_request_id: str | None,
    ) -> None:
        """Add the call with its arguments, and the id of its approval request if it had one."""
        self._as_item = partial(
            mcp_call_item, item_id, server_label, call, request_id=approval_request_id
        )
        self._item = ItemWriter(
            events,
            {
                **self._as_item(),
                "arguments": "",
            },
        )
        self._item.write("response.mcp_call.in_progress")
        if call.arguments:
            self._item.write("response.mcp_call_arguments.delta", delta=call.arguments)
        self._item.write("response.mcp_call_arguments.done", arguments=call.arguments)

    def close(self, result: ToolResult) -> None:
        """Complete the call with its result."""
        self._item.write(
            f"response.mcp_call.{'failed' if result.is_error else 'completed'}"
        )
        self._item.done(self._as_item(result))


def write_function_call(
    events: EventWriter,
    item_id: str,
    call: ToolCall,
) -> None:
    """Write a call of a function of the client, with the arguments as the model wrote them."""
    whole = function_call_item(item_id, call)
    item = ItemWriter(
        events,
        {
            **whole,
            "arguments": "",
            "status": IN_PROGRESS,
        },
    )
    item.write("response.function_call_arguments.delta", delta=call.arguments)
    item.write("response.function_call_arguments.done", arguments=call.arguments)
    item.done(whole)


def write_tool_list(
    events: EventWriter,
    item_id: str,
    server_label: str,
    tools: Sequence[ToolDefinition],
    failure: str | None,
) -> None:
    """Write the hosted tools of a label, or why there are none at the moment."""
    begun: JsonObject = {
        "type": "mcp_list_tools",
        "id": item_id,
        "server_label": server_label,
        "tools": [],
    }
    item = ItemWriter(events, begun)
    item.write("response.mcp_list_tools.in_progress")
    if failure is not None:
        item.write("response.mcp_list_tools.failed")
        item.done({**begun, "error": failure})
    else:
        item.write("response.mcp_list_tools.completed")
        item.done({**begun, "tools": [_listed_tool(tool) for tool in tools]})


def _listed_tool(tool: ToolDefinition) -> JsonObject:
    hints = tool.annotations
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    }


@dataclass(slots=True)
class CallQueue:
    """The calls of a message. They run at once, and are written one after the other."""

    _events: EventWriter
    _plan: Plan
    question: PendingApproval | None = None
    """Explained at `ToolsOffered`."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The server labels of the offered tools, by name."""
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
        if new and not self._known and self.question is not None:
            self._note_approvals(self.question.id, new)
        self._known |= {call.id for call in new}
        self._waiting.extend(new)

    def write(self) -> None:
        """Write all calls that can be written by now."""
        while self._waiting:
            call = self._waiting[0]
            if call.id in self.of_client:
                write_function_call(
                    self._events,
                    self._plan.new_id("fc"),
                    call,
                )
            elif call.id not in self.hidden and not self._write_hosted(call):
                return
            self._waiting.popleft()

    def _write_hosted(self, call: ToolCall) -> bool:
        """Write a call of a hosted tool as far as it has come; return whether it is done."""
        result = self.results.get(call.id)
        if self._open is None and result is not None and self._is_hidden(call):
            return True
        if self._open is None and (result is not None or call.id in self.started):
            approved = self._approved.get(call.id)
            label = self.labels.get(call.name, OWN_LABEL)
            self._open = McpCall(
                self._events, self._plan.new_id("mcp"), label, call, approved
            )
        if self._open is None or result is None:
            return False
        self._open.close(result)
        self._open = None
        return True

    def _is_hidden(self, call: ToolCall) -> bool:
        """Return whether a refused call is only told to the model: a client with functions would try to run it."""
        request = self._plan.request
        is_listed = (
            call.name in self.labels and request.tool_choice is not ToolChoiceMode.NONE
        )
        return bool(request.functions) and not is_listed and call.id not in self.started

    def _note_approvals(
        self,
        pending_id: str,
        calls: list[ToolCall],
    ) -> None:
        """Note which calls were approved. Denied ones are not written: only the model is told."""
        approval = self._plan.turn.approval
        decisions = approval.decisions if approval else {}
        for index, call in enumerate(calls):
            answer = decisions.get(index)
            if answer and answer.approved:
                self._approved[call.id] = approval_request_id(
                    pending_id,
                    index,
                )
            else:
                self.hidden.add(call.id)


class TurnItems:
    """The output items of one turn."""

    def __init__(
        self,
        plan: Plan,
        events: EventWriter,
    ) -> None:
        """Start without items."""
        self._plan = plan
        self._request = plan.request
        self._events = events
        self._texts = TextItems(events, plan.new_id)
        self._calls = CallQueue(events, plan)
        self._turn_phase = Phase.RECEIVE_INPUT
        self._held = ""
        """Text of the model that may not be the answer yet."""
        self._composed = ""
        """Text that the loop has composed; the end of the turn tells what it is."""
        self._provider_items: tuple[ProviderItem, ...] = ()
        """The items that the provider wants back with the message that is being written."""

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

    def end(
        self,
        end: TurnFinished,
        *,
        is_whole: bool,
    ) -> None:
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
        for calls in (
            one.tool_calls for one in transcript if isinstance(one, AssistantMessage)
        ):
            self._calls.expect(calls)
        self._calls.results |= {one.call_id: one for one in results_in(transcript)}
        self._write_held(self._phase_of(COMMENTARY))
        self._texts.close(is_whole=not self._calls.is_empty)
        self._calls.write()

    def _list_tools(self, offered: ToolsOffered) -> None:
        self._calls.question = offered.question
        labels = reversed(
            [*offered.tools.items()]
        )  # of two tools with one name, the first is the one that is called
        self._calls.labels = {
            tool.name: label for label, tools in labels for tool in tools
        }
        for hosted in self._request.hosted or ():
            label = hosted.server_label
            if label not in self._plan.listed:
                tools = offered.tools.get(label, ())
                failure = offered.failures.get(label)
                write_tool_list(
                    self._events, self._plan.new_id("mcpl"), label, tools, failure
                )

    def _add_reasoning(self, text: str) -> None:
        """Write requested reasoning. A message that goes back to its provider must not be split in two."""
        is_in_message = (
            self._texts.has_open_message and self._request.include_encrypted_reasoning
        )
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
            # they belong to a message that is not written as a whole
            self._provider_items = ()
        else:
            self._calls.results[event.result.call_id] = event.result
        self._write_calls()

    def _write_calls(self) -> None:
        self._calls.write()
        if self._calls.is_empty:
            self._write_encrypted()

    def _write_encrypted(self) -> None:
        """Write what the provider wants back with the message whose items are written."""
        items = self._provider_items
        self._provider_items = ()
        if items and self._request.include_encrypted_reasoning:
            self._texts.add_encrypted(encode_provider_items(items, self._plan.codec))

    def _request_approval(self, pending: PendingApproval) -> None:
        for index, pending_call in enumerate(pending.calls):
            label = self._calls.labels.get(
                pending_call.call.name,
                OWN_LABEL,
            )
            request_id = approval_request_id(pending.id, index)
            self._events.place(
                approval_request_item(
                    request_id,
                    label,
                    pending_call.call,
                )
            )

    def _phase_of(self, phase: str) -> str | None:
        """Return the phase for structured output, which has to be told from commentary."""
        if self._request.output is None:
            return None
        return phase

    def _write_held(self, phase: str | None) -> None:
        self._texts.add_text(self._held, phase)
        self._held = ""

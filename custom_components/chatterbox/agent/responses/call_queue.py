"""The calls of a message, shown one after the other although they run at once.

Knows what may become of a call: it runs, the client runs it, it waits for a yes, or a person has said no. Must not
know how items look, or why a call has its fate.
"""

from collections import deque
from collections.abc import Iterable

from ..loop.turn import Approved
from ..messages import ToolCall, ToolResult
from .approval_ids import approval_request_id
from .backend import ApprovalDecisions, ToolsOffered
from .call_items import McpCallItem, show_function_call
from .event_writer import EventWriter
from .response_frame import NewId


class CallQueue:
    """Calls that are not shown yet, in the order of their message, and what is known of each."""

    def __init__(self, events: EventWriter, new_id: NewId, approval: ApprovalDecisions | None) -> None:
        """Begin with none. The approval is what the client has said to the question that the turn answers."""
        self._events = events
        self._new_id = new_id
        self._approval = approval
        self._offered = ToolsOffered({})
        self._known: set[str] = set()
        self._waiting: deque[ToolCall] = deque()
        self._started: set[str] = set()
        self._results: dict[str, ToolResult] = {}
        self._for_client: set[str] = set()
        self._hidden: set[str] = set()
        self._approved: dict[str, str] = {}
        self._open: McpCallItem | None = None
        self.has_acted = False
        """Whether a call was begun."""

    @property
    def is_empty(self) -> bool:
        """Whether all calls are shown that are going to be."""
        return all(call.id in self._hidden for call in self._waiting)

    def offer(self, offered: ToolsOffered) -> None:
        """Learn what tools there are, and which question the first calls answer."""
        self._offered = offered

    def label_of(self, call: ToolCall) -> str:
        """Return the server label of the tool that is called."""
        return self._offered.label_of(call.name)

    def expect(self, calls: Iterable[ToolCall]) -> None:
        """Line up the calls of a message; those that were already are left where they are."""
        new = [call for call in calls if call.id not in self._known]
        if new and not self._known and self._offered.question is not None:
            self._settle_approval(self._offered.question.id, new)
        self._known |= {call.id for call in new}
        self._waiting.extend(new)

    def start(self, call: ToolCall) -> None:
        """Learn that a call runs."""
        self.has_acted = True
        self._started.add(call.id)

    def finish(self, result: ToolResult) -> None:
        """Learn what came of a call."""
        self._results[result.call_id] = result

    def hide(self, call_id: str) -> None:
        """Learn that a call waits for a yes, and is asked about instead of being shown."""
        self._hidden.add(call_id)

    def hand_out(self, call: ToolCall) -> None:
        """Learn that the client runs a call."""
        self._for_client.add(call.id)

    def show(self) -> None:
        """Write what can be told by now."""
        while self._waiting:
            call = self._waiting[0]
            if call.id in self._for_client:
                show_function_call(self._events, self._new_id("fc"), call)
            elif call.id not in self._hidden and not self._show_run(call):
                return
            self._waiting.popleft()

    def _show_run(self, call: ToolCall) -> bool:
        """Show a call of the house as far as it has come; tell whether it is done."""
        result = self._results.get(call.id)
        if self._open is None and (result is not None or call.id in self._started):
            approved = self._approved.get(call.id)
            self._open = McpCallItem(self._events, self._new_id("mcp"), self.label_of(call), call, approved)
        if self._open is None or result is None:
            return False
        self._open.close(result)
        self._open = None
        return True

    def _settle_approval(self, pending_id: str, calls: list[ToolCall]) -> None:
        """Tell the calls that a person said yes to from those that are not shown: the model is told of the no."""
        decisions = self._approval.decisions if self._approval else {}
        for index, call in enumerate(calls):
            if isinstance(decisions.get(index), Approved):
                self._approved[call.id] = approval_request_id(pending_id, index)
            else:
                self._hidden.add(call.id)

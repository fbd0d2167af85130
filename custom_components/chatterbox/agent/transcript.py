"""A transcript that holds whatever happens: folded from events, repaired when handed in.

Pure. The invariant that providers insist on stands here: every call of an assistant
message has exactly one result, right after that message.
"""

from collections.abc import Collection, Iterable
from typing import Final

from .events import MessageDone, TextDelta, ToolCallReady, ToolFinished, ToolStarted, TurnEvent
from .messages import AssistantMessage, Message, ToolCall, ToolDefinition, ToolResult, Transcript

INTERRUPTED: Final = "The turn was interrupted before this result arrived. The call may have taken effect."
NOT_STARTED: Final = "Not run: the turn was interrupted first."
NO_RESULT: Final = "No result was recorded for this call."


def synthetic_result(call: ToolCall, content: str) -> ToolResult:
    """Answer a call that has no result of its own."""
    return ToolResult(call.id, call.name, content, is_error=True, synthetic=True)


def has_outside_content(transcript: Iterable[Message]) -> bool:
    """Tell whether a tool has put text from outside the home into a transcript."""
    return any(isinstance(message, ToolResult) and message.open_world for message in transcript)


class TranscriptRecorder:
    """Folds the events of a turn into messages.

    Feed it every event, in order. After any event, also in the middle of a turn that will
    never go on, `interrupted()` is a valid transcript of what happened so far.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self.messages: Transcript = ()
        self._text: list[str] = []
        self._calls: tuple[ToolCall, ...] = ()
        self._started: dict[str, ToolStarted] = {}

    def add(self, event: TurnEvent) -> None:
        """Take in one event."""
        match event:
            case TextDelta():
                self._text.append(event.text)
            case ToolCallReady():
                self._calls += (event.call,)
            case MessageDone():
                self.messages += (event.message,)
                self._text, self._calls = [], ()
            case ToolStarted():
                self._started[event.call.id] = event
            case ToolFinished():
                self.messages += (event.result,)
            case _:
                pass

    def append(self, message: Message) -> None:
        """Take in a message that no event announces: what the person said."""
        self.messages += (message,)

    def interrupted(self) -> Transcript:
        """Return the messages so far, with what was cut off closed properly."""
        messages = self.messages
        if self._text or self._calls:
            messages += (AssistantMessage("".join(self._text), tool_calls=self._calls),)
        ended = tuple(
            ToolResult(call.id, call.name, INTERRUPTED, is_error=True, open_world=started.open_world)
            if (started := self._started.get(call.id))
            else synthetic_result(call, NOT_STARTED)
            for call in open_calls(messages)
        )
        return repair(messages + ended)


def open_calls(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Return the calls that have no result yet, in order."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        match message:
            case AssistantMessage():
                calls |= {call.id: call for call in message.tool_calls}
            case ToolResult():
                calls.pop(message.call_id, None)
            case _:
                pass
    return tuple(calls.values())


def repair(messages: Iterable[Message], leaving: Collection[ToolCall] = ()) -> Transcript:
    """Return the messages so that every call has one result, right after its message.

    Calls without a result get one that says so, but for those that are left open; results without a call, or beyond
    the first, are dropped; a result that stands too late is moved to its call. A valid transcript comes back unchanged.
    """
    pending = tuple(messages)
    results: dict[str, list[ToolResult]] = {}
    for message in pending:
        if isinstance(message, ToolResult):
            results.setdefault(message.call_id, []).append(message)
    repaired: list[Message] = []
    for message in pending:
        if isinstance(message, ToolResult):
            continue
        repaired.append(message)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if found := results.get(call.id):
                    repaired.append(found.pop(0))
                elif call not in leaving:
                    repaired.append(synthetic_result(call, NO_RESULT))
    return tuple(repaired)


def changing_tools(tools: Iterable[ToolDefinition]) -> frozenset[str]:
    """Return the names of the tools that are not known to only read."""
    return frozenset({tool.name for tool in tools if not tool.annotations.read_only})

"""Valid transcripts: built from the events of a turn, and repaired when they are passed in.

Pure. Providers insist on one invariant, which this module maintains: every call of an
assistant message has exactly one result, right after that message.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from .events import (
    MessageDone,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
)
from .messages import (
    WEB_SEARCH,
    AssistantMessage,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    ToolResults,
    Transcript,
    UserMessage,
)

INTERRUPTED: Final = "The turn was interrupted before this result arrived. The call may have taken effect."
NOT_STARTED: Final = "Not run: the turn was interrupted first."
NO_RESULT: Final = "No result was recorded for this call."


def synthetic_result(call: ToolCall, content: str) -> ToolResult:
    """Answer a call that has no result of its own."""
    return ToolResult(
        call.id,
        call.name,
        content,
        is_error=True,
        synthetic=True,
    )


def calls_in(messages: Iterable[Message]) -> Sequence[ToolCall]:
    """Return the calls."""
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    return [call for answer in answers for call in answer.tool_calls]


def results_in(messages: Iterable[Message]) -> ToolResults:
    """Return the results of calls."""
    return [message for message in messages if isinstance(message, ToolResult)]


def without_results(
    messages: Iterable[Message], call_ids: Container[str]
) -> Transcript:
    """Return messages without the results of these calls."""
    return tuple(
        [
            message
            for message in messages
            if not (isinstance(message, ToolResult) and message.call_id in call_ids)
        ]
    )


def has_outside_content(transcript: Iterable[Message]) -> bool:
    """Return whether a tool has brought text from outside the home into a transcript."""
    return bool(outside_results(transcript))


def outside_results(transcript: Iterable[Message]) -> ToolResults:
    """Return the results of tools that have brought text from outside the home into a transcript."""
    return [result for result in results_in(transcript) if result.open_world]


def searches_in(messages: Iterable[Message]) -> int:
    """Return how often the web was searched."""
    return sum(result.name == WEB_SEARCH for result in results_in(messages))


def without_searches(messages: Iterable[Message]) -> Transcript:
    """Return messages without the searches of the web and what they have found.

    A result, and a message that holds nothing else, becomes an empty message, so that
    positions in the transcript stay valid.
    """
    return tuple([_without_searches(message) for message in messages])


def _without_searches(message: Message) -> Message:
    match message:
        case ToolResult(name=name) if name == WEB_SEARCH:
            return AssistantMessage()
        case AssistantMessage(tool_calls=calls) if any(
            call.name == WEB_SEARCH for call in calls
        ):
            others = tuple([call for call in calls if call.name != WEB_SEARCH])
            return replace(message, tool_calls=others)
        case _:
            return message


class TranscriptRecorder:
    """Folds the events of a turn into messages.

    Feed it every event, in order. After any event, even in the middle of a turn that
    never continues, `interrupted()` returns a valid transcript of what happened so far.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.messages: Transcript = ()
        self._text: list[str] = []
        self._calls: tuple[ToolCall, ...] = ()
        self._started: dict[str, ToolStarted] = {}

    def add(self, event: TurnEvent) -> None:
        """Add one event."""
        match event:
            case TextDelta():
                self._text.append(event.text)
            case ToolCallReady():
                self._calls += (event.call,)
            case MessageDone():
                self.messages += (event.message,)
                self._text = []
                self._calls = ()
            case ToolStarted():
                self._started[event.call.id] = event
            case ToolFinished():
                self.messages += (event.result,)
            case _:
                pass

    def append(self, message: Message) -> None:
        """Add a message that has no event: the user's words."""
        self.messages += (message,)

    def interrupted(self) -> Transcript:
        """Return the messages so far, with results for the calls that were cut off."""
        messages = self.messages
        if self._text or self._calls:
            messages += (AssistantMessage("".join(self._text), tool_calls=self._calls),)
        ended = tuple(
            ToolResult(
                call.id,
                call.name,
                INTERRUPTED,
                is_error=True,
                open_world=started.open_world,
            )
            if (started := self._started.get(call.id))
            else synthetic_result(call, NOT_STARTED)
            for call in open_calls(messages)
        )
        return repair(messages + ended)


def since_last_user_message(transcript: Transcript) -> tuple[str, ToolResults]:
    """Return the last user message, and the tool results since."""
    results: list[ToolResult] = []
    for message in reversed(transcript):
        match message:
            case UserMessage(text):
                return text, results[::-1]
            case ToolResult():
                results.append(message)
            case _:
                pass
    return "", results[::-1]


def has_changed(
    transcript: Transcript,
    tools: Iterable[ToolDefinition],
) -> bool:
    """Return whether a tool that changes something has run in the last turn, successfully or not."""
    changing = changing_tools(tools)
    _, results = since_last_user_message(transcript)
    return any(one.name in changing and not one.synthetic for one in results)


def turns_backwards(messages: Transcript) -> Iterator[Transcript]:
    """Yield the turns, newest first: each a user message up to the next one; the first may lack it."""
    end = len(messages)
    for index in reversed(range(end)):
        if index == 0 or isinstance(messages[index], UserMessage):
            yield messages[index:end]
            end = index


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """Return the ids of all calls."""
    return frozenset({call.id for call in calls_in(messages)})


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


def repair(messages: Iterable[Message]) -> Transcript:
    """Return the messages so that every call has one result, right after its message.

    Calls without a result get one that says so. Results without a call, and second
    results, are dropped; a misplaced result is moved to its call. A message gets the
    context that was omitted from it if the one before does not hold it, as where turns
    of others are left out. A valid transcript is returned unchanged.
    """
    pending = tuple(_with_lost_context(messages))
    results: dict[str, list[ToolResult]] = {}
    for result in results_in(pending):
        results.setdefault(result.call_id, []).append(result)
    repaired: list[Message] = []
    for message in pending:
        if isinstance(message, ToolResult):
            continue
        repaired.append(message)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                found = results.get(call.id)
                repaired.append(
                    found.pop(0) if found else synthetic_result(call, NO_RESULT)
                )
    return tuple(repaired)


def _with_lost_context(messages: Iterable[Message]) -> Iterator[Message]:
    held: set[str] = set()
    for message in messages:
        if not isinstance(message, UserMessage):
            yield message
            continue
        omitted = message.omitted.splitlines()
        yield message if held.issuperset(omitted) else message.alone()
        held = {*omitted, *message.context.splitlines()}


def changing_tools(tools: Iterable[ToolDefinition]) -> frozenset[str]:
    """Return the names of the tools that are not read-only."""
    return frozenset({tool.name for tool in tools if not tool.annotations.read_only})

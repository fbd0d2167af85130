"""A turn of the house as a response: events in, events of the Responses API and the final resource out.

A closed state machine without I/O: begun, going on, over. What is not streamed is the same, collected. Knows how a
response begins, goes on and ends; must not know HTTP or stores, nor which items come of what, which is
`turn_items.py`'s.
Source: OpenResponses specification 2026-04-24, "Streaming".
"""

from dataclasses import replace
from typing import Final

from ..events import PromptReplaced, StopReason, TurnFinished, UsageReported
from ..messages import AssistantMessage, JsonObject, ToolResult, Transcript, Usage
from ..transcript import TranscriptRecorder
from .backend import BackendEvent, ToolsOffered
from .endings import CANCELLED, FAILED, Ending, ending_of
from .errors import ApiError, as_api_error
from .event_writer import EventWriter
from .request import CreateRequest
from .resource import ResponseState, ResponseStatus, resource_json
from .response_frame import ResponseFrame
from .turn_items import TurnItems

_REFUSED: Final = "(Not stored: a hook has refused these words.)"


class ResponseStream:
    """One response under way. `begin`, then `feed` with every event of the turn; or `fail`, or `cancel`.

    Each returns the events that come of it, in order, as they are to be sent. Exactly one terminal event comes, and
    nothing after it, whatever is fed.
    """

    def __init__(self, request: CreateRequest, frame: ResponseFrame) -> None:
        """Begin with nothing told. Of the request, what it says of the answer counts, and its `echo`."""
        self._request = request
        self._frame = frame
        self._events = EventWriter()
        self._items = TurnItems(request, frame, self._events)
        self._recorder = TranscriptRecorder()
        self._messages: Transcript | None = None
        self._state = ResponseState(ResponseStatus.IN_PROGRESS)
        self._usage = Usage()
        self.prompt: str | None = None
        """What the history has to keep in place of the user's words; None for the words themselves."""

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has come."""
        return self._state.status not in {ResponseStatus.QUEUED, ResponseStatus.IN_PROGRESS}

    @property
    def resource(self) -> JsonObject:
        """The response as far as it is told."""
        state = replace(self._state, output=self._events.items)
        return resource_json(self._request, self._frame.id, self._frame.created_at, state)

    @property
    def error(self) -> ApiError | None:
        """Why the response failed."""
        return self._state.error

    @property
    def has_acted(self) -> bool:
        """Whether a tool of the house was started, so that nobody should simply ask again."""
        return self._items.has_acted

    @property
    def messages(self) -> Transcript:
        """What the turn adds to its conversation after the client's input.

        Every call has its result, in order, but for those that the client has still to run. Valid at any moment.
        """
        return self._recorder.interrupted() if self._messages is None else self._messages

    def begin(self, *, queued: bool = False) -> list[JsonObject]:
        """Tell that there is a response; one that is queued goes on with the first event that is fed."""
        if queued:
            self._state = ResponseState(ResponseStatus.QUEUED)
        self._events.write("response.created", response=self.resource)
        self._events.write("response.queued" if queued else "response.in_progress", response=self.resource)
        return self._events.fetch()

    def feed(self, event: BackendEvent) -> list[JsonObject]:
        """Take in an event of the turn. After `TurnFinished` the response is over."""
        if self.is_over:
            return []
        self._go_on()
        match event:
            case ToolsOffered():
                self._items.take(event)
            case TurnFinished():
                self._finish(event)
            case _:
                self._recorder.add(event)
                self._items.take(event)
        match event:
            case PromptReplaced(text):
                self.prompt = text
            case UsageReported(usage):
                self._usage += usage
            case _:
                pass
        return self._events.fetch()

    def fail(self, error: ApiError) -> list[JsonObject]:
        """End a response whose turn broke off. What was begun is ended, and says so."""
        return self._break_off(FAILED, error)

    def cancel(self) -> list[JsonObject]:
        """End a response that nobody wants any more: its status is `cancelled`.

        The stream ends with `response.incomplete`, since there is no event of that name.
        """
        return self._break_off(CANCELLED)

    def _go_on(self) -> None:
        if self._state.status is ResponseStatus.QUEUED:
            self._state = ResponseState(ResponseStatus.IN_PROGRESS)
            self._events.write("response.in_progress", response=self.resource)

    def _finish(self, end: TurnFinished) -> None:
        self._messages = _in_order(self._recorder.messages)
        ending = ending_of(end.stop_reason, pauses_for_functions=self._request.pauses_for_functions)
        if end.stop_reason is StopReason.PROMPT_DENIED:
            self.prompt = _REFUSED
        self._items.end(end, is_whole=ending.is_whole)
        self._end(ending, as_api_error(end.error) if end.stop_reason is StopReason.PROVIDER_FAILED else None)

    def _break_off(self, ending: Ending, error: ApiError | None = None) -> list[JsonObject]:
        if self.is_over:
            return []
        self._go_on()
        self._messages = self._recorder.interrupted()
        self._items.break_off(self._messages)
        self._end(ending, error)
        return self._events.fetch()

    def _end(self, ending: Ending, error: ApiError | None) -> None:
        is_completed = ending.status is ResponseStatus.COMPLETED
        self._state = ResponseState(
            ending.status,
            usage=self._usage,
            incomplete_reason=ending.incomplete_reason,
            error=error,
            completed_at=int(self._frame.now()) if is_completed else None,
        )
        if error is not None:
            self._events.write("error", error=error.payload)
        self._events.write(ending.event, response=self.resource)


def _in_order(messages: Transcript) -> Transcript:
    """Return messages with the results that come last in the order of their calls."""
    calls = [one.tool_calls for one in messages if isinstance(one, AssistantMessage)]
    places = {call.id: place for of_message in calls for place, call in enumerate(of_message)}
    results: list[ToolResult] = []
    for message in reversed(messages):
        if not isinstance(message, ToolResult):
            break
        results.append(message)
    return (*messages[: len(messages) - len(results)], *sorted(results, key=lambda result: places[result.call_id]))

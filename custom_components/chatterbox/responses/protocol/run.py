"""Creates one response: takes its turn, streams its events, and stores it.

Sources: OpenResponses specification 2026-04-24, "Streaming", `ResponseResource`; OpenAI
API reference, "The response object".
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from enum import StrEnum
from typing import Final

from ...agent.errors import AgentError, traceback_without_words
from ...agent.events import PromptReplaced, StopReason, TurnFinished, UsageReported
from ...agent.json.text import objects_in
from ...agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from ...agent.transcript import TranscriptRecorder
from ...history.store.records import ResponseRecord
from .backend import Backend, BackendEvent, ToolsOffered
from .errors import ApiError, as_api_error
from .preparation import Plan
from .turn_items import EventWriter, TurnItems

_LOGGER = logging.getLogger(__name__)

_REFUSED: Final = "(Not stored: a hook has refused these words.)"
_ROLES: Final = (frozenset({"user"}), frozenset({"system", "developer"}))
"""Roles of the words that a turn begins with: the user's, or instructions where there are none."""


class ResponseStatus(StrEnum):
    """The `status` of a response."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    REQUIRES_ACTION = "requires_action"
    """It waits for function outputs, and the client has asked for this status with `chatterbox:client_tools_status`."""
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete."""
        return self in {ResponseStatus.COMPLETED, ResponseStatus.REQUIRES_ACTION}

    @property
    def terminal_event(self) -> str:
        """Type of the last event of a response that ends so. The API has none for cancelled ones."""
        if self.is_whole:
            return "response.completed"
        if self is ResponseStatus.FAILED:
            return "response.failed"
        return "response.incomplete"


def end_status(
    reason: StopReason, *, pauses_for_functions: bool
) -> tuple[ResponseStatus, str | None]:
    """Return the status of a response whose turn ended so, and the reason why it is incomplete."""
    match reason:
        case (
            StopReason.COMPLETED
            | StopReason.NOT_DONE
            | StopReason.PROMPT_DENIED
            | StopReason.APPROVAL_REQUIRED
        ):
            return ResponseStatus.COMPLETED, None
        case StopReason.CLIENT_TOOLS:
            return (
                ResponseStatus.REQUIRES_ACTION
                if pauses_for_functions
                else ResponseStatus.COMPLETED,
                None,
            )
        case StopReason.PROVIDER_FAILED:
            return ResponseStatus.FAILED, None
        case _:
            is_length = reason is StopReason.LENGTH
            return (
                ResponseStatus.INCOMPLETE,
                "max_output_tokens" if is_length else reason.value,
            )


def usage_json(usage: Usage) -> JsonObject:
    """Return the usage of a response: input includes cached tokens, output includes reasoning tokens.

    Cache writes are unknown here, but clients require the number.
    """
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": 0,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


class ResponseStream:
    """Translates the events of a turn into streaming events: `begin`, then `feed` each event, or `fail`, or `cancel`.

    A state machine without I/O. Each method returns the events to send. Exactly one
    terminal event is sent, and nothing after it, whatever is fed.
    """

    def __init__(self, plan: Plan) -> None:
        """Start without events."""
        self._plan = plan
        self._events = EventWriter()
        self._items = TurnItems(plan, self._events)
        self._recorder = TranscriptRecorder()
        self._messages: Transcript | None = None
        self._status = ResponseStatus.IN_PROGRESS
        self._incomplete_reason: str | None = None
        self._completed_at: int | None = None
        self._usage = Usage()
        self.error: ApiError | None = None
        """Why the response failed."""
        self.prompt: str | None = None
        """Stored in place of the user's words; None for the words themselves."""

    @property
    def is_over(self) -> bool:
        """Whether the terminal event was sent."""
        return self._status not in {ResponseStatus.QUEUED, ResponseStatus.IN_PROGRESS}

    @property
    def resource(self) -> JsonObject:
        """The response object as it is now."""
        plan = self._plan
        error = self.error
        reason = self._incomplete_reason
        return {
            **plan.request.echo,
            "id": plan.id,
            "object": "response",
            "created_at": int(plan.created_at),
            "completed_at": self._completed_at,
            "status": self._status.value,
            "incomplete_details": {"reason": reason} if reason else None,
            "error": error.in_response if error else None,
            "output": [*self._events.items],
            "usage": usage_json(self._usage) if self.is_over else None,
        }

    @property
    def has_acted(self) -> bool:
        """Whether a hosted tool was started, so that the request must not be repeated."""
        return self._items.has_acted

    @property
    def messages(self) -> Transcript:
        """The messages of the turn so far; every call but those of the client has its result."""
        if self._messages is None:
            return self._recorder.interrupted()
        return self._messages

    def begin(self, *, queued: bool = False) -> list[JsonObject]:
        """Announce the response. One that is queued is in progress from the first event that is fed."""
        if queued:
            self._status = ResponseStatus.QUEUED
        self._events.write("response.created", response=self.resource)
        self._events.write(
            "response.queued" if queued else "response.in_progress",
            response=self.resource,
        )
        return self._events.fetch()

    def feed(self, event: BackendEvent) -> list[JsonObject]:
        """Take an event of the turn. After `TurnFinished` the response is over."""
        if self.is_over:
            return []
        self._leave_queue()
        match event:
            case TurnFinished():
                self._finish(event)
            case ToolsOffered():
                self._items.add(event)
            case _:
                self._recorder.add(event)
                self._items.add(event)
                if isinstance(event, PromptReplaced):
                    self.prompt = event.text
                elif isinstance(event, UsageReported):
                    self._usage += event.usage
        return self._events.fetch()

    def fail(self, error: ApiError) -> list[JsonObject]:
        """End a response whose turn broke off; open items are completed as incomplete."""
        return self._break_off(ResponseStatus.FAILED, error=error)

    def cancel(self) -> list[JsonObject]:
        """End a response as `cancelled`. The API has no such event: the last one is `response.incomplete`."""
        return self._break_off(ResponseStatus.CANCELLED, "cancelled")

    def _leave_queue(self) -> None:
        if self._status is ResponseStatus.QUEUED:
            self._status = ResponseStatus.IN_PROGRESS
            self._events.write("response.in_progress", response=self.resource)

    def _finish(self, end: TurnFinished) -> None:
        self._messages = _in_order(self._recorder.messages)
        if end.stop_reason is StopReason.PROMPT_DENIED:
            self.prompt = _REFUSED
        pauses = self._plan.request.pauses_for_functions
        status, reason = end_status(end.stop_reason, pauses_for_functions=pauses)
        self._items.end(end, is_whole=status.is_whole)
        self._end(
            status,
            reason,
            as_api_error(end.error) if status is ResponseStatus.FAILED else None,
        )

    def _break_off(
        self,
        status: ResponseStatus,
        reason: str | None = None,
        error: ApiError | None = None,
    ) -> list[JsonObject]:
        if self.is_over:
            return []
        self._leave_queue()
        self._messages = self._recorder.interrupted()
        self._items.break_off(self._messages)
        self._end(
            status,
            reason,
            error,
        )
        return self._events.fetch()

    def _end(
        self, status: ResponseStatus, reason: str | None, error: ApiError | None
    ) -> None:
        self._status = status
        self._incomplete_reason = reason
        self.error = error
        if status is ResponseStatus.COMPLETED:
            self._completed_at = int(self._plan.now())
        if error is not None:
            self._events.write("error", error=error.payload)
        self._events.write(
            status.terminal_event,
            response=self.resource,
        )


class ResponseRun:
    """A response that is being created."""

    def __init__(
        self,
        backend: Backend,
        plan: Plan,
    ) -> None:
        """Prepare the response; `events` creates it."""
        self._backend = backend
        self.stream = ResponseStream(plan)
        self.plan = plan

    @property
    def failure(self) -> ApiError | None:
        """Why there is no answer, if no hosted tool has run: then the request can be repeated."""
        if self.stream.has_acted:
            return None
        return self.stream.error

    @property
    def record(self) -> ResponseRecord:
        """The response as it is stored."""
        plan = self.plan
        turn = self.plan.turn
        messages = plan.messages
        items = plan.request.items
        words = self.stream.prompt
        if words is not None:
            messages = replace_words(messages, words)
            items = replace_sent_words(items, words)
        return ResponseRecord(
            id=plan.id,
            agent=turn.agent,
            model=plan.request.model,
            user_id=turn.caller.user_id,
            conversation_id=turn.conversation_id,
            previous_response_id=plan.request.previous_response_id,
            created_at=plan.created_at,
            response=self.stream.resource,
            input=items,
            messages=messages + self.stream.messages,
        )

    async def events(self) -> AsyncGenerator[JsonObject]:
        """Take the turn, and yield the streaming events. The response is stored before its terminal event.

        Raises `ApiError` before the first event; later failures are events. Closing it
        ends the turn.
        """
        async with aclosing(self._backend.take(self.plan.turn)) as turn:
            offered = await anext(turn)
            for event in self.stream.begin(queued=self.plan.request.background):
                yield event
            ending: list[JsonObject] = []
            try:
                for event in self.stream.feed(offered):
                    yield event
                async for turn_event in turn:
                    following = self.stream.feed(turn_event)
                    if self.stream.is_over:
                        ending += following
                        continue
                    for event in following:
                        yield event
            except Exception as error:  # noqa: BLE001  # also a bug ends the stream with an event, and is logged
                ending += self._break_off(error)
        if not self.stream.is_over:
            ending += self._break_off(RuntimeError("a turn ended without telling how"))
        if (
            self.failure is None
            or self.plan.request.stream
            or self.plan.request.background
        ):
            await self.save()
        for event in ending:
            yield event

    async def save(self) -> None:
        """Store it as it is now, if it is to be stored."""
        if self.plan.store is not None:
            await self.plan.store.put(self.record)

    def _break_off(self, error: Exception) -> list[JsonObject]:
        if isinstance(error, AgentError | ApiError):
            return self.stream.fail(as_api_error(error))
        _LOGGER.error(
            "Response %s failed: %s", self.plan.id, traceback_without_words(error)
        )
        return self.stream.fail(as_api_error(None))


def replace_words(messages: Transcript, words: str) -> Transcript:
    """Return messages with other words in the last one, if that is a user's."""
    match messages:
        case (*others, UserMessage() as last):
            return (*others, replace(last, text=words))
        case _:
            return messages


def replace_sent_words(
    items: tuple[JsonObject, ...], words: str
) -> tuple[JsonObject, ...]:
    """Return input items with other words in the one that the turn begins with. Images and files are kept."""
    for roles in _ROLES:
        for index in range(len(items) - 1, -1, -1):
            if items[index].get("role") in roles:
                changed = {
                    **items[index],
                    "content": _with_words(
                        items[index].get("content"),
                        words,
                    ),
                }
                return (
                    *items[:index],
                    changed,
                    *items[index + 1 :],
                )
    return items


def _with_words(content: JsonValue, words: str) -> JsonValue:
    others = [part for part in objects_in(content) if part.get("type") != "input_text"]
    return [{"type": "input_text", "text": words}, *others]


def _in_order(messages: Transcript) -> Transcript:
    """Return messages with the results at their end in the order of the calls."""
    calls = [one.tool_calls for one in messages if isinstance(one, AssistantMessage)]
    places = {
        call.id: place for of_message in calls for place, call in enumerate(of_message)
    }
    results: list[ToolResult] = []
    for message in reversed(messages):
        if not isinstance(message, ToolResult):
            break
        results.append(message)
    return (
        *messages[: len(messages) - len(results)],
        *sorted(
            results,
            key=lambda result: places[result.call_id],
        ),
    )

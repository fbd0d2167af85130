"""The records of the store: turns, audit records, and responses of the Responses API."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from ..events import Phase, StopReason
from ..messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)

_NO_USAGE: Final = Usage()
_WEIGHT_OF_RECORD: Final = 1_000
"""Bytes of a record without its texts, roughly."""
_WEIGHT_OF_VALUE: Final = 50
"""Bytes of a JSON value without its text, roughly."""


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """The moment at which a turn entered a phase."""

    phase: Phase
    at: float
    """Seconds since the turn began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOrigin:
    """The speaker, the place and the agent of a turn; None where unknown."""

    conversation_id: str
    agent: str
    """Id of the agent that answers, stable when it is renamed."""
    person_id: str | None = None
    """Id of the speaker, stable when they change their name."""
    person: str | None = None
    """Name of the speaker."""
    device_id: str | None = None
    satellite: str | None = None
    caller: str | None = None
    """The automation or script that spoke."""
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A finished turn. Bytes of its attachments are not stored."""

    id: str
    """Unique among turns. A turn that is recorded twice is stored once."""
    origin: TurnOrigin
    began_at: float
    """Seconds since the epoch."""
    duration: float
    """Seconds."""
    messages: Transcript
    """The messages of this turn alone, the user message included."""
    stop_reason: StopReason | None
    """None for a turn that was cut off."""
    usage: Usage = _NO_USAGE
    """Sum over its inferences."""
    iterations: int = 0
    phases: tuple[PhaseTime, ...] = ()
    timings: JsonObject
    """Further measurements, such as the time of each request and tool."""

    @property
    def ended_at(self) -> float:
        """Seconds since the epoch."""
        return self.began_at + self.duration


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A change, a question or an approval."""

    id: str
    """Unique among audit records."""
    origin: TurnOrigin
    turn_id: str | None = None
    """The turn it belongs to, stored or not; None outside of a turn."""
    at: float
    """Seconds since the epoch."""
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """A response of the Responses API, with everything needed to continue from it."""

    id: str
    """Unique among responses. A response that is recorded again replaces the stored one."""
    agent: str
    """Id of the agent, stable when it is renamed."""
    model: str
    """Name of the agent in the request."""
    user_id: str
    """The user who sent the request; nobody else may read the response."""
    person_id: str | None = None
    """Id of the user's person, by which their records are selected."""
    conversation_id: str
    """The same for all responses of a chain."""
    previous_response_id: str | None = None
    created_at: float
    """Seconds since the epoch."""
    response: JsonObject
    """The response as the client gets it."""
    input: tuple[JsonObject, ...]
    """The input items of the client, each with its id."""
    messages: Transcript = ()
    """The messages that this response adds to its conversation."""


type Record = StoredTurn | AuditRecord | ResponseRecord


def said_in(messages: Iterable[Message]) -> str:
    """Return the words of the user messages."""
    return "\n".join(message.text for message in messages if isinstance(message, UserMessage) and message.text)


def answered_in(messages: Iterable[Message]) -> str:
    """Return the words of the assistant messages."""
    return "\n".join(message.text for message in messages if isinstance(message, AssistantMessage) and message.text)


def values_in(value: JsonValue) -> Iterator[JsonValue]:
    """Yield a JSON value and all values in it, always in the same order."""
    left = [value]
    while left:
        one = left.pop()
        yield one
        if isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def weight_of(record: Record) -> int:
    """Return roughly how many bytes of memory a record takes."""
    match record:
        case StoredTurn():
            return _WEIGHT_OF_RECORD + sum(map(_weight_of_message, record.messages))
        case AuditRecord():
            return _WEIGHT_OF_RECORD
        case ResponseRecord():
            values = values_in([record.response, *record.input])
            shown = sum(_WEIGHT_OF_VALUE + (len(one) if isinstance(one, str) else 0) for one in values)
            return _WEIGHT_OF_RECORD + shown + sum(map(_weight_of_message, record.messages))
        case _ as unreachable:
            assert_never(unreachable)


def _weight_of_message(message: Message) -> int:
    match message:
        case UserMessage(text, attachments, context):
            return len(text) + len(context) + sum(len(attachment.data) for attachment in attachments)
        case AssistantMessage(text, reasoning, calls, _):
            return len(text) + len(reasoning) + sum(len(call.arguments) for call in calls)
        case ToolResult():
            return len(message.content)
        case _ as unreachable:
            assert_never(unreachable)

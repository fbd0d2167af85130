"""What is recorded of a turn and of what was audited, and these ⇄ JSON objects as they are stored and exported.

Pure. Knows messages and the words of events; must not know tables or databases.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

from ..events import Phase, StopReason
from ..messages import AssistantMessage, JsonObject, JsonValue, Message, Transcript, Usage, UserMessage
from .json_fields import (
    StoredJsonInvalid,
    count_of,
    flag_of,
    number_of,
    object_of,
    objects_of,
    optional_text_of,
    text_of,
)
from .stored_transcripts import message_as_json, message_from_json

_NO_USAGE: Final = Usage()


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """When a turn walked into a phase."""

    phase: Phase
    at: float
    """Seconds since the turn began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOrigin:
    """Who spoke to which agent, and where; None is what nobody knows."""

    conversation_id: str
    agent: str
    """Id of the agent that answers."""
    person_id: str | None = None
    """Id of who spoke, stable when they change their name."""
    person: str | None = None
    """Their name."""
    device_id: str | None = None
    satellite: str | None = None
    caller: str | None = None
    """The automation or the script that spoke."""
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn that is over."""

    id: str
    """Unique among all turns. A turn that is recorded twice is stored once."""
    origin: TurnOrigin
    began_at: float
    """Seconds since the epoch, by the clock of that moment."""
    duration: float
    """Seconds."""
    messages: Transcript
    """Of this turn alone, what the person said included."""
    stop_reason: StopReason | None
    """None when the turn was cut off."""
    usage: Usage = _NO_USAGE
    """Summed over its inferences."""
    iterations: int = 0
    phases: tuple[PhaseTime, ...] = ()
    timings: JsonObject
    """Whatever else is worth knowing of how it went, such as the time of each request and tool."""
    keep_attachments: bool = False
    """Store the bytes of attachments too, not only what they were."""

    @property
    def ended_at(self) -> float:
        """Seconds since the epoch."""
        return self.began_at + self.duration


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """Something that has to be known later of what was done, asked or approved."""

    id: str
    """Unique among all audit records."""
    origin: TurnOrigin
    turn_id: str | None = None
    """The turn it belongs to, stored or not; None when it came to pass outside of one."""
    at: float
    """Seconds since the epoch."""
    body: JsonObject


_KINDS: Final = tuple(field.name for field in fields(Usage))
_PLACES: Final = tuple(field.name for field in fields(TurnOrigin))


def said_in(messages: Iterable[Message]) -> str:
    """Return what a person said."""
    return "\n".join(message.text for message in messages if isinstance(message, UserMessage) and message.text)


def answered_in(messages: Iterable[Message]) -> str:
    """Return what was answered."""
    return "\n".join(message.text for message in messages if isinstance(message, AssistantMessage) and message.text)


def messages_as_json(turn: TurnRecord) -> list[JsonObject]:
    """Write the messages of a turn."""
    return [message_as_json(message, keep_attachments=turn.keep_attachments) for message in turn.messages]


def turn_as_json(turn: TurnRecord) -> JsonObject:
    """Write a turn without its messages."""
    phases: list[JsonValue] = [{"phase": one.phase, "at": one.at} for one in turn.phases]
    return {
        "id": turn.id,
        "origin": _origin_as_json(turn.origin),
        "began_at": turn.began_at,
        "duration": turn.duration,
        "stop_reason": turn.stop_reason,
        "usage": {kind: getattr(turn.usage, kind) for kind in _KINDS},
        "iterations": turn.iterations,
        "phases": phases,
        "timings": turn.timings,
        "keep_attachments": turn.keep_attachments,
    }


def turn_from_json(data: JsonObject, messages: Iterable[JsonObject]) -> TurnRecord:
    """Read a stored turn. Raises StoredJsonInvalid for what was never written."""
    usage, stop_reason = object_of(data, "usage"), optional_text_of(data, "stop_reason")
    try:
        phases = tuple(PhaseTime(Phase(text_of(p, "phase")), number_of(p, "at")) for p in objects_of(data, "phases"))
        stopped = None if stop_reason is None else StopReason(stop_reason)
    except StoredJsonInvalid:
        raise
    except ValueError as err:
        raise StoredJsonInvalid("A phase or a stop reason is unknown.") from err
    return TurnRecord(
        id=text_of(data, "id", None),
        origin=_origin_from_json(object_of(data, "origin")),
        began_at=number_of(data, "began_at"),
        duration=number_of(data, "duration"),
        messages=tuple(message_from_json(message) for message in messages),
        stop_reason=stopped,
        usage=Usage(
            count_of(usage, "input_tokens"),
            count_of(usage, "output_tokens"),
            count_of(usage, "cached_tokens"),
            count_of(usage, "reasoning_tokens"),
        ),
        iterations=count_of(data, "iterations"),
        phases=phases,
        timings=object_of(data, "timings"),
        keep_attachments=flag_of(data, "keep_attachments"),
    )


def audit_as_json(record: AuditRecord) -> JsonObject:
    """Write an audit record."""
    return {
        "id": record.id,
        "origin": _origin_as_json(record.origin),
        "turn_id": record.turn_id,
        "at": record.at,
        "body": record.body,
    }


def audit_from_json(data: JsonObject) -> AuditRecord:
    """Read a stored audit record. Raises StoredJsonInvalid for what was never written."""
    return AuditRecord(
        id=text_of(data, "id", None),
        origin=_origin_from_json(object_of(data, "origin")),
        turn_id=optional_text_of(data, "turn_id"),
        at=number_of(data, "at"),
        body=object_of(data, "body"),
    )


def _origin_as_json(origin: TurnOrigin) -> JsonObject:
    return {key: value for key in _PLACES if (value := getattr(origin, key)) is not None}


def _origin_from_json(data: JsonObject) -> TurnOrigin:
    return TurnOrigin(
        conversation_id=text_of(data, "conversation_id", None),
        agent=text_of(data, "agent", None),
        person_id=optional_text_of(data, "person_id"),
        person=optional_text_of(data, "person"),
        device_id=optional_text_of(data, "device_id"),
        satellite=optional_text_of(data, "satellite"),
        caller=optional_text_of(data, "caller"),
        language=optional_text_of(data, "language"),
    )

"""Records of the store (turns, audit records, responses), their JSON, and their weight while they wait for it.

Fields with their default value are left out, and `native` results always. Attachments
of a turn are stored without their bytes, and read as a line in the context of their
message. Attachments of a response keep their bytes; bytes that its input holds too are
stored once.
"""

import asyncio
import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Final, assert_never

import orjson
from pydantic import Discriminator, Tag, TypeAdapter, ValidationError

from ...agent.events import PhaseTime, StopReason
from ...agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)


class Trouble(StrEnum):
    """Why the store cannot be used."""

    WRONG_URL = "wrong_url"
    """The database URL is invalid."""
    UNSUPPORTED = "unsupported"
    """The database is neither SQLite nor PostgreSQL."""
    NO_DRIVER = "no_driver"
    """The Python package of the database driver is not installed."""
    CANNOT_OPEN = "cannot_open"
    """The file cannot be opened or created."""
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"
    DISK_FAILED = "disk_failed"
    """The disk reports I/O errors."""
    LOCKED = "locked"
    """Another process holds the database."""
    CORRUPT = "corrupt"
    NEWER = "newer"
    """The tables have another schema version."""
    SERVER_GONE = "server_gone"
    """The server cannot be reached or rejects the login."""
    SLOW = "slow"
    """The database did not answer in time."""
    CLOSED = "closed"
    OTHER = "other"


class StoreUnavailable(Exception):
    """The store cannot be used now. The text says why and what helps, without any secret.

    It is no `AgentError`, because no turn fails of it.
    """

    def __init__(
        self,
        trouble: Trouble,
        message: str,
    ) -> None:
        """Keep the reason for callers with texts of their own."""
        super().__init__(message)
        self.trouble = trouble


class RecordRefused(Exception):
    """The database works but rejects this record; a retry is useless."""


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """Bounds of the queue, and pauses between retries. Beyond the bounds, the oldest records are dropped."""

    records: int = 1_000
    bytes: int = 64 * 1024 * 1024
    first_pause: float = 1.0
    """Seconds; each pause is twice as long as the one before."""
    longest_pause: float = 60.0


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of the store."""

    trouble: Trouble | None = None
    """Why it cannot be used; None when it can."""
    message: str = ""
    """The same as a text, without a password."""
    waiting: int = 0
    """Records that are not stored yet."""
    dropped: int = 0
    """Records that never will be: the queue was full, or the database refused them."""
    put_aside: str = ""
    """Path of the latest damaged file that was replaced by a new one."""


class Acknowledgement:
    """The outcome of storing one record."""

    def __init__(self) -> None:
        """Start without an outcome."""
        self._outcome = Future[bool]()
        # a waiter that is cancelled does not cancel it for others
        self._outcome.set_running_or_notify_cancel()

    async def stored(self, at_most: float | None = None) -> bool:
        """Wait until the record is stored (True) or given up (False), or `at_most` some seconds (False)."""
        if self._outcome.done():
            return self._outcome.result()
        try:
            async with asyncio.timeout(at_most):
                return await asyncio.wrap_future(self._outcome)
        except TimeoutError:
            return False

    @property
    def given(self) -> bool:
        """Whether the outcome is known."""
        return self._outcome.done()

    def give(self, *, stored: bool) -> None:
        """Set the outcome, once, from any thread."""
        self._outcome.set_result(stored)


_NO_USAGE: Final = Usage()
_WEIGHT_OF_RECORD: Final = 1_000
"""Bytes of a record without its texts, roughly."""
_WEIGHT_OF_VALUE: Final = 50
"""Bytes of a JSON value without its text, roughly."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
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


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
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


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
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


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
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
    return "\n".join(
        message.text
        for message in messages
        if isinstance(message, UserMessage) and message.text
    )


def answered_in(messages: Iterable[Message]) -> str:
    """Return the words of the assistant messages."""
    return "\n".join(
        message.text
        for message in messages
        if isinstance(message, AssistantMessage) and message.text
    )


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
            weight = sum(
                _WEIGHT_OF_VALUE + (len(one) if isinstance(one, str) else 0)
                for one in values
            )
            return (
                _WEIGHT_OF_RECORD
                + weight
                + sum(map(_weight_of_message, record.messages))
            )
        case _ as unreachable:
            assert_never(unreachable)


def _weight_of_message(message: Message) -> int:
    match message:
        case UserMessage(text, attachments, context, omitted):
            return (
                len(text)
                + len(context)
                + len(omitted)
                + sum(len(attachment.data) for attachment in attachments)
            )
        case AssistantMessage(text, reasoning, calls, _):
            return (
                len(text) + len(reasoning) + sum(len(call.arguments) for call in calls)
            )
        case ToolResult():
            return len(message.content)
        case _ as unreachable:
            assert_never(unreachable)


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False,
    separators=(",", ":"),
)
_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_LONG: Final = 1_000
"""Characters from which on bytes that the input holds too are stored once."""
_BASE64_MARK: Final = ";base64,"
"""Precedes the bytes in a `data:` URL."""


class StoredJsonInvalid(ValueError):
    """Stored JSON is not what this module writes. The text quotes none of it."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class _StoredAttachment:
    mime_type: str
    name: str
    size: int
    sha256: str
    data: str | None = None
    """Base64; None where the bytes are not stored here."""
    in_input: int | None = None
    """Index of the bytes among the long texts of the input."""


def _role_of(value: Message | JsonObject) -> str | None:
    match value:
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case ToolResult():
            return "tool"
        case _:
            role = value.get("role")
            if isinstance(role, str):
                return role
            return None


_MESSAGE: Final[TypeAdapter[Message]] = TypeAdapter(
    Annotated[
        Annotated[UserMessage, Tag("user")]
        | Annotated[AssistantMessage, Tag("assistant")]
        | Annotated[ToolResult, Tag("tool")],
        Discriminator(_role_of),
    ]
)
_OBJECTS: Final = TypeAdapter(list[JsonObject])
_STORED_ATTACHMENTS: Final = TypeAdapter(list[_StoredAttachment])
_TURN: Final = TypeAdapter(StoredTurn)
_AUDIT: Final = TypeAdapter(AuditRecord)
_RESPONSE: Final = TypeAdapter(ResponseRecord)


def stored_json(value: JsonValue) -> str:
    """Write JSON that every database accepts: no NUL, no lone surrogates. NaN and infinity become null."""
    try:
        return orjson.dumps(value).decode()
    except (
        TypeError
    ):  # a lone surrogate, an integer of more than 64 bits, or very deep nesting
        text = _ENCODER.encode(value)
        if "NaN" in text or "Infinity" in text:
            text = _ENCODER.encode(json.loads(text, parse_constant=_null))
    return _LONE_SURROGATES.sub(
        lambda half: f"\\u{ord(half[0]):04x}",
        text,
    )


def _null(_number: str) -> None:
    """Read NaN or infinity."""


def read_object(text: str) -> JsonObject:
    """Read a stored JSON object, or raise StoredJsonInvalid."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError as err:
        raise StoredJsonInvalid("It is not JSON.") from err
    if not isinstance(value, dict):
        raise StoredJsonInvalid("It is not a JSON object.")
    return value


def turn_as_json(turn: StoredTurn) -> JsonObject:
    """Return a turn as JSON."""
    data: JsonObject = _TURN.dump_python(
        turn, exclude={"messages"}, exclude_defaults=True
    )
    return data | {"messages": [_message_as_json(message) for message in turn.messages]}


def turn_from_json(data: JsonObject) -> StoredTurn:
    """Read a stored turn, or raise StoredJsonInvalid."""
    return _read(
        _TURN,
        data | {"messages": _messages_from_json(data, ())},
    )


def audit_as_json(record: AuditRecord) -> JsonObject:
    """Return an audit record as JSON."""
    data: JsonObject = _AUDIT.dump_python(record, exclude_defaults=True)
    return data


def audit_from_json(data: JsonObject) -> AuditRecord:
    """Read a stored audit record, or raise StoredJsonInvalid."""
    return _read(_AUDIT, data)


def response_as_json(record: ResponseRecord) -> JsonObject:
    """Return a response as JSON."""
    places = {payload: place for place, payload in enumerate(_payloads(record.input))}
    data: JsonObject = _RESPONSE.dump_python(
        record, exclude={"messages"}, exclude_defaults=True
    )
    return data | {
        "messages": [_message_as_json(message, places) for message in record.messages]
    }


def response_from_json(data: JsonObject) -> ResponseRecord:
    """Read a stored response, or raise StoredJsonInvalid."""
    items = _read(_OBJECTS, data.get("input"))
    payloads = _payloads(items)
    return _read(
        _RESPONSE,
        data | {"messages": _messages_from_json(data, payloads)},
    )


def _message_as_json(
    message: Message, places: Mapping[str, int] | None = None
) -> JsonObject:
    """Return a message as JSON, without the bytes that have a place in the input; without `places`, without any."""
    data: JsonObject = _MESSAGE.dump_python(
        message, exclude={"attachments", "native"}, exclude_defaults=True
    )
    if isinstance(message, UserMessage) and message.attachments:
        data["attachments"] = [
            _attachment_as_json(one, places) for one in message.attachments
        ]
    return {"role": _role_of(message)} | data


def _attachment_as_json(
    attachment: Attachment, places: Mapping[str, int] | None
) -> JsonObject:
    if places is None:
        data = None
    else:
        data = base64.b64encode(attachment.data).decode("ascii")
    place = (places or {}).get(data or "")
    stored = _StoredAttachment(
        mime_type=attachment.mime_type,
        name=attachment.name,
        size=len(attachment.data),
        sha256=hashlib.sha256(attachment.data).hexdigest(),
        data=data if place is None else None,
        in_input=place,
    )
    return {key: value for key, value in asdict(stored).items() if value is not None}


def _messages_from_json(
    data: JsonObject,
    payloads: Iterable[str],
) -> Transcript:
    known = dict(enumerate(payloads))
    return tuple(
        _message_from_json(message, known)
        for message in _read(_OBJECTS, data.get("messages"))
    )


def _message_from_json(
    data: JsonObject,
    payloads: Mapping[int, str],
) -> Message:
    """Read a stored message, whose attachments may be among the `payloads` of the input, or raise StoredJsonInvalid."""
    message = _read(
        _MESSAGE, {key: value for key, value in data.items() if key != "attachments"}
    )
    if not isinstance(message, UserMessage):
        return message
    attachments: list[Attachment] = []
    if message.context:
        context = [message.context]
    else:
        context = []
    for one in _read(_STORED_ATTACHMENTS, data.get("attachments", [])):
        if one.in_input is None:
            encoded = one.data
        else:
            encoded = payloads.get(one.in_input, "?")
        if encoded is None:
            context.append(
                f"Shown then, and not kept: {one.mime_type} {one.name}".rstrip()
            )
            continue
        try:
            attachments.append(
                Attachment(
                    one.mime_type, base64.b64decode(encoded, validate=True), one.name
                )
            )
        except binascii.Error as err:
            raise StoredJsonInvalid("The bytes of an attachment are damaged.") from err
    return UserMessage(
        message.text, tuple(attachments), "\n".join(context), message.omitted
    )


def _read[
    T,
](adapter: TypeAdapter[T], data: object) -> T:
    try:
        return adapter.validate_python(data)
    except ValidationError as err:
        first = err.errors()[0]
        raise StoredJsonInvalid(
            f"{'.'.join(map(str, first['loc']))}: {first['type']}"
        ) from None


def _payloads(items: Iterable[JsonObject]) -> Iterator[str]:
    """Yield the long texts of an input; of a `data:` URL the bytes."""
    for value in values_in([*items]):
        if isinstance(value, str) and len(value) >= _LONG:
            head, mark, data = value[:_LONG].partition(_BASE64_MARK)
            yield (
                value[len(head) + len(mark) :]
                if mark and head.startswith("data:") and data
                else value
            )


KEY_LENGTH: Final = 80


def key_of(value: str) -> str:
    """Return a value for a column that is searched.

    Values that a database would reject, cut or confuse with others are replaced by
    their hash.
    """
    if (
        len(value) <= KEY_LENGTH
        and value.isprintable()
        and value == value.strip()
        and not value.startswith("sha256:")
    ):
        return value
    return (
        f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"
    )

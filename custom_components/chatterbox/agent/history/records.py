"""All kinds of records that the store keeps, and how heavy they are while they wait for it.

Pure. Must not know tables, or what becomes of a record.
"""

from typing import Final, assert_never

from ..messages import AssistantMessage, JsonValue, Message, ToolResult, Transcript, UserMessage
from .json_fields import values_in
from .response_records import ResponseRecord
from .turn_records import AuditRecord, TurnRecord

type Record = TurnRecord | AuditRecord | ResponseRecord

_WEIGHT_OF_A_RECORD: Final = 1_000
"""Bytes that a record takes besides its texts, roughly."""
_WEIGHT_OF_A_VALUE: Final = 50
"""The same of a value in JSON."""


def weight_of(record: Record) -> int:
    """Return about how many bytes of memory a record takes, at no great cost."""
    match record:
        case TurnRecord():
            return _WEIGHT_OF_A_RECORD + _weight_of_transcript(record.messages)
        case AuditRecord():
            return _WEIGHT_OF_A_RECORD
        case ResponseRecord():
            shown = _weight_of_json([record.response, *record.input])
            return _WEIGHT_OF_A_RECORD + shown + _weight_of_transcript(record.messages)
        case _ as unreachable:
            assert_never(unreachable)


def _weight_of_transcript(messages: Transcript) -> int:
    return sum([_weight_of_message(message) for message in messages])


def _weight_of_message(message: Message) -> int:
    match message:
        case UserMessage(text, attachments, context):
            return len(text) + len(context) + sum([len(attachment.data) for attachment in attachments])
        case AssistantMessage(text, reasoning, calls, _):
            return len(text) + len(reasoning) + sum([len(call.arguments) for call in calls])
        case ToolResult():
            return len(message.content)
        case _ as unreachable:
            assert_never(unreachable)


def _weight_of_json(value: JsonValue) -> int:
    return sum(_WEIGHT_OF_A_VALUE + (len(one) if isinstance(one, str) else 0) for one in values_in(value))

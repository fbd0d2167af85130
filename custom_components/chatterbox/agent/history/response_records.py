"""What is stored of a response of the Responses API, and this ⇄ JSON objects.

Pure. Knows messages; must not know tables, HTTP, or what is in a response.
"""

from dataclasses import dataclass

from ..messages import JsonObject, Transcript
from .attachments_in_input import point_to_input, take_from_input
from .json_fields import number_of, object_of, objects_of, optional_text_of, text_of
from .stored_transcripts import message_as_json, message_from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """A response, and what it takes to go on from it."""

    id: str
    """Unique among all responses. One that is recorded again takes the place of what is stored under its id."""
    agent: str
    """Id of the agent, stable when it is renamed."""
    model: str
    """What the client has called it."""
    user_id: str
    """Who asked: nobody else may know that it is there."""
    person_id: str | None = None
    """Id of the person that the user is, by which what is kept of somebody is found."""
    conversation_id: str
    """What all responses of a chain have in common."""
    previous_response_id: str | None = None
    created_at: float
    """Seconds since the epoch."""
    response: JsonObject
    """As the client gets it; its `status` included."""
    input: tuple[JsonObject, ...]
    """The items that the client sent, each with its id."""
    messages: Transcript = ()
    """What this response adds to its conversation: what the client sent, and what came of it."""


def response_as_json(record: ResponseRecord) -> JsonObject:
    """Write a response. Bytes of attachments are kept, as the client may go on with them."""
    messages = [message_as_json(message, keep_attachments=True) for message in record.messages]
    point_to_input(messages, record.input)
    return {
        "id": record.id,
        "agent": record.agent,
        "model": record.model,
        "user_id": record.user_id,
        "person_id": record.person_id,
        "conversation_id": record.conversation_id,
        "previous_response_id": record.previous_response_id,
        "created_at": record.created_at,
        "response": record.response,
        "input": [*record.input],
        "messages": [*messages],
    }


def response_from_json(data: JsonObject) -> ResponseRecord:
    """Read a stored response, whose JSON is used up. Raises StoredJsonInvalid for what was never written."""
    items, messages = objects_of(data, "input"), objects_of(data, "messages")
    take_from_input(messages, items)
    return ResponseRecord(
        id=text_of(data, "id", None),
        agent=text_of(data, "agent", None),
        model=text_of(data, "model", None),
        user_id=text_of(data, "user_id", None),
        person_id=optional_text_of(data, "person_id"),
        conversation_id=text_of(data, "conversation_id", None),
        previous_response_id=optional_text_of(data, "previous_response_id"),
        created_at=number_of(data, "created_at"),
        response=object_of(data, "response"),
        input=tuple(items),
        messages=tuple(message_from_json(message) for message in messages),
    )

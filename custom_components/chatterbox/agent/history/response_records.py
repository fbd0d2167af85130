"""What is stored of a response of the Responses API, and this ⇄ JSON objects.

Pure. Knows messages; must not know tables, HTTP, or what is in a response.
"""

from dataclasses import dataclass

from ..messages import JsonObject, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """A response, and what it takes to go on from it."""

    id: str
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

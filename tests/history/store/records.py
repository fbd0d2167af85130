"""Turns, audit records and responses to store, written out or of any kind."""

from hypothesis import strategies as st

from custom_components.chatterbox.agent.events import Phase, PhaseTime, StopReason
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.history.store.records import (
    AuditRecord,
    ResponseRecord,
    StoredTurn,
    TurnOrigin,
)
from tests.agent.json_values import json_objects

MORNING = 1_790_000_000.0
"""Seconds since the epoch."""
DAY = 86_400.0

# With NUL and with characters beyond the first 65,536; without lone surrogates, of
# which two may join.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
_TEXT_OR_NONE = st.none() | TEXTS
_CALLS = st.builds(ToolCall, TEXTS, TEXTS, TEXTS)
_COUNTS = st.integers(0, 2**53)
_SECONDS = st.floats(0, 1e10)

_ATTACHMENTS = st.builds(Attachment, TEXTS, st.binary(max_size=20), TEXTS)

_OTHER_MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, TEXTS, st.just(()), TEXTS),
    st.builds(
        AssistantMessage,
        TEXTS,
        TEXTS,
        st.lists(_CALLS, max_size=2).map(tuple),
        st.lists(st.builds(ProviderItem, TEXTS, json_objects()), max_size=2).map(tuple),
    ),
    st.builds(
        ToolResult, TEXTS, TEXTS, TEXTS, st.booleans(), st.booleans(), st.booleans()
    ),
)
_MESSAGES = _OTHER_MESSAGES | st.builds(
    UserMessage, TEXTS, st.lists(_ATTACHMENTS, max_size=2).map(tuple), TEXTS
)

ORIGINS = st.builds(
    TurnOrigin,
    conversation_id=TEXTS,
    agent=TEXTS,
    person_id=_TEXT_OR_NONE,
    person=_TEXT_OR_NONE,
    device_id=_TEXT_OR_NONE,
    satellite=_TEXT_OR_NONE,
    caller=_TEXT_OR_NONE,
    language=_TEXT_OR_NONE,
)

TURNS = st.builds(
    StoredTurn,
    id=TEXTS,
    origin=ORIGINS,
    began_at=_SECONDS,
    duration=_SECONDS,
    messages=st.lists(_OTHER_MESSAGES, max_size=4).map(tuple),
    stop_reason=st.none() | st.sampled_from(StopReason),
    usage=st.builds(Usage, _COUNTS, _COUNTS, _COUNTS, _COUNTS),
    iterations=st.integers(0, 10),
    phases=st.lists(
        st.builds(PhaseTime, st.sampled_from(Phase), _SECONDS), max_size=3
    ).map(tuple),
    timings=json_objects(),
)

AUDIT = st.builds(
    AuditRecord,
    id=TEXTS,
    origin=ORIGINS,
    turn_id=_TEXT_OR_NONE,
    at=_SECONDS,
    body=json_objects(),
)

RESPONSES = st.builds(
    ResponseRecord,
    id=TEXTS,
    agent=TEXTS,
    model=TEXTS,
    user_id=TEXTS,
    person_id=_TEXT_OR_NONE,
    conversation_id=TEXTS,
    previous_response_id=_TEXT_OR_NONE,
    created_at=_SECONDS,
    response=json_objects(),
    input=st.lists(json_objects(), max_size=3).map(tuple),
    messages=st.lists(_MESSAGES, max_size=4).map(tuple),
)


def turn(
    number: int,
    conversation: str = "kitchen talk",
    *,
    agent: str = "agent",
    person: str | None = None,
    device: str | None = None,
    ended_at: float | None = None,
    words: str | None = None,
    messages: Transcript | None = None,
    usage: Usage | None = None,
) -> StoredTurn:
    """Return a turn; it lasted two seconds, and began a minute after the one before."""
    began_at = MORNING + number * 60 if ended_at is None else ended_at - 2
    return StoredTurn(
        id=f"turn {number}",
        origin=TurnOrigin(
            conversation_id=conversation,
            agent=agent,
            person_id=person,
            device_id=device,
        ),
        began_at=began_at,
        duration=2.0,
        messages=messages
        if messages is not None
        else spoken(words or f"Say {number}.", f"It is {number}."),
        stop_reason=StopReason.COMPLETED,
        usage=usage or Usage(10, 2, 5, 1),
        iterations=1,
        phases=(PhaseTime(Phase.RECEIVE_INPUT, 0.0), PhaseTime(Phase.OUTPUT, 1.5)),
        timings={"first_token": 0.25},
    )


def spoken(words: str, answer: str) -> Transcript:
    """Return the messages of a turn without tools."""
    return UserMessage(words), AssistantMessage(answer)


def audit(
    number: int,
    conversation: str = "kitchen talk",
    *,
    agent: str = "agent",
    person: str | None = None,
) -> AuditRecord:
    """Return an audit record."""
    body: JsonObject = {"outcome": "done", "number": number}
    origin = TurnOrigin(conversation_id=conversation, agent=agent, person_id=person)
    return AuditRecord(
        id=f"audit {number}",
        origin=origin,
        turn_id="turn 1",
        at=MORNING + number * 60,
        body=body,
    )


def response(
    number: int,
    conversation: str = "resp 1",
    *,
    agent: str = "agent",
    person: str | None = None,
    status: str = "completed",
    words: str | None = None,
    created_at: float | None = None,
) -> ResponseRecord:
    """Return a response, a minute after the one before."""
    words = words or f"Say {number}."
    return ResponseRecord(
        id=f"resp {number}",
        agent=agent,
        model="conversation.kitchen",
        user_id="user",
        person_id=person,
        conversation_id=conversation,
        previous_response_id=f"resp {number - 1}" if number > 1 else None,
        created_at=MORNING + number * 60 if created_at is None else created_at,
        response={"id": f"resp {number}", "object": "response", "status": status},
        input=(
            {
                "type": "message",
                "id": f"msg {number}",
                "role": "user",
                "content": words,
            },
        ),
        messages=spoken(words, f"It is {number}."),
    )

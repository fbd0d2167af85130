"""Plans a response: reads the request, finds what it continues, and checks everything before the turn begins.

All errors of a request are raised here, or by the backend before its first event.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Final

from ...agent.events import Answer
from ...agent.messages import (
    AssistantMessage,
    JsonObject,
    Transcript,
    UserMessage,
    paragraphs,
)
from ...agent.transcript import repair, without_results
from ...history.store.records import ResponseRecord, weight_of
from .backend import (
    ApprovalDecisions,
    Backend,
    Caller,
    ModelInfo,
    ResponseStore,
    TurnRequest,
    TurnWishes,
)
from .body import BodyReader
from .chains import ConversationState, StoredResponses, items_of
from .conversations import ADDITION, Conversations, items_in
from .errors import bad_approval, bad_value, invalid, not_found
from .items.encrypted_content import ContentCodec
from .items.parts import InvalidItem
from .items.reading import ParsedItems, parse_items
from .items.schema import (
    ApprovalResponseItem,
    NewId,
    item_ids,
    new_response_id,
    read_approval_request_id,
)
from .request import CreateRequest, parse_input

type Unstored = Mapping[str, ConversationState]
"""States after responses that can be continued although they are not stored, by response id. A response that continues
one is not stored either."""

NOTHING_UNSTORED: Final[Unstored] = {}
_MOST_CONTINUED: Final = 20_000_000
"""Bytes of memory that earlier responses take: they are all read, and sent to a model, with each further one."""
_CONTINUE: Final = "(Answer the conversation above.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A response that is about to be created."""

    id: str
    created_at: float
    """Seconds since the epoch."""
    request: CreateRequest
    turn: TurnRequest
    state: ConversationState
    """The conversation that the response continues."""
    messages: Transcript
    """The messages of the client."""
    store: ResponseStore | None
    """None for a response that is not stored."""
    new_id: NewId
    now: Callable[[], float]
    """Returns seconds since the epoch."""
    codec: ContentCodec
    listed: frozenset[str] = frozenset()
    """Server labels whose tools the chain has listed already."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Plans responses."""

    _backend: Backend
    _stored: StoredResponses
    _conversations: Conversations
    _codec: ContentCodec
    _clock: Callable[[], float]
    """Returns seconds since the epoch."""
    bodies: BodyReader

    async def plan(
        self,
        caller: Caller,
        size: int,
        parse: Callable[[NewId], CreateRequest],
        unstored: Unstored = NOTHING_UNSTORED,
    ) -> Plan:
        """Return the plan of the response to a request: `parse` reads it from a body of a size. Raises `ApiError`."""
        response_id = new_response_id()
        new_id = item_ids(response_id)
        request = await self.bodies.read(size, partial(parse, new_id))
        agent = find_model(self._backend, request.model)
        store = self._backend.store(agent.id) if agent.stores_responses else None
        if request.conversation_id is None:
            state = await self.state(
                caller, request.previous_response_id, response_id, unstored
            )
        else:
            state = await self._in_conversation(caller, store, request.conversation_id)
            # Without outputs, the conversation gives up the calls that it waits for:
            # else it could not continue.
            if all(item["type"] != "function_call_output" for item in request.items):
                state = replace(state, transcript=repair(state.transcript))
        if sum(map(weight_of, state.before)) > _MOST_CONTINUED:
            raise invalid(
                "What came before is too long to be continued. Compact it, or start anew.",
                "previous_response_id",
                "context_length_exceeded",
            )
        request = _with_store(
            request, None if request.previous_response_id in unstored else store
        )
        parsed = _with_request(await self.parse(caller, size, request.items, state))
        return Plan(
            id=response_id,
            created_at=self._clock(),
            request=request,
            turn=_turn(request, agent, caller, state, parsed),
            state=state,
            messages=parsed.messages,
            store=store if request.store else None,
            new_id=new_id,
            now=self._clock,
            codec=self._codec,
            listed=parsed.listed
            | listed_labels(
                item for record in state.before for item in items_of(record)
            ),
        )

    async def state(
        self,
        caller: Caller,
        previous_id: str | None,
        response_id: str,
        unstored: Unstored = NOTHING_UNSTORED,
    ) -> ConversationState:
        """Return the state that a response continues which names the one before it, or none."""
        if previous_id is None:
            return ConversationState(conversation_id=response_id)
        known = unstored.get(previous_id)
        if known is not None:
            return known
        state = await self._stored.after_response(
            caller,
            previous_id,
            response_id,
        )
        if any(record.response.get("object") == ADDITION for record in state.before):
            return await self._after_items(state.conversation_id, state.before)
        return state

    async def _in_conversation(
        self, caller: Caller, store: ResponseStore | None, conversation_id: str
    ) -> ConversationState:
        """Return the state of a conversation: of one that a client has made, or that of its responses."""
        made = await self._conversations.find(conversation_id, caller)
        if made is None:
            return await self._stored.in_conversation(
                caller,
                store,
                conversation_id,
            )
        return await self._after_items(conversation_id, made)

    async def _after_items(
        self, conversation_id: str, made: tuple[ResponseRecord, ...]
    ) -> ConversationState:
        """Return the state after the items of a conversation; calls without outputs wait for these."""
        items = items_in(made)
        try:
            parsed = await self.bodies.read(
                sum(map(weight_of, made)), partial(parse_items, items, self._codec)
            )
        except InvalidItem as error:
            raise bad_value(
                f"This conversation cannot be continued: {error.message} Create another one.",
                "conversation",
            ) from error
        waiting = _call_ids(items, "function_call") - _call_ids(
            items, "function_call_output"
        )
        return ConversationState(
            conversation_id=conversation_id,
            transcript=without_results(parsed.messages, waiting),
            before=made,
        )

    async def parse(
        self,
        caller: Caller,
        size: int,
        items: tuple[JsonObject, ...],
        state: ConversationState,
    ) -> ParsedItems:
        """Translate the items that a client sends, in a body of a size, to continue a state. Raises `ApiError`."""
        if any(item["type"] == "item_reference" for item in items):
            items = await self._stored.resolve(
                caller,
                items,
                state.before,
            )
        return await self.bodies.read(
            size, partial(parse_input, items, self._codec, state.transcript)
        )


def _call_ids(
    items: Iterable[JsonObject],
    kind: str,
) -> set[str]:
    return {str(item["call_id"]) for item in items if item["type"] == kind}


def find_model(backend: Backend, model: str) -> ModelInfo:
    """Return the agent that a client names as model. Raises `ApiError` (404)."""
    for info in backend.agents():
        if info.id == model:
            return info
    raise not_found(
        f"The model '{model}' does not exist, or does not answer here. GET models lists those that do.",
        "model",
        "model_not_found",
    )


def approval_decisions(
    responses: Sequence[ApprovalResponseItem], answered: frozenset[str]
) -> ApprovalDecisions | None:
    """Return the decisions of a client; None without any. Raises `ApiError` (400) unless they answer one response.

    Clients repeat answers that they have sent before (`answered`); these count only if
    there are no new ones.
    """
    new = [
        response
        for response in responses
        if response.approval_request_id not in answered
    ]
    pending_id: str | None = None
    decisions: dict[int, Answer] = {}
    for response in new or responses:
        request = read_approval_request_id(response.approval_request_id)
        if request is None:
            raise bad_approval(
                f"There is no approval request '{response.approval_request_id}'."
            )
        if pending_id not in {None, request[0]}:
            raise bad_approval(
                "These answer approval requests of several responses. Answer one at a time."
            )
        pending_id = request[0]
        decisions.setdefault(
            request[1], Answer(response.approve, response.reason or "")
        )
    if pending_id is None:
        return None
    return ApprovalDecisions(pending_id, decisions)


def _with_store(
    request: CreateRequest,
    store: ResponseStore | None,
) -> CreateRequest:
    """Return the request as it can be served with this store. Raises `ApiError` (400) where it cannot."""
    is_stored = request.store and store is not None
    if request.background and not is_stored:
        raise invalid(
            "A response in the background has to be stored, which this request or this agent does not allow.",
            "background",
        )
    if is_stored:
        return request
    return replace(
        request,
        store=False,
        echo={
            **request.echo,
            "store": False,
        },
    )


def _with_request(parsed: ParsedItems) -> ParsedItems:
    """Ask for an answer to input that ends with an assistant message, as that of nested handoffs does.

    Many services refuse such a conversation, or have the model continue its last
    sentence.
    """
    if (
        parsed.approvals
        or not parsed.messages
        or not isinstance(parsed.messages[-1], AssistantMessage)
    ):
        return parsed
    return replace(
        parsed, messages=(*parsed.messages, UserMessage("", context=_CONTINUE))
    )


def _turn(
    request: CreateRequest,
    agent: ModelInfo,
    caller: Caller,
    state: ConversationState,
    parsed: ParsedItems,
) -> TurnRequest:
    transcript = repair(state.transcript + parsed.messages)
    answered = (
        item
        for record in state.before
        for item in record.input
        if item["type"] == "mcp_approval_response"
    )
    approval = approval_decisions(
        parsed.approvals,
        frozenset(str(item["approval_request_id"]) for item in answered),
    )
    if approval is None and (
        not transcript or isinstance(transcript[-1], AssistantMessage)
    ):
        raise invalid(
            "There is nothing to answer: the input has to end with a user message or an output.",
            "input",
        )
    return TurnRequest(
        agent=agent.id,
        caller=caller,
        conversation_id=state.conversation_id,
        transcript=transcript,
        added=None
        if request.previous_response_id is None and request.conversation_id is None
        else parsed.messages,
        instructions=paragraphs(request.instructions, parsed.instructions),
        approval=approval,
        may_store=request.store,
        **{field.name: getattr(request, field.name) for field in fields(TurnWishes)},
    )


def listed_labels(items: Iterable[JsonObject]) -> frozenset[str]:
    """Return the server labels whose tools are listed in items. A list that failed is sent again."""
    lists = (
        item
        for item in items
        if item.get("type") == "mcp_list_tools" and item.get("error") is None
    )
    return frozenset(
        label for item in lists if isinstance(label := item.get("server_label"), str)
    )

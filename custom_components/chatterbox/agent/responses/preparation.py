"""From what a client asks for to the plan of a response: all that has to be read, looked up and checked before.

Knows requests, chains and items. Must not know how a turn is taken, or who listens. Everything that can be wrong with
a request is found here or by the house as it begins, before anything is told or done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..messages import AssistantMessage, JsonObject, JsonValue, ProviderItem, Transcript
from ..transcript import repair
from .approval_responses import decisions_of
from .backend import Backend, Caller, ModelInfo, ResponseStore, TurnRequest
from .call_items import listed_labels
from .chains import Chains, Ground
from .errors import invalid
from .identifiers import ItemIds, NewId, new_response_id
from .input_items import translate_input
from .item_references import ItemReferences, items_of
from .items.carriers import sealed_provider_items
from .items.reading import Translated
from .items.sealed_content import Seal
from .model_list import chosen
from .request import CreateRequest, Truncation
from .request_reading import read_create
from .response_frame import ResponseFrame
from .response_run import Plan
from .stored_responses import StoredResponses

type Reader = Callable[[JsonValue, NewId], CreateRequest]
"""Reads what a client asks for; an item without an id is given one. Raises `ApiError`."""

type Remembered = Mapping[str, Ground]
"""What can be gone on from although it is not stored: what stands after a response, by its id. What goes on from it is
not stored either."""

NOTHING_REMEMBERED: Final[Remembered] = {}


class Preparation:
    """Plans responses."""

    def __init__(self, backend: Backend, stored: StoredResponses, seal: Seal, clock: Callable[[], float]) -> None:
        """Look things up in a house. The clock tells seconds since the epoch."""
        self._backend = backend
        self._chains = Chains(stored)
        self._references = ItemReferences(stored)
        self._seal = seal
        self._clock = clock

    async def plan(
        self,
        caller: Caller,
        body: JsonValue,
        read_body: Reader = read_create,
        remembered: Remembered = NOTHING_REMEMBERED,
    ) -> Plan:
        """Return the plan of the response that a client asks for. Raises `ApiError`."""
        response_id = new_response_id()
        new_id = ItemIds(response_id)
        request = read_body(body, new_id)
        agent = chosen(self._backend, request.model)
        store = self._backend.store(agent.id) if agent.stores_responses else None
        ground = await self._ground_of(caller, request, store, response_id, remembered)
        request = _as_kept(request, None if request.previous_response_id in remembered else store)
        read = await self.read(caller, request.items, ground)
        turn = _turn(request, agent, caller, ground, read)
        created_at = self._clock()
        return Plan(
            request=request,
            frame=ResponseFrame(
                id=response_id,
                created_at=int(created_at),
                new_id=new_id,
                now=self._clock,
                listed=read.listed | _listed_in(ground),
                approval=turn.approval,
                seal=self._sealed if request.include_encrypted_reasoning else None,
            ),
            created_at=created_at,
            ground=ground,
            said=read.messages,
            turn=turn,
            store=store if request.store else None,
        )

    async def ground(
        self, caller: Caller, previous_id: str | None, response_id: str, remembered: Remembered = NOTHING_REMEMBERED
    ) -> Ground:
        """Return what a response goes on from that names the one before it, or none."""
        if previous_id is None:
            return Ground(conversation_id=response_id)
        return remembered.get(previous_id) or await self._chains.after_response(caller, previous_id, response_id)

    async def read(self, caller: Caller, items: tuple[JsonObject, ...], ground: Ground) -> Translated:
        """Return what items say that a client has sent to go on from there. Raises `ApiError` for what cannot be."""
        resolved = await self._references.resolve(caller, items, ground.before)
        return translate_input(resolved, self._seal, ground.transcript)

    def _sealed(self, items: Sequence[ProviderItem]) -> str:
        return sealed_provider_items(tuple(items), self._seal)

    async def _ground_of(
        self,
        caller: Caller,
        request: CreateRequest,
        store: ResponseStore | None,
        response_id: str,
        remembered: Remembered,
    ) -> Ground:
        if (conversation_id := request.conversation_id) is None:
            return await self.ground(caller, request.previous_response_id, response_id, remembered)
        return _going_on(await self._chains.in_conversation(caller, store, conversation_id), request.items)


def _going_on(conversation: Ground, items: Sequence[JsonObject]) -> Ground:
    """Return a conversation in which nothing waits for a client that brings no results of what it was to run.

    Else nobody could ever go on with it.
    """
    if any(item["type"] == "function_call_output" for item in items):
        return conversation
    return replace(conversation, transcript=repair(conversation.transcript))


def _as_kept(request: CreateRequest, store: ResponseStore | None) -> CreateRequest:
    """Return the request as it can be met where there is no store. Raises `ApiError` (400) where it cannot."""
    may_store = request.store and store is not None
    if request.background and not may_store:
        raise invalid(
            "A response in the background has to be stored, which this request or this agent does not allow.",
            "background",
        )
    return request if may_store else replace(request, store=False, echo={**request.echo, "store": False})


def _turn(request: CreateRequest, agent: ModelInfo, caller: Caller, ground: Ground, read: Translated) -> TurnRequest:
    transcript = repair(ground.transcript + read.messages)
    approval = decisions_of(read.approvals, _answered_in(ground))
    if approval is None and not _is_answerable(transcript):
        raise invalid("There is nothing to answer: the input has to end with a user message or results.", "input")
    return TurnRequest(
        agent=agent.id,
        caller=caller,
        conversation_id=ground.conversation_id,
        transcript=transcript,
        added=None if request.previous_response_id is None and request.conversation_id is None else read.messages,
        instructions="\n\n".join(filter(None, (request.instructions, read.instructions))),
        functions=tuple(function.definition for function in request.functions),
        hosted=request.hosted,
        tool_choice=request.tool_choice,
        max_tool_calls=request.max_tool_calls,
        max_output_tokens=request.max_output_tokens,
        options=request.options,
        output=request.output,
        may_be_shortened=request.truncation is Truncation.AUTO,
        approval=approval,
        may_store=request.store,
    )


def _is_answerable(transcript: Transcript) -> bool:
    return bool(transcript) and not isinstance(transcript[-1], AssistantMessage)


def _answered_in(ground: Ground) -> frozenset[str]:
    """Return the ids of the approval requests that were answered before."""
    sent = (item for record in ground.before for item in record.input if item["type"] == "mcp_approval_response")
    return frozenset(str(item["approval_request_id"]) for item in sent)


def _listed_in(ground: Ground) -> frozenset[str]:
    """Return the labels whose tools were listed before."""
    return listed_labels(item for record in ground.before for item in items_of(record))

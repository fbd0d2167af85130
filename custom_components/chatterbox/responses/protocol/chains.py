"""Looks up stored responses, and the transcript that a new one continues; raises the errors for ids that do not exist.

Responses of other users do not exist for a caller.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...agent.json.text import objects_in
from ...agent.messages import JsonObject, Transcript
from ...history.store.records import ResponseRecord
from .backend import Backend, Caller, ResponseStore
from .errors import INTERRUPTED, ApiError, invalid, not_found
from .items.schema import response_of

CONTINUABLE: Final = frozenset({"completed", "incomplete", "requires_action"})
"""Statuses of a response that can be continued."""
_UNENDED: Final = frozenset({"queued", "in_progress"})
_MOST_REMEMBERED: Final = 200
"""Responses of a conversation, which may be years old, that are searched for tool lists and answered approvals."""
_PREVIOUS: Final = ("previous_response_id", "previous_response_not_found")
"""Parameter and code of the error of a response that cannot be continued."""
_APPROVAL_REQUEST: Final = "mcpr_"
"""Prefix of approval requests. No model reads them, so references to them are left out."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class ConversationState:
    """The conversation that a response continues."""

    conversation_id: str
    """Shared by the responses of a chain."""
    transcript: Transcript = ()
    before: tuple[ResponseRecord, ...] = ()
    """Earlier responses, the oldest first. The transcript of a conversation may hold more than these."""


@dataclass(frozen=True, slots=True)
class StoredResponses:
    """The stored responses of all agents. Every method raises `ApiError` (503) where a store is unreachable."""

    _backend: Backend

    async def find(
        self,
        caller: Caller,
        response_id: str,
    ) -> ResponseRecord | None:
        """Return a response of the caller; None if there is none."""
        for record in await self._from_all(lambda store: store.get(response_id)):
            is_theirs = (
                record.user_id == caller.user_id
                and record.response.get("object") == "response"
            )
            return record if is_theirs else None
        return None

    async def delete(self, response_id: str) -> None:
        """Delete a response from every store."""

        async def delete(store: ResponseStore) -> ResponseRecord | None:
            record = await store.get(response_id)
            if record is not None:
                await store.delete(response_id)
            return record

        await self._from_all(delete)

    async def after_response(
        self, caller: Caller, previous_id: str, response_id: str
    ) -> ConversationState:
        """Return the state that `response_id` continues, which names `previous_id`.

        Raises `ApiError` for a response that does not exist (404), or that cannot be
        continued (400).
        """
        line = await self._line(caller, previous_id)
        nearest = line[-1]
        first = line[0]
        status = nearest.response.get("status")
        if status not in CONTINUABLE:
            text = f"Response '{previous_id}' is {status}: only one that has ended, and not failed, can be continued."
            raise invalid(f"{text} Send its input again instead.", *_PREVIOUS)
        if first.conversation_id != first.id:
            line = (*await self._earlier_in_conversation(caller, first), *line)
        # A branch off a conversation is not part of it: it starts a chain of its own.
        leaves_conversation = (
            nearest.conversation_id == first.conversation_id != first.id
        )
        shared = response_id if leaves_conversation else nearest.conversation_id
        transcript = tuple(message for record in line for message in record.messages)
        return ConversationState(
            conversation_id=shared, transcript=transcript, before=line
        )

    async def in_conversation(
        self, caller: Caller, store: ResponseStore | None, conversation_id: str
    ) -> ConversationState:
        """Return the state of a conversation. Raises `ApiError` for another user's (404), or without a store (400)."""
        if store is None:
            raise invalid(
                "This agent stores nothing, so it has no conversations. Send the input as items.",
                "conversation",
            )
        transcript = await store.conversation(conversation_id, caller)
        if transcript is None:
            raise not_found(
                f"Conversation '{conversation_id}' not found.",
                "conversation",
                "conversation_not_found",
            )
        records = await self.chain(
            caller,
            conversation_id,
            _MOST_REMEMBERED,
        )
        return ConversationState(
            conversation_id=conversation_id,
            transcript=transcript,
            before=_by_age(records),
        )

    async def resolve(
        self,
        caller: Caller,
        items: Sequence[JsonObject],
        before: Sequence[ResponseRecord],
    ) -> tuple[JsonObject, ...]:
        """Return the items with references resolved; those to items of `before` are left out, as they are read anyway.

        Raises `ApiError` (404) for a reference to an item that is not stored, or is
        another user's.
        """
        known = {item.get("id") for record in before for item in items_of(record)}
        resolved: list[JsonObject] = []
        for index, item in enumerate(items):
            item_id = str(item["id"])
            if item["type"] != "item_reference":
                resolved.append(item)
            elif item_id in known or item_id.startswith(_APPROVAL_REQUEST):
                continue
            elif (found := await self._item(caller, item_id)) is not None:
                resolved.append(found)
            else:
                raise not_found(
                    f"Item with id '{item_id}' not found.",
                    f"input[{index}].id",
                    "item_not_found",
                )
        return tuple(resolved)

    async def _item(
        self,
        caller: Caller,
        item_id: str,
    ) -> JsonObject | None:
        response_id = response_of(item_id)
        if response_id:
            record = await self.find(caller, response_id)
        else:
            record = None
        items = items_of(record) if record else ()
        return next(
            (item for item in items if item.get("id") == item_id),
            None,
        )

    async def chain(
        self, caller: Caller, conversation_id: str, newest: int | None = None
    ) -> Mapping[str, ResponseRecord]:
        """Return the caller's responses of a chain or conversation, or about so many of the newest, by id."""
        chains = await self._from_all(
            lambda store: store.chain(conversation_id, newest)
        )
        records = (record for chain in chains for record in chain.values())
        return {
            record.id: record for record in records if record.user_id == caller.user_id
        }

    async def _from_all[T](
        self, ask: Callable[[ResponseStore], Awaitable[T | None]]
    ) -> list[T]:
        """Return what the stores have. An unreachable store matters only if no other has anything."""
        found: list[T] = []
        trouble: ApiError | None = None
        for store in self._backend.stores():
            try:
                answer = await ask(store)
            except ApiError as error:
                trouble = error
            else:
                found += [answer] if answer else []
        if trouble is not None and not found:
            raise trouble
        return found

    async def _line(
        self,
        caller: Caller,
        last_id: str,
    ) -> tuple[ResponseRecord, ...]:
        """Return a response and all before it, the oldest first."""
        known: dict[str, ResponseRecord] = {}
        line: dict[str, ResponseRecord] = {}
        wanted: str | None = last_id
        while wanted is not None:
            if wanted in line:
                raise invalid(
                    f"Response '{wanted}' precedes itself. Start a new conversation.",
                    *_PREVIOUS,
                )
            record = known.get(wanted)
            if record is None:
                record = await self._required(
                    caller,
                    wanted,
                    last_id,
                )
                known |= await self.chain(caller, record.conversation_id)
            line[wanted] = record
            wanted = record.previous_response_id
        return tuple(reversed(line.values()))

    async def _required(
        self, caller: Caller, wanted: str, last_id: str
    ) -> ResponseRecord:
        record = await self.find(caller, wanted)
        if record is not None:
            return record
        if wanted == last_id:
            raise not_found(
                f"Previous response with id '{wanted}' not found.", *_PREVIOUS
            )
        raise not_found(
            f"Response '{last_id}' continues '{wanted}', which was deleted or is too old. Send the whole input.",
            *_PREVIOUS,
        )

    async def _earlier_in_conversation(
        self, caller: Caller, first: ResponseRecord
    ) -> tuple[ResponseRecord, ...]:
        """Return what a conversation held when one of its responses was created.

        The items that a client added are only for the token that created the
        conversation.
        """
        chain = await self.chain(caller, first.conversation_id)
        made = chain.get(first.conversation_id)
        counts = {
            *CONTINUABLE,
            *([None] if made and made.response.get("token") == caller.token else []),
        }
        return tuple(
            record
            for record in _by_age(chain)
            if record.previous_response_id is None
            and record.created_at < first.created_at
            and record.response.get("status") in counts
        )


def items_of(record: ResponseRecord) -> Iterable[JsonObject]:
    """Yield the input and output items of a response, without references."""
    yield from (item for item in record.input if item.get("type") != "item_reference")
    yield from objects_in(record.response.get("output"))


def shown_response(record: ResponseRecord) -> JsonObject:
    """Return a stored response that no task works on: one that had not ended has failed."""
    if record.response.get("status") not in _UNENDED:
        return record.response
    return {
        **record.response,
        "status": "failed",
        "error": INTERRUPTED.in_response,
    }


def _by_age(records: Mapping[str, ResponseRecord]) -> tuple[ResponseRecord, ...]:
    return tuple(sorted(records.values(), key=lambda record: record.created_at))

"""Conversations whose items a client keeps here, as the sessions of `openai-agents` do.

A conversation, and each addition to it, is stored as a response is: so it is retained,
counted and deleted like one. Source: OpenAI API reference, "Conversations".
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import JsonValue as AnyJson

from ...agent.messages import JsonObject
from ...history.store.records import ResponseRecord, weight_of
from .backend import Backend, Caller, ResponseStore
from .body import BodyReader, Metadata, Part, parse_part, parse_text
from .chains import CONTINUABLE, StoredResponses, items_of
from .errors import ApiError, invalid, not_found
from .items.schema import item_ids, new_response_id
from .paging import page_of
from .request import read_input

CONVERSATION: Final = "conversation"
"""The `object` of a conversation, as of its record."""
ADDITION: Final = "conversation.items"
"""The `object` of an addition to a conversation, as of its record."""
_MADE_HERE: Final = re.compile("conv_[0-9a-f]{32}")
_MOST_ITEMS: Final = 2048
"""As many as one request may send."""
_MOST_BYTES: Final = 10_000_000


class _CreateBody(Part):
    items: AnyJson = None
    metadata: Metadata | None = None


class _UpdateBody(Part):
    metadata: Metadata | None


class _AddBody(Part):
    items: list[AnyJson]


@dataclass(frozen=True, slots=True)
class Conversations:
    """The conversations of all clients. One belongs to the token that it was made with, and does not exist for others.

    Every method raises `ApiError`.
    """

    _backend: Backend
    _stored: StoredResponses
    _bodies: BodyReader
    _clock: Callable[[], float]
    """Returns seconds since the epoch."""
    _changes: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )
    """One change of a conversation at a time: what is deleted stays deleted."""

    async def create(
        self,
        body: str,
        caller: Caller,
    ) -> JsonObject:
        """Create a conversation, and return it."""
        conversation_id = f"conv_{uuid4().hex}"
        parsed = await self._bodies.read(
            len(body),
            lambda: parse_part(
                _CreateBody,
                parse_text(body or "{}"),
                "",
            ),
        )
        made: JsonObject = {
            "id": conversation_id,
            "object": CONVERSATION,
            "created_at": int(self._clock()),
            "metadata": {**(parsed.metadata or {})},
            "token": caller.token,
        }
        addition = self._record(
            conversation_id,
            caller,
            parsed.items,
        )
        store = self._stores()[0]
        await store.put(replace(addition, id=conversation_id, response=made, input=()))
        if addition.input:
            await store.put(addition)
        return _without_owner(made)

    async def get(
        self,
        conversation_id: str,
        caller: Caller,
    ) -> JsonObject:
        """Return a conversation."""
        return _without_owner(
            (await self._records(conversation_id, caller))[0].response
        )

    async def update(
        self, conversation_id: str, body: str, caller: Caller
    ) -> JsonObject:
        """Replace the metadata of a conversation, and return it."""
        async with self._change(conversation_id):
            made = (await self._records(conversation_id, caller))[0]
            parsed = await self._bodies.read(
                len(body),
                lambda: parse_part(
                    _UpdateBody,
                    parse_text(body),
                    "",
                ),
            )
            changed = replace(
                made,
                response={
                    **made.response,
                    "metadata": {**(parsed.metadata or {})},
                },
            )
            await (await self._store_of(conversation_id)).put(changed)
            return _without_owner(changed.response)

    async def delete(
        self,
        conversation_id: str,
        caller: Caller,
    ) -> JsonObject:
        """Delete a conversation with what was added to it. Responses in it stay."""
        async with self._change(conversation_id):
            for record in await self._records(conversation_id, caller):
                if record.response["object"] in {CONVERSATION, ADDITION}:
                    await self._stored.delete(record.id)
            return {
                "id": conversation_id,
                "object": "conversation.deleted",
                "deleted": True,
            }

    async def list_items(
        self, conversation_id: str, caller: Caller, query: Mapping[str, str]
    ) -> JsonObject:
        """Return a page of its items: what was added, and the input and output of responses in it."""
        return page_of(
            items_in(await self._records(conversation_id, caller)),
            query,
        )

    async def get_item(
        self, conversation_id: str, item_id: str, caller: Caller
    ) -> JsonObject:
        """Return one of its items."""
        for item in items_in(await self._records(conversation_id, caller)):
            if item.get("id") == item_id:
                return item
        raise _no_item(item_id)

    async def add(
        self,
        conversation_id: str,
        body: str,
        caller: Caller,
    ) -> JsonObject:
        """Add items, and return them."""
        async with self._change(conversation_id):
            records = await self._records(conversation_id, caller)
            parsed = await self._bodies.read(
                len(body), lambda: parse_part(_AddBody, parse_text(body), "")
            )
            addition = self._record(
                conversation_id, caller, [*parsed.items], items_in(records)
            )
            weight = weight_of(addition) + sum(map(weight_of, records))
            if (
                len(items_in(records)) + len(addition.input) > _MOST_ITEMS
                or weight > _MOST_BYTES
            ):
                raise invalid(
                    f"A conversation has up to {_MOST_ITEMS} items and {_MOST_BYTES} bytes. Create another one.",
                    "items",
                    "conversation_full",
                )
            store = await self._store_of(conversation_id)
            await store.put(addition)
            await store.put(
                replace(
                    records[0],
                    created_at=self._clock(),
                )
            )  # retained from its last addition on
            return page_of(
                addition.input,
                {
                    "order": "asc",
                    "limit": "100",
                },
            )

    async def delete_item(
        self, conversation_id: str, item_id: str, caller: Caller
    ) -> JsonObject:
        """Delete an item that was added, and return the conversation."""
        async with self._change(conversation_id):
            records = await self._records(conversation_id, caller)
            for record in records:
                left = tuple(item for item in record.input if item["id"] != item_id)
                if record.response["object"] == ADDITION and len(left) < len(
                    record.input
                ):
                    await (await self._store_of(conversation_id)).put(
                        replace(record, input=left)
                    )
                    return _without_owner(records[0].response)
            raise _no_item(item_id)

    async def find(
        self, conversation_id: str, caller: Caller
    ) -> tuple[ResponseRecord, ...] | None:
        """Return the records of a conversation, itself first; None for an id that clients have chosen."""
        if not _MADE_HERE.fullmatch(conversation_id):
            return None
        return await self._records(conversation_id, caller)

    def _change(self, conversation_id: str) -> asyncio.Lock:
        return self._changes.setdefault(
            conversation_id,
            asyncio.Lock(),
        )

    async def _records(
        self, conversation_id: str, caller: Caller
    ) -> tuple[ResponseRecord, ...]:
        chain = dict(await self._stored.chain(caller, conversation_id))
        made = chain.pop(conversation_id, None)
        if (
            made is None
            or made.response.get("object") != CONVERSATION
            or made.response.get("token") != caller.token
        ):
            raise not_found(
                f"Conversation '{conversation_id}' not found.",
                CONVERSATION,
                "conversation_not_found",
            )
        return (made, *chain.values())

    def _record(
        self,
        conversation_id: str,
        caller: Caller,
        items: AnyJson,
        before: Sequence[JsonObject] = (),
    ) -> ResponseRecord:
        """Return the record of an addition. An item whose id is in the conversation already gets a new one."""
        addition_id = new_response_id()
        new_id = item_ids(addition_id)
        taken = {item["id"] for item in before}
        parsed = read_input(items, new_id)
        return ResponseRecord(
            id=addition_id,
            agent="",
            model="",
            user_id=caller.user_id,
            conversation_id=conversation_id,
            created_at=self._clock(),
            response={
                "id": addition_id,
                "object": ADDITION,
            },
            input=tuple(
                {**item, "id": new_id("item")} if item["id"] in taken else item
                for item in parsed
            ),
        )

    async def _store_of(self, conversation_id: str) -> ResponseStore:
        """Return the store that holds a conversation: each service may have one of its own."""
        for store in self._stores():
            with suppress(
                ApiError
            ):  # it cannot be reached; `_records` has found the conversation elsewhere
                if await store.get(conversation_id) is not None:
                    return store
        raise ApiError(
            "The agent whose history holds this conversation is gone.",
            code="nothing_is_stored",
        )

    def _stores(self) -> Sequence[ResponseStore]:
        agents = (
            agent.id for agent in self._backend.agents() if agent.stores_responses
        )
        stores = [*filter(None, map(self._backend.store, agents))]
        if stores:
            return stores
        raise ApiError(
            "No agent stores anything, so there are no conversations.",
            code="nothing_is_stored",
        )


def items_in(records: Sequence[ResponseRecord]) -> list[JsonObject]:
    """Return the items of a conversation in order, without those of responses that failed or have not ended."""
    counts = {None, *CONTINUABLE}  # additions have no status
    return [
        item
        for record in records
        if record.response.get("status") in counts
        for item in items_of(record)
    ]


def _no_item(item_id: str) -> ApiError:
    return not_found(
        f"No item '{item_id}' was added to this conversation.",
        "item_id",
        "item_not_found",
    )


def _without_owner(made: JsonObject) -> JsonObject:
    return {name: value for name, value in made.items() if name != "token"}

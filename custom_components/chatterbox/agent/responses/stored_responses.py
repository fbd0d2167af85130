"""Finds what a caller has stored. What is somebody else's is not there.

Knows stores and records; must not know what is in a response.
"""

from collections.abc import Mapping
from typing import Final

from ..history.response_records import ResponseRecord
from ..messages import JsonObject
from .backend import Backend, Caller
from .errors import INTERRUPTED, ApiError

_UNENDED: Final = frozenset({"queued", "in_progress"})


class StoredResponses:
    """The responses of all agents of a house.

    Every method raises `ApiError` (503) when a store cannot be reached that may hold what is looked for.
    """

    def __init__(self, backend: Backend) -> None:
        """Look where the house keeps them, each time anew: agents come and go."""
        self._backend = backend

    async def find(self, caller: Caller, response_id: str) -> ResponseRecord | None:
        """Return a response of the caller's; None for one that there is not."""
        trouble: ApiError | None = None
        for store in self._backend.stores():
            try:
                record = await store.get(response_id)
            except ApiError as error:
                trouble = error
                continue
            if record is not None:
                return record if record.user_id == caller.user_id else None
        if trouble is not None:
            raise trouble
        return None

    async def chain(
        self, caller: Caller, conversation_id: str, newest: int | None = None
    ) -> Mapping[str, ResponseRecord]:
        """Return the caller's responses of a chain or a conversation, or about so many of the newest, by id.

        Where one store has some, what another may have is not waited for.
        """
        found: dict[str, ResponseRecord] = {}
        trouble: ApiError | None = None
        for store in self._backend.stores():
            try:
                found |= await store.chain(conversation_id, newest)
            except ApiError as error:
                trouble = error
        if trouble is not None and not found:
            raise trouble
        return {one: record for one, record in found.items() if record.user_id == caller.user_id}

    async def forget(self, response_id: str) -> None:
        """Delete a response wherever it is. Stores that cannot be reached matter only where nobody else has it."""
        trouble: ApiError | None = None
        is_gone = False
        for store in self._backend.stores():
            try:
                if await store.get(response_id) is not None:
                    await store.delete(response_id)
                    is_gone = True
            except ApiError as error:
                trouble = error
        if trouble is not None and not is_gone:
            raise trouble


def shown_response(record: ResponseRecord) -> JsonObject:
    """Return a stored response as a client gets it, when nobody works on it: one that had not ended has failed."""
    if record.response.get("status") not in _UNENDED:
        return record.response
    error: JsonObject = {"code": INTERRUPTED.code, "message": INTERRUPTED.message}
    return {**record.response, "status": "failed", "error": error}

"""References to items of earlier responses, which a client sends in place of the items.

Knows ids and where items are stored. Must not know what items mean.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ..history.response_records import ResponseRecord
from ..messages import JsonObject
from .backend import Caller
from .identifiers import response_of
from .input_items import references, with_references
from .stored_responses import StoredResponses

_REFERENCE: Final = "item_reference"
_QUESTION: Final = "mcpr_"
"""How ids of approval requests begin. No model reads these, so a reference to one leads to nothing."""


class ItemReferences:
    """Puts items in the place of references to them."""

    def __init__(self, stored: StoredResponses) -> None:
        """Look among what is stored."""
        self._stored = stored

    async def resolve(
        self, caller: Caller, items: Sequence[JsonObject], before: Sequence[ResponseRecord]
    ) -> tuple[JsonObject, ...]:
        """Return the items with those that are referred to; what is gone on from in any case is not said again.

        Raises `ApiError` (404) for a reference to what is not stored, or not the caller's.
        """
        if not references(items):
            return tuple(items)
        said = {item.get("id") for record in before for item in items_of(record)}
        found: dict[str, JsonObject] = {}
        passed_over = set[str]()
        for item_id in references(items):
            if item_id in said or item_id.startswith(_QUESTION):
                passed_over.add(item_id)
            elif (item := await self._find(caller, item_id)) is not None:
                found[item_id] = item
        kept = [item for item in items if not (item["type"] == _REFERENCE and item["id"] in passed_over)]
        return with_references(kept, found)

    async def _find(self, caller: Caller, item_id: str) -> JsonObject | None:
        response_id = response_of(item_id)
        record = await self._stored.find(caller, response_id) if response_id else None
        items = items_of(record) if record else ()
        return next((item for item in items if item.get("id") == item_id), None)


def items_of(record: ResponseRecord) -> Iterable[JsonObject]:
    """Yield the items that were sent for a response, and those that it has; no references."""
    yield from (item for item in record.input if item.get("type") != _REFERENCE)
    output = record.response.get("output")
    yield from (item for item in output if isinstance(item, dict)) if isinstance(output, list) else ()

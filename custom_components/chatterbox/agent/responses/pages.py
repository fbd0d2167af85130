"""Pages of a list, as clients turn them. Knows ids and order, nothing of what is listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from ..messages import JsonObject
from .errors import invalid

_MOST: Final = 100
_USUAL: Final = 20


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted."""

    limit: int = _USUAL
    newest_first: bool = True
    after: str | None = None
    """Id of what came last on the page before."""

    @classmethod
    def read(cls, limit: int | None, order: str | None, after: str | None) -> Self:
        """Check what a client asks for; None stands for the default. Raises `ApiError` (400)."""
        if limit is not None and not 1 <= limit <= _MOST:
            raise invalid(f"limit must be from 1 to {_MOST}.", "limit")
        if order not in {None, "asc", "desc"}:
            raise invalid("order must be 'asc' or 'desc'.", "order")
        return cls(_USUAL if limit is None else limit, order != "asc", after)

    def of(self, items: Sequence[JsonObject]) -> JsonObject:
        """Return the part as a list object. Raises `ApiError` (400) when `after` is not one of the items."""
        ordered = list(reversed(items)) if self.newest_first else list(items)
        ids = [item.get("id") for item in ordered]
        if self.after is not None:
            if self.after not in ids:
                raise invalid(f"No item '{self.after}' is in this list.", "after")
            begin = ids.index(self.after) + 1
            ordered, ids = ordered[begin:], ids[begin:]
        return {
            "object": "list",
            "data": [*ordered[: self.limit]],
            "first_id": next(iter(ids), None),
            "last_id": next(reversed(ids[: self.limit]), None),
            "has_more": len(ordered) > self.limit,
        }

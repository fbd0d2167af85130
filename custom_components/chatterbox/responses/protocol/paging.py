"""Lists that are returned in pages: the parameters `limit`, `order` and `after` of a URL."""

from collections.abc import Mapping, Sequence
from typing import Final

from ...agent.messages import JsonObject
from .errors import invalid

_MOST_DIGITS: Final = 9
_MOST_LISTED: Final = 100
_USUALLY_LISTED: Final = 20


def read_number(
    query: Mapping[str, str],
    name: str,
) -> int | None:
    """Return a whole number of a URL; None without one. Raises `ApiError` (400)."""
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise invalid(f"{name} must be a whole number from 0.", name)
    return int(text)


def page_of(
    items: Sequence[JsonObject],
    query: Mapping[str, str],
) -> JsonObject:
    """Return the page of a list that a URL asks for, the newest first. Raises `ApiError` (400)."""
    limit = read_number(query, "limit")
    order = query.get("order")
    after = query.get("after")
    if limit is not None and not 1 <= limit <= _MOST_LISTED:
        raise invalid(f"limit must be from 1 to {_MOST_LISTED}.", "limit")
    if order not in {None, "asc", "desc"}:
        raise invalid("order must be 'asc' or 'desc'.", "order")
    if order != "asc":
        items = items[::-1]
    if after is not None:
        ids = [item.get("id") for item in items]
        if after not in ids:
            raise invalid(f"No item '{after}' is in this list.", "after")
        items = items[ids.index(after) + 1 :]
    page = items[: limit or _USUALLY_LISTED]
    page_ids = [item.get("id") for item in page] or [None]
    return {
        "object": "list",
        "data": [*page],
        "first_id": page_ids[0],
        "last_id": page_ids[-1],
        "has_more": len(items) > len(page),
    }

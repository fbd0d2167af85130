"""Ids of responses, of their items, and of approval requests.

The id of an item contains that of its response, so that a reference to an item leads to its response without an index.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Final
from uuid import uuid4

type NewId = Callable[[str], str]
"""Returns a new id with a prefix such as `msg`."""

_ITEM: Final = re.compile(r"[a-z]+_([0-9a-f]{32})[0-9a-f]{4,}")
_APPROVAL_REQUEST: Final = re.compile(r"mcpr_([A-Za-z0-9]+)_([0-9]{1,4})", re.ASCII)


def new_response_id() -> str:
    """Return a new id of a response."""
    return f"resp_{uuid4().hex}"


def item_ids(response_id: str) -> NewId:
    """Return a function that creates the ids of the items of one response and of its input."""
    stem, numbers = response_id.removeprefix("resp_"), count()
    return lambda prefix: f"{prefix}_{stem}{next(numbers):04x}"


def response_of(item_id: str) -> str | None:
    """Return the id of the response that an item belongs to; None for an id that is not one of ours."""
    found = _ITEM.fullmatch(item_id)
    return f"resp_{found[1]}" if found else None


def approval_request_id(pending_id: str, index: int) -> str:
    """Return the id of the approval request for one call of a `PendingApproval`, by its index."""
    return f"mcpr_{pending_id}_{index}"


def read_approval_request_id(request_id: str) -> tuple[str, int] | None:
    """Return the id of the `PendingApproval` and the index of the call; None for an id that is not one of ours."""
    found = _APPROVAL_REQUEST.fullmatch(request_id)
    return (found[1], int(found[2])) if found else None

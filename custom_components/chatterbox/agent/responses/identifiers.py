"""Ids of responses and of their items.

An item's id holds that of its response, so that a client's reference to an item finds it without an index. Knows
nothing of what it names.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Final
from uuid import uuid4

type NewId = Callable[[str], str]
"""Makes an id from its prefix, such as `msg`; never the same twice."""

_ITEM: Final = re.compile(r"[a-z]+_([0-9a-f]{32})[0-9a-f]{4,}")


def new_response_id() -> str:
    """Return an id that no response has had."""
    return f"resp_{uuid4().hex}"


class ItemIds:
    """Makes the ids of the items of one response, those of its input that have none included."""

    def __init__(self, response_id: str) -> None:
        """Begin with the first item."""
        self._stem = response_id.removeprefix("resp_")
        self._numbers = count()

    def __call__(self, prefix: str) -> str:
        """Return the id of one more item."""
        return f"{prefix}_{self._stem}{next(self._numbers):04x}"


def response_of(item_id: str) -> str | None:
    """Return the id of the response that an item belongs to; None for an id that is not one of ours."""
    found = _ITEM.fullmatch(item_id)
    return f"resp_{found[1]}" if found else None

"""Ids of approval requests ⇄ the question of the house that they ask, and the place of the call in it.

Pure. A client sees one request for each call; the house keeps one question for all calls of a turn.
"""

import re
from typing import Final

_REQUEST_ID: Final = re.compile(r"mcpr_([A-Za-z0-9]+)_([0-9]{1,4})", re.ASCII)


def approval_request_id(pending_id: str, index: int) -> str:
    """Return the id of the request for the call at this place of a `PendingApproval`."""
    return f"mcpr_{pending_id}_{index}"


def read_approval_request_id(request_id: str) -> tuple[str, int] | None:
    """Return the id of the question and the place of the call in it; None for an id that is not one of ours."""
    found = _REQUEST_ID.fullmatch(request_id)
    return (found[1], int(found[2])) if found else None

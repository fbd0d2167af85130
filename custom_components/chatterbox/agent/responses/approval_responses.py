"""What a client says to the questions of an earlier response, as the answer to one question of the house.

Pure. Knows ids of approval requests. Whether the question is open, and the caller's, the house knows.
"""

from collections.abc import Collection, Sequence
from typing import Final

from ..loop.turn import Approved, Denied
from .approval_ids import read_approval_request_id
from .backend import ApprovalDecisions
from .errors import ApiError, invalid
from .items.reading import ApprovalResponse

_INVALID: Final = "approval_continuation_invalid"


def decisions_of(responses: Sequence[ApprovalResponse], answered: Collection[str] = ()) -> ApprovalDecisions | None:
    """Return the decisions; None where there are none. Raises `ApiError` (400) for those of no question, or of two.

    Clients send again what they have `answered` before, beside what is new; it counts only where nothing is new.
    """
    new = [response for response in responses if response.request_id not in answered]
    pending_id: str | None = None
    decisions: dict[int, Approved | Denied] = {}
    for response in new or responses:
        if (asked := read_approval_request_id(response.request_id)) is None:
            raise _refused(f"There is no approval request '{response.request_id}'.")
        if pending_id not in {None, asked[0]}:
            raise _refused("These answer approval requests of several responses. Answer those of one at a time.")
        pending_id = asked[0]
        decisions.setdefault(asked[1], Approved() if response.approve else Denied(response.reason))
    return None if pending_id is None else ApprovalDecisions(pending_id, decisions)


def _refused(message: str) -> ApiError:
    return invalid(message, "input", _INVALID)

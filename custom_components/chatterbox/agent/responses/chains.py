"""What a response goes on from: the responses before it, or a conversation.

Knows records and how they hang together. Must not know items, turns or tools. What was said is read from what is
stored, and never changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from ..history.response_records import ResponseRecord
from ..messages import Transcript
from .backend import Caller, ResponseStore
from .errors import ApiError, ErrorType, invalid, not_found
from .stored_responses import StoredResponses

CONTINUABLE: Final = frozenset({"completed", "incomplete", "requires_action"})
"""Statuses of a response that one can go on from. A failed or cancelled one can be asked again instead."""
_MOST_REMEMBERED: Final = 200
"""Responses of a conversation that are looked through for what they told: it may be as old as the house."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a response goes on from."""

    conversation_id: str
    """What the response has in common with those before it."""
    transcript: Transcript = ()
    before: tuple[ResponseRecord, ...] = ()
    """The responses that have put it together, the oldest first. A conversation may hold more than theirs."""

    def after(self, record: ResponseRecord) -> Ground:
        """Return the ground of who goes on from a response that stands on this one."""
        return replace(self, transcript=self.transcript + record.messages, before=(*self.before, record))


class Chains:
    """Puts together what is gone on from."""

    def __init__(self, stored: StoredResponses) -> None:
        """Read from what is stored."""
        self._stored = stored

    async def after_response(self, caller: Caller, previous_id: str, response_id: str) -> Ground:
        """Return the ground of `response_id`, which goes on from `previous_id`.

        Raises `ApiError` for one that there is not (404), or that cannot be gone on from (400).
        """
        line = await self._line(caller, previous_id)
        nearest, first = line[-1], line[0]
        if (status := nearest.response.get("status")) not in CONTINUABLE:
            raise _not_continuable(
                f"Response '{previous_id}' is {status}: only a response that has ended, and not failed, can be gone on"
                " from. Send its input again instead.",
                400,
            )
        if first.conversation_id != first.id:
            line = (*await self._earlier_in_conversation(caller, first), *line)
        # What branches off a conversation is no part of it, and begins a chain of its own.
        leaves_conversation = nearest.conversation_id == first.conversation_id != first.id
        shared = response_id if leaves_conversation else nearest.conversation_id
        return Ground(conversation_id=shared, transcript=_said_in(line), before=line)

    async def in_conversation(self, caller: Caller, store: ResponseStore | None, conversation_id: str) -> Ground:
        """Return the ground of a response that goes on with a conversation.

        Raises `ApiError` for somebody else's (404), or where nothing is kept (400).
        """
        if store is None:
            raise invalid(
                "This agent keeps nothing, so it has no conversations. Send the input as items.", "conversation"
            )
        transcript = await store.conversation(conversation_id, caller)
        if transcript is None:
            raise not_found(f"Conversation '{conversation_id}' not found.", "conversation", "conversation_not_found")
        records = await self._stored.chain(caller, conversation_id, _MOST_REMEMBERED)
        return Ground(conversation_id=conversation_id, transcript=transcript, before=_in_order(records))

    async def _line(self, caller: Caller, last_id: str) -> tuple[ResponseRecord, ...]:
        """Return a response and all before it, the oldest first."""
        known: dict[str, ResponseRecord] = {}
        line: dict[str, ResponseRecord] = {}
        wanted: str | None = last_id
        while wanted is not None:
            if wanted in line:
                raise _not_continuable(f"Response '{wanted}' comes before itself. Begin anew.", 400)
            if (record := known.get(wanted)) is None:
                record = await self._found(caller, wanted, last_id)
                known |= await self._stored.chain(caller, record.conversation_id)
            line[wanted] = record
            wanted = record.previous_response_id
        return tuple(reversed(line.values()))

    async def _found(self, caller: Caller, wanted: str, last_id: str) -> ResponseRecord:
        if (record := await self._stored.find(caller, wanted)) is not None:
            return record
        if wanted == last_id:
            raise _not_continuable(f"Previous response with id '{wanted}' not found.")
        raise _not_continuable(
            f"Response '{last_id}' goes on from '{wanted}', which was deleted or is too old. Send the whole input."
        )

    async def _earlier_in_conversation(self, caller: Caller, first: ResponseRecord) -> tuple[ResponseRecord, ...]:
        """Return what a conversation held when a response of it was made."""
        records = await self._stored.chain(caller, first.conversation_id)
        return tuple(
            record
            for record in _in_order(records)
            if record.previous_response_id is None
            and record.created_at < first.created_at
            and record.response.get("status") in CONTINUABLE
        )


def _in_order(records: Mapping[str, ResponseRecord]) -> tuple[ResponseRecord, ...]:
    return tuple(sorted(records.values(), key=lambda record: record.created_at))


def _said_in(line: tuple[ResponseRecord, ...]) -> Transcript:
    return tuple(message for record in line for message in record.messages)


def _not_continuable(message: str, status: int = 404) -> ApiError:
    kind = ErrorType.NOT_FOUND if status == HTTPStatus.NOT_FOUND else ErrorType.INVALID_REQUEST
    code = "previous_response_not_found"
    return ApiError(message, status=status, kind=kind, code=code, param="previous_response_id")

"""Stores the responses of API clients in the history of their agent's service."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..agent.history.records import ResponseRecord, weight_of
from ..agent.history.state import StoreUnavailable
from ..agent.messages import ToolResult, Transcript
from ..agent.responses.backend import Caller
from ..agent.responses.errors import ApiError, ErrorType
from ..agent.transcript import open_calls, repair
from ..const import LOGGER
from ..history.recording import async_store_record
from ..history.retention import async_note_growth
from ..history.stores import async_get_histories
from ..people.speakers import person_id_of
from ..runtime.agents import async_forget_conversations

if TYPE_CHECKING:  # it imports SQLAlchemy, which is done in a thread
    from ..agent.history.store import HistoryStore

_STORE_TIMEOUT: Final = 0.1
"""Seconds that a response waits until it is written."""
_MOST_TURNS: Final = 200
"""Of a conversation; the last ones of a longer one."""


@dataclass(frozen=True, slots=True)
class EntryResponseStore:
    """The responses of the agents of a service, and the conversations of one agent."""

    hass: HomeAssistant
    entry: ConfigEntry
    agent: str
    """Subentry id of the agent that answers. Responses of the service's other agents are read, too."""

    async def put(self, record: ResponseRecord) -> None:
        """Store a response for this agent and the person of its user. Never raises."""
        person_id = person_id_of(self.hass, record.user_id)
        record = replace(record, agent=self.agent, person_id=person_id)
        acknowledgement = async_store_record(self.hass, self.entry, self.agent, record)
        async_note_growth(self.hass, self.entry, self.agent, weight_of(record))
        if acknowledgement is not None:
            await acknowledgement.stored(_STORE_TIMEOUT)

    async def get(self, response_id: str) -> ResponseRecord | None:
        """Return a response; None for one of an agent that was removed."""
        record = await self._ask(lambda store: store.response(response_id))
        return record if record is not None and record.agent in self.entry.subentries else None

    async def chain(self, conversation_id: str, newest: int | None = None) -> Mapping[str, ResponseRecord]:
        """Return the responses of a conversation, in the order of their creation."""
        agents = frozenset(self.entry.subentries)
        records = await self._ask(lambda store: store.responses(conversation_id, agents, newest))
        return {record.id: record for record in records}

    async def delete(self, response_id: str) -> None:
        """Delete a response."""
        await self._ask(lambda store: store.delete_response(response_id))
        async_forget_conversations(self.hass)

    async def conversation(self, conversation_id: str, caller: Caller) -> Transcript | None:
        """Return the caller's transcript with this agent; None for a conversation of other people.

        Calls of the last message may wait for outputs of the client.
        """
        turns = await self._ask(lambda store: store.turns(conversation_id, _MOST_TURNS))
        names = {person_id_of(self.hass, caller.user_id), caller.user_id}  # turns from before the user was a person
        theirs = [turn for turn in turns if turn.origin.person_id in names]
        if turns and not theirs:
            return None
        return _joined([turn.messages for turn in theirs if turn.origin.agent == self.agent])

    async def _ask[T](self, question: Callable[[HistoryStore], Awaitable[T]]) -> T:
        store = await async_get_histories(self.hass).async_open(self.entry)
        if store is None:
            raise _unavailable()
        try:
            return await question(store)
        except StoreUnavailable as error:
            LOGGER.debug("Responses cannot be read: %s", error)
            raise _unavailable() from error


def _joined(turns: Sequence[Transcript]) -> Transcript:
    """Return one transcript of all turns, valid except for the calls that the last one has left to a client."""
    left = {call.id for call in open_calls(turns[-1])} if turns else set()
    whole = repair(message for messages in turns for message in messages)
    return tuple(message for message in whole if not (isinstance(message, ToolResult) and message.call_id in left))


def _unavailable() -> ApiError:
    message = "The history cannot be used now. Try again later; Settings → Repairs says what is wrong."
    return ApiError(message, status=503, kind=ErrorType.SERVER, code="history_unavailable")

"""The agents of Home Assistant as the `Backend` of the Responses API: their turns, their models and their stores."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..agent.conversation.summary import MOST_TOKENS, recap
from ..agent.conversation.token_estimate import TokenEstimate
from ..agent.errors import ProviderError
from ..agent.messages import Summary, Transcript, Usage
from ..agent.transcript import open_calls, repair, without_results
from ..const import CONF_RESPONSES_API, LOGGER
from ..history.retention import async_note_growth
from ..history.store.records import ResponseRecord, StoreUnavailable, weight_of
from ..history.stores import async_get_histories, async_store_record
from ..people.speakers import person_id_of
from ..runtime.agents import LoadedAgent, async_loaded_agents
from ..runtime.models import CountedModel
from .protocol.backend import (
    BackendEvent,
    Caller,
    ModelInfo,
    ResponseStore,
    TurnRequest,
)
from .protocol.errors import ApiError, ErrorType, not_found, unavailable
from .turns import ApiTurns

if TYPE_CHECKING:  # it imports SQLAlchemy, which is done in a thread
    from ..history.store.history_store import HistoryStore

_STORE_TIMEOUT: Final = 0.1
"""Seconds that a response waits until it is written."""
_MOST_TURNS: Final = 200
"""Of a conversation; the last ones of a longer one."""
_COMPACTING_SECONDS: Final = 60.0
_LAST_WAIT: Final = 5.0
"""Seconds that a cancelled turn has to end."""
_NOTHING_TO_TELL: Final = "(Nothing has been said yet.)"


class ResponsesBackend:
    """The `Backend` of the Responses API."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start without agents; they come and go with their entries."""
        self._hass = hass
        self._turns: dict[str, ApiTurns] = {}
        """By subentry id, of agents that are loaded."""

    def agents(self) -> Sequence[ModelInfo]:
        """Return the agents of the services that have the API enabled."""
        found = ((one.entity, one.agent.settings.keep_history) for one in self._found())
        return tuple(
            ModelInfo(
                one.entity_id,
                int(one.created_at.timestamp()),
                keeps,
            )
            for one, keeps in found
        )

    def store(self, agent: str) -> ResponseStore | None:
        """Return the store of an agent; None for one that is set to keep nothing."""
        found = self._find(agent)
        if not found.agent.settings.keep_history:
            return None
        return EntryResponseStore(
            self._hass,
            found.entry,
            found.subentry.subentry_id,
        )

    def stores(self) -> Sequence[ResponseStore]:
        """Return the stores of all services that have the API enabled."""
        services = {found.entry.entry_id: found for found in self._found()}
        return tuple(
            EntryResponseStore(
                self._hass,
                one.entry,
                one.subentry.subentry_id,
            )
            for one in services.values()
        )

    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        """Take a turn."""
        found = self._find(turn.agent)
        turns = self._turns_of(found)
        events = asyncio.Queue[BackendEvent | None]()
        turn_input = await turns.async_read(turn, events.put_nowait)
        taking = found.entry.async_create_background_task(
            self._hass,
            turns.async_take(turn_input, turn.conversation_id),
            f"chatterbox turn of an API client with {turn.agent}",
        )
        taking.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            if taking.cancelled():
                raise unavailable(
                    "The agent was changed or stopped meanwhile.",
                    "interrupted",
                )
            end = taking.result().finished
            if end is not None:
                yield end
        finally:
            taking.cancel()
            await asyncio.wait({taking}, timeout=_LAST_WAIT)

    async def compact(
        self, agent: str, transcript: Transcript, instructions: str
    ) -> tuple[str, Usage]:
        """Have the agent's model summarize a conversation; without a model, list what was asked and done."""
        found = self._find(agent)
        model = found.entry.runtime_data.models.get(found.subentry.subentry_id)
        if model is None:
            return recap(
                None, transcript, MOST_TOKENS, TokenEstimate()
            ) or _NOTHING_TO_TELL, Usage()
        spent = model.managed.spent()
        if spent:
            raise ApiError(
                str(spent),
                status=429,
                kind=ErrorType.TOO_MANY_REQUESTS,
                code="budget_spent",
            )
        provider = CountedModel(self._hass, model)
        if instructions:
            earlier = Summary(instructions, 0)
        else:
            earlier = None
        try:
            summary = await provider.summary(
                transcript,
                earlier,
                _COMPACTING_SECONDS,
            )
        except ProviderError as error:
            raise ApiError(
                "The model of this agent could not summarize the conversation. Try again.",
                status=502,
                kind=ErrorType.MODEL,
            ) from error
        return summary.text, provider.usage

    def start(
        self,
        work: Coroutine[object, object, None],
        name: str,
    ) -> None:
        """Run work in the background until Home Assistant stops."""
        _ = self._hass.async_create_background_task(
            work, f"chatterbox {name}"
        )  # Home Assistant keeps it

    def _found(self) -> list[LoadedAgent]:
        """Return the agents that API clients may use."""
        return [
            one
            for one in async_loaded_agents(self._hass)
            if one.entry.options.get(CONF_RESPONSES_API) and not one.entity.disabled
        ]

    def _find(self, agent: str) -> LoadedAgent:
        for found in self._found():
            if found.entity.entity_id == agent:
                return found
        raise not_found(
            f"There is no agent {agent!r} with the API enabled.",
            "model",
            "model_not_found",
        )

    def _turns_of(self, found: LoadedAgent) -> ApiTurns:
        subentry_id = found.subentry.subentry_id
        agent_id = found.entity.entity_id
        turns = self._turns.get(subentry_id)
        if turns is None or turns.agent_id != agent_id:
            self._forget(subentry_id)
            turns = ApiTurns(
                self._hass, agent_id, found.entry, found.subentry, found.agent
            )
            self._turns[subentry_id] = turns
            found.entry.runtime_data.async_on_end(
                subentry_id, partial(self._forget, subentry_id)
            )
        return turns

    @callback
    def _forget(self, subentry_id: str) -> None:
        """Drop the turns of an agent that ends, or was renamed."""
        turns = self._turns.pop(subentry_id, None)
        if turns is not None:
            turns.end()


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
        record = replace(
            record,
            agent=self.agent,
            person_id=person_id,
        )
        acknowledgement = async_store_record(
            self.hass,
            self.entry,
            self.agent,
            record,
        )
        async_note_growth(
            self.hass,
            self.entry,
            self.agent,
            weight_of(record),
        )
        if acknowledgement is not None:
            await acknowledgement.stored(_STORE_TIMEOUT)

    async def get(self, response_id: str) -> ResponseRecord | None:
        """Return a response; None for one of an agent that was removed."""
        record = await self._ask(lambda store: store.response(response_id))
        if record is not None and record.agent in self.entry.subentries:
            return record
        return None

    async def chain(
        self, conversation_id: str, newest: int | None = None
    ) -> Mapping[str, ResponseRecord]:
        """Return the responses of a conversation, in the order of their creation."""
        agents = frozenset(self.entry.subentries)
        records = await self._ask(
            lambda store: store.responses(
                conversation_id,
                agents,
                newest,
            )
        )
        return {record.id: record for record in records}

    async def delete(self, response_id: str) -> None:
        """Delete a response."""
        await self._ask(lambda store: store.delete_response(response_id))

    async def conversation(
        self, conversation_id: str, caller: Caller
    ) -> Transcript | None:
        """Return the caller's transcript with this agent; None for a conversation of other people.

        Calls of the last message may wait for outputs of the client.
        """
        turns = await self._ask(lambda store: store.turns(conversation_id, _MOST_TURNS))
        names = {
            person_id_of(self.hass, caller.user_id),
            caller.user_id,
        }  # turns from before the user was a person
        theirs = [turn for turn in turns if turn.origin.person_id in names]
        if turns and not theirs:
            return None
        return _joined(
            [turn.messages for turn in theirs if turn.origin.agent == self.agent]
        )

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
    left = {call.id for last in turns[-1:] for call in open_calls(last)}
    whole = repair(message for messages in turns for message in messages)
    return without_results(whole, left)


def _unavailable() -> ApiError:
    return unavailable(
        "The history cannot be used now. Try again later; Settings → Repairs says what is wrong.",
        "history_unavailable",
    )

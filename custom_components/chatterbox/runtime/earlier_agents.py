"""Agents that assistants had before ours, and assistants made for ours.

An assistant is an Assist pipeline. Whenever one of our agents takes it over, in a
dialog of ours or of Home Assistant, its earlier agent is remembered. It is put back
when ours is removed, unless somebody has chosen another one meanwhile. Decision 45.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    HOME_ASSISTANT_AGENT,
    async_get_agent_info,
)
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.collection import CHANGE_REMOVED, CollectionChange
from homeassistant.setup import async_when_setup
from pydantic import TypeAdapter

from ..agent.messages import JsonObject
from ..const import DOMAIN, home_singleton
from ..internals.assist_pipeline import (
    ASSIST_PIPELINE,
    assistants,
    settings_of_assistant,
)
from ..repairs import async_report_disabled_agents
from ..settings.agent import existing_agents
from ..settings.stored_file import StoredFile

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline
    from homeassistant.components.assist_pipeline.pipeline import (
        PipelineStorageCollection,
    )

_ENGINE: Final = "conversation_engine"
_PREFERS_LOCAL: Final = "prefer_local_intents"


@dataclass(frozen=True, slots=True)
class Takeover:
    """One of our agents that has taken an assistant over, and what the assistant had before."""

    agent: str
    """Subentry id."""
    engine: str = HOME_ASSISTANT_AGENT
    """The earlier agent: its id in the entity registry, so that it may be renamed, or its own id if it has none."""
    prefers_local: bool = False
    made: JsonObject | None = None
    """All else of an assistant that was made for our agent, as it was then; None for one that was there."""


@dataclass(frozen=True, slots=True)
class _Holder:
    """The agent of an assistant."""

    agent: str | None
    """Subentry id of an agent of ours, even of a removed one."""
    engine: str
    """See `Takeover`."""
    prefers_local: bool

    @classmethod
    def of(
        cls,
        hass: HomeAssistant,
        pipeline: Pipeline,
    ) -> Self:
        """Look at an assistant."""
        registry = er.async_get(hass)
        engine = pipeline.conversation_engine
        found = registry.async_get(engine)
        if found:
            agent = found.unique_id if found.platform == DOMAIN else None
            engine = found.id
        else:
            gone = (
                one
                for one in registry.deleted_entities.values()
                if one.entity_id == engine
            )
            agent = next(
                (one.unique_id for one in gone if one.platform == DOMAIN), None
            )
        return cls(
            agent,
            engine,
            pipeline.prefer_local_intents,
        )


def with_change(
    takeovers: Sequence[Takeover], before: _Holder | None, now: _Holder
) -> Sequence[Takeover]:
    """Return the takeovers of an assistant after its agent may have changed, the latest at the end."""
    if before and before.agent == now.agent:
        return takeovers
    if now.agent is None:  # somebody has chosen an agent that is not ours
        return ()
    agents = [one.agent for one in takeovers]
    if now.agent in agents:
        return takeovers[: agents.index(now.agent) + 1]
    earlier = (before.engine, before.prefers_local) if before else ()
    return (*takeovers, Takeover(now.agent, *earlier))


def without_agents(
    takeovers: Iterable[Takeover], existing: Collection[str]
) -> tuple[Sequence[Takeover], Takeover | None]:
    """Return the takeovers by existing agents, and the one whose earlier agent is to be put back, if any.

    An agent that took over from a removed one gets the earlier agent of that one.
    """
    left = list[Takeover]()
    gone = None
    for one in takeovers:
        if gone:
            inherited = replace(gone, agent=one.agent)
        else:
            inherited = one
        if one.agent in existing:
            left.append(inherited)
            gone = None
        else:
            gone = inherited
    return left, gone


_STORED: Final = TypeAdapter(dict[str, tuple[Takeover, ...]])


class EarlierAgents:
    """The takeovers of all assistants. For one event loop."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Know nothing before the file is read."""
        self._hass = hass
        self._file = StoredFile(
            hass,
            "assistants",
            _STORED.validate_python,
            grows=True,
        )
        self._takeovers: dict[str, Sequence[Takeover]] | None = None
        """By the id of the assistant; None before the file is read."""
        self._reading = asyncio.Lock()
        self._stored: JsonObject = {}
        self._holders: dict[str, _Holder] = {}
        self._unseen: dict[str, _Holder] = {}
        """Holders that may have taken over while nothing of ours was loaded."""

    def async_start(self) -> None:
        """Follow the assistants from now on, or from when they are loaded."""
        if assistants(self._hass):
            _ = self._hass.async_create_task(
                self._async_begin(self._hass, ""), "chatterbox assistants"
            )
        else:
            async_when_setup(
                self._hass,
                ASSIST_PIPELINE,
                self._async_begin,
            )

    async def async_put_back(self) -> None:
        """Put back the earlier agents where an agent of ours is gone, and remove assistants that were made for it."""
        takeovers = await self._async_known()
        store = assistants(self._hass)
        if store is None:
            return  # found when they are loaded
        existing = existing_agents(self._hass)
        for pipeline_id in [*store.data]:
            # Others may change or remove it while one before it is put back.
            pipeline = store.data.get(pipeline_id)
            if pipeline is None:
                continue
            agent = _Holder.of(self._hass, pipeline).agent
            takeovers[pipeline_id], before = without_agents(
                takeovers.get(pipeline_id, ()), existing
            )
            if agent is not None and agent not in existing:
                await self._async_restore(
                    store,
                    pipeline,
                    before or Takeover(agent),
                )
        for removed in takeovers.keys() - store.data.keys():
            del takeovers[removed]
        await self._async_save(takeovers)

    async def async_note_made(
        self,
        made: Pipeline,
        source: Pipeline,
    ) -> None:
        """Remember that an assistant was made for its agent, like `source`, and which agent that has."""
        takeovers = await self._async_known()
        holder = _Holder.of(self._hass, source)
        agent = _Holder.of(self._hass, made).agent
        if agent:
            found = Takeover(
                agent,
                holder.engine,
                holder.prefers_local,
            )
            if holder.agent == agent:  # which has just taken the source over
                known = takeovers.get(source.id) or [found]
                found = known[-1]
            takeovers[made.id] = [replace(found, made=_others(made))]
            await self._async_save(takeovers)

    async def _async_begin(
        self,
        hass: HomeAssistant,
        _component: str,
    ) -> None:
        store = assistants(hass)
        if store is None:
            return
        # An assistant may be taken over while the file is being read.
        self._holders = {one.id: _Holder.of(hass, one) for one in store.data.values()}
        self._unseen = dict(self._holders)
        store.async_add_change_set_listener(self._async_follow)
        hass.bus.async_listen(
            er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_follow_entity
        )
        await self.async_put_back()
        await self._async_report()

    async def _async_follow(self, changes: Iterable[CollectionChange]) -> None:
        takeovers = await self._async_known()
        for change in changes:
            before = self._holders.pop(
                change.item_id,
                None,
            )
            if change.change_type == CHANGE_REMOVED:
                takeovers.pop(change.item_id, None)
                continue
            now = self._holders[change.item_id] = _Holder.of(
                self._hass,
                change.item,
            )
            known = takeovers.get(change.item_id, ())
            takeovers[change.item_id] = with_change(
                known,
                before,
                now,
            )
        await self._async_save(takeovers)
        await self._async_report()

    async def _async_follow_entity(
        self, event: Event[er.EventEntityRegistryUpdatedData]
    ) -> None:
        """Have assistants find an agent that was renamed, and report one that was disabled."""
        data = event.data
        store = assistants(self._hass)
        if store is None or not data["entity_id"].startswith(f"{CONVERSATION}."):
            return
        entity = er.async_get(self._hass).async_get(data["entity_id"])
        if (
            data["action"] == "update"
            and "old_entity_id" in data
            and entity
            and entity.platform == DOMAIN
        ):
            for pipeline_id in [*store.data]:
                pipeline = store.data.get(pipeline_id)
                if pipeline and pipeline.conversation_engine == data["old_entity_id"]:
                    await store.async_update_item(
                        pipeline.id,
                        settings_of_assistant(pipeline) | {_ENGINE: entity.entity_id},
                    )
        await self._async_report()

    async def _async_restore(
        self,
        store: PipelineStorageCollection,
        pipeline: Pipeline,
        before: Takeover,
    ) -> None:
        is_as_made = before.made is not None and before.made == _others(pipeline)
        if is_as_made and store.async_get_preferred_item() != pipeline.id:
            await store.async_delete_item(pipeline.id)
            return
        engine, prefers_local = self._earlier(pipeline, before)
        # Our own change is no choice of a person.
        changed = replace(
            pipeline, conversation_engine=engine, prefer_local_intents=prefers_local
        )
        self._holders[pipeline.id] = _Holder.of(
            self._hass,
            changed,
        )
        await store.async_update_item(
            pipeline.id,
            settings_of_assistant(changed),
        )

    def _earlier(
        self,
        pipeline: Pipeline,
        before: Takeover,
    ) -> tuple[str, bool]:
        """Return the agent to put back, and whether it prefers local commands, also if that was chosen afterwards."""
        registry = er.async_get(self._hass)
        entity = registry.entities.get_entry(before.engine) or registry.async_get(
            before.engine
        )
        if async_get_agent_info(self._hass, before.engine):
            engine = before.engine
        else:
            engine = HOME_ASSISTANT_AGENT
        if entity:
            is_gone = (
                entity.platform == DOMAIN
                and entity.unique_id not in existing_agents(self._hass)
            )
            if entity.disabled or is_gone:
                engine = HOME_ASSISTANT_AGENT
            else:
                engine = entity.entity_id
        return engine, pipeline.prefer_local_intents or before.prefers_local

    async def _async_report(self) -> None:
        """Report the assistants whose agent is disabled, with what a fix puts back."""
        takeovers = await self._async_known()
        registry = er.async_get(self._hass)
        found: list[tuple[Pipeline, Mapping[str, str | bool]]] = []
        store = assistants(self._hass)
        if store is None:
            return
        for pipeline in store.data.values():
            entity = registry.async_get(pipeline.conversation_engine)
            if entity and entity.platform == DOMAIN and entity.disabled:
                known = takeovers.get(pipeline.id) or [Takeover(entity.unique_id)]
                engine, prefers_local = self._earlier(
                    pipeline,
                    known[-1],
                )
                found.append(
                    (pipeline, {_ENGINE: engine, _PREFERS_LOCAL: prefers_local})
                )
        async_report_disabled_agents(self._hass, found)

    async def _async_known(self) -> dict[str, Sequence[Takeover]]:
        """Return the takeovers. A file that cannot be read counts as empty: Home Assistant's own agent is put back."""
        async with self._reading:  # a second look at a damaged file would find none
            if self._takeovers is None:
                stored = await self._file.async_load() or {}
                self._stored = _to_json(stored)
                self._takeovers = dict(stored)
        for pipeline_id, holder in self._unseen.items():
            known = self._takeovers.get(pipeline_id, ())
            self._takeovers[pipeline_id] = with_change(
                known,
                None,
                holder,
            )
        self._unseen = {}
        return self._takeovers

    async def _async_save(self, takeovers: Mapping[str, Sequence[Takeover]]) -> None:
        known = _to_json(takeovers)
        if known != self._stored:
            self._stored = known
            await (self._file.async_save(known) if known else self._file.async_remove())


def _to_json(takeovers: Mapping[str, Sequence[Takeover]]) -> JsonObject:
    known: JsonObject = _STORED.dump_python(
        {key: (*one,) for key, one in takeovers.items() if one}, mode="json"
    )
    return known


def _others(pipeline: Pipeline) -> JsonObject:
    return {
        key: value
        for key, value in settings_of_assistant(pipeline).items()
        if key not in {_ENGINE, _PREFERS_LOCAL}
    }


async_get_earlier_agents: Final = home_singleton("earlier_agents", EarlierAgents)
"""Returns the earlier agents."""

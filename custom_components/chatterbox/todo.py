"""To-do lists: the facts that agents remember, one for each person and agent, those of the household, and plans.

Every user of Home Assistant can read and change the lists. Agents cannot, since
configuration entities are not exposed to assistants unless the owner exposes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from homeassistant.components.person import DOMAIN as PERSON_DOMAIN
from homeassistant.components.todo import DOMAIN as TODO_DOMAIN
from homeassistant.config_entries import (
    ConfigEntry,
    ConfigSubentry,
)
from homeassistant.const import (
    ATTR_ENTITY_ID,
    ATTR_ID,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.exceptions import PlatformNotReady
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN, SUBENTRY_CONVERSATION
from .entity import AgentDeviceEntity, async_show_in_home
from .later.todo_list import LaterList
from .memory.fact_list import HOUSEHOLD_LIST, FactList, HouseholdList
from .memory.facts import (
    SIGNAL_MEMORIES,
    Keeper,
    NotRemembered,
    async_get_memories,
)
from .runtime.agents import ChatterboxConfigEntry
from .settings.agent import settings_of
from .speech.sentences import translated

PARALLEL_UPDATES = 0

_PART: Final = "memories"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the lists of the agents with a memory, and remove those of the others.

    Raises `PlatformNotReady` while the stored facts cannot be read.
    """
    try:
        await async_get_memories(hass).async_load()
    except NotRemembered as error:
        raise translated(PlatformNotReady, error.problem.value) from error

    @callback
    def show_lists_of_home(present: set[type[Entity]]) -> None:
        entries = hass.config_entries.async_entries(DOMAIN)
        if LaterList not in present:
            async_add_entities([LaterList(hass)])
        if not any(map(_remembers, entries)):
            _remove_household_list(hass)
        elif HouseholdList not in present:
            async_add_entities([HouseholdList()])

    async_show_in_home(
        hass,
        entry,
        show_lists_of_home,
    )

    @callback
    def add(subentry: ConfigSubentry) -> None:
        if subentry.subentry_type != SUBENTRY_CONVERSATION:
            return
        lists = _Lists(
            hass,
            entry,
            subentry,
            async_add_entities,
        )
        if settings_of(subentry.data).remember_facts:
            lists.async_follow()
        else:
            lists.async_show({})

    entry.runtime_data.async_add_each(entry, add)


class MemoryList(AgentDeviceEntity, FactList):
    """The facts that an agent remembers of a person."""

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        person_id: str,
        name: str,
    ) -> None:
        """Take the agent of a subentry, and a person by id."""
        AgentDeviceEntity.__init__(
            self,
            entry,
            subentry,
            _PART,
        )
        self._attr_unique_id = _unique_id(subentry, person_id)
        self._keeper = Keeper(subentry.subentry_id, person_id)
        self._attr_translation_placeholders = {"person": name}
        self._name_of_keeper = name

    def async_rename(self, name: str) -> None:
        """Show a new name of the person."""
        if name != self._name_of_keeper:
            self._name_of_keeper = name
            self._attr_translation_placeholders = {"person": name}
            self.__dict__.pop(
                "name", None
            )  # Home Assistant caches it, although placeholders may change
            if self.hass is not None:
                self.async_write_ha_state()


@dataclass(slots=True, eq=False)
class _Lists:
    """The lists of one agent, as persons and facts are added and removed."""

    _hass: HomeAssistant
    _entry: ChatterboxConfigEntry
    _subentry: ConfigSubentry
    _async_add_entities: AddConfigEntryEntitiesCallback
    _lists: dict[str, MemoryList] = field(default_factory=dict)
    """By the id of the person."""

    def async_follow(self) -> None:
        """Show the lists of all persons, until the agent ends."""
        events = self._hass.bus
        until = partial(
            self._entry.runtime_data.async_on_end, self._subentry.subentry_id
        )
        until(
            async_dispatcher_connect(
                self._hass, SIGNAL_MEMORIES, self._async_facts_changed
            )
        )
        until(
            events.async_listen(
                EVENT_STATE_CHANGED, self._async_renew, _is_other_person
            )
        )
        until(
            events.async_listen(
                er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_renew, _is_of_person
            )
        )
        self._async_renew(None)

    def async_show(self, names: Mapping[str, str]) -> None:
        """Show the lists of these persons, by id, and no others."""
        registry = er.async_get(self._hass)
        agent = self._subentry.subentry_id
        wanted = {_unique_id(self._subentry, person_id) for person_id in names}
        for known in er.async_entries_for_config_entry(registry, self._entry.entry_id):
            is_list = known.domain == TODO_DOMAIN and known.config_subentry_id == agent
            if is_list and known.unique_id not in wanted:
                registry.async_remove(known.entity_id)
        self._lists = {
            person_id: list_entity
            for person_id, list_entity in self._lists.items()
            if person_id in names
        }
        for person_id, name in names.items():
            list_entity = self._lists.get(person_id)
            if list_entity is not None:
                list_entity.async_rename(name)
        new = {
            person_id: MemoryList(self._entry, self._subentry, person_id, name)
            for person_id, name in names.items()
            if person_id not in self._lists
        }
        self._lists |= new
        self._async_add_entities(new.values(), config_subentry_id=agent)

    @callback
    def _async_renew(
        self,
        _: Event[EventStateChangedData]
        | Event[er.EventEntityRegistryUpdatedData]
        | None,
    ) -> None:
        known = async_get_memories(self._hass).people(self._subentry.subentry_id)
        self.async_show(known | _persons(self._hass))

    @callback
    def _async_facts_changed(self, keeper: Keeper) -> None:
        if keeper.agent == self._subentry.subentry_id:
            self._async_renew(None)


def _remembers(entry: ConfigEntry) -> bool:
    """Return whether an agent of an entry remembers facts."""
    return any(
        settings_of(one.data).remember_facts
        for one in entry.subentries.values()
        if one.subentry_type == SUBENTRY_CONVERSATION
    )


def _remove_household_list(hass: HomeAssistant) -> None:
    registry = er.async_get(hass)
    known = registry.async_get_entity_id(
        TODO_DOMAIN,
        DOMAIN,
        HOUSEHOLD_LIST,
    )
    if known:
        registry.async_remove(known)


@callback
def _is_of_person(data: Mapping[str, object]) -> bool:
    return str(data[ATTR_ENTITY_ID]).startswith(f"{PERSON_DOMAIN}.")


@callback
def _is_other_person(data: EventStateChangedData) -> bool:
    """Return whether a person was added, removed or renamed, and has not only moved."""
    if not _is_of_person(data):
        return False
    before = data["old_state"]
    after = data["new_state"]
    return (
        before is None
        or after is None
        or (before.name, _id(before)) != (after.name, _id(after))
    )


def _persons(hass: HomeAssistant) -> dict[str, str]:
    """Return the names of all persons by their ids, even while Home Assistant is still setting them up."""
    registered = [
        one
        for one in er.async_get(hass).entities.values()
        if one.domain == PERSON_DOMAIN
    ]
    names = {
        one.unique_id: one.name or one.original_name or one.entity_id
        for one in registered
    }
    states = hass.states.async_all(PERSON_DOMAIN)
    return names | {
        person_id: state.name for state in states if (person_id := _id(state))
    }


def _id(state: State) -> str:
    return str(state.attributes.get(ATTR_ID, ""))


def _unique_id(subentry: ConfigSubentry, person_id: str) -> str:
    return f"{subentry.subentry_id}_{_PART}_{person_id}"

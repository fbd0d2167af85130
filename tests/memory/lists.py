"""The lists of facts in a home."""

from collections.abc import Mapping

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.memory.facts import (
    Keeper,
)
from tests.support.config_entries import offline_entry, set_up
from tests.support.listening_agent import add_person

LIST = "todo.talker_memories_of_anna"
HOUSEHOLD_LIST = "todo.household_facts"


def lists(hass: HomeAssistant) -> dict[str, str]:
    """Return the names of the lists of facts, by their ids."""
    all_lists = hass.states.async_all("todo")
    return {
        state.entity_id: state.name
        for state in all_lists
        if state.entity_id not in {"todo.later", HOUSEHOLD_LIST}
    }


async def items(hass: HomeAssistant, entity_id: str = LIST) -> list[dict[str, str]]:
    """Return what a list holds, without what identifies its items."""
    answer = await hass.services.async_call(
        "todo",
        "get_items",
        {"entity_id": entity_id, "status": ["needs_action", "completed"]},
        blocking=True,
        return_response=True,
    )
    assert answer is not None
    held = answer[entity_id]
    assert isinstance(held, dict)
    found = held["items"]
    assert isinstance(found, list)
    return [
        {key: str(item[key]) for key in ("summary", "status")}
        for item in found
        if isinstance(item, dict)
    ]


async def act(
    hass: HomeAssistant, action: str, data: Mapping[str, object], entity_id: str = LIST
) -> None:
    await hass.services.async_call(
        "todo", action, {"entity_id": entity_id, **data}, blocking=True
    )


def anna_of(agent: ConfigSubentry) -> Keeper:
    return Keeper(agent.subentry_id, "anna")


async def remembering_agent(hass: HomeAssistant) -> MockConfigEntry:
    """Set up an agent that may remember something, in Anna's home."""
    await add_person(hass, "Anna")
    return await set_up(hass, offline_entry(remember_facts=True))

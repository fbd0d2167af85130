"""The memories of an agent about a person are a list in the home, and the list is all that it remembers."""

from collections.abc import Mapping
from datetime import date

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.memory.facts import (
    HOUSEHOLD,
    Keeper,
    Memories,
    async_get_memories,
)
from tests.memory.lists import (
    HOUSEHOLD_LIST,
    LIST,
    act,
    anna_of,
    items,
    lists,
    remembering_agent,
)
from tests.support.config_entries import only_agent


@pytest.fixture
def memories(hass: HomeAssistant) -> Memories:
    return async_get_memories(hass)


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    return await remembering_agent(hass)


async def test_each_person_has_a_list_on_the_agents_device(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert lists(hass) == {LIST: "Talker Memories of Anna"}
    registry_entry = er.async_get(hass).async_get(LIST)
    assert registry_entry is not None
    agent = only_agent(entry).subentry_id
    assert (registry_entry.unique_id, registry_entry.config_subentry_id) == (
        f"{agent}_memories_anna",
        agent,
    )
    assert registry_entry.device_id is not None
    device = dr.async_get(hass).async_get(registry_entry.device_id)
    assert device is not None
    assert device.identifiers == {(DOMAIN, agent)}


@pytest.mark.usefixtures("entry")
async def test_no_assistant_can_use_a_list(hass: HomeAssistant) -> None:
    assert not async_should_expose(hass, conversation.DOMAIN, LIST)


async def test_lists_go_with_the_option_and_the_facts_stay(
    hass: HomeAssistant, entry: MockConfigEntry, memories: Memories
) -> None:
    agent = only_agent(entry)
    await memories.async_add(anna_of(agent), "Has a cat.", "Anna")
    for is_on, expected_lists in ((False, set[str]()), (True, {LIST})):
        hass.config_entries.async_update_subentry(
            entry, agent, data={"remember_facts": is_on}
        )
        await hass.async_block_till_done()
        assert lists(hass).keys() == expected_lists
        assert (er.async_get(hass).async_get(LIST) is not None) == is_on

    assert await items(hass) == [{"summary": "Has a cat.", "status": "needs_action"}]


async def test_lists_come_and_go_with_persons(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    memories: Memories,
    hass_ws_client: WebSocketGenerator,
) -> None:
    client = await hass_ws_client(hass)

    async def send(**message: str) -> Mapping[str, object]:
        await client.send_json_auto_id(message)
        answer: Mapping[str, object] = await client.receive_json()
        assert answer["success"]
        await hass.async_block_till_done()
        return answer

    created = await send(type="person/create", name="Ben")
    bens, agent = "todo.talker_memories_of_ben", only_agent(entry).subentry_id
    assert lists(hass).keys() == {LIST, bens}
    assert isinstance(created["result"], dict)
    ben = str(created["result"]["id"])

    await send(type="person/update", person_id=ben, name="Benjamin")
    assert lists(hass)[bens] == "Talker Memories of Benjamin"
    await memories.async_add(Keeper(agent, ben), "Has a dog.", "Benjamin")

    await send(type="person/delete", person_id=ben)
    assert lists(hass)[bens] == "Talker Memories of Benjamin"
    await act(hass, "remove_item", {"item": "Has a dog."}, bens)
    await hass.async_block_till_done()
    assert lists(hass).keys() == {LIST}
    assert er.async_get(hass).async_get(bens) is None


async def test_a_user_without_a_person_has_a_list_with_the_first_fact(
    hass: HomeAssistant, entry: MockConfigEntry, memories: Memories
) -> None:
    keeper = Keeper(only_agent(entry).subentry_id, "id-of-a-user")
    fact = await memories.async_add(keeper, "Is a guest.", "Guest")
    await hass.async_block_till_done()
    assert await items(hass, "todo.talker_memories_of_guest") == [
        {"summary": "Is a guest.", "status": "needs_action"}
    ]

    await memories.async_forget(keeper, [fact.id])
    await hass.async_block_till_done()
    assert lists(hass).keys() == {LIST}


async def test_a_list_survives_a_start_at_which_persons_are_not_there_yet(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    er.async_get(hass).async_update_entity(LIST, name="Anna's secrets")
    assert await hass.config_entries.async_unload(entry.entry_id)
    hass.states.async_remove("person.anna")

    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()

    assert list(lists(hass)) == [LIST]
    registry_entry = er.async_get(hass).async_get(LIST)
    assert registry_entry is not None
    assert registry_entry.name == "Anna's secrets"


async def test_the_household_has_a_list_as_long_as_an_agent_remembers(
    hass: HomeAssistant, entry: MockConfigEntry, memories: Memories
) -> None:
    agent = only_agent(entry)
    await act(
        hass, "add_item", {"item": "Guests.", "due_date": "2050-01-07"}, HOUSEHOLD_LIST
    )
    (fact,) = memories.facts(HOUSEHOLD)
    assert fact.ends == dt_util.start_of_local_day(date(2050, 1, 8))
    await act(
        hass, "update_item", {"item": "Guests.", "rename": "Friends."}, HOUSEHOLD_LIST
    )
    assert [(one.text, one.ends) for one in memories.facts(HOUSEHOLD)] == [
        ("Friends.", fact.ends)
    ]
    answer = await hass.services.async_call(
        "todo",
        "get_items",
        {"entity_id": HOUSEHOLD_LIST},
        blocking=True,
        return_response=True,
    )
    assert "'due': '2050-01-07'" in str(answer)
    assert not async_should_expose(hass, conversation.DOMAIN, HOUSEHOLD_LIST)
    for is_on in (False, True):
        hass.config_entries.async_update_subentry(
            entry, agent, data={"remember_facts": is_on}
        )
        await hass.async_block_till_done()
        assert (hass.states.get(HOUSEHOLD_LIST) is not None) == is_on
        assert len(memories.facts(HOUSEHOLD)) == 1
    await act(hass, "remove_item", {"item": ["Friends."]}, HOUSEHOLD_LIST)
    assert memories.facts(HOUSEHOLD) == ()

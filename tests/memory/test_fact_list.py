"""People see the facts of an agent in a list, change them there, and delete them."""

from collections.abc import Mapping

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_USER
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.translation import async_get_translations
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.memory.facts import (
    HOUSEHOLD,
    LONGEST_FACT,
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
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.home_rules import set_home_rules
from tests.support.listening_agent import add_person


@pytest.fixture
def memories(hass: HomeAssistant) -> Memories:
    return async_get_memories(hass)


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    return await remembering_agent(hass)


async def test_changes_in_the_list_are_remembered(
    hass: HomeAssistant, entry: MockConfigEntry, memories: Memories
) -> None:
    keeper = anna_of(only_agent(entry))
    await act(hass, "add_item", {"item": "Has a  cat."})
    (cat,) = memories.facts(keeper)
    assert cat.text == "Has a cat."

    await act(hass, "update_item", {"item": cat.id, "rename": "Has two cats."})
    assert [fact.text for fact in memories.facts(keeper)] == ["Has two cats."]
    await act(hass, "update_item", {"item": cat.id, "status": "completed"})
    assert [fact.is_aside for fact in memories.facts(keeper)] == [True]
    assert await items(hass) == [{"summary": "Has two cats.", "status": "completed"}]
    await act(hass, "update_item", {"item": "Has two cats.", "status": "needs_action"})
    assert [fact.is_aside for fact in memories.facts(keeper)] == [False]
    await act(hass, "remove_item", {"item": ["Has two cats."]})
    assert memories.facts(keeper) == ()
    assert lists(hass).keys() == {LIST}


async def test_a_new_fact_is_in_the_list_at_once(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    memories: Memories,
    hass_ws_client: WebSocketGenerator,
) -> None:
    client = await hass_ws_client(hass)
    await client.send_json_auto_id({"type": "todo/item/subscribe", "entity_id": LIST})
    assert (await client.receive_json())["success"]
    assert (await client.receive_json())["event"] == {"items": []}

    await memories.async_add(
        Keeper(only_agent(entry).subentry_id, "ben"), "Has a dog.", "Ben"
    )
    await memories.async_add(anna_of(only_agent(entry)), "Has a cat.", "Anna")

    (item,) = (await client.receive_json())["event"]["items"]
    assert item["summary"] == "Has a cat."
    state = hass.states.get(LIST)
    assert state is not None
    assert state.state == "1"


@pytest.mark.usefixtures("entry")
async def test_the_list_of_the_household_obeys_the_rule(
    hass: HomeAssistant, memories: Memories
) -> None:
    owner = await hass.auth.async_create_user("O", group_ids=[GROUP_ID_ADMIN])
    ben = await hass.auth.async_create_user("B", group_ids=[GROUP_ID_USER])
    await set_home_rules(hass, household_writers="admins")

    async def add(user_id: str | None) -> None:
        await hass.services.async_call(
            "todo",
            "add_item",
            {"entity_id": HOUSEHOLD_LIST, "item": f"by {user_id}"},
            blocking=True,
            context=Context(user_id=user_id),
        )

    await add(owner.id)
    for user_id in (ben.id, None):
        with pytest.raises(ServiceValidationError, match="administrator"):
            await add(user_id)

    assert [fact.text for fact in memories.facts(HOUSEHOLD)] == [f"by {owner.id}"]


@pytest.mark.usefixtures("entry")
@pytest.mark.parametrize(
    ("action", "data", "key"),
    [
        ("add_item", {"item": "x" * (LONGEST_FACT + 1)}, "memory_too_long"),
        ("add_item", {"item": "\u200b"}, "memory_empty"),
        ("update_item", {"item": "Has a cat.", "rename": "\u200b"}, "memory_empty"),
    ],
)
async def test_an_invalid_fact_is_refused(
    hass: HomeAssistant, action: str, data: Mapping[str, object], key: str
) -> None:
    await act(hass, "add_item", {"item": "Has a cat."})

    with pytest.raises(ServiceValidationError) as refused:
        await act(hass, action, data)

    texts = await async_get_translations(hass, "en", "exceptions", [DOMAIN])
    expected = texts[f"component.{DOMAIN}.exceptions.{key}.message"].format(
        longest=LONGEST_FACT
    )
    assert str(refused.value) == expected.removesuffix(".")
    assert await items(hass) == [{"summary": "Has a cat.", "status": "needs_action"}]


async def test_unreadable_facts_show_no_list_and_are_read_again(
    hass: HomeAssistant,
    hass_storage: dict[str, object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    hass_storage["chatterbox.memories"] = {"version": 1, "data": {"people": "nobody"}}
    await add_person(hass, "Anna")

    entry = await set_up(hass, offline_entry(remember_facts=True))

    assert lists(hass) == {}
    assert "Open Settings → Repairs" in caplog.text
    assert hass.states.get("conversation.talker") is not None
    assert await hass.config_entries.async_unload(entry.entry_id)

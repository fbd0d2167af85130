"""Items of to-do lists are found by their names, in whatever form these are written."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.effects.intents import items_meant
from tests.demo_house.move_in import move_in
from tests.support.offline_talk import Talk
from tests.support.one_home import in_one_home

HOME = """
entities:
  - id: todo.one
    name: Groceries
    attributes: { todo_items: [Käse, { summary: Brötchen, status: completed }, Milch, milch, Tee] }
  - { id: todo.two, name: Chores, attributes: { todo_items: [Käse] } }
  - { id: todo.three, name: Chores, attributes: { todo_items: [Tee] } }
"""
COMPLETE, REMOVE = "HassListCompleteItem", "HassListRemoveItem"


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


@in_one_home(
    ("intent", "name", "item", "meant"),
    [
        (REMOVE, "groceries", "Kase", ["Käse"]),
        (COMPLETE, "Groceries", "kase", ["Käse"]),
        (REMOVE, "Groceries", "Brotchen", ["Brötchen"]),
        (COMPLETE, "Groceries", "Brotchen", []),
        (REMOVE, "Groceries", "Käse", []),
        (REMOVE, "Groceries", "MILCH", ["Milch", "milch"]),
        (REMOVE, "Groceries", "Milch", []),
        (REMOVE, "Groceries", "Kaffee", []),
        (REMOVE, "Chores", "kase", []),
        (REMOVE, "Nothing", "kase", []),
        ("HassListAddItem", "Groceries", "kase", []),
        (REMOVE, "Groceries", ["kase"], []),
    ],
)
async def test_an_item_is_found_in_one_list(
    home: HomeAssistant, intent: str, name: str, item: str, meant: list[str]
) -> None:
    slots = {"name": name, "item": item}

    assert items_meant(home, intent, slots, conversation.DOMAIN) == meant


async def test_a_sentence_completes_an_item_of_the_shopping_list(
    home: HomeAssistant,
) -> None:
    entry = MockConfigEntry(domain="shopping_list")
    entry.add_to_hass(home)
    assert await home.config_entries.async_setup(entry.entry_id)
    await home.async_block_till_done()
    await home.services.async_call(
        "shopping_list", "add_item", {"name": "🧀 Käse"}, blocking=True
    )
    assert home.states.is_state("todo.shopping_list", "1")
    assert items_meant(
        home, "HassShoppingListCompleteItem", {"item": "kase"}, conversation.DOMAIN
    ) == ["🧀 Käse"]

    await Talk(home).say("check off kase from my shopping list")

    assert home.states.is_state("todo.shopping_list", "0")

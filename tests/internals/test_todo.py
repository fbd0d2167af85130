"""The items of lists are unknown without the inside of the todo integration."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.todo import items_on_list
from tests.demo_house.move_in import move_in
from tests.support.moved_names import take_away

HOME = (
    "entities: [{ id: todo.chores, name: Chores, attributes: { todo_items: [Sweep] } }]"
)


async def test_the_items_of_a_list_become_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await move_in(hass, HOME)
    assert [item.summary for item in items_on_list(hass, "todo.chores")] == ["Sweep"]
    assert items_on_list(hass, "todo.unknown") == ()
    take_away(monkeypatch, hass, "list_items")

    assert items_on_list(hass, "todo.chores") == ()

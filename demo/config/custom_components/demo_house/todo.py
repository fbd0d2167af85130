"""To-do and shopping lists of a demo house."""

from typing import override

from homeassistant.components.todo import TodoItem, TodoListEntity
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .const import DOMAIN
from .entity import DemoHouseEntity
from .home_information import HomeTodoList


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the lists of the home."""
    async_add_entities(
        DemoTodoList(entry, todo)
        for todo in entry.runtime_data.entities_of(HomeTodoList)
    )


class DemoTodoList(DemoHouseEntity, TodoListEntity):
    """A list whose items have the uids 1, 2, 3, … in the order of their making."""

    def __init__(self, entry: DemoHouseConfigEntry, todo: HomeTodoList) -> None:
        """Take the items of the home file."""
        super().__init__(entry, todo)
        self._attr_supported_features = todo.supported_features
        self._items = [
            TodoItem(
                uid=str(number),
                summary=item.summary,
                status=item.status,
                due=item.due,
                description=item.description,
            )
            for number, item in enumerate(todo.todo_items, start=1)
        ]
        self._made = len(self._items)
        self._attr_todo_items = list(self._items)

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Add an item at the end."""
        self._made += 1
        item.uid = str(self._made)
        self._items.append(item)
        self._write()

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Replace the item with the same uid, which tells for instance that it is completed."""
        self._items[self._index(item.uid)] = item
        self._write()

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Delete the items with these uids."""
        self._items = [item for item in self._items if item.uid not in uids]
        self._write()

    @override
    async def async_move_todo_item(
        self, uid: str, previous_uid: str | None = None
    ) -> None:
        """Put an item after another one, or first."""
        item = self._items.pop(self._index(uid))
        self._items.insert(
            0 if previous_uid is None else self._index(previous_uid) + 1, item
        )
        self._write()

    def _index(self, uid: str | None) -> int:
        for index, item in enumerate(self._items):
            if item.uid == uid:
                return index
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="no_such_item"
        )

    def _write(self) -> None:
        # Home Assistant caches the property until the attribute is set anew.
        self._attr_todo_items = list(self._items)
        self.async_write_ha_state()

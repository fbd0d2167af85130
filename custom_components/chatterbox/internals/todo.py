"""The inside of `homeassistant.components.todo`: the items of lists."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from homeassistant.core import HomeAssistant

from .reliance import Reliance

if TYPE_CHECKING:
    from homeassistant.components.todo import TodoItem

_LISTS: Final = Reliance(
    "list_items", "homeassistant.components.todo.const", ("DATA_COMPONENT",)
)


def items_on_list(
    hass: HomeAssistant,
    entity_id: str,
) -> Sequence[TodoItem]:
    """Return the items of a list; none if they are unknown. Source: `todo.TodoListEntity`."""
    found = _LISTS.find(hass)
    component = hass.data.get(found.DATA_COMPONENT) if found else None
    items: Sequence[TodoItem] | None = getattr(
        component and component.get_entity(entity_id), "todo_items", None
    )
    return items or ()

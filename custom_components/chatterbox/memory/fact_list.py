"""To-do lists of facts: people see them there, change them, give them an end, and delete them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Final, override

from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity
from homeassistant.components.todo.const import TodoListEntityFeature
from homeassistant.const import EntityCategory
from homeassistant.core import callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..people.speakers import speaker_of
from ..speech.sentences import translated
from .fact_tools import is_whole_day, last_day
from .facts import (
    BOUNDS,
    HOUSEHOLD,
    SIGNAL_MEMORIES,
    Fact,
    Keeper,
    MemoryProblem,
    NotRemembered,
    async_get_memories,
    async_may_write,
)

_PART: Final = "household"
HOUSEHOLD_LIST: Final = f"{DOMAIN}_{_PART}"
"""The unique id of its list."""


class FactList(TodoListEntity):
    """The facts of one keeper. No agent sees checked items."""

    _attr_should_poll = False
    _attr_entity_category = EntityCategory.CONFIG
    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
        | TodoListEntityFeature.SET_DUE_DATE_ON_ITEM
        | TodoListEntityFeature.SET_DUE_DATETIME_ON_ITEM
    )
    _keeper: Keeper
    _name_of_keeper: str = ""

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the facts."""
        await super().async_added_to_hass()
        self.async_on_remove(
            async_dispatcher_connect(
                self.hass,
                SIGNAL_MEMORIES,
                self._async_follow,
            )
        )
        self._async_take_facts()

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Store a fact."""
        with _refusals():
            await self._async_check()
            await async_get_memories(self.hass).async_add(
                self._keeper, item.summary or "", self._name_of_keeper, _end_of(item)
            )

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Change a fact, disable it, or enable it again."""
        is_aside = (
            item.status == TodoItemStatus.COMPLETED
        )  # an action passes a plain string
        with _refusals():
            await self._async_check()
            await async_get_memories(self.hass).async_change(
                self._keeper,
                item.uid or "",
                item.summary or "",
                is_aside=is_aside,
                ends=_end_of(item),
            )

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Delete facts."""
        with _refusals():
            await self._async_check()
            await async_get_memories(self.hass).async_forget(
                self._keeper,
                uids,
            )

    async def _async_check(self) -> None:
        """Raise `NotRemembered` if this list may not be changed."""

    @callback
    def _async_follow(self, keeper: Keeper) -> None:
        if keeper == self._keeper:
            self._async_take_facts()
            self.async_write_ha_state()

    def _async_take_facts(self) -> None:
        facts = async_get_memories(self.hass).facts(self._keeper)
        self._attr_todo_items = [_item(fact) for fact in facts]


class HouseholdList(FactList):
    """The facts of the household, which belong to no agent."""

    _attr_has_entity_name = True
    _attr_translation_key = _PART
    _attr_unique_id = HOUSEHOLD_LIST
    _keeper = HOUSEHOLD

    @override
    async def _async_check(self) -> None:
        # An intent sets no context: its speaker is not known.
        context = self._context
        self._context = None
        speaker = speaker_of(
            self.hass,
            context.user_id if context else None,
        )
        if not await async_may_write(self.hass, speaker):
            raise NotRemembered(MemoryProblem.NOT_PERMITTED)


def _item(fact: Fact) -> TodoItem:
    status = TodoItemStatus.COMPLETED if fact.is_aside else TodoItemStatus.NEEDS_ACTION
    due: date | None = None
    if fact.ends:
        due = last_day(fact.ends)
        if is_whole_day(fact.ends):
            due = due.date()
    return TodoItem(
        fact.text,
        fact.id,
        status,
        due=due,
    )


def _end_of(item: TodoItem) -> datetime | None:
    """Return when a fact ends, in UTC: of a day, its end."""
    if item.due is None:
        return None
    if isinstance(item.due, datetime):
        return dt_util.as_utc(item.due)
    day = item.due + timedelta(days=1)
    return dt_util.as_utc(dt_util.start_of_local_day(day))


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ServiceValidationError for NotRemembered."""
    try:
        yield
    except NotRemembered as error:
        raise translated(
            ServiceValidationError, error.problem.value, **BOUNDS
        ) from error

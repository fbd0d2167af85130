"""The to-do list of what is planned: people see it there, change its time, and cancel it."""

from datetime import datetime
from functools import partial
from typing import Final, override

from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity
from homeassistant.components.todo.const import TodoListEntityFeature
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..people.speakers import Speaker, speaker_of
from .plans import SIGNAL_PLANS, FuturePlan, NotPlanned, PlanProblem
from .schedule import async_get_schedule, edited_plan
from .tool import due_order

_PART: Final = "later"


class LaterList(TodoListEntity):
    """Everything that is planned in the home. A completed item is cancelled."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_entity_category = EntityCategory.CONFIG
    """So that agents, which have a tool for it, do not see the list."""
    _attr_translation_key = _PART
    _attr_unique_id = f"{DOMAIN}_{_PART}"
    _attr_supported_features = (
        TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
        | TodoListEntityFeature.SET_DUE_DATETIME_ON_ITEM
    )

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the plans of the home."""
        self._schedule = async_get_schedule(hass)

    @property
    @override
    def available(self) -> bool:
        """Return whether the plans were read."""
        return self._schedule.plans.is_loaded

    @property
    @override
    def todo_items(self) -> list[TodoItem]:
        """Return the plans, in order of time."""
        return [
            TodoItem(
                plan.text,
                plan.id,
                TodoItemStatus.NEEDS_ACTION,
                due=plan.due and dt_util.as_local(plan.due),
            )
            for plan in sorted(self._schedule.plans.stored.plans, key=due_order)
        ]

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the plans."""
        await super().async_added_to_hass()
        self.async_on_remove(
            async_dispatcher_connect(
                self.hass,
                SIGNAL_PLANS,
                self.async_write_ha_state,
            )
        )

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Cancel a plan that is completed, or change its time; of a reminder, also its text."""
        plan_id = item.uid or ""
        mover = self._mover()
        if item.status == TodoItemStatus.COMPLETED:  # an action passes a plain string
            await self._schedule.async_cancel(plan_id, mover)
        else:
            await self._schedule.async_change(
                plan_id,
                partial(_changed, item),
                mover,
            )

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Cancel plans."""
        mover = self._mover()
        for plan_id in uids:
            await self._schedule.async_cancel(plan_id, mover)

    def _mover(self) -> Speaker:
        """Return the speaker of an action. An intent sets no context: its speaker is not known, and changes nothing."""
        context = self._context
        self._context = None
        if context is None:
            raise NotPlanned(PlanProblem.NOT_PERMITTED)
        return speaker_of(self.hass, context.user_id)


def _changed(
    item: TodoItem,
    plan: FuturePlan,
) -> FuturePlan:
    """Return a plan as it was edited. Raises `NotPlanned`."""
    if item.due is None or isinstance(item.due, datetime):
        due = item.due
    else:
        due = dt_util.start_of_local_day(item.due)
    return edited_plan(
        plan,
        item.summary or "",
        due,
    )

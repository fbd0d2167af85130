"""Routines as automations of Home Assistant, for an administrator to go on with in its editor."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from homeassistant.components.select import ATTR_OPTIONS
from homeassistant.components.zone import DOMAIN as ZONE
from homeassistant.const import (
    STATE_HOME,
    STATE_NOT_HOME,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    SUN_EVENT_SUNRISE,
    SUN_EVENT_SUNSET,
    WEEKDAYS,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object

from ..agent.messages import JsonObject, JsonValue
from ..agent.text import capitalized
from ..effects.silent_home import SilentCall
from .plans import Condition, FuturePlan, state_key
from .schedule import async_get_schedule, async_resolve

_LATER: Final = timedelta(days=20)
"""Time after which the sun rises and sets at other times."""
_ALIKE: Final = timedelta(minutes=1)
_WEEKDAYS: Final = {
    "day": range(7),
    "workday": range(5),
}
_DATA: Final = frozenset({"entity_id", "area_id", "floor_id", "device_id", "label_id"})
"""The data of actions that select their targets."""


async def async_automation(
    hass: HomeAssistant,
    plan: FuturePlan,
) -> JsonObject | None:
    """Return a routine as the configuration of an automation; None for one that none can be."""
    if plan.call is None:
        return None
    calls = await async_get_schedule(hass).async_actions(plan)
    triggers, conditions = await _async_occasions(hass, plan)
    if not calls or not triggers:
        return None
    config = {
        "alias": capitalized(plan.text),
        "description": "",
        "triggers": triggers,
        "conditions": conditions,
        "actions": [_action(hass, one) for one in calls],
        "mode": "single",
    }
    return json_loads_object(json_dumps(config))


def _action(
    hass: HomeAssistant,
    call: SilentCall,
) -> JsonObject:
    """Return an action as an automation has it: as that of its entities where the one of all kinds was called."""
    given = call.data.get("entity_id") or ()
    if isinstance(given, str):
        ids = [given]
    else:
        ids = [*given]
    domains = {one.partition(".")[0] for one in ids}
    action = call.action
    of_all_kinds, _, service = action.partition(".")
    if of_all_kinds == "homeassistant" and len(domains) == 1:
        [domain] = domains
        if hass.services.has_service(domain, service):
            action = f"{domain}.{service}"
    target = {name: value for name, value in call.data.items() if name in _DATA}
    data = {name: value for name, value in call.data.items() if name not in _DATA}
    return {
        "action": action,
        "target": target,
        "data": data,
    }


async def _async_occasions(
    hass: HomeAssistant, plan: FuturePlan
) -> tuple[list[JsonValue], list[JsonValue]]:
    """Return the triggers and conditions of a routine; no triggers if Home Assistant has none for it."""
    if plan.condition and plan.due is None:
        return [_trigger(hass, plan.condition)], [*_of_event(plan.condition)]
    if plan.due is None:
        return [*plan.waits_for], []
    conditions: list[JsonValue] = (
        [_check(hass, plan.condition)] if plan.condition else []
    )
    days = _days(
        plan,
        dt_util.as_local(plan.due),
    )
    if days is None:
        return [], []
    if len(days) < len(WEEKDAYS):
        weekdays: list[JsonValue] = [WEEKDAYS[day] for day in days]
        conditions.append({"condition": "time", "weekday": weekdays})
    return [await _async_time(hass, plan, plan.due)], conditions


def _days(
    plan: FuturePlan,
    due: datetime,
) -> Sequence[int] | None:
    """Return the weekdays of a routine; None for one of other days, such as every second one."""
    if plan.every == "week":
        return [due.weekday()]
    if plan.every.replace(",", "").isdigit():
        return [int(day) for day in plan.every.split(",")]
    return _WEEKDAYS.get(plan.every)


async def _async_time(
    hass: HomeAssistant, plan: FuturePlan, due: datetime
) -> JsonObject:
    """Return the trigger for a time, which may follow the sun."""
    after = await async_resolve(
        hass,
        plan.words,
        plan.language,
        due + _LATER,
    )
    for event in (SUN_EVENT_SUNRISE, SUN_EVENT_SUNSET):
        offsets = [
            (at - sun).total_seconds()
            for at in (due, *((after.due,) if after else ()))
            if (sun := get_astral_event_date(hass, event, dt_util.as_local(at).date()))
        ]
        is_same_clock = after and (
            dt_util.as_local(after.due).time() == dt_util.as_local(due).time()
        )
        if len(offsets) > 1 and not is_same_clock:
            first, second = offsets
            if abs(first - second) < _ALIKE.total_seconds():
                return {
                    "trigger": "sun",
                    "event": event,
                    "offset": round(first),
                }
    return {
        "trigger": "time",
        "at": f"{dt_util.as_local(due):%H:%M:%S}",
    }


def _trigger(hass: HomeAssistant, condition: Condition) -> JsonObject:
    """Return the trigger for a condition that begins to hold; an entity that comes back has not changed."""
    none: list[JsonValue] = [STATE_UNAVAILABLE, STATE_UNKNOWN]
    kind = "state"
    change: JsonObject = {}
    if condition.happens:
        change = {
            "not_from": none[:1],
            "not_to": none,
        }
    elif condition.state == STATE_NOT_HOME:
        change = {"from": STATE_HOME, "not_to": none}
    elif condition.state:
        change = {
            "not_from": none,
            "to": _written(hass, condition),
        }
    else:
        kind = "numeric_state"
        change = _bounds(condition)
    if condition.seconds and not condition.happens:
        change = {
            **change,
            "for": {"seconds": condition.seconds},
        }
    return {
        "trigger": kind,
        "entity_id": condition.entity_id,
        **change,
    }


def _written(
    hass: HomeAssistant,
    condition: Condition,
) -> str:
    """Return a state as its entity has it: "Work" for `work`, as triggers compare it."""
    state = hass.states.get(condition.entity_id)
    zones = [one.name for one in hass.states.async_all(ZONE)]
    options = state and state.attributes.get(ATTR_OPTIONS)
    known = [*(options if isinstance(options, list) else ()), *zones]
    if state:
        known.append(state.state)
    fitting = (str(one) for one in known if state_key(str(one)) == condition.state)
    if condition.state in known:
        return condition.state
    return next(fitting, condition.state)


def _of_event(condition: Condition) -> Sequence[JsonObject]:
    """Return the condition that an event is of the type that is waited for."""
    if not condition.happens or not condition.state:
        return ()
    event = {
        "attribute": "event_type",
        "state": condition.state,
    }
    return ({"condition": "state", "entity_id": condition.entity_id, **event},)


def _check(hass: HomeAssistant, condition: Condition) -> JsonObject:
    kind = "state"
    state: JsonObject = {}
    if condition.state == STATE_NOT_HOME:  # in any other zone, too
        state = {"state": [STATE_HOME, STATE_UNAVAILABLE, STATE_UNKNOWN]}
    elif condition.state:
        state = {"state": _written(hass, condition)}
    else:
        kind = "numeric_state"
        state = _bounds(condition)
    check = {
        "condition": kind,
        "entity_id": condition.entity_id,
        **state,
    }
    if condition.state == STATE_NOT_HOME:
        return {"condition": "not", "conditions": [check]}
    return check


def _bounds(condition: Condition) -> JsonObject:
    bounds = {
        "above": condition.above,
        "below": condition.below,
    }
    return {name: bound for name, bound in bounds.items() if bound is not None}

"""Which actions would bring an entity into a state, as a scene does.

Knows the services by which Home Assistant reproduces states. What they are called for is the caller's to know.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from homeassistant.components.alarm_control_panel import DOMAIN as ALARM_DOMAIN, AlarmControlPanelState
from homeassistant.components.cover import (
    ATTR_CURRENT_POSITION,
    ATTR_CURRENT_TILT_POSITION,
    ATTR_POSITION,
    ATTR_TILT_POSITION,
    DOMAIN as COVER_DOMAIN,
)
from homeassistant.components.lock import DOMAIN as LOCK_DOMAIN, LockState
from homeassistant.components.valve import DOMAIN as VALVE_DOMAIN
from homeassistant.const import STATE_CLOSED, STATE_CLOSING, STATE_OFF, STATE_ON, STATE_OPEN, STATE_OPENING
from homeassistant.core import State

from .effect import named_action

_OPEN: Final = frozenset({STATE_OPEN, STATE_OPENING})
_CLOSED: Final = frozenset({STATE_CLOSED, STATE_CLOSING})

_LOCK_SERVICES: Final[Mapping[str, str]] = {
    LockState.LOCKED: "lock",
    LockState.LOCKING: "lock",
    LockState.UNLOCKED: "unlock",
    LockState.UNLOCKING: "unlock",
    LockState.OPEN: "open",
    LockState.OPENING: "open",
}


_ON_OFF_DOMAINS: Final = frozenset({"automation", "group", "input_boolean", "light", "remote", "switch"})
"""Domains of which every state is reached by turning on or off."""

ANY_ACTION: Final = "reproduce_state"
"""Stands for whatever services of a domain reach a state."""


def reproducing_actions(state: State) -> frozenset[str]:
    """Return the actions that may be called to reach a state; at least those that will be.

    Where they are not known one by one, it is `<domain>.reproduce_state` for all of them.
    """
    match state.domain:
        case "cover":
            return frozenset(_cover_actions(state))
        case "valve" if state.state in _OPEN:
            return frozenset({f"{VALVE_DOMAIN}.open_valve"})
        case "valve" if state.state in _CLOSED:
            return frozenset({f"{VALVE_DOMAIN}.close_valve"})
        case "lock" if state.state in _LOCK_SERVICES:
            return frozenset({f"{LOCK_DOMAIN}.{_LOCK_SERVICES[state.state]}"})
        case "alarm_control_panel":
            return frozenset({f"{ALARM_DOMAIN}.{_alarm_service(state.state)}"})
        case domain if domain in _ON_OFF_DOMAINS and state.state in {STATE_ON, STATE_OFF}:
            return frozenset({f"{domain}.turn_{state.state}"})
        case domain:
            return frozenset({f"{domain}.{ANY_ACTION}"})


def _cover_actions(state: State) -> Iterator[str]:
    """Yield the actions of a cover: a position that it cannot be set to is reached by opening or closing it."""
    places = (
        (ATTR_CURRENT_POSITION, ATTR_POSITION, "set_cover_position", "open_cover"),
        (ATTR_CURRENT_TILT_POSITION, ATTR_TILT_POSITION, "set_cover_tilt_position", "open_cover_tilt"),
    )
    for attribute, name, setting, opening in places:
        if (position := state.attributes.get(attribute)) is not None:
            yield named_action(COVER_DOMAIN, setting, {name: position})
            if position != 0:
                yield f"{COVER_DOMAIN}.{opening}"
        if state.state in _OPEN:
            yield from (f"{COVER_DOMAIN}.{setting}", f"{COVER_DOMAIN}.{opening}")
        elif state.state in _CLOSED:
            yield named_action(COVER_DOMAIN, setting, {name: 0})


def _alarm_service(state: str) -> str:
    if state == AlarmControlPanelState.DISARMED:
        return "alarm_disarm"
    if state == AlarmControlPanelState.TRIGGERED:
        return "alarm_trigger"
    return f"alarm_{state.replace('armed', 'arm')}"

"""Predicts the states that a call brings about, as far as its effects and arguments tell them."""

from collections.abc import Mapping
from typing import Final

from ..agent.messages import JsonObject, JsonValue
from ..agent.text import fold, read_data_file
from ..approvals.request_check import SELECTING
from ..effects.effect import Effects

_STATES: Final = read_data_file(__file__, dict[str, str])
STATE: Final = "state"
_OFF_AT_ZERO: Final = ("brightness", "percentage")
_UNKNOWN: Final = ""
"""Stands for the entities of a call whose effects are unknown, or are on no entity."""

type Changes = Mapping[str, Mapping[str, JsonValue]]
"""The state of each entity and the values that a call gives it, by entity id."""


def predicted_changes(effects: Effects, arguments: JsonObject) -> Changes:
    """Return the changes of a call. Where no state follows from an action, it has the name of the action."""
    given: dict[str, JsonValue] = {
        name: value
        for name, value in arguments.items()
        if name not in SELECTING and value not in (None, "")
    }
    changes: dict[str, dict[str, JsonValue]] = {}
    for action in sorted(effects.actions):
        service = action.action.partition(".")[2]
        state = _STATES.get(action.action) or _STATES.get(f"*.{service}")
        if state == "on" and any(
            same_value(0, given.get(name)) for name in _OFF_AT_ZERO
        ):
            state = "off"
        new = {STATE: state} if state else {"action": action.action}
        changes[action.entity_id] = changes.get(action.entity_id, {}) | new | given
    is_known = effects.is_known or (
        effects.annotations and effects.annotations.read_only
    )
    if not is_known or effects.beside_entities:
        changes[_UNKNOWN] = dict(given)
    return changes


def joined_changes(several: list[Changes]) -> Changes:
    """Return the changes of calls that follow one another."""
    joined: dict[str, Mapping[str, JsonValue]] = {}
    for changes in several:
        joined |= {
            entity_id: {**joined.get(entity_id, {}), **new}
            for entity_id, new in changes.items()
        }
    return joined


def are_brought_about(wanted: Changes, found: Changes) -> bool:
    """Return whether all wanted states and values are among those found; others do not matter."""
    return all(
        name in found.get(entity_id, {}) and same_value(value, found[entity_id][name])
        for entity_id, values in wanted.items()
        for name, value in values.items()
    )


def same_value(wanted: JsonValue, found: JsonValue) -> bool:
    """Return whether two values mean the same, whatever their types: 21 and "21.0"."""
    try:
        return float(str(wanted)) == float(str(found))
    except ValueError:
        return fold(str(wanted)) == fold(str(found))

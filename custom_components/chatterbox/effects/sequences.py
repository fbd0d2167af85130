"""Flattens sequences of actions: yields every step of every branch, whatever the conditions say."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from homeassistant.const import (
    CONF_CHOOSE,
    CONF_DEFAULT,
    CONF_ELSE,
    CONF_ENABLED,
    CONF_PARALLEL,
    CONF_REPEAT,
    CONF_SEQUENCE,
    CONF_THEN,
)
from homeassistant.helpers import config_validation as cv

_BRANCHING_STEPS: Final = frozenset(
    {
        cv.SCRIPT_ACTION_CHOOSE,
        cv.SCRIPT_ACTION_IF,
        cv.SCRIPT_ACTION_PARALLEL,
        cv.SCRIPT_ACTION_REPEAT,
        cv.SCRIPT_ACTION_SEQUENCE,
    }
)
HARMLESS_STEPS: Final = frozenset(
    {
        cv.SCRIPT_ACTION_CHECK_CONDITION,
        cv.SCRIPT_ACTION_DELAY,
        cv.SCRIPT_ACTION_FIRE_EVENT,
        cv.SCRIPT_ACTION_SET_CONVERSATION_RESPONSE,
        cv.SCRIPT_ACTION_STOP,
        cv.SCRIPT_ACTION_VARIABLES,
        cv.SCRIPT_ACTION_WAIT_FOR_TRIGGER,
        cv.SCRIPT_ACTION_WAIT_TEMPLATE,
    }
)
"""Steps that change no entity themselves."""


def flat_steps(sequence: Iterable[object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the enabled steps without branches, each with its type, such as `cv.SCRIPT_ACTION_CALL_SERVICE`."""
    for step in sequence:
        if not isinstance(step, Mapping) or step.get(CONF_ENABLED) is False:
            continue
        kind = cv.determine_script_action(dict(step))
        if kind not in _BRANCHING_STEPS:
            yield kind, step
            continue
        for branch in _branches(kind, step):
            yield from flat_steps(_listed(branch))


def _branches(kind: str, step: Mapping[str, object]) -> Iterator[object]:
    """Yield the sequences inside a step. Missing ones are None."""
    holders = _listed(step[kind]) if kind in (CONF_CHOOSE, CONF_PARALLEL, CONF_REPEAT) else []
    for holder in [*holders, step]:
        if isinstance(holder, Mapping):
            yield from (holder.get(name) for name in (CONF_SEQUENCE, CONF_THEN, CONF_ELSE, CONF_DEFAULT))


def _listed(value: object) -> list[object]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]

"""The steps of a sequence of actions, and of all its branches, as one flat list of what they ask for.

Knows how Home Assistant writes sequences. Must not know the house: what is asked of whom is found out elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.const import (
    CONF_ACTION,
    CONF_CHOOSE,
    CONF_DEFAULT,
    CONF_DOMAIN,
    CONF_ELSE,
    CONF_ENABLED,
    CONF_ENTITY_ID,
    CONF_PARALLEL,
    CONF_REPEAT,
    CONF_SCENE,
    CONF_SEQUENCE,
    CONF_SERVICE_DATA,
    CONF_SERVICE_DATA_TEMPLATE,
    CONF_TARGET,
    CONF_THEN,
    CONF_TYPE,
)
from homeassistant.helpers import config_validation as cv

from .effect import UnknownReason
from .targets import TARGET_KEYS, acts_on_own_domain, decided_by_template

_SERVICES_OF_TYPES: Final[Mapping[tuple[str, str], str]] = {
    ("cover", "close"): "close_cover",
    ("cover", "close_tilt"): "close_cover_tilt",
    ("cover", "open"): "open_cover",
    ("cover", "open_tilt"): "open_cover_tilt",
    ("cover", "set_position"): "set_cover_position",
    ("cover", "set_tilt_position"): "set_cover_tilt_position",
    ("cover", "stop"): "stop_cover",
}
"""Of device actions whose type is not the service that they call."""


@dataclass(frozen=True, slots=True)
class ActionStep:
    """An action is called."""

    domain: str
    service: str
    data: Mapping[str, object]
    """With its target. Only values that are no target may still be templates."""


@dataclass(frozen=True, slots=True)
class SceneStep:
    """A scene is activated."""

    entity_id: str


@dataclass(frozen=True, slots=True)
class DeviceStep:
    """An action of a device is called for one of its entities."""

    entity: str
    """Id of the entity, or of its place in the registry."""
    domain: str
    service: str
    data: Mapping[str, object]


type Step = ActionStep | SceneStep | DeviceStep | UnknownReason


def read_steps(sequence: Iterable[object]) -> Iterator[Step]:
    """Yield all that a sequence may do, whatever its conditions say. What is disabled is left out."""
    for step in sequence:
        if isinstance(step, Mapping) and step.get(CONF_ENABLED) is not False:
            yield from _read_step(step)


def _read_step(step: Mapping[str, object]) -> Iterator[Step]:
    kind = cv.determine_script_action(dict(step))
    match kind:
        case cv.SCRIPT_ACTION_CALL_SERVICE:
            yield _read_action(step)
        case cv.SCRIPT_ACTION_ACTIVATE_SCENE:
            yield SceneStep(str(step[CONF_SCENE]))
        case cv.SCRIPT_ACTION_DEVICE_AUTOMATION:
            yield from _read_device_action(step)
        case kind if kind in _BRANCHING_STEPS:
            for branch in _branches(kind, step):
                yield from read_steps(_listed(branch))
        case kind if kind not in _HARMLESS_STEPS:
            yield UnknownReason.OPAQUE_ACTION
        case _:
            return


_BRANCHING_STEPS: Final = frozenset(
    {
        cv.SCRIPT_ACTION_CHOOSE,
        cv.SCRIPT_ACTION_IF,
        cv.SCRIPT_ACTION_PARALLEL,
        cv.SCRIPT_ACTION_REPEAT,
        cv.SCRIPT_ACTION_SEQUENCE,
    }
)
_HARMLESS_STEPS: Final = frozenset(
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


def _branches(kind: str, step: Mapping[str, object]) -> Iterator[object]:
    """Yield the sequences inside a step; None where one is left out."""
    holders = _listed(step[kind]) if kind in (CONF_CHOOSE, CONF_PARALLEL, CONF_REPEAT) else []
    for holder in [*holders, step]:
        if isinstance(holder, Mapping):
            yield from (holder.get(name) for name in (CONF_SEQUENCE, CONF_THEN, CONF_ELSE, CONF_DEFAULT))


def _listed(value: object) -> list[object]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _read_action(step: Mapping[str, object]) -> Step:
    """Read the call of an action. A template in what names it or its target leaves nothing to be known."""
    name = step.get(CONF_ACTION)
    parts = [step.get(key, {}) for key in (CONF_SERVICE_DATA, CONF_SERVICE_DATA_TEMPLATE, CONF_TARGET)]
    data: dict[str, object] = {}
    for part in parts:
        if not isinstance(part, Mapping):
            return UnknownReason.TEMPLATE
        data |= part
    if CONF_ENTITY_ID in step:
        data[CONF_ENTITY_ID] = step[CONF_ENTITY_ID]
    targets = [*data, *(data[key] for key in TARGET_KEYS if key in data)]
    if not isinstance(name, str) or decided_by_template([name, *targets]):
        return UnknownReason.TEMPLATE
    domain, _, service = name.partition(".")
    return ActionStep(domain, service, data)


def _read_device_action(step: Mapping[str, object]) -> Iterator[Step]:
    domain, kind, entity = str(step.get(CONF_DOMAIN)), str(step.get(CONF_TYPE)), step.get(CONF_ENTITY_ID)
    if domain == "mobile_app":
        return
    if not acts_on_own_domain(domain) or not isinstance(entity, str):
        yield UnknownReason.OPAQUE_ACTION
        return
    service = _SERVICES_OF_TYPES.get((domain, kind), f"alarm_{kind}" if domain == "alarm_control_panel" else kind)
    yield DeviceStep(entity, domain, service, step)

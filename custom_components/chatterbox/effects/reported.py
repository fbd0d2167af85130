"""Reports of devices and scripts: whether they can be reached, and whether they have done as asked."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.const import (
    ATTR_ASSUMED_STATE,
    SERVICE_TURN_OFF,
    SERVICE_TURN_ON,
    STATE_OFF,
    STATE_ON,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import (
    DOMAIN as HOMEASSISTANT_DOMAIN,
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.helpers.event import async_track_state_change_event

from ..home.entity_matches import entity_name
from ..internals.trace import exception_of, traces_of
from ..records.turn_record import UNREACHABLE, FailedTarget, UnconfirmedTarget
from .actions import ActionReader, controlled_by, members_of
from .effect import Annotated, Effects, Touches, Unknown, UnknownReason, Unresolved
from .failures import async_reason, shown_reason
from .intents import intent_effects, is_question_intent

_ENTITY: Final = intent.IntentResponseTargetType.ENTITY
_CONFIRMATION: Final = 0.2
"""Seconds that a device gets which has not reported the state yet, as long as Home Assistant gives to an action."""
_EXPECTED: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    (intent.INTENT_TURN_ON, "lock"): frozenset({"locked", "locking"}),
    (intent.INTENT_TURN_OFF, "lock"): frozenset({"unlocked", "unlocking", "open", "opening"}),
    **{(intent.INTENT_TURN_ON, domain): frozenset({"open", "opening"}) for domain in ("cover", "valve")},
    **{(intent.INTENT_TURN_OFF, domain): frozenset({"closed", "closing"}) for domain in ("cover", "valve")},
    **{
        (f"HassTurn{state.capitalize()}", domain): frozenset({state})
        for state in (STATE_ON, STATE_OFF)
        for domain in ("fan", "humidifier", "input_boolean", "light", "siren", "switch")
    },
}
"""The states that an intent leads to or that are on the way there, by the type of the intent and the domain."""
_EXECUTIONS: Final[Mapping[str, str]] = {
    "cancelled": "It was stopped.",
    "error": "It stopped with an error.",
    "disallowed_recursion_detected": "It started itself again.",
    "failed_max_runs": "It is running too often already.",
    "failed_single": "It is running already.",
}
"""Why a script did not run to its end. Source: `script_execution_set` in homeassistant.helpers.script."""


def is_unavailable(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether an entity cannot be controlled: it is unavailable, or has no state although it is enabled."""
    if (state := hass.states.get(entity_id)) is not None:
        return state.state == STATE_UNAVAILABLE
    entry = er.async_get(hass).async_get(entity_id)
    return entry is not None and not entry.disabled_by


def out_of_reach(hass: HomeAssistant, effects: Effects) -> frozenset[str]:
    """Return the entities that a call acts on now if none of them can be reached and it does nothing else.

    A script, a scene or a group is as dead as all that it acts on.
    """
    match effects:
        case Annotated(named=named, is_complete=is_complete):
            return out_of_reach(hass, named) if is_complete else frozenset()
        case Touches(beside_entities=True):
            return frozenset()
        case Touches(actions=actions, delay=0) | Unresolved(actions=actions, delay=0):
            unknowns = effects.unknowns if isinstance(effects, Unresolved) else ()
            entity_ids = frozenset(action.entity_id for action in actions)
            controlled = controlled_by(effects) | {_source_of(unknown) for unknown in unknowns}
            is_dead = all(is_unavailable(hass, entity_id) for entity_id in controlled or entity_ids)
            return entity_ids if is_dead else frozenset()
        case _:
            return frozenset()


def _source_of(unknown: Unknown) -> str:
    """Return the entity whose content is unknown; empty for what may act on anything."""
    return unknown.source.entity_id if unknown.source and unknown.reason is UnknownReason.CONTENT else ""


def unavailable_names(hass: HomeAssistant, entity_ids: Iterable[str], *, since: float | None = None) -> dict[str, str]:
    """Return the names of the entities that are exposed and cannot be reached, by their ids, sorted.

    Those that were reached after `since`, seconds since the epoch, do not count.
    """
    states = {entity_id: hass.states.get(entity_id) for entity_id in sorted(entity_ids)}
    return {
        entity_id: entity_name(hass, entity_id)
        for entity_id, state in states.items()
        if is_unavailable(hass, entity_id)
        and (since is None or state is None or state.last_changed_timestamp <= since)
        and async_should_expose(hass, CONVERSATION, entity_id)
    }


async def async_check_response(
    hass: HomeAssistant, response: intent.IntentResponse, context: Context | None, began: float
) -> None:
    """Correct the results of an intent by what its entities report. Home Assistant counts all calls that do not raise.

    Entities that cannot be reached have failed, and so have scripts that ended in an error. What groups, scripts and
    scenes pass the call on to has failed if it was out of reach when it `began`, in seconds since the epoch: a script
    may cut the power of a television.
    """
    intent_type = response.intent.intent_type if response.intent else ""
    if response.response_type is not intent.IntentResponseType.ACTION_DONE or is_question_intent(hass, intent_type):
        return
    ids = [one.id for one in response.success_results if one.type is _ENTITY and one.id]
    expected = _expected_states(hass, response.intent, ids) if response.intent else {}
    await _async_wait_until_confirmed(hass, expected)
    failed = {entity_id: UNREACHABLE for entity_id in ids if is_unavailable(hass, entity_id)}
    errors = {entity_id: await async_script_error(hass, entity_id, context, response.language) for entity_id in ids}
    failed |= {entity_id: error for entity_id, error in errors.items() if error}
    unconfirmed = _unconfirmed(hass, expected)
    reader, service = ActionReader(hass), SERVICE_TURN_OFF if intent_type == intent.INTENT_TURN_OFF else SERVICE_TURN_ON
    reader.touch([one for one in ids if one not in failed], HOMEASSISTANT_DOMAIN, service, {})
    dead = unavailable_names(hass, controlled_by(reader.effects()).difference(ids), since=began)
    response.failed_results += [
        FailedTarget(one.name, one.type, one.id, failed[one.id])
        for one in response.success_results
        if one.id and one.id in failed
    ] + [FailedTarget(name, _ENTITY, entity_id, UNREACHABLE) for entity_id, name in dead.items()]
    response.success_results = [
        UnconfirmedTarget(one.name, one.type, one.id, unconfirmed[one.id]) if one.id in unconfirmed else one
        for one in response.success_results
        if one.id not in failed
    ]


def _expected_states(hass: HomeAssistant, given: intent.Intent, entity_ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the states that an intent leads to. The response of a compound sentence has entities of other intents.

    Of an entity that two of its intents have acted on, it is unknown which was the last.
    """
    keys = {entity_id: (given.intent_type, entity_id.partition(".")[0]) for entity_id in entity_ids}
    if _EXPECTED.keys().isdisjoint(keys.values()):
        return {}
    slots = {name: slot.get("value") for name, slot in given.slots.items()}
    own = {action.entity_id for action in intent_effects(hass, given.intent_type, slots, CONVERSATION).actions}
    own.intersection_update(entity_id for entity_id, times in Counter(entity_ids).items() if times == 1)
    return {entity_id: _EXPECTED[key] for entity_id, key in keys.items() if key in _EXPECTED and entity_id in own}


def _unconfirmed(hass: HomeAssistant, expected: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Return the states of the entities that report another state than expected. Groups report those of members."""
    return {
        state.entity_id: state.state
        for state in filter(None, map(hass.states.get, expected))
        if state.state not in (*expected[state.entity_id], STATE_UNAVAILABLE, STATE_UNKNOWN)
        and not state.attributes.get(ATTR_ASSUMED_STATE)
        and not members_of(hass, state.entity_id)
    }


async def _async_wait_until_confirmed(hass: HomeAssistant, expected: Mapping[str, frozenset[str]]) -> None:
    """Wait a moment for the entities that report another state than expected, if there are any."""
    if not (waiting := _unconfirmed(hass, expected)):
        return
    changed = asyncio.Event()

    @callback
    def check(_: Event[EventStateChangedData]) -> None:
        if not _unconfirmed(hass, expected):
            changed.set()

    stop = async_track_state_change_event(hass, waiting, check)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONFIRMATION):
                await changed.wait()
    finally:
        stop()


async def async_script_error(hass: HomeAssistant, entity_id: str, context: Context | None, language: str) -> str:
    """Return why the latest run of a script in a context ended early; empty if it did not, or at a condition.

    Home Assistant tells a script that stops with an error only in its trace, with those of the scripts that it called.
    """
    if context is None or not entity_id.startswith("script."):
        return ""
    entry = er.async_get(hass).async_get(entity_id)
    key = f"script.{entry.unique_id if entry else entity_id.partition('.')[2]}"
    for trace in reversed(traces_of(hass, key)):
        if getattr(getattr(trace, "context", None), "id", None) == context.id:
            return await _async_error_of(hass, trace, language)
    return ""


async def _async_error_of(hass: HomeAssistant, trace: object, language: str) -> str:
    if reason := await async_reason(hass, language, exception_of(trace)):
        return reason
    as_dict: object = getattr(trace, "as_extended_dict", dict)()
    match as_dict:
        case {"script_execution": str(execution)} if execution in _EXECUTIONS:
            return _EXECUTIONS[execution]
        case {"state": "stopped", "script_execution": execution, "trace": Mapping() as steps}:
            flat = list(_steps(steps))
            errors = [error for step in flat if (error := await _async_error_of_step(hass, step, language))]
            if execution == "aborted" and flat:  # a condition that is not met has no error
                errors = errors or [str(flat[-1].get("error", ""))]
            return shown_reason(errors[-1]) if errors else ""
        case _:
            return ""


def _steps(steps: Mapping[object, object]) -> Iterator[Mapping[str, object]]:
    for elements in steps.values():
        yield from elements if isinstance(elements, list) else ()


async def _async_error_of_step(hass: HomeAssistant, step: Mapping[str, object], language: str) -> str:
    match step:
        case {"child_id": {"domain": str(domain), "item_id": str(item), "run_id": str(run_id)}}:
            runs = traces_of(hass, f"{domain}.{item}")
            child = next((one for one in runs if getattr(one, "run_id", None) == run_id), None)
            return await _async_error_of(hass, child, language) if child else ""
        case {"result": {"stop": str(text), "error": True}}:
            return text or _EXECUTIONS["error"]
        case _:
            return ""

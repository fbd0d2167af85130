"""Predicts the effects of an intent before it is handled.

The answer contains at least what the handler will do. States and features are not
considered, because an earlier call of the same message may change them, and of several
entities with one name all are taken.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import voluptuous as vol
from homeassistant.components.climate import ATTR_HVAC_MODE, HVACMode
from homeassistant.components.conversation import DOMAIN
from homeassistant.components.intent import OnOffIntentHandler
from homeassistant.components.media_player.const import ATTR_GROUP_MEMBERS
from homeassistant.components.todo.const import DOMAIN as TODO, TodoItemStatus
from homeassistant.const import SERVICE_TURN_OFF, SERVICE_TURN_ON
from homeassistant.core import Context, HomeAssistant, State
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.helpers.script import Script

from ..agent.messages import JsonValue
from ..agent.text import read_data_file
from ..home.entity_matches import matching_states
from ..home.name_index import NameIndex
from ..internals.intent import (
    HANDLERS,
    SCRIPT_HANDLERS,
    Reach,
    actions_of_script,
    handler_path,
)
from ..internals.todo import items_on_list
from .actions import ActionReader
from .device_intents import RANGE, DeviceIntent
from .effect import (
    NOTHING,
    Effects,
    IntentRun,
    Unknown,
    UnknownReason,
    run_by,
)

_OWN: Final = "homeassistant."
"""Prefix of the modules of Home Assistant's own handlers."""

_ON_OFF_SERVICES: Final = read_data_file(__file__, dict[str, str])
"""Services for on and off in other domains."""
_READS: Final = Reach()
_NO_CONTEXT: Final = Context()

_UNITS: Final = {
    "hours": 3_600,
    "minutes": 60,
    "seconds": 1,
}

type Slots = Mapping[str, JsonValue]
"""The values of an intent's slots by name."""


def delayed_command(
    intent_type: str,
    slots: Slots,
) -> str:
    """Return the sentence that a timer passes to Home Assistant when it finishes, or an empty text."""
    if intent_type == intent.INTENT_START_TIMER:
        command = slots.get("conversation_command")
    else:
        command = None
    if intent.is_blank_slot_value(command):
        return ""
    return str(command).strip()


def delay_of(slots: Slots) -> int:
    """Return the seconds of a timer, as Home Assistant reads its slots."""
    values = (
        (str(slots.get(unit, "")).partition(".")[0], seconds)
        for unit, seconds in _UNITS.items()
    )
    return sum(int(value) * seconds for value, seconds in values if value.isdecimal())


class Naming(NamedTuple):
    """The slots by which an intent selects entities."""

    slots: tuple[str, ...] = ()
    """Among `name`, `area` and `floor`."""
    domains: frozenset[str] = frozenset()
    """Empty for any."""
    takes_domain: bool = False
    """Whether a call can give the domain."""


def handler_of(
    hass: HomeAssistant,
    intent_type: str,
) -> intent.IntentHandler | None:
    """Return the handler of an intent."""
    return next(
        (one for one in intent.async_get(hass) if one.intent_type == intent_type), None
    )


def intent_naming(
    hass: HomeAssistant,
    intent_type: str,
) -> Naming:
    """Return the slots by which an intent selects entities: none for timers and for unknown handlers."""
    handler = handler_of(hass, intent_type)
    if isinstance(handler, intent.DynamicServiceIntentHandler):
        return Naming(
            (
                "name",
                "area",
                "floor",
            ),
            frozenset(handler.required_domains or ()),
            takes_domain=True,
        )
    if isinstance(handler, DeviceIntent):
        return Naming(
            (
                "name",
                "area",
                "floor",
            ),
            frozenset({handler.domain}),
        )
    if handler:
        reach = HANDLERS.get(handler_path(handler), _READS)
    else:
        reach = _READS
    if reach.domain:
        return Naming(
            reach.where,
            frozenset({reach.domain}),
        )
    return Naming()


def filled[V](arguments: Mapping[str, V]) -> dict[str, V]:
    """Return the arguments that are not blank."""
    return {
        name: value
        for name, value in arguments.items()
        if not intent.is_blank_slot_value(value)
    }


def selection(
    slots: Slots, assistant: str | None, domains: Collection[str] | None
) -> intent.MatchTargetsConstraints:
    """Return what the slots of an intent select; `domains` are those of the intent, if the slots give none."""
    name, area, floor = (
        str(value) if (value := slots.get(slot)) else None
        for slot in ("name", "area", "floor")
    )
    given, classes = (
        {*map(str, values if isinstance(values, list) else [values])}
        if (values := slots.get(slot))
        else None
        for slot in ("domain", "device_class")
    )
    return intent.MatchTargetsConstraints(
        name, area, floor, given or domains or None, classes, assistant=assistant
    )


def missed_by_intent(
    hass: HomeAssistant,
    intent_type: str,
    slots: Slots,
    assistant: str,
    preferences: intent.MatchTargetsPreferences,
) -> intent.MatchFailedError | frozenset[str]:
    """Return the entities among the effects of an intent that its handler leaves out, or the error that it raises.

    Unlike `intent_effects`, it considers states, features and the room of the speaker,
    as they are now. Source: `DynamicServiceIntentHandler.async_handle` in
    homeassistant.helpers.intent.
    """
    handler = handler_of(hass, intent_type)
    naming = intent_naming(hass, intent_type)
    named = {
        slot: value for slot, value in slots.items() if (slot, value) != ("name", "all")
    }
    constraints = selection(
        named,
        assistant,
        naming.domains,
    )
    if not naming.slots or not constraints.has_constraints:
        return frozenset()
    if isinstance(handler, intent.DynamicServiceIntentHandler):
        constraints = replace(
            constraints,
            features=handler.required_features,
            states=handler.required_states,
        )
    result = intent.async_match_targets(
        hass,
        constraints,
        preferences,
    )
    if not result.is_match:
        return intent.MatchFailedError(
            result,
            constraints,
            preferences,
        )
    candidates = frozenset(
        state.entity_id for state in matching_states(hass, constraints)
    )
    return candidates.difference(state.entity_id for state in result.states)


def intent_effects(
    hass: HomeAssistant, intent_type: str, slots: Slots, assistant: str
) -> Effects:
    """Return the effects of an intent on the entities exposed to `assistant`.

    An intent without a handler, or with invalid slots, has none, and neither has a
    `delayed_command`, which is refused.
    """
    handler = handler_of(hass, intent_type)
    if handler is None:
        return NOTHING
    return run_by(
        intent_type,
        _effects(
            hass,
            handler,
            slots,
            assistant,
        ),
        slots,
    )


def _effects(
    hass: HomeAssistant, handler: intent.IntentHandler, slots: Slots, assistant: str
) -> Effects:
    intent_type = handler.intent_type
    if delayed_command(intent_type, slots):
        return NOTHING
    try:
        valid = handler.async_validate_slots(
            {name: {"value": value} for name, value in slots.items()}
        )
    except vol.Invalid:
        return NOTHING
    except Exception:  # noqa: BLE001 a schema may hold anybody's code
        return Effects(unknowns=frozenset({Unknown(UnknownReason.FOREIGN_INTENT)}))
    given = intent.Intent(
        hass, "", intent_type, valid, None, _NO_CONTEXT, hass.config.language, assistant
    )
    name = handler_path(handler)
    if isinstance(handler, DeviceIntent):
        return _setting_effects(given, handler)
    if isinstance(handler, intent.DynamicServiceIntentHandler) and _is_plain(handler):
        return _service_effects(given, handler)
    if name in HANDLERS:
        return _reached(given, HANDLERS[name])
    if name in SCRIPT_HANDLERS:
        return _script_effects(hass, actions_of_script(handler))
    return Effects(unknowns=frozenset({Unknown(UnknownReason.FOREIGN_INTENT)}))


def is_reading_intent(
    hass: HomeAssistant,
    intent_type: str,
) -> bool:
    """Return whether an intent that acts on no entity changes nothing else either."""
    handler = handler_of(hass, intent_type)
    if handler is None or isinstance(handler, intent.DynamicServiceIntentHandler):
        return True
    return HANDLERS.get(handler_path(handler), _READS).reads


_READ_DOMAINS: Final = {"HassClimateGetTemperature": {"climate"}}
READ_ENTITIES: Final = "entity_ids"
"""The slot of the entities about which a question is answered that Home Assistant does not understand."""


def entities_read(
    hass: HomeAssistant,
    run: IntentRun,
) -> frozenset[str]:
    """Return the exposed entities of which an intent tells; none for one that changes something."""
    known = run.slots.get(READ_ENTITIES)
    if isinstance(known, list):
        return frozenset(map(str, known))
    if not is_question_intent(hass, run.intent_type):
        return frozenset()
    domains = _READ_DOMAINS.get(run.intent_type)
    constraints = selection(
        run.slots,
        DOMAIN,
        domains,
    )
    return frozenset(one.entity_id for one in matching_states(hass, constraints))


def acts_by_services(handler: intent.IntentHandler) -> bool:
    """Return whether a handler does nothing but call the services of its intent."""
    path = handler_path(handler)
    is_plain = isinstance(handler, intent.DynamicServiceIntentHandler) and bool(path)
    return isinstance(handler, DeviceIntent) or (is_plain and path not in HANDLERS)


def is_question_intent(
    hass: HomeAssistant,
    intent_type: str,
) -> bool:
    """Return whether an intent answers a question, and never changes anything."""
    handler = handler_of(hass, intent_type)
    return handler is not None and HANDLERS.get(handler_path(handler), _READS).reads


def is_foreign_intent(
    hass: HomeAssistant,
    intent_type: str,
) -> bool:
    """Return whether the effects of an intent are never known."""
    handler = handler_of(hass, intent_type)
    is_plain = isinstance(handler, DeviceIntent) or (
        isinstance(handler, intent.DynamicServiceIntentHandler) and _is_plain(handler)
    )
    return (
        handler is not None
        and not is_plain
        and handler_path(handler) not in {*HANDLERS, *SCRIPT_HANDLERS}
    )


def _is_plain(handler: intent.DynamicServiceIntentHandler) -> bool:
    """Return whether a handler calls only one service for each domain: Home Assistant's own, or one that inherits."""
    kind = type(handler)
    plain = intent.ServiceIntentHandler
    methods = (
        "async_handle",
        "async_handle_states",
        "async_call_service",
        "get_domain_and_service",
    )
    changed = [
        method
        for method in methods
        if getattr(kind, method) is not getattr(plain, method)
    ]
    return not changed or kind.__module__.startswith(_OWN)


def _service_effects(
    given: intent.Intent, handler: intent.DynamicServiceIntentHandler
) -> Effects:
    data = {name: slot["value"] for name, slot in given.slots.items()}
    if data.get("name") == "all":
        slots = data | {"name": None}
    else:
        slots = data
    constraints = selection(
        slots,
        given.assistant,
        handler.required_domains,
    )
    if not constraints.has_constraints:
        return NOTHING
    reader = ActionReader(given.hass)
    states: dict[str, list[State]] = defaultdict(list)
    for state in matching_states(given.hass, constraints):
        states[state.domain].append(state)
    for alike in states.values():
        called = _service(
            given,
            handler,
            alike[0],
        )
        if called:
            reader.touch(
                [state.entity_id for state in alike],
                *called,
                data,
            )
    return reader.effects()


def _setting_effects(
    given: intent.Intent,
    handler: DeviceIntent,
) -> Effects:
    """Return the effects of an intent of our own. A mode turns on or off, and a range may set one."""
    data = {name: slot["value"] for name, slot in given.slots.items()}
    constraints = selection(
        data,
        given.assistant,
        {handler.domain},
    )
    ids = [state.entity_id for state in matching_states(given.hass, constraints)]
    reader = ActionReader(given.hass)
    try:
        actions = [*handler.actions(given.hass, data, given.assistant)]
    except intent.MatchFailedError:
        return NOTHING
    mode = data.get(ATTR_HVAC_MODE)
    if not data.keys().isdisjoint(RANGE) and mode is None:
        actions.append(("set_hvac_mode", {}))
    elif mode is not None:
        is_off = mode == HVACMode.OFF
        actions.append((SERVICE_TURN_OFF if is_off else SERVICE_TURN_ON, {}))
    for service, values in actions:
        members = values.get(ATTR_GROUP_MEMBERS, ())
        reader.touch(
            [*ids, *members],
            handler.domain,
            service,
            values,
        )
    return reader.effects()


def _service(
    given: intent.Intent, handler: intent.DynamicServiceIntentHandler, state: State
) -> tuple[str, str] | None:
    """Return the service that is called for the entities of a domain, or None."""
    try:
        domain, service = handler.get_domain_and_service(given, state)
    except intent.IntentHandleError:
        return None
    if isinstance(handler, OnOffIntentHandler):
        special = _ON_OFF_SERVICES.get(f"{state.domain}.{service}")
    else:
        special = None
    if special:
        return (state.domain, special)
    return (domain, service)


def _reached(
    valid: intent.Intent,
    reach: Reach,
) -> Effects:
    if not reach.domain:
        return NOTHING
    data = {slot: given["value"] for slot, given in valid.slots.items()}
    slots = {slot: value for slot, value in data.items() if slot in reach.where}
    constraints = selection(
        slots, valid.assistant if reach.where else None, {reach.domain}
    )
    reader = ActionReader(valid.hass)
    entity_ids = [state.entity_id for state in matching_states(valid.hass, constraints)]
    for service in reach.services:
        reader.touch(
            entity_ids,
            reach.domain,
            service,
            data,
        )
    return reader.effects()


def _script_effects(
    hass: HomeAssistant,
    script: object,
) -> Effects:
    if script is None:
        return NOTHING
    if not isinstance(script, Script):
        return Effects(unknowns=frozenset({Unknown(UnknownReason.CONTENT)}))
    reader = ActionReader(hass)
    reader.sequence(script.sequence)
    return reader.effects()


_COMPLETE_OF_SHOPPING_LIST: Final = "HassShoppingListCompleteItem"
_STATES_OF_ITEMS: Final = {
    "HassListRemoveItem": {*TodoItemStatus, None},
    "HassListCompleteItem": {TodoItemStatus.NEEDS_ACTION},
    _COMPLETE_OF_SHOPPING_LIST: {TodoItemStatus.NEEDS_ACTION},
}
"""Which items an intent can mean. It takes one only by its id or its whole name."""


def items_meant(
    hass: HomeAssistant,
    intent_type: str,
    slots: Slots,
    assistant: str,
) -> list[str]:
    """Return the names of the items that the slots of an intent may mean, as they stand in the list, sorted.

    The list is empty for other intents, for an item that is there as it is written, and
    for one that is not there.
    """
    if intent_type not in _STATES_OF_ITEMS or not isinstance(
        item := slots.get("item"), str
    ):
        return []
    if intent_type == _COMPLETE_OF_SHOPPING_LIST:
        entries = er.async_get(hass).entities.values()
        lists = [
            entry.entity_id
            for entry in entries
            if (entry.domain, entry.platform) == (TODO, "shopping_list")
        ]
    else:
        constraints = intent.MatchTargetsConstraints(
            name=str(slots.get("name")), domains={TODO}, assistant=assistant
        )
        lists = [state.entity_id for state in matching_states(hass, constraints)]
    index = NameIndex[str]()
    states = _STATES_OF_ITEMS[intent_type]
    if len(lists) == 1:
        items = [one for one in items_on_list(hass, lists[0]) if one.status in states]
    else:
        items = []
    if any(item in {one.uid, one.summary} for one in items):
        return []
    for summary in filter(None, (one.summary for one in items)):
        index.add(summary, summary)
    return sorted(index.find(item))

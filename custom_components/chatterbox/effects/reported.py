"""Reports of devices and scripts: whether they can be reached, have done as asked, and why they failed if not."""

import asyncio
import logging
import re
from collections import Counter, defaultdict
from collections.abc import (
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from math import inf
from typing import Final, NamedTuple, override

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.diagnostics import REDACTED
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.components.light import (
    ATTR_SUPPORTED_COLOR_MODES,
    brightness_supported,
    color_supported,
    color_temp_supported,
)
from homeassistant.components.lock import LockState
from homeassistant.const import (
    ATTR_ASSUMED_STATE,
    ATTR_ENTITY_ID,
    EVENT_CALL_SERVICE,
    SERVICE_TURN_OFF,
    SERVICE_TURN_ON,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import (
    DOMAIN as HOMEASSISTANT_DOMAIN,
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.exceptions import HomeAssistantError, ServiceNotSupported
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import language as language_util

from ..agent.text import read_data_file
from ..home.entity_matches import assist_name, entity_name
from ..internals.trace import exception_of, traces_of
from ..records.turn_record import (
    SCRIPT_ENDS,
    UNABLE,
    UNREACHABLE,
    FailedTarget,
    UnconfirmedTarget,
)
from ..settings.redaction import without_secrets
from .actions import RUNNING, ActionReader, controlled_by, members_of
from .device_intents import features_of
from .effect import ActionData, Effects, UnknownReason
from .intents import intent_effects, is_question_intent
from .silent_home import is_silent

type Failures = Mapping[str, BaseException]
"""Exceptions by the id of the entity whose action raised them, or by the type of the intent."""

_LONGEST: Final = 300
"""Characters of a reason."""
_CREDENTIAL: Final = re.compile(
    r"""\b((?:access_?token|api_?key|password|secret|authorization)['"]?\s?[:=]\s?['"]?(?:bearer\s)?|bearer\s)[^\s'",;&}]+""",
    re.IGNORECASE,
)
"""A name of a secret, and its value, as integrations quote requests."""
_INTENT_LOGGER: Final = logging.getLogger(intent.__name__)


class _Listener(logging.Handler):
    """Keeps the exceptions that the handlers of intents log in the context in which it listens."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.failures: dict[str, BaseException] = {}

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            error = record.exc_info[1]
        else:
            error = None
        match record.args:
            case (str(subject), *_) if error is not None and _LISTENER.get() is self:
                self.failures[subject] = error
            case _:
                pass


_LISTENER: ContextVar[_Listener | None] = ContextVar(
    "chatterbox_intent_failures", default=None
)


@contextmanager
def intent_failures() -> Generator[Failures]:
    """Collect the exceptions of the intents that are handled in this context.

    Home Assistant drops and only logs them: see
    `DynamicServiceIntentHandler.async_handle_states` and `async_handle` in
    homeassistant.helpers.intent.
    """
    listener = _Listener()
    token = _LISTENER.set(listener)
    _INTENT_LOGGER.addHandler(listener)
    try:
        yield listener.failures
    finally:
        _INTENT_LOGGER.removeHandler(listener)
        _LISTENER.reset(token)


@contextmanager
def actions_in(
    hass: HomeAssistant, context: Context
) -> Generator[AbstractSet[asyncio.Task[object]]]:
    """Collect the tasks in which actions of a context run: an intent waits 0.2 seconds for one, then leaves it alone.

    Source: `DynamicServiceIntentHandler._run_then_background` in
    homeassistant.helpers.intent.
    """
    tasks = set[asyncio.Task[object]]()

    @callback
    def note(event: Event[ActionData]) -> None:
        task = asyncio.current_task()
        if event.context.id == context.id and task is not None:
            tasks.add(task)

    end = hass.bus.async_listen(EVENT_CALL_SERVICE, note)
    try:
        yield tasks
    finally:
        end()


async def async_reason(
    hass: HomeAssistant, language: str, error: BaseException | None
) -> str:
    """Return why an entity has failed, for people, in their language; empty if its error is not meant for them."""
    if isinstance(error, ServiceNotSupported):  # its message names ids
        return UNABLE
    return await _async_message(
        hass,
        language,
        error,
    )


async def _async_message(
    hass: HomeAssistant, language: str, error: BaseException | None
) -> str:
    """Return the message of an error that is meant for people, in their language; empty for all other errors.

    These may quote secrets or the words of a person.
    """
    if isinstance(error, intent.IntentUnexpectedError):
        error = error.__cause__
    is_meant = isinstance(error, intent.IntentHandleError) or not isinstance(
        error, intent.IntentError
    )
    if not (isinstance(error, HomeAssistantError) and is_meant):
        return ""
    return shown_reason(await _async_translated(hass, language, error) or str(error))


def shown_reason(text: str) -> str:
    """Return a reason in one line, shortened, with credentials and queries in addresses redacted."""
    reason = _CREDENTIAL.sub(
        rf"\1{REDACTED}", " ".join(str(without_secrets(text, ())).split())
    )
    if len(reason) <= _LONGEST:
        return reason
    return f"{reason[: _LONGEST - 1]}…"


async def _async_translated(
    hass: HomeAssistant, language: str, error: HomeAssistantError
) -> str:
    domain = error.translation_domain
    key = error.translation_key
    if not domain or not key:
        return ""
    fitting = language_util.matches(
        language,
        LANGUAGES,
        hass.config.country,
    )
    texts = await async_get_translations(
        hass, fitting[0] if fitting else "en", "exceptions", [domain]
    )
    try:
        return texts.get(f"component.{domain}.exceptions.{key}.message", "").format(
            **(error.translation_placeholders or {})
        )
    except IndexError, KeyError, ValueError:
        return ""


async def async_add_reasons(
    hass: HomeAssistant,
    language: str,
    response: intent.IntentResponse,
    failures: Failures,
) -> None:
    """Give the failed targets of a response the reasons for which they failed."""
    response.failed_results = [
        FailedTarget(
            one.name,
            one.type,
            one.id,
            await async_reason(
                hass,
                language,
                failures.get(one.id or ""),
            ),
        )
        if type(one) is intent.IntentResponseTarget
        else one
        for one in response.failed_results
    ]


_ENTITY: Final = intent.IntentResponseTargetType.ENTITY
_CONFIRMATION: Final = 0.2
"""Seconds that a device gets which has not reported the state yet, as long as Home Assistant gives to an action."""


@dataclass(frozen=True, slots=True)
class _Expectation:
    """The states that an action leads to; see `expected_states.toml`."""

    states: frozenset[str]
    feature: int = 0
    """A feature that an entity needs for it."""


_EXPECTED: Final = read_data_file(
    __file__, dict[str, _Expectation], "expected_states.toml"
)
_SET_LIGHT: Final = "HassLightSet"
_OFF_AT_ZERO: Final = {
    _SET_LIGHT: "brightness",
    "HassFanSetSpeed": "percentage",
}
"""Slots of intents that turn something off if they are 0."""
_SET_ON_LIGHTS: Final = (
    "brightness",
    "color",
    "temperature",
)
"""Slots of the intent that sets lights."""
_PALE: Final = 200
"""Least red, green and blue of a shade of white."""
_UNCERTAIN: Final = frozenset(
    {
        "brightness_step",
        "brightness_step_pct",
        "exclude",
        "flash",
        "profile",
        "transition",
    }
)
"""Data with which an action leads to another state, or to its state later."""
_DIMMING: Final = (
    "brightness",
    "brightness_pct",
    "percentage",
    "white",
)
"""Data that turns off with 0."""


class Expected(NamedTuple):
    """The state that an entity was asked for."""

    states: frozenset[str]
    """Empty if it is unknown."""
    moved_after: float = inf
    """When it was asked for, in seconds since the epoch, if another state is right that it has reached since."""


def is_unavailable(
    hass: HomeAssistant,
    entity_id: str,
) -> bool:
    """Return whether an entity cannot be controlled: it is unavailable, or has no state although it is enabled."""
    state = hass.states.get(entity_id)
    if state is not None:
        return state.state == STATE_UNAVAILABLE
    entry = er.async_get(hass).async_get(entity_id)
    return entry is not None and not entry.disabled_by


def out_of_reach(
    hass: HomeAssistant,
    effects: Effects,
) -> frozenset[str]:
    """Return the entities that a call acts on now if none of them can be reached and it does nothing else.

    A script, a scene or a group is as dead as all that it acts on.
    """
    acts_elsewhere = effects.annotations and not effects.is_complete
    if acts_elsewhere or effects.beside_entities:
        return frozenset()
    entity_ids = effects.entity_ids
    # Empty for what may act on anything.
    sources = {
        one.source.entity_id
        if one.source and one.reason is UnknownReason.CONTENT
        else ""
        for one in effects.unknowns
    }
    controlled = controlled_by(effects) | sources
    is_dead = all(
        is_unavailable(hass, entity_id) for entity_id in controlled or entity_ids
    )
    return entity_ids if is_dead else frozenset()


def unavailable_names(
    hass: HomeAssistant, entity_ids: Iterable[str], *, since: float | None = None
) -> dict[str, str]:
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


def is_unheard(response: intent.IntentResponse) -> bool:
    """Return whether a broadcast found nothing that can speak. Home Assistant takes it for done."""
    given = response.intent
    is_broadcast = given is not None and given.intent_type == intent.INTENT_BROADCAST
    return is_broadcast and not response.success_results


async def async_check_response(
    hass: HomeAssistant,
    response: intent.IntentResponse,
    context: Context | None,
    began: float,
) -> None:
    """Correct the results of an intent by what its entities report. Home Assistant counts all calls that do not raise.

    Entities that cannot be reached have failed, and so have scripts that ended in an
    error. What groups, scripts and scenes pass the call on to has failed if it was out
    of reach when it `began`, in seconds since the epoch: a script may cut the power of
    a television.
    """
    given = response.intent
    if response.response_type is not intent.IntentResponseType.ACTION_DONE:
        return
    if given and is_question_intent(hass, given.intent_type):
        return
    for entity_id, one in _entities(response.success_results, response.failed_results):
        state = hass.states.get(entity_id)
        one.name = assist_name(hass, state) if state else one.name
    ids = [entity_id for entity_id, _ in _entities(response.success_results)]
    reached: dict[str, Mapping[str, Expected]] = {
        entity_id: async_asked_by_script(hass, entity_id, context) for entity_id in ids
    }
    reached |= _asked_for(hass, given, ids) if given else {}
    expected = dict(chain.from_iterable(one.items() for one in reached.values()))
    unconfirmed = await async_unconfirmed(hass, expected)
    failed = await _async_failed(hass, response, ids, context)
    dead = _unreachable_members(hass, given, {*ids}, failed, began)
    targets = response.success_results
    response.success_results = []
    for target in targets:
        entity_id = target.id or ""
        if entity_id in failed:
            response.failed_results.append(
                FailedTarget(target.name, target.type, entity_id, failed[entity_id])
            )
            continue
        silent = reached.get(entity_id, {}).keys() - dead
        response.success_results += confirmed_or_not(hass, target, silent, unconfirmed)
    response.failed_results += [
        FailedTarget(name, _ENTITY, entity_id, UNREACHABLE)
        for entity_id, name in dead.items()
    ]


def _entities(
    *results: Sequence[intent.IntentResponseTarget],
) -> Iterator[tuple[str, intent.IntentResponseTarget]]:
    """Yield the targets that are entities, by their ids."""
    for one in chain.from_iterable(results):
        if one.type is _ENTITY and one.id:
            yield one.id, one


async def _async_failed(
    hass: HomeAssistant,
    response: intent.IntentResponse,
    entity_ids: Sequence[str],
    context: Context | None,
) -> Mapping[str, str]:
    """Return why entities have failed whose actions did not raise, by their ids."""
    failed = dict[str, str]()
    if response.intent:
        lights = _unable_lights(
            hass,
            response.intent,
            {*entity_ids},
        )
        failed = dict.fromkeys(lights, UNABLE)
    for entity_id in entity_ids:
        if is_unavailable(hass, entity_id):
            failed[entity_id] = UNREACHABLE
        error = await async_script_error(
            hass,
            entity_id,
            context,
            response.language,
        )
        if error:
            failed[entity_id] = error
    return failed


def _unreachable_members(
    hass: HomeAssistant,
    given: intent.Intent | None,
    entity_ids: AbstractSet[str],
    failed: Mapping[str, str],
    began: float,
) -> dict[str, str]:
    """Return the names of what entities pass a call on to that was out of reach, by its ids."""
    is_off = given is not None and given.intent_type == intent.INTENT_TURN_OFF
    service = SERVICE_TURN_OFF if is_off else SERVICE_TURN_ON
    reader = ActionReader(hass)
    reader.touch(
        sorted(entity_ids - failed.keys()),
        HOMEASSISTANT_DOMAIN,
        service,
        {},
    )
    members = controlled_by(reader.effects()) - entity_ids
    return unavailable_names(
        hass,
        members,
        since=began,
    )


def _unable_lights(
    hass: HomeAssistant, given: intent.Intent, entity_ids: AbstractSet[str]
) -> frozenset[str]:
    """Return the lights of an intent if all of them lack what it sets: Home Assistant turns them on, and says no more.

    Of several, those that lack it are left to it: a room whose lamps differ is red
    where it can be.
    """
    if given.intent_type != _SET_LIGHT:
        return frozenset()
    wanted = {
        name: value
        for name, slot in given.slots.items()
        if (value := slot.get("value")) is not None
    }
    naming = {
        name: value for name, value in wanted.items() if name not in _SET_ON_LIGHTS
    }
    named = {
        action.entity_id
        for action in intent_effects(
            hass, given.intent_type, naming, CONVERSATION
        ).actions
    }
    lights = frozenset(entity_ids & named)
    if any(_is_able(hass.states.get(light), wanted) for light in lights):
        return frozenset()
    return lights


def _is_able(
    light: State | None,
    wanted: ActionData,
) -> bool:
    """Return whether a light has all that is wanted of it, or does not tell."""
    modes: object = light.attributes.get(ATTR_SUPPORTED_COLOR_MODES) if light else None
    if not isinstance(modes, list | set | tuple) or not modes:
        return True
    has_colors = color_supported(modes)
    has_whites = color_temp_supported(modes)
    color = wanted.get("color")
    # A lamp shows a shade of white by its colour temperature alone.
    is_pale = isinstance(color, tuple) and min(color) >= _PALE
    abilities = {
        "brightness": brightness_supported(modes)
        or wanted.get("brightness") in (0, 100),
        "color": has_colors or (has_whites and is_pale),
        "temperature": has_colors or has_whites,
    }
    return all(abilities[name] for name in _SET_ON_LIGHTS if name in wanted)


def confirmed_or_not(
    hass: HomeAssistant,
    target: intent.IntentResponseTarget,
    reached: AbstractSet[str],
    unconfirmed: Mapping[str, str],
) -> Iterator[intent.IntentResponseTarget]:
    """Yield a target unless nothing that it `reached` has obeyed, then what has not.

    What is not exposed is not named: the target itself is not confirmed.
    """
    silent = sorted(reached & unconfirmed.keys())
    named = [
        one
        for one in silent
        if async_should_expose(hass, CONVERSATION, one) or one == target.id
    ]
    if len(named) < len(silent):
        yield UnconfirmedTarget(
            target.name,
            target.type,
            target.id,
            "not confirmed",
        )
    elif len(silent) < len(reached) or not silent:
        yield target
    for one in named:
        yield UnconfirmedTarget(
            entity_name(hass, one),
            _ENTITY,
            one,
            unconfirmed[one],
        )


def _asked_for(
    hass: HomeAssistant, given: intent.Intent, entity_ids: Sequence[str]
) -> dict[str, Mapping[str, Expected]]:
    """Return the states that an intent leads to, by its entities and by those to which groups and scenes pass it on.

    The response of a compound sentence has entities of other intents. Of an entity that
    two of its intents have acted on, it is unknown which was the last.
    """
    slots = {name: slot.get("value") for name, slot in given.slots.items()}
    intent_type = given.intent_type
    if slots.get(value := _OFF_AT_ZERO.get(intent_type, ""), 1) == 0:
        slots = {name: one for name, one in slots.items() if name != value}
        intent_type = intent.INTENT_TURN_OFF
    if intent_type not in (
        intent.INTENT_TURN_ON,
        intent.INTENT_TURN_OFF,
        intent.INTENT_SET_POSITION,
    ):
        return {}
    actions = intent_effects(hass, intent_type, slots, CONVERSATION).actions
    own = {
        one
        for one, times in Counter(entity_ids).items()
        if times == 1 and not one.startswith("script.")
    }
    reader = ActionReader(hass)
    for action in actions:
        if action.entity_id in own:
            domain, _, name = action.action.partition(".")
            reader.touch(
                [action.entity_id],
                domain,
                name,
                {},
            )
    wanted = _leads_to(hass, reader.effects())
    return {
        entity_id: {
            one: Expected(wanted[one])
            for one in members_of(hass, entity_id) or {entity_id}
            if one in wanted
        }
        for entity_id in own
    }


def _leads_to(
    hass: HomeAssistant,
    effects: Effects,
) -> dict[str, frozenset[str]]:
    """Return the states that actions lead to, by the entities that they control; empty ones if they are unknown."""
    names = defaultdict[str, list[str]](list)
    for action in effects.actions:
        names[action.entity_id].append(action.action)
    is_known = all(RUNNING.isdisjoint(several) for several in names.values())
    return {
        entity_id: _states_after(hass, entity_id, names[entity_id])
        if is_known
        else frozenset()
        for entity_id in controlled_by(effects)
        if not members_of(hass, entity_id)
    }


def _states_after(
    hass: HomeAssistant, entity_id: str, actions: Sequence[str]
) -> frozenset[str]:
    """Return the states to which an action leads that is the only one on an entity; empty if they are unknown."""
    expected = _EXPECTED.get(actions[0])
    if expected is None or len(actions) > 1:
        return frozenset()
    state = hass.states.get(entity_id)
    if expected.feature and not features_of(state) & expected.feature:
        return frozenset()
    return expected.states


async def async_unconfirmed(
    hass: HomeAssistant, expected: Mapping[str, Expected]
) -> dict[str, str]:
    """Return the states of the entities that report another state than expected, after a moment if there are any."""
    waiting = _unconfirmed(hass, expected)
    if not waiting or is_silent(hass):
        return {}
    changed = asyncio.Event()

    @callback
    def check(_: Event[EventStateChangedData]) -> None:
        if not _unconfirmed(hass, expected):
            changed.set()

    stop = async_track_state_change_event(
        hass,
        waiting,
        check,
    )
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONFIRMATION):
                await changed.wait()
    finally:
        stop()
    return _unconfirmed(hass, expected)


def _unconfirmed(
    hass: HomeAssistant, expected: Mapping[str, Expected]
) -> dict[str, str]:
    return {
        state.entity_id: state.state
        for state in filter(None, map(hass.states.get, expected))
        if (wanted := expected[state.entity_id]).states
        and state.state not in (*wanted.states, STATE_UNAVAILABLE, STATE_UNKNOWN)
        and (
            state.last_changed_timestamp <= wanted.moved_after
            or state.state == LockState.JAMMED
        )
        and not state.attributes.get(ATTR_ASSUMED_STATE)
    }


async def async_script_error(
    hass: HomeAssistant, entity_id: str, context: Context | None, language: str
) -> str:
    """Return why the latest run of a script in a context ended early; empty if it did not, or at a condition.

    Home Assistant tells a script that stops with an error only in its trace, with those
    of the scripts that it called.
    """
    for trace in _latest_runs(hass, entity_id, context):
        error = await _async_error_of(
            hass,
            trace,
            language,
        )
        if error or _as_dict(trace).get("state") != "stopped":
            return error
    return ""


def async_asked_by_script(
    hass: HomeAssistant, entity_id: str, context: Context | None
) -> dict[str, Expected]:
    """Return the states that the latest run of a script in a context leads to, by the entities that it acted on.

    Empty while it runs, or a script that it started. What has moved since may have been
    moved again by a later step, an automation or a person.
    """
    runs = [*map(_as_dict, _latest_runs(hass, entity_id, context))]
    is_over = all(run.get("state") == "stopped" for run in runs)
    steps = sorted(
        (step for run in runs if is_over for step in _steps(run)), key=_time_of
    )
    expected = dict[str, Expected]()
    registry = er.async_get(hass)
    for step in steps:
        call = _call_of(step)
        if call and "child_id" not in step:
            reader = ActionReader(hass)
            reader.call(*call)
            is_plain = _UNCERTAIN.isdisjoint(call[-1]) and all(
                call[-1].get(name) not in (0, "0") for name in _DIMMING
            )
            for reached, states in _leads_to(hass, reader.effects()).items():
                is_meant = is_plain and not (
                    (entry := registry.async_get(reached)) and entry.entity_category
                )
                expected[reached] = Expected(
                    states if is_meant else frozenset(), _time_of(step)
                )
    return expected


def _latest_runs(
    hass: HomeAssistant, entity_id: str, context: Context | None
) -> Iterable[object]:
    """Return the traces of the latest run of a script in a context and of the scripts that it ran; none if unknown."""
    if context is None or not entity_id.startswith("script."):
        return ()
    entry = er.async_get(hass).async_get(entity_id)
    key = f"script.{entry.unique_id if entry else entity_id.partition('.')[2]}"
    runs = reversed(traces_of(hass, key))
    latest = next(
        (
            one
            for one in runs
            if getattr(getattr(one, "context", None), "id", None) == context.id
        ),
        None,
    )
    if latest:
        return _runs(hass, latest)
    return ()


def _runs(
    hass: HomeAssistant,
    trace: object,
) -> Iterator[object]:
    """Yield the trace of a run and those of the scripts that it ran."""
    yield trace
    for step in _steps(_as_dict(trace)):
        child = _child(hass, step)
        if child:
            yield from _runs(hass, child)


def _as_dict(trace: object) -> ActionData:
    run: object = getattr(trace, "as_extended_dict", dict)()
    if isinstance(run, dict):
        return run
    return {}


def _steps(run: ActionData) -> Iterator[ActionData]:
    paths = run.get("trace")
    for elements in paths.values() if isinstance(paths, dict) else ():
        yield from elements if isinstance(elements, list) else ()


def _time_of(step: ActionData) -> float:
    at = step.get("timestamp")
    if isinstance(at, datetime):
        return at.timestamp()
    return 0.0


def _call_of(step: ActionData) -> tuple[str, str, dict[str, object]] | None:
    """Return the domain, the service and the data of a step that has called a service or activated a scene."""
    match step.get("result"):
        case {"scene": str(scene)}:
            return "scene", SERVICE_TURN_ON, {ATTR_ENTITY_ID: scene}
        case {
            "params": {
                "domain": str(domain),
                "service": str(service),
                "service_data": dict(data),
                "target": target,
            }
        }:
            return (
                domain,
                service,
                {
                    **data,
                    **(target if isinstance(target, dict) else {}),
                },
            )
        case _:
            return None


async def _async_error_of(
    hass: HomeAssistant,
    trace: object,
    language: str,
) -> str:
    reason = await _async_message(
        hass,
        language,
        exception_of(trace),
    )
    if reason:
        return reason
    match _as_dict(trace):
        case {"script_execution": str(execution)} if execution in SCRIPT_ENDS:
            return SCRIPT_ENDS[execution]
        case {"state": "stopped", "script_execution": execution} as run:
            flat = list(_steps(run))
            errors = [error for step in flat if (error := _error_of_step(step))]
            if (
                execution == "aborted" and flat and not errors
            ):  # a condition that is not met has no error
                text = str(flat[-1].get("error", ""))
                errors = [
                    SCRIPT_ENDS["error"] if text.isidentifier() else text
                ]  # else it is the name of a class
            if errors:
                return shown_reason(errors[-1])
            return ""
        case _:
            return ""


def _child(
    hass: HomeAssistant,
    step: ActionData,
) -> object:
    match step:
        case {
            "child_id": {
                "domain": str(domain),
                "item_id": str(item),
                "run_id": str(run_id),
            }
        }:
            runs = traces_of(
                hass,
                f"{domain}.{item}",
            )
            return next(
                (one for one in runs if getattr(one, "run_id", None) == run_id), None
            )
        case _:
            return None


def _error_of_step(step: ActionData) -> str:
    match step:
        case {"result": {"timeout": True}}:
            return SCRIPT_ENDS["timeout"]
        case {"result": {"stop": str(text), "error": True}}:
            return text or SCRIPT_ENDS["error"]
        case _:
            return ""

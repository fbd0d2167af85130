"""The tool that plans what happens later, and lists, moves and cancels plans.

A planned call is fitted and reviewed as if it ran now, with its time, and kept exactly
as it was judged. Times are resolved from words by code, never by a model.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.event import ATTR_EVENT_TYPES
from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_ID
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object

from ..agent.messages import JsonObject, ToolAnnotations, ToolDefinition, canonical_json
from ..agent.protocols import Deny
from ..agent.text import heard_words, plain_name, read_data_file
from ..const import REDACTED_PIN
from ..effects.effect import Effects, TimedCall, When, run_by
from ..home.description import quoted
from ..home.entity_matches import entity_name
from ..people.speakers import Asking, is_guest
from ..settings.rules import async_get_home_rules
from ..settings.tool_names import BROADCAST_TOOL, LATER_TOOL, SENTENCE_TOOL
from ..speech.sentences import async_error_text
from ..speech.text.times import FURTHEST, as_repetition, lasting_words, prepare
from ..tools.own.own_tool import (
    OwnCall,
    OwnTool,
    Prepared,
    ToolAnswer,
    error_answer,
    parameters,
)
from ..tools.own.registry import can_act
from ..tools.repair.short_names import entities_called
from ..tools.schema import short_parameters
from .broadcast import URGENT, urgency_without_night
from .plans import (
    LONGEST_TEXT,
    Asker,
    Condition,
    FuturePlan,
    NotPlanned,
    PlanKind,
    PlannedCall,
    PlanProblem,
    plans_of,
    plans_of_guests,
    state_key,
)
from .ringing import async_get_ringing
from .schedule import (
    async_get_schedule,
    due_about,
    is_within_bounds,
    moment_of,
    resolved_time,
)
from .telling import PERSON, async_reminder_kind, due_text, plan_text, time_text
from .triggers import SELDOM

_KIND: Final = "kind"
_TOOL: Final = "tool"
_ARGUMENTS: Final = "arguments"
"""The tool and the arguments of the call that is planned."""
_WHEN: Final = "when"
_DUE: Final = "due"
_EVERY: Final = "every"
_TEXT: Final = "text"
_ENTITY: Final = "entity"
_STATE: Final = "state"
_LIST: Final = "list"
_MOVE: Final = "move"
_CANCEL: Final = "cancel"
_STOP: Final = "stop"
"""Of an alarm that rings."""
_OF_GUESTS: Final = "of_guests"
"""The kind, for rules, of a call of a guest about plans of guests."""
_TELL_ALWAYS: Final = "tell_always"
_ACT_ALWAYS: Final = "act_always"
_EACH_TIME: Final = "always"
"""The kind of a call whose other arguments tell what is done each time."""
_ALL: Final = "all"
_SAY_EVERY: Final = "Give when as it was said, such as 'every day at 8'."
_LONGEST_CALL: Final = 4_000
"""Characters of arguments, as many as an audit record shows."""
_LONGEST_WAIT: Final = 24 * 60 * 60
"""Seconds."""
_STATES: Final = read_data_file(__file__, dict[str, dict[str, str]])
_ALWAYS: Final = {
    _TELL_ALWAYS: PlanKind.TELL,
    _ACT_ALWAYS: PlanKind.ACT,
}
_PLANS: Final = {
    **{str(kind): kind for kind in PlanKind},
    **_ALWAYS,
}
_KINDS: Final = (
    *PlanKind,
    _EACH_TIME,
    _LIST,
    _MOVE,
    _CANCEL,
    _STOP,
)
"""Those of which a model is told."""
_BOUND: Final = re.compile(r"([<>])\s*(.+)")
_NUMBER: Final = re.compile(r"(-?\d+(?:[.,]\d+)?)\b.*")
_LASTING: Final = re.compile(
    r"(.*?)(?:\s+for\s+(\d+)\s*(s|m|h)\w*)?",
    re.IGNORECASE,
)
"""A state, and how long it has to hold."""
_UNITS: Final = {
    "s": 1,
    "m": 60,
    "h": 3600,
}
_DANGERS: Final = frozenset(
    {
        "carbon_monoxide",
        "gas",
        "moisture",
        "safety",
        "smoke",
        "tamper",
    }
)
"""Device classes of binary sensors whose states are told at night, too."""


def _schema(kinds: Iterable[str], *more: str) -> JsonObject:
    """Return the schema of the arguments, with some kinds, and with more arguments that are texts."""
    texts = (_WHEN, _TOOL, _TEXT, _ENTITY, _STATE, *more)
    return parameters(
        {
            _KIND: ("string", "", *kinds),
            **dict.fromkeys(texts, ("string", "")),
            _ARGUMENTS: ("object", ""),
            URGENT: ("boolean", "At night, too"),
        },
        _KIND,
    )


_MODEL: Final = _schema(_KINDS)
"""The schema for models, without the arguments and the kinds that are added before a call is reviewed."""


def _word(given: JsonObject, name: str) -> str:
    """Return the text of an argument; empty if there is none."""
    return str(given.get(name) or "")


class _Unplannable(Exception):
    """A call cannot be planned. The text is for the model."""


async def _async_prepare(call: OwnCall) -> Prepared | Deny:
    """Resolve the time, the entity or the plan that a call names. What it returns resolves to itself."""
    try:
        await call.hass.async_add_executor_job(
            prepare,
            call.language,
        )
        await async_get_schedule(call.hass).plans.async_load()
        kind = call.text(_KIND)
        if kind == _EACH_TIME:
            return await _async_prepare_each_time(call)
        if kind in _PLANS:
            return await _async_prepare_plan(call, _PLANS[kind])
        if kind in {_LIST, _STOP}:
            return Prepared(call.arguments)
        if kind == _MOVE:
            return await _async_prepare_move(call)
        return await _async_prepare_cancel(call)
    except _Unplannable as error:
        return Deny(str(error), is_final=False)
    except NotPlanned as error:
        why = await async_error_text(
            call.hass,
            call.language,
            error.problem,
        )
        return Deny(why, is_final=False)


async def _async_prepare_each_time(call: OwnCall) -> Prepared | Deny:
    """Prepare a plan for each time, of the kind that the other arguments tell."""
    kind: str = PlanKind.REMIND
    if call.arguments.get(_TOOL):
        kind = _ACT_ALWAYS
    elif call.arguments.get(_ENTITY):
        kind = _TELL_ALWAYS
    given = replace(
        call,
        arguments={
            **call.arguments,
            _KIND: kind,
        },
    )
    prepared = await _async_prepare_plan(given, _PLANS[kind])
    if isinstance(prepared, Deny):
        return prepared
    if prepared.arguments.get(_DUE) and not prepared.arguments.get(_EVERY):
        raise _Unplannable(_SAY_EVERY)
    return prepared


async def _async_prepare_cancel(call: OwnCall) -> Prepared:
    found = _to_cancel(call)
    given = _without_call(call.arguments)
    is_all = plain_name(call.text(_TEXT)) == _ALL or not found
    given[_TEXT] = _ALL if is_all else " ".join(plan.id for plan in found)
    words = await _async_say(call, found)
    return _timed_itself(
        given,
        When(words or _NOTHING),
    )


async def _async_prepare_move(call: OwnCall) -> Prepared | Deny:
    once_more = _put_off(call)
    if once_more:
        return await _async_prepare_plan(once_more, PlanKind.REMIND)
    plan = _to_move(call)
    if plan.due is None:
        raise NotPlanned(PlanProblem.UNTIMED)
    given = {
        **_without_call(call.arguments),
        _TEXT: plan.id,
    }
    given = _timed(call, given, plan)
    moved = _new_plan(
        call,
        plan.kind,
        given,
        "",
    )
    comes_again = not plan.is_routine and _comes_again(call, moved)
    if plan.call and await _async_can_ask(call, plan):
        time = await _async_time(call, moved)
        planned: JsonObject = {
            _TOOL: plan.call.tool,
            _ARGUMENTS: json_loads_object(plan.call.arguments),
        }
        return await _async_fitted(
            call, given | planned, When(f"{time}.", moved.triggers, comes_again)
        )
    words = await _async_say(call, [plan])
    return _timed_itself(
        given,
        When(
            words,
            moved.triggers,
            comes_again,
        ),
    )


async def _async_time(
    call: OwnCall,
    plan: FuturePlan,
) -> str:
    sentences = await call.async_sentences()
    return time_text(
        call.hass,
        sentences,
        plan,
        call.language,
    )


def _without_call(arguments: JsonObject) -> JsonObject:
    return {
        name: value
        for name, value in arguments.items()
        if name not in {_TOOL, _ARGUMENTS}
    }


def _timed_itself(
    given: JsonObject,
    when: When,
) -> Prepared:
    """Return a call that is reviewed itself, with a time."""
    return Prepared(
        given,
        TimedCall(
            LATER.definition,
            given,
            when,
        ),
    )


async def _async_fitted(
    call: OwnCall, given: JsonObject, when: When
) -> Prepared | Deny:
    """Return a call in whose place the one is reviewed that it plans."""
    arguments = given.get(_ARGUMENTS)
    fitted = await call.fit(
        str(given[_TOOL]), arguments if isinstance(arguments, dict) else {}
    )
    if isinstance(fitted, Deny):
        return fitted
    given = {
        **given,
        _TOOL: fitted.tool.name,
        _ARGUMENTS: fitted.arguments,
    }
    return Prepared(
        given,
        fitted._replace(when=when),
    )


async def _async_can_ask(
    call: OwnCall,
    plan: FuturePlan,
) -> bool:
    """Return whether an action needs a yes for another time that can be asked for: where it was planned, by its agent.

    Elsewhere, its words may mean something else.
    """
    here = _asker(call)
    there = plan.asker
    is_here = (here.device_id, here.satellite_id, call.agent) == (
        there.device_id,
        there.satellite_id,
        plan.agent,
    )
    if not is_here or plan.call is None or plan.call.terms:
        return False
    return (
        await async_get_schedule(call.hass).async_problem(plan, call.speaker)
        is PlanProblem.NEEDS_YES
    )


def _put_off(call: OwnCall) -> OwnCall | None:
    """Return the call that plans once more the reminder that was just heard; None if a call moves another plan."""
    heard = async_get_ringing(call.hass).latest
    heard = heard or async_get_schedule(call.hass).last_heard(call.satellite_id)
    words = plain_name(call.text(_TEXT))
    if heard is None or words not in {"", heard.id, plain_name(heard.text)}:
        return None
    given = _timed(call, call.arguments)
    if heard.every and given.get(_EVERY):
        return None
    return replace(
        call,
        arguments={
            **given,
            _KIND: PlanKind.REMIND,
            _TEXT: heard.text,
            _ENTITY: "",
            _STATE: "",
        },
    )


async def _async_prepare_plan(
    call: OwnCall,
    kind: PlanKind,
) -> Prepared | Deny:
    text = _text(call, kind)
    is_act = kind is PlanKind.ACT
    if is_act:
        given = dict(call.arguments)
    else:
        given = _without_call(call.arguments)
    if given.get(_ENTITY):
        entity_id = _entity(
            call,
            str(call.arguments[_ENTITY]),
        )
        given |= {
            _ENTITY: entity_id,
            _STATE: _state(
                call,
                entity_id,
            ),
        }
    elif kind is PlanKind.TELL:
        raise _Unplannable("Name the entity and its state.")
    if given.get(_WHEN) or given.get(_DUE):
        given = _timed(call, given)
    elif not given.get(_ENTITY):
        raise _Unplannable("Say when: a time, or an entity and its state.")
    plan = _new_plan(call, kind, given, text)
    comes_again = _comes_again(call, plan)
    waits = plan.due is None and not plan.repeats
    if waits and plan.condition and plan.condition.holds(call.hass.states):
        raise _Unplannable("Not planned: it is so already. Say so.")
    time = await _async_time(call, plan)
    if is_act:
        when = When(
            f"{time}.",
            plan.triggers,
            comes_again,
        )
        return await _async_fitted(call, given, when)
    if kind is PlanKind.REMIND:
        time = f"{time}: {quoted(text)}"
    return _timed_itself(
        given,
        When(f"{time}.", plan.triggers),
    )


def _comes_again(
    call: OwnCall,
    plan: FuturePlan,
) -> bool:
    """Return whether a plan acts again and again, which only a person may ask for. Raises `_Unplannable`."""
    if call.arguments.get(_KIND) == _ACT_ALWAYS and not plan.is_routine:
        raise _Unplannable(_SAY_EVERY)
    if plan.due and plan.condition and plan.condition.happens:
        raise _Unplannable("Not planned: that only happens, and cannot be checked.")
    if plan.is_routine and call.speaker.asking is not Asking.PERSON:
        raise _Unplannable(
            "Not planned: only a person can have that done again and again. Say so."
        )
    return plan.is_routine


def _text(call: OwnCall, kind: PlanKind) -> str:
    """Return the text of a plan, which is given for what it needs. Raises `_Unplannable`."""
    text, *others = (
        " ".join(call.text(name).split()) for name in (_TEXT, _WHEN, _STATE)
    )
    if kind is PlanKind.ACT and not call.arguments.get(_TOOL):
        raise _Unplannable(
            "Name the tool that is to be called then, and its arguments."
        )
    if kind is PlanKind.REMIND and not text:
        raise _Unplannable("Say in text what the reminder is about.")
    if (
        len(canonical_json({_ARGUMENTS: call.arguments.get(_ARGUMENTS)}))
        > _LONGEST_CALL
    ):
        raise _Unplannable(
            f"Not planned: the arguments have at most {_LONGEST_CALL} characters. Make them shorter."
        )
    if max(map(len, (text, *others))) > LONGEST_TEXT:
        raise _Unplannable(
            f"Not planned: a text has at most {LONGEST_TEXT} characters. Make it shorter."
        )
    if REDACTED_PIN in text:
        raise _Unplannable("Not planned: a PIN is never kept. Say so.")
    return text


def _timed(
    call: OwnCall, given: JsonObject, moved: FuturePlan | None = None
) -> JsonObject:
    """Return arguments with the time that their words mean, for a plan that is moved. Raises `_Unplannable`."""
    now = dt_util.now()
    words = _word(given, _WHEN)
    due = dt_util.parse_datetime(_word(given, _DUE))
    if due and due.tzinfo:
        if not is_within_bounds(due):
            raise _Unplannable("Not planned: the time has passed.")
        return given
    moment = resolved_time(
        call.hass,
        words,
        call.language,
        moved=moment_of(moved),
    )
    if moment is None:
        raise _Unplannable(
            f"Not planned: {quoted(words)} is no time that is understood, or not within a year. Ask, or write it like "
            f"'in 20 minutes', 'tomorrow at 18:30' or {now:%Y-%m-%dT%H:%M}."
        )
    if not moment.is_sure:
        other = moment.due - timedelta(hours=12)
        other = other if other > now else moment.due + timedelta(hours=12)
        raise _Unplannable(
            f"Not planned: {quoted(words)} may mean {moment.due.isoformat()} or {other.isoformat()}. Ask which one, "
            "then give that."
        )
    if moved and moment.every:
        words = lasting_words(
            words,
            moment,
            moved.language,
        )
    return {
        **given,
        _WHEN: words,
        _DUE: moment.due.isoformat(),
        _EVERY: moment.every,
    }


def _entity(call: OwnCall, name: str) -> str:
    """Return the id of the entity that is meant. Raises `_Unplannable`."""
    persons = call.hass.states.async_all(PERSON)
    person = next(
        (
            one
            for one in persons
            if one.attributes.get(ATTR_ID) == call.speaker.person_id
        ),
        None,
    )
    if person and (plain_name(name) == "me" or name == person.entity_id):
        return person.entity_id
    found = sorted(entities_called(call.hass, CONVERSATION, name))
    if len(found) != 1:
        if found:
            several = f"may be {', '.join(found)}"
        else:
            several = "is no entity that you may use"
        raise _Unplannable(f"Not planned: {quoted(name)} {several}.")
    return found[0]


def _state(call: OwnCall, entity_id: str) -> str:
    """Return a state as Home Assistant writes it, or a bound such as "> 20", with its time. Raises `_Unplannable`."""
    state, seconds = _lasting(call.text(_STATE))
    lasting = f" for {seconds} s" if seconds else ""
    bound = _BOUND.fullmatch(state)
    if bound:
        number = _NUMBER.fullmatch(bound[2])
        if number:
            limit = number[1].replace(",", ".")
        else:
            limit = _like(call, entity_id, bound[2])
        return f"{bound[1]} {limit}{lasting}"
    state = state_key(state)
    if Condition(entity_id).happens:
        return _event_type(
            call,
            entity_id,
            state,
        )
    if not state:
        raise _Unplannable("Give the state, or a bound such as '> 20'.")
    is_binary = entity_id.partition(".")[0] in {
        "binary_sensor",
        "input_boolean",
        "switch",
    }
    states = _STATES["binary" if is_binary else "others"]
    return f"{states.get(state, state)}{lasting}"


def _event_type(
    call: OwnCall,
    entity_id: str,
    words: str,
) -> str:
    """Return the type of an event that words name; empty for any."""
    known = call.hass.states.get(entity_id)
    types = known and known.attributes.get(ATTR_EVENT_TYPES)
    if isinstance(types, list) and words in types:
        return words
    return ""


def _like(
    call: OwnCall,
    entity_id: str,
    name: str,
) -> str:
    """Return the id of an entity that can be compared with another one. Raises `_Unplannable`."""
    other = _entity(call, name)
    if Condition(entity_id, above=other).holds(call.hass.states) is None:
        raise _Unplannable(
            f"Not planned: {entity_id} and {other} are no numbers of one unit. Say so."
        )
    return other


def _lasting(text: str) -> tuple[str, int]:
    """Return a state, and the seconds for which it has to hold."""
    found = _LASTING.fullmatch(text.strip())
    if found is None or not found[2]:
        return text.strip(), 0
    unit = _UNITS[found[3].lower()]
    seconds = int(found[2]) * unit
    return found[1], min(seconds, _LONGEST_WAIT)


def _condition(given: JsonObject) -> Condition | None:
    entity_id = _word(given, _ENTITY)
    if not entity_id:
        return None
    state, seconds = _lasting(_word(given, _STATE))
    bound = _BOUND.fullmatch(state)
    if not bound:
        return Condition(
            entity_id,
            state,
            seconds=seconds,
        )
    other = float(bound[2]) if _NUMBER.fullmatch(bound[2]) else bound[2]
    above, below = (other, None) if bound[1] == ">" else (None, other)
    return Condition(
        entity_id,
        above=above,
        below=below,
        seconds=seconds,
    )


def _new_plan(
    call: OwnCall, kind: PlanKind, given: JsonObject, text: str
) -> FuturePlan:
    due: datetime | None = dt_util.parse_datetime(_word(given, _DUE))
    condition = _condition(given)
    state = call.hass.states.get(condition.entity_id) if condition else None
    repeats = due is None and given.get(_KIND) in _ALWAYS
    # An action is for what happens from now on, and its routine has no end.
    acts = repeats and kind is PlanKind.ACT
    is_so = condition and condition.holds(call.hass.states)
    is_danger = (
        state is not None and state.attributes.get(ATTR_DEVICE_CLASS) in _DANGERS
    )
    return FuturePlan(
        kind=kind,
        agent=call.agent,
        asker=_asker(call),
        language=call.language,
        text=text,
        due=due,
        words=_word(given, _WHEN),
        every=as_repetition(_word(given, _EVERY)),
        condition=condition,
        until=None if due or acts else dt_util.utcnow() + FURTHEST,
        is_urgent=given.get(URGENT) is True or is_danger,
        repeats=repeats,
        told_at=dt_util.utcnow() - SELDOM if acts or (repeats and is_so) else None,
    )


def _asker(call: OwnCall) -> Asker:
    speaker = call.speaker
    return Asker(
        speaker.user_id,
        speaker.person_id,
        speaker.name,
        speaker.device_id or call.llm_context.device_id,
        call.satellite_id,
        is_signed_in=speaker.is_signed_in,
        is_api_client=speaker.is_api_client,
        is_automation=speaker.asking is not Asking.PERSON and speaker.person_id is None,
        guests_since=_guests_since(call),
    )


def plans_called(
    plans: Sequence[FuturePlan],
    words: str,
) -> Sequence[FuturePlan]:
    """Return the plans with ids or words, by text or else by time, in the order in which they are due."""
    words = plain_name(words)
    ordered = sorted(plans, key=due_order)
    found = [
        plan
        for plan in ordered
        if plan.id in words.split() or (words and words in plain_name(plan.text))
    ]
    found = found or [
        plan for plan in ordered if words and words in plain_name(plan.words)
    ]
    return found or plans_named(ordered, words)


def plans_named(
    plans: Iterable[FuturePlan],
    words: str,
) -> Sequence[FuturePlan]:
    """Return the plans that have all of some words in any order."""
    named = {*heard_words(words)}
    return [
        plan
        for plan in plans
        if named and named <= {*heard_words(f"{plan.text} {plan.words}")}
    ]


def _own_plans(call: OwnCall) -> Sequence[FuturePlan]:
    """Return the plans of the person and of the household, the oldest first; for a guest, those of guests."""
    plans = async_get_schedule(call.hass).plans.stored.plans
    since = _guests_since(call)
    if since:
        return plans_of_guests(plans, since)
    return plans_of(plans, call.speaker.person_id)


def _guests_since(call: OwnCall) -> datetime | None:
    """Return when guest mode began, if the speaker is a guest."""
    rules = async_get_home_rules(call.hass).current
    if is_guest(rules, call.speaker):
        return rules.guests_since
    return None


def _to_cancel(call: OwnCall) -> Sequence[FuturePlan]:
    """Return the plans that a call takes back. Raises `_Unplannable`."""
    plans = _own_plans(call)
    words = plain_name(call.text(_TEXT))
    if words == _ALL or not plans:
        return [plan for plan in plans if not plan.is_begun]
    ids = words.split()
    if ids and set(ids) <= {plan.id for plan in plans}:
        return [plan for plan in plans if plan.id in ids]
    return [_only(plans_called(plans, words) if words else plans[-1:], plans)]


def _to_move(call: OwnCall) -> FuturePlan:
    """Return the plan that a call moves: by its id, words or time, or else the latest. Raises `_Unplannable`."""
    plans = _own_plans(call)
    words = plain_name(call.text(_TEXT))
    if not words:
        return _only(plans[-1:], plans)
    found = plans_called(plans, words)
    if len(found) == 1:
        return found[0]
    due = due_about(
        call.hass,
        plans,
        str(call.arguments[_TEXT]),
        call.language,
    )
    return due or _only(found, plans)


def _only(
    found: Sequence[FuturePlan],
    plans: Sequence[FuturePlan],
) -> FuturePlan:
    """Return the only plan that was found among some. Raises `_Unplannable`."""
    if len(found) == 1:
        return found[0]
    known = "; ".join(
        f"{plan.id}: {quoted(plan.text)} ({plan.words})" for plan in found or plans
    )
    raise _Unplannable(
        f"It is not clear which plan is meant. Give the id of one of these: {known or 'none'}."
    )


async def _async_run(call: OwnCall) -> ToolAnswer:
    """Do what a prepared call says."""
    kind = call.text(_KIND)
    try:
        if kind in _PLANS:
            return await _async_plan(call, _PLANS[kind])
        if kind == _LIST:
            return await _async_list(call)
        if kind == _STOP:
            return await _async_stop(call)
        if kind == _MOVE:
            moved = await _async_move(call, _to_move(call))
            return ToolAnswer(
                {},
                speech=await _async_say(call, [moved]),
            )
        return await _async_cancel(call)
    except _Unplannable as error:
        return error_answer(str(error))
    except NotPlanned as error:
        why = await async_error_text(
            call.hass,
            call.language,
            error.problem,
        )
        return error_answer(why, why)


async def _async_say(
    call: OwnCall,
    plans: Sequence[FuturePlan],
) -> str:
    """Return plans as sentences."""
    sentences = await call.async_sentences()
    return " ".join(
        plan_text(call.hass, sentences, plan, call.language) for plan in plans
    )


async def _async_plan(
    call: OwnCall,
    kind: PlanKind,
) -> ToolAnswer:
    plan = _new_plan(
        call,
        kind,
        call.arguments,
        _text_of(call, kind),
    )
    if kind is PlanKind.ACT:
        plan = _with_call(call, plan)
    planned = await async_get_schedule(call.hass).async_add(plan)
    async_get_ringing(call.hass).stop(plan.text)  # it is put off
    speech = await _async_say(call, [planned])
    if planned is not plan:
        sentences = await call.async_sentences()
        speech = sentences["later_already"].format(plan=speech)
    return ToolAnswer({}, speech=speech)


async def _async_list(call: OwnCall) -> ToolAnswer:
    known = sorted(_own_plans(call), key=due_order)
    ids = call.text(_TEXT).split()
    speech = await _async_say(
        call,
        [plan for plan in known if plan.id in ids] or known,
    )
    sentences = await call.async_sentences()
    return ToolAnswer(
        {},
        speech=speech or sentences["later_none"],
    )


async def _async_stop(call: OwnCall) -> ToolAnswer:
    """Stop the alarms that ring."""
    stopped = async_get_ringing(call.hass).stop()
    sentences = await call.async_sentences()
    return ToolAnswer(
        {}, speech=sentences["later_stopped" if stopped else "later_none_rings"]
    )


async def _async_cancel(call: OwnCall) -> ToolAnswer:
    """Take back the plans that the speaker may, and say which, and why not the others."""
    schedule = async_get_schedule(call.hass)
    cancelled = list[FuturePlan]()
    why = ""
    for plan in sorted(_to_cancel(call), key=due_order):
        problem = await schedule.async_problem(
            plan,
            call.speaker,
            takes_back=True,
        )
        if problem is None:
            cancelled.append(plan)
        elif not why:
            why = await async_error_text(
                call.hass,
                call.language,
                problem,
            )
    if why and not cancelled:
        return error_answer(why, why)
    for plan in cancelled:
        await schedule.async_cancel(plan.id)
    sentences = await call.async_sentences()
    spoken = sentences["later_none"]
    if cancelled:
        kinds = {await async_reminder_kind(call.hass, plan) for plan in cancelled}
        if len(kinds) == 1 < len(cancelled):
            same = kinds.pop()
        else:
            same = None
        key = f"later_cancelled_{same}s" if same else "later_cancelled"
        texts = ", ".join(plan.text for plan in cancelled)
        if len(cancelled) == 1:
            due = due_text(cancelled[0], call.language)
            texts = ", ".join(filter(None, (texts, due)))
        spoken = sentences[key].format(
            count=len(cancelled),
            what=texts,
        )
    return ToolAnswer(
        {},
        speech=f"{spoken} {why}".rstrip(),
    )


async def _async_move(
    call: OwnCall,
    plan: FuturePlan,
) -> FuturePlan:
    """Move a plan; one whose action was asked about for its new time has the terms of that yes from now on."""
    timed = _new_plan(
        call,
        plan.kind,
        call.arguments,
        "",
    )
    is_judged = plan.call is None or _TOOL in call.arguments

    def moved(known: FuturePlan) -> FuturePlan:
        new = replace(
            known,
            due=timed.due,
            words=timed.words,
            every=timed.every,
        )
        if is_judged and new.call:
            return _with_call(call, new)
        return new

    return await async_get_schedule(call.hass).async_change(
        plan.id, moved, None if is_judged else call.speaker
    )


def due_order(plan: FuturePlan) -> tuple[bool, float]:
    """Return the key by which plans are sorted by their time; those without one come last."""
    return plan.due is None, plan.due.timestamp() if plan.due else 0


def _text_of(call: OwnCall, kind: PlanKind) -> str:
    """Return what a plan will do, in words."""
    match kind:
        case PlanKind.REMIND:
            return " ".join(str(call.arguments[_TEXT]).split())
        case PlanKind.TELL:
            return entity_name(
                call.hass,
                str(call.arguments[_ENTITY]),
            )
        case PlanKind.ACT:
            arguments = call.arguments[_ARGUMENTS]
            given = arguments if isinstance(arguments, dict) else {}
            actions = call.approval.actions if call.approval else ""
            text = actions or str(given.get("sentence") or call.arguments[_TOOL])
            if call.arguments[_TOOL] == BROADCAST_TOOL and given:
                parts = (given.get("to"), given.get("message"))
                text = ": ".join([str(one) for one in parts if one])
            return text[:LONGEST_TEXT]


def _with_call(
    call: OwnCall,
    plan: FuturePlan,
) -> FuturePlan:
    """Return a plan with the call that was reviewed."""
    if call.approval is None:
        raise _Unplannable("Not planned: the call could not be judged.")
    if not async_get_schedule(call.hass).serves(call.agent):  # an AI task
        raise _Unplannable(
            "Not planned: only an agent that people talk to can do something later. Say so."
        )
    arguments = call.arguments[_ARGUMENTS]
    text = canonical_json(arguments if isinstance(arguments, dict) else {})
    return replace(
        plan, call=PlannedCall(str(call.arguments[_TOOL]), text, call.approval.terms)
    )


async def _async_effects(call: OwnCall) -> Effects:
    """Return the effects of planning itself. A planned call is reviewed in place of the one that plans it.

    Rules may be about what it does; a reminder that waits for an entity tells of it.
    """
    kind = PlanKind.TELL if call.arguments.get(_ENTITY) else call.arguments.get(_KIND)
    if kind in {_LIST, _MOVE, _CANCEL} and _guests_since(call) and _own_plans(call):
        kind = _OF_GUESTS
    return run_by(
        f"{LATER_TOOL}_{kind}",
        Effects(beside_entities=True),
    )


def _planned_sentence(sentence: str, seconds: int) -> JsonObject:
    """Plan a command for the end of a timer: a timer here runs none, since nobody would judge it then."""
    when = f"in {seconds} seconds" if seconds else ""
    return {
        _KIND: PlanKind.ACT,
        _WHEN: when,
        _TOOL: SENTENCE_TOOL,
        _ARGUMENTS: {"sentence": sentence},
    }


_NOTHING: Final = "-"

LATER: Final = OwnTool(
    definition=ToolDefinition(
        LATER_TOOL,
        "Plans what is wanted later; never do it now. act calls tool, tell speaks when "
        "entity, or me, is in state: on, '> 20 for 5 min'; always: each time. when: as said, "
        "'every day at 8'. text: reminder, plan, or all. stop: an alarm. Tell its time.",
        _schema((*_KINDS, *_ALWAYS), _DUE, _EVERY),
        ToolAnnotations(
            read_only=False, destructive=False, idempotent=False, open_world=False
        ),
        repeatable=True,
        short_parameters=short_parameters(_MODEL),
    ),
    run=_async_run,
    needs=can_act,
    prepare=_async_prepare,
    plans=_planned_sentence,
    # Source: `async_get_tools` (homeassistant.components.intent.llm).
    makes_untrue="This device is not able to start timers.",
    needless=urgency_without_night,
    effects=_async_effects,
    targets=frozenset({"chatterbox.later"}),
)
"""The tool, of all agents that can act."""

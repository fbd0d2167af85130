"""Runs the tools of Home Assistant's LLM APIs, and explains their failures to the model."""

import asyncio
import difflib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import voluptuous as vol
from homeassistant.components.calendar.const import DOMAIN as CALENDAR
from homeassistant.components.climate import (
    ATTR_HVAC_MODES,
    ATTR_TARGET_TEMP_HIGH,
    ATTR_TARGET_TEMP_LOW,
    DOMAIN as CLIMATE_DOMAIN,
    HVACMode,
)
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.const import CONF_ACTION
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    area_registry as ar,
    config_validation as cv,
    floor_registry as fr,
    intent,
    llm,
)
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonValueType

from ..agent.errors import traceback_without_words
from ..agent.messages import JsonObject, JsonValue, ToolCall, ToolOutcome
from ..agent.text import fold, read_data_file
from ..const import LOGGER, home_singleton
from ..effects.actions import ActionReader, controlled_by
from ..effects.effect import NOTHING, Effects, Unknown, UnknownReason, run_by
from ..effects.intents import delayed_command, filled, intent_effects
from ..effects.reported import (
    Failures,
    async_add_reasons,
    async_asked_by_script,
    async_check_response,
    async_reason,
    async_script_error,
    async_unconfirmed,
    confirmed_or_not,
    intent_failures,
    is_unheard,
    shown_reason,
    unavailable_names,
)
from ..home.description import listed
from ..home.entities import exposed_names
from ..home.entity_matches import (
    assist_name,
    entity_name,
    matching_states,
)
from ..internals.llm import KnownTool, known_tool
from ..records.turn_record import (
    UNABLE,
    UNREACHABLE,
    FailedTarget,
    did_nothing,
    intent_response,
    result_content,
    targets_not_done,
)
from .annotations import (
    annotations_of,
    has_consequences,
    is_no_error,
    own_annotations,
    unwrapped,
)
from .llm_apis import UnavailableTool
from .own.own_tool import OwnCall
from .own.registry import SharedTool


async def async_call_effects(
    hass: HomeAssistant,
    llm_context: llm.LLMContext,
    tool: llm.Tool,
    arguments: JsonObject,
) -> Effects:
    """Return the effects of a call."""
    own = unwrapped(tool)
    if isinstance(own, SharedTool):
        return await own.tool.async_effects(OwnCall(hass, llm_context, arguments))
    return call_effects(
        hass,
        llm_context,
        tool,
        arguments,
    )


def call_effects(
    hass: HomeAssistant,
    llm_context: llm.LLMContext,
    tool: llm.Tool,
    arguments: JsonObject,
) -> Effects:
    """Return the effects of a call, as far as they are known without waiting."""
    match unwrapped(tool):
        case UnavailableTool():
            return NOTHING
        case SharedTool(tool=shared):
            return shared.annotated
        case llm.IntentTool() as own:
            return _of_intent(
                hass,
                llm_context,
                own,
                arguments,
            )
        case own if script := _script_of(own):
            reader = ActionReader(hass)
            reader.touch([script], "script", "turn_on", arguments)
            return reader.effects()
        case own if known_tool(own) is KnownTool.PLAY_MEDIA:
            return _of_player(hass, llm_context, arguments)
        case own if own_annotations(own).read_only:
            reads: Effects = NOTHING
            if known_tool(own) is KnownTool.LIVE_CONTEXT:
                reads = run_by(
                    intent.INTENT_GET_STATE,
                    NOTHING,
                    filled(arguments),
                )
            return replace(reads, annotations=annotations_of(own))
        case own if (
            known_tool(own) is KnownTool.UNKNOWN
        ):  # it may do what a known one did
            return Effects(unknowns=frozenset({Unknown(UnknownReason.CONTENT)}))
        case own:
            return _of_named_actions(
                hass,
                llm_context,
                own,
                arguments,
            )


def _script_of(tool: llm.Tool) -> str:
    """Return the script that a tool runs; empty for other tools."""
    if known_tool(tool) is KnownTool.SCRIPT:
        return tool.name.replace("__", ".", 1)
    return ""


def _of_named_actions(
    hass: HomeAssistant,
    llm_context: llm.LLMContext,
    tool: llm.Tool,
    arguments: JsonObject,
) -> Effects:
    """Return the effects of a tool whose arguments may name actions.

    Home Assistant's own does nothing else. On exposed entities it does no more than
    intents may do.
    """
    is_own = known_tool(tool) is KnownTool.CALL_ACTION
    if is_own:
        try:
            step = cv.SERVICE_SCHEMA(tool.parameters(dict(arguments)))
        except vol.Invalid:
            return NOTHING  # it refuses them as well
        if not hass.services.has_service(*step[CONF_ACTION].split(".", 1)):
            return NOTHING
    reader = ActionReader(hass)
    targets = reader.named(arguments)
    annotations = annotations_of(tool)
    if (
        annotations.read_only and reader.effects() != NOTHING
    ):  # only its name has told that it reads
        annotations = replace(annotations, read_only=False)
    if not annotations.read_only and has_consequences(
        tool.name, arguments
    ):  # whatever it says of itself
        annotations = replace(
            annotations,
            destructive=True,
            open_world=True,
        )
    if (
        is_own
        and targets
        and all(
            async_should_expose(hass, llm_context.assistant, target)
            for target in targets
        )
    ):
        return reader.effects()
    return replace(
        reader.effects(),
        annotations=annotations,
        is_complete=is_own,
    )


def _of_intent(
    hass: HomeAssistant,
    llm_context: llm.LLMContext,
    tool: llm.IntentTool,
    arguments: JsonObject,
) -> Effects:
    slots = filled(arguments)
    assistant = llm_context.assistant
    effects = intent_effects(
        hass,
        tool.intent_type,
        slots,
        assistant,
    )
    if effects.unknowns and tool.annotations.read_only:
        return replace(
            run_by(tool.intent_type, NOTHING), annotations=annotations_of(tool)
        )
    return effects


def _of_player(
    hass: HomeAssistant, llm_context: llm.LLMContext, arguments: Mapping[str, object]
) -> Effects:
    """Return the effects of playing media on any of the matching players."""
    name, area, floor = (
        str(value)
        if not intent.is_blank_slot_value(value := arguments.get(f"player_{slot}"))
        else None
        for slot in ("name", "area", "floor")
    )
    constraints = intent.MatchTargetsConstraints(
        name=name,
        area_name=area,
        floor_name=floor,
        domains={"media_player"},
        assistant=llm_context.assistant,
        allow_duplicate_names=True,
    )
    reader = ActionReader(hass)
    players = [state.entity_id for state in matching_states(hass, constraints)]
    reader.touch(
        players,
        "media_player",
        "play_media",
        arguments,
    )
    return reader.effects()


NOT_DELAYED: Final = (
    "Nothing was done: a timer here runs no command. For later, use the "
    "tool that plans, or say that you cannot."
)
_UNHEARD: Final = "Nothing was said: nothing in this home can speak."
UNREADABLE: Final = (
    "The tool did run, but its answer cannot be read. Do not run it again."
)

_UNEXPECTED: Final = (
    "The tool failed unexpectedly ({kind}). Trying the same again will not help."
)

_REPORTED: Final = "It reports that it has failed"
_WORDS: Final = read_data_file(__file__, dict[str, frozenset[str]])
_ONE_BY_ONE: Final = "Call it by name, once for each one that is meant. If the words do not tell, ask the person."
_MAX_NAMES: Final = 20
_MAX_GUESSES: Final = 3
_SIMILAR: Final = 0.5
_ONE_SET_POINT: Final = frozenset({HVACMode.COOL, HVACMode.HEAT})


def targets_of(effects: Effects) -> frozenset[str] | None:
    """Return the ids of the entities that these effects may change, with the members of groups, or None if unknown."""
    if not effects.is_known or not effects.actions:
        return None
    if not _WORDS["acts_elsewhere"].isdisjoint(
        [action.domain for action in effects.actions]
    ):
        return None
    return effects.entity_ids


class LlmToolDispatcher:
    """The `ToolDispatcher` of Home Assistant's tools. Natives are `llm.ToolResult`, also for failures."""

    def __init__(self, instance: llm.APIInstance) -> None:
        """Run the tools of `instance`."""
        self._instance = instance
        self._hass = instance.api.hass
        self.tools: Final[Mapping[str, llm.Tool]] = {
            tool.name: tool for tool in instance.tools
        }
        """By name."""

    def targets(
        self,
        name: str,
        arguments: JsonObject,
    ) -> frozenset[str] | None:
        """Return the ids of the entities that a call may change, or None if they are unknown."""
        tool = self.tools.get(name)
        if tool is None:
            return None
        return targets_of(
            call_effects(
                self._hass,
                self._instance.llm_context,
                tool,
                arguments,
            )
        )

    async def async_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        """Return the effects that a call would have. Raises KeyError for a tool that is not offered."""
        return await async_call_effects(
            self._hass, self._instance.llm_context, self.tools[name], arguments
        )

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Run a tool. Every exception becomes an outcome with `is_error`, except for the cancellation of this task."""
        if self._is_delayed(call.name, arguments):
            return failed_outcome(NOT_DELAYED)
        # A tool may change its arguments, and the loop records them.
        tool_input = llm.ToolInput(
            tool_name=call.name, tool_args=deepcopy(arguments), id=call.id
        )
        began = time.time()
        with intent_failures() as failures:
            try:
                result = await self._instance.async_call_tool(tool_input)
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                return await self._failure(call, arguments, error)
            except Exception as error:  # noqa: BLE001 a tool may be anybody's code; the failure is logged and told
                return await self._failure(call, arguments, error, failures)
        if unwrapped(self.tools[call.name]).integration == CALENDAR:
            result = _in_home_time(result)
        response = intent_response(result)
        if response and response.success_results:
            await async_check_response(
                self._hass, response, self._instance.llm_context.context, began
            )
            await async_add_reasons(self._hass, self._language, response, failures)
            result = llm.ToolResult(
                llm.IntentResponseDict(response), error=result.error
            )
            if did_nothing(result):
                return _nothing_done(targets_not_done(result))
        elif reported := await self._async_reported_error(call, result):
            unnamed = FailedTarget(
                "", intent.IntentResponseTargetType.CUSTOM, reason=reported
            )
            return failed_outcome(reported, [unnamed], result.data)
        elif not result.error:
            result = await self._async_checked(
                call,
                arguments,
                result,
                began,
            )
        return _outcome(call.name, result)

    def _is_delayed(
        self,
        name: str,
        arguments: JsonObject,
    ) -> bool:
        """Return whether Home Assistant would run a command later by itself, which nobody would judge then."""
        if name in self.tools:
            own = unwrapped(self.tools[name])
        else:
            own = None
        return isinstance(own, llm.IntentTool) and bool(
            delayed_command(own.intent_type, arguments)
        )

    async def _async_reported_error(
        self, call: ToolCall, result: llm.ToolResult
    ) -> str:
        """Return the error that a script ended with, or that the data of a result tells; empty if there is none."""
        if result.error:
            return ""
        response = intent_response(result)
        if response and is_unheard(response):
            return _UNHEARD
        context = self._instance.llm_context.context
        script = self._script(call)
        return await async_script_error(
            self._hass, script, context, self._language
        ) or error_in(result.data)

    def _script(self, call: ToolCall) -> str:
        return _script_of(unwrapped(self.tools[call.name]))

    async def _async_checked(
        self,
        call: ToolCall,
        arguments: JsonObject,
        result: llm.ToolResult,
        began: float,
    ) -> llm.ToolResult:
        """Add to a result which entities could not be reached when the call began, and which have not obeyed."""
        effects = call_effects(
            self._hass, self._instance.llm_context, self.tools[call.name], arguments
        )
        entity = intent.IntentResponseTargetType.ENTITY
        controlled = controlled_by(effects)
        expected = async_asked_by_script(
            self._hass, script := self._script(call), self._instance.llm_context.context
        )
        unconfirmed = await async_unconfirmed(self._hass, expected)
        dead = unavailable_names(self._hass, controlled, since=began)
        if not (dead or unconfirmed) or not isinstance(result.data, dict):
            return result
        used = effects.entity_ids
        done = (
            [script]
            if unconfirmed
            else sorted(used - controlled or controlled.difference(dead))
        )
        failed = [
            FailedTarget(name, entity, entity_id, UNREACHABLE)
            for entity_id, name in dead.items()
        ]
        targets = [
            intent.IntentResponseTarget(
                entity_name(self._hass, one),
                entity,
                one,
            )
            for one in done
        ]
        if unconfirmed:
            targets = [
                *confirmed_or_not(
                    self._hass, targets[0], expected.keys() - dead, unconfirmed
                )
            ]
        notes: JsonObject = {"not_done": [*map(str, failed)]} if failed else {}
        return llm.ToolResult(_with_targets({**notes, **result.data}, targets, failed))

    @property
    def _language(self) -> str:
        return self._instance.llm_context.language or self._hass.config.language

    async def _failure(
        self,
        call: ToolCall,
        arguments: JsonObject,
        error: Exception | asyncio.CancelledError,
        failures: Failures = MappingProxyType({}),
    ) -> ToolOutcome:
        _log_failure(
            self._hass,
            call.name,
            next(iter(failures.values()), error),
        )
        kind = intent.IntentResponseTargetType.ENTITY
        reason = await async_reason(self._hass, self._language, error)
        text = reason or explain_failure(
            self._hass, self._instance.llm_context.assistant, call.name, error
        )
        if isinstance(error, intent.MatchFailedError):
            return no_match_outcome(text, error)
        if not isinstance(
            error, intent.IntentHandleError | intent.IntentUnexpectedError
        ):
            # It failed before it acted on anything.
            unnamed = FailedTarget(
                "", intent.IntentResponseTargetType.CUSTOM, reason=reason
            )
            return failed_outcome(text, [unnamed] if reason else ())
        states = [
            self._hass.states.get(entity_id)
            for entity_id in sorted(self.targets(call.name, arguments) or ())
        ]
        known = [state for state in states if state]
        found = [state for state in known if state.entity_id in failures]
        whys = {
            one.entity_id: await async_reason(
                self._hass, self._language, failures[one.entity_id]
            )
            for one in found
        }
        targets = [
            FailedTarget(
                assist_name(self._hass, one),
                kind,
                one.entity_id,
                whys.get(one.entity_id, reason),
            )
            for one in found or known
        ]
        return _nothing_done(targets) if found else failed_outcome(text, targets)


def _in_home_time(result: llm.ToolResult) -> llm.ToolResult:
    """Return events of a calendar with their times as in the home: many calendars give UTC, which models read out."""
    events = result.data.get("events")
    if not isinstance(events, list):
        return result
    local: list[JsonValueType] = [
        {
            **event,
            **{
                edge: _home_time(event[edge])
                for edge in ("start", "end")
                if edge in event
            },
        }
        for event in events
        if isinstance(event, dict)
    ]
    return replace(
        result,
        data={
            **result.data,
            "events": local,
        },
    )


def _home_time(text: JsonValue) -> JsonValue:
    if isinstance(text, str):
        parsed = dt_util.parse_datetime(text)
    else:
        parsed = None
    if parsed and parsed.tzinfo:
        return dt_util.as_local(parsed).isoformat()
    return text


def _outcome(
    name: str,
    result: llm.ToolResult,
) -> ToolOutcome:
    try:
        return ToolOutcome(
            result_content(result),
            is_error=result.error,
            native=result,
        )
    except (TypeError, ValueError) as error:
        LOGGER.warning(
            "The tool %s answered something that is not JSON: %s", name, error
        )
        return failed_outcome(UNREADABLE)


def _nothing_done(targets: Sequence[FailedTarget]) -> ToolOutcome:
    if any(one.reason == UNABLE for one in targets):
        acted = ""
    else:
        acted = "Nothing was done. "
    return failed_outcome(
        f"{acted}It failed for: {', '.join(map(str, targets))}.", targets
    )


def no_match_outcome(
    text: str,
    error: intent.MatchFailedError,
) -> ToolOutcome:
    """Return the outcome of a call that found nothing of what it names."""
    wanted = error.constraints
    missing = wanted.name or wanted.area_name or wanted.floor_name
    target = intent.IntentResponseTarget(
        missing or "", intent.IntentResponseTargetType.ENTITY
    )
    return failed_outcome(text, [target] if missing else ())


def error_in(data: object) -> str:
    """Return the error that the data of a result tells, by itself or as the response of an action; empty for none.

    Data of its own beside `success: false`, or the state of a device beside an error,
    is a report of something else.
    """
    match data:
        case {"success": True} | {"ok": True} | {"state": str()}:
            return ""
        case {"error": str() as text} | {"error": {"message": str() as text}} if (
            not is_no_error(text)
        ):
            return shown_reason(text)
        case {"error": True}:
            return _REPORTED
        case {"success": False, **fields} | {"ok": False, **fields}:
            return _own_failure({**fields, "status": "failed"})
        case Mapping() as given if reason := _own_failure(given):
            return reason
        case {"result": Mapping() as inner} | {"response": Mapping() as inner}:
            return error_in(inner)
        case _:
            return ""


def _own_failure(data: Mapping[object, object]) -> str:
    """Return the message of data that tells no more than that it failed; empty for a report of something else."""
    given = {name: value for name, value in data.items() if value}
    status = str(given.get("status", "failed" if "errors" in given else "")).casefold()
    has_failed = status in _WORDS["failed"] or (
        isinstance(
            given.get("errors"),
            list,
        )
        and status not in _WORDS["worked"]
    )
    match given:
        case _ if not (has_failed and given.keys() <= _WORDS["explaining"]):
            return ""
        case (
            {"message": text}
            | {"errors": [{"message": text}, *_]}
            | {"errors": [str(text), *_]}
        ):
            return shown_reason(str(text))
        case _:
            return _REPORTED


def failed_outcome(
    text: str,
    targets: Sequence[intent.IntentResponseTarget] = (),
    details: JsonObject | None = None,
) -> ToolOutcome:
    """Return the outcome of a call that failed for these targets, if they are known. `details` are its own data."""
    data = _with_targets(
        {
            **(details or {}),
            "error": text,
        },
        [],
        targets,
    )
    native = llm.ToolResult(data=data, error=True)
    return ToolOutcome(
        result_content(native),
        is_error=True,
        native=native,
    )


def _with_targets(
    data: JsonObject,
    done: Sequence[intent.IntentResponseTarget],
    failed: Sequence[intent.IntentResponseTarget],
) -> llm.IntentResponseDict:
    """Return data with the entities of a call that is no intent."""
    reported = llm.IntentResponseDict(data)
    reported.original = intent.IntentResponse("")
    reported.original.async_set_results(
        list(done),
        list(failed),
    )
    return reported


_logged: Final = home_singleton(
    "logged_tool_failures", lambda _: set[tuple[str, str]]()
)
"""Returns the tools with the kinds of failures that were logged as warnings."""


def _log_failure(
    hass: HomeAssistant,
    tool: str,
    error: BaseException,
) -> None:
    """Log a failure of a tool, the first of each kind as a warning. Its message may quote the words of a person.

    The arguments are in the debug log of the turn; see `turns/record.py`.
    """
    is_of_model = isinstance(
        error, vol.Invalid | intent.MatchFailedError | intent.InvalidSlotInfo
    )
    key = getattr(
        error,
        "translation_key",
        None,
    )
    if key:
        kind = f"{type(error).__name__} ({key})"
    else:
        kind = type(error).__name__
    is_new = not is_of_model and (tool, kind) not in _logged(hass)
    _logged(hass).add((tool, kind))
    LOGGER.log(
        logging.WARNING if is_new else logging.DEBUG,
        "The tool %s failed: %s",
        tool,
        kind,
    )


def explain_failure(
    hass: HomeAssistant,
    assistant: str,
    tool: str,
    error: Exception | asyncio.CancelledError,
) -> str:
    """Return a short text from which a model can correct its call. It names only entities exposed to `assistant`.

    An unexpected error is logged with its traceback. Its message is never logged or
    returned, because it may quote the words of a person.
    """
    match error:
        case vol.Invalid():
            return _explain_invalid(error)
        case intent.InvalidSlotInfo(__cause__=vol.Invalid() as cause):
            return _explain_invalid(cause)
        case intent.MatchFailedError():
            return _explain_no_match(
                hass,
                assistant,
                error,
            )
        case TimeoutError():
            return "The tool took too long and was stopped."
        case intent.IntentUnexpectedError(
            __cause__=BaseException() as cause
        ):  # Home Assistant has logged it
            return _UNEXPECTED.format(kind=type(cause).__name__)
        case HomeAssistantError():
            return str(error) or f"The tool failed: {type(error).__name__}."
        case asyncio.CancelledError():
            return "The tool was interrupted before it was done."
        case _:
            LOGGER.error(
                "The tool %s failed unexpectedly:\n%s",
                tool,
                traceback_without_words(error),
            )
            return _UNEXPECTED.format(kind=type(error).__name__)


def _explain_invalid(error: vol.Invalid) -> str:
    problems: list[str] = []
    for one in error.errors if isinstance(error, vol.MultipleInvalid) else [error]:
        path = ".".join(
            str(step) for step in one.path if str(step) != "value"
        )  # an intent wraps each argument in it
        problems.append(": ".join(filter(None, (path, one.error_message or one.msg))))
    return f"The arguments do not fit: {'; '.join(problems)}."


def _explain_no_match(
    hass: HomeAssistant, assistant: str, error: intent.MatchFailedError
) -> str:
    """Return the name that was not found, and existing names."""
    constraints = error.constraints
    match error.result.no_match_reason:
        case intent.MatchFailedReason.INVALID_AREA:
            areas = ar.async_get(hass).async_list_areas()
            hint = _introduced("The areas are", sorted(one.name for one in areas))
        case intent.MatchFailedReason.INVALID_FLOOR:
            floors = fr.async_get(hass).async_list_floors()
            hint = _introduced("The floors are", sorted(one.name for one in floors))
        case intent.MatchFailedReason.DUPLICATE_NAME:
            hint = "Give the area too."
        case intent.MatchFailedReason.MULTIPLE_TARGETS:
            found = sorted({assist_name(hass, state) for state in error.result.states})
            hint = f"{_introduced('There are', found)} {_ONE_BY_ONE}"
        case intent.MatchFailedReason.FEATURE | intent.MatchFailedReason.STATE:
            hint = (
                _explain_range(hass, constraints)
                or "It exists, but cannot do this, or not in its present state."
            )
        case _ if constraints.name:
            names = {
                fold(name): name
                for name in exposed_names(hass, assistant, constraints.domains)
            }
            similar = difflib.get_close_matches(
                fold(constraints.name), names, _MAX_GUESSES, _SIMILAR
            )
            hint = _introduced("Similar names are", [names[one] for one in similar])
        case _:
            hint = ""
    return f"{error}. {hint}".rstrip()


def _explain_range(
    hass: HomeAssistant, constraints: intent.MatchTargetsConstraints
) -> str:
    """Return what a thermostat with two set points takes; empty if there is none among what is meant."""
    if constraints.domains is None or CLIMATE_DOMAIN not in constraints.domains:
        return ""
    for state in matching_states(hass, constraints):
        low, high = (
            state.attributes.get(name)
            for name in (ATTR_TARGET_TEMP_LOW, ATTR_TARGET_TEMP_HIGH)
        )
        if low is not None and high is not None:
            modes = ", ".join(
                mode
                for mode in state.attributes.get(ATTR_HVAC_MODES, ())
                if mode in _ONE_SET_POINT
            )
            if modes:
                other = f" It takes one in its modes {modes}."
            else:
                other = ""
            return f"{state.name} keeps between {low} and {high}: it takes no single temperature now.{other} Say so."
    return ""


def _introduced(introduction: str, names: Iterable[str]) -> str:
    some = listed(names, _MAX_NAMES)
    return f"{introduction}: {some}." if some else ""

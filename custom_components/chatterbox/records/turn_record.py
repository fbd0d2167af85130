"""The record of a turn, built once from its events; bus events, trace, diagnostics, sensors and history read from it.

Projections: the data of bus events, figures and times (`TurnFacts`), the reports of
tools, and the messages that are stored. `SIGNAL_TURN` passes the finished record to
usage, diagnostics and sensors.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple, override

from homeassistant.helpers import intent, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.signal_type import SignalType
from pydantic import TypeAdapter

from ..agent.events import (
    Phase,
    PhaseEntered,
    PhaseTime,
    PromptReplaced,
    ProviderSwitched,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnFinished,
    UsageReported,
)
from ..agent.json.text import as_object, parsed_if_json
from ..agent.messages import (
    Attachment,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
    canonical_json,
)
from ..agent.transcript import TranscriptRecorder, without_results
from ..const import DOMAIN
from ..settings.tool_names import SENTENCE_TOOL

_NO_USAGE: Final = Usage()
_ANSWERS: Final = (
    TextDelta,
    ReasoningDelta,
    ToolCallReady,
    UsageReported,
)
"""The first of these events is the beginning of a model's answer."""
FAILURES: Final = frozenset(StopReason) - {
    StopReason.COMPLETED,
    StopReason.APPROVAL_REQUIRED,
    StopReason.CLIENT_TOOLS,
    StopReason.PROMPT_DENIED,
}
"""Stop reasons of turns that have failed. A turn that was cut off has none, and has not failed."""
_TIMES: Final = frozenset({"at", "began", "duration", "first_token", "first_words"})
"""Fields in seconds, which are milliseconds in JSON."""


type Origin = Mapping[str, JsonValue]
"""The facts that identify a turn; see `turns.record.turn_origin`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceFacts:
    """One request to a model, including those to fallbacks that took over."""

    began: float
    """Seconds since the turn began, like all times here."""
    first_token: float | None = None
    """Seconds from `began` until the answer began; None without an answer."""
    duration: float | None = None
    """Seconds; None if it was cut off."""
    usage: Usage | None = None
    """None if the request failed or was cut off."""
    answered_by: str = ""
    """Subentry id of the agent whose model answered; empty for Home Assistant itself, and without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One call of a tool."""

    name: str
    began: float | None = None
    """None if it did not run."""
    duration: float | None = None
    """Seconds; None if it did not run or was cut off."""
    is_error: bool | None = None
    """None without a result."""
    fee: float = 0.0
    """US dollars that it has cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverFacts:
    """Another model took over."""

    at: float
    to: str
    """Its name."""
    reason: str
    """Names of the models that did not answer, each with the class of its error or the state of its circuit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """The figures of a turn."""

    began_at: float
    """Seconds since the epoch."""
    duration: float
    """Seconds."""
    first_words: float | None = None
    """Seconds until the first words of the answer; None without words."""
    inferences: tuple[InferenceFacts, ...] = ()
    tools: tuple[ToolFacts, ...] = ()
    handovers: tuple[HandoverFacts, ...] = ()
    stop_reason: StopReason | None = None
    """None if it was cut off."""
    error: str = ""
    """Class of the error with which it failed."""
    iterations: int = 0
    """Inferences; 0 if it was cut off."""
    phases: tuple[PhaseTime, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether it has not come to the answer or the act that was asked for: what sensors count and the page lists.

        Beside the turns that ended so, it did where Home Assistant answered in place of
        a model and could do nothing.
        """
        match self.inferences, self.tools:
            case (*_, InferenceFacts(answered_by="")), (
                *_,
                ToolFacts(name=name, is_error=True),
            ):
                return name == SENTENCE_TOOL or self.stop_reason in FAILURES
            case _:
                return self.stop_reason in FAILURES

    @property
    def usage(self) -> Usage:
        """Tokens of all its inferences."""
        return sum(
            (one.usage for one in self.inferences if one.usage),
            _NO_USAGE,
        )

    def as_json(self) -> JsonObject:
        """Return the figures as a JSON object with the same names; times are in milliseconds."""
        return {
            name: _as_json(name, value)
            for name, value in _FACTS.dump_python(self).items()
        }

    def timings(self) -> JsonObject:
        """Return the timings alone: first words, requests, tools, handovers; and whether the turn has failed."""
        data = self.as_json() | {"failed": self.has_failed}
        return {
            name: data[name]
            for name in ("failed", "first_words", "inferences", "tools", "handovers")
        }


_FACTS: Final = TypeAdapter(TurnFacts)


def _as_json(name: str, value: Any) -> JsonValue:  # any value that pydantic returns
    match value:
        case dict():
            return {key: _as_json(key, one) for key, one in value.items()}
        case tuple():
            return [_as_json(name, one) for one in value]
        case int() | float() if name in _TIMES:
            return round(value * 1000, 1)
        case StrEnum():
            return str(value)
        case _:
            known: JsonValue = value
            return known


# Bytes of JSON; Home Assistant records up to 32,768 of an event.
_MAX_TEXT: Final = 2_000
_MAX_CALLS: Final = 12_000
_MOST_CALLS: Final = 40
"""Calls that are shown individually; the first ones are the most informative."""
NOTHING_SHOWN: Final = -1
"""A size limit at which arguments and results are not shown at all, not even as empty."""
_CUT_OFF: Final = "interrupted"
"""Stop reason of a turn that was cut off."""


def shown_arguments(call: ToolCall) -> JsonObject:
    """Return the arguments with which a call ran; none if they could not be parsed."""
    return as_object(parsed_if_json(call.arguments))


def shown_call(
    call: ToolCall,
    most: int,
) -> dict[str, JsonValue]:
    """Return the `name` and the `arguments` of a call, which are limited to about `most` bytes."""
    if most == NOTHING_SHOWN:
        return {
            "name": call.name,
            "arguments": {},
        }
    arguments = shown_arguments(call)
    if _size(arguments) > most:
        arguments = {
            "cut": _cut(
                canonical_json(arguments),
                most,
            )
        }
    return {
        "name": call.name,
        "arguments": arguments,
    }


def shown_result(
    result: ToolResult,
    most: int,
) -> dict[str, JsonValue]:
    """Return the `result` of a call, limited to about `most` bytes, and whether it `is_error`."""
    if most == NOTHING_SHOWN:
        return {
            "result": None,
            "is_error": result.is_error,
        }
    content = _cut(result.content, most)
    return {
        "result": parsed_content(result) if content == result.content else content,
        "is_error": result.is_error,
    }


def shown_text(text: str) -> str:
    """Return a text, shortened if it is long."""
    return _cut(text, _MAX_TEXT)


def _cut(text: str, most: int) -> str:
    start = text[:most]
    if start == text and _size(text) <= most:
        return text
    fitting = (
        bisect_right(
            range(len(start) + 1), most, key=lambda length: _size(start[:length])
        )
        - 1
    )
    return f"{start[:fitting]}…"


def _size(value: JsonValue) -> int:
    """Return the size of a value in bytes, without the quotes around a text."""
    written = len(canonical_json(value).encode("utf-8", "surrogatepass"))
    if isinstance(value, str):
        return written - 2
    return written


def parsed_content(result: ToolResult) -> JsonValue:
    """Return the content of a result, parsed if it is JSON."""
    return parsed_if_json(result.content)


_FOUND_NOTHING: Final = frozenset(
    {
        intent.IntentResponseErrorCode.NO_INTENT_MATCH,
        intent.IntentResponseErrorCode.NO_VALID_TARGETS,
    }
)


@dataclass(slots=True, weakref_slot=True)
class TurnRecord:
    """The record of one turn, complete when the turn is over."""

    input: str
    """The user's words, or a redacted form of them."""
    agent: str = ""
    """Subentry id of the agent."""
    origin: Origin = field(default_factory=dict)
    is_stored: bool = True
    """Whether the words may be stored and shown; figures always may."""
    context: str = ""
    """The context of the user's message; see `UserMessage`."""
    omitted: str = ""
    """The context that the messages before hold."""
    attachments: tuple[Attachment, ...] = ()
    """The attachments of the user's message."""
    brought: Transcript = ()
    """Messages that the source adds before the user's message, such as results of client tools."""
    clock: Callable[[], float] = time.monotonic
    """Returns seconds; the turn begins when its record is created."""
    wall_clock: Callable[[], float] = time.time
    """Returns seconds since the epoch."""
    recorder: TranscriptRecorder = field(default_factory=TranscriptRecorder)
    """The messages of the turn so far."""
    calls: dict[str, ToolCall] = field(default_factory=dict)
    finished: TurnFinished | None = None
    _accepted: bool = False
    """Whether all hooks have accepted the words; they are not published before."""
    _began: float = field(init=False)
    _began_at: float = field(init=False)
    _duration: float | None = None
    _first_words: float | None = None
    _phases: list[PhaseTime] = field(default_factory=list)
    _inferences: list[InferenceFacts] = field(default_factory=list)
    """Finished inferences."""
    _inference: InferenceFacts | None = None
    """The running inference."""
    _tools: dict[str, ToolFacts] = field(default_factory=dict)
    _handovers: list[HandoverFacts] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._began, self._began_at = self.clock(), self.wall_clock()

    def add(self, event: TurnEvent) -> None:
        """Add one event, as it happens."""
        now = self.clock() - self._began
        self.recorder.add(event)
        is_before = (
            isinstance(event, PhaseEntered) and event.phase is Phase.RECEIVE_INPUT
        )
        self._accepted = self._accepted or not is_before
        if (
            self._inference
            and self._inference.first_token is None
            and isinstance(event, _ANSWERS)
        ):
            self._inference = replace(
                self._inference, first_token=now - self._inference.began
            )
        match event:
            case TextDelta():
                if self._first_words is None:
                    self._first_words = now
            case PromptReplaced(text):
                self.input = text
            case PhaseEntered(phase):
                self._phases.append(PhaseTime(phase, now))
                self._inference_ended(now)
                self._inference = (
                    InferenceFacts(began=now) if phase is Phase.LLM_INFERENCE else None
                )
            case UsageReported(usage, answered_by):
                self._inference_ended(
                    now,
                    usage,
                    answered_by,
                )
            case ToolCallReady() | ToolStarted() | ToolFinished():
                self._add_tool_event(event, now)
            case ProviderSwitched(provider, reason):
                self._handovers.append(
                    HandoverFacts(
                        at=now,
                        to=provider,
                        reason=reason,
                    )
                )
            case TurnFinished():
                self.finished, self._duration = event, now
            case _:
                pass

    def _inference_ended(
        self, now: float, usage: Usage | None = None, answered_by: str = ""
    ) -> None:
        one = self._inference
        if one:
            self._inferences.append(
                replace(
                    one, duration=now - one.began, usage=usage, answered_by=answered_by
                )
            )
            self._inference = None

    def _add_tool_event(
        self, event: ToolCallReady | ToolStarted | ToolFinished, now: float
    ) -> None:
        match event:
            case ToolCallReady(call):
                self.calls[call.id] = call
                self._tools[call.id] = ToolFacts(name=call.name)
            case ToolStarted(call):
                self._tools[call.id] = ToolFacts(
                    name=call.name,
                    began=now,
                )
            case ToolFinished(result):
                tool = self._tools[result.call_id]
                if tool.began is None:
                    duration = None
                else:
                    duration = now - tool.began
                self._tools[result.call_id] = replace(
                    tool, duration=duration, is_error=result.is_error, fee=result.fee
                )

    @property
    def results(self) -> Sequence[ToolResult]:
        """The results of calls so far."""
        return [
            message
            for message in self.recorder.messages
            if isinstance(message, ToolResult)
        ]

    @property
    def user_message(self) -> UserMessage | None:
        """The user's message; None if there is none, or if a hook has refused it."""
        is_denied = (
            self.finished is not None
            and self.finished.stop_reason is StopReason.PROMPT_DENIED
        )
        if is_denied or not self._accepted or not self.input:
            return None
        return UserMessage(
            self.input,
            self.attachments,
            self.context,
            self.omitted,
        )

    @property
    def messages(self) -> Transcript:
        """The messages that the turn adds to its conversation; calls for the client have no result yet."""
        came_of_it: Transcript = self.recorder.interrupted()
        if self.finished and self.finished.client_calls:
            handed_out = {call.id for call in self.finished.client_calls}
            came_of_it = without_results(came_of_it, handed_out)
        user_message = self.user_message
        if user_message:
            return (
                *self.brought,
                user_message,
                *came_of_it,
            )
        return (*self.brought, *came_of_it)

    @property
    def duration(self) -> float:
        """Seconds from the user's words to the end of the answer, or until now."""
        if self._duration is None:
            return self.clock() - self._began
        return self._duration

    @property
    def facts(self) -> TurnFacts:
        """The figures of the turn; so far, if it is running."""
        finished = self.finished
        return TurnFacts(
            began_at=self._began_at,
            duration=self.duration,
            first_words=self._first_words,
            inferences=(*self._inferences, self._inference)
            if self._inference
            else tuple(self._inferences),
            tools=tuple(self._tools.values()),
            handovers=tuple(self._handovers),
            stop_reason=finished.stop_reason if finished else None,
            error=type(finished.error).__name__ if finished and finished.error else "",
            iterations=finished.iterations if finished else 0,
            phases=tuple(self._phases),
        )

    @property
    def handovers(self) -> list[JsonValue]:
        """The models that took over from the agent's own: `to` whom, and the `reason`."""
        return [{"to": one.to, "reason": one.reason} for one in self._handovers]

    def as_event_data(
        self,
        *,
        tells_words: bool = True,
    ) -> dict[str, JsonValue]:
        """Return the turn as the data of a Home Assistant event.

        Long texts, arguments and results are cut, so that Home Assistant can record the
        event; without `tells_words` they are empty.

        `input`, `phases`, `tool_calls` (`name`, `arguments`, `result`, `is_error`),
        `more_tool_calls` (how many were left out), `speech`, `handovers` (`to`,
        `reason`) if the agent's own model did not answer, `stop_reason` (`interrupted`
        if it was cut off), `usage` (tokens by kind), `iterations`, `duration_ms`.
        """
        finished = self.finished
        if tells_words:
            share = _MAX_CALLS // min(max(len(self.results), 1), _MOST_CALLS) // 2
        else:
            share = NOTHING_SHOWN
        return {
            "input": shown_text(self.input) if self._accepted and tells_words else "",
            "phases": [str(one.phase) for one in self._phases],
            "tool_calls": [
                shown_call(self.calls[result.call_id], share)
                | shown_result(result, share)
                for result in self.results[:_MOST_CALLS]
            ],
            "more_tool_calls": max(
                len(self.results) - _MOST_CALLS,
                0,
            ),
            "speech": shown_text(finished.text) if finished and tells_words else "",
            "handovers": self.handovers,
            "stop_reason": str(finished.stop_reason) if finished else _CUT_OFF,
            "usage": asdict(finished.usage) if finished else None,
            "iterations": finished.iterations if finished else None,
            "duration_ms": round(self.duration * 1000, 1),
        }


SIGNAL_TURN: Final[SignalType[TurnRecord]] = SignalType(f"{DOMAIN}_turn")
"""Sent once for each turn, even if it was cut off."""


class RequestRecord(NamedTuple):
    """A request outside of turns that the model of an agent has answered."""

    agent: str
    """Id of its subentry."""
    usage: Usage
    is_priced: bool = True
    """False for another model of the same service, whose price is unknown."""


SIGNAL_REQUEST: Final[SignalType[RequestRecord]] = SignalType(f"{DOMAIN}_request")
"""Sent for each such request."""
SIGNAL_USAGE: Final[SignalType[Collection[str] | None]] = SignalType(f"{DOMAIN}_usage")
"""Sent when the stored usage of these agents has changed; None for all agents, when a day has begun."""


UNREACHABLE: Final = "It cannot be reached."
"""The reason of a failed target that is unavailable."""
UNABLE: Final = "It does not support that."
"""The reason of a failed target that lacks what it was asked for."""
SCRIPT_ENDS: Final = {
    "cancelled": "It was stopped.",
    "disallowed_recursion_detected": "It started itself again.",
    "error": "It stopped with an error.",
    "failed_max_runs": "It is running too often already.",
    "failed_single": "It is running already.",
    "timeout": "It waited in vain.",
}
"""Why a script did not run to its end. Source: `script_execution_set` in homeassistant.helpers.script."""


@dataclass(slots=True)
class UnconfirmedTarget(intent.IntentResponseTarget):
    """An entity that was asked to act, and reports that it has not."""

    reported: str = ""
    """Its state."""


@dataclass(slots=True)
class FailedTarget(intent.IntentResponseTarget):
    """An entity that could not be acted on, and why. The model reads both."""

    reason: str = ""
    """In the language of the speaker; empty if it is unknown."""

    @override
    def __str__(self) -> str:
        """Return the name with the reason."""
        if self.reason:
            return f"{self.name} ({self.reason})"
        return self.name


def entities_done(native: object) -> frozenset[str]:
    """Return the ids of the entities that an intent acted on, from its native result."""
    return frozenset([target.id for target in targets_done(native) if target.id])


def targets_done(native: object) -> list[intent.IntentResponseTarget]:
    """Return the entities that an intent acted on, from its native result."""
    return _entities(_successes(native))


def _successes(native: object) -> Sequence[intent.IntentResponseTarget]:
    response = intent_response(native)
    return response.success_results if response else ()


def failed_targets(native: object) -> Sequence[intent.IntentResponseTarget]:
    """Return all that an intent could not act on, from its native result."""
    response = intent_response(native)
    return response.failed_results if response else ()


def targets_not_done(native: object) -> tuple[FailedTarget, ...]:
    """Return the entities that an intent could not act on, from its native result."""
    failed = _entities(failed_targets(native))
    return tuple(
        [
            one
            if isinstance(one, FailedTarget)
            else FailedTarget(
                one.name,
                one.type,
                one.id,
            )
            for one in failed
        ]
    )


def is_unconfirmed(native: object) -> bool:
    """Return whether an entity that an intent acted on reports that it has not done so, from its native result."""
    return any(isinstance(one, UnconfirmedTarget) for one in _successes(native))


def did_nothing(native: object) -> bool:
    """Return whether an intent failed for every entity. Home Assistant then still reports its area as a success."""
    return bool(targets_not_done(native)) and not entities_done(native)


def _entities(
    targets: Sequence[intent.IntentResponseTarget],
) -> list[intent.IntentResponseTarget]:
    return [
        target
        for target in targets
        if target.type is intent.IntentResponseTargetType.ENTITY
    ]


def found_nothing(result: ToolResult) -> bool:
    """Return whether Home Assistant recognized nothing to do in a sentence: then it is as if it had not been tried."""
    match parsed_content(result):
        case {"response_type": "error", "data": {"code": str(code)}}:
            return code in _FOUND_NOTHING
        case _:
            return False


def error_text(result: ToolResult) -> str:
    """Return the shortest form of the error of a failed call."""
    reasons = "; ".join(
        dict.fromkeys(
            one.reason for one in targets_not_done(result.native) if one.reason
        )
    )
    if reasons:
        return reasons
    spoken_text = intent_speech(result.native)
    if spoken_text:
        return spoken_text
    match parsed_content(result):
        case {"error": str() as error}:
            return error
        case _:
            return result.content


def intent_speech(native: object) -> str:
    """Return the speech that an intent has set, from its native result; empty if it set none."""
    response = intent_response(native)
    speech: object = (
        response.speech.get("plain", {}).get("speech") if response else None
    )
    if isinstance(speech, str):
        return speech.strip()
    return ""


def intent_response(native: object) -> intent.IntentResponse | None:
    """Return the response of an intent, from its native result; None for any other tool."""
    match native:
        case intent.IntentResponse():
            return native
        case llm.ToolResult(data=llm.IntentResponseDict() as data):
            # Home Assistant omits the attribute if the dict was not made from a
            # response.
            response: object = getattr(
                data,
                "original",
                None,
            )
            if isinstance(response, intent.IntentResponse):
                return response
            return None
        case _:
            return None


def _named(target: Mapping[str, str]) -> str:
    reason = target.get("reason")
    if reason:
        return f"{target['name']} ({reason})"
    return target["name"]


def _without_repetition(
    data: Mapping[str, object], parts: Sequence[object], structured: object
) -> dict[str, object]:
    """Return a result of the Model Context Protocol once: servers repeat structured content as text.

    Source: MCP specification 2025-06-18, "Structured Content"; its Python SDK wraps
    other values in `result`.
    """
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    values: list[object] = [
        parsed_if_json(text) if isinstance(text, str) else text for text in texts
    ]
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        wrapped = structured.get("result")
    else:
        wrapped = None
    if values == [structured]:
        repeated = "content"
    elif wrapped is not None and (
        wrapped in (texts, values) or [wrapped] in (texts, values)
    ):
        repeated = "structuredContent"
    else:
        repeated = ""
    return {name: value for name, value in data.items() if name != repeated}


_NOT_RUN: Final = "An automation was only enabled or disabled. Its actions were not run: say so if they are meant."


def result_content(result: llm.ToolResult) -> str:
    """Return the text of a result for the model, in the turn and later from the ChatLog.

    It is the JSON of the data, which always says if the call failed, and is complete:
    `agent/conversation/window.py` cuts what is too much for a model. The names of
    entities that an intent could not act on come first, because models overlook them
    after those that it acted on. Raises TypeError or ValueError for data that is not
    JSON.
    """
    data: object = result.data
    if not isinstance(data, dict):
        return json_dumps({"error": data} if result.error else data)
    content = dict[str, object]()
    match data:
        case {"response_type": "action_done", "data": {"failed": [_, *_] as failed}}:
            content["not_done"] = [_named(target) for target in failed]
        case {"content": [*parts], "structuredContent": structured}:
            data = _without_repetition(
                data,
                parts,
                structured,
            )
        case _:
            pass
    targets = _successes(result)
    if any((one.id or "").startswith("automation.") for one in targets):
        content["note"] = _NOT_RUN
    silent = dict.fromkeys(
        f"{one.name} (still {one.reported})"
        for one in targets
        if isinstance(one, UnconfirmedTarget)
    )
    if silent:
        content["asked_not_confirmed"] = [*silent]
    says_so = "error" in data or data.get("response_type") == "error"
    content |= data
    return json_dumps({"error": content} if result.error and not says_so else content)

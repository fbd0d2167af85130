"""The numbers of a turn: when each phase began, and what each request to a model and each tool took.

They hold no word of what was said, so they may be shown to anybody.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Final

from ..agent.events import (
    Phase,
    PhaseEntered,
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
from ..agent.history.records import PhaseTime
from ..agent.messages import JsonObject, ToolResult, Usage

_NO_USAGE: Final = Usage()
_KINDS: Final = tuple(field.name for field in fields(Usage))
_ANSWERS: Final = (TextDelta, ReasoningDelta, ToolCallReady, UsageReported)
"""By what a model is known to have begun to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceFacts:
    """One request to a model, with those to others that had to take over from it."""

    began: float
    """Seconds since the turn began, as is every moment here."""
    first_token: float | None = None
    """Seconds until it began to answer, counted from `began`; None when it never did."""
    duration: float | None = None
    """Seconds; None when it was cut off."""
    usage: Usage | None = None
    """None when nobody has told: the request failed, or was cut off."""
    answered_by: str = ""
    """Subentry id of the agent whose model answered; empty for Home Assistant itself, and for nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One call of a tool."""

    name: str
    began: float | None = None
    """None when it did not run."""
    duration: float | None = None
    """Seconds; None when it did not run, or was cut off."""
    is_error: bool | None = None
    """None when it has no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverFacts:
    """Another model took over."""

    at: float
    to: str
    """Its name."""
    reason: str
    """Names of those who did not answer, each with the class of its error, or the state of its circuit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """How a turn went."""

    began_at: float
    """Seconds since the epoch."""
    duration: float
    """Seconds."""
    first_words: float | None
    """Seconds until the first words of the answer; None when there were none."""
    stop_reason: StopReason | None
    """None when it was cut off."""
    phases: tuple[PhaseTime, ...]
    inferences: tuple[InferenceFacts, ...]
    tools: tuple[ToolFacts, ...]
    handovers: int
    """How often another model had to take over."""
    handed_over: tuple[HandoverFacts, ...] = ()
    """The same one by one."""
    iterations: int = 0
    """Rounds; 0 when it was cut off."""
    error: str = ""
    """Class of the error that it failed with."""

    @property
    def usage(self) -> Usage:
        """Tokens of all its inferences."""
        usages = [one.usage for one in self.inferences if one.usage]
        return reduce(add, usages) if usages else _NO_USAGE

    def as_json(self) -> JsonObject:
        """Return it as a JSON object with the same names; moments and durations are in milliseconds."""
        return {
            "began_at": self.began_at,
            "duration": _milliseconds(self.duration),
            **self.timings(),
            "stop_reason": str(self.stop_reason) if self.stop_reason else None,
            "error": self.error,
            "iterations": self.iterations,
            "phases": [{"phase": str(one.phase), "at": _milliseconds(one.at)} for one in self.phases],
        }

    def timings(self) -> JsonObject:
        """Return of the same what took its time: first words, requests, tools, handovers."""
        return {
            "first_words": _milliseconds(self.first_words),
            "inferences": [
                {
                    "began": _milliseconds(one.began),
                    "first_token": _milliseconds(one.first_token),
                    "duration": _milliseconds(one.duration),
                    "usage": usage_as_json(one.usage) if one.usage else None,
                    "answered_by": one.answered_by,
                }
                for one in self.inferences
            ],
            "tools": [
                {
                    "name": one.name,
                    "began": _milliseconds(one.began),
                    "duration": _milliseconds(one.duration),
                    "is_error": one.is_error,
                }
                for one in self.tools
            ],
            "handovers": [
                {"at": _milliseconds(one.at), "to": one.to, "reason": one.reason} for one in self.handed_over
            ],
        }


def usage_as_json(usage: Usage) -> JsonObject:
    """Return tokens by kind."""
    return {kind: getattr(usage, kind) for kind in _KINDS}


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _ended(tool: ToolFacts, now: float, result: ToolResult) -> ToolFacts:
    duration = None if tool.began is None else now - tool.began
    return ToolFacts(name=tool.name, began=tool.began, duration=duration, is_error=result.is_error)


class TurnWatch:
    """Takes the times of one turn."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, wall_clock: Callable[[], float] = time.time
    ) -> None:
        """Begin to count; both clocks give seconds, and `wall_clock` those since the epoch."""
        self._clock = clock
        self._began_at = wall_clock()
        self._began = clock()
        self._ended: float | None = None
        self._first_words: float | None = None
        self._stop_reason: StopReason | None = None
        self._phases: list[PhaseTime] = []
        self._inferences: list[InferenceFacts] = []
        """Those that are over."""
        self._inferring_since: float | None = None
        """When the one began that is under way."""
        self._first_token: float | None = None
        """Seconds from then until it was answered first."""
        self._tools: dict[str, ToolFacts] = {}
        self._handed_over: list[HandoverFacts] = []
        self._iterations = 0
        self._error = ""
        self._told: TurnFacts | None = None
        """All there is to tell, once the turn is over."""

    @property
    def duration(self) -> float:
        """Seconds from the beginning to the end of the turn, or until now."""
        return self._clock() - self._began if self._ended is None else self._ended

    @property
    def facts(self) -> TurnFacts:
        """How the turn went so far."""
        if self._told is not None:
            return self._told
        facts = TurnFacts(
            began_at=self._began_at,
            duration=self.duration,
            first_words=self._first_words,
            stop_reason=self._stop_reason,
            phases=tuple(self._phases),
            inferences=self._all_inferences,
            tools=tuple(self._tools.values()),
            handovers=len(self._handed_over),
            handed_over=tuple(self._handed_over),
            iterations=self._iterations,
            error=self._error,
        )
        if self._ended is not None:
            self._told = facts
        return facts

    def add(self, event: TurnEvent) -> None:
        """Take in one event, as it happens."""
        self._told, now = None, self._clock() - self._began
        if self._inferring_since is not None and self._first_token is None and isinstance(event, _ANSWERS):
            self._first_token = now - self._inferring_since
        match event:
            case TextDelta() if self._first_words is None:
                self._first_words = now
            case PhaseEntered(phase):
                self._phases.append(PhaseTime(phase, now))
                self._inference_ended(now)
                self._inferring_since = now if phase is Phase.LLM_INFERENCE else None
                self._first_token = None
            case ToolCallReady(call):
                self._tools[call.id] = ToolFacts(name=call.name)
            case ProviderSwitched(provider, reason):
                self._handed_over.append(HandoverFacts(at=now, to=provider, reason=reason))
            case UsageReported(usage, answered_by):
                self._inference_ended(now, usage, answered_by)
            case ToolStarted(call):
                self._tools[call.id] = ToolFacts(name=call.name, began=now)
            case ToolFinished(result):
                self._tools[result.call_id] = _ended(self._tools[result.call_id], now, result)
            case TurnFinished(stop_reason, iterations=iterations, error=error):
                self._ended, self._stop_reason, self._iterations = now, stop_reason, iterations
                self._error = type(error).__name__ if error else ""
            case _:
                pass

    def _inference_ended(self, now: float, usage: Usage | None = None, answered_by: str = "") -> None:
        if (began := self._inferring_since) is None:
            return
        self._inferences.append(
            InferenceFacts(
                began=began, first_token=self._first_token, duration=now - began, usage=usage, answered_by=answered_by
            )
        )
        self._inferring_since = None

    @property
    def _all_inferences(self) -> tuple[InferenceFacts, ...]:
        if self._inferring_since is None:
            return tuple(self._inferences)
        return (*self._inferences, InferenceFacts(began=self._inferring_since, first_token=self._first_token))


def times_of(facts: TurnFacts) -> str:
    """Return how a turn went, a line for each request, tool and handover, in milliseconds."""
    turn = f"turn: {_ms(facts.duration)}, first words after {_ms(facts.first_words)}"
    requests = [f"request {number}: {_inference(inference)}" for number, inference in enumerate(facts.inferences, 1)]
    tools = [f"tool {tool.name}: {_tool(tool)}" for tool in facts.tools]
    handovers = [f"taken over by {one.to} at {_ms(one.at)}: {one.reason}" for one in facts.handed_over]
    end = f"end: {facts.stop_reason or 'interrupted'} {facts.error}".strip()
    return "\n".join((turn, *requests, *tools, *handovers, end))


def _inference(facts: InferenceFacts) -> str:
    first = f"{_ms(facts.duration)}, began at {_ms(facts.began)}, first token after {_ms(facts.first_token)}"
    usage = facts.usage
    if usage is None:
        return f"{first}, no answer"
    return f"{first}, {usage.input_tokens} tokens read, {usage.cached_tokens} cached, {usage.output_tokens} written"


def _tool(facts: ToolFacts) -> str:
    if facts.began is None:
        return "did not run"
    return f"{_ms(facts.duration)}, began at {_ms(facts.began)}" + (", error" if facts.is_error else "")


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.0f} ms"

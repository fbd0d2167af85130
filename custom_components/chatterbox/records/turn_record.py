"""The record of a turn: built once, while its events pass, and projected for everything that tells of the turn.

Projections: the data of bus events, numbers and times (`facts`), and the messages that are stored. `SIGNAL_TURN` hands
the finished record to usage, diagnostics and sensors.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from homeassistant.util.signal_type import SignalType

from ..agent.events import (
    AnswerWithheld,
    Phase,
    PhaseEntered,
    PromptReplaced,
    ProviderSwitched,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from ..agent.json.text import parse_json
from ..agent.messages import (
    Attachment,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
)
from ..agent.transcript import TranscriptRecorder
from ..const import DOMAIN
from .facts import TurnFacts, TurnWatch, usage_as_json

# Bytes of JSON; Home Assistant records up to 32,768 of an event.
_MAX_TEXT: Final = 2_000
_MAX_CALLS: Final = 12_000
_MOST_CALLS: Final = 40
"""Calls that are shown one by one; the first ones tell most."""
_MOST_BYTES: Final = 6
"""Of a character in JSON, such as one that is written as its number; numbers like 1e15 grow less when written out.

So a text that fits by that need not be written to know it, and neither need the JSON in it.
"""
NOTHING_SHOWN: Final = -1
"""In place of a number of bytes: of arguments and of a result nothing is shown, not even that they are empty."""
_CUT_OFF: Final = "interrupted"
"""Stop reason of a turn that did not come to an end of its own."""


def shown_arguments(call: ToolCall) -> JsonObject:
    """Parse what ran. A call that could not be understood has no arguments to show."""
    try:
        arguments = parse_json(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def shown_call(call: ToolCall, most: int) -> dict[str, JsonValue]:
    """Return the `name` and the `arguments` of a call, these in about so many bytes at most."""
    if most == NOTHING_SHOWN:
        return {"name": call.name, "arguments": {}}
    arguments = shown_arguments(call)
    if len(call.arguments) * _MOST_BYTES > most and _size(arguments) > most:
        arguments = {"cut": _cut(canonical_json(arguments), most)}
    return {"name": call.name, "arguments": arguments}


def shown_result(result: ToolResult, most: int) -> dict[str, JsonValue]:
    """Return the `result` of a call, in about so many bytes at most, and whether it `is_error`."""
    if most == NOTHING_SHOWN:
        return {"result": None, "is_error": result.is_error}
    content = _cut(result.content, most)
    return {"result": parsed_content(result) if content == result.content else content, "is_error": result.is_error}


def shown_text(text: str) -> str:
    """Return what somebody said, not all of it if that is long."""
    return _cut(text, _MAX_TEXT)


def _cut(text: str, most: int) -> str:
    if len(text) * _MOST_BYTES <= most:
        return text
    start = text[:most]
    fitting = bisect_right(range(len(start) + 1), most, key=lambda length: _size(start[:length])) - 1
    return text if fitting == len(text) else f"{start[:fitting]}…"


def _size(value: JsonValue) -> int:
    """Return the bytes that a value takes, without the quotes around a text."""
    written = len(canonical_json(value).encode("utf-8", "surrogatepass"))
    return written - 2 if isinstance(value, str) else written


def parsed_content(result: ToolResult) -> JsonValue:
    """Return what a tool answered, as JSON if it is that."""
    try:
        return parse_json(result.content)
    except ValueError:
        return result.content


@dataclass(slots=True)
class TurnRecord:
    """The record of one turn, complete when the turn is over."""

    input: str
    """The words of the turn, as far as they may be known."""
    agent: str = ""
    """Subentry id of the agent."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict)
    """What tells the turn from others; see `turns/events.py`."""
    is_stored: bool = True
    """Whether its words may be stored and shown; numbers may be in any case."""
    context: str = ""
    """What held when it was said; see `UserMessage`."""
    attachments: tuple[Attachment, ...] = ()
    """What was shown with it."""
    brought: Transcript = ()
    """Messages that the source of the turn adds before the words, such as results of a client's tools."""
    recorder: TranscriptRecorder = field(default_factory=TranscriptRecorder)
    """What came of it so far, as messages."""
    phases: list[Phase] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: list[ToolResult] = field(default_factory=list)
    handovers: list[ProviderSwitched] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    finished: TurnFinished | None = None
    _accepted: bool = False
    """Whether all hooks have let the words pass; until then nobody else hears of them."""
    _watch: TurnWatch = field(default_factory=TurnWatch)

    def add(self, event: TurnEvent) -> None:
        """Take in one event."""
        self._watch.add(event)
        self.recorder.add(event)
        if not self._accepted:
            self._accepted = not (isinstance(event, PhaseEntered) and event.phase is Phase.RECEIVE_INPUT)
        match event:
            case TextDelta() | ReasoningDelta():
                pass
            case PromptReplaced():
                self.input = event.text
            case PhaseEntered():
                self.phases.append(event.phase)
            case ToolCallReady():
                self.calls[event.call.id] = event.call
            case ToolFinished():
                self.results.append(event.result)
            case AnswerWithheld():
                self.withheld.append(event.text)
            case ProviderSwitched():
                self.handovers.append(event)
            case TurnFinished():
                self.finished = event
            case _:
                pass

    @property
    def said(self) -> UserMessage | None:
        """What was said; None where nothing was, or what an owner's script has refused."""
        is_denied = self.finished is not None and self.finished.stop_reason is StopReason.PROMPT_DENIED
        if is_denied or not self._accepted or not self.input:
            return None
        return UserMessage(self.input, self.attachments, self.context)

    @property
    def messages(self) -> Transcript:
        """What the turn adds to its conversation; calls that are a client's to run have no result yet."""
        came_of_it: Transcript = self.recorder.interrupted()
        if self.finished and self.finished.client_calls:
            handed_out = {call.id for call in self.finished.client_calls}
            came_of_it = tuple(
                message
                for message in came_of_it
                if not (isinstance(message, ToolResult) and message.call_id in handed_out)
            )
        said = self.said
        return (*self.brought, said, *came_of_it) if said else (*self.brought, *came_of_it)

    @property
    def duration(self) -> float:
        """Seconds from the person's words to the end of the answer, or until now."""
        return self._watch.duration

    @property
    def facts(self) -> TurnFacts:
        """How the turn went, in numbers; so far, while it runs."""
        return self._watch.facts

    def as_event_data(self, *, tells_words: bool = True) -> dict[str, JsonValue]:
        """Return the turn as the data of a Home Assistant event.

        Long texts, arguments and results are cut, so that Home Assistant can record the event; without `tells_words`
        they are empty.
        `input`, `phases`, `tool_calls` (`name`, `arguments`, `result`, `is_error`), `more_tool_calls` (how many
        were left out), `speech`, `withheld` (what the model claimed to have done, and nobody heard), `handovers` (`to`,
        `reason`) where the agent's own model did not answer, `stop_reason` (`interrupted` when it was cut off), `usage`
        (tokens by kind), `iterations`, `duration_ms`.
        """
        finished = self.finished
        share = _MAX_CALLS // min(max(len(self.results), 1), _MOST_CALLS) // 2 if tells_words else NOTHING_SHOWN
        return {
            "input": shown_text(self.input) if self._accepted and tells_words else "",
            "phases": [*map(str, self.phases)],
            "tool_calls": [self._call_data(result, share) for result in self.results[:_MOST_CALLS]],
            "more_tool_calls": max(len(self.results) - _MOST_CALLS, 0),
            "speech": shown_text(finished.text) if finished and tells_words else "",
            "withheld": shown_text("\n".join(self.withheld)) if tells_words else "",
            "handovers": [{"to": handover.provider, "reason": handover.reason} for handover in self.handovers],
            "stop_reason": str(finished.stop_reason) if finished else _CUT_OFF,
            "usage": usage_as_json(finished.usage) if finished else None,
            "iterations": finished.iterations if finished else None,
            "duration_ms": round(self.duration * 1000, 1),
        }

    def _call_data(self, result: ToolResult, share: int) -> dict[str, JsonValue]:
        return shown_call(self.calls[result.call_id], share) | shown_result(result, share)


SIGNAL_TURN: Final[SignalType[TurnRecord]] = SignalType(f"{DOMAIN}_turn")
"""Sent once for each turn, also for one that was cut off."""

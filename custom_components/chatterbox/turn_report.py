"""What a turn did, as others in the house may want to know it.

Folded from the events of a turn. Knows nothing of Home Assistant: what it returns is plain
JSON, for the event bus, for traces and for people who look.
"""

import time
from dataclasses import asdict, dataclass, field
from typing import Final

from .agent.events import (
    ClaimWithheld,
    Phase,
    PhaseEntered,
    ProviderSwitched,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from .agent.json_text import parse_json
from .agent.messages import JsonObject, JsonValue, ToolCall, ToolResult, canonical_json

_MAX_TEXT: Final = 2_000
_MAX_CALLS: Final = 16_000
"""Characters that the calls of a turn may take in an event; Home Assistant records up to 32,768 bytes."""


def shown_arguments(call: ToolCall) -> JsonObject:
    """Parse what ran. A call that could not be understood has no arguments to show."""
    arguments = _parsed(call.arguments)
    return arguments if isinstance(arguments, dict) else {}


def _parsed(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except ValueError:
        return text


@dataclass(slots=True)
class TurnReport:
    """What a turn did, as others in the house may want to know it."""

    input: str
    phases: list[Phase] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: list[ToolResult] = field(default_factory=list)
    handovers: list[ProviderSwitched] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    finished: TurnFinished | None = None
    _began: float = field(default_factory=time.monotonic)
    _ended: float | None = None

    def add(self, event: TurnEvent) -> None:
        """Take in one event."""
        match event:
            case PhaseEntered():
                self.phases.append(event.phase)
            case ToolCallReady():
                self.calls[event.call.id] = event.call
            case ToolFinished():
                self.results.append(event.result)
            case ClaimWithheld():
                self.withheld.append(event.text)
            case ProviderSwitched():
                self.handovers.append(event)
            case TurnFinished():
                self.finished = event
                self._ended = time.monotonic()
            case _:
                pass

    @property
    def duration(self) -> float:
        """Seconds from the person's words to the end of the answer, or until now."""
        return (time.monotonic() if self._ended is None else self._ended) - self._began

    def as_event_data(self) -> dict[str, JsonValue]:
        """Return the turn as the data of a Home Assistant event.

        Long texts, arguments and results are cut, so that Home Assistant can record the event.
        `input`, `phases`, `tool_calls` (`name`, `arguments`, `result`, `is_error`), `speech`, `withheld` (what the
        model claimed to have done, and nobody heard), `handovers` (`to`, `reason`) where the agent's own model did not
        answer, `stop_reason`, `usage` (tokens by kind), `iterations`, `duration_ms`.
        """
        finished = self.finished
        return {
            "input": _cut(self.input, _MAX_TEXT),
            "phases": [phase.value for phase in self.phases],
            "tool_calls": [self._call_data(result) for result in self.results],
            "speech": _cut(finished.text, _MAX_TEXT) if finished else "",
            "withheld": _cut("\n".join(self.withheld), _MAX_TEXT),
            "handovers": [{"to": handover.provider, "reason": handover.reason} for handover in self.handovers],
            "stop_reason": finished.stop_reason.value if finished else None,
            "usage": asdict(finished.usage) if finished else None,
            "iterations": finished.iterations if finished else None,
            "duration_ms": round(self.duration * 1000, 1),
        }

    def _call_data(self, result: ToolResult) -> dict[str, JsonValue]:
        call = self.calls.get(result.call_id)
        share = _MAX_CALLS // max(len(self.results), 1) // 2
        arguments = shown_arguments(call) if call else {}
        written = canonical_json(arguments)
        return {
            "name": result.name,
            "arguments": arguments if len(written) <= share else {"cut": _cut(written, share)},
            "result": _parsed(result.content) if len(result.content) <= share else _cut(result.content, share),
            "is_error": result.is_error,
        }


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"

"""The output of the demo about turns and states: text for people, or one JSON object a line for machines.

Knows reports and states; must not know where they come from or where the lines go.
"""

import contextlib
import json
from collections.abc import Iterator

from pydantic import JsonValue

from demo.conversation import CallReport, TurnReport
from demo.home import State

_JSON_KEYS = {
    "input",
    "phases",
    "tool_calls",
    "speech",
    "stop_reason",
    "usage",
    "duration_ms",
}
_RESULT_CHARACTERS = 160
"""A longer tool result is cut for people; JSON has all of it."""
_STEPS = {
    "RECEIVE_INPUT": "heard",
    "LLM_INFERENCE": "thought",
    "TOOL_DECISION": "decided",
    "TOOL_EXECUTION": "ran tools",
    "RESULT_AGGREGATION": "collected results",
    "APPROVAL_INTERRUPT": "asked for a yes",
    "CLIENT_INTERRUPT": "handed back to the caller",
    "RESPONSE_COMPOSITION": "composed",
    "OUTPUT": "answered",
}


def turn_as_json(turn: TurnReport) -> str:
    """Return one line of JSON."""
    return turn.model_dump_json(include=_JSON_KEYS)


def state_as_json(state: State) -> str:
    """Return one line of JSON."""
    return state.model_dump_json()


def turn_as_text(turn: TurnReport, price: float | None = None) -> str:
    """Return the walk of a turn as a person would like to read it, with its price in US dollars."""
    return "\n".join(_turn_lines(turn, price))


def state_as_text(state: State) -> str:
    """Return the state, and the attributes that change with it."""
    name = state.attributes.get("friendly_name", state.entity_id)
    return f"{state.entity_id} is {state.state} ({name})"


def _turn_lines(turn: TurnReport, price: float | None) -> Iterator[str]:
    yield f"You         {turn.input}"
    yield f"  walk      {' → '.join(_STEPS.get(phase, phase) for phase in turn.phases)}"
    for handover in turn.handovers:
        yield f"  model     {handover.reason}; {handover.to} took over"
    for call in turn.tool_calls:
        yield f"  tool      {_call_as_text(call)}"
        yield f"    {'failed' if call.is_error else 'gave  '}  {_shortened(_result_as_text(call.result))}"
    yield f"  end       {_end_as_text(turn)}{'' if price is None else f', ${price:.5f}'}"
    yield f"Chatterbox  {turn.speech}"


def _call_as_text(call: CallReport) -> str:
    match call.arguments:
        case dict() as arguments:
            return f"{call.name}({_in_words(arguments)})"
        case other:
            return f"{call.name}({_in_words(other)})"


def _result_as_text(result: JsonValue) -> str:
    """Return the names that an intent has reached, the text of a tool that gives one, or all values."""
    with contextlib.suppress(ValueError):
        result = json.loads(result) if isinstance(result, str) else result
    match result:
        case {
            "response_type": kind,
            "data": {"success": [*_] as reached, "failed": [*_] as failed},
        } if reached or failed:
            verb = "done" if kind == "action_done" else "looked at"
            names = [f"{len(reached)} {verb}: {_names(reached)}"] if reached else []
            names += [f"{len(failed)} failed: {_names(failed)}"] if failed else []
            return "; ".join(names)
        case {"result": str(text)}:
            return " ".join(text.split())
        case _:
            return _in_words(result)


def _names(targets: list[JsonValue]) -> str:
    return ", ".join(
        str(target.get("name")) if isinstance(target, dict) else str(target)
        for target in targets
    )


def _end_as_text(turn: TurnReport) -> str:
    parts = [
        turn.stop_reason.replace("_", " "),
        f"{turn.duration_ms:.0f} ms",
        _counted(turn.iterations, "inference"),
    ]
    parts += [
        f"{count} {kind.replace('_', ' ')}"
        for kind, count in turn.usage.items()
        if count
    ]
    return ", ".join(parts)


def _counted(count: int, target: str) -> str:
    return f"{count} {target}{'' if count == 1 else 's'}"


def _in_words(value: JsonValue) -> str:
    """Return names with their values, without the marks of JSON; an empty value is left out."""
    match value:
        case dict():
            parts = {name: _in_words(part) for name, part in value.items()}
            return ", ".join(f"{name}: {part}" for name, part in parts.items() if part)
        case list():
            return ", ".join(filter(None, map(_in_words, value)))
        case None:
            return ""
        case _:
            return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _RESULT_CHARACTERS else f"{text[:_RESULT_CHARACTERS]}…"

"""Every call has exactly one result, wherever in a conversation the two stand.

Knows calls and outputs by their ids. Must not know what they say.
"""

from collections.abc import Sequence
from typing import Final

from ..messages import AssistantMessage, JsonObject, ToolResult, Transcript
from ..transcript import open_calls
from .errors import invalid
from .items.calls import CUT_OFF, called_by
from .items.shapes import shown_call_id

_INPUT: Final = "input"


def check_pairs(history: Transcript, items: Sequence[JsonObject]) -> None:
    """See to it that every call of what was said and of the input has exactly one result, wherever it stands.

    A call that was cut off needs none. Raises `ApiError`.
    """
    answered = {shown_call_id(message.call_id) for message in history if isinstance(message, ToolResult)}
    waiting = _waiting(history, items)
    for index, item in enumerate(items):
        if item["type"] != "function_call_output":
            continue
        call_id, place = str(item["call_id"]), f"{_INPUT}[{index}].call_id"
        if call_id in answered:
            raise invalid(f"There is more than one output of the function call with call_id {call_id}.", place)
        if call_id not in waiting:
            raise invalid(f"No tool call found for function call output with call_id {call_id}.", _INPUT)
        answered.add(call_id)
    for call_id, needs_output in waiting.items():
        if needs_output and call_id not in answered:
            raise invalid(f"No tool output found for function call {call_id}.", _INPUT)


def _waiting(history: Transcript, items: Sequence[JsonObject]) -> dict[str, bool]:
    """Return the calls that may have an output in the input, and whether they need one."""
    messages = (message for message in history if isinstance(message, AssistantMessage))
    known = {shown_call_id(call.id) for message in messages for call in message.tool_calls}
    waiting = {shown_call_id(call.id): True for call in open_calls(history)}
    for index, item in enumerate(items):
        if (call_id := called_by(item)) is None:
            continue
        if call_id in known:
            raise invalid(f"There is more than one call with the call_id {call_id}.", f"{_INPUT}[{index}]")
        known.add(call_id)
        if item["type"] == "function_call":
            waiting[call_id] = item.get("status") != CUT_OFF
    return waiting

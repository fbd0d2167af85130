"""The `input` of a request: completed, checked, and translated into messages. Errors name items by their index."""

from collections.abc import Sequence
from typing import Final

from ...agent.messages import AssistantMessage, JsonObject, JsonValue, ToolResult, Transcript
from ...agent.transcript import open_calls
from .errors import ApiError, invalid
from .ids import NewId
from .items.encrypted_content import ContentCodec
from .items.parts import InvalidItem
from .items.reading import ParsedItems, parse_items, transcript_call_id
from .items.schema import CUT_OFF, complete_item, path_within, shown_call_id

_INPUT: Final = "input"
_MAX_ITEMS: Final = 2048
_MAX_PARTS: Final = 4096
"""Of all items together."""


def read_input(value: JsonValue, new_id: NewId) -> tuple[JsonObject, ...]:
    """Return the input as complete items; a string is one user message. Raises `ApiError`."""
    match value:
        case None:
            return ()
        case str():
            return (complete_item({"role": "user", "content": value}, new_id),)
        case list():
            _check_size(value)
            items = tuple(_completed(item, index, new_id) for index, item in enumerate(value))
            _check_unique(items)
            return items
        case _:
            raise invalid("The input has to be a string or a list of items.", _INPUT)


def parse_input(items: Sequence[JsonObject], codec: ContentCodec, history: Transcript = ()) -> ParsedItems:
    """Translate items whose references are resolved. Raises `ApiError`, also where calls and outputs do not match."""
    _check_outputs(history, items)
    try:
        return parse_items(items, codec, history)
    except InvalidItem as err:
        raise _at(err, _INPUT) from None


def _completed(item: JsonValue, index: int, new_id: NewId) -> JsonObject:
    try:
        return complete_item(item, new_id)
    except InvalidItem as err:
        raise _at(err, f"{_INPUT}[{index}]") from None


def _at(err: InvalidItem, place: str) -> ApiError:
    param = path_within(place, err.path)
    return invalid(f"Invalid value for '{param}': {err.message}", param, "invalid_value")


def _check_size(items: Sequence[JsonValue]) -> None:
    if len(items) > _MAX_ITEMS:
        raise invalid(f"There are more than {_MAX_ITEMS} items. Continue an earlier response instead.", _INPUT)
    contents = [item.get("content", item.get("output")) for item in items if isinstance(item, dict)]
    if sum(len(content) for content in contents if isinstance(content, list)) > _MAX_PARTS:
        raise invalid(f"The items have more than {_MAX_PARTS} parts together. Send fewer and longer ones.", _INPUT)


def _check_unique(items: tuple[JsonObject, ...]) -> None:
    """Refuse two items with one id, and two answers to one approval request."""
    ids, answered = set[str](), set[str]()
    for index, item in enumerate(items):
        place = f"{_INPUT}[{index}]"
        if (item_id := str(item["id"])) in ids:
            raise invalid(
                f"Duplicate item found with id {item_id}. Give each item an id of its own, or none.", f"{place}.id"
            )
        ids.add(item_id)
        if item["type"] == "mcp_approval_response":
            if (request_id := str(item["approval_request_id"])) in answered:
                text, code = f"The approval request {request_id} is answered twice.", "approval_continuation_invalid"
                raise invalid(text, f"{place}.approval_request_id", code)
            answered.add(request_id)


def _check_outputs(history: Transcript, items: Sequence[JsonObject]) -> None:
    """Check that every function call of the history and the input has one output; one that was cut off needs none."""
    answered = {shown_call_id(message.call_id) for message in history if isinstance(message, ToolResult)}
    waiting = _waiting_calls(history, items)
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


def _waiting_calls(history: Transcript, items: Sequence[JsonObject]) -> dict[str, bool]:
    """Return the ids of calls that may have an output in the input, and whether each needs one."""
    messages = (message for message in history if isinstance(message, AssistantMessage))
    known = {shown_call_id(call.id) for message in messages for call in message.tool_calls}
    waiting = {shown_call_id(call.id): True for call in open_calls(history)}
    for index, item in enumerate(items):
        if (call_id := transcript_call_id(item)) is None:
            continue
        if call_id in known:
            raise invalid(f"There is more than one call with the call_id {call_id}.", f"{_INPUT}[{index}]")
        known.add(call_id)
        if item["type"] == "function_call":
            waiting[call_id] = item.get("status") != CUT_OFF
    return waiting

"""The input of a request: from JSON to complete items, every call among them with its result.

Knows items by their place in a request, which its errors name. What may be in them stands in
`wire/response_item_schema.py`. Must not know stores: who has earlier items hands them in.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from ..messages import AssistantMessage, JsonObject, JsonValue, ToolResult, Transcript
from ..transcript import open_calls
from ..wire.response_item_schema import complete_item
from ..wire.response_items import MCP_CALL, Translated, to_transcript
from ..wire.response_parts import MAX_TEXT, UnusableItem
from ..wire.sealed_content import Seal
from .api_errors import ApiError, ErrorType, invalid

type NewId = Callable[[str], str]
"""Makes up an id from its prefix, such as `msg`."""

_INPUT: Final = "input"


def read_input(value: JsonValue, new_id: NewId) -> tuple[JsonObject, ...]:
    """Return the input as complete items; a text is one message of the user, null is nothing. Raises `ApiError`."""
    match value:
        case None:
            return ()
        case str() if len(value) > MAX_TEXT:
            raise invalid(f"The input is longer than {MAX_TEXT} characters.", _INPUT)
        case str():
            return (complete_item({"role": "user", "content": value}, new_id),)
        case list():
            return _unique(tuple(_read(item, index, new_id) for index, item in enumerate(value)))
        case _:
            raise invalid("The input has to be a text or a list of items.", _INPUT)


def references(items: Sequence[JsonObject]) -> tuple[str, ...]:
    """Return the ids of earlier items that stand in the input by their id alone."""
    return tuple(str(item["id"]) for item in items if item["type"] == "item_reference")


def with_references(items: Sequence[JsonObject], found: Mapping[str, JsonObject]) -> tuple[JsonObject, ...]:
    """Return the input with earlier items in place of references to them. Raises `ApiError` for one that is missing."""
    resolved: list[JsonObject] = []
    for index, item in enumerate(items):
        if item["type"] != "item_reference":
            resolved.append(item)
        elif (earlier := found.get(str(item["id"]))) is not None:
            resolved.append(earlier)
        else:
            text, place = f"Item with id '{item['id']}' not found.", f"{_INPUT}[{index}].id"
            raise ApiError(text, status=404, kind=ErrorType.NOT_FOUND, code="item_not_found", param=place)
    return tuple(resolved)


def check_pairs(history: Transcript, items: Sequence[JsonObject]) -> None:
    """See to it that every call of what was said and of the input has exactly one result, wherever it stands.

    A call that was cut off needs none. Raises `ApiError`.
    """
    known = {call.id for message in history if isinstance(message, AssistantMessage) for call in message.tool_calls}
    answered = {message.call_id for message in history if isinstance(message, ToolResult)}
    waiting = {call.id: True for call in open_calls(history)}
    for index, call_id, is_cut in _calls(items):
        if call_id in known:
            raise invalid(f"There is more than one call with the call_id {call_id}.", f"{_INPUT}[{index}].call_id")
        known.add(call_id)
        waiting[call_id] = not is_cut
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


def translate_input(items: Sequence[JsonObject], seal: Seal, history: Transcript = ()) -> Translated:
    """Return what the input says, its pairs checked against what was said before. Raises `ApiError`.

    References have to be resolved.
    """
    check_pairs(history, items)
    try:
        return to_transcript(items, seal, history)
    except UnusableItem as err:
        raise _at(err, _INPUT) from None


def _read(item: JsonValue, index: int, new_id: NewId) -> JsonObject:
    try:
        return complete_item(item, new_id)
    except UnusableItem as err:
        raise _at(err, f"{_INPUT}[{index}]") from None


def _at(err: UnusableItem, place: str) -> ApiError:
    param = f"{place}{'' if err.path[:1] in ('', '[') else '.'}{err.path}"
    return invalid(f"Invalid value for '{param}': {err.message}", param, "invalid_value")


def _unique(items: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Refuse what stands there twice: two items of one id, two answers to one question."""
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
    return items


def _calls(items: Sequence[JsonObject]) -> Iterator[tuple[int, str, bool]]:
    """Yield the calls of the input: the place, the id, and whether it needs no output of its own."""
    for index, item in enumerate(items):
        match item:
            case {"type": "function_call", "call_id": str(call_id)}:
                yield index, call_id, item.get("status") == "incomplete"
            case {"type": "mcp_call", "id": str(item_id)}:
                yield index, item_id if item_id.startswith(MCP_CALL) else f"{MCP_CALL}{item_id}", True
            case _:
                pass

"""The input of a request: from JSON to complete items, and on to what they say.

Knows items by their place in a request, which its errors name. What may be in them stands in
`agent/responses/items/schema.py`. Must not know stores: who has earlier items hands them in.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ..messages import JsonObject, JsonValue, Transcript
from .errors import ApiError, ErrorType, invalid
from .item_pairs import check_pairs
from .items.parts import MAX_TEXT, UnusableItem
from .items.reading import Translated, to_transcript
from .items.schema import NewId, complete_item, path_within
from .items.sealed_content import Seal

_INPUT: Final = "input"
_MAX_ITEMS: Final = 2048
_MAX_PARTS: Final = 4096
"""Of all items together. Far more than people write, and few enough to be read at once."""


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
            _check_size(value)
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


def _check_size(items: Sequence[JsonValue]) -> None:
    if len(items) > _MAX_ITEMS:
        raise invalid(f"There are more than {_MAX_ITEMS} items. Go on from an earlier response instead.", _INPUT)
    contents = [item.get("content", item.get("output")) for item in items if isinstance(item, dict)]
    if sum(len(content) for content in contents if isinstance(content, list)) > _MAX_PARTS:
        raise invalid(f"The items have more than {_MAX_PARTS} parts together. Send fewer and longer ones.", _INPUT)


def _at(err: UnusableItem, place: str) -> ApiError:
    param = path_within(place, err.path)
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

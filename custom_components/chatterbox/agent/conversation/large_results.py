"""Shortens tool results that are too large for a model, with a note how to ask for less.

The output is deterministic, because services cache prompts. JSON stays JSON: lists are cut between items, texts between
lines. Only requests are shortened; stored results stay whole.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import accumulate, islice, takewhile
from json import dumps
from typing import Final
from weakref import WeakKeyDictionary

from ..json.text import parse_json
from ..messages import JsonObject, JsonValue, Message, ToolDefinition, ToolResult
from ..protocols import CompletionRequest
from ..text import ELLIPSIS
from .token_estimate import TokenEstimate

SHARE_OF_WINDOW: Final = 4
"""The window divided by this is the limit of one result."""
MOST_TOKENS: Final = 12_000
"""Limit of one result in any window: some 40,000 characters, which every later inference reads again."""

_LEAST_ROOM: Final = 100
"""Characters below which a value is replaced by an ellipsis."""
_MARK_LENGTH: Final = 60
"""Characters of the note for items that were left out."""
_AS_COUNTED: Final = TokenEstimate()
"""Not the model's own scale: every correction of it would cut all results anew."""


class LargeResults:
    """Shortens the results in the requests to one model. Safe for concurrent turns."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: WeakKeyDictionary[ToolResult, tuple[int, str, ToolResult | None]] = WeakKeyDictionary()
        """Limit, hint and shortened message by result: the next window compares messages by identity."""

    def without(self, request: CompletionRequest, window: int) -> CompletionRequest:
        """Return a request whose results are short enough for a `window` of tokens; the same object where they are.

        Results of client tools stay whole in a conversation that may not be shortened.
        """
        most = min(window // SHARE_OF_WINDOW, MOST_TOKENS)
        # A character rarely takes more than a token, so that most results need not be measured.
        results = [message for message in request.transcript if isinstance(message, ToolResult)]
        if not [result for result in results if len(result.content) > most]:
            return request
        tools = {tool.name: tool for tool in request.tools}

        def read(message: Message) -> Message:
            if not isinstance(message, ToolResult) or len(message.content) <= most:
                return message
            tool = tools.get(message.name)
            is_clients = tool is None or tool.client
            if is_clients and not request.may_be_shortened:
                return message
            return self._shortened(message, most, _how_to_narrow(tool))

        return replace(request, transcript=tuple(map(read, request.transcript)))

    def _shortened(self, result: ToolResult, most: int, how: str) -> ToolResult:
        known = self._known.get(result)
        if known is None or known[:2] != (most, how):
            tokens = _AS_COUNTED.of_text(result.content)
            length = len(result.content) * most // max(tokens, 1)
            content = shortened_result(result.content, length, how)
            known = most, how, replace(result, content=content) if tokens > most else None
            self._known[result] = known
        return known[2] or result


def _how_to_narrow(tool: ToolDefinition | None) -> str:
    """Return the hint how to call a tool for less; empty for a tool without parameters."""
    properties = tool.parameters.get("properties") if tool else None
    if tool is None or not isinstance(properties, dict) or not properties:
        return ""
    return f"To read more, call {tool.name} again for less at once; it takes: {', '.join(sorted(properties))}."


def shortened_result(content: str, length: int, how: str = "") -> str:
    """Return at most `length` characters of a result, with a note that it was shortened and `how` to get the rest.

    `length` has to leave room for the note and 300 characters.
    """
    if len(content) <= length:
        return content
    try:
        value = parse_json(content)
    except ValueError:
        return _beginning(content, length, len, how)
    told = f"This is not all: of {len(content)} characters, only as many are shown as there is room for. {how}".strip()
    frame: JsonObject = {"left_out": told, "result": ""}
    return _written(frame | {"result": _fitting(value, length - len(_written(frame)) + 2)})


def _written(value: JsonValue) -> str:
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


def _length_in_json(text: str) -> int:
    return len(_written(text)) - 2


def _fitting(value: JsonValue, room: int) -> JsonValue:
    """Return the part of a value that fits into `room` characters of JSON."""
    size = len(_written(value))
    if size <= room:
        return value
    if room < _LEAST_ROOM:
        return ELLIPSIS
    match value:
        case str():
            inner = _fitting_json(value, room * len(value) // size)
            fits = inner and _length_in_json(inner) <= room - 2
            return inner if fits else _beginning(value, room - 2, _length_in_json)
        case list():
            return _first_items(value, room)
        case dict():
            return _fitting_entries(value, room)
        case _:
            return ELLIPSIS


def _fitting_json(text: str, room: int) -> str:
    """Return what fits of JSON inside a text, as MCP tools write it; empty for other texts."""
    if not text.startswith(("{", "[")):
        return ""
    try:
        # Marks have more quotation marks than what they stand for, and each takes two characters there.
        return _written(_fitting(parse_json(text), room * 3 // 4))
    except ValueError:
        return ""


def _first_items(items: list[JsonValue], room: int) -> list[JsonValue]:
    room -= _MARK_LENGTH
    kept = items[: _count_within(room, (len(_written(item)) + 1 for item in items))] or [_fitting(items[0], room)]
    return [*kept, f"{ELLIPSIS} {len(items) - len(kept)} more of {len(items)}"]


def _fitting_entries(entries: JsonObject, room: int) -> JsonObject:
    """Return an object with small values whole and large ones sharing the rest, or its first entries."""
    names = sum(map(_length_of_name, entries))
    if room - names < len(entries) * _LEAST_ROOM:
        return _first_entries(entries, room - _MARK_LENGTH)
    room -= names + 2
    sizes = {key: len(_written(value)) for key, value in entries.items()}
    shown: JsonObject = dict(entries)
    for left, key in zip(range(len(sizes), 0, -1), sorted(sizes, key=sizes.__getitem__), strict=True):
        share = room // left
        shown[key] = _fitting(entries[key], share)
        room -= min(sizes[key], share)
    return shown


def _first_entries(entries: JsonObject, room: int) -> JsonObject:
    count = _count_within(room, (_length_of_name(key) + len(_written(value)) for key, value in entries.items()))
    kept = dict(islice(entries.items(), count))
    first = next(iter(entries))
    if not kept and (left := room - _length_of_name(first)) > 0:
        kept[first] = _fitting(entries[first], left)
    return {**kept, ELLIPSIS: f"{len(entries) - len(kept)} more of {len(entries)}"}


def _length_of_name(key: str) -> int:
    return len(_written(key)) + len(":,")


def _beginning(text: str, room: int, length_of: Callable[[str], int], how: str = "") -> str:
    """Return the first lines of a text and the number of the others. Indented lines stay with the line before."""
    lines = text.splitlines(keepends=True)
    kept = _count_within(room - length_of(_mark(len(lines), f"of {len(lines)} lines", how)), map(length_of, lines))
    kept = next((index for index in range(kept, kept // 2, -1) if not lines[index][:1].isspace()), kept)
    if kept:
        return "".join(lines[:kept]) + _mark(len(lines) - kept, f"of {len(lines)} lines", how)
    room -= length_of(_mark(len(text), "characters", how))
    kept = bisect_right(range(max(room, 0)), room, key=lambda count: length_of(text[:count])) - 1
    return text[: max(kept, 0)] + _mark(len(text) - max(kept, 0), "characters", how)


def _count_within(room: int, sizes: Iterable[int]) -> int:
    """Return how many of the first sizes fit into `room` together."""
    return sum(1 for _ in takewhile(room.__ge__, accumulate(sizes)))


def _mark(left: int, of_what: str, how: str) -> str:
    return f"[{ELLIPSIS} {left} {of_what} were left out here to save room. {how}".strip() + "]"

"""The part of a conversation that is sent to a model, within a token budget.

Deterministic: services cache the beginning of a prompt, so the window must not move
with every turn. It is computed from the beginning of the conversation: whenever the
window outgrows the budget, it drops to half of it at once, and then grows for many
turns. Dropped messages stay dropped. Earlier turns can have a budget of their own, so
that a long result of the current turn is not shortened for their sake.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise, starmap, takewhile
from json import dumps
from typing import Final
from weakref import WeakKeyDictionary

from ..json.text import as_object, parse_json
from ..messages import (
    JsonObject,
    JsonValue,
    Message,
    Summary,
    ToolDefinition,
    ToolResult,
    Transcript,
    UserMessage,
)
from ..protocols import CompletionRequest
from ..text import ELLIPSIS, shortened
from .summary import recap
from .token_estimate import TokenEstimate

SHARE_OF_WINDOW: Final = 4
"""The window divided by this is the limit of one result."""
MOST_TOKENS: Final = 12_000
"""Limit of one result in any window: some 40,000 characters, which every later inference reads again."""

_LONG: Final = 2_000
"""Characters up to which a result stays as it is in later turns."""
OLD_RESULT_LENGTH: Final = 1_000
"""Characters kept of a longer one, and of any where room is needed."""
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
        self._known: WeakKeyDictionary[
            ToolResult, dict[tuple[int | None, str], ToolResult | None]
        ] = WeakKeyDictionary()
        """Shortened messages by result, limit and hint: a conversation is sent many times, a result is cut once."""

    def without(
        self,
        request: CompletionRequest,
        window: int,
    ) -> CompletionRequest:
        """Return a request whose results are short enough for a `window` of tokens; the same object where they are.

        Long results of earlier turns are short, wherever there is room: they would be
        read again in each turn. Where a conversation may not be shortened, they and the
        results of client tools stay whole.
        """
        most = min(window // SHARE_OF_WINDOW, MOST_TOKENS)
        # A character rarely takes more than a token, so that most results need not be
        # measured.
        least = min(most, _LONG)
        if not any(
            isinstance(message, ToolResult) and len(message.content) > least
            for message in request.transcript
        ):
            return request
        tools = {tool.name: tool for tool in request.tools}
        may_be_shortened = request.may_be_shortened
        if may_be_shortened:
            now = _turn_begin(
                request.transcript,
                len(request.transcript),
            )
        else:
            now = 0

        def read(index: int, message: Message) -> Message:
            if not isinstance(message, ToolResult) or len(message.content) <= least:
                return message
            tool = tools.get(message.name)
            is_long = len(message.content) > _LONG
            if is_long and index < now and not (tool and tool.client):
                return self._shortened(
                    message,
                    None,
                    _how_to_repeat(tool),
                )
            if (tool is None or tool.client) and not may_be_shortened:
                return message
            return self._shortened(message, most, _how_to_narrow(tool))

        transcript = tuple(starmap(read, enumerate(request.transcript)))
        return replace(request, transcript=transcript)

    def _shortened(
        self,
        result: ToolResult,
        most: int | None,
        how: str,
    ) -> ToolResult:
        """Return a result of at most `most` tokens; the short form of an earlier one for None."""
        known = self._known.setdefault(result, {})
        if (most, how) not in known:
            length = OLD_RESULT_LENGTH
            if most is not None:
                tokens = _AS_COUNTED.of_text(result.content)
                length = len(result.content) * most // max(tokens, most)
            content = shortened_result(
                result.content,
                length,
                how,
            )
            is_whole = content == result.content
            known[most, how] = None if is_whole else replace(result, content=content)
        return known[most, how] or result


def _how_to_repeat(tool: ToolDefinition | None) -> str:
    """Return the hint to call a tool again; empty for one that changes something."""
    is_read = tool is not None and tool.annotations.read_only
    if tool and is_read:
        return f"To read it all, call {tool.name} again."
    return ""


def _how_to_narrow(tool: ToolDefinition | None) -> str:
    """Return the hint how to call a tool for less; empty for a tool without parameters."""
    if tool is None:
        return ""
    properties = as_object(tool.parameters.get("properties"))
    if not properties:
        return ""
    return f"To read more, call {tool.name} again for less at once; it takes: {', '.join(sorted(properties))}."


def shortened_result(
    content: str,
    length: int,
    how: str = "",
) -> str:
    """Return at most `length` characters of a result, with a note that it was shortened and `how` to get the rest.

    `length` has to leave room for the note and 300 characters.
    """
    if len(content) <= length:
        return content
    try:
        value = parse_json(content)
    except ValueError:
        return _first_lines(
            content,
            length,
            len,
            how,
        )
    note = f"This is not all: of {len(content)} characters, some were left out to save room. {how}".strip()
    frame: JsonObject = {
        "left_out": note,
        "result": "",
    }
    return _written(
        frame | {"result": _fitting(value, length - len(_written(frame)) + 2)}
    )


def _written(value: JsonValue) -> str:
    return dumps(
        value,
        ensure_ascii=False,
        separators=(",", ":"),
    )


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
            inner = _fitting_json(
                value,
                room * len(value) // size,
            )
            fits = inner and _length_in_json(inner) <= room - 2
            if fits:
                return inner
            return _first_lines(
                value,
                room - 2,
                _length_in_json,
            )
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
        # Marks have more quotation marks than what they stand for, and each takes two
        # characters there.
        return _written(_fitting(parse_json(text), room * 3 // 4))
    except ValueError:
        return ""


def _first_items(
    items: list[JsonValue],
    room: int,
) -> list[JsonValue]:
    room -= _MARK_LENGTH
    lengths = (len(_written(item)) + 1 for item in items)
    first = items[: _count_within(room, lengths)] or [_fitting(items[0], room)]
    others = len(items) - len(first)
    note = f"{ELLIPSIS} {others} more of {len(items)}"
    return [*first, note]


def _fitting_entries(entries: JsonObject, room: int) -> JsonObject:
    """Return an object with small values whole and large ones sharing the rest, or its first entries."""
    names = sum(map(_length_of_name, entries))
    if room - names < len(entries) * _LEAST_ROOM:
        return _first_entries(entries, room - _MARK_LENGTH)
    room -= names + 2
    sizes = {key: len(_written(value)) for key, value in entries.items()}
    fitting: JsonObject = dict(entries)
    for left, key in zip(
        range(len(sizes), 0, -1), sorted(sizes, key=sizes.__getitem__), strict=True
    ):
        share = room // left
        fitting[key] = _fitting(entries[key], share)
        room -= min(sizes[key], share)
    return fitting


def _first_entries(entries: JsonObject, room: int) -> JsonObject:
    count = _count_within(
        room,
        (_length_of_name(key) + len(_written(value)) for key, value in entries.items()),
    )
    fits = dict(islice(entries.items(), count))
    first = next(iter(entries))
    if not fits and (left := room - _length_of_name(first)) > 0:
        fits[first] = _fitting(entries[first], left)
    return {
        **fits,
        ELLIPSIS: f"{len(entries) - len(fits)} more of {len(entries)}",
    }


def _length_of_name(key: str) -> int:
    return len(_written(key)) + len(":,")


def _first_lines(
    text: str,
    room: int,
    length_of: Callable[[str], int],
    how: str = "",
) -> str:
    """Return the first lines of a text and the number of the others. Indented lines stay with the line before."""
    lines = text.splitlines(keepends=True)
    fits = _count_within(
        room - length_of(_mark(len(lines), f"of {len(lines)} lines", how)),
        map(length_of, lines),
    )
    fits = next(
        (
            index
            for index in range(fits, fits // 2, -1)
            if not lines[index][:1].isspace()
        ),
        fits,
    )
    if fits:
        return "".join(lines[:fits]) + _mark(
            len(lines) - fits, f"of {len(lines)} lines", how
        )
    room -= length_of(_mark(len(text), "characters", how))
    fits = (
        bisect_right(
            range(max(room, 0)), room, key=lambda count: length_of(text[:count])
        )
        - 1
    )
    cut = text[: max(fits, 0)]
    return cut + _mark(len(text) - len(cut), "characters", how)


def _count_within(
    room: int,
    sizes: Iterable[int],
) -> int:
    """Return how many of the first sizes fit into `room` together."""
    return sum(1 for _ in takewhile(room.__ge__, accumulate(sizes)))


def _mark(
    left: int,
    of_what: str,
    how: str,
) -> str:
    return (
        f"[{ELLIPSIS} {left} {of_what} were left out here to save room. {how}".strip()
        + "]"
    )


_LOW: Final = 2
"""The window drops to the budget divided by this."""
_RECAP: Final = 8
"""The budget divided by this is the room of the recap of dropped messages."""
RESULT_LENGTHS: Final = (
    4_000,
    1_000,
    250,
)
"""Characters kept of a result of the current turn, tried in this order."""


@dataclass(frozen=True, slots=True)
class Window:
    """The messages of a conversation that are sent."""

    transcript: Transcript
    """Valid, made of whole turns; the recap of dropped messages is in the context of the first one.

    The same object as the given transcript where nothing was changed.
    """
    dropped: int
    """Number of messages left out at the beginning. A `Summary` of that many is up to date."""
    tokens: int
    """Estimated tokens."""


def fit_window(
    transcript: Transcript,
    budget: int,
    estimate: TokenEstimate = _AS_COUNTED,
    summary: Summary | None = None,
    earlier: int | None = None,
) -> Window:
    """Return the window on a valid transcript that takes at most `budget` tokens.

    `budget` is what instructions, tools and the answer leave of the context window;
    `earlier` is the share of the turns before the last one, by default all of it. The
    last turn always stays. If it alone is too long, its long results are shortened,
    oldest first, with a note; it is sent even if that is not enough.

    `summary` replaces the messages it stands for, as whole turns and never the last
    one. A list of requests and calls completes a summary that lags behind.
    """
    begin = _turn_begin(transcript, summary.messages if summary else 0)
    of_earlier = budget if earlier is None else min(earlier, budget)
    growing = _GrowingWindow(
        transcript,
        begin,
        budget,
        of_earlier,
        estimate,
    )
    growing.grow()
    dropped = growing.start
    tokens = growing.tokens
    messages = growing.messages[dropped:]
    if dropped and isinstance(first := messages[0], UserMessage):
        recalled = recap(
            summary, transcript[begin:dropped], growing.recap_room, estimate
        )
        messages[0] = first.after(recalled)
        tokens += estimate.of_message(messages[0]) - estimate.of_message(first)
    if dropped or growing.has_shortened:
        sent = tuple(messages)
    else:
        sent = transcript
    return Window(
        sent,
        dropped,
        tokens,
    )


def _turn_begin(transcript: Transcript, index: int) -> int:
    """Return the index at which the turn of a message begins; of the last turn for an index past the end."""
    for begin in range(min(index, len(transcript) - 1), 0, -1):
        if isinstance(transcript[begin], UserMessage):
            return begin
    return 0


@dataclass(slots=True)
class _GrowingWindow:
    """A window that takes one message after the other of a transcript: `messages` from `start` on."""

    transcript: Transcript
    start: int
    """The first message without summary, then the first that is not dropped."""
    budget: int
    """See `fit_window`, as for the next two."""
    earlier: int
    estimate: TokenEstimate
    messages: list[Message] = field(default_factory=list)
    tokens: int = 0
    """Tokens of the messages in the window."""
    has_shortened: bool = False
    _turn: int = 0
    _kept_before: int = 0
    """Tokens of the messages of earlier turns."""
    _sizes: list[int] = field(default_factory=list)
    _cut_to: dict[int, int] = field(default_factory=dict)
    """The index up to which the results of the turn have been shortened, by length."""

    @property
    def recap_room(self) -> int:
        """Tokens that the recap of dropped messages may take."""
        return max(0, self.earlier) // _RECAP

    def grow(self) -> None:
        """Take all messages from `start` on."""
        begin = self._turn = self.start
        self.messages += self.transcript[:begin]
        self._sizes += [0] * begin
        end = len(self.transcript)
        # A call is sent together with its results.
        units = [
            index
            for index in range(begin, end)
            if not isinstance(self.transcript[index], ToolResult)
        ]
        for unit in pairwise([*units, end]):
            self._add(*unit)

    def _add(
        self,
        begin: int,
        end: int,
    ) -> None:
        """Add messages that are sent together, and save room if they are too much."""
        unit = self.transcript[begin:end]
        if isinstance(unit[0], UserMessage):
            self._turn = begin
            self._kept_before = self.tokens
        added = list(map(self.estimate.of_message, unit))
        self.messages += unit
        self._sizes += added
        self.tokens += sum(added)
        if begin and begin == self.start:
            self._restore_context()
        if not self._fits(self.budget, self.earlier):
            is_too_long = not self._fits(self.budget)
            goals = (
                self.budget // _LOW if is_too_long else self.budget,
                self.earlier // _LOW,
            )
            for _ in self._savings(is_too_long=is_too_long):
                if self._fits(*goals):
                    break

    def _fits(
        self,
        budget: int,
        earlier: int | None = None,
    ) -> bool:
        recap = self.recap_room if self.start else 0
        return self.tokens + recap <= budget and (
            earlier is None or self._kept_before + recap <= earlier
        )

    def _savings(self, *, is_too_long: bool) -> Iterator[None]:
        """Save tokens step by step: results of earlier turns, whole earlier turns, then results of this turn."""
        for index in range(self.start, self._turn):
            self._shorten(index, OLD_RESULT_LENGTH)
            yield
        while self.start < self._turn:
            self._drop_a_turn()
            yield
        if is_too_long and not self._fits(self.budget):
            for length in RESULT_LENGTHS:
                begin = max(
                    self._cut_to.get(length, 0),
                    self._turn,
                )
                for index in range(begin, len(self.messages)):
                    self._shorten(index, length)
                    self._cut_to[length] = index + 1
                    yield

    def _drop_a_turn(self) -> None:
        while True:
            self.tokens -= self._sizes[self.start]
            self._kept_before -= self._sizes[self.start]
            self.start += 1
            if isinstance(self.messages[self.start], UserMessage):
                self._restore_context()
                return

    def _restore_context(self) -> None:
        """Give the first message in the window the context that those before it held."""
        first = self.messages[self.start]
        if isinstance(first, UserMessage) and first.omitted:
            self.messages[self.start] = first = first.alone()
            added = self.estimate.of_message(first) - self._sizes[self.start]
            self._sizes[self.start] += added
            self.tokens += added
            if self.start < self._turn:
                self._kept_before += added

    def _shorten(
        self,
        index: int,
        length: int,
    ) -> None:
        whole = self.transcript[index]
        present = self.messages[index]
        if (
            isinstance(whole, ToolResult)
            and isinstance(present, ToolResult)
            and len(present.content) > length
        ):
            short = replace(
                present,
                content=shortened(whole.content, length),
            )
            size = self.estimate.of_message(short)
            if size < self._sizes[index]:  # the note takes room too
                self.tokens += size - self._sizes[index]
                if index < self._turn:
                    self._kept_before += size - self._sizes[index]
                self.has_shortened = True
                self.messages[index] = short
                self._sizes[index] = size


def shows_something(messages: Transcript) -> bool:
    """Return whether any of these messages has an attachment."""
    return any(
        isinstance(message, UserMessage) and message.attachments for message in messages
    )

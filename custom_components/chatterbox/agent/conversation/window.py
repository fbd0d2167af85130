"""The part of a conversation that is sent to a model, within a budget of tokens.

Pure: from a whole transcript to the window on it, and the same one every time. Services cache the
beginning of a prompt, so a window must not move with every turn. It is found by walking the
conversation from its beginning, as it grew: once it has outgrown a budget, it falls back to half
of it at one stroke, and then grows again for many turns. What fell out once stays out. There may
be a budget of its own for what came before the last turn: what is old has its price, but a long
result that the model has just asked for is not to be shortened for that.

Knows messages and token estimates; must not know models, stores or how a turn is driven.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final

from ..messages import Summary, ToolResult, Transcript, UserMessage
from ..text import shortened
from .summary import recap
from .token_estimate import TokenEstimate

_LOW: Final = 2
"""The budget divided by this is what a window falls back to."""
_RECAP: Final = 8
"""The budget divided by this is the room of what stands in place of what fell out."""
OLD_RESULT_LENGTH: Final = 1_000
"""Characters that are kept of a long result of an older turn."""
RESULT_LENGTHS: Final = (4_000, 1_000, 250)
"""Characters that are kept of a long result of the last turn; the next number only where the one before is no help."""
_MOST_KEPT: Final = 8
"""Conversations whose windows are kept."""

_AS_COUNTED: Final = TokenEstimate()


@dataclass(frozen=True, slots=True)
class Window:
    """What is sent of a conversation."""

    transcript: Transcript
    """Valid, and made of whole turns. What stands in place of the dropped messages is in the context of its first.

    The very transcript that was given, where all of it is sent as it is.
    """
    dropped: int
    """How many messages it leaves out, from the first one. A `Summary` of so many is up to date."""
    tokens: int
    """What it takes, as it was estimated."""
    has_outside_content: bool
    """Whether the whole conversation, dropped messages included, holds what came from outside the house."""


def fit_window(  # noqa: PLR0913  # what is sent, what bounds it, and what stands for the rest
    transcript: Transcript,
    budget: int,
    estimate: TokenEstimate = _AS_COUNTED,
    summary: Summary | None = None,
    earlier: int | None = None,
    *,
    grown: GrownWindows | None = None,
) -> Window:
    """Return the window on a valid transcript that takes `budget` tokens at most.

    `budget` is what instructions, tools and the room for an answer leave of what the model can read; `earlier` is how
    much of that what came before the last turn may take, all of it unless it is said. The last turn, a user message
    and what came of it, always stays. When only it is left, and it is too long, long results in it are shortened,
    oldest first, and say so; what is too long even then is sent.

    `summary` stands for messages that are not to be sent again. One that lags behind, or is missing, is completed by
    a list of what was asked and done. One that ends in the middle of a turn leaves that turn whole, and no summary
    stands for the last turn. With the `grown` windows of earlier requests the same window is found sooner.
    """
    begin = _turn_begin(transcript, summary.messages if summary else 0)
    bounds = _Bounds(begin, budget, budget if earlier is None else min(earlier, budget), estimate)
    growing = (grown or GrownWindows()).window(transcript, bounds)
    dropped, tokens = growing.start, growing.kept
    messages = growing.messages[dropped:]
    if dropped and isinstance(first := messages[0], UserMessage):
        told = recap(summary, transcript[begin:dropped], growing.recap_room, estimate)
        messages[0] = replace(first, context="\n\n".join(filter(None, (told, first.context))))
        tokens += estimate.of_message(messages[0]) - estimate.of_message(first)
    is_marked = growing.has_outside_content or (summary is not None and summary.has_outside_content)
    sent = tuple(messages) if dropped or growing.has_shortened else transcript
    return Window(sent, dropped, tokens, is_marked)


def _turn_begin(transcript: Transcript, index: int) -> int:
    """Return where the turn begins in which a message stands; the last turn where there is no such message."""
    for begin in range(min(index, len(transcript) - 1), 0, -1):
        if isinstance(transcript[begin], UserMessage):
            return begin
    return 0


class GrownWindows:
    """The windows on the conversations that were last sent, up to their last turns.

    A window never looks ahead, so the next one on the same conversation goes on from there, and costs what is new in
    it. Conversations in which somebody shows something are not kept: that is much to keep.
    """

    def __init__(self) -> None:
        """Know none."""
        self._kept: list[_GrowingWindow] = []
        """The one that was used last is the last."""

    def window(self, transcript: Transcript, bounds: _Bounds) -> _GrowingWindow:
        """Return the window on a whole transcript, which is the caller's to change."""
        end = _turn_begin(transcript, len(transcript))
        window = self._known(transcript[:end], bounds) or _GrowingWindow(transcript, bounds)
        if end > bounds.begin:
            window.grow(transcript, end)
            if not window.shows_something:
                self._kept = [*self._kept[1 - _MOST_KEPT :], window]
                window = window.copy()
        window.grow(transcript, len(transcript))
        return window

    def _known(self, earlier: Transcript, bounds: _Bounds) -> _GrowingWindow | None:
        """Return the window on a part of what was said earlier, from its beginning, and keep it no more."""
        for index in reversed(range(len(self._kept))):
            window = self._kept[index]
            if window.bounds == bounds and earlier[: len(window.whole)] == window.whole:
                return self._kept.pop(index)
        return None


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a window is made for; see `fit_window`."""

    begin: int
    """The first message that is not summed up."""
    budget: int
    earlier: int
    estimate: TokenEstimate


class _GrowingWindow:
    """A window, as a conversation goes on: `messages` from `start` on. It never looks ahead."""

    def __init__(self, transcript: Transcript, bounds: _Bounds) -> None:
        begin = bounds.begin
        self.bounds = bounds
        self.whole = transcript[:begin]
        """The messages so far, as they were said."""
        self.messages = list(self.whole)
        self.start = begin
        self.kept = 0
        """Tokens of the messages that it holds."""
        self.has_shortened = False
        self.has_outside_content = self.shows_something = False
        self._look_at(self.whole)
        self.recap_room = max(0, bounds.earlier) // _RECAP
        self._turn = begin
        self._kept_before = 0
        """Tokens of the messages of earlier turns."""
        self._sizes = [0] * begin
        self._budget = bounds.budget
        self._earlier = bounds.earlier
        self._estimate = bounds.estimate

    def copy(self) -> _GrowingWindow:
        """Return another one that grows by itself."""
        other = copy(self)
        other.messages, other._sizes = self.messages.copy(), self._sizes.copy()  # noqa: SLF001  # of its own class
        return other

    def grow(self, transcript: Transcript, end: int) -> None:
        """Take in a transcript up to a message; it begins with what was taken in before."""
        begin = len(self.whole)
        self.whole = transcript[:end]
        self._look_at(transcript[begin:end])
        # A call is sent together with its results.
        units = [index for index in range(begin, end) if not isinstance(transcript[index], ToolResult)]
        for unit in pairwise([*units, end]):
            self._add(*unit)

    def _look_at(self, added: Transcript) -> None:
        for message in added:
            if isinstance(message, ToolResult):
                self.has_outside_content = self.has_outside_content or message.open_world
            elif isinstance(message, UserMessage) and message.attachments:
                self.shows_something = True

    def _add(self, begin: int, end: int) -> None:
        """Take in the next messages, which are sent together, and fall back if that is too much."""
        unit = self.whole[begin:end]
        if isinstance(unit[0], UserMessage):
            self._turn, self._kept_before = begin, self.kept
        added = list(map(self._estimate.of_message, unit))
        self.messages += unit
        self._sizes += added
        self.kept += sum(added)
        if not self._fits(self._budget, self._earlier):
            is_too_long = not self._fits(self._budget)
            goals = (self._budget // _LOW if is_too_long else self._budget, self._earlier // _LOW)
            for _ in self._savings(is_too_long=is_too_long):
                if self._fits(*goals):
                    break

    def _fits(self, budget: int, earlier: int | None = None) -> bool:
        recap = self.recap_room if self.start else 0
        return self.kept + recap <= budget and (earlier is None or self._kept_before + recap <= earlier)

    def _savings(self, *, is_too_long: bool) -> Iterator[None]:
        """Save tokens step by step: long results of older turns, older turns, then long results of this one."""
        for index in range(self.start, self._turn):
            self._shorten(index, OLD_RESULT_LENGTH)
            yield
        while self.start < self._turn:
            self._drop_a_turn()
            yield
        if is_too_long and not self._fits(self._budget):
            for length, index in product(RESULT_LENGTHS, range(self._turn, len(self.messages))):
                self._shorten(index, length)
                yield

    def _drop_a_turn(self) -> None:
        while True:
            self.kept -= self._sizes[self.start]
            self._kept_before -= self._sizes[self.start]
            self.start += 1
            if isinstance(self.messages[self.start], UserMessage):
                return

    def _shorten(self, index: int, length: int) -> None:
        whole, present = self.whole[index], self.messages[index]
        if isinstance(whole, ToolResult) and isinstance(present, ToolResult) and len(present.content) > length:
            short = replace(present, content=shortened(whole.content, length))
            size = self._estimate.of_message(short)
            if size < self._sizes[index]:  # the note takes room too
                self.kept += size - self._sizes[index]
                if index < self._turn:
                    self._kept_before += size - self._sizes[index]
                self.has_shortened = True
                self.messages[index], self._sizes[index] = short, size


def shows_something(messages: Transcript) -> bool:
    """Tell whether a person shows anything in these messages."""
    return bool([message for message in messages if isinstance(message, UserMessage) and message.attachments])

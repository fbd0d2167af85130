"""The part of a conversation that is sent to a model, within a token budget.

Deterministic: services cache the beginning of a prompt, so the window must not move with every turn. It is computed
from the beginning of the conversation: whenever the window outgrows the budget, it drops to half of it at once, and
then grows for many turns. Dropped messages stay dropped. Earlier turns can have a budget of their own, so that a long
result of the current turn is not shortened for their sake.
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
"""The window drops to the budget divided by this."""
_RECAP: Final = 8
"""The budget divided by this is the room of the recap of dropped messages."""
OLD_RESULT_LENGTH: Final = 1_000
"""Characters kept of a result of an earlier turn."""
RESULT_LENGTHS: Final = (4_000, 1_000, 250)
"""Characters kept of a result of the current turn, tried in this order."""
_MOST_KEPT: Final = 8
"""Conversations whose windows are cached."""

_AS_COUNTED: Final = TokenEstimate()


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
    has_outside_content: bool
    """Whether the conversation, dropped messages included, holds content from outside the home."""


def fit_window(  # noqa: PLR0913  # what is sent, what bounds it, and what stands for the rest
    transcript: Transcript,
    budget: int,
    estimate: TokenEstimate = _AS_COUNTED,
    summary: Summary | None = None,
    earlier: int | None = None,
    *,
    grown: GrownWindows | None = None,
) -> Window:
    """Return the window on a valid transcript that takes at most `budget` tokens.

    `budget` is what instructions, tools and the answer leave of the context window; `earlier` is the share of the turns
    before the last one, by default all of it. The last turn always stays. If it alone is too long, its long results are
    shortened, oldest first, with a note; it is sent even if that is not enough.

    `summary` replaces the messages it stands for, as whole turns and never the last one. A list of requests and calls
    completes a summary that lags behind. `grown` caches the windows of earlier requests.
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
    """Return the index at which the turn of a message begins; of the last turn for an index past the end."""
    for begin in range(min(index, len(transcript) - 1), 0, -1):
        if isinstance(transcript[begin], UserMessage):
            return begin
    return 0


class GrownWindows:
    """Cache of the windows of the latest conversations, up to their last turns.

    A window never looks ahead, so the next request of a conversation continues from there. Conversations with
    attachments are not cached, because of their size.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._kept: list[_GrowingWindow] = []
        """Least recently used first."""

    def window(self, transcript: Transcript, bounds: _Bounds) -> _GrowingWindow:
        """Return the window on a whole transcript; the caller may change it."""
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
        """Remove and return the cached window on the beginning of `earlier`."""
        for index in reversed(range(len(self._kept))):
            window = self._kept[index]
            if window.bounds == bounds and earlier[: len(window.whole)] == window.whole:
                return self._kept.pop(index)
        return None


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Parameters of a window; see `fit_window`."""

    begin: int
    """The first message without summary."""
    budget: int
    earlier: int
    estimate: TokenEstimate


class _GrowingWindow:
    """A window on a growing conversation: `messages` from `start` on."""

    def __init__(self, transcript: Transcript, bounds: _Bounds) -> None:
        begin = bounds.begin
        self.bounds = bounds
        self.whole = transcript[:begin]
        """The original messages so far."""
        self.messages = list(self.whole)
        self.start = begin
        self.kept = 0
        """Tokens of the messages in the window."""
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
        """Return an independent copy."""
        other = copy(self)
        other.messages, other._sizes = self.messages.copy(), self._sizes.copy()  # noqa: SLF001  # of its own class
        return other

    def grow(self, transcript: Transcript, end: int) -> None:
        """Extend the window to `end` of a transcript that begins with `whole`."""
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
        """Add messages that are sent together, and save room if they are too much."""
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
        """Save tokens step by step: results of earlier turns, whole earlier turns, then results of this turn."""
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
    """Return whether any of these messages has an attachment."""
    return bool([message for message in messages if isinstance(message, UserMessage) and message.attachments])

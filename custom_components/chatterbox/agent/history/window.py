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
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Final

from ..messages import Summary, ToolResult, Transcript, UserMessage
from ..transcript import has_outside_content
from .shortening import shortened
from .summary import recap, turns
from .token_estimate import TokenEstimate

_LOW: Final = 2
"""The budget divided by this is what a window falls back to."""
_RECAP: Final = 8
"""The budget divided by this is the room of what stands in place of what fell out."""
OLD_RESULT_LENGTH: Final = 1_000
"""Characters that are kept of a long result of an older turn."""
RESULT_LENGTHS: Final = (4_000, 1_000, 250)
"""Characters that are kept of a long result of the last turn; the next number only where the one before is no help."""

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


def fit_window(
    transcript: Transcript,
    budget: int,
    estimate: TokenEstimate = _AS_COUNTED,
    summary: Summary | None = None,
    earlier: int | None = None,
) -> Window:
    """Return the window on a valid transcript that takes `budget` tokens at most.

    `budget` is what instructions, tools and the room for an answer leave of what the model can read; `earlier` is how
    much of that what came before the last turn may take, all of it unless it is said. The last turn, a user message
    and what came of it, always stays. When only it is left, and it is too long, long results in it are shortened,
    oldest first, and say so; what is too long even then is sent.

    `summary` stands for messages that are not to be sent again. One that lags behind, or is missing, is completed by
    a list of what was asked and done. One that ends in the middle of a turn leaves that turn whole, and no summary
    stands for the last turn.
    """
    bounds = _turn_bounds(transcript)
    begin = max(bound for bound in bounds if bound <= (summary.messages if summary else 0))
    growing = _GrowingWindow(transcript, begin, budget, budget if earlier is None else min(earlier, budget), estimate)
    for unit in pairwise(_unit_bounds(transcript, begin)):
        growing.add(*unit)
    dropped, tokens = growing.start, growing.kept
    messages = growing.messages[dropped:]
    if dropped and isinstance(first := messages[0], UserMessage):
        told = recap(summary, transcript[begin:dropped], growing.recap_room, estimate)
        messages[0] = replace(first, context="\n\n".join(filter(None, (told, first.context))))
        tokens += estimate.of_message(messages[0]) - estimate.of_message(first)
    is_marked = has_outside_content(transcript) or (summary is not None and summary.has_outside_content)
    sent = tuple(messages) if dropped or growing.has_shortened else transcript
    return Window(sent, dropped, tokens, is_marked)


def _turn_bounds(transcript: Transcript) -> list[int]:
    """Return where each turn begins; at least the beginning."""
    bounds = [0]
    for turn in turns(transcript):
        bounds.append(bounds[-1] + len(turn))
    return bounds[:-1] or bounds


def _unit_bounds(transcript: Transcript, begin: int) -> Iterator[int]:
    """Yield where what is sent together begins, a call with its results, and where the last of it ends."""
    for index in range(begin, len(transcript)):
        if not isinstance(transcript[index], ToolResult):
            yield index
    yield len(transcript)


class _GrowingWindow:
    """A window, as a conversation goes on: `messages` from `start` on. It never looks ahead."""

    def __init__(self, transcript: Transcript, begin: int, budget: int, earlier: int, estimate: TokenEstimate) -> None:
        self._transcript = transcript
        self.messages = list(transcript)
        self.start = begin
        self.kept = 0
        """Tokens of the messages that it holds."""
        self.has_shortened = False
        self.recap_room = max(0, earlier) // _RECAP
        self._turn = self._end = begin
        self._kept_before = 0
        """Tokens of the messages of earlier turns."""
        self._sizes = [0] * begin
        self._budget = budget
        self._earlier = earlier
        self._estimate = estimate

    @property
    def _recap(self) -> int:
        return self.recap_room if self.start else 0

    def add(self, begin: int, end: int) -> None:
        """Take in the next messages, which are sent together, and fall back if that is too much."""
        if isinstance(self.messages[begin], UserMessage):
            self._turn, self._kept_before = begin, self.kept
        self._end = end
        added = list(map(self._estimate.of_message, self.messages[begin:end]))
        self._sizes += added
        self.kept += sum(added)
        is_too_long = not self._fits(self._budget)
        if is_too_long or not self._fits(self._budget, self._earlier):
            goals = (self._budget // _LOW if is_too_long else self._budget, self._earlier // _LOW)
            for _ in self._savings(is_too_long=is_too_long):
                if self._fits(*goals):
                    break

    def _fits(self, budget: int, earlier: int | None = None) -> bool:
        recap = self._recap
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
            for length, index in product(RESULT_LENGTHS, range(self._turn, self._end)):
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
        whole, present = self._transcript[index], self.messages[index]
        if isinstance(whole, ToolResult) and isinstance(present, ToolResult) and len(present.content) > length:
            short = replace(present, content=shortened(whole.content, length))
            size = self._estimate.of_message(short)
            if size < self._sizes[index]:  # the note takes room too
                self.kept += size - self._sizes[index]
                if index < self._turn:
                    self._kept_before += size - self._sizes[index]
                self.has_shortened = True
                self.messages[index], self._sizes[index] = short, size

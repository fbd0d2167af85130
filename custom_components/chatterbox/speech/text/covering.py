"""Covers a sequence with spans by dynamic programming: the cheapest ways first, never greedily."""

from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Protocol


class _Span(Protocol):
    @property
    def end(self) -> int:
        """Where the span ends."""


def coverings[Span: _Span](
    length: int, spans_at: Callable[[int], Iterable[Span]], cost: Callable[[Span], float], most: int
) -> Sequence[tuple[float, tuple[Span, ...]]]:
    """Return at most that many ways to cover a sequence, each with its cost. A span begins where the last one ends."""
    best: list[list[tuple[float, tuple[Span, ...]]]] = [[] for _ in range(length)] + [[(0.0, ())]]
    for start in range(length - 1, -1, -1):
        ways = ((cost(span) + rest, (span, *more)) for span in spans_at(start) for rest, more in best[span.end])
        best[start] = nsmallest(most, ways, key=lambda way: way[0])
    return best[0]

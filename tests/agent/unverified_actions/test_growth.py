"""Checking an answer takes time in proportion to its length, whatever it consists of.

What is compared is processor time of this thread at two lengths, with a wide margin: a search that
takes the square of the length misses it by far.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time

import pytest

from custom_components.chatterbox.agent.unverified_actions import UnverifiedActionFilter, statements
from custom_components.chatterbox.agent.unverified_actions.grammar import GRAMMARS, Patterns, language_patterns

TOO_SHORT_TO_TELL = 0.001
"""Seconds; what takes less is taken to last as long."""
PROSE = "The living room is at 21 degrees and the hallway is a little cooler than that, as it is at this time of year. "
CLASSES = (
    " ",
    ".",
    ". ",
    "-",
    " -",
    "- ",
    "\N{EM DASH}",
    "!",
    "?",
    ",",
    ", ",
    "\n",
    "'",
    '"',
    "x",
    "é",
    "7",
    "好",
    "*",
)
REPEATED = (*CLASSES, PROSE, "a. ", "x ", '"a. ', "“a. ", "light bulb ", '"a". ', "a, anything ", "turning it ")


def _seconds(act: Callable[[], object]) -> float:
    begin = thread_time()
    act()
    return thread_time() - begin


def grows_in_proportion(act: Callable[[int], object], length: int) -> bool:
    """Tell whether four times the length takes at most twelve times as long, in the best of three tries."""
    return any(
        _seconds(lambda: act(4 * length)) <= 12 * max(_seconds(lambda: act(length)), TOO_SHORT_TO_TELL)
        for _ in range(3)
    )


def _of_length(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length] + "\0"


def _units(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield what a pattern may stumble over: each class of characters, and each literal."""
    yield from CLASSES
    for literal in sorted(set(re.findall(r"[^\W\d_]+", re.sub(r"\\[a-zA-Z]", " ", pattern.pattern)))):
        yield f"{literal} "


def _compiled(patterns: Patterns) -> tuple[re.Pattern[str], ...]:
    return patterns.report, patterns.veto, patterns.openings, patterns.breaks, patterns.closings


def _stumbles(pattern: re.Pattern[str]) -> list[str]:
    """Return what, when it is repeated, takes the pattern more than its share of time."""

    def search(unit: str, length: int) -> None:
        pattern.sub("", _of_length(unit, length))

    return [unit for unit in _units(pattern) if not grows_in_proportion(partial(search, unit), 1000)]


@pytest.mark.parametrize("language", GRAMMARS)
def test_no_pattern_of_a_language_stumbles(language: str) -> None:
    patterns = language_patterns(language)

    assert patterns is not None
    assert [_stumbles(pattern) for pattern in _compiled(patterns)] == [[]] * 5


@pytest.mark.parametrize(
    "pattern", [pytest.param(one, id=name) for name, one in vars(statements).items() if isinstance(one, re.Pattern)]
)
def test_no_pattern_that_cuts_statements_stumbles(pattern: re.Pattern[str]) -> None:
    assert _stumbles(pattern) == []


@pytest.mark.parametrize("size", [5, 40_000])
@pytest.mark.parametrize("unit", REPEATED)
def test_a_long_answer_is_let_through_in_proportion(unit: str, size: int) -> None:
    def let_through(length: int) -> None:
        hold, text = UnverifiedActionFilter("en"), _of_length(unit, length)
        for start in range(0, len(text), size):
            hold.feed(text[start : start + size])
        hold.end()

    assert grows_in_proportion(let_through, 5000)

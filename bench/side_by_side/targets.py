"""The targets: ratios within one run, of medians.

Knows the table and how each of its rows follows from figures; must not know how they
were measured.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.side_by_side.results import Figure, Measure, Results

OURS: Final = "chatterbox"
REFERENCE: Final = "llama_cpp"
"""The agent of core that the targets are ratios of."""
BARE: Final = "bare client"
ALONE: Final = "Home Assistant alone"
SMALL: Final = 10
LARGE: Final = 300
_OF_OTHERS: Final = {SMALL: 0.5, LARGE: 0.4}
"""Of the time that another agent takes, by entities."""
TURNS: Final = ("plain, converse", "tool, converse")
_LESS: Final = 0.9999
"""A bound that means: less than 1."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A row of the table; `met` is None when it was not measured in this run."""

    measure: str
    measured: str
    target: str
    met: bool | None


def check(results: Results) -> list[Checked]:
    """Compare a run with every row."""
    return [row for rows in _ROWS for row in rows(results)]


def core_agents(results: Results) -> list[str]:
    """Return the agents that ship with Home Assistant, in the order of the run."""
    names = dict.fromkeys(figure.agent for figure in results.figures)
    return [
        name
        for name in names
        if not name.startswith(OURS) and name not in (BARE, ALONE)
    ]


def _cpu(results: Results) -> Iterator[Checked]:
    for entities in (SMALL, LARGE):
        for scenario in TURNS:
            what = f"CPU above the bare client, {scenario.partition(',')[0]}, {entities} entities"
            compare = partial(_cpu_compared, results, scenario, entities)
            yield _row(
                f"{what}, of {REFERENCE}'s",
                partial(compare, [REFERENCE]),
                " times",
                _OF_OTHERS[entities],
            )
            yield _row(
                f"{what}, of the cheapest core agent's",
                partial(compare, core_agents(results)),
                " times",
                _LESS,
            )


def _cpu_compared(
    results: Results, scenario: str, entities: int, others: Sequence[str]
) -> float:
    """Return our processor time above the bare client's, as a multiple of the lowest of others."""
    bare = _median(results, scenario, entities, BARE, "cpu_ms")
    ours, *theirs = (
        _median(results, scenario, entities, name, "cpu_ms") - bare
        for name in (OURS, *others)
    )
    return ours / min(theirs)


def _first(results: Results) -> Iterator[Checked]:
    for entities in (SMALL, LARGE):
        what = f"time to first delta above the server's, {entities} entities, of the best core agent's"
        yield _row(
            what,
            partial(_first_compared, results, entities),
            " times",
            _OF_OTHERS[entities],
        )


def _first_compared(results: Results, entities: int) -> float:
    ours, *theirs = (
        _median(results, TURNS[0], entities, name, "first_ms")
        for name in (OURS, *core_agents(results))
    )
    return ours / min(theirs)


def _prompt(results: Results) -> Iterator[Checked]:
    def tokens(name: str) -> float:
        return _median(results, "first request", LARGE, name, "prompt_tokens")

    yield _row(
        f"prompt tokens, {LARGE} entities, tools included, of core's",
        lambda: tokens(OURS) / tokens(REFERENCE),
        " times",
        0.35,
    )
    yield _row(
        "prompt bytes shared with an earlier request, two satellites",
        lambda: (
            _median(results, "two satellites", LARGE, OURS, "same_as_any_before") * 100
        ),
        " %",
        97,
        at_least=True,
    )


def _growth(results: Results) -> Iterator[Checked]:
    def growth(measure: Measure) -> float:
        late, early = (
            _median(results, f"turn {turn}", SMALL, OURS, measure) for turn in (100, 10)
        )
        return late / early

    yield _row(
        "CPU of turn 100 to turn 10, per growth of the request",
        lambda: growth("cpu_ms") / growth("request_bytes"),
        " times",
        1,
    )
    yield _row(
        "five tools of 300 ms in one message",
        lambda: _median(
            results, "five tools of 300 ms", SMALL, OURS, "between_requests_ms"
        ),
        " ms",
        330,
    )


def _rest(results: Results) -> Iterator[Checked]:
    yield _row(
        "set-up, cold",
        lambda: _median(results, "start", 0, OURS, "setup_s"),
        " s",
        0.25,
    )
    yield _row(
        "memory of 10,000 idle conversations left after their end",
        lambda: (
            _median(results, "idle conversations", SMALL, OURS, "blocks_left") * 100
        ),
        " %",
        5,
    )


_ROWS: Final[tuple[Callable[[Results], Iterator[Checked]], ...]] = (
    _cpu,
    _first,
    _prompt,
    _growth,
    _rest,
)


class _NotMeasuredError(Exception):
    """A figure is missing."""


def _median(
    results: Results, scenario: str, entities: int, agent: str, measure: Measure
) -> float:
    found: Figure | None = results.find(scenario, entities, agent, measure)
    if found is None:
        raise _NotMeasuredError
    return found.median


def _row(
    measure: str,
    value: Callable[[], float],
    unit: str,
    target: float,
    *,
    at_least: bool = False,
) -> Checked:
    bound = (
        f"{'at least' if at_least else 'at most'} {target:g}{unit}"
        if target != _LESS
        else "below 1 times"
    )
    try:
        measured = value()
    except _NotMeasuredError:
        return Checked(measure, "not measured", bound, None)
    met = measured >= target if at_least else measured <= target
    return Checked(measure, f"{measured:.4g}{unit}", bound, met)

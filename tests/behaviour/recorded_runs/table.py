"""The table of `docs/recorded-runs.md`: how many runs of each model succeeded in each home, then and now.

Knows the page; must not know how a run is replayed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import override

PAGE = Path(__file__).resolve().parents[3] / "docs" / "recorded-runs.md"

_BEFORE_TABLE = """\
# Recorded runs, replayed

Three small models once acted in ten small homes, and every word and every tool call of theirs was kept
([where they come from](../tests/fixtures/README.md)). Here a server says to Chatterbox what they said, call by call,
in a real Home Assistant that has the same home, and the states afterwards are compared with those that are right.

A model that asked for the wrong thing then asks for it now, so no run can be mended that was lost by the model. What
the table shows is that nothing is lost on the way from its words to the home: tool names from before Home Assistant
2026.9, arguments of the wrong type, calls without a word.

Each cell tells how many runs succeeded when they were recorded, how many succeed now, and how many there are. No run
comes out worse than it was recorded, in any single state, and each has a spoken answer:
`tests/behaviour/recorded_runs/test_replay.py` holds that, and holds this page to what it counts.

"""
_AFTER_TABLE = """
`script/replay` counts again and writes this page.
"""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some runs succeeded."""

    recorded: int = 0
    now: int = 0
    runs: int = 0

    def __add__(self, other: Count) -> Count:
        """Count the runs of both."""
        return Count(self.recorded + other.recorded, self.now + other.now, self.runs + other.runs)

    @override
    def __str__(self) -> str:
        """Return what stands in a cell."""
        return f"{self.recorded} → {self.now} of {self.runs}"


type Counts = Mapping[tuple[str, str], Count]
"""By the names of home and model."""


def page(counts: Counts) -> str:
    """Return the whole page."""
    return _BEFORE_TABLE + table(counts) + _AFTER_TABLE


def table(counts: Counts) -> str:
    """Return the table alone."""
    homes, models = sorted({home for home, _ in counts}), sorted({model for _, model in counts})
    rows = [
        ["home", *models],
        ["---", *("---" for _ in models)],
        *([home, *(str(counts[home, model]) for model in models)] for home in homes),
        ["**all**", *(f"**{_sum(counts[home, model] for home in homes)}**" for model in models)],
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cell_of(text: str, home: str, model: str) -> str:
    """Return what stands in a page for a home and a model; raise `ValueError` for a page without that."""
    head, _, *rows = [_cells(line) for line in text.splitlines() if line.startswith("|")]
    column = head.index(model)
    for row in rows:
        if row[0] == home:
            return row[column]
    raise ValueError(f"there is no row for {home}")


def _cells(line: str) -> Sequence[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _sum(counts: Iterable[Count]) -> Count:
    return sum(counts, start=Count())

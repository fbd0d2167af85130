"""The table of `docs/recorded-runs.md`: how many runs of each model succeeded in each home, then and now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import override

from tests.support.page_tables import DOCS, table

PAGE = DOCS / "recorded-runs.md"


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


def counted_table(counts: Counts) -> str:
    """Return the table of the page."""
    homes, models = sorted({home for home, _ in counts}), sorted({model for _, model in counts})
    sums = (_sum(counts[home, model] for home in homes) for model in models)
    rows = [[home, *(str(counts[home, model]) for model in models)] for home in homes]
    return table(["home", *models], [*rows, ["**all**", *(f"**{one}**" for one in sums)]])


def row_of(home: str, counts: Iterable[Count]) -> str:
    """Return the row of a home."""
    return f"| {' | '.join([home, *map(str, counts)])} |\n"


def _sum(counts: Iterable[Count]) -> Count:
    return sum(counts, start=Count())

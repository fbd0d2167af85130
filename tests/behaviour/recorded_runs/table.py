"""The tables of `bench/pages/recorded-runs.md`: what came of the runs of each model, in all homes and in each."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields

from tests.support.page_tables import MEASURED, table, with_table

PAGE = MEASURED / "recorded-runs.md"


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some runs came out how."""

    runs: int = 0
    recorded: int = 0
    core: int = 0
    ours: int = 0
    won: int = 0
    lost: int = 0
    which: int = 0
    questions: int = 0
    false_then: int = 0
    false_now: int = 0
    artefacts: int = 0

    def __add__(self, other: Count) -> Count:
        """Count the runs of both."""
        return Count(
            *(sum(pair) for pair in zip(astuple(self), astuple(other), strict=True))
        )


type Counts = Mapping[tuple[str, str], Count]
"""By the names of home and model."""

_HEAD = [
    "false success before"
    if one.name == "false_then"
    else "after"
    if one.name == "false_now"
    else one.name
    for one in fields(Count)
]


def with_tables(page: str, counts: Counts) -> str:
    """Return the page with the tables of what was counted."""
    return with_table(with_table(page, summary(counts)), details(counts))


def summary(counts: Counts) -> str:
    """Return the table of the models, in all homes."""
    models = dict.fromkeys(model for _, model in counts)
    sums = {
        model: sum(
            (one for (_, by), one in counts.items() if by == model), start=Count()
        )
        for model in models
    }
    rows = [[model, *_cells(one)] for model, one in sorted(sums.items())]
    total = sum(sums.values(), start=Count())
    return table(
        ["model", *_HEAD],
        [*rows, ["**all**", *(f"**{cell}**" for cell in _cells(total))]],
    )


def details(counts: Counts) -> str:
    """Return the table of the models in each home."""
    return table(
        ["home", "model", *_HEAD],
        [[home, model, *_cells(one)] for (home, model), one in counts.items()],
    )


def row_of(home: str, model: str, one: Count) -> str:
    """Return the row of a model in a home."""
    return f"| {home} | {model} | {' | '.join(_cells(one))} |\n"


def _cells(one: Count) -> list[str]:
    return [str(int(value)) for value in astuple(one)]

"""The page of the recorded runs shows every count, and can be read again."""

import re

import pytest

from tests.behaviour.recorded_runs.table import PAGE, Count, cell_of, page, table

COUNTS = {
    ("flat", "small"): Count(recorded=1, now=2, runs=4),
    ("flat", "tiny"): Count(recorded=0, now=0, runs=4),
    ("villa", "small"): Count(recorded=3, now=3, runs=3),
    ("villa", "tiny"): Count(recorded=2, now=2, runs=3),
}


def test_the_table_has_a_row_for_each_home_and_the_sums() -> None:
    assert table(COUNTS) == (
        "| home | small | tiny |\n"
        "| --- | --- | --- |\n"
        "| flat | 1 → 2 of 4 | 0 → 0 of 4 |\n"
        "| villa | 3 → 3 of 3 | 2 → 2 of 3 |\n"
        "| **all** | **4 → 5 of 7** | **2 → 2 of 7** |\n"
    )


def test_a_cell_can_be_read_from_the_page() -> None:
    assert cell_of(page(COUNTS), "villa", "tiny") == "2 → 2 of 3"
    with pytest.raises(ValueError, match="castle"):
        cell_of(page(COUNTS), "castle", "tiny")


def test_the_page_in_docs_is_what_the_command_writes() -> None:
    written = PAGE.read_text(encoding="utf-8")
    rows = [line.strip("|\n ").split(" | ") for line in written.splitlines() if line.startswith("|")]
    models = rows[0][1:]
    cells = [(row[0], model, cell) for row in rows[2:-1] for model, cell in zip(models, row[1:], strict=True)]

    assert written == page({(home, model): _count(cell) for home, model, cell in cells})


def _count(cell: str) -> Count:
    recorded, now, runs = (int(number) for number in re.findall(r"\d+", cell))
    return Count(recorded, now, runs)

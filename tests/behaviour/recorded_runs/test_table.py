"""The table of the recorded runs has a row for each home, and the sums of its rows."""

import re

from tests.behaviour.recorded_runs.table import PAGE, Count, counted_table


def test_the_sums_of_the_page_are_those_of_its_rows() -> None:
    written = PAGE.read_text(encoding="utf-8")
    head, _, *rows = [line.strip("|").split("|") for line in written.splitlines() if line.startswith("|")]
    counts = {
        (row[0].strip(), model.strip()): Count(*map(int, re.findall(r"\d+", cell)))
        for row in rows[:-1]
        for model, cell in zip(head[1:], row[1:], strict=True)
    }

    assert counted_table(counts) in written

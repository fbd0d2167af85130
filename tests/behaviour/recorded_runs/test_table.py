"""The tables of the recorded runs tell the same: for each model, the sums of what its rows say."""

import re

from tests.behaviour.recorded_runs.table import PAGE, Count, details, summary


def test_the_sums_of_the_page_are_those_of_its_rows() -> None:
    written = PAGE.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\w-]+) \| ([\w.-]+) \| ([\d| ]+) \|$", written, re.MULTILINE
    )
    counts = {
        (home, model): Count(*map(int, cells.split("|")))
        for home, model, cells in rows
        if not model.isdigit()
    }

    assert len(counts) == 36
    assert details(counts) in written
    assert summary(counts) in written

"""`script/replay`: replays every recorded run, prints what came of them and writes it into its page.

With `--repairs`, what each repair of calls gains in them.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import logging
import sys
from collections import defaultdict
from dataclasses import replace
from functools import partial

from tests.behaviour.recorded_runs import repairs
from tests.behaviour.recorded_runs.dry import (
    ENOUGH,
    agree,
    grade_dry,
    without_artefacts,
)
from tests.behaviour.recorded_runs.hard_cases import read_hard_cases
from tests.behaviour.recorded_runs.replay import Way, count, replay
from tests.behaviour.recorded_runs.runs import read_batches
from tests.behaviour.recorded_runs.table import (
    PAGE,
    Count,
    details,
    summary,
    with_tables,
)
from tests.support.own_home import run_in_own_home
from tests.support.page_tables import with_table


def main() -> int:
    """Read the command line and replay; return the exit code, 1 when a run is lost that Home Assistant itself wins."""
    parser = argparse.ArgumentParser(
        prog="script/replay", description=f"Measure the tables of {PAGE.name}."
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=f"print the tables, but do not write {PAGE.name}",
    )
    parser.add_argument(
        "--dry",
        action="store_true",
        help="only count how often the grades of dry turns agree",
    )
    parser.add_argument(
        "--repairs",
        action="store_true",
        help=f"only measure what each repair of calls gains, and write {repairs.PAGE.name}",
    )
    arguments = parser.parse_args()
    is_dry_run: bool = arguments.dry_run
    logging.disable(logging.ERROR)
    if arguments.dry:
        return _count_grades()
    if arguments.repairs:
        return _measure_repairs(is_dry_run=is_dry_run)
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    lost = False
    for batch in read_batches():
        ways = [
            run_in_own_home(partial(replay, batch=batch, way=way))
            for way in (Way.CORE, Way.OURS, Way.ASKING)
        ]
        for core, ours, asking in zip(*ways, strict=True):
            counted = count(core, ours, asking)
            counts[batch.name, ours.run.model] += counted
            if counted.lost:
                lost = True
                sys.stderr.write(
                    f"lost: {ours.run.model} {ours.run.task}: {ours.cause}\n"
                )
    ordered = dict(sorted(counts.items()))
    sys.stdout.write(f"{summary(ordered)}\n{details(ordered)}")
    if not is_dry_run:
        PAGE.write_text(
            with_tables(PAGE.read_text(encoding="utf-8"), ordered), encoding="utf-8"
        )
    return int(lost)


def _measure_repairs(*, is_dry_run: bool) -> int:
    """Print what each repair gains; return 1 if one gains nothing."""
    gains = repairs.measure(repairs.REPAIRS, read_batches(), read_hard_cases())
    written, page = repairs.gains_table(gains), repairs.PAGE
    sys.stdout.write(written)
    if not is_dry_run:
        page.write_text(with_table(page.read_text(encoding="utf-8"), written), "utf-8")
    return int(any(one.right <= one.right_without for one in gains))


def _count_grades() -> int:
    """Print how many grades of dry turns are those that states give; return 1 if fewer than 95 % are."""
    runs = agreed = 0
    for recorded in read_batches():
        batch = replace(recorded, runs=without_artefacts(recorded))
        outcomes = run_in_own_home(partial(replay, batch=batch))
        grades = run_in_own_home(partial(grade_dry, batch=batch))
        agreeing = sum(map(agree, outcomes, grades, strict=True))
        sys.stdout.write(f"{batch.name}: {agreeing} of {len(grades)}\n")
        runs, agreed = runs + len(grades), agreed + agreeing
    sys.stdout.write(f"all: {agreed} of {runs}, {agreed / runs:.1%}\n")
    return int(agreed < ENOUGH * runs)


if __name__ == "__main__":
    sys.exit(main())

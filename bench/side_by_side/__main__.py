"""Runs the benchmark: every kind of measurement in a process of its own, then the results, the page and the plots.

A complete run on a quiet machine is published in `docs/`; a quick one, a rehearsal, or
one while others were at work, says so and is left in `dist/bench`. What fails is told
at once and in the page, and the rest goes on. The only module that prints.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.first_word.page import block_of
from bench.side_by_side import jobs, page, targets
from bench.side_by_side.machine import describe_machine
from bench.side_by_side.results import Results
from bench.side_by_side.run import Run
from demo.configuration import REPOSITORY

_MISSED: Final = 1
_FAILED: Final = 3
"""Status of a run in which something could not be measured."""
_REHEARSAL: Final = 0.04
"""Of everything, so that every kind of measurement is done once."""


def measure(plan: jobs.Plan, *, complete: bool) -> Results:
    """Do what is planned, and sum it up."""
    run = Run(_tell)
    machine = describe_machine(quick=not complete)
    asyncio.run(run.follow(plan))
    meanwhile = run.watch.others_took()
    return Results(
        machine=machine.model_copy(update={"others_meanwhile": meanwhile}),
        figures=run.figures(),
        profiles=tuple(run.profiles),
        failed=tuple(run.failed),
    )


def publish(results: Results, *, anyway: bool) -> Path:
    """Write results, page and plots; return where the page is."""
    public = anyway or (results.machine.was_quiet and not results.machine.quick)
    home = REPOSITORY / ("bench/pages" if public else "dist/bench")
    folder = home / "performance"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(
        results.model_dump_json(indent=1) + "\n", encoding="utf-8"
    )
    for name, drawn in page.draw_plots(results).items():
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
    tokens = block_of((REPOSITORY / "bench/pages/performance.md").read_text("utf-8"))
    (home / "performance.md").write_text(
        page.write_page(results, folder.name, tokens), encoding="utf-8"
    )
    return home / "performance.md"


def _tell(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="script/bench", description="Measures our agent beside core's."
    )
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_true",
        help="some minutes: the table of what must be reached",
    )
    extent.add_argument(
        "--rehearse",
        action="store_true",
        help="everything, with as few samples as can be",
    )
    extent.add_argument(
        "--results", type=Path, help="take the results of an earlier run from this file"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="status 1 when something that must be reached is not",
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write bench/pages/performance.md whatever the run was like",
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Read the command line, measure, publish; 1 when a target is checked and missed, 3 when something failed."""
    requested = _arguments(given)
    if requested.results:
        results = Results.model_validate_json(requested.results.read_bytes())
    elif requested.quick:
        results = measure(jobs.a_little(), complete=False)
    else:
        results = measure(
            jobs.everything(_REHEARSAL if requested.rehearse else 1),
            complete=not requested.rehearse,
        )
    if not requested.results or requested.publish:
        _tell(f"the page is {publish(results, anyway=requested.publish)}")
    if not results.machine.was_quiet:
        _tell("others were at work on this machine: do not trust the times")
    sys.stdout.write(page.target_table(results))
    for failure in results.failed:
        _tell(f"failed: {failure}")
    if results.failed:
        return _FAILED
    return (
        _MISSED
        if requested.check and any(row.met is False for row in targets.check(results))
        else 0
    )


if __name__ == "__main__":
    sys.exit(main())

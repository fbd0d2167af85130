"""Runs the benchmark: every kind of measurement in a process of its own, then the results, the page and the plots.

A run on a quiet machine is published in `docs/`; a quick one, or one while the machine was at work, says so and is left
in `dist/bench`. The only module that prints.
"""

import argparse
import asyncio
import itertools
import os
import platform
import statistics
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bench.side_by_side import page, targets
from bench.side_by_side.results import Figure, Machine, Results
from bench.side_by_side.worker import FIGURES
from demo.configuration import REPOSITORY

SIZES: Final = (10, 100, 300, 500, 2000)
_CORE: Final = ("llama_cpp", "litellm", "open_router", "openai_conversation", "anthropic", "ollama")
_PACKAGES: Final = ("homeassistant", "openai", "anthropic", "ollama", "aiohttp", "pydantic")

type Job = tuple[str, ...]
"""The arguments of a worker."""


def jobs(*, quick: bool) -> Iterator[Sequence[Job]]:
    """Yield what is measured, one after the other; what stands together measures no time and may run at once."""
    everybody = ("chatterbox", *_CORE)
    if quick:
        only = tuple(itertools.chain.from_iterable(("--only", name) for name in everybody))
        two = ("--only", "chatterbox", "--only", "llama_cpp")
        for size in ("10", "300"):
            yield [("turns", "--entities", size, "--rounds", "3", "--turns", "1", *only)]
        yield [("prompts", "--entities", "300", *only), ("prefix", "--entities", "300", *only)]
        yield [("growth", "--rounds", "1", *two)]
        yield [("five", "--rounds", "2", *only)]
        yield from _starts(("chatterbox", "llama_cpp"), 1)
        return
    yield from _starts(everybody, 3)
    for entities in SIZES:
        thorough = entities in (targets.SMALL, targets.LARGE)
        for kind in ("turns", "pipeline", "fragments") if thorough else ("turns",):
            yield [(kind, "--entities", str(entities), "--rounds", "12" if thorough else "4", "--turns", "2")]
        yield [("prompts", "--entities", str(entities))]
    yield [("crowds", "--rounds", "5")]
    yield [("growth", "--rounds", "12")]
    yield [("five", "--rounds", "6")]
    for size in ("10", "300"):
        yield [("allocations", "--entities", size, "--rounds", "8")]
    held = ("--minutes", "10", "--conversations", "10000")
    yield [
        ("prefix", "--entities", "300", "--minutes", "10"),
        ("idle", "--only", "chatterbox", *held),
        ("idle", "--only", "llama_cpp", *held),
    ]


def _starts(names: Sequence[str], times: int) -> Iterator[Sequence[Job]]:
    for _ in range(times):
        for name in names:
            yield [("import", "--only", name)]
            yield [("setup", "--only", name)]


async def _run(job: Job) -> list[Figure]:
    """Run a worker; raises RuntimeError with what it said when it fails."""
    _tell(f"bench: {' '.join(job)}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.side_by_side.worker", *job),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(job)} failed:\n{errors.decode()[-3000:]}")
    return FIGURES.validate_json(output.splitlines()[-1])


async def measure(*, quick: bool) -> Results:
    """Measure everything."""
    machine = _machine(quick=quick)
    figures: list[Figure] = []
    for together in jobs(quick=quick):
        for one in await asyncio.gather(*map(_run, together)):
            figures += one
    return Results(machine=machine, figures=tuple(_merged(figures)))


def _merged(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Make one figure of those that were measured several times, in processes of their own."""
    same: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        same.setdefault((figure.scenario, figure.entities, figure.agent, figure.measure), []).append(figure)
    for many in same.values():
        medians = [figure.median for figure in many]
        spread = {"median": statistics.median(medians), "low": min(medians), "high": max(medians), "samples": len(many)}
        yield many[0] if len(many) == 1 else many[0].model_copy(update=spread)


def _machine(*, quick: bool) -> Machine:
    cores = os.cpu_count() or 1
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return Machine(
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        processor=models[0] if models else platform.machine(),
        cores=cores,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        versions={name: version(name) for name in _PACKAGES},
        load_before=os.getloadavg()[0] / cores,
        quick=quick,
    )


def publish(results: Results) -> Path:
    """Write results, page and plots; return where the page is."""
    public = results.machine.was_quiet and not results.machine.quick
    home = REPOSITORY / ("docs" if public else "dist/bench")
    folder = home / "performance"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
    for name, drawn in page.draw_plots(results).items():
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
    (home / "performance.md").write_text(page.write_page(results, folder.name), encoding="utf-8")
    return home / "performance.md"


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    """Read the command line, measure, publish; 1 when a target is checked and missed."""
    parser = argparse.ArgumentParser(prog="script/bench", description="Measures our agent beside core's.")
    parser.add_argument("--quick", action="store_true", help="about a minute, with few samples")
    parser.add_argument("--check", action="store_true", help="compare with what must be reached")
    parser.add_argument("--results", type=Path, help="take the results of an earlier run from this file")
    given = parser.parse_args()
    if given.results:
        results = Results.model_validate_json(given.results.read_bytes())
    else:
        results = asyncio.run(measure(quick=given.quick))
        _tell(f"bench: the page is {publish(results)}")
    if not results.machine.was_quiet:
        _tell(f"bench: the machine was at work (load {results.machine.load_before:.1f} a core): do not trust the times")
    sys.stdout.write(page.must_reach(results))
    return int(given.check and any(row.met is False for row in targets.check(results)))


if __name__ == "__main__":
    sys.exit(main())

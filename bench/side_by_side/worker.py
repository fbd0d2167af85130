"""The process in which one kind of thing is measured: a Home Assistant of its own, for as long as that takes.

Run as `python -m bench.side_by_side.worker KIND …`; its last line is what came out, as
JSON. A line before it says when from now on it is mostly waited. Knows which kinds
there are; must not know how many are run, or what is made of their figures.
"""

import argparse
import asyncio
import logging
import signal
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from homeassistant import runner
from homeassistant.util.resource import set_open_file_descriptor_limit

from bench.side_by_side import start
from bench.side_by_side.cost import (
    measure_crowds,
    measure_fragments,
    measure_pipeline,
    measure_turns,
)
from bench.side_by_side.growth import measure_five_tools, measure_growth
from bench.side_by_side.memory import measure_allocations, measure_idle
from bench.side_by_side.prompts import measure_prefix, measure_prompts, measure_warm_up
from bench.side_by_side.results import MEASURED, RESTS, Measured
from bench.side_by_side.setting import Extent, Setting, furnished
from bench.side_by_side.where_time_goes import (
    measure_first_words,
    measure_where_time_goes,
)

KINDS: Final[Mapping[str, Callable[[Setting], Awaitable[Measured]]]] = {
    "turns": measure_turns,
    "pipeline": measure_pipeline,
    "fragments": measure_fragments,
    "crowds": measure_crowds,
    "prompts": measure_prompts,
    "prefix": measure_prefix,
    "warm_up": measure_warm_up,
    "growth": measure_growth,
    "five": measure_five_tools,
    "allocations": measure_allocations,
    "idle": measure_idle,
    "first": measure_first_words,
    "profile": measure_where_time_goes,
}
"""The measurements with everybody in one home; `import` and `setup` are measured of one agent each."""


async def _measure(
    kind: str, folder: Path, entities: int, extent: Extent, only: list[str]
) -> Measured:
    if kind == "setup":
        return await start.measure_set_up(folder, only[0], entities)
    async with furnished(folder, entities, extent, only, _rest) as setting:
        return await KINDS[kind](setting)


def _rest() -> None:
    sys.stdout.write(f"{RESTS}\n")
    sys.stdout.flush()


def _run(kind: str, entities: int, extent: Extent, only: list[str]) -> Measured:
    """Measure in the event loop that Home Assistant makes for itself."""
    if kind == "import":
        return start.measure_import(only[0])
    set_open_file_descriptor_limit()
    loop = runner.create_event_loop()
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory(
        prefix="chatterbox-bench-", ignore_cleanup_errors=True
    ) as folder:
        return loop.run_until_complete(
            _measure(kind, Path(folder), entities, extent, only)
        )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="Measures one kind of thing.")
    parser.add_argument("kind", choices=[*KINDS, "import", "setup"])
    parser.add_argument("--entities", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    logging.disable()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that what was written to disk is taken away
    extent = Extent(
        given.rounds,
        given.turns,
        minutes=given.minutes,
        conversations=given.conversations,
    )
    try:
        measured = _run(given.kind, given.entities, extent, given.only)
    except Exception:
        # Home Assistant has put its log, which is off, in the place of Python's report
        traceback.print_exc()
        raise
    sys.stdout.write(f"\n{MEASURED.dump_json(measured).decode()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

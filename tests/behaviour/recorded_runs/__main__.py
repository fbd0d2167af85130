"""`script/replay`: replays every recorded run, prints what came of them and writes it into its page."""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import asyncio
import logging
import sys
import tempfile
from collections import defaultdict

from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from tests.behaviour.recorded_runs.replay import Outcome, Way, count, replay
from tests.behaviour.recorded_runs.runs import Batch, read_batches
from tests.behaviour.recorded_runs.table import PAGE, Count, details, summary, with_tables


def main() -> int:
    """Read the command line and replay; return the exit code, 1 when a run is lost that Home Assistant itself wins."""
    parser = argparse.ArgumentParser(prog="script/replay", description=f"Measure the tables of {PAGE.name}.")
    parser.add_argument("--dry-run", action="store_true", help=f"print the tables, but do not write {PAGE.name}")
    is_dry_run = parser.parse_args().dry_run
    logging.disable(logging.ERROR)
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    lost = False
    for batch in read_batches():
        ways = [asyncio.run(_replay_in_own_home_assistant(batch, way)) for way in (Way.CORE, Way.OURS, Way.ASKING)]
        for core, ours, asking in zip(*ways, strict=True):
            counted = count(core, ours, asking)
            counts[batch.name, ours.run.model] += counted
            if counted.lost:
                lost = True
                sys.stderr.write(f"lost: {ours.run.model} {ours.run.task}: {ours.cause}\n")
    ordered = dict(sorted(counts.items()))
    sys.stdout.write(f"{summary(ordered)}\n{details(ordered)}")
    if not is_dry_run:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), ordered), encoding="utf-8")
    return int(lost)


async def _replay_in_own_home_assistant(batch: Batch, way: Way) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        async with async_test_home_assistant(config_dir=folder) as hass:
            frame.async_setup(hass)
            # As the `hass` fixture does: whose code is running is asked of this instance.
            hass.data.pop(DATA_CUSTOM_COMPONENTS)
            try:
                return await replay(hass, batch, way)
            finally:
                await hass.async_stop(force=True)


if __name__ == "__main__":
    sys.exit(main())

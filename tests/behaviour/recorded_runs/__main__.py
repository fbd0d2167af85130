"""`script/replay`: replays every recorded run, prints the table of what came of them and writes it into its page.

Knows how a Home Assistant is started for a while outside of a test; must not know how a run is replayed.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import logging
import sys
import tempfile
from collections.abc import Iterable, Iterator

from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from tests.behaviour.recorded_runs.replay import Outcome, count, replay
from tests.behaviour.recorded_runs.runs import RecordedRun, models_of, read_runs, runs_in
from tests.behaviour.recorded_runs.table import PAGE, counted_table
from tests.support.assist_mini import Home, read_homes
from tests.support.page_tables import write_table


def main() -> int:
    """Read the command line and replay; return the exit code, 1 when a run came out worse than it was recorded."""
    logging.disable(logging.WARNING)
    outcomes: dict[tuple[str, str], list[Outcome]] = {}

    def measure() -> str:
        outcomes.update(asyncio.run(_replay_all(read_runs())))
        return counted_table({batch: count(of_batch) for batch, of_batch in outcomes.items()})

    write_table("script/replay", PAGE, measure)
    return 1 if any([*_tell_worse(outcome for of_batch in outcomes.values() for outcome in of_batch)]) else 0


async def _replay_all(runs: Iterable[RecordedRun]) -> dict[tuple[str, str], list[Outcome]]:
    """Return the outcomes by the names of home and model."""
    runs = tuple(runs)
    return {
        (home.name, model): await _replay_in_own_home_assistant(home, runs_in(home, model, runs))
        for home in read_homes()
        for model in models_of(runs)
    }


async def _replay_in_own_home_assistant(home: Home, runs: tuple[RecordedRun, ...]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        async with async_test_home_assistant(config_dir=folder) as hass:
            frame.async_setup(hass)
            # As the `hass` fixture does: whose code is running is asked of this instance.
            frame.async_setup(hass)
            hass.data.pop(DATA_CUSTOM_COMPONENTS)
            try:
                return await replay(hass, home, runs)
            finally:
                await hass.async_stop(force=True)


def _tell_worse(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    for outcome in outcomes:
        if outcome.worse_states:
            sys.stderr.write(f"worse: {outcome.run.model} {outcome.run.task} {outcome.worse_states}\n")
            yield outcome


if __name__ == "__main__":
    sys.exit(main())

"""`script/asks`: counts questions and attacks, prints what came of each attack and the table, and writes it."""

import tests.support.early_plugin  # isort: skip  # noqa: F401  # before what it mends

import asyncio
import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from custom_components.chatterbox.settings.rules import OutsideCare
from tests.behaviour.asks.counting import PAGE, asks_table, count_everyday, count_recorded
from tests.behaviour.recorded_runs.runs import read_batches
from tests.support.page_tables import write_table

_SUITE: Final = "tests/behaviour/hostile"
_OUTCOME: Final = re.compile(r"^tests/behaviour/hostile/(.+?) (SUB|)(PASSED|FAILED|ERROR)(\[.*|)", re.MULTILINE)


def _attack() -> list[bool]:
    """Return of each attack of the hostile suite whether it was stopped. Subtests are attacks on one home."""
    command = (sys.executable, "-m", "pytest", "-v", "-n0", "--tb=no", "-p", "no:cacheprovider", _SUITE)
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _OUTCOME.findall(run.stdout)
    attacked_often = {name for name, is_subtest, *_ in found if is_subtest}
    outcomes = {
        name + attack: outcome
        for name, is_subtest, outcome, attack in found
        if is_subtest or name not in attacked_often
    }
    for name, outcome in outcomes.items():
        sys.stdout.write(f"{'stopped' if outcome == 'PASSED' else 'THROUGH'}  {name}\n")
    return [outcome == "PASSED" for outcome in outcomes.values()]


async def _in_a_home[Counted](count: Callable[[HomeAssistant], Awaitable[Counted]]) -> Counted:
    with tempfile.TemporaryDirectory() as folder:
        async with async_test_home_assistant(config_dir=folder) as hass:
            frame.async_setup(hass)
            hass.data.pop(DATA_CUSTOM_COMPONENTS)
            try:
                return await count(hass)
            finally:
                await hass.async_stop(force=True)


def _measure() -> str:
    everyday = {care: asyncio.run(_in_a_home(partial(count_everyday, care=care))) for care in OutsideCare}
    recorded = [asyncio.run(_in_a_home(partial(count_recorded, batch=batch))) for batch in read_batches()[:-1]]
    return asks_table(everyday, recorded, _attack())


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    write_table("script/asks", PAGE, _measure)

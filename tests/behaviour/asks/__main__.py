"""`script/asks`: counts questions and attacks, prints what came of each attack and the table, and writes it."""

import tests.support.early_plugin  # isort: skip  # noqa: F401  # before what it mends

import logging
import re
import subprocess
import sys
from functools import partial
from typing import Final

from custom_components.chatterbox.settings.rules import OutsideCare
from tests.behaviour.asks.counting import (
    PAGE,
    asks_table,
    count_everyday,
    count_recorded,
)
from tests.behaviour.recorded_runs.runs import read_batches
from tests.support.own_home import run_in_own_home
from tests.support.page_tables import write_table

_SUITE: Final = "tests/behaviour/hostile"
_OUTCOME: Final = re.compile(
    r"^tests/behaviour/hostile/(.+?) (SUB|)(PASSED|FAILED|ERROR)(\[.*|)", re.MULTILINE
)


def _attack() -> list[bool]:
    """Return of each attack of the hostile suite whether it was stopped. Subtests are attacks on one home."""
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-n0",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        _SUITE,
    )
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


def _measure() -> str:
    everyday = {
        care: run_in_own_home(partial(count_everyday, care=care))
        for care in OutsideCare
    }
    recorded = [
        run_in_own_home(partial(count_recorded, batch=batch))
        for batch in read_batches()[:-1]
    ]
    return asks_table(everyday, recorded, _attack())


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    write_table("script/asks", PAGE, _measure)

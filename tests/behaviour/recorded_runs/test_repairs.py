"""A repair gains the runs that do not come right without it."""

from dataclasses import replace

import pytest

from tests.behaviour.recorded_runs.hard_cases import read_hard_cases
from tests.behaviour.recorded_runs.repairs import REPAIRS, Gain, measure
from tests.behaviour.recorded_runs.runs import read_batches


@pytest.mark.usefixtures("socket_enabled")
def test_a_repair_gains_what_fails_without_it() -> None:
    garage = next(one for one in read_batches() if one.name == "home1-us-cover-garage")
    of_model = [run for run in garage.runs if run.model == "qwen3-4b-instruct"]
    runs = [replace(garage, runs=tuple(of_model[:4]))]
    cases = [one for one in read_hard_cases() if "stop_the_vacuum-4" in one.task]
    chosen = [
        one
        for one in REPAIRS
        if one.name
        in {"positions of what opens and closes", "vacuums turned on and off"}
    ]

    assert measure(chosen, runs, cases) == [
        Gain(chosen[0], 4, 4, 0),
        Gain(chosen[1], 1, 1, 0),
    ]

"""A repair gains the runs that do not come right without it."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.tools.repair import intent_calls
from tests.behaviour.recorded_runs.hard_cases import read_hard_cases
from tests.behaviour.recorded_runs.repairs import REPAIRS, measure
from tests.behaviour.recorded_runs.runs import read_batches


def test_the_gain_of_each_repair_of_an_intent_is_measured() -> None:
    measured = [getattr(one.owner, one.function) for one in REPAIRS]

    assert [one for one in measured if one in intent_calls.ORDER] == [
        *intent_calls.ORDER
    ]


@pytest.mark.usefixtures("socket_enabled")
def test_a_repair_gains_what_fails_without_it() -> None:
    garage = next(one for one in read_batches() if one.name == "home1-us-cover-garage")
    of_model = [run for run in garage.runs if run.model == "qwen3-4b-instruct"]
    runs = [replace(garage, runs=tuple(of_model[:4]))]
    cases = [one for one in read_hard_cases() if "stop_the_vacuum-4" in one.task]

    gains = [
        (one.repair.name, one.applied, one.right, one.right_without)
        for one in measure(REPAIRS, runs, cases)
    ]

    assert gains == [
        ("calls and headers in the text", 5, 5, 5),
        ("the name of the tool", 5, 5, 0),
        ("a list of one", 1, 1, 1),
        ("useless filters", 1, 1, 0),
        ("positions of what opens and closes", 4, 4, 0),
        ("vacuums turned on and off", 1, 1, 0),
        ("short names", 0, 0, 0),
    ]

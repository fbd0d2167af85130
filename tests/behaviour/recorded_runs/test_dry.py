"""Dry turns are graded as the states would be, had the same calls run; `script/replay --dry` counts all."""

from dataclasses import replace

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.recorded_runs.dry import (
    ENOUGH,
    agree,
    grade_dry,
    without_artefacts,
)
from tests.behaviour.recorded_runs.replay import replay
from tests.behaviour.recorded_runs.runs import read_batches

pytestmark = pytest.mark.thorough

SAMPLE = 9
"""One run of so many."""


@pytest.mark.usefixtures("socket_enabled")
async def test_grades_agree_with_the_states_that_tasks_want(
    hass: HomeAssistant,
) -> None:
    agreed: dict[tuple[str, str], bool] = {}
    for batch in read_batches():
        sample = replace(batch, runs=without_artefacts(batch)[::SAMPLE])
        outcomes = await replay(hass, sample)
        for outcome, grade in zip(outcomes, await grade_dry(hass, sample), strict=True):
            agreed[outcome.run.model, outcome.run.task] = agree(outcome, grade)

    assert len(agreed) > 60
    wrong = [run for run, is_agreed in agreed.items() if not is_agreed]
    assert len(wrong) <= len(agreed) * (1 - ENOUGH), wrong

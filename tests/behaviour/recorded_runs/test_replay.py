"""What models really said leads, through the conversation entity, to what they asked for: as recorded or better."""

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.recorded_runs.replay import Outcome, count, replay
from tests.behaviour.recorded_runs.runs import NOT_DONE, models_of, read_runs, runs_in
from tests.behaviour.recorded_runs.table import PAGE, row_of
from tests.support.assist_mini import Home, read_homes

RUNS = read_runs()
HOMES = read_homes()
MODELS = models_of(RUNS)
_OPENED_OR_CLOSED = {("HassTurnOn", "HassSetPosition"), ("HassTurnOff", "HassSetPosition")}
"""What ran for a call to set a position that a device does not take."""


def test_every_recorded_run_is_replayed() -> None:
    replayed = [run for home in HOMES for model in MODELS for run in runs_in(home, model, RUNS)]

    assert len(replayed) == len(RUNS) == 588
    assert {(run.model, run.task) for run in replayed} == {(run.model, run.task) for run in RUNS}


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
async def test_recorded_runs_come_out_as_recorded_or_better(hass: HomeAssistant, home: Home) -> None:
    runs = [run for model in MODELS for run in runs_in(home, model, RUNS)]
    outcomes = await replay(hass, home, runs)

    assert [outcome.run for outcome in outcomes] == runs
    for outcome in outcomes:
        assert outcome.worse_states == {}, (outcome.run.model, outcome.run.task)
        assert _calls_that_failed_only_now(outcome) == [], (outcome.run.model, outcome.run.task)
        assert _is_spoken(outcome), (outcome.run.model, outcome.run.task)
        assert not (outcome.succeeded and NOT_DONE in outcome.speech), (outcome.run.model, outcome.run.task)
    counts = [count(outcome for outcome in outcomes if outcome.run.model == model) for model in MODELS]
    assert row_of(home.name, counts) in PAGE.read_text(encoding="utf-8"), "run script/replay"


def _calls_that_failed_only_now(outcome: Outcome) -> list[str]:
    """Return the recorded calls that were not run, or failed although they had succeeded."""
    recorded = [call.name for message in outcome.run.asst for call in message.tool_calls]
    called = [call.name.rpartition("__")[2] for call in outcome.calls]
    repaired = zip(called, recorded, strict=False)
    called[: len(recorded)] = [said if (ran, said) in _OPENED_OR_CLOSED else ran for ran, said in repaired]
    failed = [
        call.name
        for call, then in zip(outcome.calls, outcome.run.results, strict=False)
        if call.is_error and not then.is_error
    ]
    return failed if called == recorded else recorded


def _is_spoken(outcome: Outcome) -> bool:
    """Whether there is an answer, and it is the model's where the model had one."""
    speech = outcome.speech.strip().removesuffix(f" {NOT_DONE}")
    return speech == outcome.run.answer if outcome.run.answer else bool(speech)

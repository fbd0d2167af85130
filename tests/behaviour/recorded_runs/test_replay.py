"""Recorded answers of models lead, through the conversation entity, to the requested outcome, as recorded or better."""

import re
from collections import defaultdict

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.recorded_runs.replay import (
    Outcome,
    Way,
    count,
    replay,
    tells_success,
)
from tests.behaviour.recorded_runs.runs import Batch, read_batches, read_runs
from tests.behaviour.recorded_runs.table import PAGE, Count, row_of
from tests.support.talk import NOT_DONE

BATCHES = read_batches()
HARD = BATCHES[-1]
SOME = frozenset({"home1-us-vacuum"})
_OPENED_OR_CLOSED = {
    ("HassTurnOn", "HassSetPosition"),
    ("HassTurnOff", "HassSetPosition"),
}
"""The calls that ran to set a position that a device does not take."""


def test_every_recorded_run_is_replayed() -> None:
    replayed = [run for batch in BATCHES if batch is not HARD for run in batch.runs]

    assert len(replayed) == len(read_runs()) == 588
    assert {(run.model, run.task) for run in replayed} == {
        (run.model, run.task) for run in read_runs()
    }
    assert len(HARD.runs) == 31


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(
            one, marks=() if one.name in SOME else pytest.mark.thorough, id=one.name
        )
        for one in BATCHES
    ],
)
async def test_no_run_is_lost_and_the_page_tells_what_came_of_them(
    hass: HomeAssistant, batch: Batch
) -> None:
    outcomes = await replay(hass, batch)

    assert [outcome.run for outcome in outcomes] == [*batch.runs]
    for outcome in outcomes if batch is not HARD else ():
        assert outcome.worse_states == {}, (outcome.run.model, outcome.run.task)
        assert _calls_that_failed_only_now(outcome) == [], (
            outcome.run.model,
            outcome.run.task,
        )
        assert outcome.is_chosen or _is_spoken(outcome), (
            outcome.run.model,
            outcome.run.task,
        )
        assert not (outcome.succeeded and NOT_DONE in outcome.speech), (
            outcome.run.model,
            outcome.run.task,
        )
    core, asking = [await replay(hass, batch, way) for way in (Way.CORE, Way.ASKING)]
    counts: defaultdict[str, Count] = defaultdict(Count)
    for beside, ours, requested in zip(core, outcomes, asking, strict=True):
        counts[ours.run.model] += count(beside, ours, requested)
    page = PAGE.read_text(encoding="utf-8")
    for model, counted in counts.items():
        assert counted.lost == 0, model
        assert row_of(batch.name, model, counted) in page, "run script/replay"


@pytest.mark.parametrize(
    ("text", "is_success"),
    [
        ("The garage door has been closed.", True),
        ("I've set the irrigation valve to 50%.", True),
        ("The outdoor speakers are now muted.", True),
        ("Done: Kitchen Light.", True),
        ("Do you want to open the irrigation valve?", False),
        ("I couldn't close the garage door.", False),
        (
            "The command to turn off the light was attempted, but an error occurred.",
            False,
        ),
        ("You have Outdoor Speakers located in the Rooftop Terrace.", False),
    ],
)
def test_an_answer_that_tells_success_is_known(text: str, is_success: bool) -> None:  # noqa: FBT001  # as pytest calls
    assert tells_success(text) is is_success


def _calls_that_failed_only_now(outcome: Outcome) -> list[str]:
    """Return the recorded calls that were not run, or failed although they had succeeded."""
    recorded = [
        call.name for message in outcome.run.asst for call in message.tool_calls
    ]
    called = [call.name.rpartition("__")[2] for call in outcome.calls]
    repaired = zip(called, recorded, strict=False)
    called[: len(recorded)] = [
        words if (ran, words) in _OPENED_OR_CLOSED else ran for ran, words in repaired
    ]
    failed = [
        call.name
        for call, then in zip(outcome.calls, outcome.run.results, strict=False)
        if call.is_error and not then.is_error
    ]
    return failed if called == recorded else recorded


def _is_spoken(outcome: Outcome) -> bool:
    """Whether there is an answer, and it is the model's where the model had one."""
    speech = outcome.speech.strip().removesuffix(f" {NOT_DONE}")
    return (
        _letters(speech) == _letters(outcome.run.answer)
        if outcome.run.answer
        else bool(speech)
    )


def _letters(text: str) -> str:
    """Return the end of a text without what a satellite does not pronounce, such as the numbers of a list."""
    return re.sub(r"[\W_]+", "", text.replace("e.g.", "for example"))[-60:]

"""Replays runs dry, and grades them by what their task asks for: nothing happens, so that states cannot tell."""

from collections.abc import Mapping
from typing import Final

from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Event, HomeAssistant
from pydantic import JsonValue

from custom_components.chatterbox.evaluate.grading import (
    Grade,
    RequestGroup,
    TrialRequest,
    async_grade,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import DryAsker, DryConversation
from tests.behaviour.recorded_runs.replay import (
    ARTEFACTS,
    SILENCE,
    Outcome,
    agent,
    begin,
)
from tests.behaviour.recorded_runs.runs import Batch, RecordedRun
from tests.demo_house.move_in import move_in
from tests.support.assist_mini import Change, Task
from tests.support.config_entries import prepare
from tests.support.servers.script import Script
from tests.support.talk import AGENT

ENOUGH: Final = 0.95
"""The share of grades that has to agree."""
_PERSON: Final = DryAsker(Speaker(asking=Asking.PERSON), "en", "assist_satellite.hall")
_FULL: Final = {
    "brightness": 255 / 100,
    "volume_level": 1 / 100,
    "current_position": 1,
    "percentage": 1,
}
"""Attributes of states by what one percent of them is."""
_SLOTS: Final = {"current_position": "position"}
"""Values of calls that have other names than the attributes of states."""


def agree(outcome: Outcome, grade: Grade) -> bool:
    """Return whether a grade is that of the states that the task of a run wants, where its calls were run.

    A call that waits for a yes is right, but not a question for one of several things.
    """
    is_which_one = outcome.is_chosen and not outcome.is_agreed
    return (grade is Grade.RIGHT) is (outcome.succeeded and not is_which_one)


def without_artefacts(batch: Batch) -> tuple[RecordedRun, ...]:
    """Return the runs of a batch whose tasks want what their words say."""
    return tuple(run for run in batch.runs if not ARTEFACTS.match(run.task))


async def grade_dry(hass: HomeAssistant, batch: Batch) -> list[Grade]:
    """Return the grades of the runs of a batch, each in the states that its task begins with.

    Raises AssertionError if anything in the home changes.
    """
    await prepare(hass)
    entry = await move_in(hass, batch.home)
    grades: list[Grade] = []
    async with agent(hass, asks=False) as model:
        for run in batch.runs:
            await begin(hass, entry, batch, run)
            model.play(
                Script(
                    answers=(*(message.as_scripted() for message in run.asst), SILENCE)
                )
            )
            talk = DryConversation.with_agent(hass, AGENT, _PERSON)
            assert talk
            request = TrialRequest(
                RequestGroup.ACT, run.text, _wanted(run, batch.tasks[run.task])
            )
            states, calls = hass.states.async_all(), list[Event]()
            stop = hass.bus.async_listen(EVENT_CALL_SERVICE, calls.append)
            grades.append(
                await async_grade(hass, request, await talk.async_say(run.text), "en")
            )
            await hass.async_block_till_done()
            stop()
            assert (hass.states.async_all(), calls) == (states, []), run.task
    await hass.config_entries.async_remove(entry.entry_id)
    return grades


def _wanted(run: RecordedRun, task: Task) -> Mapping[str, Mapping[str, JsonValue]]:
    return {
        entity_id: _wanted_of(
            run, entity_id, change, task.ignore_changes.get(entity_id, ())
        )
        for entity_id, change in task.expect_changes.items()
    }


def _wanted_of(
    run: RecordedRun, entity_id: str, change: Change, ignored: tuple[str, ...]
) -> dict[str, JsonValue]:
    """Return the changes that calls have to bring about: values only where the words name one."""
    if entity_id.startswith("todo."):
        return {"action": "todo.add_item"}
    wanted: dict[str, JsonValue] = (
        {} if change.state is None else {"state": change.state}
    )
    for name, value in change.attributes.items():
        if name == "media_track":
            wanted["action"] = "media_player.media_next_track"
        elif (
            name in _FULL
            and name not in ignored
            and isinstance(value, (int, float))
            and "%" in run.text
        ):
            wanted[_SLOTS.get(name, name)] = round(value / _FULL[name])
    return wanted

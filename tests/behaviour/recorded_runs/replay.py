"""Replays runs: a server says what a model said then, and the conversation entity acts on it now.

Knows how the home and the agent are set up and where a turn shows what it did; must not know which outcome is right:
that is told by the task of a run.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from homeassistant.components import conversation
from homeassistant.core import Context, Event, HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.demo_house.const import CONF_SETUP
from tests.behaviour.recorded_runs.runs import RecordedRun
from tests.behaviour.recorded_runs.table import Count
from tests.demo_house.move_in import move_in, states_of
from tests.support.assist_mini import Home, Task, snapshot, tasks_by_id
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT

_SATELLITE = "assist_satellite.hall"
"""Where somebody can be asked."""
_SILENCE = ScriptedAnswer(content="")
"""What a server sends for a model that has nothing to say, as the recorded ones had after some calls."""


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool call of the turn."""

    name: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run this time."""

    run: RecordedRun
    wrong_states: dict[str, set[str]]
    calls: tuple[CalledTool, ...]
    speech: str

    @property
    def succeeded(self) -> bool:
        """Whether every state is as it has to be."""
        return not self.wrong_states

    @property
    def worse_states(self) -> dict[str, set[str]]:
        """Which attributes came out wrong that were right when the run was recorded, by entity id."""
        then = self.run.wrong_states
        return {
            entity_id: worse
            for entity_id, wrong in self.wrong_states.items()
            if (worse := wrong - then.get(entity_id, set()))
        }


async def replay(hass: HomeAssistant, home: Home, runs: Iterable[RecordedRun], *, asks: bool = False) -> list[Outcome]:
    """Replay the runs of one home, each from the states that its task begins with.

    Unless the agent `asks`, it does what a model did, whatever somebody would say to it.
    """
    await prepare(hass)
    tasks = tasks_by_id([home])
    entry = await move_in(hass, home.description)
    async with _agent(hass, asks=asks) as model:
        return [await _replay_run(hass, entry, model, tasks[run.task_id][1], run, asks=asks) for run in runs]


@asynccontextmanager
async def _agent(hass: HomeAssistant, *, asks: bool) -> AsyncGenerator[ScriptedChatCompletions]:
    """Run a model server and an agent that uses it, with one connection for all runs."""
    model = ScriptedChatCompletions(Script())
    async with serving(model.application()) as address:
        entry = await set_up(hass, server_entry(address, rules=[] if asks else [{"verdict": "allow"}]))
        yield model
        assert await hass.config_entries.async_unload(entry.entry_id)


async def _replay_run(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    model: ScriptedChatCompletions,
    task: Task,
    run: RecordedRun,
    *,
    asks: bool,
) -> Outcome:
    hass.config_entries.async_update_entry(entry, data={**entry.data, CONF_SETUP: task.initial_states()})
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    before = snapshot(states_of(hass, entry))
    model.play(Script(answers=(*(message.as_scripted() for message in run.asst), _SILENCE)))
    turns: list[Event] = []
    stop_listening = hass.bus.async_listen(EVENT_TURN_FINISHED, turns.append)
    heard_by = _SATELLITE if asks else None
    result = await conversation.async_converse(hass, run.text, None, Context(), "en", AGENT, satellite_id=heard_by)
    await hass.async_block_till_done()
    stop_listening()
    (turn,) = turns
    return Outcome(
        run=run,
        wrong_states=task.wrong_states(before, snapshot(states_of(hass, entry))),
        calls=tuple(CalledTool(call["name"], call["is_error"]) for call in turn.data["tool_calls"]),
        speech=str(result.response.speech.get("plain", {}).get("speech", "")),
    )


def count(outcomes: Iterable[Outcome]) -> Count:
    """Count how many runs succeeded, then and now."""
    return sum((Count(not outcome.run.unexpected, outcome.succeeded, 1) for outcome in outcomes), start=Count())

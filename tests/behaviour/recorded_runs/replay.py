"""Replays runs: a server says what a model said then, and the conversation entity acts on it now.

Knows how the home and the agent are set up and where a turn shows what it did; must not know which outcome is right:
that is told by the task of a run.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp.test_utils import TestServer
from homeassistant.components import conversation
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_RULES,
    DOMAIN,
    EVENT_TURN_FINISHED,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.demo_house.const import CONF_SETUP
from tests.behaviour.recorded_runs.runs import RecordedRun
from tests.behaviour.recorded_runs.table import Count
from tests.demo_house.move_in import move_in, states_of
from tests.support.assist_mini import Home, Task, snapshot, tasks_by_id
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

_MODEL = "recorded"
_AGENT = "conversation.recorded"
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


class _RecordedModel(ScriptedChatCompletions):
    """A model server whose script can be changed, so that one connection serves all runs."""

    def play_run(self, run: RecordedRun) -> None:
        """Say what the model said in `run`; after that, nothing."""
        answers = tuple(
            ScriptedAnswer(
                content=message.content,
                tool_calls=tuple(ScriptedCall(name=call.name, arguments=call.args) for call in message.tool_calls),
            )
            for message in run.asst
        )
        self.play(Script(models=(_MODEL,), answers=(*answers, _SILENCE)))
        self.requests.clear()


async def replay(hass: HomeAssistant, home: Home, runs: Iterable[RecordedRun]) -> list[Outcome]:
    """Replay the runs of one home, each from the states that its task begins with."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    tasks = tasks_by_id([home])
    entry = await move_in(hass, home.description)
    async with _agent(hass) as model:
        return [await _replay_run(hass, entry, model, tasks[run.task_id][1], run) for run in runs]


@asynccontextmanager
async def _agent(hass: HomeAssistant) -> AsyncGenerator[_RecordedModel]:
    """Run a model server and an agent that uses it."""
    model = _RecordedModel(Script(models=(_MODEL,)))
    async with TestServer(model.application()) as server:
        entry = MockConfigEntry(
            domain=DOMAIN,
            data={CONF_KIND: ServiceKind.OPENAI_CHAT, CONF_BASE_URL: str(server.make_url("/v1"))},
            subentries_data=[
                {
                    "subentry_type": SUBENTRY_CONVERSATION,
                    "title": "Recorded",
                    "unique_id": None,
                    # What a model does is replayed, not what somebody says to it.
                    "data": {CONF_MODEL: _MODEL, CONF_LLM_HASS_API: ["assist"], CONF_RULES: [{"verdict": "allow"}]},
                }
            ],
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        yield model
        assert await hass.config_entries.async_unload(entry.entry_id)


async def _replay_run(
    hass: HomeAssistant, entry: MockConfigEntry, model: _RecordedModel, task: Task, run: RecordedRun
) -> Outcome:
    hass.config_entries.async_update_entry(entry, data={**entry.data, CONF_SETUP: task.initial_states()})
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    before = snapshot(states_of(hass, entry))
    model.play_run(run)
    turns: list[Event] = []
    stop_listening = hass.bus.async_listen(EVENT_TURN_FINISHED, turns.append)
    result = await conversation.async_converse(hass, run.text, None, Context(), "en", _AGENT)
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

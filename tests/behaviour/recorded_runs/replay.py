"""Replays runs: a server says what a model said then, and an agent acts on it now; what comes of it is counted.

Which states are right is told by the task of a run.
"""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from homeassistant.components import conversation
from homeassistant.core import Context, Event, HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.demo_house.const import CONF_SETUP
from tests.behaviour.recorded_runs.core import act_as_core
from tests.behaviour.recorded_runs.runs import Batch, RecordedRun
from tests.behaviour.recorded_runs.table import Count
from tests.demo_house.move_in import move_in, states_of
from tests.support.assist_mini import Task, snapshot
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT

_SATELLITE = "assist_satellite.hall"
"""Where somebody can be asked."""
ARTEFACTS: Final = re.compile(
    r"home1_us_smart_lock-(?:lock_all_the_locks|unlock_all_the_doors)|home7_dk_media_player(?:_media_player)?-mute_"
)
"""Tasks that want something else than their words say: unlocked after "Lock all the locks", locked after "Unlock all
the doors", and a volume of 0 after "Mute", which mutes. They are counted apart.
Decision 51."""
SILENCE = ScriptedAnswer(content="")
"""The answer of a server for a model that has nothing to say, as the recorded ones had after some calls."""
_SUCCESS: Final = re.compile(
    r"^(?:Done|OK|I've|I have|I turned|Set|Turned)\b|\b(?:has|have) been\b|\b(?:is|are) now\b",
    re.IGNORECASE,
)
_NO_SUCCESS: Final = re.compile(
    r"\?|n't\b|\b(?:not|unable|cannot|failed|fails|failing|error|attempted|trouble|unfortunately)\b",
    re.IGNORECASE,
)


_YES: Final = "yes"


class Way(StrEnum):
    """The actor that carries out the words of a model."""

    CORE = "core"
    OURS = "ours"
    """Somebody is there, and answers a question about what the task is about: with its name, or with yes."""
    ASKING = "asking"
    """Ours, with the rules of a new agent; otherwise everything is allowed."""


def tells_success(text: str) -> bool:
    """Return whether somebody who hears an answer of these runs thinks that it was done."""
    return bool(_SUCCESS.search(text)) and not _NO_SUCCESS.search(text)


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool call of the turn."""

    name: str
    is_error: bool
    result: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run this time."""

    run: RecordedRun
    wrong_states: dict[str, set[str]]
    calls: tuple[CalledTool, ...] = ()
    speech: str = ""
    is_asked: bool = False
    is_chosen: bool = False
    """Whether it was asked about what is meant, and somebody answered."""
    is_agreed: bool = False
    """Whether that answer was a plain yes."""

    @property
    def succeeded(self) -> bool:
        """Whether every state is as it has to be."""
        return not self.wrong_states

    @property
    def cause(self) -> str:
        """The error of the last call that failed, or else the answer."""
        return next(
            (call.result for call in reversed(self.calls) if call.is_error), self.speech
        )

    @property
    def worse_states(self) -> dict[str, set[str]]:
        """Which attributes came out wrong that were right when the run was recorded, by entity id."""
        then = self.run.wrong_states
        return {
            entity_id: worse
            for entity_id, wrong in self.wrong_states.items()
            if (worse := wrong - then.get(entity_id, set()))
        }


async def replay(
    hass: HomeAssistant,
    batch: Batch,
    way: Way = Way.OURS,
    begins: Callable[[RecordedRun], None] = lambda _: None,
) -> list[Outcome]:
    """Replay the runs of a batch, each from the states that its task begins with; `begins` is told of each."""
    await prepare(hass)
    entry = await move_in(hass, batch.home)
    if way is Way.CORE:
        outcomes = [
            await _replay_in_core(hass, entry, batch, run) for run in batch.runs
        ]
    else:
        async with agent(hass, asks=way is Way.ASKING) as model:
            outcomes = []
            for run in batch.runs:
                begins(run)
                outcomes.append(await _replay_run(hass, entry, model, batch, run, way))
    await hass.config_entries.async_remove(entry.entry_id)
    return outcomes


@asynccontextmanager
async def agent(
    hass: HomeAssistant, *, asks: bool
) -> AsyncGenerator[ScriptedChatCompletions]:
    """Run a model server and an agent that uses it, with one connection for all runs."""
    model = ScriptedChatCompletions(Script())
    async with serving(model.application()) as address:
        entry = await set_up(
            hass, server_entry(address, rules=[] if asks else [{"verdict": "allow"}])
        )
        yield model
        await hass.config_entries.async_remove(entry.entry_id)


async def begin(
    hass: HomeAssistant, entry: MockConfigEntry, batch: Batch, run: RecordedRun
) -> None:
    setup = batch.tasks[run.task].initial_states()
    hass.config_entries.async_update_entry(
        entry, data={**entry.data, CONF_SETUP: setup}
    )
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()


async def _replay_in_core(
    hass: HomeAssistant, entry: MockConfigEntry, batch: Batch, run: RecordedRun
) -> Outcome:
    await begin(hass, entry, batch, run)
    before = snapshot(states_of(hass, entry))
    speech = await act_as_core(hass, run)
    return Outcome(
        run,
        batch.tasks[run.task].wrong_states(before, snapshot(states_of(hass, entry))),
        speech=speech,
    )


async def _replay_run(  # noqa: PLR0917  # a run, and all that it is replayed in
    hass: HomeAssistant,
    entry: MockConfigEntry,
    model: ScriptedChatCompletions,
    batch: Batch,
    run: RecordedRun,
    way: Way,
) -> Outcome:
    await begin(hass, entry, batch, run)
    before = snapshot(states_of(hass, entry))
    model.play(
        Script(answers=(*(message.as_scripted() for message in run.asst), SILENCE))
    )
    turns: list[Event] = []
    stop_listening = hass.bus.async_listen(EVENT_TURN_FINISHED, turns.append)

    talk: str | None = None

    async def say(words: str) -> str:
        nonlocal talk
        heard = await conversation.async_converse(
            hass, words, talk, Context(), "en", AGENT, satellite_id=_SATELLITE
        )
        await hass.async_block_till_done()
        talk = heard.conversation_id
        return str(heard.response.speech.get("plain", {}).get("speech", ""))

    spoken = await say(run.text)
    answer = _answer_of_person(hass, batch.tasks[run.task]) if way is Way.OURS else None
    if answer is not None:
        spoken = await say(answer)
    stop_listening()
    turn = turns[-1]
    return Outcome(
        run=run,
        wrong_states=batch.tasks[run.task].wrong_states(
            before, snapshot(states_of(hass, entry))
        ),
        calls=tuple(
            CalledTool(call["name"], call["is_error"], str(call["result"]))
            for call in turn.data["tool_calls"]
        ),
        speech=spoken,
        is_asked=turn.data["stop_reason"] == StopReason.APPROVAL_REQUIRED,
        is_chosen=answer is not None,
        is_agreed=answer == _YES,
    )


def _answer_of_person(hass: HomeAssistant, task: Task) -> str | None:
    """Return the answer of somebody who wants what a task is about, if that is asked: the name of one thing, or yes."""
    waiting = async_get_approvals(hass).waiting
    options = {option.entity_id for question in waiting for option in question.options}
    meant = [
        state
        for one in task.expect_changes
        if one in options and (state := hass.states.get(one))
    ]
    asked_about = {
        one
        for question in waiting
        for call in question.calls
        for one in call.entity_ids
    }
    if not options and asked_about and asked_about <= task.expect_changes.keys():
        return _YES
    return meant[0].name if len(meant) == 1 else None


def count(core: Outcome, ours: Outcome, asking: Outcome) -> Count:
    """Count what came of a run, in all ways."""
    run, is_artefact = ours.run, bool(ARTEFACTS.match(ours.run.task))
    was_false = bool(run.unexpected) and tells_success(run.answer or "")
    is_false = not ours.succeeded and tells_success(ours.speech)
    return Count(
        runs=1,
        recorded=not run.unexpected,
        core=core.succeeded,
        ours=ours.succeeded,
        won=ours.succeeded and not core.succeeded,
        lost=core.succeeded and not ours.succeeded and not is_artefact,
        which=ours.is_chosen,
        questions=asking.is_asked,
        false_then=was_false and not is_artefact,
        false_now=is_false and not is_artefact,
        artefacts=(was_false or is_false) and is_artefact,
    )

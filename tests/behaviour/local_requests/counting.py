"""Says each request of the recorded homes once, without a model, and compares what came of it with what is right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from homeassistant.components import conversation
from homeassistant.core import Context, Event, HomeAssistant, callback
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.demo_house.const import CONF_SETUP
from tests.behaviour.recorded_runs.runs import RecordedRun
from tests.demo_house.move_in import move_in, states_of
from tests.support.assist_mini import Home, Task, snapshot, tasks_by_id
from tests.support.config_entries import offline_entry, prepare, server_entry, set_up
from tests.support.page_tables import MEASURED, table
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT

PAGE = MEASURED / "local-requests.md"
_SATELLITE = "assist_satellite.hall"
_RULES = [{"verdict": "allow"}]
_SILENT = Script(answers=(ScriptedAnswer(content=""),), after_last="start again")


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """The outcome of a request for which no model was to be asked."""

    task_id: str
    is_local: bool
    """It was answered without the model."""
    is_right: bool
    """Every state was as it has to be."""


@dataclass(frozen=True, slots=True)
class LocalCount:
    """The requests of a home that were answered without a model, and how models did with these."""

    requests: int
    local: int
    wrong: int
    lost: int
    """Wrong requests that a recorded model got right."""
    won: int
    """Recorded runs that a model lost, and that come out right."""

    def cells(self) -> list[str]:
        """Return what stands in a row."""
        return [
            str(value)
            for value in (self.requests, self.local, self.wrong, self.lost, self.won)
        ]


async def try_locally(hass: HomeAssistant, home: Home) -> list[LocalRequest]:
    """Say each request of a home to an agent whose model has nothing to say, and which asks for no yes."""
    await prepare(hass)
    entry = await move_in(hass, home.description)
    model = ScriptedChatCompletions(_SILENT)
    found: list[LocalRequest] = []
    async with serving(model.application()) as address:
        agent = await set_up(
            hass,
            server_entry(
                address, rules=_RULES, local_commands="first", model_requests=[]
            ),
        )
        for task_id, (_, task) in tasks_by_id([home]).items():
            model_request = len(model.requests)
            is_right = await _say(hass, entry, task, _sentence(task_id, home, task))
            found.append(
                LocalRequest(task_id, len(model.requests) == model_request, is_right)
            )
        assert await hass.config_entries.async_unload(agent.entry_id)
    return found


def count_local(
    requests: Sequence[LocalRequest], runs: Iterable[RecordedRun]
) -> LocalCount:
    """Compare requests with the runs that models were recorded with."""
    local = {request.task_id: request for request in requests if request.is_local}
    wrong = {task_id for task_id, request in local.items() if not request.is_right}
    of_local = [run for run in runs if run.task_id in local]
    lost = {
        run.task_id for run in of_local if run.task_id in wrong and not run.unexpected
    }
    won = [run for run in of_local if run.task_id not in wrong and run.unexpected]
    return LocalCount(len(requests), len(local), len(wrong), len(lost), len(won))


@dataclass(frozen=True, slots=True)
class OfflineCount:
    """How many requests of a home come out right without any model."""

    requests: int
    built_in: int
    """Said to Home Assistant's own agent."""
    unanswered: int
    """Said to ours, while nobody answers its questions."""
    questions: int
    """Of those that are not right then, the ones that ended with a question."""
    with_yes: int
    """Said to ours, and "yes" to its questions."""

    def cells(self) -> list[str]:
        """Return what stands in a row."""
        values = (
            self.requests,
            self.built_in,
            self.unanswered,
            self.questions,
            self.with_yes,
        )
        return [str(value) for value in values]


async def count_offline(hass: HomeAssistant, home: Home) -> OfflineCount:
    """Say each request of a home to Home Assistant's agent, and to ours without a model."""
    await prepare(hass)
    entry = await move_in(hass, home.description)
    await set_up(hass, offline_entry())
    built_in = unanswered = question = with_yes = 0
    tasks = tasks_by_id([home])
    for task_id, (_, task) in tasks.items():
        text = _sentence(task_id, home, task)
        built_in += await _say(
            hass, entry, task, text, agent_id=conversation.HOME_ASSISTANT_AGENT
        )
        is_right = await _say(hass, entry, task, text)
        is_question = bool(async_get_approvals(hass).waiting)
        unanswered += is_right
        question += is_question and not is_right
        with_yes += await _say(hass, entry, task, text, answer="yes")
    return OfflineCount(len(tasks), built_in, unanswered, question, with_yes)


async def _say(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    task: Task,
    text: str,
    *,
    agent_id: str = AGENT,
    answer: str = "",
) -> bool:
    """Say something in a home that is as the task begins; tell whether it is then as it has to be."""
    hass.config_entries.async_update_entry(
        entry, data={**entry.data, CONF_SETUP: task.initial_states()}
    )
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    before, turns = snapshot(states_of(hass, entry)), list[str]()

    @callback
    def note(event: Event[dict[str, str]]) -> None:
        turns.append(event.data["conversation_id"])

    stop_listening = hass.bus.async_listen(EVENT_TURN_FINISHED, note)
    for words in filter(None, (text, answer)):
        if words == text or async_get_approvals(hass).waiting:
            talk = turns[-1] if turns else None
            await conversation.async_converse(
                hass, words, talk, Context(), "en", agent_id, satellite_id=_SATELLITE
            )
            await hass.async_block_till_done()
    stop_listening()
    return not task.wrong_states(before, snapshot(states_of(hass, entry)))


def _sentence(task_id: str, home: Home, task: Task) -> str:
    """Return the sentence of a task that has this id."""
    (sentence,) = (
        text
        for text in task.sentences
        if task_id in tasks_by_id([Home(home.name, "", (_only(task, text),))])
    )
    return sentence


def _only(task: Task, text: str) -> Task:
    return task.model_copy(update={"sentences": (text,)})


def local_table(counts: dict[str, LocalCount]) -> str:
    """Return the table of what needs no model."""
    head = [
        "home",
        "requests",
        "without the model",
        "wrong",
        "a model was right",
        "runs of models won",
    ]
    return table(
        head,
        [*([home, *count.cells()] for home, count in counts.items()), _sums(counts)],
    )


def offline_table(counts: dict[str, OfflineCount]) -> str:
    """Return the table of what comes out right without any model."""
    head = [
        "home",
        "requests",
        "Home Assistant",
        "offline service",
        "asked, and not answered",
        "after a yes",
    ]
    return table(
        head,
        [*([home, *count.cells()] for home, count in counts.items()), _sums(counts)],
    )


def _sums(counts: dict[str, LocalCount] | dict[str, OfflineCount]) -> list[str]:
    columns = zip(*(map(int, count.cells()) for count in counts.values()), strict=True)
    return ["**all**", *(f"**{sum(column)}**" for column in columns)]

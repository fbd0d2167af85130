"""The recorded runs: what a model said, what came of it, in which home, and what would have been right."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from tests.support.assist_mini import Change, Task, read_homes, tasks_by_id
from tests.support.servers.script import ScriptedAnswer, ScriptedCall

_FORMAT = ConfigDict(frozen=True, extra="ignore")
_CUT_AS_USUAL = ScriptedAnswer()
_RUNS = Path(__file__).parents[2] / "fixtures" / "recorded-runs"
_HARD_HOME = Path(__file__).with_name("hard_cases_home.yaml")
_READING: Final = {
    "GetLiveContext",
    "GetDateTime",
    "todo_get_items",
    "calendar_get_events",
}
_BEFORE: Final = {
    "on": "off",
    "off": "on",
    "locked": "unlocked",
    "unlocked": "locked",
    "open": "closed",
    "closed": "open",
    "cleaning": "docked",
    "returning": "cleaning",
}
"""The opposite states, from which a state is brought about."""
_FOLLOWING: Final = ("color_mode", "hvac_action")
"""Attributes that follow from the state."""


class RecordedCall(BaseModel):
    """A tool call, with the name and the arguments that the model wrote."""

    model_config = _FORMAT

    name: str
    args: dict[str, JsonValue]


class RecordedMessage(BaseModel):
    """A message of the model."""

    model_config = _FORMAT

    content: str | None
    tool_calls: tuple[RecordedCall, ...]

    def as_scripted(self, cut: ScriptedAnswer = _CUT_AS_USUAL) -> ScriptedAnswer:
        """Return the message as a server says it, in pieces as `cut` has them."""
        calls = tuple(
            ScriptedCall(name=call.name, arguments=call.args)
            for call in self.tool_calls
        )
        return cut.model_copy(update={"content": self.content, "tool_calls": calls})


class RecordedResult(BaseModel):
    """The answer of a tool; an `error` in it tells that it failed."""

    model_config = _FORMAT

    name: str
    result: JsonValue

    @property
    def is_error(self) -> bool:
        """Whether the tool failed."""
        return isinstance(self.result, dict) and "error" in self.result


class RecordedDifference(BaseModel):
    """The attributes of one entity that came out otherwise than they had to."""

    model_config = _FORMAT

    got: dict[str, JsonValue]


class RecordedState(BaseModel):
    """The state that an entity had to have."""

    model_config = _FORMAT

    state: str | None
    attributes: dict[str, JsonValue] | None

    def as_change(self) -> Change:
        """Return it as tasks have it."""
        return Change(state=self.state, attributes=self.attributes or {})


class RecordedRun(BaseModel):
    """One run, with the keys of the fixtures' README."""

    model_config = _FORMAT

    model: str
    task: str
    text: str
    asst: tuple[RecordedMessage, ...]
    results: tuple[RecordedResult, ...]
    unexpected: dict[str, RecordedDifference]
    expect: dict[str, RecordedState] | None = None

    @property
    def task_id(self) -> str:
        """The task without the number of the repetition."""
        return self.task.rpartition("-")[0]

    @property
    def wrong_states(self) -> dict[str, set[str]]:
        """Which attributes came out wrong, by entity id."""
        return {
            entity_id: set(difference.got)
            for entity_id, difference in self.unexpected.items()
        }

    @property
    def answer(self) -> str | None:
        """The model's last words, None where it had none."""
        return (self.asst[-1].content or "").strip() or None


@dataclass(frozen=True, slots=True)
class Batch:
    """The runs of all models in one home."""

    name: str
    home: str
    """The text of the home file."""
    runs: tuple[RecordedRun, ...]
    tasks: Mapping[str, Task]
    """By what a run calls its task."""

    @property
    def models(self) -> list[str]:
        """Return who speaks in the runs."""
        return sorted({run.model for run in self.runs})


def read_runs() -> tuple[RecordedRun, ...]:
    """Read the runs in the homes of assist-mini."""
    return _read("assist-mini.jsonl")


def read_batches() -> tuple[Batch, ...]:
    """Read all runs of which the right states are known, by home."""
    runs, batches = read_runs(), []
    for home in read_homes():
        tasks = tasks_by_id([home])
        there = tuple(run for run in runs if run.task_id in tasks)
        batches.append(
            Batch(
                home.name,
                home.description,
                there,
                {run.task: tasks[run.task_id][1] for run in there},
            )
        )
    return *batches, _hard_cases()


def _hard_cases() -> Batch:
    """Return the hard cases that name the right states of entities that their home has."""
    home = _HARD_HOME.read_text(encoding="utf-8")
    runs = [
        run
        for run in _read("hard-cases.jsonl")
        if run.expect and all(one in home for one in run.expect)
    ]
    return Batch(
        "hard-cases",
        home,
        tuple(runs),
        {run.task: _task_of(run, run.expect or {}) for run in runs},
    )


def _task_of(run: RecordedRun, expect: Mapping[str, RecordedState]) -> Task:
    """Return a task, with states to begin with that are not in the recording, but follow from it.

    Where nothing was done, what came out is what was there before; where something was,
    it was not so before.
    """
    is_done = any(
        not result.is_error for result in run.results if result.name not in _READING
    )
    setup = {
        entity_id: Change(
            state=_BEFORE.get(str(right.state))
            if is_done and right.state
            else right.state,
            attributes={},
        )
        for entity_id, right in expect.items()
        if right.state
    }
    for entity_id, difference in run.unexpected.items():
        if not is_done and isinstance(state := difference.got.get("state"), str):
            setup[entity_id] = Change(state=state)
    changes = {entity_id: right.as_change() for entity_id, right in expect.items()}
    ignored: dict[str, tuple[str, ...]] = dict.fromkeys(expect, _FOLLOWING)
    return Task(
        sentences=(run.text,),
        setup=setup,
        expect_changes=changes,
        ignore_changes=ignored,
    )


def _read(file: str) -> tuple[RecordedRun, ...]:
    lines = (_RUNS / file).read_text(encoding="utf-8").splitlines()
    return tuple(
        RecordedRun.model_validate_json(line)
        for line in lines
        if '"expect": null' not in line
    )

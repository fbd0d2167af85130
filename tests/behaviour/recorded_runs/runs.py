"""The recorded runs: what a model said, what came of it, and in which home.

Knows the format of `fixtures/recorded-runs`; must not know how a run is replayed.
"""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from tests.support.assist_mini import Home, tasks_by_id
from tests.support.servers.script import ScriptedAnswer, ScriptedCall

_FORMAT = ConfigDict(frozen=True, extra="ignore")
_CUT_AS_USUAL = ScriptedAnswer()
NOT_DONE = "As far as I can tell, that wasn't done."
"""What an answer ends with if all that the model tried has failed."""
_RUNS = Path(__file__).parents[2] / "fixtures" / "recorded-runs"


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
        calls = tuple(ScriptedCall(name=call.name, arguments=call.args) for call in self.tool_calls)
        return cut.model_copy(update={"content": self.content, "tool_calls": calls})


class RecordedResult(BaseModel):
    """What a tool answered; an `error` in it tells that it failed."""

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


class RecordedRun(BaseModel):
    """One run, with the keys of the fixtures' README."""

    model_config = _FORMAT

    model: str
    task: str
    text: str
    asst: tuple[RecordedMessage, ...]
    results: tuple[RecordedResult, ...]
    unexpected: dict[str, RecordedDifference]

    @property
    def task_id(self) -> str:
        """The task without the number of the repetition."""
        return self.task.rpartition("-")[0]

    @property
    def wrong_states(self) -> dict[str, set[str]]:
        """Which attributes came out wrong, by entity id."""
        return {entity_id: set(difference.got) for entity_id, difference in self.unexpected.items()}

    @property
    def answer(self) -> str | None:
        """The model's last words, None where it had none."""
        return (self.asst[-1].content or "").strip() or None


def read_runs() -> tuple[RecordedRun, ...]:
    """Read the runs in the homes of assist-mini."""
    lines = (_RUNS / "assist-mini.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(RecordedRun.model_validate_json(line) for line in lines)


def models_of(runs: Iterable[RecordedRun]) -> list[str]:
    """Return who speaks in the runs."""
    return sorted({run.model for run in runs})


def runs_in(home: Home, model: str, runs: Iterable[RecordedRun]) -> tuple[RecordedRun, ...]:
    """Return the runs of one model in one home."""
    tasks = tasks_by_id([home])
    return tuple(run for run in runs if run.model == model and run.task_id in tasks)

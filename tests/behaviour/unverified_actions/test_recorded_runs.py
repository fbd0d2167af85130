"""The recorded runs, in which every model did what it said, raise no alarm; without their results they do."""

import pytest

from custom_components.chatterbox.agent.messages import ToolAnnotations, ToolDefinition, ToolResult
from custom_components.chatterbox.agent.unverified_actions import changed_something, reports_action

from .labelled import RECORDED_LANGUAGE, RecordedAnswers, read_runs

RUNS = [*read_runs("assist-mini"), *read_runs("hard-cases")]
READING = [
    ToolDefinition(name, "", {}, ToolAnnotations(read_only=True))
    for name in {result.name for run in RUNS for result in run.results}
    if name.startswith("Get")
]


def _raises_alarm(run: RecordedAnswers, *, with_results: bool) -> bool:
    results = [ToolResult("1", one.name, "", is_error=one.is_error) for one in run.results if with_results]
    return reports_action(run.resp or "", RECORDED_LANGUAGE) and not changed_something(results, READING)


def test_no_answer_of_a_model_that_acted_raises_an_alarm() -> None:
    assert [run.resp for run in RUNS if _raises_alarm(run, with_results=True)] == []


@pytest.mark.parametrize("name", ["assist-mini", "hard-cases"])
def test_the_same_answers_without_their_results_would(name: str) -> None:
    runs = [run for run in read_runs(name) if run.results]

    assert any(_raises_alarm(run, with_results=False) for run in runs)

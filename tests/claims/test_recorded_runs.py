"""The recorded runs, in which every model did what it said, raise no alarm; without their results they do."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from custom_components.chatterbox.agent.messages import ToolResult
from custom_components.chatterbox.agent.receipts import needs_receipt
from tests.recorded_runs.runs import RecordedResult

from .labelled import RECORDED_LANGUAGE

_RUNS = Path(__file__).parent.parent / "fixtures" / "recorded-runs"


class _Run(BaseModel):
    model_config = ConfigDict(extra="ignore")

    resp: str | None
    results: list[RecordedResult]


def _runs(name: str) -> list[_Run]:
    lines = (_RUNS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [_Run.model_validate_json(line) for line in lines if line]


RUNS = [*_runs("assist-mini"), *_runs("hard-cases")]
CHANGING = {result.name for run in RUNS for result in run.results if not result.name.startswith("Get")}


def _needs_receipt(run: _Run, *, with_results: bool) -> bool:
    receipts = [ToolResult("1", result.name, "") for result in run.results if with_results and not result.is_error]
    return needs_receipt(run.resp or "", RECORDED_LANGUAGE, receipts, CHANGING)


def test_no_answer_of_a_model_that_acted_needs_a_receipt() -> None:
    assert [run.resp for run in RUNS if _needs_receipt(run, with_results=True)] == []


@pytest.mark.parametrize("name", ["assist-mini", "hard-cases"])
def test_the_same_answers_without_their_results_would(name: str) -> None:
    runs = [run for run in _runs(name) if run.results]

    assert any(_needs_receipt(run, with_results=False) for run in runs)

"""A run of the benchmark goes on when a worker fails, and gathers what the others measured."""

import sys

import pytest

from bench.side_by_side.jobs import Job, Plan, everything
from bench.side_by_side.results import MEASURED, RESTS, Profile, figure
from bench.side_by_side.run import Run, merged

pytestmark = pytest.mark.usefixtures("socket_enabled")

FIGURE = figure("plain", 10, "somebody", "cpu_ms", [2.0])
PROFILE = Profile(
    scenario="plain", entities=10, agent="somebody", ms=2, parts={"loop": 2}, samples=1
)
MEASURING = (
    f"print({RESTS!r}); print({MEASURED.dump_json([FIGURE, PROFILE]).decode()!r})"
)
WORKER = f"""
import sys, time
match sys.argv[1]:
    case "measures":
        {MEASURING}
    case "fails":
        sys.exit("it broke")
    case "raves":
        print("no measurement")
    case "hangs":
        time.sleep(600)
"""


def run_of(messages: list[str]) -> Run:
    return Run(messages.append, (sys.executable, "-c", WORKER))


def plan(*kinds: str, beside: tuple[Job, ...] = (), limit: float = 60) -> Plan:
    return Plan(beside, (), [(Job(kind, limit=limit),) for kind in kinds])


async def test_a_failed_job_is_repeated_and_reported_and_the_others_continue() -> None:
    messages: list[str] = []
    run = run_of(messages)
    await run.follow(plan("fails", "measures"))
    assert run.figures() == (FIGURE,)
    assert run.profiles == [PROFILE]
    assert len(run.failed) == 1
    assert "it broke" in run.failed[0]
    assert sum("Once more" in line for line in messages) == 1


async def test_a_worker_that_says_no_measurement_has_failed() -> None:
    run = run_of([])
    await run.follow(plan("raves"))
    assert "no measurement" in run.failed[0]


async def test_a_worker_that_hangs_is_ended_at_its_limit_and_not_tried_again() -> None:
    messages: list[str] = []
    run = run_of(messages)
    await run.follow(plan("hangs", limit=0.2))
    assert "longer than" in run.failed[0]
    assert not any("Once more" in line for line in messages)


async def test_what_goes_on_beside_the_others_may_fail_and_keeps_nobody_waiting() -> (
    None
):
    run = run_of([])
    await run.follow(plan("measures", beside=(Job("fails"), Job("measures"))))
    assert len(run.figures()) == 1
    assert run.figures()[0].samples == 2
    assert len(run.failed) == 1


def test_what_several_processes_measured_becomes_the_median_of_their_medians() -> None:
    (made,) = merged(
        [
            figure("start", 0, "somebody", "setup_s", [seconds])
            for seconds in (1.0, 9.0, 2.0)
        ]
    )
    assert (made.low, made.median, made.high, made.samples) == (1, 2, 9, 3)


def test_a_rehearsal_does_what_a_whole_run_does_with_less_of_everything() -> None:
    def kinds(plan: Plan) -> list[tuple[str, int]]:
        jobs = [
            *plan.beside,
            *(job for together in (*plan.meanwhile, *plan.then) for job in together),
        ]
        return [(job.kind, job.entities) for job in jobs]

    whole, rehearsed = kinds(everything()), kinds(everything(0.01))
    assert list(dict.fromkeys(rehearsed)) == list(dict.fromkeys(whole))
    assert len(rehearsed) < len(whole)

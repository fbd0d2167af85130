"""The results that the benchmark draws from its figures, and the answers of its model server."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st
from pydantic import JsonValue

from bench.side_by_side import page, targets
from bench.side_by_side.answers import (
    Call,
    Format,
    calling_answer,
    spoken_answer,
    whole_message,
    words,
)
from bench.side_by_side.prompt_text import prompt_of, same_share
from bench.side_by_side.results import (
    MEASURED,
    Figure,
    Machine,
    Measure,
    Profile,
    Results,
    figure,
)
from tests import REPOSITORY

MACHINE = Machine(
    date="2026-11-22 12:00 UTC",
    processor="A processor",
    cores=2,
    system="Linux 6.1",
    python="3.14.2",
    versions={"homeassistant": "2026.11.0"},
    others_before=0.02,
    quick=False,
)


def results(*figures: Figure) -> Results:
    return Results(machine=MACHINE, figures=figures)


def turns(name: str, cpu: float, entities: int = targets.SMALL) -> Figure:
    return figure(targets.TURNS[0], entities, name, "cpu_ms", [cpu])


def row(checked: Results, start: str) -> targets.Checked:
    return next(row for row in targets.check(checked) if row.measure.startswith(start))


@pytest.mark.parametrize(
    ("samples", "made"), [([1, 2, 3, 4, 100], (2, 3, 4, 5)), ([7], (7, 7, 7, 1))]
)
def test_samples_become_their_median_and_quartiles(
    samples: list[float], made: tuple[float, ...]
) -> None:
    one = figure("plain", 10, "somebody", "cpu_ms", samples)
    assert (one.low, one.median, one.high, one.samples) == made


def test_processor_time_is_compared_above_the_bare_client() -> None:
    run = results(
        turns("chatterbox", 5),
        turns("llama_cpp", 11),
        turns("ollama", 3),
        turns("bare client", 1),
    )
    reference = row(run, "CPU above the bare client, plain, 10 entities, of llama_cpp")
    cheapest = row(
        run, "CPU above the bare client, plain, 10 entities, of the cheapest"
    )
    assert (reference.measured, reference.met) == ("0.4 times", True)
    assert (cheapest.measured, cheapest.met) == ("2 times", False)


def test_neither_our_agent_over_other_formats_nor_home_assistant_alone_is_an_agent_of_core() -> (
    None
):
    ours = (turns("chatterbox", 5), turns("chatterbox, ollama", 2))
    run = results(
        *ours, turns(targets.ALONE, 2), turns("ollama", 3), turns("bare client", 1)
    )
    assert targets.core_agents(run) == ["ollama"]


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert {row.met for row in targets.check(results())} == {None}


@pytest.mark.parametrize(("late", "met"), [(30.0, True), (60.0, False)])
def test_a_turn_may_grow_as_its_request_does(late: float, met: bool) -> None:  # noqa: FBT001  # a parameter of a test
    def at(turn: int, measure: Measure, value: float) -> Figure:
        return figure(f"turn {turn}", targets.SMALL, "chatterbox", measure, [value])

    run = results(
        *(at(10, "cpu_ms", 10), at(10, "request_bytes", 1000)),
        *(at(100, "cpu_ms", late), at(100, "request_bytes", 5000)),
    )
    assert row(run, "CPU of turn 100").met is met


def test_the_page_has_a_row_for_everybody_and_says_when_the_machine_was_at_work() -> (
    None
):
    run = results(
        turns("bare client", 1), turns("llama_cpp", 11.25), turns("chatterbox", 1234)
    )
    written = page.write_page(run, "performance")
    assert (
        written.index("| chatterbox | 1,234 |")
        < written.index("| llama_cpp | 11.2 |")
        < written.index("| bare client | 1 |")
    )
    assert "do not trust" not in written
    busy = run.model_copy(
        update={"machine": MACHINE.model_copy(update={"others_meanwhile": 0.4})}
    )
    assert "40% during it: do not trust these times**" in page.write_page(
        busy, "performance"
    )


def test_the_page_shows_where_the_time_goes_the_most_expensive_part_first() -> None:
    costs = {
        "chatterbox.agent.wire.event_streams": 1.0,
        "chatterbox.agent.loop.runner": 7.0,
        "chatterbox.agent.wire.reply_reader": 2.0,
    }
    profile = Profile(
        scenario="tool", entities=300, agent="chatterbox", ms=10, parts=costs, samples=9
    )
    written = page.write_page(
        results().model_copy(update={"profiles": (profile,)}), "performance"
    )
    assert "with one call, 300 exposed entities: 10.00 ms in all" in written
    loop = "| loop | 7.00 | 70% | agent.loop.runner 7.00 |"
    assert (
        f"{loop}\n| wire formats | 3.00 | 30% | agent.wire.reply_reader 2.00, agent.wire.event_streams 1.00 |"
        in written
    )


def test_the_page_says_what_could_not_be_measured() -> None:
    written = page.write_page(
        results().model_copy(update={"failed": ("crowds: it broke\nhere",)}),
        "performance",
    )
    assert "- crowds: it broke\n" in written


def test_a_plot_is_drawn_of_what_was_measured_only() -> None:
    drawn = page.draw_plots(
        results(
            turns("chatterbox", 5, targets.LARGE), turns("llama_cpp", 10, targets.LARGE)
        )
    )
    assert list(drawn) == ["cpu-plain"]


def test_a_line_is_drawn_of_sizes_that_were_measured_of_who_was_measured_in_all() -> (
    None
):
    run = results(
        *(turns("chatterbox", size / 10, size) for size in (10, 300)),
        *(turns("ollama", 3, size) for size in (10,)),
    )
    drawn = page.draw_plots(run)["cpu-homes"]
    assert "chatterbox" in drawn
    assert "ollama" not in drawn


@given(
    st.binary(max_size=20), st.binary(max_size=20), st.binary(min_size=1, max_size=20)
)
def test_the_same_share_is_that_of_the_common_start(
    common: bytes, rest: bytes, other: bytes
) -> None:
    first, second = common + b"\x00" + rest, common + b"\x01" + other
    assert same_share([first, second]) == (len(common) / len(second),) * 2


@pytest.mark.parametrize(
    "body",
    [
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi"},
            ]
        },
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
            ],
        },
        {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": "Hi"}],
        },
    ],
)
def test_the_prompt_is_tools_then_instructions_then_messages(
    body: dict[str, JsonValue],
) -> None:
    tool: JsonValue = {"name": "turn_on"}
    prompt = prompt_of({**body, "tools": [tool]})
    assert prompt.replace("system: ", "") == '{"name":"turn_on"}\nBe brief.\nuser: Hi'


@pytest.mark.parametrize("spoken", Format)
def test_words_are_sent_in_as_many_fragments_as_are_planned(spoken: Format) -> None:
    stream = spoken_answer(spoken, 12, 5)
    text = words(12, 5)
    assert len(stream.fragments) == 12
    for number, fragment in enumerate(stream.fragments):
        assert json.dumps(text[number * 5 : number * 5 + 5]).encode() in fragment
    assert (
        b"intent__HassTurnOn"
        in calling_answer(
            spoken, [Call("intent__HassTurnOn", '{"name": "Lamp"}')]
        ).ending
    )


@pytest.mark.thorough
def test_the_prompt_that_is_sent_before_the_words_is_measured_in_a_real_home() -> None:
    """Core's agents need packages that the tests do not have."""
    command = (
        sys.executable,
        "-m",
        "bench.side_by_side.worker",
        "warm_up",
        "--entities",
        "14",
        "--only",
        "chatterbox",
    )
    finished = subprocess.run(
        command, cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    measured = MEASURED.validate_json(finished.stdout.splitlines()[-1])
    figures = {one.measure: one for one in measured if isinstance(one, Figure)}

    assert figures["request_bytes"].median > 2_000
    assert 0.8 < figures["same_as_any_before"].median < 1


def test_an_answer_without_a_stream_holds_words_or_calls() -> None:
    messages = json.loads(whole_message("Hello.", []))["choices"][0]
    called = json.loads(whole_message("", [Call("turn_on", "{}")]))["choices"][0]
    assert (messages["message"]["content"], messages["finish_reason"]) == (
        "Hello.",
        "stop",
    )
    assert (
        called["message"]["tool_calls"][0]["function"]["name"],
        called["finish_reason"],
    ) == (
        "turn_on",
        "tool_calls",
    )

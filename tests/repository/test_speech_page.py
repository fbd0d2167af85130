"""Answers are spoken as `tests/speech/spoken.md` says, and as soon as `bench/pages/speech.md` says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.failover import BUDGET, FIRST_SERVERS
from bench.speech_latency import (
    LATEST_PIECE,
    WORDS_HELD,
    first_piece_table,
    measure_all,
    measure_first_pieces,
    table,
)
from custom_components.chatterbox.speech.text import speakable
from tests.agent.repair.hearing import hear, message
from tests.agent.repair.written_examples import TURN_ON

SPOKEN, PAGE = (
    (Path(__file__).parents[2] / page).read_text("utf-8")
    for page in ("tests/speech/spoken.md", "bench/pages/speech.md")
)
CODE = re.compile(r"`([^`]*)`|(three backticks)|200 more (digits)")


def rows(section: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the first table under a heading, without its head."""
    lines = SPOKEN.partition(f"\n## {section}\n")[2].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [
            cell.strip().replace(r"\|", "|")
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]
        ]


def written(cell: str) -> str:
    """Return what a cell tells that a model writes."""
    return "".join(
        code.replace("⏎", "\n") or ("```" if backticks else "0" * 200)
        for code, backticks, _ in CODE.findall(cell)
    )


SAID = [*rows("What is written, and what is said")]
LANGUAGES = [*rows("What depends on the language")]
CALLED = [*rows("What is a call or a thought")]


def test_the_tables_are_found() -> None:
    assert (len(SAID), len(LANGUAGES), len(CALLED)) == (26, 10, 15)


@pytest.mark.parametrize(("cell", "heard"), [row[:2] for row in SAID])
def test_what_is_said(cell: str, heard: str) -> None:
    assert speakable(written(cell), "en") == heard


@pytest.mark.parametrize("row", LANGUAGES, ids=lambda row: row[0])
def test_what_depends_on_the_language(row: list[str]) -> None:
    language, link, day, answers, okay, unreadable = row
    ticks = [speakable(f"5: {tick}", language).removeprefix("5: ") for tick in "✅❌"]

    assert speakable("https://example.org", language) == link
    assert speakable("2026-11-22", language) == day
    assert ", ".join(ticks) == answers
    assert speakable("👍", language) == okay
    assert speakable("```\ncode\n```", language) == unreadable


@pytest.mark.parametrize(("cell", "heard", "runs"), CALLED)
def test_what_is_a_call_or_a_thought(cell: str, heard: str, runs: str) -> None:
    came = hear(*message(list(written(cell))))

    assert speakable(came.text, "en") == heard
    assert [name for name, _ in came.calls] == re.findall(r"`(\w+)`", runs)
    assert ("error" in runs) is any(name not in TURN_ON for name, _ in came.calls)


async def test_how_soon() -> None:
    measured = await measure_all()

    assert table(measured) in PAGE, "run python -m bench.speech_latency"
    assert (
        max(held.words for _, stages in measured for held in stages.values())
        <= WORDS_HELD
    )


async def test_the_first_piece_comes_soon_after_its_sentence() -> None:
    measured = await measure_first_pieces()

    assert len(measured) >= 17
    assert first_piece_table(measured) in PAGE, "run python -m bench.speech_latency"
    assert max(spoken - whole for *_, whole, spoken in measured) <= LATEST_PIECE


def test_the_second_service_begins_in_time_whatever_the_first_one_does() -> None:
    measured = dict(
        re.findall(r"^\| (.*?) \|.* ms \|.* ms \| (\d+) ms \|$", PAGE, re.MULTILINE)
    )

    assert measured.keys() == FIRST_SERVERS.keys()
    assert all(int(beyond) < BUDGET * 1000 for beyond in measured.values())

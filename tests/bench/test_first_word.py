"""The tokens that a server reads before the first word: what is recorded, what is counted, and what is checked."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from typing import Final

import aiohttp
import pytest
from aiohttp import web
from pydantic import BaseModel, JsonValue

from bench.first_word.__main__ import count, report
from bench.first_word.page import Row, block_of, with_block
from bench.first_word.recording import STEPS, RecordedTurn
from tests import REPOSITORY
from tests.support.servers.in_process import serving
from tests.support.servers.llama_cpp.process import llama_server, set_up_llama

pytestmark = pytest.mark.usefixtures("socket_enabled")

_RECORDING: Final = """
import asyncio, json, logging, sys
from dataclasses import replace
from pathlib import Path
from homeassistant import runner
from bench.first_word.recording import STEPS, record

logging.disable()
loop = runner.create_event_loop()
asyncio.set_event_loop(loop)
steps = [replace(step, in_next_minute=False) for step in STEPS]
recorded = loop.run_until_complete(record(Path(sys.argv[1]), 14, steps, ["chatterbox"]))
turns = [(len(turn.warm_up), [json.loads(body) for body in turn.requests]) for turn in recorded["chatterbox"]]
print(json.dumps([{"warm_up": warm_up, "requests": requests} for warm_up, requests in turns]))
"""
"""Home Assistant is started once in a process; this records all turns of our agent, and waits for no minute."""
_FIRST: Final = STEPS[0].name


class Message(BaseModel):
    """A message of a request."""

    role: str
    content: str | None = None


class Request(BaseModel):
    """A request that an agent has sent."""

    messages: list[Message]
    tools: list[JsonValue]


class Recorded(BaseModel):
    """A turn that was recorded."""

    warm_up: int
    requests: list[Request]


def turn(*requests: str, warm_up: Sequence[str] = ()) -> RecordedTurn:
    """Return a turn whose requests have one message each."""

    def bodies(texts: Sequence[str]) -> tuple[bytes, ...]:
        return tuple(
            json.dumps(
                {"messages": [{"role": "user", "content": text}], "stream": True}
            ).encode()
            for text in texts
        )

    return RecordedTurn(STEPS[0], bodies(warm_up), bodies(requests))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recorded]:
    """Return the recorded turns of our agent, by the name of the step."""
    command = (sys.executable, "-c", _RECORDING, str(tmp_path_factory.mktemp("home")))
    finished = subprocess.run(
        command, cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    turns = [
        Recorded.model_validate(one)
        for one in json.loads(finished.stdout.splitlines()[-1])
    ]
    return {step.name: one for step, one in zip(STEPS, turns, strict=True)}


@pytest.mark.thorough
def test_a_first_turn_is_warmed_up_and_sends_home_tools_and_words(
    recorded: dict[str, Recorded],
) -> None:
    (request,) = recorded[_FIRST].requests

    assert recorded[_FIRST].warm_up == 1
    assert [message.role for message in request.messages] == ["system", "user"]
    assert "Ceiling Light" in str(request.messages[0].content)
    assert "turn off the light please" in str(request.messages[1].content)
    assert request.tools


@pytest.mark.thorough
def test_a_question_about_states_is_a_call_and_an_answer(
    recorded: dict[str, Recorded],
) -> None:
    call, answer = recorded["other room, a question about states"].requests

    assert call.messages[-1].role == "user"
    assert answer.messages[-1].role == "tool"
    assert "Ceiling Light" in str(answer.messages[-1].content)


@pytest.mark.thorough
def test_rooms_have_conversations_of_their_own(recorded: dict[str, Recorded]) -> None:
    (back,), (new,) = (
        recorded[name].requests
        for name in ("back in the first room", "a new conversation")
    )
    spoken = [
        str(message.content) for message in back.messages if message.role == "user"
    ]

    assert [
        any(words in text for text in spoken)
        for words in ("turn off the light", "which lights", "thank you")
    ] == [
        True,
        False,
        True,
    ]
    assert [message.role for message in new.messages] == ["system", "user"]


@pytest.mark.thorough
def test_a_device_is_renamed_between_two_turns(recorded: dict[str, Recorded]) -> None:
    (before,), (after,) = (
        recorded[name].requests
        for name in ("back in the first room", "a device was renamed")
    )

    assert "Dinosaur" not in before.model_dump_json()
    assert "Dinosaur" in after.model_dump_json()


class CountingServer:
    """A server that reports the length of each text as the number of tokens that it has read."""

    def __init__(self) -> None:
        self.requests: list[dict[str, JsonValue]] = []

    def application(self) -> web.Application:
        """Return what answers."""
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        return web.json_response(
            {"timings": {"prompt_n": len(body["messages"][0]["content"])}}
        )


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def test_the_requests_of_a_turn_are_added_up_without_its_warm_up(
    session: aiohttp.ClientSession,
) -> None:
    server = CountingServer()
    turns = [turn("12345", "123"), turn("1", warm_up=["1234567"])]
    async with serving(server.application(), "") as url:
        assert await count(session, url, turns) == [8, 1]
        assert len(server.requests) == 3
        assert await count(session, url, turns, warm=True) == [8, 1]
        assert len(server.requests) == 7

    assert all(
        (request["max_tokens"], request["stream"]) == (1, False)
        for request in server.requests
    )


async def test_a_llama_cpp_server_does_not_read_again_what_it_has_read(
    session: aiohttp.ClientSession,
) -> None:
    set_up_llama()
    turns = [
        turn("The kitchen is warm. " * 50),
        turn("The kitchen is warm. " * 50 + "Is it?"),
    ]
    async with llama_server() as server:
        first, second = await count(session, server.url, turns)

    assert first > 200
    assert 0 < second < 20


def test_a_missed_target_is_told_and_fails_only_a_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [Row(_FIRST, 9_000, 2_701, 40), Row(STEPS[1].name, 9_000, 40, 40)]

    assert report(300, rows, is_checked=False) == 0
    assert report(300, rows, is_checked=True) == 1
    assert f"| {_FIRST} | 9000 | 2701 | 40 |" in (printed := capsys.readouterr().out)
    assert (
        f"missed: 300 entities of few kinds, {_FIRST}: 2701 tokens, at most 2700"
        in printed
    )
    assert printed.count("missed") == 2


def test_targets_that_are_met_pass_a_check() -> None:
    assert (
        report(300, [Row(step.name, 9_000, 40, 40) for step in STEPS], is_checked=True)
        == 0
    )
    assert report(10, [Row(_FIRST, 9_000, 9_000, 9_000)], is_checked=True) == 0, (
        "a home without targets"
    )


def test_targets_hold_after_a_warm_up_too(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(_FIRST, 9_000, 40, 101), Row(STEPS[1].name, 9_000, 40, 41)]

    assert report(300, rows, is_checked=True) == 1
    printed = capsys.readouterr().out
    assert (
        f"missed: 300 entities of few kinds, {_FIRST}: 101 tokens after warm-up, at most 100"
        in printed
    )
    assert (
        f"missed: 300 entities of few kinds, {STEPS[1].name}: 41 tokens after warm-up, at most 40"
        in printed
    )


def test_a_block_of_tables_is_replaced_and_all_else_stays() -> None:
    page = f"# A page\n\n{block_of('')}\n\nThe end.\n"
    block = block_of(page).replace("\n\n", "\n\n| a | b |\n\n")
    written = with_block(page, block)

    assert written == page.replace("\n\n<!-- up", "\n\n| a | b |\n\n<!-- up")
    assert block_of(written) == block


def test_the_page_has_tables_of_the_demo_and_of_homes_of_its_kind() -> None:
    page = REPOSITORY / "bench/pages/performance.md"
    tables = block_of(page.read_text("utf-8"))
    assert tables.count("| first turn after a start |") >= 2
    assert "| eight such homes, each with names of its own: " in tables
    assert "| home of `script/demo`: " in tables

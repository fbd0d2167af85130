"""The model server of the benchmark, as a process of its own."""

import json

import pytest
from pydantic import JsonValue

from bench.side_by_side import answers
from bench.side_by_side.answers import Format
from bench.side_by_side.model_server import Plan, PlannedCall
from bench.side_by_side.server_client import Server, model_server

pytestmark = pytest.mark.usefixtures("socket_enabled")

TOOLS: JsonValue = [{"type": "function", "function": {"name": "intent__HassTurnOn"}}]
SAID: JsonValue = {"role": "user", "content": "Turn on the lamp"}
DONE: JsonValue = {"role": "tool", "tool_call_id": "call_0", "content": "done"}


async def ask(server: Server, *messages: JsonValue, stream: bool = True) -> bytes:
    body: JsonValue = {"messages": list(messages), "tools": TOOLS, "stream": stream}
    async with server.session.post(
        f"{server.url}{answers.paths(Format.CHAT)[1]}", json=body
    ) as response:
        return await response.read()


async def test_calls_come_first_and_words_once_their_results_are_there() -> None:
    async with model_server() as server:
        await server.plan(Plan(calls=(PlannedCall(tool="HassTurnOn"),), fragments=3))
        assert b"intent__HassTurnOn" in await ask(server, SAID)
        assert b"intent__HassTurnOn" not in (words := await ask(server, SAID, DONE))
        assert words.count(b'"content": "') >= 3
        called, answered = await server.log()
        assert (
            called.first_word
            == 0
            < called.received
            <= called.ended
            <= answered.received
        )
        assert answered.received <= answered.first_word <= answered.ended


@pytest.mark.thorough
async def test_who_asks_for_no_stream_gets_the_same_words_at_once() -> None:
    async with model_server() as server:
        await server.plan(Plan(fragments=3, characters=5, keeps_bodies=True))
        message = json.loads(await ask(server, SAID, stream=False))["choices"][0][
            "message"
        ]
        assert message["content"] == answers.words(3, 5)
        (requested,) = await server.log()
        assert json.loads(requested.body)["messages"] == [SAID]
        assert requested.size == len(requested.body)


@pytest.mark.thorough
async def test_the_bare_client_reads_a_stream_to_its_end() -> None:
    async with model_server() as server:
        body: JsonValue = {"messages": [SAID], "stream": True}
        first = await server.ask_bare(json.dumps(body).encode())
        (requested,) = await server.log()
        assert requested.first_word <= first
        assert requested.ended

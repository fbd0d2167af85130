"""The options of one turn override those of the owner, in the words of each service."""

import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    NamedTool,
    ToolChoice,
    ToolChoiceMode,
)
from custom_components.chatterbox.agent.protocols import (
    NO_WISHES,
    AnswerOptions,
    ReasoningEffort,
    Verbosity,
)
from custom_components.chatterbox.agent.providers.profiles import (
    DEFAULT_OPTIONS,
    ModelOptions,
)
from tests.support.servers.raw_http import raw_http_server

from .conversation import TURN_ON
from .dialect import Dialect
from .service import HELLO, HI, answered, collect, provider_of

WITH_TOOLS = replace(HI, tools=(TURN_ON,))
OWNERS = ModelOptions(temperature=0.5, top_p=0.9, max_tokens=300)
WARMER = AnswerOptions(temperature=0.75, top_p=0.96)


async def sent(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    wishes: AnswerOptions,
    owners: ModelOptions = DEFAULT_OPTIONS,
    choice: ToolChoice = ToolChoiceMode.AUTO,
) -> JsonObject:
    """Return the payload of a request with these wishes."""
    request = replace(WITH_TOOLS, options=wishes, tool_choice=choice)
    async with raw_http_server(answered(dialect, HELLO)) as server:
        await collect(provider_of(dialect, server, session, options=owners), request)
    payload: JsonObject = json.loads(server.requests[0].body)
    return payload


async def added(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    wishes: AnswerOptions,
    owners: ModelOptions = DEFAULT_OPTIONS,
) -> JsonObject:
    """Return what wishes change of a request."""
    without = await sent(dialect, session, NO_WISHES, owners)
    payload = await sent(dialect, session, wishes, owners)
    assert without.keys() <= payload.keys()
    return {
        name: value for name, value in payload.items() if value != without.get(name)
    }


def at(payload: JsonObject, path: tuple[str, ...]) -> JsonValue:
    """Return what stands at a path; None for nothing."""
    value: JsonValue = payload
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


async def test_a_wish_goes_before_what_the_owner_has_set(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    changed = await added(dialect, session, WARMER, OWNERS)
    expected: JsonObject = {"temperature": 0.75, "top_p": 0.96}
    if dialect.name == "ollama_chat":
        expected = {"options": {**expected, "num_predict": 300}}
    assert changed == expected


async def test_the_owners_options_apply_without_a_wish(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    assert (
        await added(dialect, session, AnswerOptions(max_output_tokens=300), OWNERS)
        == {}
    )


@pytest.mark.parametrize(
    ("owners", "wished", "message"),
    [(None, 200, 200), (100, 200, 100), (300, 200, 200)],
)
async def test_the_shorter_of_two_lengths_applies(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    owners: int | None,
    wished: int,
    message: int,
) -> None:
    """Invariant 16."""
    payload = await sent(
        dialect,
        session,
        AnswerOptions(max_output_tokens=wished),
        ModelOptions(max_tokens=owners),
    )
    assert at(payload, dialect.length) == message


async def test_an_answer_may_be_longer_than_where_nobody_says(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    payload = await sent(dialect, session, AnswerOptions(max_output_tokens=50_000))
    assert at(payload, dialect.length) == 50_000


async def test_how_long_to_think(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    wishes = AnswerOptions(reasoning_effort=ReasoningEffort.MEDIUM)
    assert await added(dialect, session, wishes) == dialect.medium_effort
    owners = ModelOptions(reasoning_effort=ReasoningEffort.LOW)
    payload = await sent(dialect, session, wishes, owners)
    assert {
        name: payload[name] for name in dialect.medium_effort
    } == dialect.medium_effort


async def test_how_much_to_say(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    wishes = AnswerOptions(verbosity=Verbosity.LOW)
    assert await added(dialect, session, wishes) == dialect.low_verbosity


async def test_one_call_at_a_time(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    """Invariant 31."""
    wishes = AnswerOptions(parallel_tool_calls=False)
    assert await added(dialect, session, wishes) == dialect.single_calls


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (ToolChoiceMode.REQUIRED, {"type": "any", "disable_parallel_tool_use": True}),
        (
            NamedTool("turn_on"),
            {"type": "tool", "name": "turn_on", "disable_parallel_tool_use": True},
        ),
        (ToolChoiceMode.NONE, {"type": "none"}),
    ],
    ids=["required", "named", "none"],
)
async def test_one_call_at_a_time_beside_a_choice(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    choice: ToolChoice,
    words: JsonObject,
) -> None:
    """Invariants 23, 31."""
    wishes = AnswerOptions(parallel_tool_calls=False)
    payload = await sent(dialect, session, wishes, choice=choice)
    free = await sent(dialect, session, NO_WISHES, choice=choice)
    if dialect.name == "anthropic_messages":
        assert payload["tool_choice"] == words
    else:
        assert payload.get("tool_choice") == free.get("tool_choice")

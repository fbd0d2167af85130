"""Requests hold what the documentation of a service asks for, the same bytes each time, and no key."""

import json
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.events import CompletionResult
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.profiles import (
    DEFAULT_OPTIONS,
    ModelOptions,
)
from tests.support.servers.raw_http import RawHTTPServer, raw_http_server
from tests.support.thorough import some_examples

from .conversation import (
    FOREIGN,
    OPTIONS,
    ROUND_TRIP,
    ROUND_TRIP_RESULTS,
    SHOWN,
    conversation,
)
from .dialect import Dialect
from .dialects import DIALECTS
from .service import (
    HELLO,
    HI,
    answered,
    calls_of,
    collect,
    provider_of,
    reasoning_of,
    text_of,
)


async def sent(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    request: CompletionRequest = HI,
    options: ModelOptions = DEFAULT_OPTIONS,
) -> JsonObject:
    """Return the payload of one request."""
    async with raw_http_server(answered(dialect, HELLO)) as server:
        await collect(provider_of(dialect, server, session, options=options), request)
    return payload_of(server)


def payload_of(server: RawHTTPServer, number: int = -1) -> JsonObject:
    payload: JsonObject = json.loads(server.requests[number].body)
    return payload


async def test_a_whole_conversation(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    """Invariant 34."""
    request = conversation(*dialect.items())

    assert await sent(dialect, session, request) == dialect.expected_conversation()


async def test_items_of_other_providers_are_not_sent(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    """Invariant 35."""
    payload = await sent(dialect, session, conversation())

    assert str(FOREIGN.data["id"]) not in json.dumps(payload)


async def test_the_same_request_is_the_same_bytes(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = conversation(*dialect.items())

    async with raw_http_server(answered(dialect, HELLO)) as server:
        for _ in range(2):
            await collect(provider_of(dialect, server, session), request)

    assert server.requests[0].body == server.requests[1].body


async def test_words_calls_and_reasoning_are_sent_back(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    """Invariant 35."""
    async with raw_http_server(
        answered(dialect, ROUND_TRIP), answered(dialect, HELLO)
    ) as server:
        provider = provider_of(dialect, server, session)
        events = await collect(provider)
        last = events[-1]
        assert isinstance(last, CompletionResult)
        calls = tuple(calls_of(events))
        transcript = AssistantMessage(
            text_of(events), reasoning_of(events), calls, last.provider_items
        )
        results = [
            ToolResult(call.id, call.name, ROUND_TRIP_RESULTS[call.name])
            for call in calls
        ]
        await collect(
            provider, replace(HI, transcript=(*HI.transcript, transcript, *results))
        )

    assert dialect.history(payload_of(server)) == dialect.expected_round_trip()


async def test_instructions_stand_apart(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    payload = await sent(dialect, session)
    without = await sent(dialect, session, replace(HI, instructions=""))

    assert dialect.instructions(payload) == "Be brief."
    assert dialect.instructions(without) == ""
    assert dialect.history(payload) == dialect.history(without)


async def test_wishes(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    plain = await sent(dialect, session)
    wished = await sent(dialect, session, options=OPTIONS)

    expected = dialect.expected_options()
    assert {name: wished.get(name) for name in expected} == expected
    assert {name: value for name, value in wished.items() if name not in expected} == {
        name: value for name, value in plain.items() if name not in expected
    }


async def test_a_persons_own_parameters_have_the_last_word(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    plain = await sent(dialect, session)
    changed = await sent(
        dialect,
        session,
        options=ModelOptions(extra={"model": "another", "stream": None, "seed": 7}),
    )

    assert changed == {
        **{name: plain[name] for name in plain if name != "stream"},
        "model": "another",
        "seed": 7,
    }


async def test_a_persons_own_parameters_replace_their_wishes(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    mine: JsonObject = dict.fromkeys(dialect.expected_options(), "mine")

    payload = await sent(dialect, session, options=replace(OPTIONS, extra=mine))

    assert {name: payload[name] for name in mine} == mine


async def test_the_context_precedes_the_words(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    payload = await sent(
        dialect,
        session,
        CompletionRequest("", (UserMessage("Light!", context="It is noon."),)),
    )
    written = await sent(
        dialect, session, CompletionRequest("", (UserMessage("It is noon.\n\nLight!"),))
    )

    assert payload == written


async def test_pictures_and_documents(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    payload = await sent(dialect, session, CompletionRequest("", (SHOWN,)))

    assert dialect.history(payload)[-1] == dialect.expected_attachments()


@pytest.mark.parametrize("choice", [*ToolChoiceMode, NamedTool("weather")])
async def test_nothing_is_said_of_tools_where_there_are_none(
    dialect: Dialect, choice: ToolChoice, session: aiohttp.ClientSession
) -> None:
    payload = await sent(dialect, session, replace(HI, tool_choice=choice))

    assert not {name for name in payload if "tool" in name}


async def test_tools_stay_the_same_whatever_may_be_called(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = conversation()
    choices: list[ToolChoice] = [
        ToolChoiceMode.AUTO,
        ToolChoiceMode.REQUIRED,
        NamedTool("weather"),
    ]
    if dialect.can_forbid_calls:
        choices.append(ToolChoiceMode.NONE)
    payloads = [
        await sent(dialect, session, replace(request, tool_choice=choice))
        for choice in choices
    ]

    assert all(payload["tools"] == payloads[0]["tools"] for payload in payloads)


TEXT = st.text(max_size=8)
CALLS = st.lists(st.builds(ToolCall, st.uuids().map(str), TEXT, TEXT), max_size=2)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Draw what may have been said, called and answered, by whatever model."""
    messages: list[Message] = [UserMessage(draw(TEXT))]
    for _ in range(draw(st.integers(0, 3))):
        calls = tuple(draw(CALLS))
        messages.append(AssistantMessage(draw(TEXT), draw(TEXT), calls, (FOREIGN,)))
        messages += [
            ToolResult(call.id, call.name, draw(TEXT), draw(st.booleans()))
            for call in calls
        ]
        if not calls:
            messages.append(UserMessage(draw(TEXT)))
    return tuple(messages)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(earlier=transcripts(), later=transcripts(), directive=TEXT)
@settings(max_examples=some_examples(30))
def test_a_longer_conversation_begins_as_the_shorter_one(
    dialect: Dialect, earlier: Transcript, later: Transcript, directive: str
) -> None:
    shorter = dialect.history(dialect.payload(CompletionRequest("Be brief.", earlier)))
    longer = dialect.history(
        dialect.payload(
            CompletionRequest("Be brief.", earlier + later, directive=directive)
        )
    )

    assert longer[: len(shorter)] == shorter

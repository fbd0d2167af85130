"""A server reads ahead while somebody speaks, at most once a minute, and nobody ever waits for it or hears of it."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.assist_pipeline.pipeline import (
    async_get_pipeline,
    async_update_pipeline,
)
from homeassistant.const import (
    CONF_LLM_HASS_API,
    CONF_MODEL,
    EVENT_HOMEASSISTANT_STARTED,
)
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.providers.managed_provider import READ_FOR
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_CONTEXT_WINDOW,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.runtime.agents import async_get_models
from custom_components.chatterbox.runtime.health import async_check_health
from custom_components.chatterbox.turns.warm_up import IDLE, QUIET
from tests.support.listening_room import StreamingVoice, furnish
from tests.support.one_home import in_one_home
from tests.support.prefixes import prefix_of
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    raw_http_server,
    reply,
)
from tests.support.servers.script import ScriptedAnswer
from tests.support.servers.stream import chunks_of
from tests.support.talk import (
    AGENT,
    PART,
    add_agent,
    move_into_the_demo_home,
    say,
    speech,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

MODELS = reply(b'{"object":"list","data":[{"id":"scripted-model","object":"model"}]}')
HELLO = event_stream(
    list(
        chunks_of(
            ScriptedAnswer(content="Hello."), "scripted-model", include_usage=True
        )
    )
)
NOTHING = reply(b"")
SILENCE = RawReply([], Ending.WAIT)


class Serve(Protocol):
    """Starts a server that sends these replies once it was asked for its models, and an agent that uses it."""

    async def __call__(
        self, *replies: RawReply, server: str = "llama_cpp", **options: object
    ) -> RawHTTPServer:
        """Return the server, to ask it what it was sent; `server` names its kind."""


@pytest.fixture
async def serve_raw(hass: HomeAssistant) -> AsyncGenerator[Serve]:
    """Serve until the end of the test."""
    async with AsyncExitStack() as stack:

        async def start(
            *replies: RawReply, server: str = "llama_cpp", **options: object
        ) -> RawHTTPServer:
            await move_into_the_demo_home(hass, PART)
            raw = await stack.enter_async_context(raw_http_server(MODELS, *replies))
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_SERVER: server,
                CONF_BASE_URL: f"http://127.0.0.1:{raw.port}/v1",
            }
            defaults: dict[str, object] = {
                CONF_MODEL: "scripted-model",
                CONF_LLM_HASS_API: ["assist"],
                CONF_CONTEXT_WINDOW: 32_768,  # so that nobody asks for it
            }
            await add_agent(hass, service, defaults | options)
            raw.requests.clear()
            raw.arrived.clear()
            raw.replies, raw.models = replies, MODELS
            return raw

        yield start
        for entry in hass.config_entries.async_loaded_entries(DOMAIN):
            await hass.config_entries.async_unload(entry.entry_id)


async def _prepare(hass: HomeAssistant) -> None:
    """Begin to speak, as the pipeline tells the agent, and speak for long enough."""
    await conversation.async_prepare_agent(hass, AGENT, "en")
    await hass.async_block_till_done(wait_background_tasks=True)


def _methods(server: RawHTTPServer) -> list[str]:
    return [request.method for request in server.requests]


def _bodies(server: RawHTTPServer) -> list[JsonObject]:
    return [
        json.loads(request.body)
        for request in server.requests
        if request.method == "POST"
    ]


async def test_a_turn_begins_with_all_that_was_sent_ahead(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(HELLO)

    await _prepare(hass)
    result = await say(hass, "hello")

    ahead, turn = _bodies(server)
    assert speech(result) == "Hello."
    assert ahead.pop("max_tokens") == 1
    assert "max_tokens" not in turn
    assert prefix_of(ahead) == prefix_of(turn)
    assert "HassTurnOn" in prefix_of(ahead)
    assert "Ceiling Light" in prefix_of(ahead)
    messages = ahead["messages"]
    assert isinstance(messages, list)
    assert messages[-1] == {"role": "user", "content": "Hi"}


async def test_it_is_sent_once_a_minute(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO, NOTHING, HELLO)

    for _ in range(2):
        await _prepare(hass)
    assert _methods(server) == ["POST", "HEAD"]
    freezer.tick(READ_FOR + 1)
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)
    await _prepare(hass)

    assert _methods(server) == ["POST", "HEAD", "POST"]


async def test_a_turn_has_been_read_as_well(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO, HELLO, NOTHING, HELLO)

    await say(hass, "hello")
    freezer.tick(READ_FOR - 1)
    async_fire_time_changed(hass)
    await say(hass, "hello again")
    freezer.tick(READ_FOR - 1)
    async_fire_time_changed(hass)
    await _prepare(hass)

    assert _methods(server) == ["POST", "POST", "HEAD"]


async def test_a_turn_that_failed_has_not_been_read(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(reply(b"", status=400), NOTHING)

    await say(hass, "hello")
    await _prepare(hass)

    assert _methods(server) == ["POST", "POST"]
    assert [body.get("max_tokens") for body in _bodies(server)] == [None, 1]


async def test_another_home_is_another_prefix(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(HELLO)

    await _prepare(hass)
    er.async_get(hass).async_update_entity("light.kitchen_ceiling", name="The new lamp")
    await hass.async_block_till_done()
    await _prepare(hass)

    first, second = _bodies(server)
    assert "The new lamp" not in prefix_of(first)
    assert "The new lamp" in prefix_of(second)


async def test_a_turn_waits_for_what_is_being_read_and_the_next_one_takes_its_place(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(SILENCE, HELLO, deadline=2)
    await conversation.async_prepare_agent(hass, AGENT, "en")
    await server.arrived.wait()
    await conversation.async_prepare_agent(hass, AGENT, "en")

    first = speech(await say(hass, "hello"))
    is_read_on = not server.left.is_set()
    second = speech(await say(hass, "hello"))

    await server.left.wait()
    assert first.startswith("My language model can't answer right now.")
    assert is_read_on
    assert second == "Hello."
    assert len(_bodies(server)) == 2


async def test_two_who_speak_at_once_are_prepared_for_once(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(HELLO)

    await asyncio.gather(
        *(conversation.async_prepare_agent(hass, AGENT, "en") for _ in range(3))
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    assert _methods(server) == ["POST"]


async def test_a_server_that_keeps_nothing_is_only_connected_to(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(NOTHING, NOTHING, HELLO, server="openrouter")

    for _ in range(2):
        await _prepare(hass)
    before = server.connections
    await say(hass, "hello")

    assert _methods(server) == ["HEAD", "HEAD", "POST"]
    assert server.connections == before


async def test_nothing_goes_on_or_begins_after_the_agent_is_gone(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(SILENCE, HELLO)
    agent = conversation.async_get_agent(hass, AGENT)
    assert agent is not None
    await agent.async_prepare("en")
    await server.arrived.wait()
    (entry,) = hass.config_entries.async_entries(DOMAIN)

    await hass.config_entries.async_unload(entry.entry_id)
    await server.left.wait()
    await agent.async_prepare("en")
    await hass.async_block_till_done(wait_background_tasks=True)

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer", [None, reply(b'{"error":{"message":"no"}}', status=401), SILENCE]
)
async def test_nobody_hears_of_a_server_that_fails(
    hass: HomeAssistant,
    serve_raw: Serve,
    caplog: pytest.LogCaptureFixture,
    answer: RawReply | None,
) -> None:
    server = await serve_raw(
        answer or RawReply([]), first_token_timeout=0.1, between_tokens_timeout=0.1
    )
    caplog.clear()

    await conversation.async_prepare_agent(hass, AGENT, "en")
    await server.arrived.wait()
    if answer is SILENCE:
        (entry,) = hass.config_entries.async_entries(DOMAIN)
        await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    ours = [
        record
        for record in caplog.records
        if record.name.startswith("custom_components.chatterbox")
    ]
    assert [record for record in ours if record.levelno > logging.DEBUG] == []
    assert hass.config_entries.flow.async_progress() == []


async def test_a_broken_template_is_told_by_the_turn_and_not_before(
    hass: HomeAssistant, serve_raw: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve_raw(HELLO, prompt="{{ 1 / 0 }}")
    caplog.clear()

    await _prepare(hass)
    assert [
        record for record in caplog.records if record.levelno >= logging.WARNING
    ] == []
    await say(hass, "hello")

    ahead, turn = _bodies(server)
    ahead.pop("max_tokens")
    assert prefix_of(ahead) == prefix_of(turn)


async def _pass(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, seconds: float
) -> None:
    freezer.tick(seconds)
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)


def _rename(hass: HomeAssistant, name: str) -> None:
    er.async_get(hass).async_update_entity("light.kitchen_ceiling", name=name)


async def test_the_prefix_is_read_once_before_anyone_speaks(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    assert _methods(server) == []
    await _pass(hass, freezer, QUIET + 1)
    await _pass(hass, freezer, IDLE + 1)
    await say(hass, "hello")

    ahead, turn = _bodies(server)
    assert ahead.pop("max_tokens") == 1
    assert prefix_of(ahead) == prefix_of(turn)


async def test_a_home_that_is_still_starting_is_not_read(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    hass.set_state(CoreState.starting)
    server = await serve_raw(HELLO)
    _rename(hass, "Not yet")
    await _pass(hass, freezer, QUIET + 1)
    before = _methods(server)
    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await hass.async_block_till_done()
    await _pass(hass, freezer, QUIET + 1)

    assert before == []
    assert _methods(server) == ["POST"]


async def test_many_changes_are_read_once_when_they_have_ended(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    await _pass(hass, freezer, QUIET + 1)
    freezer.tick(READ_FOR)
    for number in range(500):
        _rename(hass, f"Lamp {number}")
        if number % 100 == 0:
            await _pass(hass, freezer, QUIET - 1)
    before = len(server.requests)
    await _pass(hass, freezer, QUIET + 1)
    hass.states.async_set("zone.not_exposed", "on")
    await _pass(hass, freezer, QUIET + 1)

    assert before == 1
    assert len(server.requests) == 2
    assert "Lamp 499" in prefix_of(_bodies(server)[1])


async def test_a_home_that_never_stops_changing_is_read_once_a_minute(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    for number in range(40):
        _rename(hass, f"Lamp {number}")
        await _pass(hass, freezer, QUIET + 1)

    assert 3 <= len(server.requests) <= 5


async def test_a_change_while_a_home_is_read_is_read_afterwards(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    release = asyncio.Event()
    server = await serve_raw(replace(HELLO, held={0: release}), HELLO)
    freezer.tick(QUIET + 1)
    async_fire_time_changed(hass)
    await server.arrived.wait()
    _rename(hass, "The new lamp")
    await hass.async_block_till_done()
    release.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    for _ in range(3):
        await _pass(hass, freezer, READ_FOR)

    before, after = map(prefix_of, _bodies(server))
    assert "The new lamp" not in before
    assert "The new lamp" in after


async def test_an_open_conversation_keeps_its_prefix_at_the_server(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    await _pass(hass, freezer, QUIET + 1)
    await say(hass, "hello")
    _rename(hass, "The new lamp")
    await _pass(hass, freezer, QUIET + 1)
    await say(hass, "hello again")
    await _pass(hass, freezer, IDLE - 1)
    before = len(server.requests)
    await _pass(hass, freezer, 2)

    assert before == 3
    *_, turn, ahead = map(prefix_of, _bodies(server))
    assert "The new lamp" not in turn
    assert "The new lamp" in ahead


@pytest.mark.parametrize(
    ("server", "options"),
    [
        ("openrouter", {}),
        ("llama_cpp", {"read_ahead": False}),
        ("llama_cpp", {"price_input": 0.1}),
        ("ollama", {CONF_MODEL: "gpt-oss:120b-cloud"}),
    ],
)
async def test_nothing_is_read_where_it_is_not_wanted_or_not_free(
    hass: HomeAssistant,
    serve_raw: Serve,
    freezer: FrozenDateTimeFactory,
    server: str,
    options: dict[str, object],
) -> None:
    raw = await serve_raw(HELLO, server=server, **options)
    _rename(hass, "The new lamp")
    await _pass(hass, freezer, QUIET + 1)
    before = _methods(raw)
    await _prepare(hass)

    assert (before, _methods(raw)) == ([], ["HEAD"])


async def test_a_server_that_is_down_is_left_alone_and_reads_once_it_is_back(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    await _pass(hass, freezer, QUIET + 1)
    (model,) = async_get_models(hass).values()
    model.managed.tripped(ProviderUnreachable("gone"))
    async_check_health(hass)
    _rename(hass, "The new lamp")
    await _pass(hass, freezer, QUIET + 1)
    await _prepare(hass)
    before = _methods(server)
    await _pass(hass, freezer, 60)
    checks = len(server.requests) - len(before)
    await _pass(hass, freezer, QUIET + 1)

    assert before == ["POST"]
    assert checks == 1
    assert len(server.requests) == 3
    assert "The new lamp" in prefix_of(_bodies(server)[-1])


async def test_a_turn_waits_for_its_own_prefix_and_for_no_other(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    release = asyncio.Event()
    held = replace(HELLO, held={0: release})
    server = await serve_raw(
        held, HELLO, SILENCE, HELLO, connect_timeout=1, first_token_timeout=1
    )
    freezer.tick(QUIET + 1)
    async_fire_time_changed(hass)
    await server.arrived.wait()
    turn = asyncio.create_task(say(hass, "hello"))
    await hass.async_block_till_done()
    before = len(server.requests)
    release.set()
    assert speech(await turn) == "Hello."

    _rename(hass, "The new lamp")
    server.arrived.clear()
    await conversation.async_prepare_agent(hass, AGENT, "en")
    await server.arrived.wait()
    assert speech(await say(hass, "hello again")) == "Hello.", (
        "in a conversation that has the old name"
    )
    await server.left.wait()

    assert before == 1
    assert len(server.requests) == 4


async def test_fillers_are_heard_while_the_prompt_is_still_read(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    release = asyncio.Event()
    server = await serve_raw(replace(HELLO, held={0: release}), HELLO, filler_after=0.1)
    room = await furnish(hass, StreamingVoice())
    freezer.tick(QUIET + 1)
    async_fire_time_changed(hass)
    await server.arrived.wait()
    turn = asyncio.create_task(room.say("hello"))
    await room.hear("[One moment.]")
    release.set()
    await turn

    assert room.heard.startswith("[One moment.]")
    assert room.heard.endswith("[Hello.]")
    assert len(server.requests) == 2


async def test_a_local_command_does_not_wait_for_a_server_that_reads(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(SILENCE, local_commands="first")
    freezer.tick(QUIET + 1)
    async_fire_time_changed(hass)
    await server.arrived.wait()

    await say(hass, "turn on the floor lamp")

    assert len(server.requests) == 1
    assert not server.left.is_set()


async def test_what_a_turn_or_a_failure_ended_is_read_later(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(reply(b"{}", status=503), HELLO)
    await _pass(hass, freezer, QUIET + 1)
    await _pass(hass, freezer, IDLE + 1)
    await _pass(hass, freezer, IDLE + 1)

    assert _methods(server) == ["POST", "POST"]


async def _add_another(
    hass: HomeAssistant, server: RawHTTPServer, model: str, name: str
) -> None:
    """Set up a second service with the same server, and an agent in it."""
    service: dict[str, object] = {
        CONF_KIND: ServiceKind.OPENAI_CHAT,
        CONF_SERVER: "llama_cpp",
    }
    service[CONF_BASE_URL] = f"http://127.0.0.1:{server.port}"
    await add_agent(
        hass,
        service,
        {CONF_MODEL: model, CONF_LLM_HASS_API: [], CONF_CONTEXT_WINDOW: 32_768},
    )
    er.async_get(hass).async_update_entity(
        "conversation.talker_2", new_entity_id=f"conversation.{name}"
    )
    await hass.async_block_till_done()


def _models(server: RawHTTPServer) -> list[object]:
    return [body["model"] for body in _bodies(server)]


async def test_a_server_reads_ahead_for_one_model_which_another_would_unload(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    await _add_another(hass, server, "another-model", "second")
    await _add_another(hass, server, "scripted-model", "third")
    server.requests.clear()
    for _ in range(4):
        await _pass(hass, freezer, IDLE + 1)

    assert _models(server) == ["scripted-model", "scripted-model"]


async def test_the_model_of_the_preferred_assistant_is_the_one(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    assert await async_setup_component(hass, "assist_pipeline", {})
    await _add_another(hass, server, "another-model", "second")
    await async_update_pipeline(
        hass, async_get_pipeline(hass), conversation_engine="conversation.second"
    )
    server.requests.clear()
    for _ in range(4):
        await _pass(hass, freezer, IDLE + 1)

    assert _models(server) == ["another-model"]


async def test_each_model_reads_while_somebody_speaks_to_its_agent(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(HELLO)
    await _add_another(hass, server, "another-model", "second")
    server.requests.clear()
    for agent in (AGENT, "conversation.second", AGENT):
        await conversation.async_prepare_agent(hass, agent, "en")
        await hass.async_block_till_done(wait_background_tasks=True)

    assert _models(server) == ["scripted-model", "another-model", "scripted-model"]


async def test_a_turn_ends_what_is_read_for_an_agent_of_another_service(
    hass: HomeAssistant, serve_raw: Serve
) -> None:
    server = await serve_raw(SILENCE, HELLO)
    await _add_another(hass, server, "another-model", "second")
    server.requests.clear()
    await conversation.async_prepare_agent(hass, AGENT, "en")
    await server.arrived.wait()

    assert speech(await say(hass, "hello", agent_id="conversation.second")) == "Hello."
    await server.left.wait()


async def test_what_was_too_slow_for_a_turn_is_read_at_once_for_the_next_one(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO, SILENCE, HELLO, deadline=2)
    await _pass(hass, freezer, QUIET + 1)
    await say(hass, "hello")
    await _pass(hass, freezer, QUIET + 1)

    _, turn, ahead = _bodies(server)
    assert (turn.get("max_tokens"), ahead.pop("max_tokens")) == (None, 1)
    assert prefix_of(turn) == prefix_of(ahead)


@in_one_home(
    ("measured", "words"),
    [(0, "Hello."), (0.01, "My language model can't")],
    puts_back=True,
)
async def test_a_first_answer_that_was_not_measured_gets_the_time_of_the_turn(
    hass: HomeAssistant, serve_raw: Serve, measured: float, words: str
) -> None:
    await serve_raw(
        replace(HELLO, pause=0.2), first_token_timeout=0.05, first_answer=measured
    )

    assert speech(await say(hass, "hello")).startswith(words)


async def test_what_a_server_was_reading_before_it_went_away_is_not_waited_for(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(SILENCE, HELLO)
    await conversation.async_prepare_agent(hass, AGENT, "en")
    await server.arrived.wait()
    (model,) = async_get_models(hass).values()
    model.managed.tripped(ProviderUnreachable("gone"))
    async_check_health(hass)
    freezer.tick(60)
    async_fire_time_changed(hass)
    await server.left.wait()
    await hass.async_block_till_done(wait_background_tasks=True)

    assert speech(await say(hass, "hello")) == "Hello."


async def test_a_plan_ends_with_its_agent(
    hass: HomeAssistant, serve_raw: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve_raw(HELLO)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_unload(entry.entry_id)
    _rename(hass, "The new lamp")
    await _pass(hass, freezer, QUIET + 1)

    assert server.requests == []


@pytest.mark.usefixtures("offline")
async def test_without_a_model_home_assistant_gets_its_sentences_ready(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "homeassistant.components.conversation")

    await conversation.async_prepare_agent(hass, AGENT, "de")

    assert "language=de" in caplog.text

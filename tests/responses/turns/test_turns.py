"""Turns of API clients in the life of a home: agents are renamed, loaded anew and removed, and questions wait."""

import asyncio
import gc

import pytest
from homeassistant.const import CONF_LLM_HASS_API, MATCH_ALL
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, llm
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.events import Answer
from custom_components.chatterbox.agent.messages import UserMessage
from custom_components.chatterbox.agent.protocols import OutputFormat
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import (
    CONF_DIAGNOSE_WORDS,
    CONF_KIND,
    EVENT_CHANGE,
    EVENT_TOOL_CALLED,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
    EVENT_TURN_STARTED,
    ServiceKind,
)
from custom_components.chatterbox.diagnostics import async_get_config_entry_diagnostics
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.tools import (
    HostedTools,
    ToolFilter,
)
from custom_components.chatterbox.responses.turns import ApiTurns
from tests.support.api_clients import ASSIST, ApiClient, a_user, enable_api
from tests.support.llm_apis import StubApi, StubTool
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    ASKS,
    DOOR,
    LIGHT_ON,
    PART,
    Serve,
    add_agent,
    move_into_the_demo_home,
)

SLOWLY = ScriptedAnswer(
    content="Come in. " * 99, piece_characters=9, piece_delay_seconds=0.2
)


async def test_a_request_that_is_not_to_be_stored_is_told_in_no_event_and_no_diagnostics(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 38: Home Assistant stores its events. What was done is told all the same."""
    light = ScriptedCall(
        name="HassTurnOn",
        arguments={"name": "Kitchen ceiling light", "domain": "light"},
    )
    asking = ScriptedCall(name="GetLiveContext", arguments={})
    await serve_api(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(light, asking)),
                ScriptedAnswer(content="Hush, done."),
            )
        )
    )
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    hass.config_entries.async_update_entry(
        entry, options={**entry.options, CONF_DIAGNOSE_WORDS: True}
    )
    events: list[Event] = []

    @callback
    def listen(event: Event) -> None:
        events.append(event)

    hass.bus.async_listen(MATCH_ALL, listen)

    await api_client.says("Hush, light!", may_store=False)

    assert not [event.event_type for event in events if "Hush" in str(event.data)]
    assert "Hush" not in str(await async_get_config_entry_diagnostics(hass, entry))
    data_by_type = {event.event_type: event.data for event in events}
    assert {
        EVENT_TURN_STARTED,
        EVENT_TOOL_CALLED,
        EVENT_TOOL_FINISHED,
        EVENT_TURN_FINISHED,
    } <= data_by_type.keys()
    (change,) = [event.data for event in events if event.event_type == EVENT_CHANGE]
    assert "Kitchen ceiling light" in str(change)
    finished = data_by_type[EVENT_TURN_FINISHED]
    assert (finished["input"], finished["speech"]) == ("", "")
    assert finished["tool_calls"] == [
        {
            "name": "intent__HassTurnOn",
            "arguments": {},
            "result": None,
            "is_error": False,
        },
        {
            "name": "homeassistant__GetLiveContext",
            "arguments": {},
            "result": None,
            "is_error": False,
        },
    ]
    assert all(
        (event.data["arguments"], event.data.get("result")) == ({}, None)
        for event in events
        if event.event_type in {EVENT_TOOL_CALLED, EVENT_TOOL_FINISHED}
    )


async def test_an_add_on_is_a_client_like_others(
    hass: HomeAssistant, serve_api: Serve
) -> None:
    """Its user was made by Home Assistant, and is nobody else."""
    await serve_api(Script(answers=(ASKS, ScriptedAnswer(content="Come in."))))
    user = await hass.auth.async_create_system_user(
        "Supervisor", group_ids=["system-admin"]
    )
    api_client = ApiClient(hass, user)
    request = api_client.wants("Unlock the front door.", conversation_id="add-on")

    outcome = await api_client.takes(request)
    await api_client.answers(request, outcome.pending, Answer(approved=True))

    assert hass.states.is_state(DOOR, "unlocked")
    store = api_client.backend.store(AGENT)
    assert store is not None
    stored_conversation = await store.conversation("add-on", Caller(user.id))
    assert stored_conversation is not None
    assert isinstance(stored_conversation[0], UserMessage)
    assert await store.conversation("add-on", Caller(a_user(hass, "Ben").id)) is None


async def test_a_user_that_home_assistant_made_may_do_what_it_may(
    hass: HomeAssistant, serve_api: Serve
) -> None:
    await serve_api(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="No."),
            )
        )
    )
    user = await hass.auth.async_create_system_user(
        "Content", group_ids=["system-read-only"]
    )

    refused = await ApiClient(hass, user).says("Light!")

    assert "no right" in refused.results[0].content


async def test_an_agent_that_was_renamed_speaks_under_its_name(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(Script(answers=(ScriptedAnswer(content="Hello."), ASKS)))
    await api_client.says("Hello?")
    er.async_get(hass).async_update_entity(AGENT, new_entity_id="conversation.renamed")
    await hass.async_block_till_done(wait_background_tasks=True)
    started = async_capture_events(hass, EVENT_TURN_STARTED)
    api_client.agent = "conversation.renamed"

    await api_client.says("Unlock the front door.")

    assert started[0].data["entity_id"] == "conversation.renamed"
    (question,) = async_get_approvals(hass).waiting
    assert question.scope.agent_id == "conversation.renamed"
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    await hass.config_entries.async_reload(entry.entry_id)
    assert async_get_approvals(hass).waiting == ()


async def test_a_turn_that_was_resumed_elsewhere_ends_with_its_agent(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """It would go on by rules that do not hold any more."""
    await serve_api(Script(answers=(ASKS, SLOWLY)))
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    outcome = await api_client.says("Unlock the front door.")
    finished = async_capture_events(hass, EVENT_TURN_FINISHED)
    is_open = asyncio.Event()

    @callback
    def note(_event: Event) -> None:
        is_open.set()

    hass.bus.async_listen_once(EVENT_TOOL_FINISHED, note)
    yes = GivenAnswer(approved=True, way=ApprovalWay.ACTION, user_id=api_client.user.id)
    answering = asyncio.create_task(
        async_get_approvals(hass).answer(outcome.pending.id, yes)
    )
    await is_open.wait()

    await hass.config_entries.async_reload(entry.entry_id)

    with pytest.raises(asyncio.CancelledError):
        await answering
    assert [event.data["stop_reason"] for event in finished] == ["interrupted"]


async def test_who_says_yes_to_what_is_gone_is_told_so(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    call = ScriptedCall(name="paint", arguments={})
    api = StubApi(hass=hass, id="stub", name="Stub", tools=[StubTool(name="paint")])
    remove = llm.async_register_api(hass, api)
    await serve_api(
        Script(answers=(ScriptedAnswer(tool_calls=(call,)),)),
        **{CONF_LLM_HASS_API: ["assist", "stub"]},
    )
    wish = HostedTools(server_label="stub", allowed=ToolFilter(tool_names=["paint"]))
    outcome = await api_client.says("Paint the wall.", hosted=(ASSIST, wish))
    changes = async_capture_events(hass, EVENT_CHANGE)
    remove()

    yes = GivenAnswer(approved=True, way=ApprovalWay.ACTION, user_id=api_client.user.id)
    speech = await async_get_approvals(hass).answer(outcome.pending.id, yes)

    assert speech == "Something went wrong. Please try again."
    assert [change.data["outcome"] for change in changes] == ["not_run"]


async def test_an_agent_without_a_model_says_what_it_cannot_do(
    hass: HomeAssistant, api_client: ApiClient
) -> None:
    """It understands sentences, as when a person speaks."""
    await move_into_the_demo_home(hass, PART)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})
    await enable_api(hass)

    with pytest.raises(ApiError) as of_tools:
        await api_client.says("Turn on the kitchen ceiling light.")
    with pytest.raises(ApiError) as of_a_shape:
        await api_client.says(
            "Turn on the kitchen ceiling light.",
            hosted=None,
            output=OutputFormat("answer", {}),
        )
    await api_client.says("Turn on the kitchen ceiling light.", hosted=None)

    assert (of_tools.value.status, of_tools.value.param) == (400, "tools")
    assert (of_a_shape.value.status, of_a_shape.value.param) == (400, "text.format")
    assert hass.states.is_state("light.kitchen_ceiling", "on")


async def test_nothing_is_kept_of_an_agent_that_is_removed(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(Script(answers=(ScriptedAnswer(content="Hello."),)))
    before = turns_of_clients()
    await api_client.says("Hello?")
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    assert turns_of_clients() == before + 1

    await hass.config_entries.async_remove(entry.entry_id)

    assert turns_of_clients() == before


def turns_of_clients() -> int:
    """Return how many agents are held, each with its settings, its models and its entry."""
    gc.collect()
    return sum(isinstance(one, ApiTurns) for one in gc.get_objects())

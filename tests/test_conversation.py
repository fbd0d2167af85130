"""The conversation entity in a real Home Assistant, over a real Chat Completions server."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Protocol

import pytest
from aiohttp.test_utils import TestServer
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    Content,
    ConversationInput,
    ConversationResult,
    ToolResultContent,
    UserContent,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, intent, issue_registry as ir, llm
from homeassistant.setup import async_setup_component
from homeassistant.util.ulid import ulid_now
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    DOMAIN,
    EVENT_TURN_FINISHED,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from tests.demo_house.move_in import move_in
from tests.servers.chat_completions import ReceivedRequest, ScriptedChatCompletions
from tests.servers.script import Script, ScriptedAnswer, ScriptedCall, ScriptedFailure, ScriptedUsage


class Serve(Protocol):
    """Starts a server that plays a script, and an agent with these options."""

    async def __call__(self, script: Script, **options: object) -> ScriptedChatCompletions:
        """Return the server, to ask it what it was sent."""


pytestmark = pytest.mark.usefixtures("socket_enabled")

AGENT = "conversation.talker"
LIGHT_ON = ScriptedCall(name="HassTurnOn", arguments={"name": "Kitchen ceiling light", "domain": "light"})
BLINDS_DOWN = ScriptedCall(name="intent__HassTurnOff", arguments={"name": "Living Room Blinds", "domain": ["cover"]})
DEMO_HOUSE = Path(__file__).resolve().parent.parent / "demo" / "house.yaml"


async def add_agent(hass: HomeAssistant, service: dict[str, object], options: dict[str, object]) -> None:
    """Set up a service with one agent."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        data=service,
        subentries_data=[
            {"subentry_type": SUBENTRY_CONVERSATION, "title": "Talker", "unique_id": None, "data": options}
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


@pytest.fixture
async def serve(hass: HomeAssistant) -> AsyncGenerator[Serve]:
    """Start a model server that plays a script, and an agent that uses it, in the demo home."""
    servers: list[TestServer] = []

    async def start(script: Script, **options: object) -> ScriptedChatCompletions:
        assert await async_setup_component(hass, "homeassistant", {})
        assert await async_setup_component(hass, "conversation", {})
        await move_in(hass, DEMO_HOUSE.read_text(encoding="utf-8"))
        scripted = ScriptedChatCompletions(script)
        server = TestServer(scripted.application())
        await server.start_server()
        servers.append(server)
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: str(server.make_url("/v1")),
        }
        defaults: dict[str, object] = {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        await add_agent(hass, service, defaults | options)
        return scripted

    yield start
    for server in servers:
        await server.close()


async def say(hass: HomeAssistant, text: str, conversation_id: str = "kitchen-talk") -> ConversationResult:
    """Say something to the agent."""
    return await conversation.async_converse(hass, text, conversation_id, Context(), "en", AGENT)


def speech(result: ConversationResult) -> str:
    """Return what is spoken."""
    return str(result.response.speech["plain"]["speech"])


def messages_of(request: ReceivedRequest) -> list[dict[str, JsonValue]]:
    """Return the messages of a request to the server."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return [message for message in messages if isinstance(message, dict)]


def assert_no_orphans(contents: Sequence[Content]) -> None:
    """Every call has one result, and every result a call."""
    calls = [
        call.id for content in contents if isinstance(content, AssistantContent) for call in content.tool_calls or ()
    ]
    results = [content.tool_call_id for content in contents if isinstance(content, ToolResultContent)]
    assert calls == results


async def test_a_call_changes_the_house_and_the_answer_is_spoken(hass: HomeAssistant, serve: Serve) -> None:
    usage = ScriptedUsage(prompt_tokens=900, completion_tokens=9, cached_tokens=800)
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,), usage=usage),
                ScriptedAnswer(content="The light is on.", usage=usage),
            )
        )
    )
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    result = await say(hass, "turn on the kitchen light")

    assert hass.states.is_state("light.kitchen_ceiling", "on")
    assert speech(result) == "The light is on."
    assert [target.id for target in result.response.success_results] == ["light.kitchen_ceiling"]
    assert not result.continue_conversation
    (turn,) = turns
    assert turn.data["entity_id"] == AGENT
    assert turn.data["conversation_id"] == "kitchen-talk"
    assert turn.data["stop_reason"] == "completed"
    assert turn.data["iterations"] == 2
    assert turn.data["usage"] == {
        "input_tokens": 1800,
        "output_tokens": 18,
        "cached_tokens": 1600,
        "reasoning_tokens": 0,
    }
    (tool_call,) = turn.data["tool_calls"]
    assert tool_call["name"] == "intent__HassTurnOn"
    assert tool_call["arguments"] == {"domain": ["light"], "name": "Kitchen ceiling light"}
    assert not tool_call["is_error"]


async def test_a_second_turn_repeats_the_first_byte_for_byte(hass: HomeAssistant, serve: Serve) -> None:
    """What a server has cached stays valid: requests of a conversation only ever grow at their end."""
    wrong = ScriptedCall(name="intent__HassTurnOn", arguments="{not json")
    unknown = ScriptedCall(name="make_coffee", arguments={"cups": 2})
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(content="One moment.", tool_calls=(wrong, LIGHT_ON, unknown)),
                ScriptedAnswer(content="Is it bright enough?"),
                ScriptedAnswer(content="Good."),
            )
        )
    )
    first = await say(hass, "turn on the kitchen light")
    second = await say(hass, "yes")

    assert first.continue_conversation
    assert not second.continue_conversation
    requests = [messages_of(request) for request in server.requests]
    for earlier, later in pairwise(requests):
        assert json.dumps(later[: len(earlier)]) == json.dumps(earlier)
    assert [message["role"] for message in requests[-1]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "tool",
        "assistant",
        "user",
    ]
    assert server.requests[0].body["tools"] == server.requests[-1].body["tools"]


async def test_conversations_do_not_hear_each_other(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="Hello."), ScriptedAnswer(content="Hi."))))
    await say(hass, "I am in the kitchen", "kitchen")
    await say(hass, "I am in the cellar", "cellar")

    assert "kitchen" not in json.dumps(messages_of(server.requests[-1])[1:])


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (ScriptedFailure(status=400, body={"error": {"message": "no"}}), "refused my question"),
        (ScriptedFailure(status=401, body={"error": {"message": "no"}}), "does not accept my key"),
        (ScriptedFailure(status=404, body={"error": {"message": "The model `x` does not exist"}}), "does not exist"),
        (ScriptedFailure(status=429, body={"error": {"message": "slow down"}}), "busy right now"),
        (ScriptedFailure(status=500, body={"error": {"message": "oops"}}), "cannot reach"),
        (ScriptedFailure(status=200, body="<html>hello</html>"), "answer was broken"),
        (ScriptedAnswer(content="Never read to its end.", cut_after_bytes=150), "answer was broken"),
        (ScriptedAnswer(content=""), "I have no answer"),
    ],
)
async def test_a_service_that_fails_is_never_silent(
    hass: HomeAssistant, serve: Serve, answer: ScriptedAnswer | ScriptedFailure, sentence: str
) -> None:
    await serve(Script(answers=(answer,)))

    result = await say(hass, "how are you?")

    assert sentence in speech(result)


async def test_a_refused_key_asks_for_a_new_one(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedFailure(status=401, body={"error": {"message": "no"}}),)))

    result = await say(hass, "how are you?")
    await hass.async_block_till_done()

    assert result.response.response_type is intent.IntentResponseType.ERROR
    (flow,) = hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert flow["context"]["source"] == "reauth"


@pytest.mark.parametrize(
    "ending",
    [
        ScriptedAnswer(content=""),
        ScriptedFailure(status=500, body={"error": {"message": "oops"}}),
        ScriptedAnswer(content="It is", cut_after_bytes=150),
    ],
)
async def test_what_was_done_is_said_when_the_model_has_no_words_left(
    hass: HomeAssistant, serve: Serve, ending: ScriptedAnswer | ScriptedFailure
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ending)))

    result = await say(hass, "turn on the kitchen light")

    assert "Done: Kitchen Ceiling Light." in speech(result)
    assert result.response.response_type is intent.IntentResponseType.ACTION_DONE
    assert len(server.requests) == 2


async def test_a_hanging_service_ends_at_the_deadline(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Too late.", delay_seconds=3600),)), deadline=0.05)

    assert "took too long" in speech(await say(hass, "how are you?"))


async def test_a_history_with_an_orphan_call_is_sent_repaired(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))
    with (
        chat_session.async_get_chat_session(hass, "kitchen-talk") as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent("lights"))
        orphan = llm.ToolInput("intent__HassTurnOn", {}, id="orphan", external=True)
        chat_log.async_add_assistant_content_without_tools(AssistantContent(AGENT, None, tool_calls=[orphan]))

    await say(hass, "are you there?")

    sent = messages_of(server.requests[-1])
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "user"]
    assert sent[3]["tool_call_id"] == "orphan"


async def test_a_broken_prompt_template_is_told(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(), prompt="{{ 1 / 0 }}")

    assert "problem with my template" in speech(await say(hass, "hello"))


type Listener = Callable[[ChatLog, dict[str, object]], None]


async def talk_as_the_pipeline_does(
    hass: HomeAssistant, text: str, conversation_id: str, listener: Listener
) -> ConversationResult:
    """Open session and ChatLog around the turn, and listen to its deltas."""
    user_input = ConversationInput(text, Context(), conversation_id, None, None, "en", AGENT)
    with (
        chat_session.async_get_chat_session(hass, conversation_id) as session,
        conversation.async_get_chat_log(hass, session, user_input, chat_log_delta_listener=listener),
    ):
        return await say(hass, text, conversation_id)


async def test_the_answer_streams(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="It is a long and lovely answer.", piece_characters=5),)))
    pieces: list[object] = []

    await talk_as_the_pipeline_does(hass, "tell me", "a", lambda _, delta: pieces.append(delta.get("content")))

    said = [piece for piece in pieces if piece]
    assert len(said) > 3
    assert "".join(map(str, said)) == "It is a long and lovely answer."


async def test_a_barge_in_at_any_delta_leaves_a_history_to_go_on_with(hass: HomeAssistant, serve: Serve) -> None:
    """The person interrupts after the first, second, third … delta of a turn, until one gets through."""
    calling = ScriptedAnswer(content="One moment.", tool_calls=(LIGHT_ON, BLINDS_DOWN), piece_characters=4)
    answering = ScriptedAnswer(content="The light is on.", piece_characters=4)
    server = await serve(Script(answers=(calling, answering, answering), after_last="start again"))
    interrupted = 0
    for deltas in count(1):
        server.start_again()
        conversation_id = f"interrupted after {deltas}"
        talking: asyncio.Task[ConversationResult]
        left = deltas

        def interrupt(_: ChatLog, __: dict[str, object]) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                talking.cancel()  # noqa: B023  # the listener lives no longer than its turn

        talking = asyncio.create_task(talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt))
        await asyncio.wait({talking})

        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("tool ")]
        assert_no_orphans(hass.data[DATA_CHAT_LOGS][conversation_id].content)
        if not talking.cancelled():
            break
        interrupted += 1
        assert speech(await say(hass, "and now?", conversation_id))
        roles = [message["role"] for message in messages_of(server.requests[-1])]
        assert roles[:2] == ["system", "user"]
    assert interrupted > 10


async def test_an_interrupted_first_turn_is_continued_under_its_id(hass: HomeAssistant, serve: Serve) -> None:
    """Home Assistant gives new conversations a ULID, and opens another one for a ULID that it does not know."""
    server = await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content="Yes."))))
    conversation_id = ulid_now()
    with chat_session.async_get_chat_session(hass, conversation_id) as session:
        conversation_id = session.conversation_id
    talking: asyncio.Task[ConversationResult]

    def interrupt(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("role") == "tool_result":
            talking.cancel()

    talking = asyncio.create_task(talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt))
    await asyncio.wait({talking})
    result = await say(hass, "is it on?", conversation_id)

    assert result.conversation_id == conversation_id
    assert [message["role"] for message in messages_of(server.requests[-1])][:4] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]


async def test_a_bug_is_logged_and_still_answered(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))

    def break_down(_: ChatLog, __: dict[str, object]) -> None:
        raise ValueError("a listener that is broken")

    result = await talk_as_the_pipeline_does(hass, "hello", "a", break_down)

    assert speech(result) == "Something went wrong. Please try again."
    assert "a listener that is broken" in caplog.text


@pytest.fixture
async def offline(hass: HomeAssistant) -> None:
    """Set up the agent that needs nothing, in the demo home."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    await move_in(hass, DEMO_HOUSE.read_text(encoding="utf-8"))
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})


@pytest.mark.usefixtures("offline")
async def test_the_offline_agent_acts_and_follows_up(hass: HomeAssistant) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    first = await say(hass, "turn on the kitchen ceiling light")
    on = hass.states.is_state("light.kitchen_ceiling", "on")
    second = await say(hass, "turn it off again")

    assert speech(first)
    assert on
    assert speech(second)
    assert hass.states.is_state("light.kitchen_ceiling", "off")
    assert [target.id for target in second.response.success_results] == ["light.kitchen_ceiling"]
    assert "TOOL_EXECUTION" in turns[0].data["phases"]
    assert turns[0].data["iterations"] == 2


@pytest.mark.usefixtures("offline")
async def test_what_the_offline_agent_does_not_understand_is_said_as_the_built_in_agent_says_it(
    hass: HomeAssistant,
) -> None:
    ours = await say(hass, "what is the meaning of life")
    theirs = await conversation.async_converse(
        hass, "what is the meaning of life", None, Context(), "en", conversation.HOME_ASSISTANT_AGENT
    )

    assert speech(ours) == speech(theirs)
    assert ours.response.response_type is theirs.response.response_type
    assert ours.response.error_code is theirs.response.error_code


@pytest.mark.usefixtures("offline")
async def test_an_offline_agent_speaks_the_languages_of_the_built_in_one_and_controls(hass: HomeAssistant) -> None:
    state = hass.states.get(AGENT)
    assert state is not None
    assert state.attributes["supported_features"] == conversation.ConversationEntityFeature.CONTROL
    agent = conversation.async_get_agent(hass, AGENT)
    assert agent is not None
    assert {"en", "de"} <= set(agent.supported_languages)


async def test_an_agent_without_tools_only_talks(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="Hello."),)), llm_hass_api=[])

    await say(hass, "hello")

    state = hass.states.get(AGENT)
    assert state is not None
    assert state.attributes["supported_features"] == 0
    assert "tools" not in server.requests[0].body


async def test_tools_that_are_gone_are_reported_and_do_without(hass: HomeAssistant, serve: Serve) -> None:
    await serve(
        Script(answers=(ScriptedAnswer(content="Hello."), ScriptedAnswer(content="Hello again."))),
        llm_hass_api=["assist", "a-server-that-was-removed"],
    )

    assert speech(await say(hass, "hello")) == "Hello."

    (issue,) = ir.async_get(hass).issues.values()
    assert issue.domain == DOMAIN
    assert issue.translation_placeholders == {"agent": "Talker", "sources": "a-server-that-was-removed"}
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_unload(entry.entry_id)
    assert not ir.async_get(hass).issues

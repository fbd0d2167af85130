"""What an agent remembers of turns that overlap, break off, or report actions that were not done."""

import asyncio
import json
from itertools import count, pairwise

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, ChatLog, ConversationResult
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
from homeassistant.util.ulid import ulid_now
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.unverified_actions import CHECKED_LANGUAGES, reports_action
from custom_components.chatterbox.const import CONF_CHECK_ACTIONS, EVENT_TURN_FINISHED
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.sentences import sentence
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall, ScriptedFailure
from tests.support.talk import (
    AGENT,
    BLINDS_DOWN,
    LIGHT_ON,
    Serve,
    assert_no_orphans,
    messages_of,
    say,
    speech,
    talk_as_the_pipeline_does,
)
from tests.support.versions import IS_LATEST, OF_NOBODY

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_an_interrupted_turn_leaves_a_later_one_its_words(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(content="Never heard.", delay_seconds=3600),
                ScriptedAnswer(content="The second answer."),
                ScriptedAnswer(content="Here."),
            )
        )
    )
    first = asyncio.create_task(talk_as_the_pipeline_does(hass, "the first question", "a-talk", lambda _, __: None))
    await server.asked.wait()
    await say(hass, "the second question", "a-talk")
    first.cancel()
    await asyncio.wait({first})
    await say(hass, "are you there?", "a-talk")

    heard = [str(message["content"]).rpartition("\n\n")[2] for message in messages_of(server.requests[-1])[1:]]
    second = [] if IS_LATEST else ["the second question", "The second answer."]  # since 2026.11, it has to wait
    assert heard == ["the first question", *second, "are you there?"]


async def test_a_key_refused_after_its_entry_is_gone_asks_nobody(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(
        Script(answers=(ScriptedFailure(status=401, body={"error": {"message": "no"}}),)), llm_hass_api=[]
    )
    (entry,) = hass.config_entries.async_entries("chatterbox")
    agent = conversation.async_get_agent(hass, AGENT)
    talking = asyncio.create_task(say(hass, "hello"))
    await server.asked.wait()
    await hass.config_entries.async_remove(entry.entry_id)
    assert "no longer accepts my API key" in speech(await talking)
    await hass.async_block_till_done()

    assert agent is not None
    assert "UnknownEntry" not in caplog.text
    assert not hass.config_entries.flow.async_progress()


async def test_a_second_turn_repeats_the_first_byte_for_byte(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
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
    freezer.tick(60)
    second = await say(hass, "yes")

    assert first.continue_conversation
    assert not second.continue_conversation
    requests = [messages_of(request) for request in server.requests]
    for earlier, later in pairwise(requests):
        assert json.dumps(later[: len(earlier)]) == json.dumps(earlier)
    roles = [message["role"] for message in requests[-1]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"]
    assert server.requests[0].body["tools"] == server.requests[-1].body["tools"]


CALLS = ScriptedAnswer(content="One moment.", tool_calls=(LIGHT_ON, BLINDS_DOWN), piece_characters=4)
LIES = ScriptedAnswer(content="I've turned on the kitchen light.")
ANSWERS = ScriptedAnswer(content="The light is on.", piece_characters=4)


@pytest.mark.parametrize(("first", "least"), [(CALLS, 6), (LIES, 5)], ids=["calls", "is corrected"])
async def test_a_barge_in_at_any_delta_leaves_a_usable_history(
    hass: HomeAssistant, serve: Serve, first: ScriptedAnswer, least: int
) -> None:
    """The person interrupts after the first, second, third … delta of a turn, until one gets through."""
    answers = (first, ANSWERS, ANSWERS) if first is CALLS else (first, CALLS, ANSWERS, ANSWERS)
    server = await serve(Script(answers=answers, after_last="start again"))
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

        talking = asyncio.create_task(
            talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt, "assist_satellite.kitchen")
        )
        await asyncio.wait({talking})

        assert not {task for task in asyncio.all_tasks() if "chatterbox" in str(task.get_coro())}
        contents = hass.data[DATA_CHAT_LOGS][conversation_id].content
        assert_no_orphans(contents)
        assert "turned on the kitchen light" not in str(contents)
        if not talking.cancelled():
            break
        interrupted += 1
        assert speech(await say(hass, "and now?", conversation_id))
        roles = [message["role"] for message in messages_of(server.requests[-1])]
        assert roles[:2] == ["system", "user"]
    assert interrupted > least  # words that come soon after one another are one delta


async def test_an_interrupted_first_turn_is_continued_under_its_id(hass: HomeAssistant, serve: Serve) -> None:
    """Home Assistant gives new conversations a ULID, and opens another one for a ULID that it does not know."""
    server = await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content="Yes."))))
    conversation_id = ulid_now()
    with chat_session.async_get_chat_session(hass, conversation_id, **OF_NOBODY) as session:
        conversation_id = session.conversation_id
    talking: asyncio.Task[ConversationResult]

    def interrupt(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("role") == "tool_result":
            talking.cancel()

    talking = asyncio.create_task(talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt))
    await asyncio.wait({talking})
    result = await say(hass, "is it on?", conversation_id)

    assert result.conversation_id == conversation_id
    roles = [message["role"] for message in messages_of(server.requests[-1])]
    assert roles[:4] == ["system", "user", "assistant", "tool"]


LIE = ScriptedAnswer(content="It was dark. I've turned on the kitchen light.")
ACTS = ScriptedAnswer(tool_calls=(LIGHT_ON,))
TRUTH = ScriptedAnswer(content="I've turned it on.")
SATELLITE = "assist_satellite.kitchen"


async def test_a_model_that_lies_is_told_and_then_acts(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE, ACTS, TRUTH)))
    spoken: list[str] = []

    def listen(_: ChatLog, delta: dict[str, object]) -> None:
        spoken.append(str(delta.get("content") or ""))

    result = await talk_as_the_pipeline_does(hass, "turn on the kitchen light", "a-talk", listen, SATELLITE)

    assert hass.states.is_state("light.kitchen_ceiling", "on")
    assert "".join(spoken) == "It was dark.\n\nI've turned it on.", "two messages"
    assert speech(result) == "I've turned it on."
    first, second, third = [messages_of(request) for request in server.requests]
    assert second[:-1] == first
    assert "I've turned on the kitchen light." in str(second[-1]["content"])
    assert third[: len(first)] == first
    assert "turned on the kitchen light" not in str(third)
    contents = hass.data[DATA_CHAT_LOGS]["a-talk"].content
    assert_no_orphans(contents)
    said = [content.content for content in contents if isinstance(content, AssistantContent)]
    assert said == ["It was dark. ", "I've turned it on."]


async def test_a_model_that_lies_twice_is_not_believed(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE, ScriptedAnswer(content="Done!"))))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    result = await say(hass, "turn on the kitchen light", satellite_id=SATELLITE)

    assert speech(result) == f"It was dark. {sentence('common.spoken_unverified_action')}"
    assert len(server.requests) == 2
    assert turns[0].data["stop_reason"] == "unverified_action"
    assert turns[0].data["withheld"] == "I've turned on the kitchen light.\nDone!"
    assert hass.states.is_state("light.kitchen_ceiling", "off")


@pytest.mark.parametrize("language", sorted(CHECKED_LANGUAGES))
async def test_the_replacement_sentence_reports_no_action(hass: HomeAssistant, language: str) -> None:
    assert not reports_action((await async_get_sentences(hass, language))["spoken_unverified_action"], language)


async def test_an_answer_about_the_turn_before_is_believed(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(ACTS, TRUTH, LIE)))
    await say(hass, "turn on the kitchen light", satellite_id=SATELLITE)

    result = await say(hass, "did you turn on the kitchen light?", satellite_id=SATELLITE)

    assert speech(result) == LIE.content
    assert len(server.requests) == 3


async def test_a_typed_chat_shows_what_the_model_writes(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE,)))

    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    assert speech(await say(hass, "turn on the kitchen light")) == LIE.content
    assert turns[0].data["withheld"] == ""
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("language", "options"), [("fi", {}), ("en", {CONF_CHECK_ACTIONS: False}), ("en", {"llm_hass_api": []})], ids=str
)
async def test_unknown_languages_and_agents_without_the_check_or_tools_are_not_checked(
    hass: HomeAssistant, serve: Serve, language: str, options: dict[str, object]
) -> None:
    await serve(Script(answers=(LIE,)), **options)

    result = await conversation.async_converse(hass, "light!", None, Context(), language, AGENT, satellite_id=SATELLITE)

    assert speech(result) == LIE.content

"""A satellite hears no claim of an action that nobody has done; a typed chat shows what the model writes."""

import asyncio
from itertools import count

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import AssistantContent, ChatLog, ConversationResult
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.unverified_actions import CHECKED_LANGUAGES, reports_action
from custom_components.chatterbox.const import CONF_CHECK_ACTIONS, EVENT_TURN_FINISHED
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.sentences import sentence
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    Serve,
    assert_no_orphans,
    messages_of,
    say,
    speech,
    talk_as_the_pipeline_does,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

LIE = ScriptedAnswer(content="It was dark. I've turned on the kitchen light.")
ACTS = ScriptedAnswer(tool_calls=(LIGHT_ON,))
TRUTH = ScriptedAnswer(content="I've turned it on.")
SATELLITE = "assist_satellite.kitchen"


async def say_to_satellite(hass: HomeAssistant, text: str, language: str = "en") -> ConversationResult:
    """Say something in a room."""
    return await conversation.async_converse(
        hass, text, "kitchen-talk", Context(), language, AGENT, satellite_id=SATELLITE
    )


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


async def test_what_nobody_heard_stands_in_no_history(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(LIE, ACTS, TRUTH)))

    await say_to_satellite(hass, "turn on the kitchen light")

    contents = hass.data[DATA_CHAT_LOGS]["kitchen-talk"].content
    assert_no_orphans(contents)
    said = [content.content for content in contents if isinstance(content, AssistantContent)]
    assert said == ["It was dark. ", "I've turned it on."]


async def test_a_barge_in_at_any_delta_of_a_correction_leaves_nothing_untrue(hass: HomeAssistant, serve: Serve) -> None:
    """The person interrupts after the first, second, third … delta of a turn, until one gets through."""
    server = await serve(Script(answers=(LIE, ACTS, TRUTH), after_last="start again"))
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

        talking = asyncio.create_task(talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt, SATELLITE))
        await asyncio.wait({talking})

        contents = hass.data[DATA_CHAT_LOGS][conversation_id].content
        assert_no_orphans(contents)
        assert "turned on the kitchen light" not in str(contents)
        if not talking.cancelled():
            break
        interrupted += 1
    assert interrupted > 5


async def test_a_model_that_lies_twice_is_not_believed(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE, ScriptedAnswer(content="Done!"))))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    result = await say_to_satellite(hass, "turn on the kitchen light")

    assert speech(result) == f"It was dark. {sentence('common.spoken_unverified_action')}"
    assert len(server.requests) == 2
    assert turns[0].data["stop_reason"] == "unverified_action"
    assert turns[0].data["withheld"] == "I've turned on the kitchen light.\nDone!"
    assert hass.states.is_state("light.kitchen_ceiling", "off")


async def test_a_model_that_lies_twice_is_not_believed_in_german(hass: HomeAssistant, serve: Serve) -> None:
    lie = ScriptedAnswer(content="Ich habe das Licht eingeschaltet.")
    await serve(Script(answers=(lie, lie)))

    result = await say_to_satellite(hass, "mach das Licht an", "de")

    assert speech(result) == (await async_get_sentences(hass, "de"))["spoken_unverified_action"]


@pytest.mark.parametrize("language", sorted(CHECKED_LANGUAGES))
async def test_the_sentence_in_place_of_a_claim_is_none(hass: HomeAssistant, language: str) -> None:
    assert not reports_action((await async_get_sentences(hass, language))["spoken_unverified_action"], language)


async def test_an_answer_about_the_turn_before_is_believed(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(ACTS, TRUTH, LIE)))
    await say_to_satellite(hass, "turn on the kitchen light")

    result = await say_to_satellite(hass, "did you turn on the kitchen light?")

    assert speech(result) == LIE.content
    assert len(server.requests) == 3


async def test_a_typed_chat_shows_what_the_model_writes(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE,)))

    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    assert speech(await say(hass, "turn on the kitchen light")) == LIE.content
    assert turns[0].data["withheld"] == ""
    assert len(server.requests) == 1


@pytest.mark.parametrize("language", ["fi", "tlh"])
async def test_a_language_whose_claims_nobody_knows_is_not_checked(
    hass: HomeAssistant, serve: Serve, language: str
) -> None:
    await serve(Script(answers=(LIE,)))

    assert speech(await say_to_satellite(hass, "valot!", language)) == LIE.content


@pytest.mark.parametrize("option", [{CONF_CHECK_ACTIONS: False}, {"llm_hass_api": []}], ids=["not wanted", "no tools"])
async def test_an_agent_that_is_not_to_check_does_not(
    hass: HomeAssistant, serve: Serve, option: dict[str, object]
) -> None:
    await serve(Script(answers=(LIE,)), **option)

    assert speech(await say_to_satellite(hass, "light!")) == LIE.content

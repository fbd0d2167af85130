"""A satellite speaks no report of an action that was not done; a typed chat shows what the model writes."""

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
    contents = hass.data[DATA_CHAT_LOGS]["a-talk"].content
    assert_no_orphans(contents)
    said = [content.content for content in contents if isinstance(content, AssistantContent)]
    assert said == ["It was dark. ", "I've turned it on."]


async def test_a_model_that_lies_twice_is_not_believed(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LIE, ScriptedAnswer(content="Done!"))))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    result = await say_to_satellite(hass, "turn on the kitchen light")

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


@pytest.mark.parametrize(
    ("language", "options"), [("fi", {}), ("en", {CONF_CHECK_ACTIONS: False}), ("en", {"llm_hass_api": []})], ids=str
)
async def test_unknown_languages_and_agents_without_the_check_or_tools_are_not_checked(
    hass: HomeAssistant, serve: Serve, language: str, options: dict[str, object]
) -> None:
    await serve(Script(answers=(LIE,)), **options)

    assert speech(await say_to_satellite(hass, "light!", language)) == LIE.content

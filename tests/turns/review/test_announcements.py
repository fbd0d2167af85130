"""A model that says nothing, or only announces what it will do, is asked once more: the person gets the answer."""

import pytest
from homeassistant.core import HomeAssistant

from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import LIGHT_ON, Serve, messages_of, say, speech

LOOKS = "Let me check the current weather outside."
ANSWER = ScriptedAnswer(content="It is 12 degrees.")


async def test_an_announcement_is_followed_by_the_answer(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content=LOOKS), ANSWER)))

    assert speech(await say(hass, "what is it like outside")) == "It is 12 degrees."

    messages = [message["content"] for message in messages_of(server.requests[1])[-2:]]
    assert messages[0] == LOOKS
    assert "only announced" in str(messages[1])


async def test_what_was_announced_is_done(hass: HomeAssistant, serve: Serve) -> None:
    answers = (
        ScriptedAnswer(content="Sure! I'll turn on the light now."),
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="There you are."),
    )
    await serve(Script(answers=answers))

    assert speech(await say(hass, "it is dark in the kitchen")) == "There you are."

    assert hass.states.is_state("light.kitchen_ceiling", "on")


async def test_a_model_that_announces_again_is_not_asked_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(content=LOOKS),), after_last="start again")
    )

    assert speech(await say(hass, "what is it like outside")) == LOOKS

    assert len(server.requests) == 2


@pytest.fixture
async def model(serve: Serve) -> ScriptedChatCompletions:
    """Set up an agent for rows that are tried with it one after the other."""
    return await serve(Script())


@in_one_home(
    "text",
    [
        "It is 12 degrees. Let me know if you need more.",
        "Shall I check the weather outside?",
        "I'll remember that.",
        "Please let me check first: may I?",
        "Say yes and I'll turn on the light.",
        "Tell me which lamp you mean, and I'll turn it on.",
        "I'll turn it on as soon as you say yes.",
        "Wait until the baby is awake.",
    ],
)
async def test_an_answer_is_no_announcement(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str
) -> None:
    model.play(Script(answers=(ScriptedAnswer(content=text),)))
    before = len(model.requests)

    assert speech(await say(hass, "what is it like outside")) == text

    assert len(model.requests) == before + 1


@pytest.mark.parametrize("silence", ["", " \n"])
async def test_silence_is_followed_by_the_answer(
    hass: HomeAssistant, serve: Serve, silence: str
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content=silence), ANSWER)))

    assert speech(await say(hass, "what is it like outside")) == "It is 12 degrees."

    roles = [message["role"] for message in messages_of(server.requests[1])]
    assert "assistant" not in roles, "nothing was said"
    assert "said nothing" in str(messages_of(server.requests[1])[-1]["content"])


async def test_a_model_that_stays_silent_is_asked_once_more_and_the_person_is_told(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(content=""),), after_last="start again")
    )

    assert (
        speech(await say(hass, "what is it like outside"))
        == "I don't have an answer to that."
    )

    assert len(server.requests) == 2


async def test_silence_after_an_action_tells_what_was_done(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(
            answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content=""))
        )
    )

    assert speech(await say(hass, "it is dark in the kitchen")).startswith("Done")

    assert len(server.requests) == 2


async def test_a_report_of_what_was_not_done_is_put_right_where_a_model_gets_all_requests(
    hass: HomeAssistant, serve: Serve
) -> None:
    report = ScriptedAnswer(content="All blinds are closed now.")
    server = await serve(Script(answers=(report, report)))

    heard = speech(await say(hass, "close all the blinds in the living room"))

    assert heard == f"All blinds are closed now. {sentence('common.spoken_not_done')}"
    assert len(server.requests) == 2

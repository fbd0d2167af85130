"""The conversation entity in a real Home Assistant, over a real Chat Completions server."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ChatLog
from homeassistant.components.conversation.trace import async_get_traces
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    intent,
    issue_registry as ir,
)
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import DOMAIN, EVENT_TURN_FINISHED
from tests.runtime.changing_server import issues
from tests.support.one_home import in_one_home
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    Serve,
    messages_of,
    say,
    speech,
    talk_as_the_pipeline_does,
)


async def test_a_call_changes_the_home_and_the_answer_is_spoken(
    hass: HomeAssistant, serve: Serve
) -> None:
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
    assert [target.id for target in result.response.success_results] == [
        "light.kitchen_ceiling"
    ]
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
        "is_estimated": False,
    }
    (tool_call,) = turn.data["tool_calls"]
    assert tool_call["name"] == "intent__HassTurnOn"
    assert tool_call["arguments"] == {
        "domain": ["light"],
        "name": "Kitchen ceiling light",
    }
    assert not tool_call["is_error"]


@pytest.mark.parametrize("words", ["", " \n"])
async def test_no_words_are_answered_without_a_model(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture, words: str
) -> None:
    server = await serve(Script())

    result = await say(hass, words)

    assert speech(result) == "Sorry, I didn't catch that."
    assert not server.requests
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            ScriptedFailure(status=500, body={"error": {"message": "oops"}}),
            "has a problem",
        ),
        (
            ScriptedAnswer(content="Never read to its end.", cut_after_bytes=150),
            "lost the connection",
        ),
        (ScriptedAnswer(content=""), "I don't have an answer"),
    ],
)
async def test_a_service_that_fails_is_never_silent(
    hass: HomeAssistant,
    serve: Serve,
    answer: ScriptedAnswer | ScriptedFailure,
    sentence: str,
) -> None:
    await serve(Script(answers=(answer, answer)), llm_hass_api=[])

    result = await say(hass, "how are you?")

    assert sentence in speech(result)


async def test_a_refused_key_asks_for_a_new_one(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(ScriptedFailure(status=401, body={"error": {"message": "no"}}),)
        ),
        llm_hass_api=[],
    )

    result = await say(hass, "how are you?")
    await hass.async_block_till_done()

    assert result.response.response_type is intent.IntentResponseType.ERROR
    (flow,) = hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert flow["context"]["source"] == "reauth"


async def test_a_failed_answer_that_was_streamed_is_no_error_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(ScriptedFailure(status=401, body={"error": {"message": "no"}}),)
        ),
        llm_hass_api=[],
    )
    streamed: list[str] = []

    result = await talk_as_the_pipeline_does(
        hass,
        "how are you?",
        "a-talk",
        lambda _, delta: streamed.append(str(delta.get("content") or "")),
    )

    assert "".join(streamed) == speech(result)
    assert (
        result.response.response_type is not intent.IntentResponseType.ERROR
    )  # which the dialog shows once more


@pytest.mark.parametrize(
    "ending",
    [
        ScriptedAnswer(content=""),
        ScriptedFailure(status=500, body={"error": {"message": "oops"}}),
    ],
)
async def test_what_was_done_is_said_when_the_model_has_no_words_left(
    hass: HomeAssistant, serve: Serve, ending: ScriptedAnswer | ScriptedFailure
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ending))
    )

    result = await say(hass, "turn on the kitchen light")

    assert speech(result).startswith("Done: Kitchen Ceiling Light.")
    assert result.response.response_type is intent.IntentResponseType.ACTION_DONE
    assert len(server.requests) == 2


async def test_the_owner_is_told_of_a_broken_prompt_template_until_it_works(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    hello = Script(
        answers=(ScriptedAnswer(content="Hello."),), after_last="start again"
    )
    await serve(hello, prompt="{{ 1 / (states('sensor.x') | int(0)) }}")

    for _ in range(2):
        assert speech(await say(hass, "hello")) == "Hello."

    problem = "ZeroDivisionError: division by zero"
    assert issues(hass) == {"template_broken": {"agent": "Talker", "problem": problem}}
    assert (
        caplog.text.count("The instructions of conversation.talker cannot be rendered")
        == 1
    )
    hass.states.async_set("sensor.x", "1")
    await say(hass, "hello")

    assert issues(hass) == {}


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
    assert [target.id for target in second.response.success_results] == [
        "light.kitchen_ceiling"
    ]
    assert "TOOL_EXECUTION" in turns[0].data["phases"]
    assert turns[0].data["iterations"] == 2


@pytest.mark.usefixtures("offline")
async def test_an_offline_agent_speaks_the_languages_of_the_built_in_one_and_controls(
    hass: HomeAssistant,
) -> None:
    state = hass.states.get(AGENT)
    assert state is not None
    assert (
        state.attributes["supported_features"]
        == conversation.ConversationEntityFeature.CONTROL
    )
    agent = conversation.async_get_agent(hass, AGENT)
    assert agent is not None
    assert {"en", "de"} <= set(agent.supported_languages)


@pytest.mark.usefixtures("offline")
@in_one_home(
    ("home", "answer"),
    [("en", "Hello from Home Assistant."), ("de", "Hallo vom Home Assistant.")],
    puts_back=True,
)
async def test_any_language_is_that_of_the_home(
    hass: HomeAssistant, home: str, answer: str
) -> None:
    hass.config.language = home

    result = await say(hass, "hello" if home == "en" else "Hallo", language="*")

    assert (speech(result), result.response.language) == (answer, home)


async def test_an_agent_without_tools_only_talks(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(content="Hello."),)), llm_hass_api=[]
    )

    await say(hass, "hello")

    state = hass.states.get(AGENT)
    assert state is not None
    assert state.attributes["supported_features"] == 0
    assert "tools" not in server.requests[0].body


async def test_tools_that_are_gone_are_reported_and_do_without(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(content="Hello."),
                ScriptedAnswer(content="Hello again."),
            )
        ),
        llm_hass_api=["assist", "a-server-that-was-removed"],
    )

    assert speech(await say(hass, "hello")) == "Hello."

    (issue,) = ir.async_get(hass).issues.values()
    assert issue.domain == DOMAIN
    assert issue.translation_placeholders == {
        "agent": "Talker",
        "sources": "a-server-that-was-removed",
    }
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_unload(entry.entry_id)
    assert not ir.async_get(hass).issues


async def test_what_a_starter_of_a_conversation_adds_reaches_the_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="Yes."),)))

    await conversation.async_converse(
        hass,
        "yes",
        None,
        Context(),
        "en",
        AGENT,
        extra_system_prompt="You asked whether to close the garage.",
    )

    *before, words = (
        str(message["content"]) for message in messages_of(server.requests[0])
    )
    assert "You asked whether to close the garage." in words
    assert "You asked whether to close the garage." not in "".join(before)


async def test_it_speaks_the_language_of_the_speaker(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content=""),)))

    result = await conversation.async_converse(
        hass, "hallo", None, Context(), "de-AT", AGENT
    )

    assert speech(result) == "Darauf habe ich keine Antwort."


async def test_reasoning_is_shown_and_never_spoken(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(reasoning_content="They greet me.", content="Hello."),
            )
        )
    )
    thoughts: list[str] = []

    def listen(_: ChatLog, delta: dict[str, object]) -> None:
        thoughts.append(str(delta.get("thinking_content") or ""))

    assert (
        speech(await talk_as_the_pipeline_does(hass, "hello", "a-talk", listen))
        == "Hello."
    )
    assert "".join(thoughts) == "They greet me."


async def test_the_trace_tells_the_tokens(hass: HomeAssistant, serve: Serve) -> None:
    usage = ScriptedUsage(prompt_tokens=900, completion_tokens=9, cached_tokens=800)
    await serve(Script(answers=(ScriptedAnswer(content="Hello.", usage=usage),)))

    await say(hass, "hello")

    details = [event["data"] for event in async_get_traces()[-1].as_dict()["events"]]
    stats = [detail["stats"] for detail in details if "stats" in detail]
    assert stats == [
        {"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 9}
    ]


@pytest.mark.usefixtures("offline")
async def test_the_offline_agent_knows_the_room_it_is_spoken_to_in(
    hass: HomeAssistant,
) -> None:
    kitchen = ar.async_get(hass).async_get_area_by_name("Kitchen")
    assert kitchen is not None
    device = dr.async_entries_for_area(dr.async_get(hass), kitchen.id)[0]

    await conversation.async_converse(
        hass, "turn on the lights", None, Context(), "en", AGENT, device_id=device.id
    )

    assert hass.states.is_state("light.kitchen_ceiling", "on")
    assert hass.states.is_state("light.bedroom", "off")


@pytest.mark.usefixtures("offline")
async def test_the_longest_sentence_gets_the_built_in_agents_own_error(
    hass: HomeAssistant,
) -> None:
    assert speech(await say(hass, "x" * 100_000)).startswith(
        "Sorry, I couldn't understand that. "
    )

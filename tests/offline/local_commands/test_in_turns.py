"""Commands that Home Assistant handles beside a model: the real entity, a scripted model, the demo home."""

from itertools import product

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import EVENT_CHANGE, EVENT_TURN_FINISHED
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE
from tests.support.one_home import in_one_home
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import (
    AGENT,
    DOOR,
    LIGHT_ON,
    QUESTION,
    UNLOCK,
    Serve,
    messages_of,
    speech,
)

SILENT = Script()
LAMP = "light.floor_lamp"
LAMP_ON = ScriptedCall(name="HassTurnOn", arguments={"name": "Floor Lamp"})
NO_LAMP = ScriptedCall(name="HassTurnOn", arguments={"name": "Lava Lamp"})
LOOK = ScriptedCall(name="GetLiveContext")


def saying(*texts: str) -> Script:
    """Return the script of a model that only talks."""
    return Script(answers=tuple(ScriptedAnswer(content=text) for text in texts))


def answering(text: str, *calls: ScriptedCall) -> Script:
    """Return the script of a model that makes some calls, if any, and then says something."""
    called = (ScriptedAnswer(tool_calls=calls),) if calls else ()
    return Script(answers=(*called, ScriptedAnswer(content=text)))


async def say(
    hass: HomeAssistant,
    text: str,
    language: str = "en",
    extra_system_prompt: str | None = None,
    conversation_id: str = "a-talk",
) -> ConversationResult:
    """Say something at a satellite."""
    result = await conversation.async_converse(
        hass,
        text,
        conversation_id,
        Context(),
        language,
        AGENT,
        satellite_id="assist_satellite.hall",
        extra_system_prompt=extra_system_prompt,
    )
    await hass.async_block_till_done()
    return result


async def test_a_command_is_done_without_the_model_which_is_told_of_it_later(
    hass: HomeAssistant, serve: Serve
) -> None:
    turns, changes = (
        async_capture_events(hass, EVENT_TURN_FINISHED),
        async_capture_events(hass, EVENT_CHANGE),
    )
    server = await serve(
        saying("You turned on the floor lamp."), local_commands="first"
    )

    assert (
        speech(await say(hass, "Turn on the floor lamp, please!"))
        == "Turned on the light"
    )

    assert hass.states.is_state(LAMP, "on")
    assert server.requests == []
    (turn,) = turns
    assert [call["name"] for call in turn.data["tool_calls"]] == [PROCESS_SENTENCE.name]
    assert turn.data["usage"]["output_tokens"] == 0
    (change,) = changes
    assert change.data["entity_ids"] == [LAMP]

    await say(hass, "what have I just done?")

    messages = messages_of(server.requests[0])
    assert [message["role"] for message in messages[1:]] == ["user", "user"]
    assert (
        '<answered_before by="Home Assistant">“Turned on the light”</answered_before>'
        in str(messages[-1]["content"])
    )


@in_one_home(
    ("language", "text", "answer"),
    [
        ("en", "is the front door locked?", "Yes"),
        ("en", "which lights are on?", "Floor Lamp"),
        ("de", "Schalte die Floor Lamp aus", "Licht ausgeschaltet"),
    ],
    puts_back=True,
)
async def test_questions_about_state_and_other_languages_need_no_model_either(
    hass: HomeAssistant, serve: Serve, language: str, text: str, answer: str
) -> None:
    server = await serve(SILENT, local_commands="first")
    for light in hass.states.async_all("light"):
        await hass.services.async_call(
            "light", "turn_off", {"entity_id": light.entity_id}
        )
    await hass.services.async_call("light", "turn_on", {"entity_id": LAMP})

    assert speech(await say(hass, text, language)) == answer

    assert server.requests == []


@pytest.mark.usefixtures("whole_home")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("flip the floor lamp on", "Turned on the light"),
        (
            "make the floor lamp brighter by 10 percent and open the bedroom curtains",
            "Turned on the light",
        ),
        ("could you tell me whether the front door is locked", "Yes"),
        ("turn on the floor lamp for an hour", "Turned on the light. At "),
        ("turn off all the lights except the desk lamp", "Done: "),
    ],
)
async def test_what_is_read_word_by_word_needs_no_model_either(
    hass: HomeAssistant, serve: Serve, text: str, answer: str
) -> None:
    server = await serve(SILENT, local_commands="first")

    assert answer in speech(await say(hass, text))

    assert server.requests == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "turn off half the lights",
            "turn on the porch light",
            "turn on the fan",
            "add something to the shopping list",
        ),
        *(
            "turn on the counter light and close the attic blinds",
            "turn off the lights except the lava lamp",
        ),
    ],
)
async def test_what_is_open_or_not_wholly_understood_is_the_models(
    hass: HomeAssistant, serve: Serve, text: str
) -> None:
    server = await serve(saying("Which one?"), local_commands="first")
    actions = async_capture_events(hass, "call_service")

    await say(hass, text)

    assert server.requests
    assert actions == []


@pytest.mark.parametrize(
    ("answer", "spoken", "state"),
    [("yes", "Unlocking", "unlocked"), ("no", "All right, I won't.", "locked")],
)
async def test_what_needs_a_yes_is_asked_about_and_answered_without_the_model_which_is_told_of_it_later(
    hass: HomeAssistant, serve: Serve, answer: str, spoken: str, state: str
) -> None:
    server = await serve(saying("The door."), local_commands="first")

    question = await say(hass, "unlock the front door")
    assert (speech(question), question.continue_conversation) == (QUESTION, True)
    assert hass.states.is_state(DOOR, "locked")

    assert speech(await say(hass, answer)) == spoken
    assert hass.states.is_state(DOOR, state)
    assert server.requests == []

    await say(hass, "what was that about?")

    messages = messages_of(server.requests[0])
    assert {message["role"] for message in messages[1:]} == {"user"}
    assert f"“{spoken}”" in str(messages[-1]["content"])
    assert PROCESS_SENTENCE.name not in str(messages)


async def test_what_the_rules_forbid_is_refused_without_the_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(SILENT, local_commands="first", rules=[{"verdict": "deny"}])

    answer = speech(await say(hass, "unlock the front door"))

    assert hass.states.is_state(DOOR, "locked")
    assert answer == "The rules of this home don't allow that."
    assert server.requests == []


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("make the living room cosy", {}),
        ("turn on the floor lamp and tell me a joke", {}),
        ("what's the weather?", {}),
        ("what's the weather?", {"model_requests": ["lists", "weather"]}),
        ("turn on the floor lamp", {"local_commands": "never"}),
        ("turn on the floor lamp", {"local_commands": "when_undone"}),
        ("turn on the floor lamp", {"llm_hass_api": []}),
        ("turn on the floor lamp", {"pre_tool_use": "script.judge"}),
    ],
)
async def test_everything_else_goes_to_the_model(
    hass: HomeAssistant, serve: Serve, text: str, options: dict[str, object]
) -> None:
    acting = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LAMP_ON,)),
            ScriptedAnswer(content="There you are."),
        )
    )
    server = await serve(acting, **{"local_commands": "first", **options})

    assert speech(await say(hass, text)).startswith("There you are.")

    assert len(server.requests) == 2


@pytest.mark.usefixtures("whole_home")
async def test_a_kind_that_is_not_left_to_the_model_is_answered(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(SILENT, local_commands="first", model_requests=["lists"])

    assert "partly cloudy" in speech(await say(hass, "what's the weather?"))

    assert server.requests == []


async def test_words_that_follow_up_on_the_model_go_to_the_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    done = (ScriptedAnswer(tool_calls=(LAMP_ON,)), ScriptedAnswer(content="It is on."))
    answers = (
        ScriptedAnswer(content="Which lamp do you mean?"),
        *done,
        ScriptedAnswer(content="They are off."),
    )
    server = await serve(Script(answers=answers), local_commands="first")

    await say(hass, "make it cosy")
    await say(hass, "turn on the floor lamp")  # the answer to a question
    assert len(server.requests) == 3

    await say(hass, "pause")  # what, the model may know
    assert len(server.requests) == 4


async def test_a_name_alone_goes_to_a_model_that_has_just_spoken(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(SILENT, local_commands="first")
    talked = (ScriptedAnswer(content="Please tell me which one to turn off."),)
    acted = (
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="Done. Tell me which one to turn off."),
    )
    for answers, words in product(
        (talked, acted),
        ("Floor lamp?", "the floor lamp", "floor lamp, please", "my floor lamp"),
    ):
        with subtests.test(words, answers=len(answers)):
            server.play(
                Script(answers=(*answers, ScriptedAnswer(content="It is off.")))
            )
            server.requests.clear()
            await say(
                hass,
                "make it cosy",
                conversation_id=(talk := f"{words} {len(answers)}"),
            )

            assert speech(await say(hass, words, conversation_id=talk)) == "It is off."

            assert hass.states.is_state(LAMP, "off")
            assert len(server.requests) == len(answers) + 1


async def test_words_that_a_model_has_requested_go_to_the_model(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(SILENT, local_commands="first")
    for request_for_words in (
        "Tell me what I should write down.",
        "Please dictate the text of the note.",
        "OK, at sunset. Now say the action.",
    ):
        with subtests.test(request_for_words):
            server.play(saying(request_for_words, "Noted."))
            server.requests.clear()
            await say(
                hass, "write something down for me", conversation_id=request_for_words
            )

            assert (
                speech(
                    await say(
                        hass,
                        "turn on the floor lamp",
                        conversation_id=request_for_words,
                    )
                )
                == "Noted."
            )

            assert hass.states.is_state(LAMP, "off")
            assert len(server.requests) == 2


async def test_a_command_after_one_that_the_model_has_done_needs_no_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = (
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="It is on."),
    )
    server = await serve(Script(answers=answers), local_commands="first")
    await say(hass, "make it cosy")

    assert speech(await say(hass, "turn on the floor lamp")) == "Turned on the light"
    assert (
        speech(await say(hass, "turn off all the lights"))
        == "Turned off all of the lights"
    )

    assert len(server.requests) == 2


async def test_words_of_a_conversation_that_an_automation_began_go_to_the_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(saying("I will."), local_commands="first")

    await say(
        hass,
        "turn on the floor lamp",
        extra_system_prompt="You have asked which lamp is broken.",
    )

    assert len(server.requests) == 1


@pytest.mark.usefixtures("whole_home")
async def test_a_command_for_nothing_that_can_do_it_goes_to_the_model_as_if_it_had_not_been_tried(
    hass: HomeAssistant, serve: Serve
) -> None:
    acting = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LAMP_ON,)),
            ScriptedAnswer(content="On it goes."),
        )
    )
    server = await serve(acting, local_commands="first")

    assert speech(await say(hass, "vacuum the living room")) == "On it goes."

    assert [message["role"] for message in messages_of(server.requests[0])] == [
        "system",
        "user",
    ]
    assert hass.states.is_state(LAMP, "on")


@pytest.mark.usefixtures("whole_home")
async def test_when_no_model_answers_either_the_failure_is_told(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(answers=(ScriptedFailure(status=500),), after_last="start again"),
        local_commands="first",
    )

    answer = speech(await say(hass, "vacuum the living room"))

    assert "Sorry, no device supports the required features" in answer


@pytest.mark.usefixtures("whole_home")
async def test_home_assistant_says_that_it_is_alone_where_the_model_was_to_answer(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(answers=(ScriptedFailure(status=500),), after_last="start again"),
        local_commands="first",
    )

    answer = speech(await say(hass, "flip the fan on"))

    assert (
        answer
        == "My language model can't answer right now. Which one: Bathroom Fan, Bedroom Fan?"
    )


async def test_a_device_that_fails_is_told_to_the_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(saying("The lamp does not answer."), local_commands="first")

    async def fail(_call: ServiceCall) -> None:
        raise HomeAssistantError("no answer")

    hass.services.async_register("light", "turn_on", fail)

    assert speech(await say(hass, "turn on the floor lamp")).startswith(
        "The lamp does not answer."
    )

    (_, words) = messages_of(server.requests[0])
    assert words["role"] == "user"
    assert '<tried by="Home Assistant">“' in str(words["content"])


async def test_home_assistant_takes_over_when_the_model_has_done_nothing(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    server = await serve(SILENT, local_commands="when_undone")
    for call, text in (
        (None, "The floor lamp is on now."),
        (None, "Sorry, I can't control lamps."),
        (None, ""),
        (NO_LAMP, "There is no such lamp."),
        (LOOK, "OK, I've turned on the floor lamp."),
    ):
        with subtests.test(text):
            server.play(answering(text, *filter(None, (call,))))
            server.requests.clear()
            turns.clear()
            await hass.services.async_call(
                "light", "turn_off", {"entity_id": LAMP}, blocking=True
            )

            assert (
                speech(
                    await say(
                        hass, "turn on the floor lamp", conversation_id=f"talk {text}"
                    )
                )
                == "Turned on the light"
            )

            assert hass.states.is_state(LAMP, "on")
            assert len(server.requests) == (2 if call else 1)
            assert turns[0].data["tool_calls"][-1]["name"] == PROCESS_SENTENCE.name


ASKED = "Turn on the Floor Lamp in the Living Room?"


async def test_a_reason_is_heard_before_home_assistant_asks(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(SILENT, local_commands="when_undone")
    rows: list[tuple[str, tuple[ScriptedCall, ...], str]] = [
        ("Are you sure? The baby sleeps.", (), f"The baby sleeps. {ASKED}"),
        (
            "The baby sleeps, so I left it off.",
            (),
            f"The baby sleeps, so I left it off. {ASKED}",
        ),
        ("I won't do that.", (), f"I won't do that. {ASKED}"),
        ("The floor lamp is already on.", (), f"The floor lamp is already on. {ASKED}"),
        ("Please tell me which one.", (), f"Please tell me which one. {ASKED}"),
        ("The floor lamp is on.", (LOOK,), "The floor lamp is on."),
        ("It's raining, so I left it off.", (LOOK,), "It's raining, so I left it off."),
        (
            "I can't do that while the baby sleeps.",
            (LOOK,),
            "I can't do that while the baby sleeps.",
        ),
        ("It is already on.", (NO_LAMP, LOOK), "It is already on."),
    ]
    for text, calls, heard in rows:
        with subtests.test(text):
            server.play(answering(text, *calls))

            assert speech(
                await say(hass, "turn on the floor lamp", conversation_id=text)
            ).startswith(heard)

            assert hass.states.is_state(LAMP, "off")


async def test_home_assistant_does_what_a_model_only_asks_about(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(
        SILENT, local_commands="when_undone", rules=[{"verdict": "allow"}]
    )
    rows: list[tuple[str, str, tuple[ScriptedCall, ...], str]] = [
        (
            "turn on the floor lamp",
            "Which lamp do you mean?",
            (),
            "Turned on the light",
        ),
        (
            "turn on the floor lamp",
            "Do you mean the one in the hall?",
            (NO_LAMP,),
            "Turned on the light",
        ),
        ("unlock the front door", "Do you want me to unlock it?", (), QUESTION),
    ]
    for words, text, calls, heard in rows:
        with subtests.test(text):
            server.play(answering(text, *calls))
            await hass.services.async_call(
                "light", "turn_off", {"entity_id": LAMP}, blocking=True
            )

            assert speech(await say(hass, words, conversation_id=text)) == heard

            assert hass.states.is_state(DOOR, "locked")


async def test_what_is_left_to_the_model_is_only_asked_about(
    hass: HomeAssistant, serve: Serve, subtests: pytest.Subtests
) -> None:
    server = await serve(SILENT, rules=[{"verdict": "allow"}])
    for text in (
        "Which lamp do you mean?",
        "Sorry, I can't control lamps.",
        "The floor lamp is on now.",
    ):
        with subtests.test(text):
            server.play(saying(text, text))
            server.requests.clear()
            await hass.services.async_call(
                "light", "turn_off", {"entity_id": LAMP}, blocking=True
            )

            assert (
                speech(await say(hass, "turn on the floor lamp", conversation_id=text))
                == ASKED
            )
            assert hass.states.is_state(LAMP, "off")
            assert (
                speech(await say(hass, "yes", conversation_id=text))
                == "Turned on the light"
            )
            assert hass.states.is_state(LAMP, "on")
            assert len(server.requests) == 2


async def test_a_reason_in_another_language_is_heard(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        saying("Bist du sicher? Das Baby schläft.", "Die Lampe ist jetzt an."),
        local_commands="when_undone",
    )

    heard = speech(await say(hass, "Schalte die Floor Lamp ein", "de"))

    assert heard.startswith("Das Baby schläft. ")
    assert heard.endswith("?")
    assert hass.states.is_state(LAMP, "off")


async def test_what_is_taken_over_is_asked_about_as_everything_is(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(saying("Done, it is open."), local_commands="when_undone")

    assert speech(await say(hass, "unlock the front door")) == QUESTION
    assert hass.states.is_state(DOOR, "locked")
    assert speech(await say(hass, "yes")) == "Unlocking"

    assert hass.states.is_state(DOOR, "unlocked")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("text", "answers", "options"),
    [
        ("is the front door locked?", (ScriptedAnswer(content="Stay."),), {}),
        (
            "turn on the kitchen ceiling light",
            (
                ScriptedAnswer(content="One ", tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="Stay."),
            ),
            {},
        ),
        (
            "unlock the front door",
            (ScriptedAnswer(tool_calls=(UNLOCK,)), ScriptedAnswer(content="Stay.")),
            {"rules": [{"verdict": "deny"}]},
        ),
    ],
)
async def test_home_assistant_does_not_take_over_otherwise(
    hass: HomeAssistant,
    serve: Serve,
    text: str,
    answers: tuple[ScriptedAnswer, ...],
    options: dict[str, object],
) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    await serve(Script(answers=answers), **{"local_commands": "when_undone", **options})

    assert "Stay." in speech(await say(hass, text))

    assert PROCESS_SENTENCE.name not in [
        call["name"] for call in turns[0].data["tool_calls"]
    ]


@pytest.mark.usefixtures("whole_home")
async def test_the_model_has_the_last_word_when_nobody_can_do_it(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(saying("Sorry, I can't do that."), local_commands="when_undone")

    assert (
        speech(await say(hass, "vacuum the living room")) == "Sorry, I can't do that."
    )


async def test_an_agent_that_asks_about_every_call_of_a_model_asks_about_a_sentence(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(SILENT, local_commands="first", rules=[{"verdict": "ask"}])

    assert (await say(hass, "turn on the floor lamp")).continue_conversation

    assert hass.states.is_state(LAMP, "off")
    assert server.requests == []


async def test_a_name_that_a_script_writes_into_the_words_is_what_counts(
    hass: HomeAssistant, serve: Serve
) -> None:
    script = {
        "rewrite": {
            "sequence": [
                {
                    "variables": {
                        "answer": {
                            "decision": "allow",
                            "text": "turn on the floor lamp",
                        }
                    }
                },
                {"stop": "", "response_variable": "answer"},
            ]
        }
    }
    assert await async_setup_component(hass, "script", {"script": script})
    server = await serve(
        SILENT, local_commands="first", user_prompt_submit="script.rewrite"
    )

    assert speech(await say(hass, "it is dark")) == "Turned on the light"

    assert hass.states.is_state(LAMP, "on")
    assert server.requests == []

"""A model that did nothing is told once of the one thing that fits a plain command; then the person is asked."""

from collections.abc import AsyncGenerator

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.util.ulid import ulid_now

from tests.demo_house.move_in import move_in
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, messages_of, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: kitchen, name: Kitchen }
entities:
  - { name: Robbie, id: vacuum.robbie, area: hall, state: docked, attributes: { supported_features: [START, STATE] } }
  - { name: Front Door, id: lock.front, area: hall, state: locked }
  - { name: Ceiling, id: light.hall, area: hall, state: "off" }
  - { name: Pendant, id: light.kitchen, area: kitchen, state: "off" }
  - { name: Kitchen Blind, id: cover.blind, area: kitchen, state: closed, attributes: { device_class: blind } }
  - { name: TV, id: media_player.tv, area: hall, state: playing, attributes: { device_class: tv } }
"""
START = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="HassTurnOn", arguments={"name": "Robbie"}),)
)
UNLOCK = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="HassTurnOff", arguments={"name": "Front Door"}),)
)
CANNOT = "I can't do that."
HINT = "One thing fits"


@pytest.fixture
async def model(hass: HomeAssistant) -> AsyncGenerator[ScriptedChatCompletions]:
    """Return the model of an agent that may do everything."""
    await prepare(hass)
    await move_in(hass, HOME)
    async with serving(
        (scripted := ScriptedChatCompletions(Script())).application()
    ) as address:
        await set_up(
            hass,
            server_entry(
                address, rules=[{"verdict": "allow"}], local_commands="when_undone"
            ),
        )
        yield scripted


async def talk(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    *answers: ScriptedAnswer,
    before: str = "",
) -> tuple[str, list[str]]:
    """Say something to a model; return what is heard, and the last message of each request."""
    model.play(Script(answers=answers))
    model.requests.clear()
    heard, chat = "", f"chat-{ulid_now()}"
    for one in filter(None, (before, text)):
        heard = speech(
            await conversation.async_converse(
                hass,
                one,
                chat,
                Context(),
                "en",
                AGENT,
                satellite_id="assist_satellite.hall",
            )
        )
        await hass.async_block_till_done()
    return heard, [str(messages_of(one)[-1]["content"]) for one in model.requests]


def words(text: str) -> ScriptedAnswer:
    return ScriptedAnswer(content=text)


COMMAND = "Start Robbie, my hero"


async def test_a_model_that_did_nothing_is_told_what_fits_and_does_it(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    heard, messages = await talk(
        hass, model, COMMAND, words(CANNOT), START, words("Robbie is on the way.")
    )

    assert heard == "Robbie is on the way.", "the first answer is never spoken"
    assert hass.states.is_state("vacuum.robbie", "cleaning")
    assert [HINT in one for one in messages] == [False, True, False]
    assert "the vacuum Robbie in Hall" in messages[1]


ASKED = "Start the Robbie in the Hall?"


@in_one_home(
    ("first", "second", "heard"),
    [
        (CANNOT, "", ASKED),
        (CANNOT, " \n", ASKED),
        (CANNOT, None, ASKED),
        (CANNOT, "I really can't do that.", ASKED),
        ("I've started Robbie.", "I've started Robbie.", ASKED),
        ("Shall I start it in the hall?", "Which room do you want to clean?", ASKED),
        ("Which one?", "You have: Robbie.", f"You have: Robbie. {ASKED}"),
        (
            CANNOT,
            "I can't do that, because the baby is asleep.",
            f"I can't do that, because the baby is asleep. {ASKED}",
        ),
        (CANNOT, "Are you sure? The baby is asleep.", f"The baby is asleep. {ASKED}"),
    ],
)
async def test_a_person_is_asked_where_a_model_still_does_nothing(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    first: str,
    second: str | None,
    heard: str,
) -> None:
    answers = [words(one) for one in (first, second) if one is not None]
    spoken, messages = await talk(hass, model, COMMAND, *answers)

    assert spoken == heard
    assert [HINT in one for one in messages[:2]] == [False, True]
    assert hass.states.is_state("vacuum.robbie", "docked")


async def test_a_yes_does_what_was_asked_about(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    heard, _ = await talk(
        hass, model, "yes", words(CANNOT), words(CANNOT), before=COMMAND
    )

    assert heard == "Done: Robbie."
    assert hass.states.is_state("vacuum.robbie", "cleaning")


@in_one_home(
    ("text", "answer"),
    [
        ("Could you please start the vacuum?", CANNOT),
        ("My partner started the vacuum when I left", CANNOT),
        ("Please do not start the vacuum for now", CANNOT),
        ("Could you please turn on the light for me now", CANNOT),
        ("Could you please turn on the ceiling in the kitchen", CANNOT),
        ("Could you please open the gate for me now", CANNOT),
        ("Could you please open the window in the kitchen", CANNOT),
        ("Could you please turn down the ceiling for me", CANNOT),
    ],
)
async def test_nothing_is_told_where_it_is_not_plain(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str, answer: str
) -> None:
    heard, messages = await talk(hass, model, text, words(answer), START)

    assert heard == answer
    assert not any(HINT in one for one in messages)
    assert hass.states.is_state("vacuum.robbie", "docked")


LIGHTS = "Turn on all the lights, my hero"
BOTH_ON = [
    ScriptedAnswer(
        tool_calls=(
            ScriptedCall(name="HassTurnOn", arguments={"domain": "light", "area": one}),
        )
    )
    for one in ("Hall", "Kitchen")
]
NOT_DONE = sentence("common.spoken_not_done")


async def test_a_report_about_several_entities_is_put_right(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    answers = words("All lights are on now."), *BOTH_ON, words("There you are.")
    heard, messages = await talk(hass, model, LIGHTS, *answers)

    assert heard == "There you are.", "the report is never spoken"
    assert "Ceiling, Pendant" in messages[1]
    assert {one.state for one in hass.states.async_all("light")} == {"on"}


@in_one_home(
    ("text", "answer", "adds"),
    [
        (LIGHTS, "All lights are on now.", NOT_DONE),
        (LIGHTS, "Sure!", NOT_DONE),
        (LIGHTS, CANNOT, ""),
        (LIGHTS, "Shall I turn them all on?", ""),
        ("My partner turned on all the lights when I left", "The lights are on.", ""),
        ("What did you say about the light", "The light is on.", ""),
    ],
)
async def test_a_report_without_a_call_is_heard_to_be_none(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    answer: str,
    adds: str,
) -> None:
    heard, _ = await talk(hass, model, text, words(answer), words(answer))

    assert heard == f"{answer} {adds}".strip()


@in_one_home(
    ("before", "answers", "heard"),
    [
        (
            "",
            (
                ScriptedAnswer(tool_calls=(ScriptedCall(name="GetLiveContext"),)),
                words("I've started Robbie."),
            ),
            ASKED,
        ),
        (
            "Could you clean up",
            (words("Shall I start Robbie?"), words("I've started Robbie.")),
            f"I've started Robbie. {NOT_DONE}",
        ),
    ],
)
async def test_a_report_is_heard_to_be_none_after_a_look_and_after_a_question(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    before: str,
    answers: tuple[ScriptedAnswer, ...],
    heard: str,
) -> None:
    spoken, messages = await talk(hass, model, COMMAND, *answers, before=before)

    assert spoken == heard
    assert len(messages) == 2


async def test_words_after_a_question_of_the_model_may_answer_it(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    answers = words("Which one do you mean?"), words(CANNOT), START
    heard, messages = await talk(
        hass, model, COMMAND, *answers, before="Could you clean up"
    )

    assert heard == CANNOT
    assert len(messages) == 2


async def test_a_call_after_it_is_under_the_rules(
    hass: HomeAssistant, model: ScriptedChatCompletions
) -> None:
    await set_home_rules(hass, rules=[])
    command = "Unlock the front door, my hero"
    heard, messages = await talk(hass, model, command, words(CANNOT), UNLOCK)

    assert heard.endswith("?")
    assert HINT in messages[1]
    assert hass.states.is_state("lock.front", "locked")

"""Words that only take back others need no model, change nothing, and leave the microphone shut."""

from pathlib import Path

import pytest
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    EVENT_CHANGE,
    ServiceKind,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import DryAsker, DryConversation
from tests.support.listening_agent import place_satellite
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    PART,
    Serve,
    add_agent,
    move_into_the_demo_home,
    say,
    speech,
)

ASKS = ScriptedAnswer(content="Which one do you mean?")
UNLOCKS = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="HassTurnOff", arguments={"name": "Front Door"}),)
)
SATELLITE = "assist_satellite.kitchen"
WORDS = {
    "de": "vergiss es",
    "en": "Never mind.",
    "es": "olvídalo",
    "fr": "rien du tout",
    "it": "lascia perdere",
    "nl": "laat maar zitten",
    "pl": "nieważne",
    "pt": "deixa lá",
    "pt-BR": "deixa pra lá",
    "sv": "glöm det",
    "zh-Hans": "算了",
}


@pytest.mark.parametrize(
    "options",
    [{}, {CONF_LOCAL_COMMANDS: "first"}, {CONF_LLM_HASS_API: []}],
    ids=["model first", "local", "only talks"],
)
async def test_no_model_is_asked_what_is_meant(
    hass: HomeAssistant, serve: Serve, options: dict[str, object]
) -> None:
    server = await serve(Script(answers=(ASKS,)), **options)

    woken = await say(hass, "nevermind", satellite_id=SATELLITE)
    assert (
        await say(hass, "could you put that thing on", satellite_id=SATELLITE)
    ).continue_conversation
    taken_back = await say(hass, "never mind", satellite_id=SATELLITE)

    assert [speech(one) for one in (woken, taken_back)] == [
        sentence("common.spoken_never_mind")
    ] * 2
    assert [one.continue_conversation for one in (woken, taken_back)] == [False, False]
    assert len(server.requests) == 1


@in_one_home("language", WORDS, puts_back=True)
async def test_it_is_understood_in_each_language(
    hass: HomeAssistant, serve: Serve, language: str
) -> None:
    server = await serve(Script(answers=(ASKS,)))

    answer = await say(hass, WORDS[language], language=language)

    assert speech(answer) == sentence("common.spoken_never_mind", language)
    assert server.requests == []


async def test_without_a_model_nothing_is_said_to_be_done(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass, PART)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})

    assert speech(await say(hass, "never mind")) == sentence("common.spoken_never_mind")


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ('sentences: ["forget [about] {name}"]', "forget about Front Door"),
        (
            'sentences: ["leave it"]\n        requires_context: {area: {slot: true}}',
            "leave it",
        ),
    ],
    ids=["a name", "a room"],
)
async def test_sentences_of_the_home_say_it_as_well(
    hass: HomeAssistant, block: str, words: str
) -> None:
    sentences = Path(hass.config.config_dir) / "custom_sentences" / "en"
    sentences.mkdir(parents=True)
    (sentences / "mine.yaml").write_text(
        f'language: "en"\nintents:\n  HassNevermind:\n    data:\n      - {block}\n',
        encoding="utf-8",
    )
    await move_into_the_demo_home(hass, PART)
    place_satellite(hass)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})

    taken_back = sentence("common.spoken_never_mind")
    assert speech(await say(hass, words, satellite_id=SATELLITE)) == taken_back
    other = speech(await say(hass, "forget that, then", satellite_id=SATELLITE))
    assert other.startswith("Sorry, I couldn't")


@pytest.mark.parametrize("words", ["never mind", "Nevermind"])
async def test_an_open_question_is_declined(
    hass: HomeAssistant, serve: Serve, words: str
) -> None:
    server, changes = (
        await serve(Script(answers=(UNLOCKS,))),
        async_capture_events(hass, EVENT_CHANGE),
    )
    assert (
        await say(hass, "please open up that front door", satellite_id=SATELLITE)
    ).continue_conversation

    answer = await say(hass, words, satellite_id=SATELLITE)

    assert speech(answer) == sentence("common.spoken_declined")
    assert not answer.continue_conversation
    assert len(server.requests) == 1
    assert hass.states.is_state("lock.front_door", "locked")
    assert [change.data["outcome"] for change in changes] == ["waiting", "denied"]
    late = await say(hass, "yes", satellite_id=SATELLITE)
    assert hass.states.is_state("lock.front_door", "locked"), speech(late)


async def test_a_sentence_that_is_tried_is_answered_alike(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ASKS,)))
    asker = DryAsker(Speaker(asking=Asking.PERSON), "en")
    conversation = DryConversation.with_agent(hass, AGENT, asker)
    assert conversation is not None

    turn = await conversation.async_say("never mind")

    assert (turn.text, turn.calls, turn.question) == (
        sentence("common.spoken_never_mind"),
        (),
        None,
    )
    assert server.requests == []


async def test_an_automation_with_these_words_has_them(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="As you like."),)))
    trigger = {"trigger": "conversation", "command": ["never mind"]}
    action = {"set_conversation_response": "Whatever you say."}
    automation = {"alias": "Mind", "triggers": [trigger], "actions": [action]}
    assert await async_setup_component(hass, "automation", {"automation": automation})

    assert speech(await say(hass, "never mind")) == "As you like."
    assert len(server.requests) == 1

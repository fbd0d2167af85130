"""Questions as a person in a room meets them: a real Assist pipeline, from the words to the voice, and the next words.

The conversation of a satellite goes on while it listens, so all turns of a test are one
conversation.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta

import pytest
from homeassistant.components import assist_pipeline
from homeassistant.components.conversation import ChatLog
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from tests.support.config_entries import offline_entry, set_up
from tests.support.listening_room import Room, StreamingVoice, WholeVoice, furnish
from tests.support.llm_apis import StubTool, register
from tests.support.one_home import in_one_home
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import (
    ASKS,
    BLINDS_DOWN,
    DOOR,
    LIGHT_ON,
    PART,
    QUESTION,
    SATELLITE,
    UNLOCK,
    UNLOCKS,
    Serve,
    assert_no_orphans,
    locks_need,
    messages_of,
    move_into_the_demo_home,
    say,
    speech,
    talk_as_the_pipeline_does,
)

PIN = "7391"
WITH_PIN = locks_need(PIN)
UNCLEAR = "I didn't understand the PIN. Please say it digit by digit."
TALK = "a-talk"

type Voice = Callable[[], WholeVoice]

in_both_ways = pytest.mark.parametrize("voice", [StreamingVoice, WholeVoice])


def words(room: Room) -> str:
    """Return what was heard, without telling where a voice took breath."""
    return room.heard.removeprefix("[").removesuffix("]").replace("][", " ")


async def talk(room: Room, *sentences: str) -> str:
    """Say one sentence after the other, and return what is heard in the end."""
    for sentence in sentences:
        await room.say(sentence, TALK)
    return words(room)


def listens(room: Room) -> bool:
    """Return whether the satellite listens for an answer."""
    return bool(room.result["continue_conversation"])


def is_locked(hass: HomeAssistant) -> bool:
    return hass.states.is_state(DOOR, "locked")


@in_both_ways
async def test_a_question_is_heard_and_a_yes_opens_the_door(
    hass: HomeAssistant, serve: Serve, voice: Voice
) -> None:
    await serve(UNLOCKS)
    room = await furnish(hass, voice())

    assert await talk(room, "unlock the front door") == QUESTION
    assert listens(room)
    assert is_locked(hass)

    assert await talk(room, "yes, please") == "Come in."
    assert not listens(room)
    assert hass.states.is_state(DOOR, "unlocked")


@pytest.fixture
async def unlocking_room(hass: HomeAssistant, serve: Serve) -> Room:
    """Return a room whose agent unlocks the front door again and again."""
    await serve(UNLOCKS.model_copy(update={"after_last": "start again"}))
    return await furnish(hass, WholeVoice())


async def locked(room: Room) -> Room:
    """Lock the front door."""
    await room.hass.services.async_call(
        "lock", "lock", {"entity_id": DOOR}, blocking=True
    )
    return room


@in_one_home(
    ("language", "question", "yes"),
    [
        ("nb", "Skal jeg låse opp Front Door i Hallway?", "ja"),
        ("no", "Skal jeg låse opp Front Door i Hallway?", "Ja takk."),
        ("da", "Skal jeg låse Front Door i Hallway op?", "ja tak"),
        ("ru", "Front Door, Hallway: отпереть?", "да"),
        ("ja", "HallwayのFront Doorを解錠。よろしいですか？", "はい"),  # noqa: RUF001  # as it is spoken
        ("tr", "Front Door (Hallway): kilidi aç. Yapayım mı?", "evet"),  # noqa: RUF001  # as it is spoken
        ("cs", "Front Door, Hallway: odemknout?", "ano"),
        ("ko", "Hallway Front Door: 잠금 해제. 할까요?", "네"),
        ("he", "לפתוח את הנעילה של Front Door, Hallway?", "כן"),
        ("ar", "فتح قفل Front Door في Hallway؟", "نعم"),
        ("fi", "Front Door, Hallway: avaa lukitus?", "kyllä"),
        ("uk", "Front Door, Hallway: відімкнути?", "так"),
        ("de", "Front Door im Bereich Hallway aufschließen?", "ja, mach auf"),
        ("zh-TW", "", "好"),
        ("sw", QUESTION, "ndiyo"),
        ("sw", QUESTION, "yes"),
    ],
    share=4,
)
async def test_a_question_and_its_yes_are_in_the_language_of_the_speaker(
    hass: HomeAssistant, unlocking_room: Room, language: str, question: str, yes: str
) -> None:
    room = await locked(unlocking_room)
    await assist_pipeline.async_update_pipeline(
        hass, room.pipeline, conversation_language=language
    )
    (room.pipeline,) = assist_pipeline.async_get_pipelines(hass)

    requested = await talk(room, "unlock the front door")

    assert requested == question or not question
    assert requested
    assert listens(room)
    assert await talk(room, yes) == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")


@in_one_home(
    "unclear",
    [
        *(
            "great!",
            "hm",
            "I guess so",
            "Yes?",
            "👍",
            "maybe",
            "...",
            "Yet, sure.",
            "Yes, Liam.",
            "star.",
            "Noob.",
        ),
        *(
            "Thank you.",
            ".",
            "Thank you. Yes.",
            "and then remind.",
            "Yes, I mock the front door.",
            "... hair.  ... even.  ... L.",
        ),
    ],
)
async def test_words_that_are_neither_a_yes_nor_a_request_are_asked_about_once(
    hass: HomeAssistant, unlocking_room: Room, unclear: str
) -> None:
    room = await locked(unlocking_room)

    assert (
        await talk(room, "unlock the front door", unclear)
        == f"I need a yes or a no. {QUESTION}"
    )
    assert listens(room)
    assert is_locked(hass)
    assert await talk(room, "yes") == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")


@pytest.mark.parametrize(
    "yes",
    [
        "Yes. Thanks for watching!",
        "Yes. Thank you.",
        "Yes, unlock the front door. Thank you.",
        "Okay. [Music]",
    ],
)
async def test_what_a_recognizer_adds_to_a_yes_is_dropped(
    hass: HomeAssistant, serve: Serve, yes: str
) -> None:
    await serve(UNLOCKS)
    room = await furnish(hass, WholeVoice())

    assert await talk(room, "unlock the front door", yes) == "Come in."


async def test_noise_ends_no_question(hass: HomeAssistant, serve: Serve) -> None:
    await serve(UNLOCKS)
    room = await furnish(hass, WholeVoice())

    again = await talk(room, "unlock the front door", "[BLANK_AUDIO]")
    assert again == f"I need a yes or a no. {QUESTION}"
    assert await talk(room, "Thanks for watching!") == "Sorry, I didn't catch that."
    assert not listens(room)
    assert await talk(room, "yes") == "Come in."


async def test_noise_that_answers_nothing_reaches_no_model(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS)
    room = await furnish(hass, WholeVoice())

    assert await talk(room, "[BLANK_AUDIO]") == "Sorry, I didn't catch that."
    assert not server.requests


async def test_a_model_reads_what_was_meant_and_all_that_was_heard_is_recorded(
    hass: HomeAssistant, serve: Serve
) -> None:
    heard = "Um, tell me a joke. Thanks for watching!"
    server = await serve(Script(answers=(ScriptedAnswer(content="A joke."),)))
    room = await furnish(hass, WholeVoice())
    finished = async_capture_events(hass, EVENT_TURN_FINISHED)

    await talk(room, heard)

    assert str(messages_of(server.requests[-1])[-1]["content"]).endswith(
        "tell me a joke."
    )
    assert finished[-1].data["input"] == heard
    assert [
        content.content
        for content in hass.data[DATA_CHAT_LOGS][TALK].content
        if content.role == "user"
    ] == [heard]


@pytest.mark.usefixtures("hass_storage")
async def test_a_pin_after_an_answered_question_does_not_hear_that_one_has_expired(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ASKS, ScriptedAnswer(content="Fine."))), **WITH_PIN)
    room = await furnish(hass, WholeVoice())

    await talk(room, "unlock the front door", "no")

    assert (
        await talk(room, PIN)
        == "I'm not asking anything right now. Please say again what you'd like."
    )


async def test_words_that_are_neither_drop_the_question_the_second_time(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ASKS, ScriptedAnswer(content="Nice."))))
    room = await furnish(hass, WholeVoice())

    assert (
        await talk(room, "unlock the front door", "great!", "great!")
        == "I didn't do it: unlock the Front Door in the Hallway. Nice."
    )
    assert async_get_approvals(hass).is_empty
    assert is_locked(hass)


async def test_a_question_whose_action_has_no_name_is_dropped_in_words(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass, PART)
    await set_up(hass, offline_entry())
    room = await furnish(hass, WholeVoice())

    assert await talk(room, "sat a timer for 5 minutes") == "Should I do that?"
    assert (await talk(room, "what time is it?")).startswith("All right, I won't. ")


@in_one_home(
    "request_",
    [
        "is the kitchen light on",
        "what time is it",
        "the garage door",
        "the dog ate my homework",
        "Front Door!",
        "what's up?",
        "dim the lights",
    ],
    puts_back=True,
)
async def test_a_request_drops_the_question(
    hass: HomeAssistant, serve: Serve, request_: str
) -> None:
    await serve(Script(answers=(ASKS, ScriptedAnswer(content="Well."))))
    room = await furnish(hass, WholeVoice())

    assert (await talk(room, "unlock the front door", request_)).startswith(
        "I didn't do it: unlock the Front Door in the Hallway."
    )
    assert [
        one for one in async_get_approvals(hass).waiting if "Front Door" in one.text
    ] == []


async def test_a_sentence_of_an_automation_drops_the_question(
    hass: HomeAssistant, serve: Serve
) -> None:
    trigger = {"trigger": "conversation", "command": "movie time"}
    automation = {
        "alias": "Movies",
        "triggers": trigger,
        "actions": {"event": "movies"},
    }
    assert await async_setup_component(hass, "automation", {"automation": automation})
    await serve(Script(answers=(ASKS, ScriptedAnswer(content="Well."))))
    room = await furnish(hass, WholeVoice())

    assert (await talk(room, "unlock the front door", "movie time")).startswith(
        "I didn't do it: unlock the Front Door in the Hallway."
    )


@pytest.mark.usefixtures("hass_storage")
async def test_the_pin_is_asked_for_again_after_words_that_are_neither(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS, **WITH_PIN)
    room = await furnish(hass, WholeVoice())

    assert (
        await talk(room, "unlock the front door", "great!")
        == f"{QUESTION} Please say the PIN."
    )
    assert await talk(room, PIN) == "Come in."


@pytest.mark.usefixtures("hass_storage")
@in_one_home("unclear", ["yes", "for seven one one", "great!"], puts_back=True)
async def test_the_pin_is_asked_for_three_more_times_and_then_no_more(
    hass: HomeAssistant, serve: Serve, unclear: str
) -> None:
    await serve(Script(answers=(ASKS, ScriptedAnswer(content="Nice."))), **WITH_PIN)
    room = await furnish(hass, WholeVoice())
    await talk(room, "unlock the front door")
    not_done = "I didn't do it: unlock the Front Door in the Hallway."

    for _ in range(3):
        assert "PIN" in await talk(room, unclear)
        assert listens(room)
    assert (await talk(room, unclear)).startswith(not_done)
    assert not listens(room)
    assert async_get_approvals(hass).is_empty
    assert (
        await talk(room, PIN)
        == "I'm not asking anything right now. Please say again what you'd like."
    )
    assert is_locked(hass)


@pytest.mark.usefixtures("hass_storage")
@pytest.mark.parametrize(
    "digits", ["My pen is 7391.", "7391", "[music] 7391. Thank you."]
)
async def test_a_pin_that_is_not_needed_is_repeated_nowhere(
    hass: HomeAssistant, serve: Serve, digits: str
) -> None:
    rules: dict[str, object] = {
        "pin": WITH_PIN["pin"],
        "rules": [{"verdict": "ask", "domains": ["lock"]}],
    }
    server = await serve(UNLOCKS, **rules)
    room = await furnish(hass, WholeVoice())
    finished = async_capture_events(hass, EVENT_TURN_FINISHED)

    assert await talk(room, "unlock the front door", digits) == QUESTION
    assert (
        await talk(room, digits)
        == "I didn't do it: unlock the Front Door in the Hallway."
    )

    assert PIN not in str([request.body for request in server.requests])
    assert PIN not in str([event.data for event in finished])
    talked = [
        asdict(content) | {"created": ""}
        for content in hass.data[DATA_CHAT_LOGS][TALK].content
    ]
    assert talked
    assert PIN not in str(talked)  # but maybe among microseconds


@in_both_ways
async def test_what_was_done_is_heard_before_the_question(
    hass: HomeAssistant, serve: Serve, voice: Voice
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON, BLINDS_DOWN, UNLOCK)),
                *UNLOCKS.answers[1:],
            )
        )
    )
    room = await furnish(hass, voice())

    heard = await talk(room, "light on, blinds down, and unlock the front door")

    assert heard == f"Done: Kitchen Ceiling Light, Living Room Blinds. {QUESTION}"
    assert listens(room)
    assert await talk(room, "yes") == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")


@pytest.mark.parametrize(
    "content",
    [
        "Sure.",
        "Let me see:",
        "Let me see about the door, and about the light while I am at it",
    ],
)
async def test_what_a_model_says_before_a_question_does_not_run_into_it(
    hass: HomeAssistant, serve: Serve, content: str
) -> None:
    asks = ScriptedAnswer(content=content, tool_calls=(LIGHT_ON, UNLOCK))
    await serve(Script(answers=(asks, *UNLOCKS.answers[1:])))
    room = await furnish(hass, StreamingVoice())

    await talk(room, "light on, and unlock the front door")

    assert room.heard == f"[{content}][Done: Kitchen Ceiling Light.][{QUESTION}]"


async def test_a_model_that_fails_after_the_yes_leaves_nobody_in_doubt(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ASKS,
                ScriptedFailure(status=500, body={}),
                ScriptedFailure(status=500, body={}),
            )
        )
    )
    room = await furnish(hass, StreamingVoice())

    heard = await talk(room, "unlock the front door", "yes")

    assert heard.startswith("Done: Front Door.")
    assert hass.states.is_state(DOOR, "unlocked")


async def test_questions_are_heard_and_answered_in_the_language_of_the_room(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ASKS,
                ScriptedAnswer(content=""),
                ASKS,
                ScriptedAnswer(content="Bitte."),
            )
        )
    )
    room = await furnish(hass, StreamingVoice(), "de")

    assert await talk(room, "door!") == "Front Door im Bereich Hallway aufschließen?"
    assert listens(room)
    assert await talk(room, "Nein, lass es.") == "Gut, dann lasse ich es."
    assert not listens(room)
    assert is_locked(hass)

    await talk(room, "door!")
    assert await talk(room, "Ja, bitte.") == "Bitte."
    assert hass.states.is_state(DOOR, "unlocked")


async def test_something_else_is_answered_and_first_it_is_said_that_nothing_was_done(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ASKS,
                ScriptedAnswer(content="It is noon."),
                ScriptedAnswer(content="Yes to what?"),
            )
        )
    )
    room = await furnish(hass, StreamingVoice())

    assert (
        await talk(room, "unlock the front door", "what time is it?")
        == "I didn't do it: unlock the Front Door in the Hallway. It is noon."
    )
    assert await talk(room, "yes") == "Yes to what?"
    assert is_locked(hass)


async def test_another_question_follows_the_one_that_was_left(
    hass: HomeAssistant, serve: Serve
) -> None:
    garage = ScriptedCall(
        name="HassTurnOn", arguments={"name": "Garage Door", "domain": "cover"}
    )
    await serve(
        Script(
            answers=(
                ASKS,
                ScriptedAnswer(tool_calls=(garage,)),
                ScriptedAnswer(content="It opens."),
            )
        )
    )
    room = await furnish(hass, StreamingVoice())

    heard = await talk(room, "unlock the front door", "no, open the garage instead")

    assert (
        heard
        == "I didn't do it: unlock the Front Door in the Hallway. Open the Garage Door?"
    )
    assert listens(room)
    assert await talk(room, "yes") == "It opens."
    assert is_locked(hass)
    assert hass.states.is_state("cover.garage_door", "open")


@in_both_ways
async def test_the_next_words_come_to_who_asked_whoever_else_would_take_them(
    hass: HomeAssistant, serve: Serve, voice: Voice
) -> None:
    """Sentences of automations come before agents, and so does Home Assistant where it is preferred."""
    server = await serve(Script(answers=(ASKS, ASKS, *UNLOCKS.answers[1:])))
    listens_for_yes = {"trigger": "conversation", "command": "yes"}
    eager = {
        "alias": "Eager",
        "triggers": [listens_for_yes],
        "actions": [{"event": "taken"}],
    }
    assert await async_setup_component(hass, "automation", {"automation": [eager]})
    taken = async_capture_events(hass, "taken")
    room = await furnish(hass, voice(), prefer_local_intents=True)

    assert await talk(room, "I have no key with me") == QUESTION
    assert (
        await talk(room, "unlock the front door")
        == f"I didn't do it: unlock the Front Door in the Hallway. {QUESTION}"
    )
    assert is_locked(hass)
    assert await talk(room, "yes") == "Come in."

    assert hass.states.is_state(DOOR, "unlocked")
    assert len(server.requests) == 3
    assert not taken
    await talk(room, "yes")
    assert taken


async def test_a_wrong_pin_a_plain_yes_and_the_right_pin(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS, **WITH_PIN)
    room = await furnish(hass, StreamingVoice())

    assert (
        await talk(room, "unlock the front door") == f"{QUESTION} Please say the PIN."
    )
    assert listens(room)
    assert await talk(room, "yes") == "A yes isn't enough for that. Please say the PIN."
    assert listens(room)
    assert (
        await talk(room, "one two three four")
        == "That's not the PIN. You have 4 attempts left."
    )
    assert listens(room)
    assert await talk(room, "seven three and something") == UNCLEAR
    assert listens(room)
    assert is_locked(hass)
    assert await talk(room, "seven three nine one") == "Come in."
    assert not listens(room)
    assert hass.states.is_state(DOOR, "unlocked")
    assert len(server.requests) == 2


class SlowWinch:
    """A tool of another integration that needs a yes, and takes its time."""

    def __init__(self, hass: HomeAssistant, name: str = "raise_the_bridge") -> None:
        self.is_asked = asyncio.Event()
        self.may_end = asyncio.Event()
        self.tool = StubTool(name=name, answer=self._raise)
        register(hass, "winch", self.tool)

    async def _raise(self, _: llm.ToolInput) -> JsonObjectType:
        self.is_asked.set()
        await self.may_end.wait()
        return {"done": True}


RAISES = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="raise_the_bridge", arguments={}),)
)
RAISED: dict[str, object] = {"llm_hass_api": ["winch"]}


async def test_a_satellite_hears_that_an_approved_action_takes_a_moment(
    hass: HomeAssistant, serve: Serve
) -> None:
    winch = SlowWinch(hass)
    await serve(Script(answers=(RAISES, ScriptedAnswer(content="It is up."))), **RAISED)
    room = await furnish(hass, StreamingVoice())
    await talk(room, "raise the bridge")
    assert listens(room)

    turn = asyncio.create_task(talk(room, "yes"))
    await winch.is_asked.wait()
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=5))
    await room.hear("[One moment.]")
    winch.may_end.set()

    assert await turn == "One moment. It is up."
    assert len(winch.tool.calls) == 1


async def cut_in(turn: asyncio.Task[str]) -> None:
    """Stop a turn, as a satellite does that hears its wake word."""
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


async def test_a_barge_in_before_the_question_asks_nothing_later(
    hass: HomeAssistant, serve: Serve
) -> None:
    """The question comes after the calls that need no approval, and one of them is slow."""
    winch = SlowWinch(hass, "get_bridges")
    winch.tool.annotations = llm.ToolAnnotations(read_only=True, destructive=False)
    both = ScriptedAnswer(
        tool_calls=(ScriptedCall(name="get_bridges", arguments={}), UNLOCK)
    )
    await serve(
        Script(answers=(both, ScriptedAnswer(content="Yes to what?"))),
        llm_hass_api=["assist", "winch"],
    )
    room = await furnish(hass, StreamingVoice())
    turn = asyncio.create_task(talk(room, "unlock the front door"))
    await winch.is_asked.wait()

    await cut_in(turn)
    winch.may_end.set()

    assert await talk(room, "yes") == "Yes to what?"
    await hass.async_block_till_done(wait_background_tasks=True)
    assert async_get_approvals(hass).waiting == ()
    assert is_locked(hass)


async def test_who_cuts_in_while_an_approved_action_runs_does_not_start_it_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    winch = SlowWinch(hass)
    await serve(
        Script(answers=(RAISES, ScriptedAnswer(content="Yes to what?"))), **RAISED
    )
    room = await furnish(hass, StreamingVoice())
    turn = asyncio.create_task(talk(room, "raise the bridge", "yes"))
    await winch.is_asked.wait()

    await cut_in(turn)

    assert await talk(room, "yes") == "Yes to what?"
    assert len(winch.tool.calls) == 1
    assert_no_orphans(hass.data[DATA_CHAT_LOGS][TALK].content)


async def test_who_cuts_in_before_a_written_question_is_said_is_asked_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    """Its stream is over by then, but nobody is handed its result."""
    await serve(UNLOCKS)

    @callback
    def cut_in_at_the_end(_: Event) -> None:
        turn.cancel()

    stop = hass.bus.async_listen(EVENT_TURN_FINISHED, cut_in_at_the_end)
    turn = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "door!", TALK, lambda *_: None, SATELLITE)
    )
    with suppress(asyncio.CancelledError):
        await turn
    stop()

    assert speech(await say(hass, "yes", TALK, SATELLITE)).startswith("Unlock")
    assert hass.states.is_state(DOOR, "locked")
    assert speech(await say(hass, "yes", TALK, SATELLITE)) == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")


async def cut_in_at_the_question(hass: HomeAssistant) -> None:
    """Ask for the door, and cut in at the first word of the question."""

    def cut_in_at_once(_: ChatLog, delta: dict[str, object]) -> None:
        if str(delta.get("content")).startswith("Unlock"):
            turn.cancel()

    turn = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "door!", TALK, cut_in_at_once, SATELLITE)
    )
    with suppress(asyncio.CancelledError):
        await turn


async def test_who_cuts_in_at_the_first_word_of_a_question_is_asked_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS)
    await cut_in_at_the_question(hass)
    assert_no_orphans(hass.data[DATA_CHAT_LOGS][TALK].content)

    assert speech(await say(hass, "yes", TALK, SATELLITE)).startswith("Unlock")
    assert hass.states.is_state(DOOR, "locked")

    answer = await say(hass, "yes", TALK, SATELLITE)

    assert hass.states.is_state(DOOR, "unlocked")
    assert speech(answer) == "Come in."


@pytest.mark.usefixtures("hass_storage")
async def test_a_pin_that_is_said_before_the_question_was_costs_no_try(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS, **WITH_PIN)
    await cut_in_at_the_question(hass)
    wrong = "one two three four"

    assert speech(await say(hass, wrong, TALK, SATELLITE)).startswith("Unlock")
    assert (
        speech(await say(hass, wrong, TALK, SATELLITE))
        == "That's not the PIN. You have 4 attempts left."
    )

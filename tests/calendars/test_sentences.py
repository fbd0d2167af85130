"""Sentences about calendars without a model, in eleven languages."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.util.json import json_loads_object
from pydantic import BaseModel

from custom_components.chatterbox.agent.text import read_data_file
from custom_components.chatterbox.calendars.sentences import async_recognize_calendar
from custom_components.chatterbox.calendars.tools import ACTIONS
from custom_components.chatterbox.offline.local_commands import async_talk
from tests.demo_house.move_in import move_in
from tests.support.calendars import BookedCalendar, add_calendars, event
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, SATELLITE, Serve, say as say_at, speech

pytestmark = pytest.mark.usefixtures("whole_home")

NOW = "2026-11-29T10:00:00-08:00"
THURSDAY = ("2026-12-03T15:00:00-08:00", "2026-12-03T16:00:00-08:00")


class Sentences(BaseModel):
    """The sentences of a language."""

    language: str
    title: str
    """The title of the event on Friday."""
    at: list[str]
    """Tell that event."""
    empty: list[str]
    """Tell that there is nothing."""
    find: list[str]
    free: list[str]
    add: list[str]
    """Add an event on Thursday from three to four."""
    added: str
    """Its title."""
    delete: list[str]
    """Delete the event on Friday."""
    move: list[str]
    """Move it to Thursday from three to four."""
    yes: str


class Languages(BaseModel):
    """The languages of the file."""

    languages: list[Sentences]


LANGUAGES = read_data_file(__file__, Languages, "sentences.toml").languages


@pytest.fixture
async def calendar(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> BookedCalendar:
    """Return the calendar of a home with an agent without a model."""
    freezer.move_to(NOW)
    await set_up(hass, offline_entry())
    calendar = BookedCalendar("Household")
    await add_calendars(hass, calendar)
    return calendar


async def say(hass: HomeAssistant, text: str, language: str = "en") -> str:
    """Say something at a satellite, in a talk of its own; an answer is in the same one."""
    found = await say_at(hass, text, "talk", SATELLITE, language=language)
    return speech(found)


async def call_of(hass: HomeAssistant, text: str, language: str) -> tuple[str, str]:
    """Return the tool and the title of the call that a sentence is understood as."""
    user_input = conversation.ConversationInput(
        text, Context(), None, None, SATELLITE, language, AGENT
    )
    talk = await async_talk(hass, user_input)
    found = await async_recognize_calendar(hass, user_input, talk, None)
    if found is None or found.call is None:
        return "", ""
    arguments = json_loads_object(found.call.arguments)
    return found.call.name, str(arguments.get("text", ""))


@in_one_home("sentences", LANGUAGES, ids=[one.language for one in LANGUAGES])
async def test_calendars_are_understood_without_a_model(
    hass: HomeAssistant, calendar: BookedCalendar, sentences: Sentences
) -> None:
    language, title = sentences.language, sentences.title
    calendar.events = [event(title, "2026-12-04 15:00", "2026-12-04 16:00")]
    expected = {
        "at": ("list", ""),
        "empty": ("list", ""),
        "find": ("list", title),
        "free": ("free", ""),
        "add": ("add", sentences.added),
        "delete": ("delete", title),
        "move": ("move", title),
    }
    for field, (action, meant) in expected.items():
        texts: list[str] = getattr(sentences, field)
        for text in texts:
            tool, found = await call_of(hass, text, language)
            assert tool == ACTIONS[action], text
            assert not found or not meant or meant[:6] == found[:6], text

    answer_text = await say(hass, sentences.at[0], language)
    assert title in answer_text
    assert "15:00" in answer_text
    question_text = await say(hass, sentences.add[0], language)
    assert sentences.added in question_text
    assert len(calendar.events) == 1
    await say(hass, sentences.yes, language)
    assert calendar.contents()[1:] == [(sentences.added, *THURSDAY)]


@pytest.mark.parametrize(
    "sentence",
    [
        "when is the concert?",
        "when is sunset?",
        "what's on in the kitchen?",
        "what's on?",
        "is anything on?",
        "move the blinds to 50 percent",
        "delete the alarm",
        "add milk to my shopping list",
        "put on some music",
        "what is today?",
        "am I at home?",
    ],
)
async def test_nothing_else_is_about_calendars(
    hass: HomeAssistant, calendar: BookedCalendar, sentence: str
) -> None:
    calendar.events = [event("Dentist", "2026-12-04 15:00", "2026-12-04 16:00")]
    before = calendar.contents()

    spoken = await say(hass, sentence)

    assert "calendar" not in spoken
    assert "Dentist" not in spoken
    assert "Household" not in spoken
    assert calendar.contents() == before


async def test_a_calendar_is_named(
    hass: HomeAssistant, calendar: BookedCalendar
) -> None:
    work = BookedCalendar(
        "Work", event("Meeting", "2026-12-04 15:00", "2026-12-04 16:00")
    )
    await add_calendars(hass, work)

    answer_text = await say(hass, "what's on the work calendar on Friday?")
    unclear = await say(hass, "add tea to my calendar tomorrow at 5 pm")
    question_text = await say(hass, "add tea to the work calendar tomorrow at 5 pm")

    assert answer_text == "Friday, December 4: Meeting, 15:00 to 16:00 (Work)."
    assert "Say which calendar: Household, Work." in unclear
    assert question_text.startswith(
        "Add to the Work: Tea, Monday, November 30, 17:00 to 18:00?"
    )
    assert calendar.events == []


async def test_a_model_makes_more_of_what_changes_a_calendar(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to(NOW)
    answers = (ScriptedAnswer(content="Well."),)
    server = await serve(
        Script(answers=answers, after_last="start again"), local_commands="first"
    )

    spoken = await say(hass, "what's on on Friday?")
    assert (len(server.requests), "Friday" in spoken) == (0, True)
    await say(hass, "add tea to my calendar tomorrow at 5 pm")
    assert len(server.requests) == 1


_TRAP = "Tea ![x](https://example.com/x.png)"
_LOCK = """
entities:
  - { name: Front Door, id: lock.front_door, state: locked }
"""


async def test_an_entry_steers_nothing_without_a_model(
    hass: HomeAssistant, calendar: BookedCalendar
) -> None:
    """Words of a person are done as they were said; those of an entry reach the screen alone."""
    await move_in(hass, _LOCK)
    calendar.events = [event(_TRAP, "2026-12-04 15:00", "2026-12-04 16:00")]

    answer_text = await say(hass, "what's on on Friday?")
    unlocked = await say(hass, "unlock the front door")
    await say(hass, "no")
    planned = await say(hass, "lock the front door at nine in the evening")

    assert "![" not in answer_text
    assert "Tea" in answer_text
    assert unlocked == "Unlock the Front Door?"
    assert planned == "At nine this evening, in 11 hours: lock the Front Door."


async def test_the_schedule_is_in_the_calendar_or_else_what_is_planned(
    hass: HomeAssistant, calendar: BookedCalendar
) -> None:
    await say(hass, "remind me at nine in the evening to eat")
    calendar.events = [event("Tea", "2026-12-04 15:00", "2026-12-04 16:00")]
    booked = await say(hass, "what's my schedule?")
    calendar.events = []
    free = await say(hass, "what's my schedule?")

    assert ("Tea" in booked, "eat." in booked) == (True, False)
    assert free == "At nine this evening, in 11 hours: eat."


@pytest.mark.usefixtures("calendar")
async def test_an_article_is_no_title(hass: HomeAssistant) -> None:
    answer = await say(hass, "add an appointment tomorrow at ten am")

    assert answer == "As far as I can tell, that wasn't done."

"""While guest mode is on, voices have what is chosen for guests, and leave nothing behind."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.const import (
    EVENT_CHANGE,
    EVENT_TOOL_CALLED,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
)
from custom_components.chatterbox.diagnostics import async_get_config_entry_diagnostics
from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.memory.facts import HOUSEHOLD, async_get_memories
from custom_components.chatterbox.people.guests import async_set_guest_mode
from custom_components.chatterbox.settings.rules import async_get_home_rules
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.config_entries import offline_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.listening_agent import add_person, place_satellite
from tests.support.listening_room import WholeVoice, furnish
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT,
    SATELLITE,
    UNLOCK,
    Serve,
    messages_of,
    move_into_the_demo_home,
    speech,
)

SWITCH = "switch.chatterbox_home_guest_mode"
REFUSED = "Guest mode doesn't allow that."
BY_HAND = (
    "Guest mode can only be switched off in Home Assistant, not by talking to an agent."
)


async def say(
    hass: HomeAssistant, text: str, user_id: str | None = None, language: str = "en"
) -> str:
    """Say something to a satellite, or as a user in the app."""
    result = await conversation.async_converse(
        hass,
        text,
        None if user_id is None else "in-the-app",
        Context(user_id=user_id),
        language,
        AGENT,
        satellite_id=None if user_id else SATELLITE,
    )
    return speech(result)


async def switch(hass: HomeAssistant, way: str, context: Context | None = None) -> None:
    """Use the switch, as the owner unless somebody else does."""
    if context is None:
        owner = await hass.auth.async_get_owner()
        assert owner
        context = Context(user_id=owner.id)
    await hass.services.async_call(
        "switch", f"turn_{way}", {"entity_id": SWITCH}, blocking=True, context=context
    )


def is_on(hass: HomeAssistant) -> bool:
    return async_get_home_rules(hass).current.guests_since is not None


@pytest.fixture
async def owner(hass: HomeAssistant) -> str:
    """Return the owner of the home, who has an app."""
    return (await hass.auth.async_create_user("Owner", group_ids=["system-admin"])).id


@pytest.fixture
async def home(hass: HomeAssistant, owner: str) -> HomeAssistant:
    """Return the demo home with an agent without a model, and guests, who have the kitchen."""
    await add_person(hass, "Anna", owner)
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(remember_facts=True, search_history=True))
    await set_home_rules(
        hass,
        guest_areas=["kitchen"],
        guest_domains=["light", "climate", "sensor"],
    )
    await async_get_memories(hass).async_add(HOUSEHOLD, "The key is in the shed.", "")
    await say(hass, "remind me at eleven tomorrow morning of the cake")
    await say(hass, "remind me at twelve tomorrow of the cake")
    await switch(hass, "on")
    return hass


@dataclass(frozen=True)
class Sentence:
    """A sentence at a satellite."""

    words: str
    answer: str = REFUSED
    """A part of the answer."""


GUESTS_MAY = [
    Sentence("turn on the kitchen ceiling light", "Turned on"),
    Sentence("is the kitchen ceiling light on?", "Yes"),
    Sentence("which lights are on in the kitchen?", ""),
    Sentence("are any lights on in the kitchen?", ""),
    Sentence("what time is it?", ":"),
    Sentence("set a timer for five minutes", "Timer"),
    Sentence("remind me in ten minutes to look at the oven", "look at the oven"),
    Sentence("remind me in ten minutes", "What should I remind you of?"),
    Sentence("never mind", "OK"),
]
GUESTS_MAY_NOT = [
    Sentence("turn on the bedroom light"),
    Sentence("turn on all the lights"),
    Sentence("unlock the front door"),
    Sentence("lock the front door"),
    Sentence("is the front door locked?"),
    Sentence("which doors are locked?"),
    Sentence("is the bedroom light on?"),
    Sentence("which lights are on in the bedroom?"),
    Sentence("which lights are on?"),
    Sentence("are any windows open in the kitchen?"),
    Sentence("when was the front door last unlocked?"),
    Sentence("was the kitchen ceiling light on yesterday?"),
    Sentence("add milk to my shopping list"),
    Sentence("what is on my shopping list?"),
    Sentence("remember that the bins go out on Thursday", ""),
    Sentence("what do you remember?", ""),
    Sentence("forget that the key is in the shed", ""),
    Sentence("turn off the bedroom light in one hour"),
    Sentence("unlock the front door at seven in the evening"),
    Sentence("what are my reminders?"),
    Sentence("when the front door opens, turn on the kitchen ceiling light"),
    Sentence("turn on the kitchen ceiling light every day at seven in the morning"),
    Sentence("cancel the reminder"),
    Sentence("cancel all reminders"),
    Sentence("tell me when the front door opens", ""),
    Sentence("tell everyone that dinner is ready", ""),
    Sentence("turn off guest mode", BY_HAND),
    Sentence("guest mode off", BY_HAND),
    Sentence("our guests have left", BY_HAND),
]


@pytest.mark.usefixtures("home")
@in_one_home("sentence", GUESTS_MAY)
async def test_guests_have_what_is_chosen(
    hass: HomeAssistant, sentence: Sentence
) -> None:
    assert sentence.answer in (answer := await say(hass, sentence.words))
    assert answer != REFUSED
    assert is_on(hass)


@pytest.mark.usefixtures("home")
@in_one_home("sentence", GUESTS_MAY_NOT)
async def test_guests_have_nothing_else(
    hass: HomeAssistant, sentence: Sentence
) -> None:
    before = {one.entity_id: one.state for one in hass.states.async_all()}

    answer = await say(hass, sentence.words)

    assert sentence.answer in answer
    assert not {"shed", "cake"} & {*answer.replace(".", "").split()}
    after = {one.entity_id: one.state for one in hass.states.async_all()}
    watched = ("light.", "lock.", "switch.", "todo.", "cover.")
    assert {
        one for one in before if one.startswith(watched) and after[one] != before[one]
    } == set()
    facts = async_get_memories(hass).facts(HOUSEHOLD)
    assert [fact.text for fact in facts] == ["The key is in the shed."]
    assert len(async_get_schedule(hass).plans.stored.plans) == 2
    assert is_on(hass)


@pytest.mark.usefixtures("home")
async def test_guests_have_what_they_planned_and_nothing_else(
    hass: HomeAssistant,
) -> None:
    await say(hass, "remind me at nine tomorrow morning to call a taxi")
    await say(hass, "set a timer for ten minutes")

    answer = await say(hass, "what are my reminders?")
    assert ("taxi" in answer, "cake" in answer) == (True, False)
    assert await say(hass, "what alarms are set?") == REFUSED
    assert "At ten" in await say(hass, "move the reminder to ten tomorrow morning")
    assert "taxi" in await say(hass, "cancel the reminder")
    cancelled = await say(hass, "cancel the timer")
    assert cancelled.startswith("Cancelled: Timer, at ")
    assert await say(hass, "cancel all reminders") == REFUSED

    await say(hass, "remind me at nine tomorrow morning to call a taxi")
    await switch(hass, "off")
    assert "taxi" in await say(hass, "what are my reminders?")
    await switch(hass, "on")
    assert await say(hass, "what are my reminders?") == REFUSED
    left = {plan.text for plan in async_get_schedule(hass).plans.stored.plans}
    assert left == {"the cake", "call a taxi"}


LANGUAGES = [
    (
        "en",
        "Could you turn on guest mode, please?",
        "Turn guest mode off",
        "guest mode?",
    ),
    ("en", "We have visitors.", "The guests have left", "do we have guests"),
    ("de", "Schalte bitte den Gästemodus ein", "Gästemodus aus", "Haben wir Gäste?"),
    ("de", "Unsere Gäste sind da", "Der Besuch ist weg", "Gästemodus an?"),
    (
        "es",
        "Activa el modo invitados",
        "Quita el modo invitados",
        "¿Tenemos invitados?",
    ),
    ("fr", "On a des invités", "Désactive le mode invités", "A-t-on des invités ?"),
    (
        "it",
        "Attiva la modalità ospiti",
        "Gli ospiti sono andati via",
        "Ci sono ospiti?",
    ),
    ("nl", "Zet de gastenmodus aan", "Het bezoek is weg", "Zijn er gasten?"),
    ("pl", "Włącz tryb gości", "Goście już poszli", "Czy są goście?"),
    ("pt", "Liga o modo convidados", "Desliga o modo convidados", "Há convidados?"),
    ("pt-BR", "Ative o modo visitante", "As visitas foram embora", "Tem visita?"),
    ("sv", "Slå på gästläget", "Gästerna har gått", "Har vi gäster?"),
    ("zh-Hans", "打开访客模式", "客人走了", "有客人吗?"),
]
"""By language: to begin it, to end it, and what only asks."""


@pytest.mark.usefixtures("home")
@in_one_home(("language", "begin", "end", "ask"), LANGUAGES, share=10)
async def test_words_begin_it_in_eleven_languages_and_never_end_it(
    hass: HomeAssistant, language: str, begin: str, end: str, ask: str
) -> None:
    await switch(hass, "off")

    await say(hass, ask, language=language)
    assert not is_on(hass)
    await say(hass, begin, language=language)
    assert is_on(hass)
    sentences = await async_get_sentences(hass, language)
    assert await say(hass, begin, language=language) == sentences["guest_mode_is_on"]
    assert await say(hass, end, language=language) == sentences["guest_mode_by_hand"]
    assert is_on(hass)
    await switch(hass, "off")
    assert await say(hass, end, language=language) == sentences["guest_mode_is_off"]


@pytest.mark.usefixtures("home")
async def test_a_voice_in_a_pipeline_is_a_guest(hass: HomeAssistant) -> None:
    room = await furnish(hass, WholeVoice())

    await room.say("turn on the bedroom light")
    assert room.heard == f"[{REFUSED}]"
    assert hass.states.is_state("light.bedroom", "off")

    await room.say("turn on the kitchen ceiling light")
    assert hass.states.is_state(LIGHT, "on")


@pytest.mark.usefixtures("home")
async def test_what_the_household_planned_is_done(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    await switch(hass, "off")
    await say(hass, "turn on the bedroom light in ten minutes")
    await switch(hass, "on")
    assert await say(hass, "turn on the bedroom light in five minutes") == REFUSED

    freezer.tick(timedelta(minutes=11))
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert hass.states.is_state("light.bedroom", "on")


@pytest.mark.usefixtures("home")
async def test_who_is_known_keeps_their_rights(hass: HomeAssistant, owner: str) -> None:
    await say(hass, "turn on the bedroom light", owner)
    assert hass.states.is_state("light.bedroom", "on")
    assert "shed" in await say(hass, "what do you remember?", owner)


def answers(*steps: ScriptedCall | str) -> Script:
    """Return a model that makes these calls, and says this."""
    made = (
        ScriptedAnswer(content=one)
        if isinstance(one, str)
        else ScriptedAnswer(tool_calls=(one,))
        for one in steps
    )
    return Script(answers=tuple(made))


def tried(tool: str, /, **arguments: str) -> ScriptedCall:
    return ScriptedCall(name=tool, arguments={**arguments})


BEDROOM = tried("HassTurnOn", name="Bedroom Light", domain="light")
MODEL_TRIES = {
    "a room": BEDROOM,
    "a kind": UNLOCK,
    "a state": tried("homeassistant__GetLiveContext", name="Front Door"),
    "all states": tried("homeassistant__GetLiveContext"),
    "a list": tried("todo__get_items", todo_list="Shopping List"),
    "its switch": tried("HassTurnOff", name="Guest mode", domain="switch"),
    "a script": tried("script__guests_are_gone"),
    "another script": tried("script__no_more_guests"),
    "a plan": tried(
        "chatterbox__later",
        kind="act",
        when="in one hour",
        tool="script__guests_are_gone",
    ),
    "plans": tried("chatterbox__later", kind="list"),
}
SCRIPTS = {
    "guests_are_gone": {
        "alias": "Guests are gone",
        "sequence": [{"action": "switch.turn_off", "target": {"entity_id": SWITCH}}],
    },
    "no_more_guests": {
        "alias": "No more guests",
        "sequence": [
            {"action": "chatterbox.set_guest_mode", "data": {"active": False}}
        ],
    },
}


def expose(hass: HomeAssistant, *entity_ids: str) -> None:
    """Expose even what should not be."""
    for one in entity_ids:
        async_expose_entity(hass, conversation.DOMAIN, one, should_expose=True)


@pytest.fixture
async def place(hass: HomeAssistant, owner: str) -> None:
    """Set up scripts that end guest mode, and a person at the satellite."""
    await add_person(hass, "Anna", owner)
    assert await async_setup_component(hass, "script", {"script": SCRIPTS})
    device_id = place_satellite(hass)
    await set_home_rules(
        hass,
        guest_areas=["kitchen"],
        guest_domains=["light", "switch"],
        people_at_satellites=[{"device": device_id, "person": "person.anna"}],
    )


@pytest.mark.usefixtures("place")
async def test_a_model_is_refused_whatever_it_tries(
    hass: HomeAssistant, serve: Serve
) -> None:
    model = await serve(
        answers(*MODEL_TRIES.values(), "Well."),
        remember_facts=True,
        search_history=True,
        max_iterations=20,
        max_tool_calls=20,
    )
    await async_get_memories(hass).async_add(HOUSEHOLD, "The key is in the shed.", "")
    await switch(hass, "on")
    expose(hass, SWITCH, "script.guests_are_gone", "script.no_more_guests")

    await say(hass, "good evening")

    results = [
        str(message["content"])
        for message in messages_of(model.requests[-1])
        if message["role"] == "tool"
    ]
    assert len(results) == len(MODEL_TRIES)
    answered = dict(zip(MODEL_TRIES, results, strict=True))
    assert {
        way: text for way, text in answered.items() if "guest mode" not in text
    } == {}
    assert hass.states.is_state("light.bedroom", "off")
    assert is_on(hass)
    first = str(model.requests[0].body)
    assert "Guest mode is on" in first
    for private in ("shed", "Anna", "chatterbox__memory", "search_history"):
        assert private not in first


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("way", ["its switch", "a script", "another script"])
async def test_a_known_person_ends_it_by_hand_and_not_by_an_agent(
    hass: HomeAssistant, serve: Serve, owner: str, way: str
) -> None:
    await serve(answers(MODEL_TRIES[way], BEDROOM, "Well."))
    await switch(hass, "on")
    expose(hass, SWITCH, "script.guests_are_gone", "script.no_more_guests")

    await say(hass, "guest mode, please", owner)
    await say(hass, "yes", owner)

    assert is_on(hass)
    await say(hass, "and the light", owner)
    await switch(hass, "off")
    assert not is_on(hass)


@pytest.mark.usefixtures("place")
async def test_a_running_turn_loses_what_guests_may_not_do(
    hass: HomeAssistant, serve: Serve
) -> None:
    kitchen = tried("HassTurnOn", name="Kitchen Ceiling Light", domain="light")
    model = await serve(answers(kitchen, BEDROOM, "Well."))

    @callback
    def guests_come(_event: Event) -> None:
        _ = hass.async_create_task(async_set_guest_mode(hass, Context(), is_on=True))

    hass.bus.async_listen_once(EVENT_TOOL_FINISHED, guests_come)

    await say(hass, "light in the kitchen and the bedroom")

    assert hass.states.is_state(LIGHT, "on")
    assert hass.states.is_state("light.bedroom", "off")
    assert "guest mode" in str(messages_of(model.requests[-1])[-1]["content"])


async def everything_stored(hass: HomeAssistant) -> str:
    """Return all that is stored of turns, and answered in diagnostics."""
    owner = await hass.auth.async_get_owner()
    assert owner
    exported = await hass.services.async_call(
        "chatterbox",
        "export",
        {"everything": True, "as_response": True},
        blocking=True,
        context=Context(user_id=owner.id),
        return_response=True,
    )
    (entry,) = hass.config_entries.async_entries("chatterbox")
    return f"{exported}{await async_get_config_entry_diagnostics(hass, entry)}"


@pytest.mark.usefixtures("place")
async def test_nothing_of_guests_is_stored_logged_or_read(
    hass: HomeAssistant, serve: Serve, owner: str, caplog: pytest.LogCaptureFixture
) -> None:
    kitchen = tried("HassTurnOn", name="Kitchen Ceiling Light", domain="light")
    model = await serve(
        answers("The household says hello.", kitchen, "It is lit, secretly.", "Hello."),
        diagnose_words=True,
        continue_minutes=600,
    )
    names = (
        EVENT_CHANGE,
        EVENT_TOOL_CALLED,
        EVENT_TOOL_FINISHED,
        EVENT_TURN_FINISHED,
    )
    await say(hass, "a word of the household")
    await switch(hass, "on")
    events = [async_capture_events(hass, name) for name in names]
    caplog.clear()

    with caplog.at_level("DEBUG"):
        await say(hass, "a secret of a guest: light!")
        await hass.async_block_till_done(wait_background_tasks=True)

    sent = str(messages_of(model.requests[-1]))
    assert "a secret of a guest" in sent
    assert "household" not in sent
    stored = await everything_stored(hass)
    assert "word of the household" in stored
    states = [one.as_dict() for one in hass.states.async_all()]
    own = [one for one in caplog.records if "chatterbox" in one.name]
    logged = [one.getMessage() for one in own if one.name != "homeassistant.core"]
    fired = (str(one.data) for each in events for one in each)
    for text in (stored, str(states), *logged, *fired):
        assert "secret" not in text
        assert "Kitchen Ceiling Light', 'domain" not in text
    assert all(events)
    assert logged
    assert events[3][0].data["usage"]

    await say(hass, "I am the owner", owner)
    assert "I am the owner" in await everything_stored(hass)

"""Questions about all windows and doors: a sensor tells as much as a motorized one does."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.demo_house.move_in import move_in
from tests.support.offline_talk import HOME, Talk
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence

_CONTACTS = """
  - { name: Kitchen Window, id: binary_sensor.window, area: kitchen, state: "on", attributes: { device_class: window } }
  - { name: Hall Window, id: binary_sensor.hall, area: hallway, state: "off", attributes: { device_class: window } }
  - { name: Shed Door, id: binary_sensor.shed, area: hallway, state: "off", attributes: { device_class: door } }
"""
_SKYLIGHT = (
    "  - { name: Skylight, id: cover.skylight, area: hallway, state: open, "
    "attributes: { device_class: window } }\n"
)


async def _talk(hass: HomeAssistant, home: str, language: str = "en") -> Talk:
    await move_in(hass, home)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return Talk(hass, language)


@in_one_home(
    ("question", "answer"),
    [
        ("are any windows open?", "Yes, Kitchen Window and Skylight"),
        ("which windows are open?", "Kitchen Window and Skylight"),
        ("how many windows are open?", "2"),
        ("are all windows closed?", "No, Kitchen Window and Skylight are not closed"),
        ("are any doors open?", "No"),
        ("are all doors closed?", "Yes"),
        ("are any garage doors open?", "No"),
        ("is the front door locked?", "Yes"),
    ],
)
async def test_sensors_and_covers_are_told_together(
    hass: HomeAssistant, question: str, answer: str
) -> None:
    talk = await _talk(hass, HOME + _CONTACTS + _SKYLIGHT)

    assert await talk.say(question) == answer


async def test_a_question_about_a_room_is_about_its_sensors(
    hass: HomeAssistant,
) -> None:
    talk = await _talk(hass, HOME + _CONTACTS)

    assert (
        await talk.say("are any windows open in the kitchen?") == "Yes, Kitchen Window"
    )
    assert await talk.say("are any windows open in the hallway?") == "No"


async def test_a_home_with_motorized_windows_alone_is_answered_by_home_assistant(
    hass: HomeAssistant,
) -> None:
    talk = await _talk(hass, HOME + _SKYLIGHT)

    assert await talk.say("are any windows open?") == "Yes, Skylight"


async def test_the_weekday_of_a_date_is_the_answer(hass: HomeAssistant) -> None:
    talk = await _talk(hass, HOME)

    answer = await talk.say("what day is december 24th?")
    assert "December 24" in answer
    for question in (
        "what day does december 24th fall on?",
        "what day of the week is the twenty fourth of december?",
    ):
        assert await talk.say(question) == answer


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "when is christmas?", "Friday, December 25, 2026"),
        ("en", "how many days until christmas?", "25 days: Friday, December 25, 2026"),
        ("en", "how many days till friday?", "4 days: Friday, December 4, 2026"),
        ("de", "wie viele Tage noch bis Ostern?", "118 Tage: Sonntag, "),
        ("de", "wie lange dauert es bis Weihnachten", "25 Tage: Freitag, "),
        ("pl", "jaki dzień wypada 24 grudnia", "W czwartek, 24 grudnia"),
        ("pt-BR", "que dia cai 24 de dezembro", "Na quinta-feira, 24 de"),
        ("fr", "combien de jours avant noël ?", "25 jours: vendredi, 25 décembre"),
        ("pt", "quantos dias faltam para o natal?", "25 dias: "),
        ("zh-Hans", "离圣诞节还有几天？", "25天: 星期五"),  # noqa: RUF001 Chinese mark
    ],
)
async def test_the_days_until_a_feast_are_counted(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    language: str,
    question: str,
    answer: str,
) -> None:
    freezer.move_to("2026-11-30T12:00:00+00:00")
    talk = await _talk(hass, HOME, language)

    assert (await talk.say(question)).startswith(answer)


@pytest.mark.parametrize(
    "question",
    [
        "how many days?",
        "how many days since christmas?",
        "how many days after christmas?",
        "how many days until my birthday?",
        "how long until dinner?",
        "how many days until christmas in london?",
        "when is christmas dinner?",
        "when is orthodox christmas?",
    ],
)
async def test_days_until_what_has_no_date_are_not_counted(
    hass: HomeAssistant, question: str
) -> None:
    talk = await _talk(hass, HOME)

    await talk.say(question)
    assert talk.results[-1].is_error


async def test_whether_a_near_day_is_a_weekday_is_answered_with_the_day(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-30T12:00:00+00:00")  # a Monday
    talk = await _talk(hass, HOME)

    assert await talk.say("is it monday today?") == "Monday, November 30, 2026"
    assert await talk.say("is tomorrow a friday?") == "Tuesday, December 1, 2026"
    for other in (
        "it is monday today",
        "tomorrow is friday",
        "do i have to work tomorrow friday?",
        "do we have power tomorrow friday?",
        "do i need monday tomorrow?",
        "is it monday tomorrow or tuesday?",
        "is it on monday?",
    ):
        await talk.say(other)
        assert talk.results[-1].is_error, other


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "what time is it in tokyo?", "It is 7:05 PM there."),
        ("de", "wie spät ist es in Tokio?", "Dort: Es ist 19:05"),
        ("es", "¿qué hora es en Tokio?", "Allí: Son las 7 y 5 de la tarde"),
        (
            "fr",
            "quelle heure est-il à Tokyo ?",
            "Là-bas\N{NO-BREAK SPACE}: Il est 19:05",
        ),
        ("it", "che ore sono a Tokyo?", "Lì: Sono le 19:05"),
        ("nl", "hoe laat is het in Tokio?", "Daar: Het is 19:05"),
        ("pl", "która godzina jest w Tokio?", "Tam: Jest godzina dziewiętnasta pięć"),
        ("pt", "que horas são em Tóquio?", "Lá: São 7 e 5"),
        ("sv", "vad är klockan i Tokyo?", "Där är klockan 19:05."),
        ("zh-Hans", "东京现在几点", "那里现在是傍晚7点05分。"),
    ],
)
async def test_the_time_in_another_zone_is_a_sentence(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    language: str,
    question: str,
    answer: str,
) -> None:
    freezer.move_to("2026-11-30T10:05:00+00:00")
    talk = await _talk(hass, HOME, language=language)

    assert await talk.say(question) == answer


async def test_german_windows_are_told_too(hass: HomeAssistant) -> None:
    talk = await _talk(hass, HOME + _CONTACTS, language="de")

    assert "Kitchen Window" in await talk.say("sind Fenster offen?")


async def test_a_french_word_for_two_kinds_of_covers_is_understood(
    hass: HomeAssistant,
) -> None:
    blind = "  - { name: Store du salon, id: cover.blind, state: open, attributes: { device_class: blind } }"
    talk = await _talk(hass, HOME + blind, language="fr")

    assert "Store du salon" in await talk.say("quels stores sont ouverts")


async def test_a_chat_tells_what_would_be_understood_and_a_satellite_does_not(
    hass: HomeAssistant,
) -> None:
    talk = await _talk(hass, HOME)
    at_satellite = Talk(hass, device_id="a-satellite", conversation_id="another-talk")

    assert (
        await talk.say("sing")
        == f"Sorry, I couldn't understand that. {sentence('common.spoken_understood_offline')}"
    )
    assert await at_satellite.say("sing") == "Sorry, I couldn't understand that"
    assert await at_satellite.say("what can you do?") == sentence("common.spoken_help")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("when is the garbage collection?", "Garbage collection is 2026-12-03"),
        ("what time is the city bus?", "City bus is 23:30"),
        ("when is the paper waste?", "Paper waste is in 3 days"),
        ("when is the hallway light?", None),
        ("when is the fridge?", None),
    ],
)
async def test_a_question_of_when_is_answered_by_what_tells_a_time(
    hass: HomeAssistant, question: str, answer: str | None
) -> None:
    talk = await _talk(hass, HOME)
    sensors = {
        "Garbage Collection": ("2026-12-03", "date"),
        "City Bus": ("23:30", "timestamp"),
        "Paper Waste": ("in 3 days", None),
        "Fridge": ("4.5", "temperature"),
    }
    for number, (name, (state, device_class)) in enumerate(sensors.items()):
        entity_id = f"sensor.number_{number}"
        attributes = {"friendly_name": name, "device_class": device_class}
        hass.states.async_set(entity_id, state, attributes)
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)

    heard = await talk.say(question)

    if answer:
        assert heard == answer
    else:
        assert talk.results[-1].is_error


_PLAYER = """
  - { name: TV, id: media_player.tv, area: hallway, state: "off", attributes: { supported_features: [PAUSE, PLAY] } }
"""


@in_one_home(
    ("language", "request", "answer"),
    [
        ("en", "pause the music", "Nothing is playing."),
        ("de", "Musik anhalten", "Es läuft nichts."),
        ("pl", "wstrzymaj muzykę", "Nic nie gra."),
    ],
)
async def test_nothing_that_plays_is_told_in_the_language(
    hass: HomeAssistant, language: str, request: str, answer: str
) -> None:
    talk = await _talk(hass, HOME + _PLAYER, language)

    assert answer in await talk.say(request)


async def test_a_broadcast_that_nothing_can_speak_is_not_done(
    hass: HomeAssistant,
) -> None:
    talk = await _talk(hass, HOME)
    assert await async_setup_component(hass, "assist_satellite", {})

    answer = await talk.say("broadcast that dinner is ready")

    assert answer == sentence("common.broadcast_nobody")


@in_one_home(
    ("language", "question", "answer"),
    [
        ("en", "what day is it today", "Wednesday, December 2, 2026"),
        ("zh-Hans", "今天星期几", "星期三"),
        ("sv", "vilken dag är det idag", "Onsdag"),
        ("de", "welcher Tag ist heute", "Es ist Mittwoch"),
    ],
)
async def test_today_is_told_with_its_weekday(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    language: str,
    question: str,
    answer: str,
) -> None:
    freezer.move_to("2026-12-02 20:00:00+00:00")
    talk = await _talk(hass, HOME, language)

    assert answer in await talk.say(question)


@in_one_home(
    ("language", "question", "answer"),
    [
        ("en", "is the counter lamp on", "No, off"),
        ("pt", "a counter lamp está ligada", "Não, desligado"),
        ("it", "la counter lamp è accesa", "No, è spento"),
        ("nl", "staat de counter lamp aan", "Nee, die is uit"),
    ],
)
async def test_a_state_is_told_in_the_language(
    hass: HomeAssistant, language: str, question: str, answer: str
) -> None:
    talk = await _talk(hass, HOME, language)

    assert await talk.say(question) == answer

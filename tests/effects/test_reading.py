"""A sentence that is read changes the things that it names, by its values, and nothing else."""

from collections.abc import Mapping, Sequence

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.components.light import ATTR_BRIGHTNESS
from homeassistant.const import ATTR_TEMPERATURE, UnitOfTemperature
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    ServiceKind,
)
from custom_components.chatterbox.internals.todo import items_on_list
from tests.support.one_home import in_one_home
from tests.support.talk import add_agent, move_into_the_demo_home, say, speech

LAMPS = ("light.kitchen_ceiling", "light.kitchen_counter", "light.kitchen_pendant")


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Return the demo's home with an agent without a model, and all lights of the kitchen off."""
    await move_into_the_demo_home(hass)
    await add_agent(
        hass, {CONF_KIND: ServiceKind.OFFLINE}, {CONF_LOCAL_COMMANDS: "first"}
    )
    await hass.services.async_call(
        "light", "turn_off", {"entity_id": LAMPS}, blocking=True
    )
    return hass


@in_one_home(
    "words",
    ["make the kitchen lights dimmer", "make the kitchen lights darker by 30 percent"],
    puts_back=True,
)
async def test_lights_that_are_off_are_not_dimmed(
    home: HomeAssistant, words: str
) -> None:
    await say(home, words)
    await home.async_block_till_done()
    assert [home.states.is_state(lamp, "off") for lamp in LAMPS] == [True] * len(LAMPS)


def brightness(home: HomeAssistant, lamp: str) -> int | None:
    """Return how bright a lamp is, from 1 to 255."""
    state = home.states.get(lamp)
    assert state
    return state.attributes.get(ATTR_BRIGHTNESS)


def temperature(home: HomeAssistant, heater: str) -> float | None:
    """Return the temperature that a heater is set to."""
    state = home.states.get(heater)
    assert state
    return state.attributes.get("temperature")


async def test_only_the_lights_that_are_on_become_dimmer(home: HomeAssistant) -> None:
    lamp = {"entity_id": LAMPS[0], "brightness_pct": 60}
    await home.services.async_call("light", "turn_on", lamp, blocking=True)

    await say(home, "make the kitchen lights dimmer")
    await home.async_block_till_done()

    assert [brightness(home, one) for one in LAMPS] == [102, None, None]


@in_one_home(
    ("words", "position", "moved_to"),
    [
        ("raise the bedroom curtains a little", 50, [70]),
        ("open the bedroom curtains a bit", 0, [20]),
        ("lower the bedroom curtains slightly", 50, [30]),
        ("close the bedroom curtains a bit", 10, [0]),
        ("open the bedroom curtains a bit", 100, []),
    ],
    puts_back=True,
)
async def test_what_opens_a_little_moves_by_a_step(
    home: HomeAssistant, words: str, position: int, moved_to: list[int]
) -> None:
    curtains = {"entity_id": "cover.bedroom_curtains", "position": position}
    await home.services.async_call(
        "cover", "set_cover_position", curtains, blocking=True
    )
    calls = async_capture_events(home, "call_service")

    await say(home, words)

    done = [
        (call.data["service"], call.data["service_data"].get("position"))
        for call in calls
    ]
    assert done == [("set_cover_position", one) for one in moved_to]


async def test_a_temperature_that_is_impossible_is_refused(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    answer = await say(home, "make the bedroom heater 50 degrees warmer")
    assert [call.data["service_data"][ATTR_TEMPERATURE] for call in calls] == [69]
    assert "not valid" in speech(answer)


@pytest.mark.parametrize(
    ("state", "attributes"),
    [
        ("unknown", {}),
        ("sunny", {}),
        ("sunny", {"temperature": float("nan")}),
        ("unavailable", {"temperature": 20}),
    ],
)
@pytest.mark.parametrize(
    "words",
    ["will it rain tomorrow", "what's the weather out there", "do i need an umbrella"],
)
async def test_weather_that_nobody_knows_is_not_told(
    home: HomeAssistant, state: str, attributes: dict[str, object], words: str
) -> None:
    home.states.async_set("weather.home", state, attributes)
    spoken_text = speech(await say(home, words))
    assert not spoken_text.startswith(("Yes", "No.", "Now"))


async def test_nothing_is_done_for_parts_of_a_sentence(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    for words in (
        "kitchen lights on and bedroom lights off",
        "turn on half the lights",
        "do the lights turn on",
    ):
        await say(home, words)
    await home.async_block_till_done()
    assert [call.data["service"] for call in calls] == []


async def actions_by_sentence(
    home: HomeAssistant, *sentences: str, language: str = "en", talk: str = "a-talk"
) -> Sequence[tuple[str, set[str]]]:
    """Say sentences in one conversation; return the actions of each, and the entities that they are for."""
    found: list[tuple[str, set[str]]] = []
    for words in sentences:
        calls = async_capture_events(home, "call_service")
        await say(home, words, talk, language=language)
        await home.async_block_till_done()
        own = [
            call.data
            for call in calls
            if call.data["domain"] not in {"homeassistant", "weather"}
        ]
        ids = {one for data in own for one in _ids(data["service_data"])}
        found.append((" ".join(sorted({str(data["service"]) for data in own})), ids))
    return found


def _ids(data: Mapping[str, object]) -> Sequence[str]:
    ids = data.get("entity_id")
    return [ids] if isinstance(ids, str) else ids if isinstance(ids, list) else []


@in_one_home(
    ("first", "following", "action", "ids"),
    [
        (
            "turn on the bedroom lights",
            "and the bathroom",
            "turn_on",
            {"light.bathroom"},
        ),
        ("turn on the bedroom lights", "the kitchen too", "turn_on", set(LAMPS)),
        (
            "open the bedroom curtains",
            "and in the kids room",
            "open_cover",
            {"cover.kids_room_blind"},
        ),
        ("turn on the floor lamp", "brighter", "turn_on", {"light.floor_lamp"}),
        ("turn on the floor lamp", "30 percent", "turn_on", {"light.floor_lamp"}),
        ("make the floor lamp brighter", "a bit more", "turn_on", {"light.floor_lamp"}),
        (
            "open the bedroom curtains a bit",
            "a bit more",
            "set_cover_position",
            {"cover.bedroom_curtains"},
        ),
        (
            "open the bedroom curtains a bit",
            "less",
            "set_cover_position",
            {"cover.bedroom_curtains"},
        ),
        ("open the bedroom curtains", "a bit more", "", set()),
        ("make the night light brighter", "less", "turn_on", {"light.night_light"}),
        (
            "turn on the floor lamp",
            "turn off the others",
            "turn_off",
            {"light.living_room_ceiling"},
        ),
        ("turn off the floor lamp", "and the tv", "turn_off", {"media_player.tv"}),
        ("dim the floor lamp", "and the tv", "", set()),
        ("turn on the floor lamp", "the kitchen", "", set()),
        ("turn on the floor lamp", "and the attic", "", set()),
        ("what's the weather", "and the kitchen", "", set()),
        ("turn off the floor lamp", "brighter", "", set()),
        ("what's the weather", "turn off the others", "", set()),
        (
            "turn on the bathroom fan and the bedroom fan",
            "turn off both",
            "turn_off",
            {"fan.bathroom", "fan.bedroom"},
        ),
        (
            "are the bathroom fan and the bedroom fan on?",
            "turn on both",
            "turn_on",
            {"fan.bathroom", "fan.bedroom"},
        ),
        (
            "turn off the fan",
            "turn on both",
            "turn_on",
            {"fan.bathroom", "fan.bedroom"},
        ),
        ("turn on the kitchen lights", "turn off both", "", set()),
        ("turn on the kitchen lights", "turn off all of them", "turn_off", set(LAMPS)),
        ("make the floor lamp brighter", "more in the kitchen", "turn_on", set(LAMPS)),
        ("turn on the tv", "more in the kitchen", "", set()),
    ],
    puts_back=True,
)
async def test_words_add_to_the_request_before(
    home: HomeAssistant, first: str, following: str, action: str, ids: set[str]
) -> None:
    talk = f"{first}, {following}"
    assert (await actions_by_sentence(home, first, following, talk=talk))[1] == (
        action,
        ids,
    )


@in_one_home(
    ("language", "first", "following"),
    [
        ("de", "mach das Licht in Bedroom an", "und in Bathroom"),
        ("fr", "allume les lumières de Bedroom", "et Bathroom"),
        ("es", "enciende las luces de Bedroom", "y también en Bathroom"),
        ("it", "accendi le luci in Bedroom", "e anche in Bathroom"),
        ("nl", "doe het licht in Bedroom aan", "en Bathroom ook"),
        ("pl", "włącz światła w Bedroom", "i Bathroom też"),
        ("pt", "acende as luzes de Bedroom", "e Bathroom também"),
        ("sv", "tänd lamporna i Bedroom", "och Bathroom också"),
        ("zh-Hans", "打开Bedroom的灯", "还有Bathroom"),
    ],
    puts_back=True,
)
async def test_they_do_in_other_languages(
    home: HomeAssistant, language: str, first: str, following: str
) -> None:
    assert (await actions_by_sentence(home, first, following, language=language))[
        1
    ] == ("turn_on", {"light.bathroom"})


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "the bedroom one"),
        ("en", "set the bedroom to 20"),
        ("en", "set the living room to 25"),
        ("es", "pon Bedroom a 20"),
        ("nl", "zet Bedroom op 20"),
        ("zh-Hans", "把Bedroom调到20"),
        ("fr", "ouvre Bedroom"),
        ("fr", "ouvre Kitchen"),
        ("fr", "ouvre Garage"),
    ],
)
async def test_a_room_alone_is_not_taken_for_entities_that_nobody_named(
    home: HomeAssistant, language: str, words: str
) -> None:
    assert await actions_by_sentence(home, words, language=language) == [("", set())]


async def test_a_tv_that_is_turned_off_is_not_muted(home: HomeAssistant) -> None:
    assert await actions_by_sentence(home, "spegni la tv", language="it") == [
        ("turn_off", {"media_player.tv"})
    ]


@in_one_home(
    "words",
    [
        "turn on the floor lamp and dim it",
        "turn on the bedroom fan and make it slower",
        "open the bedroom curtains and close them a bit",
        "start movie night and dim the floor lamp",
        "turn on the floor lamp and is the floor lamp on?",
    ],
    puts_back=True,
)
async def test_nothing_is_composed_from_states_that_the_sentence_changes(
    home: HomeAssistant, words: str
) -> None:
    calls = async_capture_events(home, "call_service")
    answer = speech(await say(home, words))
    assert calls == []
    assert " is " not in answer


@in_one_home(
    ("language", "words", "is_done"),
    [
        ("en", "add milk and don't add eggs to the shopping list", False),
        ("en", "add milk without sugar to the shopping list", True),
        ("de", "setz keine Milch auf die Liste Shopping List", False),
        ("fr", "ajoute du lait et pas de pain à la liste Shopping List", False),
        ("nl", "zet geen melk op Shopping List", False),
        ("en", "play no music on the living room speaker", False),
        ("nl", "speel geen muziek op Living Room Speaker", False),
        ("en", "play Maple Leaf Rag", True),
    ],
    puts_back=True,
)
async def test_a_text_that_may_be_anything_holds_no_negation(
    home: HomeAssistant, language: str, words: str, *, is_done: bool
) -> None:
    calls = async_capture_events(home, "call_service")
    before = items_on_list(home, "todo.shopping_list")
    await say(home, words, language=language)
    after = items_on_list(home, "todo.shopping_list")
    assert (bool(calls) or after != before) is is_done


async def test_an_entity_that_cannot_do_it_is_not_said_to_be_unknown(
    home: HomeAssistant,
) -> None:
    assert "know anything" not in speech(await say(home, "lock the garage door"))


async def test_lights_that_are_turned_on_are_all_dimmed_to_a_value(
    home: HomeAssistant,
) -> None:
    lit = {"entity_id": LAMPS[0], "brightness_pct": 100}
    await home.services.async_call("light", "turn_on", lit, blocking=True)

    await say(home, "turn on the kitchen lights and dim them to 20 percent")
    await home.async_block_till_done()

    assert [brightness(home, one) for one in LAMPS] == [51, 51, 51]


async def test_a_question_and_a_command_are_both_answered(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    answer = speech(await say(home, "what's the weather and turn off the tv"))
    assert answer == "Now it is partly cloudy, 14.2 °. Turned off the media player"
    assert {call.data["service"] for call in calls} == {"turn_off"}


@in_one_home(
    ("sentences", "answer"),
    [
        (["what's the weather today", "and tomorrow?"], "will be rainy"),
        (["what's the weather at 8", "and tomorrow?"], "will be rainy"),
        (["how warm is it in the kids room?"], "19.5"),
        (["dim the bedroom lights"], "Bedroom light is off; Bedside lamp is off"),
        (
            ["it's too hot"],
            "Which one: Bathroom Floor Heating, Bedroom Heater, Living Room Thermostat?",
        ),
        (
            ["set a timer for the eggs for 6 minutes", "how much time is left?"],
            ": eggs.",
        ),
        (["turn on the fan", "all of them"], "Turned on the fan"),
        (
            ["i'm cold"],
            "Which one: Bathroom Floor Heating, Bedroom Heater, Living Room Thermostat?",
        ),
        (["turn on the light"], "Garage, Garden, Hallway, Kids Room, Kitchen"),
        (["did i lock the front door?"], "Yes"),
        (["did i turn off the desk lamp?"], "No"),
        (["are the lights off?"], "No"),
        (["is anything still on?"], "Yes"),
        (["who is at home"], "I know nobody here"),
        (["are the lights on in the office", "and in the bathroom?"], "No"),
        (["is the bedroom light on", "and the desk lamp?"], "Yes"),
        (["how warm is it in the kids room", "and in the bathroom?"], "23.0 degrees"),
        (["what's the weather", "and in the kids room?"], "19.5"),
        (["is the kitchen window open", "is it open in the kitchen?"], "understand"),
        (["is it open in the kitchen?"], "understand"),
        (["open the garage door a bit"], "Garage Door can only be opened and closed"),
        (["pause the vacuum"], "I can start Robot Vacuum or send it home"),
        (["turn off the music"], "Nothing is playing."),
        (["good night"], "Good night."),
        (["thank you"], "You're welcome."),
        (["add eggs"], "Which one: Chores, Shopping List?"),
        (["add eggs", "shopping list"], "Added eggs"),
        (["is milk on my list"], "Yes"),
        (["what is on the chores list", "is milk on the list"], "Yes"),
        (["is tea on my list"], "No"),
        (["set the thermostat to 70 fahrenheit"], "21.0 degrees"),
    ],
    puts_back=True,
)
async def test_what_is_asked_is_told(
    home: HomeAssistant, sentences: list[str], answer: str
) -> None:
    assert answer in [speech(await say(home, words)) for words in sentences][-1]


@in_one_home(
    ("language", "request", "answer", "degrees"),
    [
        ("en", "set the heating to 23", "the bedroom heater", 23),
        ("en", "set the heating to 23", "bedroom", 23),
        ("en", "make the heating warmer", "the bedroom heater, please", 20),
        ("en", "i'm cold", "the bedroom heater", 20),
        ("en", "okay… set the heating to 23", "bedroom", 23),
        ("en", "set the heating to 23", "what time is it?", 19),
        ("en", "set the heating to 23", "the floor lamp", 19),
        ("en", "set the heating to 23", "kitchen", 19),
        ("en", "set the heating to 23", "turn off the desk lamp", 19),
        ("de", "stell die Heizung auf 23", "Bedroom Heater", 23),
        ("de", "stell die Heizung auf 23", "Bedroom Licht aus", 19),
        ("zh-Hans", "把暖气调到23度", "Bedroom Heater", 23),
    ],
    puts_back=True,
)
async def test_the_one_that_is_chosen_is_set_as_it_was_wanted(
    home: HomeAssistant, language: str, request: str, answer: str, degrees: float
) -> None:
    heaters = sorted(home.states.async_entity_ids("climate"))
    before = [temperature(home, one) for one in heaters]

    talk = f"{request} {answer}"
    question = speech(await say(home, request, talk, language=language))
    assert question.endswith(("?", "\uff1f"))
    assert [temperature(home, one) for one in heaters] == before
    heard = speech(await say(home, answer, talk, language=language))
    await home.async_block_till_done()

    assert [temperature(home, one) for one in heaters] == [
        before[0],
        degrees,
        before[2],
    ], heard


@in_one_home(
    ("now", "words", "speed"),
    [
        (50, "make the bedroom fan slower", 25),
        (25, "make the bedroom fan slower", 25),
        (50, "turn up the bedroom fan", 75),
        (100, "make the bedroom fan faster", 100),
    ],
    puts_back=True,
)
async def test_a_fan_goes_by_its_steps(
    home: HomeAssistant, now: int, words: str, speed: int
) -> None:
    fan = {"entity_id": "fan.bedroom", "percentage": now}
    await home.services.async_call("fan", "turn_on", fan, blocking=True)
    await say(home, words)
    await home.async_block_till_done()
    state = home.states.get("fan.bedroom")
    assert state
    assert state.attributes["percentage"] == speed


async def test_of_several_lights_those_that_cannot_be_dimmed_are_left_out(
    home: HomeAssistant,
) -> None:
    await home.services.async_call(
        "light", "turn_on", {"entity_id": "all"}, blocking=True
    )
    answer = await say(home, "dim the lights")
    assert "doesn't support" not in speech(answer)


async def test_an_item_of_a_list_may_be_for_today(home: HomeAssistant) -> None:
    await say(home, "add buy groceries to my chores for today")
    await home.async_block_till_done()
    assert "Buy groceries" in [
        item.summary for item in items_on_list(home, "todo.chores")
    ]


@in_one_home(
    ("language", "words", "answer"),
    [
        ("en", "did i close the blinds?", "are not closed"),
        ("en", "did i turn off the lights?", "are not off"),
        ("es", "¿he cerrado las persianas?", "el estado cerrado"),
        ("de", "dimme Desk Lamp", "ist aus"),
        ("fr", "tamise Desk Lamp", "est éteint"),
        ("zh-Hans", "把Desk Lamp调暗", "关"),
    ],
    puts_back=True,
)
async def test_a_state_is_told_in_the_words_of_the_language(
    home: HomeAssistant, language: str, words: str, answer: str
) -> None:
    await home.services.async_call(
        "light", "turn_off", {"entity_id": "light.desk_lamp"}, blocking=True
    )
    assert answer in speech(await say(home, words, language=language))


@in_one_home(
    "words", ["play some Satie now", "i want to hear Satie please"], puts_back=True
)
async def test_idle_words_are_no_part_of_a_title(
    home: HomeAssistant, words: str
) -> None:
    calls = async_capture_events(home, "call_service")
    await say(home, words)
    await home.async_block_till_done()
    assert "play_media" in [call.data["service"] for call in calls]


@in_one_home("words", ["movie night", "start the movie night scene"], puts_back=True)
async def test_a_scene_is_named_without_a_verb(home: HomeAssistant, words: str) -> None:
    assert (
        speech(await say(home, words))
        == "That needs confirmation, but there is nobody to ask."
    )


async def test_the_same_command_for_later_is_one(
    home: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-12-02 10:00:10+00:00")
    await say(home, "turn off the tv in 20 minutes")
    freezer.tick(20)
    assert speech(await say(home, "turn off the tv in 20 minutes")).startswith(
        "That is planned already."
    )


@in_one_home(
    ("language", "timer", "words", "answer"),
    [
        (
            "en",
            "set a timer for the eggs for 5 minutes",
            "how long is left for the eggs?",
            ": eggs.",
        ),
        (
            "de",
            "stell einen Timer für die Eier auf 5 Minuten",
            "wie lange brauchen die Eier noch",
            ": Eier.",
        ),
        (
            "pl",
            "nastaw minutnik na 5 minut na jajka",
            "ile zostało na jajka?",
            ": jajka.",
        ),
        (
            "en",
            "set a timer for the eggs for 5 minutes",
            "how long for the pasta?",
            "understand",
        ),
    ],
    puts_back=True,
)
async def test_a_timer_is_asked_about_by_its_name_alone(
    home: HomeAssistant, language: str, timer: str, words: str, answer: str
) -> None:
    await say(home, timer, language=language)
    assert answer in speech(await say(home, words, language=language))


async def test_a_timer_is_found_by_the_first_letters_of_its_name(
    home: HomeAssistant,
) -> None:
    await say(home, "stell einen Timer für die Nudeln auf 9 Minuten", language="de")
    for words in (
        "wie lange läuft der Nudeltimer noch?",
        "wie lange läuft der Pizzatimer noch?",
    ):
        assert ": Nudeln." in speech(await say(home, words, language="de"))


@pytest.mark.parametrize(
    ("unit", "words", "set_to"),
    [
        (UnitOfTemperature.CELSIUS, "set the bedroom heater to 70 fahrenheit", 21.0),
        (UnitOfTemperature.CELSIUS, "set the bedroom heater to 20 celsius", 20.0),
        (UnitOfTemperature.FAHRENHEIT, "set the bedroom heater to 20 celsius", 68.0),
        (UnitOfTemperature.CELSIUS, "make the bedroom 9 fahrenheit warmer", 24.0),
    ],
)
async def test_a_temperature_may_be_said_in_another_unit(
    home: HomeAssistant, unit: str, words: str, set_to: float
) -> None:
    await home.config.async_update(
        unit_system="metric" if unit == UnitOfTemperature.CELSIUS else "us_customary"
    )
    calls = async_capture_events(home, "call_service")
    await say(home, words)
    assert [call.data["service_data"][ATTR_TEMPERATURE] for call in calls] == [set_to]


async def test_the_weather_of_an_hour_is_told(
    freezer: FrozenDateTimeFactory, home: HomeAssistant
) -> None:
    freezer.move_to("2026-12-02 10:00:00+00:00")
    at_three = speech(await say(home, "what's the weather at 3 pm today"))
    assert "three" in at_three
    assert "it will be cloudy" in at_three
    tomorrow = speech(await say(home, "will it rain at 5 pm tomorrow?"))
    assert "Thursday will be rainy" in tomorrow


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("will it be over ten degrees tomorrow", "Yes. Thursday"),
        ("is it going to be over thirty degrees today", "No. Wednesday"),
        ("will the temperature go below zero tonight", "No. Wednesday"),
        ("is it going to be under eight degrees on friday", "Yes. Friday"),
        ("is it colder than ten degrees outside", "No. Now"),
        ("is it over ten degrees at three pm", "Yes. At three"),
        ("it's going to rain tomorrow isn't it", "Yes. Thursday"),
    ],
)
async def test_whether_the_weather_is_so_is_answered_yes_or_no(
    freezer: FrozenDateTimeFactory, home: HomeAssistant, words: str, answer: str
) -> None:
    freezer.move_to("2026-12-02 10:00:00+00:00")
    assert speech(await say(home, words)).startswith(answer)


async def test_an_accent_tells_a_time_from_a_temperature(
    freezer: FrozenDateTimeFactory, home: HomeAssistant
) -> None:
    freezer.move_to("2026-12-02 10:00:00+00:00")
    for words, answer in (
        ("põe Bedroom a 20", "não percebi"),
        ("acende Desk Lamp à 1 da tarde", "às 13"),
    ):
        assert answer in speech(await say(home, words, language="pt"))


async def test_children_who_go_to_bed_are_no_music(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    await say(home, "metti a letto i bambini", language="it")
    assert [call.data["service"] for call in calls] == []


async def test_what_was_put_on_a_list_is_told(home: HomeAssistant) -> None:
    words = "add milk, eggs, bread and butter to the shopping list"
    heard = speech(await say(home, words))
    assert [one for one in ("milk", "eggs", "bread", "butter") if one in heard] == [
        *("milk", "eggs", "bread", "butter")
    ]


async def test_of_many_what_cannot_be_reached_is_not_called_done(
    home: HomeAssistant,
) -> None:
    home.states.async_set("light.glow", "unavailable", {"friendly_name": "Glow"})
    async_expose_entity(home, "conversation", "light.glow", should_expose=True)
    heard = speech(await say(home, "everything off"))
    done, _, undone = heard.partition("\n")
    assert done.startswith("Done: ")
    assert "Glow" not in done
    assert "Glow" in undone


async def test_a_device_that_is_its_own_mode_is_no_error(home: HomeAssistant) -> None:
    heard = speech(await say(home, "set heating to heat"))
    assert "wrong" not in heard


@in_one_home(
    ("language", "words", "answer"),
    [
        ("en", "everything off", "Done: Bathroom Floor Heating, Bedroom Heater, "),
        (
            "de",
            "schalte alles aus",
            "Erledigt: Bathroom Floor Heating, Bedroom Heater, ",
        ),
    ],
    puts_back=True,
)
async def test_of_many_a_few_are_named_and_the_others_counted(
    home: HomeAssistant, language: str, words: str, answer: str
) -> None:
    heard = speech(await say(home, words, language=language))
    await home.async_block_till_done()
    assert heard.startswith(answer)
    assert len(heard) < 150
    assert {one.state for one in home.states.async_all("light")} == {"off"}

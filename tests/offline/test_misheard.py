"""Names and beginnings that sound alike are guessed, and no others."""

from collections.abc import Sequence
from cProfile import Profile

import pytest
from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    ConversationInput,
)
from homeassistant.core import Context, HomeAssistant

from custom_components.chatterbox.effects.effect import NOTHING
from custom_components.chatterbox.home.entities import (
    ExposedEntity,
    Home,
    async_get_home,
)
from custom_components.chatterbox.offline.misheard import async_meant, guesses
from custom_components.chatterbox.offline.sentence_effects import async_sentence_effects
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    return hass


def likeliest(hass: HomeAssistant, text: str, language: str = "en") -> Sequence[str]:
    return [
        sentence
        for sentence, _ in guesses(async_get_home(hass, CONVERSATION), text, language)
    ]


@in_one_home(
    ("text", "meant"),
    [
        ("Turn on the 4 lamp.", "Turn on the Floor Lamp."),
        ("turn on movie light", "turn on Movie Night"),
        ("turn off the tele", "turn off the Telly"),
        ("turn on the Veslam", "turn on the Desk Lamp"),
        (
            "Set the bets I'd lamp to 80% brightness.",
            "Set the Bedside Lamp to 80% brightness.",
        ),
        ("turn on the spring cord", "turn on the Sprinkler"),
        ("and milk to the shopping list.", "add milk to the shopping list."),
        ("at the bedroom curtains to 50%", "set the bedroom curtains to 50%"),
        (
            "turn on the kitchen lights at 30 percent",
            "set the kitchen lights at 30 percent",
        ),
    ],
)
async def test_what_sounds_alike_is_guessed(
    home: HomeAssistant, text: str, meant: str
) -> None:
    assert meant in likeliest(home, text)


@in_one_home(
    "text",
    [
        "raise the bedroom heater 20 cm",
        "raise the desk to 110 cm",
        "turn the reading lamp up by 2 degrees",
    ],
)
async def test_nothing_is_done_that_has_no_such_measure(
    home: HomeAssistant, text: str
) -> None:
    heard = ConversationInput(text, Context(), None, None, None, "en", "agent")
    assert await async_meant(home, heard) == ""
    assert await async_sentence_effects(home, heard) == NOTHING


@in_one_home(
    ("text", "name"),
    [
        ("Turn on the guest lamp.", "Desk Lamp"),
        ("turn on the kitchen fan", "Bathroom Fan"),
        ("turn on the office heater", "Bedroom Heater"),
        ("turn on the light", "Night Light"),
        ("turn on the front meter", "Bedroom Heater"),
        ("turn on the camp side", "Desk Lamp"),
    ],
)
async def test_another_name_is_not_guessed(
    home: HomeAssistant, text: str, name: str
) -> None:
    assert not [sentence for sentence in likeliest(home, text) if name in sentence]


@in_one_home(
    ("text", "language"),
    [
        ("close the windows", "en"),
        ("mach die Fenster zu", "de"),
        ("ferme les fenêtres", "fr"),
    ],
)
async def test_nothing_is_guessed_from_words_that_are_known(
    home: HomeAssistant, text: str, language: str
) -> None:
    heard = ConversationInput(text, Context(), None, None, None, language, "agent")
    assert await async_meant(home, heard) == ""


@in_one_home(
    ("text", "time"),
    [
        ("turn off the heater at midnight", "at midnight"),
        ("turn on the 4 lamp in ten minutes", "in ten minutes"),
        ("turn off the tele tomorrow evening", "tomorrow evening"),
    ],
)
async def test_no_name_takes_the_place_of_a_time(
    home: HomeAssistant, text: str, time: str
) -> None:
    assert all(sentence.endswith(time) for sentence in likeliest(home, text))


@in_one_home(
    ("text", "language"),
    [
        ("light", "en"),
        ("word " * 25, "en"),
        ("打开落地灯", "zh-Hans"),
        ("turn on 4 lamp", "xx"),
    ],
)
async def test_nothing_is_guessed_from_one_word_from_many_or_in_other_languages(
    home: HomeAssistant, text: str, language: str
) -> None:
    assert not guesses(async_get_home(home, CONVERSATION), text, language)


@in_one_home(
    ("text", "language"),
    [
        ("don't turn on the 4 lamp", "en"),
        ("no enciendas Floor Lamp", "es"),
        ("não desligues Floor Lamp", "pt"),
        ("n'allume pas Flor Lamp", "fr"),
    ],
)
async def test_nothing_is_guessed_from_a_prohibition(
    home: HomeAssistant, text: str, language: str
) -> None:
    assert not likeliest(home, text, language)


NAMES = [
    f"{room} {kind} {number}"
    for room in ("kitchen", "attic", "garden")
    for kind in ("lamp", "blinds", "desk light", "fan", "door")
    for number in range(20)
]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("turn on the vessalam in the kitchn pleese now", "en"),
        ("schalte die dekenlampe im kuchn hau", "de"),
    ],
)
def test_of_many_names_few_are_compared_letter_by_letter(
    text: str, language: str
) -> None:
    entities = [
        ExposedEntity(f"light.{one}", "light", (name,), None, name, ())
        for one, name in enumerate(NAMES)
    ]
    home = Home((), (), tuple(entities))
    assert len(NAMES) == 300

    profile = Profile()
    with profile:
        assert guesses(home, text, language)

    profile.create_stats()
    compared = sum(
        calls[0]
        for place, calls in profile.stats.items()
        if place[2] == "get_matching_blocks"
    )
    assert 0 < compared < 10 * len(NAMES), (
        "each name with each span would be 100 times for each"
    )

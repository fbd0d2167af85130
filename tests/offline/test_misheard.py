"""Names and beginnings that sound alike are guessed, and no others."""

from collections.abc import Sequence

import pytest
from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.home.entities import async_get_home
from custom_components.chatterbox.offline.misheard import guesses
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    return hass


def likeliest(hass: HomeAssistant, text: str, language: str = "en") -> Sequence[str]:
    return [sentence for sentence, _ in guesses(async_get_home(hass, CONVERSATION), text, language)]


@in_one_home(
    ("text", "meant"),
    [
        ("Turn on the 4 lamp.", "Turn on the Floor Lamp."),
        ("turn on movie light", "turn on Movie Night"),
        ("turn off the tele", "turn off the Telly"),
        ("turn on the Veslam", "turn on the Desk Lamp"),
        ("Set the bets I'd lamp to 80% brightness.", "Set the Bedside Lamp to 80% brightness."),
        ("turn on the spring cord", "turn on the Sprinkler"),
        ("and milk to the shopping list.", "add milk to the shopping list."),
        ("at the bedroom curtains to 50%", "set the bedroom curtains to 50%"),
    ],
)
async def test_what_sounds_alike_is_guessed(home: HomeAssistant, text: str, meant: str) -> None:
    assert meant in likeliest(home, text)


@in_one_home(
    ("text", "name"),
    [
        ("Turn on the guest lamp.", "Desk Lamp"),
        ("turn on the kitchen fan", "Bathroom Fan"),
        ("turn on the office heater", "Bedroom Heater"),
        ("turn on the light", "Night Light"),
    ],
)
async def test_another_name_is_not_guessed(home: HomeAssistant, text: str, name: str) -> None:
    assert not [sentence for sentence in likeliest(home, text) if name in sentence]


@in_one_home(
    ("text", "language"), [("light", "en"), ("word " * 25, "en"), ("打开落地灯", "zh-Hans"), ("turn on 4 lamp", "xx")]
)
async def test_nothing_is_guessed_from_one_word_from_many_or_in_other_languages(
    home: HomeAssistant, text: str, language: str
) -> None:
    assert not guesses(async_get_home(home, CONVERSATION), text, language)

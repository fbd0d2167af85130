"""Messages to be spoken are understood in eleven languages, with those that are to hear them."""

import pytest
from homeassistant.components.conversation import DOMAIN
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from pydantic import BaseModel

from custom_components.chatterbox.agent.text import read_data_file
from custom_components.chatterbox.effects.reading import async_spoken_message
from custom_components.chatterbox.nlu.messages import Listeners, SpokenMessage
from tests.demo_house.move_in import move_in
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: upstairs, name: Upstairs }
areas:
  - { id: kitchen, name: Kitchen, aliases: [Küche, cocina, cuisine, cucina, keuken, kuchnia, cozinha, köket, 厨房] }
  - { id: kids_room, name: Kids Room, floor: upstairs, aliases: [Kinderzimmer] }
  - { id: office, name: Office, floor: upstairs }
entities:
  - { name: Desk Lamp, id: light.desk_lamp, area: office }
"""


class Message(BaseModel):
    """A sentence, and the message in it."""

    language: str
    text: str
    message: str
    to: list[str] = []


class Sentences(BaseModel):
    """Sentences with and without messages."""

    messages: list[Message]
    others: dict[str, list[str]]


SENTENCES = read_data_file(__file__, Sentences, "messages.toml")


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    for name in ("Anna", "Bob"):
        entity_id = f"person.{name.lower()}"
        hass.states.async_set(entity_id, "home", {"friendly_name": name})
        async_expose_entity(hass, DOMAIN, entity_id, should_expose=True)
    return hass


@pytest.mark.usefixtures("home")
@in_one_home("expected", SENTENCES.messages)
async def test_a_message_is_understood(hass: HomeAssistant, expected: Message) -> None:
    to = frozenset(expected.to)
    people = frozenset(one for one in to if one.startswith("person."))

    found = await async_spoken_message(hass, expected.text, expected.language)

    assert found == SpokenMessage(expected.message, Listeners(to - people, people))


@pytest.mark.usefixtures("home")
@in_one_home(
    ("language", "text"),
    [(code, text) for code, texts in SENTENCES.others.items() for text in texts],
)
async def test_other_sentences_are_none(
    hass: HomeAssistant, language: str, text: str
) -> None:
    assert await async_spoken_message(hass, text, language) is None

"""Which requests Home Assistant's own understanding recognizes with certainty."""

import pytest
from homeassistant.components import automation, conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.recognition import (
    RecognizedRequest,
    async_recognize,
)
from custom_components.chatterbox.settings.agent import RequestKind
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import satellite
from tests.support.one_home import in_one_home

HOME = """
areas:
  - { id: kitchen, name: Kitchen }
  - { id: hallway, name: Hallway }
  - { id: garage, name: Garage }
entities:
  - { name: Kitchen Ceiling, id: light.kitchen_ceiling, area: kitchen, state: "off" }
  - { name: Counter Lamp, id: light.counter, area: kitchen, state: "off" }
  - { name: Front Door, id: lock.front_door, area: hallway, state: locked }
  - { name: Back Door, id: lock.back_door, area: hallway, state: locked }
  - { name: Back Door, id: binary_sensor.back_door, area: hallway, state: "on", attributes: { device_class: door } }
  - { name: Fan, id: fan.kitchen, area: kitchen, state: "off" }
  - { name: Fan, id: fan.hallway, area: hallway, state: "off" }
  - { name: Shade, id: cover.shade, area: hallway, state: closed, attributes: { device_class: blind } }
  - { name: Roof, id: cover.roof, area: kitchen, state: closed, attributes: { device_class: window } }
  - { name: Skylight, id: binary_sensor.skylight, area: kitchen, state: "on", attributes: { device_class: window } }
  - { name: Groceries, id: todo.groceries }
  - { name: Lista de la compra, id: todo.compra }
  - name: Here
    id: weather.here
    state: sunny
    attributes: { temperature: 14 }
"""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    for domain in ("person", "media_player"):
        assert await async_setup_component(hass, domain, {})
    await move_in(hass, HOME)
    return hass


async def recognized(
    hass: HomeAssistant, text: str, language: str = "en", device_id: str | None = None
) -> RecognizedRequest | None:
    agent = conversation.HOME_ASSISTANT_AGENT
    user_input = ConversationInput(
        text, Context(), None, device_id, None, language, agent
    )
    return await async_recognize(hass, user_input)


@in_one_home(
    ("text", "intent"),
    [
        ("turn on the counter lamp", "HassTurnOn"),
        ("Please turn on the counter lamp!", "HassTurnOn"),
        ("turn off the kitchen lights", "HassTurnOff"),
        ("turn off all the lights", "HassTurnOff"),
        ("unlock the front door", "HassTurnOff"),
        ("set the counter lamp to 50%", "HassLightSet"),
        ("set a timer for 5 minutes", "HassStartTimer"),
    ],
)
async def test_a_command_that_is_matched_word_for_word_is_recognized(
    home: HomeAssistant, text: str, intent: str
) -> None:
    request = await recognized(home, text)

    assert request is not None
    assert (request.intent, request.is_question, request.kind) == (intent, False, None)


@in_one_home(
    ("text", "intent"),
    [
        ("is the front door locked?", "HassGetState"),
        ("is the front door locked", "HassGetState"),
        ("which lights are on?", "HassGetState"),
        ("are all lights off?", "HassGetState"),
        ("what time is it?", "HassGetCurrentTime"),
    ],
)
async def test_a_question_about_state_is_recognized(
    home: HomeAssistant, text: str, intent: str
) -> None:
    assert await recognized(home, text) == RecognizedRequest(intent, is_question=True)


async def test_another_language_has_its_own_sentences(home: HomeAssistant) -> None:
    text = "schalte die Counter Lamp ein"

    assert await recognized(home, text, "de") == RecognizedRequest(
        "HassTurnOn", is_question=False
    )
    assert await recognized(home, text, "en") is None
    assert await recognized(home, text, "tlh") is None
    assert await recognized(home, "toutes les lumières éteintes", "fr") is None
    assert (
        await recognized(home, "toutes les lumières sont éteintes ?", "fr") is not None
    )


@in_one_home(
    "text",
    [
        "turn it off again",  # only the recognizer that guesses knows what "it" is
        "turn on the conter lamp",
        "turn on the counter lamp and tell me a joke",
        "turn on the drawbridge",
        "turn on the lights in the garage",  # there are none
        "unlock the back door",  # a lock and a sensor
        "turn on the fan",  # one of two
        # asked of the covers, while a sensor tells of another window
        "are any windows open?",
        "are any curtains open?",
        "all lights off",  # Home Assistant's sentences take it for a question
        "all the lights off please",
        "all lights on",
        "who is Anna",
        "set a 5 minute timer for pizza and turn on the counter lamp",
        "tell me a joke in 5 minutes",
        "turn on the counter lamp in 5 minutes",
        "add eggs to the shopping list",  # there is none
        "never mind",
        "hello",
    ],
)
async def test_what_may_mean_something_else_is_not_certain(
    home: HomeAssistant, text: str
) -> None:
    assert await recognized(home, text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what's the weather?", RequestKind.WEATHER),
        ("add milk and eggs to groceries", RequestKind.LISTS),
    ],
)
async def test_a_kind_of_request_that_models_answer_better_is_named(
    home: HomeAssistant, text: str, kind: RequestKind
) -> None:
    request = await recognized(home, text)

    assert request is not None
    assert request.kind is kind


async def test_people_are_asked_for_by_a_kind_of_their_own(home: HomeAssistant) -> None:
    home.states.async_set("person.anna", "home", {"friendly_name": "Anna"})
    async_expose_entity(home, conversation.DOMAIN, "person.anna", should_expose=True)

    assert await recognized(home, "who is at home?") == RecognizedRequest(
        "HassGetState", is_question=True, kind=RequestKind.PEOPLE
    )


async def test_the_room_of_the_speaker_tells_namesakes_apart(
    home: HomeAssistant,
) -> None:
    in_the_kitchen = satellite(home, "kitchen")

    assert (
        await recognized(home, "turn on the fan", device_id=in_the_kitchen) is not None
    )
    assert (
        await recognized(home, "turn on the lights", device_id=in_the_kitchen)
        is not None
    )
    assert await recognized(home, "open the blinds", device_id=in_the_kitchen) is None


async def test_names_that_are_not_exposed_are_not_recognized(
    home: HomeAssistant,
) -> None:
    async_expose_entity(home, conversation.DOMAIN, "light.counter", should_expose=False)

    assert await recognized(home, "turn on the counter lamp") is None


async def test_a_sentence_trigger_is_left_to_its_automation(
    home: HomeAssistant,
) -> None:
    trigger = {"platform": "conversation", "command": "turn on the counter lamp"}
    config = {"alias": "Lamp", "trigger": [trigger], "action": []}
    assert await async_setup_component(
        home, automation.DOMAIN, {automation.DOMAIN: [config]}
    )

    assert await recognized(home, "turn on the counter lamp") is None


async def test_a_sentence_of_the_owner_is_recognized_as_its_intent(
    hass: HomeAssistant,
) -> None:
    script = {
        "Dragons": {"action": [{"event": "dragons"}], "speech": {"text": "They come."}}
    }
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "intent_script", {"intent_script": script})
    own = {"intents": {"Dragons": ["release the dragons"]}}
    assert await async_setup_component(
        hass, conversation.DOMAIN, {conversation.DOMAIN: own}
    )

    assert await recognized(hass, "release the dragons") == RecognizedRequest(
        "Dragons", is_question=False
    )

"""Without a model, misheard requests are offered, unknown names are told, and no text of an exception is spoken."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.offline.misheard import async_meant
from tests.support.config_entries import offline_entry, prepare, server_entry, set_up
from tests.support.llm_apis import satellite
from tests.support.one_home import in_one_home
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, move_into_the_demo_home, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.fixture
async def kitchen(hass: HomeAssistant) -> str:
    """Return the satellite in the kitchen of the demo home."""
    await prepare(hass)
    await move_into_the_demo_home(hass)
    return satellite(hass, "kitchen")


@pytest.fixture
async def offline(hass: HomeAssistant, kitchen: str) -> str:
    """Return the same, with an agent that has no model."""
    await set_up(hass, offline_entry())
    return kitchen


async def answer(
    hass: HomeAssistant, satellite_id: str | None, text: str, talk: str = ""
) -> str:
    """Return the answer, in a new conversation unless its id is given."""
    result = await conversation.async_converse(
        hass, text, talk or text, Context(), "en", AGENT, satellite_id
    )
    await hass.async_block_till_done()
    return speech(result)


@in_one_home(
    ("text", "question"),
    [
        ("Turn on the 4 lamp.", "Turn on the Floor Lamp in the Living Room?"),
        ("turn off the tele", "Turn off the TV in the Living Room?"),
        ("Open the grise door.", "Open the Garage Door?"),
        ("turn on the spring cord", "Open the Sprinkler in the Garden?"),
        (
            "and milk to the shopping list",
            "Add to-do list item: the Shopping List (milk)?",
        ),
    ],
)
async def test_a_command_that_sounds_alike_is_asked_about(
    hass: HomeAssistant, offline: str, text: str, question: str
) -> None:
    for waiting in async_get_approvals(hass).waiting:
        async_get_approvals(hass).drop(waiting.id)

    assert await answer(hass, offline, text) == question

    assert len(async_get_approvals(hass).waiting) == 1


@in_one_home("text", ["schließe die Haustu hau", "schließe die Haustuhap"])
async def test_of_a_door_no_opposite_is_guessed(
    hass: HomeAssistant, offline: str, text: str
) -> None:
    """It may have been "auf", which unlocks, or "ab", which locks."""
    er.async_get(hass).async_update_entity("lock.front_door", aliases=["Haustür"])

    assert not await async_meant(
        hass, ConversationInput(text, Context(), None, offline, None, "de", AGENT)
    )


async def test_a_yes_does_what_was_asked(hass: HomeAssistant, offline: str) -> None:
    await answer(hass, offline, "Set the 4 lamp to 50%.", "a-talk")
    assert hass.states.is_state("light.floor_lamp", "off")

    await answer(hass, offline, "yes", "a-talk")

    lamp = hass.states.get("light.floor_lamp")
    assert lamp
    assert lamp.attributes["brightness"] == 128
    assert hass.states.is_state("light.kitchen_ceiling", "off")


@in_one_home(
    ("text", "expected"),
    [
        (
            "Turn on the guest lamp.",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "turn on the guest lamp in the kitchen",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "turn off the kitchen lights and the guest lamp",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "turn on the guest lamp in five minutes",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "turn on the guest lamp at nine in the evening",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "every day at sunset turn on the guest lamp",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        (
            "when the front door opens turn on the guest lamp",
            "I don't know anything called guest lamp. There is: Bedside Lamp, Desk Lamp, Floor Lamp.",
        ),
        ("make the eye tight blue", "I don't know anything called eye tight."),
    ],
)
async def test_an_unknown_name_is_told_and_takes_no_whole_room(
    hass: HomeAssistant, offline: str, text: str, expected: str
) -> None:
    assert await answer(hass, offline, text) == expected

    assert not async_get_approvals(hass).waiting
    assert not [
        state
        for state in hass.states.async_all("light")
        if state.entity_id.startswith("light.kitchen") and state.state == "on"
    ]


async def test_words_that_add_nothing_still_lead_to_the_room(
    hass: HomeAssistant, offline: str
) -> None:
    question = await answer(hass, offline, "turn on the freaking kitchen lights")

    assert question.startswith("Turn on the Kitchen Ceiling Light")


async def test_a_pronoun_is_no_name(hass: HomeAssistant, offline: str) -> None:
    await answer(hass, offline, "turn on the floor lamp", "a-talk")

    await answer(hass, offline, "turn it off", "a-talk")

    assert hass.states.is_state("light.floor_lamp", "off")


@in_one_home(
    ("text", "expected", "temperature"),
    [
        (
            "set the bathroom floor heating to twenty three point five degrees",
            "Temperature set to 23.5 degrees",
            23.5,
        ),
        (
            "set the bathroom floor heating to twenty two point five",
            "Temperature set to 22.5 degrees",
            22.5,
        ),
        (
            "set the bathroom floor heating to 21.5 °C",
            "Temperature set to 21.5 degrees",
            21.5,
        ),
    ],
)
async def test_a_temperature_in_words_is_set_and_told(
    hass: HomeAssistant, offline: str, text: str, expected: str, temperature: float
) -> None:
    """Home Assistant fails to word its answer for a number in words, after it has acted."""
    assert await answer(hass, offline, text) == expected

    heating = hass.states.get("climate.bathroom_floor")
    assert heating
    assert heating.attributes["temperature"] == temperature


async def test_what_was_so_before_is_not_denied(
    hass: HomeAssistant, offline: str
) -> None:
    await hass.services.async_call(
        "climate",
        "set_temperature",
        {"entity_id": "climate.living_room", "temperature": 22.5},
        blocking=True,
    )

    response = await answer(
        hass, offline, "set the living room thermostat to twenty two point five"
    )

    assert response == "Temperature set to 22.5 degrees"


@pytest.mark.usefixtures("offline")
async def test_typed_text_is_not_guessed(hass: HomeAssistant) -> None:
    text = await answer(hass, None, "Turn on the 4 lamp.")

    assert "?" not in text
    assert not async_get_approvals(hass).waiting


async def test_with_a_model_nothing_is_guessed(
    hass: HomeAssistant, kitchen: str
) -> None:
    model = ScriptedChatCompletions(
        Script(answers=(ScriptedAnswer(content="The floor lamp?"),))
    )
    async with serving(model.application()) as address:
        entry = await set_up(hass, server_entry(address, local_commands="first"))

        assert await answer(hass, kitchen, "Turn on the 4 lamp.") == "The floor lamp?"

        assert not async_get_approvals(hass).waiting
        assert await hass.config_entries.async_unload(entry.entry_id)

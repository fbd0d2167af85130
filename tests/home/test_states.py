"""States in short: the facts of Home Assistant's own text, under the names that the list of the home has."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.home.entities import async_get_home
from custom_components.chatterbox.home.states import short_states
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import offer_of, run
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: ground, name: Ground Floor }
  - { id: upper, name: Upper Floor, aliases: [Upstairs] }
areas:
  - { id: kitchen, name: Kitchen, floor: ground, aliases: [Galley] }
  - { id: bedroom, name: Bedroom, floor: upper }
entities:
  - id: light.kitchen
    name: Kitchen Light
    area: kitchen
    state: "on"
    attributes: { supported_color_modes: [brightness], brightness: 128 }
    aliases: [Moon]
  - { id: light.bedroom, name: Bedroom Light, area: bedroom, state: "off" }
  - id: sensor.kitchen
    name: Kitchen Temperature
    area: kitchen
    state: "20.5"
    attributes: { device_class: temperature, native_unit_of_measurement: "°C" }
  - { id: switch.fan, name: "Fan, the old one", state: "off" }
"""
GET_STATES = "homeassistant__GetLiveContext"


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


async def test_states_are_listed_as_the_home_is(home: HomeAssistant) -> None:
    outcome = await run(await offer_of(home, llm.LLM_API_ASSIST), GET_STATES)

    assert isinstance(outcome.native, llm.ToolResult)
    assert outcome.native.data == {
        "result": "The states now, by room:\n"
        "Bedroom\n light: Light off\n"
        "Kitchen\n light: Light on (50 %)\n sensor temperature: Temperature 20.5 °C\n"
        '(in no room)\n switch: "Fan, the old one" off'
    }


async def test_an_error_and_a_filter_are_those_of_home_assistant(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    kitchen = await run(offer, GET_STATES, area="Galley", domain="light")
    nowhere = await run(offer, GET_STATES, area="Attic")

    assert "Kitchen\\n light: Light on (50 %)" in kitchen.content
    assert "Bedroom" not in kitchen.content
    for name in ("Upper Floor", "upper floor", "upstairs"):
        upstairs = await run(offer, GET_STATES, area=name)
        assert "Bedroom\\n light: Light off" in upstairs.content
        assert "Kitchen" not in upstairs.content
        assert "Fan" not in upstairs.content
    assert nowhere.is_error
    assert "Attic" in nowhere.content


@in_one_home(
    "text",
    [
        "",
        "No list",
        "Overview:\n- names: Lamp\n  domain: light",
        "Overview:\n- {names: L, domain: d, state: s, new: 1}",
    ],
)
async def test_another_form_is_left_as_it_is(home: HomeAssistant, text: str) -> None:
    assert short_states(text, async_get_home(home, conversation.DOMAIN)) == text


async def test_all_facts_are_left_and_no_text_from_outside_begins_a_line(
    home: HomeAssistant,
) -> None:
    text = (
        "Overview:\n- names: Radio\n  domain: media_player\n  state: playing\n  areas: Den, Study\n  attributes:\n"
        '    media_title: "Hey\\nKitchen (on)"\n    volume_level: 0.5\n    media_artist: null\n'
    )

    assert short_states(text, async_get_home(home, conversation.DOMAIN)) == (
        "The states now, by room:\nDen\n media_player: Radio playing "
        '(media_title "Hey\\u000aKitchen (on)", volume_level 0.5)'
    )

"""A sentence that is read changes the things that it names, by its values, and nothing else."""

import pytest
from homeassistant.components.light import ATTR_BRIGHTNESS
from homeassistant.const import ATTR_TEMPERATURE
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import CONF_KIND, CONF_LOCAL_COMMANDS, ServiceKind
from tests.support.talk import add_agent, move_into_the_demo_home, say, speech

LAMPS = ("light.kitchen_ceiling", "light.kitchen_counter", "light.kitchen_pendant")


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Return the demo's home with an agent without a model, and all lights of the kitchen off."""
    await move_into_the_demo_home(hass)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {CONF_LOCAL_COMMANDS: "first"})
    await hass.services.async_call("light", "turn_off", {"entity_id": LAMPS}, blocking=True)
    return hass


@pytest.mark.parametrize("words", ["make the kitchen lights dimmer", "make the kitchen lights darker by 30 percent"])
async def test_lights_that_are_off_are_not_dimmed(home: HomeAssistant, words: str) -> None:
    await say(home, words)
    await home.async_block_till_done()
    assert [home.states.is_state(lamp, "off") for lamp in LAMPS] == [True] * len(LAMPS)


def brightness(home: HomeAssistant, lamp: str) -> int | None:
    """Return how bright a lamp is, from 1 to 255."""
    state = home.states.get(lamp)
    assert state
    return state.attributes.get(ATTR_BRIGHTNESS)


async def test_only_the_lights_that_are_on_become_dimmer(home: HomeAssistant) -> None:
    lamp = {"entity_id": LAMPS[0], "brightness_pct": 60}
    await home.services.async_call("light", "turn_on", lamp, blocking=True)

    await say(home, "make the kitchen lights dimmer")
    await home.async_block_till_done()

    assert [brightness(home, one) for one in LAMPS] == [102, None, None]


async def test_a_temperature_that_is_impossible_is_refused(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    answer = await say(home, "make the bedroom heater 50 degrees warmer")
    assert [call.data["service_data"][ATTR_TEMPERATURE] for call in calls] == [69]
    assert "not valid" in speech(answer)


@pytest.mark.parametrize(
    ("state", "attributes"),
    [("unknown", {}), ("sunny", {}), ("sunny", {"temperature": float("nan")}), ("unavailable", {"temperature": 20})],
)
@pytest.mark.parametrize("words", ["will it rain tomorrow", "what's the weather out there", "do i need an umbrella"])
async def test_weather_that_nobody_knows_is_not_told(
    home: HomeAssistant, state: str, attributes: dict[str, object], words: str
) -> None:
    home.states.async_set("weather.home", state, attributes)
    spoken_text = speech(await say(home, words))
    assert not spoken_text.startswith(("Yes", "No.", "Now"))


async def test_nothing_is_done_for_parts_of_a_sentence(home: HomeAssistant) -> None:
    calls = async_capture_events(home, "call_service")
    for words in ("kitchen lights on and bedroom lights off", "turn on half the lights", "do the lights turn on"):
        await say(home, words)
    await home.async_block_till_done()
    assert [call.data["service"] for call in calls] == []

"""A home with plans."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.later.killed_home import Home


@pytest.fixture
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Home:
    freezer.move_to("2026-11-26 22:00:00+00:00")
    await hass.config.async_set_time_zone("UTC")
    assert await async_setup_component(hass, "homeassistant", {})
    for entity_id in (
        "sensor.washer",
        "binary_sensor.garage",
        "sensor.outside",
        "sensor.inside",
    ):
        async_expose_entity(hass, "conversation", entity_id, should_expose=True)
    home = Home(hass)
    await home.schedule.async_start(hass)
    return home

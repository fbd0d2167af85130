"""The home of the tests of `tools/`."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.demo_house.move_in import move_in
from tests.support.llm_apis import KITCHEN


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Return Home Assistant with a small home."""
    await move_in(hass, KITCHEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass

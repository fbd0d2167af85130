"""The house that every attack is made on."""

import pytest
from homeassistant.core import HomeAssistant

from tests.hostile.house import AttackedHouse
from tests.talk import Serve


@pytest.fixture
def house(request: pytest.FixtureRequest, hass: HomeAssistant, serve: Serve) -> AttackedHouse:
    """Return the house; the model begins to talk when it is taken over."""
    request.getfixturevalue("socket_enabled")
    return AttackedHouse(hass, serve, is_unguarded=bool(request.config.getoption("--unguarded")))

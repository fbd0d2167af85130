"""A home with a real recorder, on each kind of database."""

from collections.abc import AsyncGenerator
from itertools import count

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import RecorderInstanceContextManager

from tests.history.store.postgresql import PostgreSQL
from tests.support.recorded_home import Past

_numbers = count()


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)]
)
def recorder_db_url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new database of each kind, for the recorder of Home Assistant's test plugin."""
    if request.param == "sqlite":
        return "sqlite://"
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.new_database(f"recorder{next(_numbers)}")


@pytest.fixture
async def mock_recorder_before_hass(
    async_test_recorder: RecorderInstanceContextManager,
) -> None:
    """Make a database before there is a home, as Home Assistant's test plugin wants it."""


@pytest.fixture
async def past(
    async_test_recorder: RecorderInstanceContextManager,
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
) -> AsyncGenerator[Past]:
    """Set up a home in Berlin with a recorder."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    home = Past(hass, freezer)
    home.at("20 12:00")
    async with async_test_recorder(hass):
        for component in (
            "homeassistant",
            "binary_sensor",
            "logbook",
            "automation",
            "conversation",
        ):
            assert await async_setup_component(hass, component, {})
        yield home

"""Agents whose tools count their runs, and who have nobody after their models."""

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.chaos.chaos import expect_good_ends
from tests.behaviour.chaos.home import API


@pytest.mark.thorough
@pytest.mark.usefixtures("socket_enabled")
async def test_every_turn_ends_well_where_tools_count(
    hass: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    await expect_good_ends(hass, pytestconfig, API, 0.6)

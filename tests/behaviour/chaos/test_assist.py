"""Agents that act in the home, and for whom Home Assistant itself answers when no model does."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from tests.behaviour.chaos.chaos import expect_good_ends


@pytest.mark.usefixtures("socket_enabled")
async def test_every_turn_ends_well_in_the_home(
    hass: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    await expect_good_ends(hass, pytestconfig, llm.LLM_API_ASSIST, 0.4)

"""Assistants and their debug runs are out of reach without the inside of the assist_pipeline integration."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.internals.assist_pipeline import (
    assistants,
    debug_runs,
)
from tests.support.moved_names import take_away


async def test_assistants_become_out_of_reach(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assistants(hass) is None
    for component in ("homeassistant", "assist_pipeline"):
        assert await async_setup_component(hass, component, {})
    assert assistants(hass) is not None
    take_away(monkeypatch, hass, "assistants")
    take_away(monkeypatch, hass, "pins")

    assert assistants(hass) is None
    assert list(debug_runs(hass)) == []

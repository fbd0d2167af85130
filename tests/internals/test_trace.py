"""How a script ran is unknown without the inside of the trace integration."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.internals.trace import traces_of
from tests.support.moved_names import take_away


async def test_how_a_script_ran_becomes_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await async_setup_component(
        hass, "script", {"script": {"rest": {"sequence": []}}}
    )
    await hass.services.async_call("script", "rest", blocking=True)
    assert len(traces_of(hass, "script.rest")) == 1
    assert traces_of(hass, "script.unknown") == []
    take_away(monkeypatch, hass, "script_errors")

    assert traces_of(hass, "script.rest") == []

"""A path with parameters may be a signed one without the inside of the http integration."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.http import may_be_signed
from tests.support.moved_names import take_away


async def test_any_parameter_may_be_a_signature(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert may_be_signed(hass, {"authSig"})
    assert not may_be_signed(hass, {"model"})
    take_away(monkeypatch, hass, "api_sockets")

    assert may_be_signed(hass, {"model"})
    assert not may_be_signed(hass, set())

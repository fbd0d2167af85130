"""A phone counts as not connected without the inside of the mobile_app integration."""

from types import SimpleNamespace

import pytest
from homeassistant.components.mobile_app.const import DATA_NOTIFY, DOMAIN
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.mobile_app import notify_action
from tests.support.moved_names import take_away


async def test_no_phone_is_connected(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    hass.data[DOMAIN] = {
        DATA_NOTIFY: SimpleNamespace(registered_targets={"mobile_app_phone": "hook"})
    }
    with monkeypatch.context() as moved:
        take_away(moved, hass, "phones")
        assert notify_action(hass, "hook") is None

    assert notify_action(hass, "hook") == "mobile_app_phone"
    assert notify_action(hass, "other") is None

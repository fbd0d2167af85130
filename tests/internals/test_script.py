"""The actions of a script are unknown without the inside of its entity."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.internals.script import script_of
from tests.support.moved_names import take_away


async def test_what_a_script_runs_becomes_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = {
        "alias": "Rest",
        "triggers": [],
        "actions": [{"action": "script.rest"}],
    }
    assert await async_setup_component(
        hass, "script", {"script": {"rest": {"sequence": [{"stop": "Enough"}]}}}
    )
    assert await async_setup_component(hass, "automation", {"automation": [automation]})
    for entity_id in ("script.rest", "automation.rest"):
        found = script_of(hass, entity_id)
        assert found
        assert len(found.sequence) == 1
    take_away(monkeypatch, hass, "scripts")

    assert [
        script_of(hass, one) for one in ("script.rest", "automation.rest", "light.lamp")
    ] == [None, None, None]

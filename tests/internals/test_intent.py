"""A handler of an intent that is not as it was could do anything."""

from types import MappingProxyType

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.script import Script

from custom_components.chatterbox.internals.intent import (
    actions_of_script,
    control_guide,
)
from tests.support.moved_names import take_away


class ScriptHandler(intent.IntentHandler):
    """A handler that runs a script, as Home Assistant keeps it."""

    def __init__(self, config: object) -> None:
        """Keep the configuration of an intent."""
        self.config = config


async def test_the_script_of_an_intent_is_found_under_any_key(
    hass: HomeAssistant,
) -> None:
    script = Script(hass, [], "Rest", "intent_script")

    assert actions_of_script(ScriptHandler({"action": script})) is script
    assert (
        actions_of_script(ScriptHandler(MappingProxyType({"steps": script}))) is script
    )
    assert actions_of_script(ScriptHandler({"speech": "Good night"})) is None


@pytest.mark.parametrize(
    "handler",
    [ScriptHandler("moved"), ScriptHandler({"action": []}), intent.IntentHandler()],
)
def test_what_an_intent_runs_may_be_unknown(handler: intent.IntentHandler) -> None:
    found = actions_of_script(handler)

    assert found is not None
    assert not isinstance(found, Script)


async def test_no_guide_is_cut_out_of_a_prompt(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, hass, "home_in_short")

    assert control_guide(hass) == ""

"""The stored settings of an agent are understood, also those that another version of Chatterbox has stored."""

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import (
    ServiceKind,
)
from custom_components.chatterbox.settings.agent import (
    Confirmation,
    settings_of,
)
from tests.support.config_entries import server_entry, set_up, state_of
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script

UNKNOWN = {
    "confirmation": "sung",
    "verbosity": "chatty",
    "service_tier": "royal",
    "reasoning_effort": "heroic",
}


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    "kind", [ServiceKind.OPENAI_CHAT, ServiceKind.OPENAI_RESPONSES]
)
async def test_a_choice_that_only_another_version_knows_keeps_no_agent_from_working(
    hass: HomeAssistant, kind: ServiceKind
) -> None:
    async with serving_script(Script()) as address:
        entry = await set_up(hass, server_entry(address, None, kind, **UNKNOWN))

        assert state_of(entry) is ConfigEntryState.LOADED


def test_a_choice_that_only_another_version_knows_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(2):
        assert (
            settings_of({"confirmation": "danced"}).confirmation is Confirmation.RESULT
        )

    assert (
        caplog.text.count("The option confirmation of an agent is set to danced") == 1
    )

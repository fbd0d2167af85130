"""The stored settings of an agent are understood, also those that another version of Chatterbox has stored."""

from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import (
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.settings.agent import (
    Confirmation,
    keeps_history,
    settings_of,
)
from custom_components.chatterbox.settings.tasks import settings_of_subentry
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


@pytest.mark.parametrize("kind", [SUBENTRY_CONVERSATION, SUBENTRY_AI_TASK])
@pytest.mark.parametrize(
    "stored", [{}, {"keep_history": True}, {"keep_history": False}]
)
def test_whether_a_turn_is_kept_is_what_the_settings_say(
    kind: str, stored: dict[str, bool]
) -> None:
    agent = ConfigSubentry(
        data=MappingProxyType(stored), subentry_type=kind, title="Agent", unique_id=None
    )

    assert keeps_history(agent) is settings_of_subentry(agent).keep_history

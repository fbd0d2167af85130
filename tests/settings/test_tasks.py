"""The settings of a model for tasks are those of an agent, with other defaults."""

from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigSubentry

from custom_components.chatterbox.const import (
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
)
from custom_components.chatterbox.settings.agent import (
    keeps_history,
)
from custom_components.chatterbox.settings.tasks import settings_of_subentry


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

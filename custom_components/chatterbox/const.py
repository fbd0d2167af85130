"""Names and defaults that more than one of our Home Assistant modules uses."""

from enum import StrEnum
from logging import Logger, getLogger
from typing import Final

LOGGER: Final[Logger] = getLogger(__package__)

DOMAIN: Final = "chatterbox"

# A config entry is one service. Its data: CONF_KIND and what that kind asks for.
CONF_KIND: Final = "kind"
CONF_BASE_URL: Final = "base_url"


class ServiceKind(StrEnum):
    """What a config entry talks to."""

    OFFLINE = "offline"
    """Home Assistant's own understanding of sentences; needs nothing."""
    OPENAI_CHAT = "openai_chat"
    """Any server that speaks the Chat Completions protocol; CONF_BASE_URL, CONF_API_KEY."""


# A subentry is one conversation agent. Its data: CONF_LLM_HASS_API, CONF_PROMPT, CONF_MODEL
# (all from homeassistant.const) and the bounds of a turn.
SUBENTRY_CONVERSATION: Final = "conversation"
CONF_MAX_ITERATIONS: Final = "max_iterations"
CONF_MAX_TOOL_CALLS: Final = "max_tool_calls"
CONF_DEADLINE: Final = "deadline"
CONF_TOOL_TIMEOUT: Final = "tool_timeout"

EVENT_TURN_FINISHED: Final = "chatterbox_turn_finished"
"""Fired once a turn; data: see `chat_log_bridge.TurnReport.as_event_data`."""

"""Names and defaults that several modules use."""

from collections.abc import Callable
from enum import StrEnum
from logging import Logger, getLogger
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

LOGGER: Final[Logger] = getLogger(__package__)

DOMAIN: Final = "chatterbox"

INTEGRATION: Final = __package__ or DOMAIN
"""The package of the integration, for imports while Home Assistant is running."""


def home_singleton[T](
    name: str, make: Callable[[HomeAssistant], T]
) -> Callable[[HomeAssistant], T]:
    """Return a function that returns the only object of a name in a home, which is made when it is first needed."""
    return singleton(HassKey[T](f"{DOMAIN}_{name}"))(make)


ENTRY_VERSION: Final = 2
"""Major version of config entries. It rises with each change that an earlier version would misread, which then refuses
to load them. In version 1, agents had rules of their own."""
# A config entry is one service. Its data: CONF_KIND and what that kind asks for.
CONF_KIND: Final = "kind"
CONF_SERVER: Final = "server"
CONF_BASE_URL: Final = "base_url"
# Its options, of which each service has its own:
CONF_HISTORY_ADDRESS: Final = "history_address"

# Its options.
CONF_DIAGNOSE_WORDS: Final = "diagnose_words"
CONF_RESPONSES_API: Final = "responses_api"
CONF_RESPONSE_DAYS: Final = "response_days"
CONF_RESPONSE_MEGABYTES: Final = "response_megabytes"
CONF_REQUEST_MEGABYTES: Final = "request_megabytes"
DEFAULT_RESPONSE_DAYS: Final = 30
DEFAULT_RESPONSE_MEGABYTES: Final = 100
"""0 is unlimited, as for conversations; the limit applies to each agent."""
DEFAULT_REQUEST_MEGABYTES: Final = 1


class ServiceKind(StrEnum):
    """The kind of service of a config entry: none but this home, or a model server over a wire format.

    A model server has CONF_SERVER (id of a profile in `agent/providers/profiles.py`),
    CONF_BASE_URL and, if the server requires one, CONF_API_KEY.
    """

    OFFLINE = "offline"
    """Home Assistant's own recognition of sentences; needs nothing else."""
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    OLLAMA_CHAT = "ollama_chat"


# A subentry is one conversation agent, or one model for AI tasks. Its data, also
# CONF_LLM_HASS_API, CONF_PROMPT and CONF_MODEL of homeassistant.const; what each means,
# and its default, stands in `settings/agent.py`, and what is different for tasks in
# `settings/tasks.py`.
SUBENTRY_CONVERSATION: Final = "conversation"
SUBENTRY_AI_TASK: Final = "ai_task_data"
CONF_IMAGE_MODEL: Final = "image_model"
CONF_FALLBACKS: Final = "fallbacks"
CONF_REASONING_EFFORT: Final = "reasoning_effort"
CONF_VERBOSITY: Final = "verbosity"
CONF_SERVICE_TIER: Final = "service_tier"
CONF_NUM_CTX: Final = "num_ctx"
CONF_EXTRA_PARAMETERS: Final = "extra_parameters"
CONF_CONTEXT_WINDOW: Final = "context_window"
CONF_SUMMARY: Final = "summary"
CONF_CONFIRMATION: Final = "confirmation"
CONF_LOCAL_COMMANDS: Final = "local_commands"
CONF_MODEL_REQUESTS: Final = "model_requests"
CONF_CONNECT_TIMEOUT: Final = "connect_timeout"
CONF_FIRST_TOKEN_TIMEOUT: Final = "first_token_timeout"  # noqa: S105  # a wait, no secret
CONF_BETWEEN_TOKENS_TIMEOUT: Final = "between_tokens_timeout"
CONF_FIRST_ANSWER: Final = "first_answer"
CONF_LATER_ANSWER: Final = "later_answer"
CONF_MAX_ITERATIONS: Final = "max_iterations"
CONF_MAX_TOOL_CALLS: Final = "max_tool_calls"
CONF_DEADLINE: Final = "deadline"
CONF_TOOL_TIMEOUT: Final = "tool_timeout"
CONF_BUDGET_DAY: Final = "budget_day"
CONF_BUDGET_MONTH: Final = "budget_month"
CONF_WHEN_SPENT: Final = "when_spent"
CONF_RULES: Final = "rules"
CONF_PIN: Final = "pin"
CONF_TOOL_SOURCES: Final = "tool_sources"
CONF_ASK_AFTER_OUTSIDE_CONTENT: Final = "ask_after_outside_content"
CONF_NOTIFY: Final = "notify"
CONF_GUEST_AREAS: Final = "guest_areas"
CONF_GUEST_DOMAINS: Final = "guest_domains"
CONF_HOUSEHOLD_WRITERS: Final = "household_writers"
CONF_TRUSTED_CALLERS: Final = "trusted_callers"
CONF_PEOPLE_AT_SATELLITES: Final = "people_at_satellites"
CONF_KEEP_HISTORY: Final = "keep_history"
CONF_LOOK_TASK: Final = "look_task"
CONF_WEB_SEARCH: Final = "web_search"
CONF_WEB_SEARCH_ADDRESS: Final = "web_search_address"
CONF_WEB_SEARCH_KEY: Final = "web_search_key"

SCRIPT_DOMAIN: Final = "script"
"""Domain of the integration that runs scripts."""

# Fired while a turn runs; data: see `turns/record.py`, and for questions
# `approvals/questions.py`.
EVENT_TURN_STARTED: Final = "chatterbox_turn_started"
EVENT_TOOL_CALLED: Final = "chatterbox_tool_called"
EVENT_TOOL_FINISHED: Final = "chatterbox_tool_finished"
EVENT_APPROVAL_REQUESTED: Final = "chatterbox_approval_requested"
EVENT_TURN_FINISHED: Final = "chatterbox_turn_finished"

EVENT_CHANGE: Final = "chatterbox_change"
"""Fired for each call that changed something, or would have; data: see `approvals/audit.py`."""

SERVICE_ASK: Final = "ask"
"""The action that sends a message to an agent; see `actions/ask.py`."""

REDACTED_PIN: Final = "(a PIN)"
"""Replaces input that contains a PIN, also for the model."""

BASE_PATH: Final = f"/api/{DOMAIN}/v1"
"""Path of the Responses API."""

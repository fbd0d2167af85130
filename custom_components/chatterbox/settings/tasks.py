"""The settings and options of a model for AI tasks: those of an agent with other defaults.

Nobody waits in a room for a task, so it has more time, and nothing is spoken.
"""

from typing import Any, Final

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT

from ..const import (
    CONF_BETWEEN_TOKENS_TIMEOUT,
    CONF_DEADLINE,
    CONF_FIRST_TOKEN_TIMEOUT,
    CONF_IMAGE_MODEL,
    CONF_KEEP_HISTORY,
    SUBENTRY_AI_TASK,
    ServiceKind,
)
from ..settings.agent import EntryData
from .agent import AgentSettings, settings_of
from .options import DRAWING_KINDS

INSTRUCTIONS: Final = (
    "You do tasks for automations and apps of a smart home. Do exactly what the task says, and answer with what it asks"
    " for and nothing else."
)
"""The default instructions."""

_DEFAULTS: Final = {
    CONF_PROMPT: INSTRUCTIONS,
    CONF_DEADLINE: 180,
    CONF_FIRST_TOKEN_TIMEOUT: 90,  # a local model needs long to read images
    CONF_BETWEEN_TOKENS_TIMEOUT: 60,
    CONF_KEEP_HISTORY: False,
}
"""Instead of those of an agent."""


def image_model_of(
    kind: ServiceKind,
    data: EntryData,
) -> str:
    """Return the model for images; empty without one."""
    model: str = data.get(
        CONF_IMAGE_MODEL,
        "",
    )
    return model if kind in DRAWING_KINDS else ""


def new_task_data(model: str = "") -> dict[str, Any]:
    """Return what is stored for a new model for tasks. It has no tools, and stores no history."""
    return {
        CONF_MODEL: model,
        CONF_LLM_HASS_API: [],
        CONF_PROMPT: INSTRUCTIONS,
        CONF_KEEP_HISTORY: False,
    }


def task_settings_of(data: EntryData) -> AgentSettings:
    """Read the data of a subentry, with the default for each absent setting and for an empty prompt."""
    given = {key: value for key, value in data.items() if key != CONF_PROMPT or value}
    return settings_of({**_DEFAULTS, **given})


def settings_of_subentry(subentry: ConfigSubentry) -> AgentSettings:
    """Read the data of a subentry, of an agent or a model for tasks."""
    is_for_tasks = subentry.subentry_type == SUBENTRY_AI_TASK
    if is_for_tasks:
        return task_settings_of(subentry.data)
    return settings_of(subentry.data)

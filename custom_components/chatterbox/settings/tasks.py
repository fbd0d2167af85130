"""The settings and options of a model for AI tasks: those of an agent with other defaults.

Nobody waits in a room for a task, so it has more time, and nothing is spoken.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT

from .. import const
from .agent import AgentSettings, settings_of
from .options import (
    SECTION_AUTOMATION,
    SECTION_COSTS,
    SECTION_HISTORY,
    SECTION_HOME,
    SECTION_LIMITS,
    SECTION_MODEL_OPTIONS,
    sections_of,
)

INSTRUCTIONS: Final = (
    "You do tasks for automations and apps of a smart home. Do exactly what the task says, and answer with what it asks"
    " for and nothing else."
)
"""The default instructions."""

DRAWING_KINDS: Final = frozenset({const.ServiceKind.OPENAI_CHAT, const.ServiceKind.OPENAI_RESPONSES})
"""Kinds of service that may have a model for images, in OpenAI's format."""

_SECTIONS: Final = frozenset(
    {SECTION_MODEL_OPTIONS, SECTION_HOME, SECTION_LIMITS, SECTION_HISTORY, SECTION_COSTS, SECTION_AUTOMATION}
)
_FOR_PEOPLE: Final = frozenset({const.CONF_CONTINUE_MINUTES, const.CONF_PRE_SPEECH})
"""Options of a conversation."""

_DEFAULTS: Final[Mapping[str, Any]] = {
    CONF_PROMPT: INSTRUCTIONS,
    const.CONF_DEADLINE: 180,
    const.CONF_FIRST_TOKEN_TIMEOUT: 90,  # a local model needs long to read images
    const.CONF_BETWEEN_TOKENS_TIMEOUT: 60,
    const.CONF_KEEP_HISTORY: False,
}
"""Instead of those of an agent."""


def task_sections_of(kind: const.ServiceKind) -> Mapping[str, tuple[str, ...]]:
    """Return the options of a model for tasks of a kind of service, by section."""
    return {
        place: tuple(option for option in options if option not in _FOR_PEOPLE)
        for place, options in sections_of(kind).items()
        if place in _SECTIONS
    }


def image_model_of(kind: const.ServiceKind, data: Mapping[str, Any]) -> str:
    """Return the model for images; empty without one."""
    model: str = data.get(const.CONF_IMAGE_MODEL, "")
    return model if kind in DRAWING_KINDS else ""


def new_task_data(model: str = "") -> dict[str, Any]:
    """Return what is stored for a new model for tasks. It has no tools, and stores no history."""
    return {CONF_MODEL: model, CONF_LLM_HASS_API: [], CONF_PROMPT: INSTRUCTIONS, const.CONF_KEEP_HISTORY: False}


def task_settings_of(data: Mapping[str, Any]) -> AgentSettings:
    """Read the data of a subentry, with the default for each absent setting and for an empty prompt."""
    given = {key: value for key, value in data.items() if key != CONF_PROMPT or value}
    return settings_of({**_DEFAULTS, **given})


def settings_of_subentry(subentry: ConfigSubentry) -> AgentSettings:
    """Read the data of a subentry, of an agent or a model for tasks."""
    is_for_tasks = subentry.subentry_type == const.SUBENTRY_AI_TASK
    return task_settings_of(subentry.data) if is_for_tasks else settings_of(subentry.data)

"""The form of a model for tasks: its fields, what they show, and how what was filled in is stored.

Knows selectors, and the data of an `ai_task_data` subentry. Must not know how a flow walks, or what a person is told
when something does not fit.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import voluptuous as vol
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.helpers.selector import EntitySelector, EntitySelectorConfig, TextSelector

from ..const import CONF_FALLBACKS, CONF_IMAGE_MODEL, CONF_TRUSTED_CALLERS, SCRIPT_DOMAIN, ServiceKind
from ..settings.tasks import DRAWING_KINDS, image_model_of, task_sections_of, task_settings_of
from .agent_form import (
    fallback_selector,
    model_selector,
    prompt_selector,
    section_fields,
    sections_as_form,
    tool_source_selector,
    typed_options,
)

_AUTOMATION_DOMAIN: Final = "automation"

_OWN_KEYS: Final = frozenset(
    {CONF_MODEL, CONF_IMAGE_MODEL, CONF_LLM_HASS_API, CONF_PROMPT, CONF_FALLBACKS, CONF_TRUSTED_CALLERS}
).union(*(options for kind in ServiceKind for options in task_sections_of(kind).values()))
"""What is stored of this form, for any kind of service."""


def task_schema(
    sources: Mapping[str, str],
    kind: ServiceKind,
    models: Sequence[str],
    fallbacks: Mapping[str, str],
    opened: Collection[str] = (),
) -> vol.Schema:
    """Return the form of a model for tasks; the arguments are those of `agent_form.agent_schema`."""
    callers = EntitySelectorConfig(domain=[_AUTOMATION_DOMAIN, SCRIPT_DOMAIN], multiple=True)
    drawing = {vol.Optional(CONF_IMAGE_MODEL): model_selector(models)} if kind in DRAWING_KINDS else {}
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            vol.Required(CONF_MODEL): model_selector(models),
            vol.Optional(CONF_LLM_HASS_API): tool_source_selector(sources),
            vol.Optional(CONF_TRUSTED_CALLERS): EntitySelector(callers),
            vol.Optional(CONF_PROMPT): prompt_selector(),
            vol.Optional(CONF_FALLBACKS): fallback_selector(fallbacks),
            **drawing,
            **section_fields(task_sections_of(kind), opened),
        }
    )


def task_as_form(
    kind: ServiceKind, name: str, stored: Mapping[str, Any], fallbacks: Mapping[str, str]
) -> dict[str, Any]:
    """Arrange what is stored as the form shows it, without agents that no longer exist."""
    settings, drawing = task_settings_of(stored), image_model_of(kind, stored)
    return {
        CONF_NAME: name,
        CONF_MODEL: settings.model,
        CONF_LLM_HASS_API: list(settings.llm_apis),
        CONF_TRUSTED_CALLERS: sorted(settings.trusted_callers),
        CONF_PROMPT: settings.prompt or "",
        CONF_FALLBACKS: [fallbacks[agent_id] for agent_id in settings.fallbacks if agent_id in fallbacks],
        **({CONF_IMAGE_MODEL: drawing} if drawing else {}),
        **sections_as_form(task_sections_of(kind), settings),
    }


def task_as_data(
    kind: ServiceKind, form: Mapping[str, Any], fallbacks: Sequence[str], stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Arrange a filled-in form as it is stored, which is nothing of what is empty.

    The name is the title of the subentry. `fallbacks` are the subentries that the form names. What is `stored` and no
    such form holds is kept.
    """
    chosen = {
        CONF_IMAGE_MODEL: form.get(CONF_IMAGE_MODEL, "").strip(),
        CONF_FALLBACKS: list(fallbacks),
        CONF_TRUSTED_CALLERS: form.get(CONF_TRUSTED_CALLERS, []),
    }
    return {
        **{key: value for key, value in stored.items() if key not in _OWN_KEYS},
        CONF_MODEL: form[CONF_MODEL].strip(),
        CONF_LLM_HASS_API: form.get(CONF_LLM_HASS_API, []),
        CONF_PROMPT: form.get(CONF_PROMPT, ""),
        **{key: value for key, value in chosen.items() if value},
        **typed_options(kind, task_sections_of(kind), form),
    }

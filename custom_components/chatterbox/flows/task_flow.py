"""The subentry flow of AI tasks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import ConfigEntryState, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.helpers.selector import EntitySelector, EntitySelectorConfig, TextSelector

from ..const import CONF_FALLBACKS, CONF_IMAGE_MODEL, CONF_TRUSTED_CALLERS, SCRIPT_DOMAIN, ServiceKind
from ..settings.options import Problem
from ..settings.tasks import DRAWING_KINDS, image_model_of, new_task_data, task_sections_of, task_settings_of
from ..speech.sentences import async_get_sentences
from .model_form import (
    ModelFlow,
    errors_of,
    fallback_ids,
    fallback_selector,
    model_selector,
    only_model,
    possible_fallbacks,
    prompt_selector,
    section_fields,
    sections_as_form,
    tool_source_selector,
    tool_sources,
    typed_options,
)

_AUTOMATION_DOMAIN: Final = "automation"

_OWN_KEYS: Final = frozenset(
    {CONF_MODEL, CONF_IMAGE_MODEL, CONF_LLM_HASS_API, CONF_PROMPT, CONF_FALLBACKS, CONF_TRUSTED_CALLERS}
).union(*(options for kind in ServiceKind for options in task_sections_of(kind).values()))
"""The stored keys that this form sets, for all kinds of service."""


class AITaskFlow(ModelFlow):
    """Adds or changes an AI task."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Start a new AI task."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        sentences = await async_get_sentences(self.hass, self.hass.config.language)
        self._name, self._stored = sentences["ai_task_title"], new_task_data()
        return await self.async_step_task()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 nothing was asked yet
        """Change an AI task."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        task = self._get_reconfigure_subentry()
        self._name, self._stored = task.title, task.data
        return await self.async_step_task()

    async def async_step_task(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the settings, and try the model."""
        fallbacks = possible_fallbacks(self.hass, None)
        if user_input is None:
            await self._async_prepare_form(task_settings_of(self._stored))
            form = task_as_form(self._kind, self._name, self._stored, fallbacks)
            return self._show(form | {CONF_MODEL: form[CONF_MODEL] or only_model(self._models)}, fallbacks)
        chosen = fallback_ids(fallbacks, user_input.get(CONF_FALLBACKS, ()))
        if problems := self._find_typos(user_input, task_sections_of(self._kind), chosen):
            return self._show(user_input, fallbacks, problems)
        data = task_as_data(self._kind, user_input, chosen or (), self._stored)
        if problems := await self._async_try(task_settings_of(data), task_settings_of(self._stored)):
            return self._show(user_input, fallbacks, problems)
        return self._save(user_input[CONF_NAME], data)

    def _show(
        self, form: Mapping[str, Any], fallbacks: Mapping[str, str], problems: Sequence[Problem] = ()
    ) -> SubentryFlowResult:
        sources = tool_sources(self.hass, task_settings_of(self._stored).llm_apis, self._absent_source)
        callers = EntitySelectorConfig(domain=[_AUTOMATION_DOMAIN, SCRIPT_DOMAIN], multiple=True)
        images = {vol.Optional(CONF_IMAGE_MODEL): model_selector(self._models)} if self._kind in DRAWING_KINDS else {}
        schema = vol.Schema(
            {
                vol.Required(CONF_NAME): TextSelector(),
                vol.Required(CONF_MODEL): model_selector(self._models),
                vol.Optional(CONF_LLM_HASS_API): tool_source_selector(sources),
                vol.Optional(CONF_TRUSTED_CALLERS): EntitySelector(callers),
                vol.Optional(CONF_PROMPT): prompt_selector(),
                vol.Optional(CONF_FALLBACKS): fallback_selector(fallbacks),
                **images,
                **section_fields(task_sections_of(self._kind), errors_of(problems), {}),
            }
        )
        return self._show_form("task", schema, form, problems, known_price=self._known_price)


def task_as_form(
    kind: ServiceKind, name: str, stored: Mapping[str, Any], fallbacks: Mapping[str, str]
) -> dict[str, Any]:
    """Return stored data as form values, without agents that no longer exist."""
    settings, image_model = task_settings_of(stored), image_model_of(kind, stored)
    return {
        CONF_NAME: name,
        CONF_MODEL: settings.model,
        CONF_LLM_HASS_API: list(settings.llm_apis),
        CONF_TRUSTED_CALLERS: sorted(settings.trusted_callers),
        CONF_PROMPT: settings.prompt or "",
        CONF_FALLBACKS: [fallbacks[agent_id] for agent_id in settings.fallbacks if agent_id in fallbacks],
        **({CONF_IMAGE_MODEL: image_model} if image_model else {}),
        **sections_as_form(task_sections_of(kind), settings),
    }


def task_as_data(
    kind: ServiceKind, form: Mapping[str, Any], fallbacks: Sequence[str], stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Return form values as they are stored, without empty ones.

    `fallbacks` are the subentry IDs of the fallback agents. Keys in `stored` that this form does not set are kept.
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

"""What can be set for a conversation agent: its defaults, its form, and what is stored of it.

Knows the data of a `conversation` subentry. Must not know how a flow walks, or how a turn
uses what is set.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers import llm
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from .agent.turn import Limits
from .const import (
    CONF_DEADLINE,
    CONF_MAX_ITERATIONS,
    CONF_MAX_TOOL_CALLS,
    CONF_TOOL_TIMEOUT,
    ServiceKind,
)

SECTION_LIMITS: Final = "limits"

_DEFAULTS: Final = Limits()
_LIMITS: Final[Mapping[str, tuple[int, int, int, str]]] = {
    CONF_MAX_ITERATIONS: (2, 50, _DEFAULTS.max_iterations, ""),
    CONF_MAX_TOOL_CALLS: (1, 200, _DEFAULTS.max_tool_calls, ""),
    CONF_DEADLINE: (5, 600, int(_DEFAULTS.deadline), "s"),
    CONF_TOOL_TIMEOUT: (1, 300, int(_DEFAULTS.tool_timeout), "s"),
}
"""Least, most, default and unit of each bound of a turn."""


class _UncheckedTemplateSelector(TemplateSelector):
    """A template field whose content the flow judges, so that the verdict can be translated."""

    @override
    def __call__(self, data: Any) -> str:
        text: str = vol.Schema(str)(data)
        return text


def new_agent_data(kind: ServiceKind, model: str = "") -> dict[str, Any]:
    """Return what is stored for an agent that nothing was set for."""
    if kind is ServiceKind.OFFLINE:
        return {}
    return {
        CONF_MODEL: model,
        CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
        **{name: default for name, (_, _, default, _) in _LIMITS.items()},
    }


def agent_schema(hass: HomeAssistant, models: Sequence[str]) -> vol.Schema:
    """Return the form of an agent that a model drives."""
    apis = [SelectOptionDict(value=api.id, label=api.name) for api in llm.async_get_apis(hass)]
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            vol.Required(CONF_MODEL): model_selector(models),
            vol.Optional(CONF_LLM_HASS_API): SelectSelector(SelectSelectorConfig(options=apis, multiple=True)),
            vol.Optional(CONF_PROMPT): _UncheckedTemplateSelector(),
            vol.Required(SECTION_LIMITS): section(
                vol.Schema({vol.Required(name): _number_selector(name) for name in _LIMITS}), {"collapsed": True}
            ),
        }
    )


def model_selector(models: Sequence[str]) -> SelectSelector | TextSelector:
    """Return the field for a model: the server's list and whatever is typed, or, without a list, plain text."""
    if not models:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(options=list(models), mode=SelectSelectorMode.DROPDOWN, custom_value=True)
    )


def only_model(models: Sequence[str]) -> str:
    """Return the model of a server that has one; empty when there is a choice to make."""
    return models[0] if len(models) == 1 else ""


def model_title(model: str) -> str:
    """Return a model's name as an agent's: without the folders and the ending of a file."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def as_form(hass: HomeAssistant, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Arrange what is stored as the form shows it, without LLM APIs that no longer exist."""
    known = {api.id for api in llm.async_get_apis(hass)}
    return {
        CONF_NAME: name,
        CONF_MODEL: data[CONF_MODEL],
        CONF_LLM_HASS_API: [api for api in data.get(CONF_LLM_HASS_API, []) if api in known],
        CONF_PROMPT: data.get(CONF_PROMPT, ""),
        SECTION_LIMITS: {name: data.get(name, default) for name, (_, _, default, _) in _LIMITS.items()},
    }


def as_data(form: Mapping[str, Any]) -> dict[str, Any]:
    """Arrange a filled-in form as it is stored; the name is the title of the subentry."""
    return {
        CONF_MODEL: form[CONF_MODEL].strip(),
        CONF_LLM_HASS_API: form.get(CONF_LLM_HASS_API, []),
        CONF_PROMPT: form.get(CONF_PROMPT, ""),
        **{name: int(value) for name, value in form[SECTION_LIMITS].items()},
    }


def _number_selector(name: str) -> NumberSelector:
    least, most, _, unit = _LIMITS[name]
    return NumberSelector(
        NumberSelectorConfig(min=least, max=most, step=1, mode=NumberSelectorMode.BOX)
        | (NumberSelectorConfig(unit_of_measurement=unit) if unit else NumberSelectorConfig())
    )

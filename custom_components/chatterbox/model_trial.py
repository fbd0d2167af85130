"""What both forms of a model ask before they are saved: whether it is filled in, and whether the model answers so.

Knows what can be wrong, and how a model is tried. Must not know how a dialog walks, or whether the model is one to talk
to or one for tasks.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from .agent.errors import ProviderError, ProviderRejectedRequest
from .agent_options import SECTION_MODEL_OPTIONS, Problem, asks_alike
from .agent_settings import AgentSettings
from .const import LOGGER
from .error_bridge import error_key
from .runtime import model_server


@callback
def async_find_gaps(hass: HomeAssistant, form: Mapping[str, Any]) -> list[Problem]:
    """Return what is missing in a form, or cannot be read: a name, a model, a template."""
    problems: list[Problem] = []
    if not form[CONF_NAME].strip():
        problems.append(Problem(CONF_NAME, "name_missing", {}))
    if not form[CONF_MODEL].strip():
        problems.append(Problem(CONF_MODEL, "model_missing", {}))
    try:
        Template(form.get(CONF_PROMPT, ""), hass).ensure_valid()
    except TemplateError as error:
        problems.append(Problem(CONF_PROMPT, "invalid_template", {"problem": str(error)}))
    return problems


async def async_try_model(
    hass: HomeAssistant, service: Mapping[str, Any], settings: AgentSettings, stored: AgentSettings
) -> list[Problem]:
    """Have the model answer as it would be asked, unless that is how it is asked already."""
    if asks_alike(settings, stored):
        return []
    try:
        await model_server(hass, service, settings).check()
    except ProviderError as error:
        LOGGER.debug("The model cannot be used: %s", error)
        has_options = not asks_alike(settings, AgentSettings(settings.model))
        if isinstance(error, ProviderRejectedRequest) and has_options:
            return [Problem(SECTION_MODEL_OPTIONS, "options_refused", {"refusal": str(error)})]
        return [Problem(CONF_MODEL, error_key(error), {})]
    return []

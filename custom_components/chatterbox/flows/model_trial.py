"""What both forms of a model find out before they are saved: whether it is filled in, answers so, and what it costs.

Knows what can be wrong, and how a model is tried. Must not know how a dialog walks, or whether the model is one to talk
to or one for tasks.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from ..agent.errors import ProviderError, ProviderRejectedRequest
from ..const import LOGGER
from ..runtime.composition import known_server, model_server
from ..settings.agent import AgentSettings
from ..settings.options import SECTION_COSTS, SECTION_MODEL_OPTIONS, Problem, asks_alike
from ..speech.sentences import error_key
from ..usage.costs import async_known_price, entered_price, price_words


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


async def async_price_words(
    hass: HomeAssistant, service: Mapping[str, Any], settings: AgentSettings, sentences: Mapping[str, str]
) -> str:
    """Say what is known of the price of a model."""
    known = await async_known_price(hass, service, known_server(service), settings)
    return price_words(sentences, settings.model, known)


async def async_find_idle_budget(
    hass: HomeAssistant, service: Mapping[str, Any], settings: AgentSettings
) -> list[Problem]:
    """Return a problem for a budget that nothing would ever be counted against."""
    if settings.budget_day is None and settings.budget_month is None:
        return []
    known = await async_known_price(hass, service, known_server(service), settings)
    if entered_price(settings, known) is not None:
        return []
    return [Problem(SECTION_COSTS, "budget_without_price", {"model": settings.model})]

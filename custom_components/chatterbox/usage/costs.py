"""What the model of an agent costs: what its owner has entered, else what is known of it.

Knows settings, services and the snapshot of prices. Must not know what was asked of a model, or what has been spent.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.core import HomeAssistant

from ..agent.providers.profiles import ServerProfile
from ..const import CONF_BASE_URL
from ..settings.agent import AgentSettings
from ..settings.service_address import is_in_the_house
from .prices import FREE, ModelPrice, Rates, async_get_known_models


async def async_known_price(
    hass: HomeAssistant, service: Mapping[str, Any], server: ServerProfile, settings: AgentSettings
) -> ModelPrice | None:
    """Return what a model costs if its owner says nothing; None where nobody knows.

    `service` is the data of an entry, `server` what is known of it. A server in the house costs nothing, unless it
    hands requests on to others.
    """
    base_url = service[CONF_BASE_URL]
    if is_in_the_house(base_url):
        return None if server.passes_on else ModelPrice(FREE)
    found = (await async_get_known_models(hass)).find(base_url, settings.model)
    return None if found is None else found.price(settings.service_tier)


def entered_price(settings: AgentSettings, known: ModelPrice | None) -> ModelPrice | None:
    """Return what a model costs, with what its owner has entered in place of what is `known`.

    None where a price is missing. Cached tokens without a price of their own cost as much as others.
    """
    entered = (settings.price_input, settings.price_cached, settings.price_output)
    if entered == (None, None, None):
        return known
    price_input, cached, output = entered
    if known is not None:
        price_input = known.usual.input if price_input is None else price_input
        cached = known.usual.cached if cached is None else cached
        output = known.usual.output if output is None else output
    if price_input is None or output is None:
        return None
    return ModelPrice(Rates(price_input, price_input if cached is None else cached, output))


def price_words(sentences: Mapping[str, str], model: str, known: ModelPrice | None) -> str:
    """Say what is known of the price of a model; `model` is empty before one was chosen."""
    match known:
        case ModelPrice(usual=rates) if rates == FREE:
            return sentences["price_free"]
        case ModelPrice(usual=rates) if model:
            numbers = {"input": rates.input, "cached": rates.cached, "output": rates.output}
            return sentences["price_known"].format(model=model, **{name: f"{one:g}" for name, one in numbers.items()})
        case _ if model:
            return sentences["price_unknown"].format(model=model)
        case _:
            return sentences["price_of_no_model"]

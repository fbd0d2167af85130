"""What a model costs: what its owner says, else what is known, else nobody knows."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.providers.profiles import LITELLM, OTHER, ServerProfile
from custom_components.chatterbox.const import CONF_BASE_URL
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.service_address import is_in_the_house
from custom_components.chatterbox.usage.costs import async_known_price, entered_price, price_words
from custom_components.chatterbox.usage.prices import FREE, ModelPrice, Rates

KNOWN = ModelPrice(Rates(1, 0.5, 4), ((1000, Rates(2, 1, 8)),))
WORDS = {
    "price_free": "free",
    "price_known": "{model} {input} {cached} {output}",
    "price_unknown": "unknown {model}",
    "price_of_no_model": "no model",
}


async def known(
    hass: HomeAssistant, base_url: str, server: ServerProfile = OTHER, **settings: str
) -> ModelPrice | None:
    """Return what the model of a service costs by default."""
    service = {CONF_BASE_URL: base_url}
    return await async_known_price(
        hass, service, server, AgentSettings(model="gpt-5", service_tier=settings.get("tier"))
    )


async def test_the_model_of_a_service_costs_what_the_snapshot_says(hass: HomeAssistant) -> None:
    assert await known(hass, "https://api.openai.com/v1") == ModelPrice(Rates(1.25, 0.125, 10))
    assert await known(hass, "https://api.openai.com/v1", tier="flex") == ModelPrice(Rates(0.625, 0.0625, 5))


async def test_nobody_knows_what_another_service_takes(hass: HomeAssistant) -> None:
    assert await known(hass, "https://models.example.com/v1") is None


async def test_a_server_in_the_house_costs_nothing_unless_it_asks_others(hass: HomeAssistant) -> None:
    assert await known(hass, "http://192.168.1.5:8080") == ModelPrice(FREE)
    assert await known(hass, "http://192.168.1.5:4000", LITELLM) is None


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:11434",
        "http://127.0.0.1:1",
        "http://[::1]:8080/v1",
        "http://[fd12:3456::1]:8080",
        "http://10.0.0.3",
        "http://172.30.32.1:8000",
        "http://gpu.local:8080",
        "http://Gpu.LAN.:8080",
        "http://ollama.home.arpa",
        "http://addon_llama",
    ],
)
def test_addresses_in_the_house(address: str) -> None:
    assert is_in_the_house(address)


@pytest.mark.parametrize(
    "address", ["https://api.openai.com/v1", "http://8.8.8.8", "https://local.example.org", "http://[2606:4700::1111]"]
)
def test_addresses_elsewhere(address: str) -> None:
    assert not is_in_the_house(address)


@pytest.mark.parametrize(
    ("settings", "known_price", "price"),
    [
        (AgentSettings(), KNOWN, KNOWN),
        (AgentSettings(), None, None),
        (AgentSettings(price_input=3), KNOWN, ModelPrice(Rates(3, 0.5, 4))),
        (AgentSettings(price_cached=0), KNOWN, ModelPrice(Rates(1, 0, 4))),
        (AgentSettings(price_output=0), KNOWN, ModelPrice(Rates(1, 0.5, 0))),
        (AgentSettings(price_input=3, price_output=5), None, ModelPrice(Rates(3, 3, 5))),
        (AgentSettings(price_input=3, price_cached=2, price_output=5), None, ModelPrice(Rates(3, 2, 5))),
        (AgentSettings(price_input=3), None, None),
        (AgentSettings(price_cached=2, price_output=5), None, None),
    ],
)
def test_what_the_owner_says_counts(
    settings: AgentSettings, known_price: ModelPrice | None, price: ModelPrice | None
) -> None:
    assert entered_price(settings, known_price) == price


@pytest.mark.parametrize(
    ("model", "price", "words"),
    [
        ("gpt-5", ModelPrice(Rates(1.25, 0.125, 10)), "gpt-5 1.25 0.125 10"),
        ("gpt-5", ModelPrice(FREE), "free"),
        ("", ModelPrice(FREE), "free"),
        ("mine", None, "unknown mine"),
        ("", None, "no model"),
    ],
)
def test_it_is_said_in_words(model: str, price: ModelPrice | None, words: str) -> None:
    assert price_words(WORDS, model, price) == words

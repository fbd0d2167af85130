"""Prices of models: the released snapshot, and what the owner has entered."""

from pathlib import Path

import pytest
from homeassistant.core import HomeAssistant

import custom_components.chatterbox
from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.agent.providers.profiles import (
    OTHER,
    PROFILES,
    ServerProfile,
)
from custom_components.chatterbox.const import CONF_BASE_URL
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.service_address import is_local_address
from custom_components.chatterbox.usage.prices import (
    KnownModel,
    KnownModels,
    async_known_price,
    entered_price,
    read_known_models,
)
from custom_components.chatterbox.usage.tracker import FREE, ModelPrice, Rates
from tests.support.one_home import in_one_home

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
OPENROUTER = "https://openrouter.ai/api/v1"
FILE = Path(custom_components.chatterbox.__file__).parent / "usage" / "prices.json"


@pytest.fixture(scope="module")
def known() -> KnownModels:
    return read_known_models()


def test_every_home_can_afford_to_install_it() -> None:
    assert FILE.stat().st_size < 100_000


def test_its_source_and_licence_stand_in_it(known: KnownModels) -> None:
    assert known.source.startswith("genai-prices ")
    assert known.licence.startswith("The MIT License")


def test_every_service_with_an_address_of_its_own_is_in_it(known: KnownModels) -> None:
    """A profile with hosts is a service that somebody pays for."""
    theirs = {profile.host for profile in PROFILES.values() if profile.host}

    assert theirs <= {host for service in known.services for host in service.hosts}


def test_cached_input_costs_no_more_than_fresh_input_and_output_no_less(
    known: KnownModels,
) -> None:
    """A slip of columns would be expensive."""
    for service in known.services:
        prices = [
            price for model in service.models if (price := model.price()) is not None
        ]
        cheaper_to_write = [
            price for price in prices if price.usual.output < price.usual.input
        ]

        assert prices, service.hosts
        assert all(price.usual.cached <= price.usual.input for price in prices)
        assert len(cheaper_to_write) <= len(prices) // 10, service.hosts


@pytest.mark.parametrize(
    ("base_url", "model", "usual"),
    [
        (OPENAI, "gpt-5-mini", Rates(0.25, 0.025, 2)),
        (OPENAI, " GPT-5-mini-2025-08-07 ", Rates(0.25, 0.025, 2)),
        (ANTHROPIC, "claude-opus-4-5-20251101", Rates(5, 0.5, 25)),
        ("https://proxy.api.anthropic.com/v1", "claude-opus-4-5", Rates(5, 0.5, 25)),
        (ANTHROPIC, "claude-opus-5-5-20260801", Rates(4, 0.2, 20)),
        (GEMINI, "models/gemini-2.5-flash", Rates(0.3, 0.03, 2.5)),
        (OPENROUTER, "anyone/anything:free", Rates(0, 0, 0)),
    ],
)
def test_a_model_is_found_by_the_address_of_its_service_and_its_name(
    known: KnownModels, base_url: str, model: str, usual: Rates
) -> None:
    found = known.find(base_url, model)

    assert found is not None
    price = found.price()
    assert price is not None
    assert price.usual == usual


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        (OPENAI, "gpt-5-mini-of-somebody"),
        ("https://notapi.openai.com.example/v1", "gpt-5-mini"),
        ("http://192.168.1.5:8080/v1", "gpt-5-mini"),
        ("", "gpt-5-mini"),
    ],
)
def test_an_unknown_model_has_no_price(
    known: KnownModels, base_url: str, model: str
) -> None:
    assert known.find(base_url, model) is None


def test_the_context_window_of_a_model_is_known(known: KnownModels) -> None:
    found = known.find(OPENAI, "gpt-5-mini")

    assert found is not None
    assert found.window == 400_000


def test_a_service_tier_has_prices_of_its_own(known: KnownModels) -> None:
    model = known.find(OPENAI, "gpt-5")

    assert model is not None
    assert model.price("flex") == ModelPrice(Rates(0.625, 0.0625, 5))
    assert model.price("priority") == ModelPrice(Rates(2.5, 0.25, 20))
    assert (
        model.price("default")
        == model.price("auto")
        == model.price()
        == ModelPrice(Rates(1.25, 0.125, 10))
    )


def test_a_long_request_costs_more_as_a_whole() -> None:
    model = KnownModel.model_validate(
        {
            "names": ["m"],
            "input": 1,
            "cached": 0.5,
            "output": 2,
            "longer": [{"than": 1000, "input": 10, "output": 20}],
        }
    )
    price = model.price()

    assert price is not None
    assert price.cost(Usage(1000, 100, 500)) == pytest.approx(
        (500 * 1 + 500 * 0.5 + 100 * 2) / 1e6
    )
    assert price.cost(Usage(1001, 100, 501)) == pytest.approx(
        (500 * 10 + 501 * 0.5 + 100 * 20) / 1e6
    )


def test_without_a_price_for_cached_input_it_costs_as_much_as_other_input() -> None:
    price = KnownModel(names=("m",), input=3, output=4).price()

    assert price is not None
    assert price.usual == Rates(3, 3, 4)


def test_a_model_of_which_only_the_window_is_known_has_no_price() -> None:
    assert KnownModel(names=("m",), window=8192).price() is None


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("big", "big", "bigger"),
        ("big*", "bigger", "a-big"),
        ("*big", "a-big", "bigger"),
        ("*big*", "a-bigger", "bg"),
        (r"/^big-\d{4}$/", "big-2026", "big-26"),
    ],
)
def test_names_are_patterns(pattern: str, fitting: str, other: str) -> None:
    model = KnownModel(names=("else", pattern))

    assert model.fits(fitting)
    assert not model.fits(other)


def test_more_cached_than_read_is_never_a_gain() -> None:
    assert Rates(1, 0.1, 1).cost(Usage(100, 0, 200)) == pytest.approx(100 * 0.1 / 1e6)


KNOWN = ModelPrice(Rates(1, 0.5, 4), ((1000, Rates(2, 1, 8)),))


@in_one_home(
    ("base_url", "server", "service_tier", "price"),
    [
        (OPENAI, OTHER, None, ModelPrice(Rates(1.25, 0.125, 10))),
        (OPENAI, OTHER, "flex", ModelPrice(Rates(0.625, 0.0625, 5))),
        ("https://models.example.com/v1", OTHER, None, None),
        ("http://192.168.1.5:8080", OTHER, None, ModelPrice(FREE)),
        ("http://192.168.1.5:4000", PROFILES["litellm"], None, None),
    ],
    ids=["known", "tier", "unknown", "local", "passes on"],
)
async def test_a_model_has_the_price_of_its_service(
    hass: HomeAssistant,
    base_url: str,
    server: ServerProfile,
    service_tier: str | None,
    price: ModelPrice | None,
) -> None:
    settings = AgentSettings(model="gpt-5", service_tier=service_tier)

    assert (
        await async_known_price(hass, {CONF_BASE_URL: base_url}, server, settings)
        == price
    )


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:1", True),
        ("http://[::1]:8080/v1", True),
        ("http://[fd12:3456::1]:8080", True),
        ("http://172.30.32.1:8000", True),
        ("http://gpu.local:8080", True),
        ("http://Gpu.LAN.:8080", True),
        ("http://ollama.home.arpa", True),
        ("http://addon_llama", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8", False),
        ("https://local.example.org", False),
        ("http://[2606:4700::1111]", False),
    ],
)
def test_local_addresses(address: str, *, is_local: bool) -> None:
    assert is_local_address(address) == is_local


@pytest.mark.parametrize(
    ("settings", "known_price", "price"),
    [
        (AgentSettings(), KNOWN, KNOWN),
        (AgentSettings(), None, None),
        (AgentSettings(price_input=3), KNOWN, ModelPrice(Rates(3, 0.5, 4))),
        (AgentSettings(price_cached=0), KNOWN, ModelPrice(Rates(1, 0, 4))),
        (AgentSettings(price_output=0), KNOWN, ModelPrice(Rates(1, 0.5, 0))),
        (
            AgentSettings(price_input=3, price_output=5),
            None,
            ModelPrice(Rates(3, 3, 5)),
        ),
        (
            AgentSettings(price_input=3, price_cached=2, price_output=5),
            None,
            ModelPrice(Rates(3, 2, 5)),
        ),
        (AgentSettings(price_input=3), None, None),
        (AgentSettings(price_cached=2, price_output=5), None, None),
    ],
)
def test_entered_prices_replace_known_ones(
    settings: AgentSettings, known_price: ModelPrice | None, price: ModelPrice | None
) -> None:
    assert entered_price(settings, known_price) == price

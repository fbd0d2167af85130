"""Prices in an agent's dialog: its sentences about them, and the handling of those that are entered."""

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import CONF_SERVER, DOMAIN
from custom_components.chatterbox.flows.model_flow import price_words
from custom_components.chatterbox.settings.agent import WhenSpent, settings_of
from custom_components.chatterbox.usage.tracker import FREE, ModelPrice, Rates
from tests.flows.agent_forms import advanced, change, submit
from tests.flows.test_agent_flow import filled_in, suggested, text_of_error
from tests.support.config_entries import only_agent, server_entry, set_up
from tests.support.service_dialogs import problems_in


def gateway_entry(address: str) -> MockConfigEntry:
    """Return an entry for a server in the home that asks others, so that nobody knows what its model costs."""
    data = {**server_entry(address).data, CONF_SERVER: "litellm"}
    (agent,) = server_entry(address).subentries.values()
    subentry = {
        "subentry_type": agent.subentry_type,
        "title": "Talker",
        "unique_id": None,
        "data": dict(agent.data),
    }
    return MockConfigEntry(
        domain=DOMAIN, title="The gateway", data=data, subentries_data=[subentry]
    )


async def known_price(hass: HomeAssistant, entry: MockConfigEntry) -> str:
    """Return what the dialog of the agent of an entry says of its price."""
    placeholders = (await change(hass, entry, "advanced"))["description_placeholders"]
    assert placeholders is not None
    return placeholders["known_price"]


async def test_a_local_server_is_free(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:

    assert (await known_price(hass, entry)).startswith(
        "A server at home is free of charge"
    )


async def test_prices_and_budgets_are_stored_as_they_are_entered(
    hass: HomeAssistant, address: str
) -> None:
    costs = {
        "price_input": 0.0028,
        "price_cached": 0.0,
        "price_output": 2.5,
        "budget_day": 0.5,
        "when_spent": "refuse",
    }
    entry = await set_up(hass, server_entry(address))
    await submit(hass, await change(hass, entry), filled_in(budget_month=10.0))
    result = await submit(
        hass, await change(hass, entry, "advanced"), advanced(limits=costs)
    )
    assert result["type"] == "abort", problems_in(result)
    stored = settings_of(only_agent(entry).data)
    shown_again = suggested(await change(hass, entry, "advanced"))["limits"]
    assert suggested(await change(hass, entry))["budget_month"] == 10

    assert (stored.price_input, stored.price_cached, stored.price_output) == (
        0.0028,
        0,
        2.5,
    )
    assert (stored.budget_day, stored.budget_month, stored.when_spent) == (
        0.5,
        10,
        WhenSpent.REFUSE,
    )
    assert shown_again.items() >= costs.items()


async def test_a_budget_without_a_price_is_refused_and_kept(
    hass: HomeAssistant, address: str
) -> None:
    costs = {"price_input": 3.0, "budget_day": 1.0, "when_spent": "hand_over"}
    entry = await set_up(hass, gateway_entry(address))
    result = await submit(
        hass, await change(hass, entry, "advanced"), advanced(limits=costs)
    )
    assert text_of_error(result, "limits").startswith(
        "The prices of scripted-model are not known"
    )
    assert suggested(result)["limits"] == costs
    result = await submit(hass, await change(hass, entry), filled_in(budget_month=10))
    assert text_of_error(result, "budget_month").startswith(
        "The prices of scripted-model are not known"
    )

    step = await change(hass, entry, "advanced")
    mended = await submit(hass, step, advanced(limits=costs | {"price_output": 9.0}))
    assert mended["type"] == "abort", problems_in(mended)


WORDS = {
    "price_free": "free",
    "price_known": "{model} {input} {cached} {output}",
    "price_unknown": "unknown {model}",
    "price_of_no_model": "no model",
}


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

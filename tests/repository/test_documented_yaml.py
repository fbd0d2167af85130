"""Every automation, script and card of the documentation can be pasted into Home Assistant as it stands."""

import re

import pytest
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import parse_yaml

from tests.support.config_entries import server_entry, set_up
from tests.support.page_tables import DOCS
from tests.support.servers.in_process import address_without_server

_ALL = [
    pytest.param(block, id=f"{page.stem} {number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(
        re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL), 1
    )
]
_CARDS = [block for block in _ALL if str(block.values[0]).startswith("type:")]
_BLOCKS = [block for block in _ALL if block not in _CARDS]


@pytest.mark.each_row
@pytest.mark.parametrize("block", _BLOCKS)
async def test_home_assistant_takes_it(hass: HomeAssistant, block: str) -> None:
    parsed = parse_yaml(block)
    assert isinstance(parsed, dict)
    domain = "automation" if "actions" in parsed else "script"
    # Home Assistant's editor takes a script without its id.
    config = parsed if domain == "automation" else {"example": parsed}
    assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    states = [state.state for state in hass.states.async_all(domain)]
    assert states != []
    assert STATE_UNAVAILABLE not in states
    await hass.services.async_call(
        domain, "turn_off", {"entity_id": "all"}, blocking=True
    )  # and its timers


@pytest.mark.parametrize("block", _CARDS)
@pytest.mark.usefixtures("socket_enabled")
async def test_a_card_shows_statistics_of_sensors_that_an_agent_has(
    hass: HomeAssistant, block: str
) -> None:
    entry = await set_up(hass, server_entry(address_without_server()))
    card = parse_yaml(block.replace("butler", "talker"))
    known = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    measured = {
        one.entity_id for one in known if (one.capabilities or {}).get("state_class")
    }
    assert isinstance(card, dict)
    assert {*card["entities"]} <= measured
    assert {*card["stat_types"]} <= {"change", "max", "mean", "min", "state", "sum"}


def test_the_examples_are_found() -> None:
    assert len(_BLOCKS) > 8
    assert len(_CARDS) > 1

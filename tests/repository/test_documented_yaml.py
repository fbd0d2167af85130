"""Every automation and script of the documentation can be pasted into Home Assistant as it stands."""

import re

import pytest
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import parse_yaml

from tests.support.page_tables import DOCS

_BLOCKS = [
    pytest.param(block, id=f"{page.stem} {number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL), 1)
]


@pytest.mark.parametrize("block", _BLOCKS)
async def test_home_assistant_takes_it(hass: HomeAssistant, block: str) -> None:
    parsed = parse_yaml(block)
    assert isinstance(parsed, dict)
    domain = "automation" if "actions" in parsed else "script"
    assert await async_setup_component(hass, domain, {domain: parsed})
    await hass.async_block_till_done()
    states = [state.state for state in hass.states.async_all(domain)]
    assert states != []
    assert STATE_UNAVAILABLE not in states
    await hass.services.async_call(domain, "turn_off", {"entity_id": "all"}, blocking=True)  # and its timers


def test_the_examples_are_found() -> None:
    assert len(_BLOCKS) > 8

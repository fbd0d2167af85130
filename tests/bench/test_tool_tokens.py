"""The table of the tokens of tools in the documentation is true of our own, of which two have a bound."""

import re

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from bench.tool_tokens import table, tokens
from custom_components.chatterbox.const import DOMAIN
from tests import REPOSITORY
from tests.support.talk import move_into_the_demo_home

_PAGE = REPOSITORY / "docs" / "past.md"


async def test_the_table_is_true(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    assert await async_setup_component(hass, DOMAIN, {})
    hass.config.components.add("recorder")

    counted = await tokens(hass)

    own = {name: count for name, count in counted.items() if name.startswith(DOMAIN)}
    rows = re.findall(r"\| `(\w+)` \| (\d+) \|", _PAGE.read_text(encoding="utf-8"))
    assert {name: int(count) for name, count in rows if name.startswith(DOMAIN)} == own
    assert own["chatterbox__get_past"] <= 200
    assert own["chatterbox__later"] <= 260
    assert table({"b": 1, "a": 2}).splitlines()[2:] == ["| `a` | 2 |", "| `b` | 1 |"]

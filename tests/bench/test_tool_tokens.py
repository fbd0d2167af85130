"""The table of the tokens of tools in the documentation is true, and has a bound."""

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from bench.tool_tokens import PAGE, table, tokens
from custom_components.chatterbox.const import DOMAIN
from tests.support.talk import move_into_the_demo_home

_MOST: dict[str, int] = {
    "chatterbox__later": 260,
    "media_player": 285,
    "chatterbox__calendar": 175,
    "chatterbox__get_past": 180,
    "chatterbox__memory": 155,
}
"""Tokens of the largest tools; each other one has at most `_MOST_OF_OTHERS`."""
_MOST_OF_OTHERS = 140
_MOST_OF_ALL = 2_925


async def test_the_table_is_true_and_no_tool_takes_more_than_it_may(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert await async_setup_component(hass, DOMAIN, {})
    hass.config.components.add("recorder")

    counted = await tokens(hass)

    assert table(counted) in PAGE.read_text(encoding="utf-8")
    for name, count in counted.items():
        assert count <= _MOST.get(name, _MOST_OF_OTHERS), name
    assert sum(counted.values()) <= _MOST_OF_ALL
    assert table({"b": 1, "a": 2}).splitlines()[2:] == [
        "| `a` | 2 |",
        "| `b` | 1 |",
        "| all 2 | 3 |",
    ]

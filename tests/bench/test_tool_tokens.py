"""The tables of the tokens of tools in the documentation are true, and have bounds."""

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from bench.tool_tokens import PAGE, equip, own_tokens, tables, tokens
from custom_components.chatterbox.const import DOMAIN
from tests.support.talk import move_into_the_demo_home

_MOST: dict[str, int] = {
    "media_player": 271,
    "later": 205,
    "memory": 136,
    "todo": 131,
    "get_past": 127,
}
"""Tokens of the largest tools; each other one has at most `_MOST_OF_OTHERS`."""
_MOST_OF_OTHERS = 125
_MOST_OF_ALL = 2_400
_MOST_OF_OURS = 900


async def test_the_tables_are_true_and_no_tool_takes_more_than_it_may(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert await async_setup_component(hass, DOMAIN, {})
    equip(hass)

    counted, own = await tokens(hass), await own_tokens(hass)

    assert tables(counted, own) in PAGE.read_text(encoding="utf-8")
    for name, count in counted.items():
        assert count <= _MOST.get(name, _MOST_OF_OTHERS), name
    assert sum(counted.values()) <= _MOST_OF_ALL
    assert max(own.values()) <= _MOST_OF_OURS
    assert tables({"b": 1, "a": 2}, {"ours": 1}).splitlines() == [
        "| tool | tokens |",
        "| --- | --- |",
        "| `a` | 2 |",
        "| `b` | 1 |",
        "| all 2 | 3 |",
        "",
        "| tools | tokens |",
        "| --- | --- |",
        "| ours | 1 |",
    ]

"""The page `docs/diagnosing.md` explains a download, and shows a turn of one.

The turn is of a real download; `pytest tests/repository/test_diagnostics_page.py
--write-pages` takes a new one, which takes some seconds, because its servers are slow.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from homeassistant.components.diagnostics import REDACTED
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

import custom_components
from custom_components.chatterbox.agent.events import Phase, StopReason
from custom_components.chatterbox.agent.providers.managed_provider import BreakerState
from custom_components.chatterbox.const import DOMAIN
from tests.support.diagnosed_home import example_blocks, live_in_it, with_blocks

PAGE = Path(custom_components.__file__).parents[1] / "docs" / "diagnosing.md"
TOOLS_SHOWN = 3
COUNTS = {
    "tokens",
    "characters",
    "instructions",
    "home",
    "tools",
    "total",
    "conversation",
    "percent_of_window",
} | {"seconds_until_probe"}
PARTS = {"versions", "entry", "history"}


async def test_the_page_shows_a_download_as_it_is(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    pytestconfig: pytest.Config,
) -> None:
    is_writing = bool(pytestconfig.getoption("--write-pages"))
    assert await async_setup_component(hass, "diagnostics", {})
    entry = await live_in_it(hass, slowness=1.0 if is_writing else 0.0)
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, "butler"), entry.entry_id
    )
    assert device
    response = await (await hass_client()).get(
        f"/api/diagnostics/config_entry/{entry.entry_id}/device/{device.id}"
    )
    blocks = blocks_of((await response.json())["data"])
    turn = blocks[-1]
    if is_writing:
        write([turn])

    assert [masked(block) for block in example_blocks(read())] == [masked(turn)]
    names = {str(name) for block in blocks for name in names_in(block)}
    assert {name for name in names if f"`{name}`" not in explained()} == set()


def test_the_page_explains_every_word_that_a_download_may_hold() -> None:
    words = {*StopReason} | {*BreakerState} | {*Phase} - {Phase.CLIENT_INTERRUPT}
    assert {word for word in words if f"`{word}`" not in explained()} == set()


def blocks_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a download in the parts in which the page shows it."""
    (agent,) = data["agents"]
    first, second = agent["turns"]
    prompt = agent["prompt_tokens"]
    prompt["each_tool"] = prompt["each_tool"][:TOOLS_SHOWN]
    agent["entities"] = agent["entities"][:1]
    data["history"]["database"] = "/config/chatterbox.db"
    data["entry"]["data"]["base_url"] = "http://big.local:8080/v1"
    return [
        {name: data[name] for name in data if name in PARTS},
        {name: agent[name] for name in ("title", "type", "data", "entities")},
        {"chain": agent["chain"]},
        {"prompt_tokens": prompt},
        {"turns": [first]},
        {"turns": [second]},
    ]


def masked(value: Any, name: str = "") -> Any:
    """Return a part of a download without what is different each time: moments, durations, counts of the home."""
    match value:
        case dict():
            return {key: masked(one, key) for key, one in value.items()}
        case list():
            return [masked(one, name) for one in value]
        case bool() | None:
            return value
        case float():
            return 0.0
        case int() if name in COUNTS:
            return 0
        case str() if name in {
            "turn_id",
            "began_at",
            "chatterbox",
            "home_assistant",
            "state",
        }:
            return REDACTED
        case _:
            return value


def names_in(value: Any) -> set[str]:
    """Return all names of fields."""
    match value:
        case dict():
            return set(value) | {
                name for one in value.values() for name in names_in(one)
            }
        case list():
            return {name for one in value for name in names_in(one)}
        case _:
            return set()


def read() -> str:
    """Return the page."""
    return PAGE.read_text(encoding="utf-8")


def explained() -> str:
    """Return the page without its example."""
    return re.sub(r"```json.*?```", "", read(), flags=re.DOTALL)


def write(blocks: list[dict[str, Any]]) -> None:
    """Put new examples into the page."""
    PAGE.write_text(with_blocks(read(), blocks), encoding="utf-8")

"""Sets up a demo house in a running `hass`, acts in it and looks at its states."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from homeassistant.core import HomeAssistant, State
from homeassistant.setup import async_setup_component
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.demo_house.const import CONF_HOME, CONF_SETUP, DOMAIN
from custom_components.demo_house.home import Home

type Call = tuple[str, dict[str, JsonValue]]
"""A service of an entity's own domain, and its data."""


def read_devices() -> str:
    """Return the text of a home with every kind of device."""
    return (Path(__file__).parent / "devices.yaml").read_text(encoding="utf-8")


async def move_in(
    hass: HomeAssistant, home: str, setup: Mapping[str, JsonValue] | None = None
) -> MockConfigEntry:
    """Build the home of a file's text, with `setup` merged into it; return its loaded config entry."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Demo house",
        data={CONF_HOME: home, CONF_SETUP: dict(setup or {})},
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


def states_of(hass: HomeAssistant, entry: MockConfigEntry) -> list[State]:
    """Return the states of the home's entities, in the order of its file; an entity without one fails the test."""
    home: Home = entry.runtime_data
    states = [hass.states.get(entity.id) for entity in home.entities]
    assert all(states)
    return [state for state in states if state]


async def act(hass: HomeAssistant, entity_id: str, calls: Sequence[Call]) -> State:
    """Call services on an entity, one after the other; return its state after the last."""
    for service, data in calls:
        domain = entity_id.partition(".")[0]
        await hass.services.async_call(
            domain, service, {"entity_id": entity_id, **data}, blocking=True
        )
    state = hass.states.get(entity_id)
    assert state is not None
    return state

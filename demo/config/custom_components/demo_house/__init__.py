"""Demo house: a house file becomes floors, areas, devices and entities that behave like real devices.

It serves the demo and the tests and is no part of the release. Every action takes effect at once, nothing happens by
itself, and nothing leaves the process.
"""

from collections.abc import Mapping
from pathlib import Path

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryError
from pydantic import JsonValue

from .const import CONF_HOUSE, CONF_HOUSE_FILE, CONF_SETUP
from .house import House, HouseFileError, read_house
from .registries import create_places_and_devices, introduce_entities

type DemoHouseConfigEntry = ConfigEntry[House]
"""Its data holds the house file's path or text, and what differs from it (see `const.py`)."""


async def async_setup_entry(hass: HomeAssistant, entry: DemoHouseConfigEntry) -> bool:
    """Build the house of the entry; raise `ConfigEntryError` when its file describes none."""
    try:
        house = await hass.async_add_executor_job(_read_house, entry.data)
    except (HouseFileError, OSError) as error:
        raise ConfigEntryError(f"The house cannot be built: {error}") from error
    entry.runtime_data = house
    create_places_and_devices(hass, entry.entry_id, house)
    await hass.config_entries.async_forward_entry_setups(entry, _platforms(house))
    introduce_entities(hass, house)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: DemoHouseConfigEntry) -> bool:
    """Take the entities away; floors, areas and devices stay for the next setup."""
    return await hass.config_entries.async_unload_platforms(entry, _platforms(entry.runtime_data))


def _read_house(data: Mapping[str, JsonValue]) -> House:
    """Read the house of an entry's data. Touches the disk."""
    text = data.get(CONF_HOUSE)
    if not isinstance(text, str):
        text = Path(str(data[CONF_HOUSE_FILE])).read_text(encoding="utf-8")
    setup = data.get(CONF_SETUP)
    return read_house(text, setup if isinstance(setup, dict) else None)


def _platforms(house: House) -> list[Platform]:
    return sorted({Platform(entity.id.partition(".")[0]) for entity in house.entities})

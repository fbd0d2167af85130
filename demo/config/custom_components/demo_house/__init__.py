"""Demo home: a home file becomes floors, areas, devices and entities that behave like real devices.

It serves the demo and the tests and is no part of the release. Every action takes
effect at once, nothing happens by itself, and nothing leaves the process.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from homeassistant.components.recorder.const import DOMAIN as RECORDER
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryError
from pydantic import JsonValue

from .const import CONF_HOME, CONF_HOME_FILE, CONF_SETUP
from .home import Home, HomeFileError, read_home
from .registries import create_places_and_devices, introduce_entities

type DemoHouseConfigEntry = ConfigEntry[Home]
"""Its data holds the home file's path or text, and what differs from it (see `const.py`)."""


async def async_setup_entry(hass: HomeAssistant, entry: DemoHouseConfigEntry) -> bool:
    """Build the home of the entry; raise `ConfigEntryError` when its file describes none."""
    try:
        home = await hass.async_add_executor_job(_read_home, entry.data)
    except (HomeFileError, OSError) as error:
        raise ConfigEntryError(f"The home cannot be built: {error}") from error
    entry.runtime_data = home
    create_places_and_devices(hass, entry.entry_id, home)
    if RECORDER in hass.config.components:
        _record_earlier_states(hass, home)
    await hass.config_entries.async_forward_entry_setups(entry, _platforms(home))
    introduce_entities(hass, home)
    return True


def _record_earlier_states(hass: HomeAssistant, home: Home) -> None:
    """Let the recorder see the earlier states of entities that are not there yet."""
    for entity in home.entities:
        if hass.states.get(entity.id) is None:
            for minutes, state in entity.was:
                hass.states.async_set(
                    entity.id, state, timestamp=time.time() - minutes * 60
                )
            hass.states.async_remove(entity.id)


async def async_unload_entry(hass: HomeAssistant, entry: DemoHouseConfigEntry) -> bool:
    """Take the entities away; floors, areas and devices stay for the next setup."""
    return await hass.config_entries.async_unload_platforms(
        entry, _platforms(entry.runtime_data)
    )


def _read_home(data: Mapping[str, JsonValue]) -> Home:
    """Read the home of an entry's data. Touches the disk."""
    text = data.get(CONF_HOME)
    if not isinstance(text, str):
        text = Path(str(data[CONF_HOME_FILE])).read_text(encoding="utf-8")
    setup = data.get(CONF_SETUP)
    return read_home(text, setup if isinstance(setup, dict) else None)


def _platforms(home: Home) -> list[Platform]:
    return sorted({Platform(entity.id.partition(".")[0]) for entity in home.entities})

"""Stands in for Home Assistant's integration of llama.cpp, whose library is not installed: it only has the entries."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:  # noqa: ARG001  # Home Assistant's signature
    """Set nothing up."""
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:  # noqa: ARG001  # Home Assistant's signature
    """Leave nothing behind."""
    return True

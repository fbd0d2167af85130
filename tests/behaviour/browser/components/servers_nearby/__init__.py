"""Has Chatterbox look for model servers at addresses of the test, and nowhere else."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.typing import ConfigType

from custom_components.chatterbox.runtime.discovery import usual_addresses


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Take the addresses from the configuration."""
    usual_addresses(hass)[:] = config["servers_nearby"]
    return True

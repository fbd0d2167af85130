"""Buttons of a demo house."""

from typing import override

from homeassistant.components.button import ButtonEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeButton


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the buttons of the home."""
    async_add_entities(
        DemoButton(entry, button)
        for button in entry.runtime_data.entities_of(HomeButton)
    )


class DemoButton(DemoHouseEntity, ButtonEntity):
    """A button, such as a bell's: that it was pressed, and when, is all there is to see."""

    def __init__(self, entry: DemoHouseConfigEntry, button: HomeButton) -> None:
        """Take the kind of the home file."""
        super().__init__(entry, button)
        self._attr_device_class = button.device_class

    @override
    async def async_press(self) -> None:
        """Be pressed; Home Assistant itself notes the time as the state."""

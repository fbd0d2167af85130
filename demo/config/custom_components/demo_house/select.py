"""Choices of a demo house."""

from typing import override

from homeassistant.components.select import SelectEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeSelect


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the choices of the home."""
    async_add_entities(
        DemoSelect(entry, select)
        for select in entry.runtime_data.entities_of(HomeSelect)
    )


class DemoSelect(DemoHouseEntity, SelectEntity):
    """One choice among several."""

    def __init__(self, entry: DemoHouseConfigEntry, select: HomeSelect) -> None:
        """Take the choice of the home file."""
        super().__init__(entry, select)
        self._attr_current_option = select.state
        self._attr_options = list(select.options)

    @override
    async def async_select_option(self, option: str) -> None:
        """Choose; Home Assistant lets only the options through."""
        self._attr_current_option = option
        self.async_write_ha_state()

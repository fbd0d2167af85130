"""Vacuum robots of a demo house."""

from typing import Any, override

from homeassistant.components.vacuum import StateVacuumEntity, VacuumActivity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeVacuum


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the vacuum robots of the home."""
    async_add_entities(
        DemoVacuum(entry, vacuum)
        for vacuum in entry.runtime_data.entities_of(HomeVacuum)
    )


class DemoVacuum(DemoHouseEntity, StateVacuumEntity):
    """A vacuum robot; one that was sent home stays on its way, because nothing in this home happens by itself."""

    def __init__(self, entry: DemoHouseConfigEntry, vacuum: HomeVacuum) -> None:
        """Take the state of the home file."""
        super().__init__(entry, vacuum)
        self._attr_activity = vacuum.state
        self._attr_supported_features = vacuum.supported_features
        self._attr_fan_speed = vacuum.fan_speed
        self._attr_fan_speed_list = list(vacuum.fan_speed_list)

    @override
    async def async_start(self) -> None:
        """Start or resume cleaning."""
        self._do(VacuumActivity.CLEANING)

    @override
    async def async_pause(self) -> None:
        """Pause."""
        self._do(VacuumActivity.PAUSED)

    @override
    async def async_stop(self, **kwargs: Any) -> None:
        """Stop cleaning."""
        self._do(VacuumActivity.IDLE)

    @override
    async def async_return_to_base(self, **kwargs: Any) -> None:
        """Set off for the dock."""
        self._do(VacuumActivity.RETURNING)

    @override
    async def async_clean_spot(self, **kwargs: Any) -> None:
        """Clean around where it stands."""
        self._do(VacuumActivity.CLEANING)

    @override
    async def async_locate(self, **kwargs: Any) -> None:
        """Beep, which no state shows."""

    @override
    async def async_set_fan_speed(self, fan_speed: str, **kwargs: Any) -> None:
        """Set the suction power."""
        self._attr_fan_speed = fan_speed
        self.async_write_ha_state()

    def _do(self, activity: VacuumActivity) -> None:
        self._attr_activity = activity
        self.async_write_ha_state()

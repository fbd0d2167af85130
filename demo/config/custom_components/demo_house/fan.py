"""Fans of a demo house."""

from typing import Any, override

from homeassistant.components.fan import FanEntity, FanEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeFan

_STILL = 0
_FULL = 100


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the fans of the home."""
    async_add_entities(
        DemoFan(entry, fan) for fan in entry.runtime_data.entities_of(HomeFan)
    )


class DemoFan(DemoHouseEntity, FanEntity):
    """A fan that can always be turned on and off, and comes back at the speed it had."""

    def __init__(self, entry: DemoHouseConfigEntry, fan: HomeFan) -> None:
        """Take the state of the home file; a fan without a speed runs at full speed."""
        super().__init__(entry, fan)
        self._attr_supported_features = (
            fan.supported_features
            | FanEntityFeature.TURN_ON
            | FanEntityFeature.TURN_OFF
        )
        self._attr_speed_count = fan.speed_count
        self._attr_oscillating = fan.oscillating
        self._attr_current_direction = fan.direction
        self._attr_preset_modes = list(fan.preset_modes) or None
        self._attr_preset_mode = fan.preset_mode if fan.state else None
        self._speed_when_on = fan.percentage or _FULL
        self._attr_percentage = self._speed_when_on if fan.state else _STILL

    @override
    async def async_turn_on(
        self,
        percentage: int | None = None,
        preset_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Turn on, at the speed or in the mode that is asked for."""
        if preset_mode is not None:
            await self.async_set_preset_mode(preset_mode)
        else:
            await self.async_set_percentage(
                self._speed_when_on if percentage is None else percentage
            )

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn off."""
        await self.async_set_percentage(_STILL)

    @override
    async def async_set_percentage(self, percentage: int) -> None:
        """Set the speed, which ends any preset mode; 0 is off."""
        self._attr_percentage = percentage
        self._speed_when_on = percentage or self._speed_when_on
        self._attr_preset_mode = None
        self.async_write_ha_state()

    @override
    async def async_set_preset_mode(self, preset_mode: str) -> None:
        """Let the fan choose its speed by a preset mode."""
        self._attr_preset_mode = preset_mode
        self._attr_percentage = None
        self.async_write_ha_state()

    @override
    async def async_oscillate(self, oscillating: bool) -> None:
        """Swing, or keep still."""
        self._attr_oscillating = oscillating
        self.async_write_ha_state()

    @override
    async def async_set_direction(self, direction: str) -> None:
        """Turn forward or in reverse."""
        self._attr_current_direction = direction
        self.async_write_ha_state()

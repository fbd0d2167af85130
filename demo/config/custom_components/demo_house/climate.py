"""Thermostats and air conditioners of a demo house."""

from typing import Any, Final, override

from homeassistant.components.climate import (
    ATTR_HVAC_MODE,
    ATTR_TARGET_TEMP_HIGH,
    ATTR_TARGET_TEMP_LOW,
    ClimateEntity,
    ClimateEntityFeature,
    HVACAction,
    HVACMode,
)
from homeassistant.const import ATTR_TEMPERATURE
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeClimate

_NATIVE: Final = (
    "native_" if hasattr(ClimateEntity, "native_target_temperature") else ""
)
"""Part of the names of temperatures since Home Assistant 2026.11."""


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the climate devices of the home."""
    async_add_entities(
        DemoClimate(entry, climate)
        for climate in entry.runtime_data.entities_of(HomeClimate)
    )


class DemoClimate(DemoHouseEntity, ClimateEntity):
    """A climate device that supports what the home file gives it; the room keeps its temperature."""

    def __init__(self, entry: DemoHouseConfigEntry, climate: HomeClimate) -> None:
        """Take the state of the home file."""
        super().__init__(entry, climate)
        self._attr_hvac_mode = climate.state
        self._attr_hvac_modes = list(climate.hvac_modes)
        self._current, self._target = (
            climate.current_temperature,
            climate.target_temperature,
        )
        self._low, self._high = (
            climate.target_temperature_low,
            climate.target_temperature_high,
        )
        setattr(self, f"_attr_{_NATIVE}temperature_unit", climate.temperature_unit)
        self._take_temperatures()
        self._attr_target_temperature_step = climate.target_temperature_step
        self._attr_min_temp = climate.min_temp
        self._attr_max_temp = climate.max_temp
        self._attr_current_humidity = climate.current_humidity
        self._attr_target_humidity = climate.target_humidity
        self._attr_fan_mode = climate.fan_mode
        self._attr_fan_modes = list(climate.fan_modes)
        self._attr_preset_mode = climate.preset_mode
        self._attr_preset_modes = list(climate.preset_modes)
        self._attr_supported_features = _features(climate)
        self._mode_when_on = next(
            (
                mode
                for mode in (climate.state, *climate.hvac_modes)
                if mode is not HVACMode.OFF
            ),
            HVACMode.HEAT,
        )

    @property
    @override
    def hvac_action(self) -> HVACAction | None:
        """Return what the device does, which follows from its mode and the temperatures."""
        match self.hvac_mode:
            case HVACMode.OFF:
                return HVACAction.OFF
            case HVACMode.FAN_ONLY:
                return HVACAction.FAN
            case HVACMode.DRY:
                return HVACAction.DRYING
            case mode:
                return self._action_towards_target(mode)

    @override
    async def async_turn_on(self) -> None:
        """Turn on in the mode it had."""
        await self.async_set_hvac_mode(self._mode_when_on)

    @override
    async def async_turn_off(self) -> None:
        """Turn off."""
        await self.async_set_hvac_mode(HVACMode.OFF)

    @override
    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        """Heat, cool, do both or neither."""
        self._attr_hvac_mode = hvac_mode
        if hvac_mode is not HVACMode.OFF:
            self._mode_when_on = hvac_mode
        self.async_write_ha_state()

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        """Set the temperature to reach, or the range to stay in, and the mode if one comes with it."""
        self._target = kwargs.get(ATTR_TEMPERATURE, self._target)
        self._low = kwargs.get(ATTR_TARGET_TEMP_LOW, self._low)
        self._high = kwargs.get(ATTR_TARGET_TEMP_HIGH, self._high)
        self._take_temperatures()
        if ATTR_HVAC_MODE in kwargs:
            await self.async_set_hvac_mode(kwargs[ATTR_HVAC_MODE])
        self.async_write_ha_state()

    @override
    async def async_set_humidity(self, humidity: int) -> None:
        """Set the humidity to reach."""
        self._attr_target_humidity = humidity
        self.async_write_ha_state()

    @override
    async def async_set_fan_mode(self, fan_mode: str) -> None:
        """Set the fan."""
        self._attr_fan_mode = fan_mode
        self.async_write_ha_state()

    @override
    async def async_set_preset_mode(self, preset_mode: str) -> None:
        """Take a preset, such as away."""
        self._attr_preset_mode = preset_mode
        self.async_write_ha_state()

    def _take_temperatures(self) -> None:
        names = (
            "current_temperature",
            "target_temperature",
            "target_temperature_low",
            "target_temperature_high",
        )
        for name, value in zip(
            names, (self._current, self._target, self._low, self._high), strict=True
        ):
            setattr(self, f"_attr_{_NATIVE}{name}", value)

    def _action_towards_target(self, mode: HVACMode | None) -> HVACAction | None:
        current = self._current
        if current is None:
            return None
        low = self._low if mode is HVACMode.HEAT_COOL else self._target
        high = self._high if mode is HVACMode.HEAT_COOL else self._target
        if mode is not HVACMode.COOL and low is not None and current < low:
            return HVACAction.HEATING
        if mode is not HVACMode.HEAT and high is not None and current > high:
            return HVACAction.COOLING
        return HVACAction.IDLE


def _features(climate: HomeClimate) -> ClimateEntityFeature:
    """Return what the attributes in the home file imply that the device can do."""
    features = ClimateEntityFeature(0)
    if HVACMode.OFF in climate.hvac_modes:
        features |= ClimateEntityFeature.TURN_ON | ClimateEntityFeature.TURN_OFF
    given = {
        ClimateEntityFeature.TARGET_TEMPERATURE: climate.target_temperature is not None,
        ClimateEntityFeature.TARGET_TEMPERATURE_RANGE: climate.target_temperature_low
        is not None,
        ClimateEntityFeature.TARGET_HUMIDITY: climate.target_humidity is not None,
        ClimateEntityFeature.FAN_MODE: bool(climate.fan_modes),
        ClimateEntityFeature.PRESET_MODE: bool(climate.preset_modes),
    }
    for feature, supported in given.items():
        if supported:
            features |= feature
    return features

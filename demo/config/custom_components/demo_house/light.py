"""Lights of a demo house."""

from typing import Any, override

from homeassistant.components.light import (
    ATTR_BRIGHTNESS,
    ATTR_COLOR_TEMP_KELVIN,
    ATTR_EFFECT,
    ATTR_HS_COLOR,
    ATTR_RGB_COLOR,
    ATTR_RGBW_COLOR,
    ATTR_RGBWW_COLOR,
    ATTR_WHITE,
    ATTR_XY_COLOR,
    ColorMode,
    LightEntity,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeLight

_FULL = 255

_MODE_OF_COLOR = {
    ATTR_COLOR_TEMP_KELVIN: ColorMode.COLOR_TEMP,
    ATTR_HS_COLOR: ColorMode.HS,
    ATTR_RGB_COLOR: ColorMode.RGB,
    ATTR_RGBW_COLOR: ColorMode.RGBW,
    ATTR_RGBWW_COLOR: ColorMode.RGBWW,
    ATTR_XY_COLOR: ColorMode.XY,
}


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the lights of the home."""
    async_add_entities(
        DemoLight(entry, light) for light in entry.runtime_data.entities_of(HomeLight)
    )


class DemoLight(DemoHouseEntity, LightEntity):
    """A light that comes back as it was left; one that cannot be dimmed ignores brightness."""

    def __init__(self, entry: DemoHouseConfigEntry, light: HomeLight) -> None:
        """Take the state of the home file."""
        super().__init__(entry, light)
        self._attr_is_on = (
            bool(light.brightness) if light.state is None else light.state
        )
        self._attr_supported_color_modes = set(light.supported_color_modes)
        self._attr_color_mode = light.color_mode or min(light.supported_color_modes)
        self._attr_supported_features = light.supported_features
        self._attr_brightness = _FULL if light.brightness is None else light.brightness
        self._attr_color_temp_kelvin = light.color_temp_kelvin
        self._attr_min_color_temp_kelvin = light.min_color_temp_kelvin
        self._attr_max_color_temp_kelvin = light.max_color_temp_kelvin
        self._attr_hs_color = light.hs_color
        self._attr_xy_color = light.xy_color
        self._attr_rgb_color = light.rgb_color
        self._attr_rgbw_color = light.rgbw_color
        self._attr_rgbww_color = light.rgbww_color
        self._attr_effect = light.effect
        self._attr_effect_list = list(light.effect_list)

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn on, with what Home Assistant found the light to support of brightness, colour and effect."""
        self._attr_is_on = True
        self._attr_brightness = kwargs.get(ATTR_BRIGHTNESS, self._attr_brightness)
        self._attr_effect = kwargs.get(ATTR_EFFECT, self._attr_effect)
        if ATTR_WHITE in kwargs:
            self._attr_brightness = kwargs[ATTR_WHITE]
            self._attr_color_mode = ColorMode.WHITE
        for color in _MODE_OF_COLOR.keys() & kwargs.keys():
            setattr(self, f"_attr_{color}", kwargs[color])
            self._attr_color_mode = _MODE_OF_COLOR[color]
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn off and remember brightness and colour."""
        self._attr_is_on = False
        self.async_write_ha_state()

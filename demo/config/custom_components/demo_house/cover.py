"""Covers of a demo house: garage doors, curtains, blinds with slats."""

from typing import Any, override

from homeassistant.components.cover import (
    ATTR_POSITION,
    ATTR_TILT_POSITION,
    CoverEntity,
    CoverEntityFeature,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_appliances import HomeCover

_CLOSED = 0
_OPEN = 100


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the covers of the home."""
    async_add_entities(
        DemoCover(entry, cover) for cover in entry.runtime_data.entities_of(HomeCover)
    )


class DemoCover(DemoHouseEntity, CoverEntity):
    """A cover that is at once where it is told to be; it reports a position if it can be set to one."""

    def __init__(self, entry: DemoHouseConfigEntry, cover: HomeCover) -> None:
        """Take the state of the home file; a position says more than `open` does."""
        super().__init__(entry, cover)
        self._attr_device_class = cover.device_class
        self._attr_supported_features = cover.supported_features
        self._reports_position = (
            CoverEntityFeature.SET_POSITION in cover.supported_features
        )
        position = cover.current_position
        self._move(
            position if position is not None else _OPEN if cover.state else _CLOSED
        )
        self._attr_current_cover_tilt_position = cover.current_tilt_position

    @override
    async def async_open_cover(self, **kwargs: Any) -> None:
        """Open."""
        self._move(_OPEN)
        self.async_write_ha_state()

    @override
    async def async_close_cover(self, **kwargs: Any) -> None:
        """Close."""
        self._move(_CLOSED)
        self.async_write_ha_state()

    @override
    async def async_set_cover_position(self, **kwargs: Any) -> None:
        """Go to the position."""
        self._move(kwargs[ATTR_POSITION])
        self.async_write_ha_state()

    @override
    async def async_stop_cover(self, **kwargs: Any) -> None:
        """Stay where it is: no cover of this home is ever under way."""

    @override
    async def async_open_cover_tilt(self, **kwargs: Any) -> None:
        """Open the slats."""
        self._attr_current_cover_tilt_position = _OPEN
        self.async_write_ha_state()

    @override
    async def async_close_cover_tilt(self, **kwargs: Any) -> None:
        """Close the slats."""
        self._attr_current_cover_tilt_position = _CLOSED
        self.async_write_ha_state()

    @override
    async def async_set_cover_tilt_position(self, **kwargs: Any) -> None:
        """Turn the slats."""
        self._attr_current_cover_tilt_position = kwargs[ATTR_TILT_POSITION]
        self.async_write_ha_state()

    @override
    async def async_stop_cover_tilt(self, **kwargs: Any) -> None:
        """Leave the slats as they are: they are never under way."""

    def _move(self, position: int) -> None:
        self._attr_is_closed = position == _CLOSED
        self._attr_current_cover_position = position if self._reports_position else None

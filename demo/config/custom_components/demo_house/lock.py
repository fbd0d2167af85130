"""Locks of a demo house."""

from typing import Any, override

from homeassistant.components.lock import LockEntity, LockState
from homeassistant.const import ATTR_CODE
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .const import DOMAIN
from .entity import DemoHouseEntity
from .home_appliances import HomeLock


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the locks of the home."""
    async_add_entities(
        DemoLock(entry, lock) for lock in entry.runtime_data.entities_of(HomeLock)
    )


class DemoLock(DemoHouseEntity, LockEntity):
    """A lock that anyone may lock; with a code, only who knows it may unlock or open."""

    def __init__(self, entry: DemoHouseConfigEntry, lock: HomeLock) -> None:
        """Take the state of the home file."""
        super().__init__(entry, lock)
        self._attr_supported_features = lock.supported_features
        self._code = lock.code
        self._show(lock.state)

    @override
    async def async_lock(self, **kwargs: Any) -> None:
        """Lock."""
        self._show(LockState.LOCKED)
        self.async_write_ha_state()

    @override
    async def async_unlock(self, **kwargs: Any) -> None:
        """Unlock; raise `ServiceValidationError` for a wrong code."""
        self._check(kwargs.get(ATTR_CODE))
        self._show(LockState.UNLOCKED)
        self.async_write_ha_state()

    @override
    async def async_open(self, **kwargs: Any) -> None:
        """Unlatch the door; raise `ServiceValidationError` for a wrong code."""
        self._check(kwargs.get(ATTR_CODE))
        self._show(LockState.OPEN)
        self.async_write_ha_state()

    def _check(self, code: str | None) -> None:
        if self._code is not None and code != self._code:
            raise ServiceValidationError(
                translation_domain=DOMAIN, translation_key="wrong_code"
            )

    def _show(self, state: LockState) -> None:
        self._attr_is_locked = state is LockState.LOCKED
        self._attr_is_open = state is LockState.OPEN
        self._attr_is_jammed = state is LockState.JAMMED
        self._attr_is_locking = state is LockState.LOCKING
        self._attr_is_unlocking = state is LockState.UNLOCKING
        self._attr_is_opening = state is LockState.OPENING

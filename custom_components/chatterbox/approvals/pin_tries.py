"""Compares spoken PINs, and stores each try before it is compared, so that a restart gives none back."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Final

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from ..const import home_singleton
from ..settings.pin_hash import PinHash
from ..settings.stored_file import StoredFile
from .pin.pin_guard import Allowed, Locked, PinGuard

_MOST_MISHEARD: Final = 2
"""PINs of another length, since the last right one, that cost no try: more would tell how long the PIN is."""
_NO_SATELLITE: Final = ""
"""Device of every phone, browser and action, since they can pretend to be any device."""


@dataclass(frozen=True, slots=True)
class Right:
    """The PIN was right."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The PIN was wrong."""

    tries_left: int
    """0 if the device is locked now."""


type TriedPin = Right | Wrong | Locked
"""The result of a try. At a `Locked` device, no PIN is compared, not even the right one."""


def async_tried_device(
    hass: HomeAssistant,
    device_id: str | None,
) -> str:
    """Return the device whose tries a try counts among: one satellite, or all other devices."""
    there = (
        er.async_entries_for_device(
            er.async_get(hass),
            device_id,
        )
        if device_id
        else ()
    )
    is_satellite = any(entity.domain == Platform.ASSIST_SATELLITE for entity in there)
    return device_id if device_id and is_satellite else _NO_SATELLITE


class PinTries:
    """The stored tries, which all agents share."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store, which is read when the first PIN is said."""
        self._hass = hass
        self._file = StoredFile(
            hass,
            "pin_tries",
            PinGuard.from_json,
            grows=True,
        )
        self._guard: PinGuard | None = None
        self._misheard = Counter[str]()
        self._one_at_a_time = asyncio.Lock()

    async def async_try(
        self,
        device: str,
        pin: PinHash,
        digits: str,
    ) -> TriedPin | None:
        """Compare the digits with the PIN, if a try is left.

        Returns None for digits that cost no try, since their number is another one:
        they were misheard.
        """
        async with self._one_at_a_time:
            guard, permission = (await self._async_known()).begin_try(
                device, dt_util.utcnow().timestamp()
            )
            is_misheard = (
                pin.length not in {None, len(digits)}
                and self._misheard[device] < _MOST_MISHEARD
            )
            if is_misheard and isinstance(permission, Allowed):
                self._misheard[device] += 1
                return None
            await self._async_save(guard)
            match permission:
                case Locked():
                    return permission
                case Allowed(tries_left):
                    if not await self._hass.async_add_executor_job(pin.matches, digits):
                        return Wrong(tries_left)
                    del self._misheard[device]
                    await self._async_save(guard.succeed(device))
                    return Right()

    async def async_remove(self) -> None:
        """Forget all tries."""
        async with self._one_at_a_time:
            self._guard = PinGuard()
            self._misheard.clear()
            await self._file.async_remove()

    async def _async_known(self) -> PinGuard:
        """Return the tries. A file that cannot be read counts as empty, so that nobody is locked out."""
        if self._guard is None:
            self._guard = await self._file.async_load() or PinGuard()
        return self._guard

    async def _async_save(self, guard: PinGuard) -> None:
        """Use a new state and store it at once. If the disk is full, it is kept until the next start."""
        if guard != self._guard:
            self._guard = guard
            await self._file.async_save(guard.as_json())


async_get_pin_tries: Final = home_singleton("pin_tries", PinTries)
"""Returns the stored tries."""

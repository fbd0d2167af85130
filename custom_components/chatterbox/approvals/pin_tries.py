"""Compares spoken PINs, and stores each try before it is compared, so that a restart gives none back."""

import asyncio
from dataclasses import dataclass
from typing import Final

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from ..agent.confirmation.pin import PinHash
from ..agent.confirmation.pin_guard import Allowed, Locked, PinGuard, TryScope
from ..agent.messages import JsonValue
from ..const import DOMAIN, LOGGER
from ..data import singleton

_VERSION: Final = 1
_NO_SATELLITE: Final = ""
"""Device of every phone, browser and action, since they can pretend to be any device."""


@dataclass(frozen=True, slots=True)
class Right:
    """The PIN was right."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The PIN was wrong."""

    tries_left: int
    """0 if the scope is locked now."""


type TriedPin = Right | Wrong | Locked
"""The result of a try. In a `Locked` scope, no PIN is compared, not even the right one."""


@callback
def async_try_scope(hass: HomeAssistant, agent_id: str, device_id: str | None) -> TryScope:
    """Return the scope of a try: an agent, and one satellite or all other devices.

    `agent_id` is the entity id of the agent, which may change; its subentry id is stored.
    """
    registry = er.async_get(hass)
    agent = registry.async_get(agent_id)
    there = er.async_entries_for_device(registry, device_id) if device_id else ()
    is_satellite = any(entity.domain == Platform.ASSIST_SATELLITE for entity in there)
    return TryScope(
        agent=(agent and agent.config_subentry_id) or agent_id,
        device=device_id if device_id and is_satellite else _NO_SATELLITE,
    )


class PinTries:
    """The stored tries of all agents."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store, which is read when the first PIN is said."""
        self._hass = hass
        self._store = Store[list[JsonValue]](hass, _VERSION, f"{DOMAIN}.pin_tries", private=True, atomic_writes=True)
        self._guard: PinGuard | None = None
        self._one_at_a_time = asyncio.Lock()

    async def async_try(self, scope: TryScope, pin: PinHash, digits: str) -> TriedPin:
        """Compare the digits with the PIN, if a try is left."""
        async with self._one_at_a_time:
            guard, permission = (await self._async_known()).begin_try(scope, dt_util.utcnow().timestamp())
            await self._async_keep(guard)
            match permission:
                case Locked():
                    return permission
                case Allowed(tries_left):
                    if not await self._hass.async_add_executor_job(pin.matches, digits):
                        return Wrong(tries_left)
                    await self._async_keep(guard.succeed(scope))
                    return Right()

    async def async_forget_removed(self) -> None:
        """Forget the tries of removed agents."""
        agents = {agent for entry in self._hass.config_entries.async_entries(DOMAIN) for agent in entry.subentries}
        async with self._one_at_a_time:
            await self._async_keep((await self._async_known()).of_agents(agents))

    async def _async_known(self) -> PinGuard:
        """Return the tries. A file that cannot be read counts as empty, so that nobody is locked out."""
        if self._guard is None:
            try:
                self._guard = PinGuard.from_json(await self._store.async_load() or [])
            except Exception as error:  # noqa: BLE001  # whatever is in the file, a person waits for an answer
                LOGGER.error("Stored PIN tries cannot be read, starting without any: %s", type(error).__name__)
                self._guard = PinGuard()
        return self._guard

    async def _async_keep(self, guard: PinGuard) -> None:
        """Use a new state and store it at once. If the disk is full, it is kept until the next start."""
        if guard != self._guard:
            self._guard = guard
            await self._store.async_save(guard.as_json())


@callback
@singleton
def async_get_pin_tries(hass: HomeAssistant) -> PinTries:
    """Return the stored tries."""
    return PinTries(hass)

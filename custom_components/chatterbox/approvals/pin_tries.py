"""The tries to say a PIN in this house: counted and stored before a PIN is compared, so that no restart gives any back.

Knows Home Assistant's storage and the satellites of the house. Must not know questions or words, and keeps nothing of
what was said.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from ..agent.consent.pin import PinHash
from ..agent.consent.pin_guard import Allowed, Locked, PinGuard, Place
from ..agent.messages import JsonValue
from ..const import DOMAIN, LOGGER
from ..data import singleton

_VERSION: Final = 1
_NO_SATELLITE: Final = ""
"""Stands for every phone, browser and action: they can say that they are any device."""


@dataclass(frozen=True, slots=True)
class Right:
    """It was the PIN."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """It was not."""

    tries_left: int
    """0 if the place is locked now."""


type TriedPin = Right | Wrong | Locked
"""What came of a try. A place that is `Locked` did not compare anything, not even the right PIN."""


@callback
def async_place(hass: HomeAssistant, agent_id: str, device_id: str | None) -> Place:
    """Return where tries count together: an agent, and one satellite, or all that are none.

    `agent_id` is the entity id of the agent, which may change; what is stored is its subentry's.
    """
    registry = er.async_get(hass)
    agent = registry.async_get(agent_id)
    there = er.async_entries_for_device(registry, device_id) if device_id else ()
    is_satellite = any(entity.domain == Platform.ASSIST_SATELLITE for entity in there)
    return Place(
        agent=(agent and agent.config_subentry_id) or agent_id,
        spot=device_id if device_id and is_satellite else _NO_SATELLITE,
    )


class PinTries:
    """The tries of all agents of a house."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Read what is stored when the first PIN is said."""
        self._hass = hass
        self._store = Store[list[JsonValue]](hass, _VERSION, f"{DOMAIN}.pin_tries", private=True, atomic_writes=True)
        self._guard: PinGuard | None = None
        self._one_at_a_time = asyncio.Lock()

    async def async_try(self, place: Place, pin: PinHash, digits: str) -> TriedPin:
        """Compare what was said with the PIN, if there is a try left."""
        async with self._one_at_a_time:
            guard, permission = (await self._async_known()).begin_try(place, dt_util.utcnow().timestamp())
            await self._async_keep(guard)
            match permission:
                case Locked():
                    return permission
                case Allowed(tries_left):
                    if not await self._hass.async_add_executor_job(pin.matches, digits):
                        return Wrong(tries_left)
                    await self._async_keep(guard.succeed(place))
                    return Right()

    async def async_forget_removed(self) -> None:
        """Forget the tries of agents that there are no more."""
        agents = {agent for entry in self._hass.config_entries.async_entries(DOMAIN) for agent in entry.subentries}
        async with self._one_at_a_time:
            await self._async_keep((await self._async_known()).of_agents(agents))

    async def _async_known(self) -> PinGuard:
        if self._guard is None:
            self._guard = await self._async_stored()
        return self._guard

    async def _async_stored(self) -> PinGuard:
        """Read what is stored. What cannot be read is as if nothing was: nobody is locked out by a broken file."""
        try:
            return PinGuard.from_json(await self._store.async_load() or [])
        except Exception as error:  # noqa: BLE001  # whatever stands in the file, a person waits for an answer
            LOGGER.error("The tries to say a PIN cannot be read and begin anew: %s", type(error).__name__)
            return PinGuard()

    async def _async_keep(self, guard: PinGuard) -> None:
        """Take a new state, and store it at once. On a disk that is full, it holds until the next start."""
        if guard != self._guard:
            self._guard = guard
            await self._store.async_save(guard.as_json())


@callback
@singleton
def async_get_pin_tries(hass: HomeAssistant) -> PinTries:
    """Return the tries of a house."""
    return PinTries(hass)

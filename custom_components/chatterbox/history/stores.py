"""The histories of the house: one store for each database that the services name, open until Home Assistant stops.

Knows entries, the folder of the configuration, and where the owner is told that a store is down. Must not know what is
stored. SQLAlchemy takes a third of a second to import, so whatever needs it is imported in a thread.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.importlib import async_import_module
from homeassistant.util import dt as dt_util

from ..agent.history.records import Record
from ..agent.history.state import StoreState, StoreUnavailable
from ..const import CONF_HISTORY_ADDRESS, DOMAIN, INTEGRATION
from ..data import singleton
from ..repair_issues import async_report_history

if TYPE_CHECKING:  # see the head of this module
    from ..agent.history.store import HistoryStore

_FILE: Final = f"{DOMAIN}.db"
"""In the folder of the configuration."""
_LAST_WAIT: Final = 3.0
"""Seconds that the end waits for turns that were cut off by it."""
STORE_MODULE: Final = f"{INTEGRATION}.agent.history.store"


def _now() -> float:
    return dt_util.utcnow().timestamp()


@dataclass(slots=True)
class _Kept:
    """A store, and what has been said about it; the store is None for an address that cannot be used."""

    store: HistoryStore | None
    entries: set[str]


class AwaitedTurns:
    """Turns that will be recorded: the block that is entered for each ends when it was."""

    def __init__(self) -> None:
        """Begin with none."""
        self._count = 0
        self._is_none = asyncio.Event()
        self._is_none.set()

    def __enter__(self) -> None:
        """Wait for one more."""
        self._count += 1
        self._is_none.clear()

    def __exit__(self, *_: object) -> None:
        """Wait for it no longer, whatever became of it."""
        self._count -= 1
        if not self._count:
            self._is_none.set()

    async def wait(self) -> None:
        """Return when there is none."""
        await self._is_none.wait()


class Histories:
    """Opens stores when they are needed, and keeps them open while their services are reloaded."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with none."""
        self._hass = hass
        self._file = f"sqlite:///{hass.config.path(_FILE)}"
        self._kept: dict[str, _Kept] = {}
        """By address."""
        self._opening = asyncio.Lock()
        self.awaiting: Final = AwaitedTurns()
        """Nothing is closed at the end of Home Assistant before these are recorded, which takes no long."""
        self._is_over = False
        self.began_at: Final = _now()
        """Seconds since the epoch. Of what was said before, Home Assistant knows nothing."""
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, self._async_end)

    @callback
    def of(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of a service; None while it is not open, or for an address that cannot be used."""
        kept = self._kept.get(self.address(entry))
        return kept.store if kept else None

    def address(self, entry: ConfigEntry) -> str:
        """Return where the database of a service is, as SQLAlchemy writes it: what its owner has set, or a file."""
        return entry.options.get(CONF_HISTORY_ADDRESS) or self._file

    @property
    def all(self) -> tuple[HistoryStore, ...]:
        """Return every store that is open."""
        return tuple(kept.store for kept in self._kept.values() if kept.store)

    async def async_open(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of a service, which is opened if it is not; None for an address that cannot be used.

        A store that was opened for an address that nobody names any more is closed, and what it could not store goes
        to the new one. Whether the database can be
        reached is not waited for: that is the store's, and the owner is told.
        """
        address = self.address(entry)
        async with self._opening:
            if self._is_over:
                return None
            if address not in self._kept:
                self._kept[address] = _Kept(await self._async_made(address), set())
            kept = self._kept[address]
            kept.entries.add(entry.entry_id)
        await self._async_leave(entry, but=address)
        return kept.store

    async def async_release(self, entry: ConfigEntry) -> None:
        """Close what only this service, which is removed, has used."""
        await self._async_leave(entry)

    async def _async_made(self, address: str) -> HistoryStore | None:
        await async_import_module(self._hass, STORE_MODULE)
        from ..agent.history.store import HistoryStore  # noqa: PLC0415  # imported in a thread, a line above

        try:
            store = HistoryStore(address, partial(self._tell, address), clock=_now)
        except StoreUnavailable as error:
            async_report_history(self._hass, address, "", StoreState(error.trouble, str(error)))
            return None
        store.start()
        return store

    async def _async_leave(self, entry: ConfigEntry, but: str | None = None) -> None:
        for address in [one for one, kept in self._kept.items() if entry.entry_id in kept.entries and one != but]:
            kept = self._kept[address]
            kept.entries.discard(entry.entry_id)
            if not kept.entries:
                del self._kept[address]
                async_report_history(self._hass, address, "", StoreState())
                if kept.store:
                    self._async_hand_over(await kept.store.close(), but)

    @callback
    def _async_hand_over(self, records: tuple[Record, ...], address: str | None) -> None:
        kept = self._kept.get(address) if address else None
        if kept and kept.store:
            for record in records:
                kept.store.record(record)

    def _tell(self, address: str, state: StoreState) -> None:
        """Hear of a store in its own thread."""
        if not self._is_over:
            self._hass.loop.call_soon_threadsafe(self._async_follow, address, state)

    @callback
    def _async_follow(self, address: str, state: StoreState) -> None:
        kept = self._kept.get(address)
        if kept and kept.store and not self._is_over:
            async_report_history(self._hass, address, kept.store.where, state)

    async def _async_end(self, _event: Event) -> None:
        """Store what waits, as far as that can be done now.

        Home Assistant cuts turns off when it stops, the last ones after its final writes, and does not wait for them.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WAIT):
                await self.awaiting.wait()
        self._is_over = True
        await asyncio.gather(*(store.close() for store in self.all))


@callback
@singleton
def async_get_histories(hass: HomeAssistant) -> Histories:
    """Return the histories of the house."""
    return Histories(hass)

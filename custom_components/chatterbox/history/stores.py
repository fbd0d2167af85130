"""The open stores: one for each database URL that entries use, open until Home Assistant stops.

SQLAlchemy takes a third of a second to import, so modules that need it are imported in a thread.
"""

import asyncio
from collections import Counter
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

if TYPE_CHECKING:  # it imports SQLAlchemy
    from ..agent.history.store import HistoryStore

_FILE: Final = f"{DOMAIN}.db"
"""In the configuration folder."""
_LAST_WAIT: Final = 3.0
"""Seconds to wait at shutdown for turns that it cuts off."""
STORE_MODULE: Final = f"{INTEGRATION}.agent.history.store"


def _now() -> float:
    return dt_util.utcnow().timestamp()


@dataclass(slots=True)
class _Kept:
    """A store and the entries that use it; the store is None for an invalid URL."""

    store: HistoryStore | None
    entries: set[str]


class AwaitedTurns:
    """Counts running turns; each is a `with` block that ends when the turn was recorded."""

    def __init__(self) -> None:
        """Start with none."""
        self._count = 0
        self._is_none = asyncio.Event()
        self._is_none.set()

    def __enter__(self) -> None:
        """Count a turn."""
        self._count += 1
        self._is_none.clear()

    def __exit__(self, *_: object) -> None:
        """Count it no longer."""
        self._count -= 1
        if not self._count:
            self._is_none.set()

    async def wait(self) -> None:
        """Wait until there is none."""
        await self._is_none.wait()


class Histories:
    """Opens stores on demand, and keeps them open while entries are reloaded."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start with none."""
        self._hass = hass
        self._file = f"sqlite:///{hass.config.path(_FILE)}"
        self._kept: dict[str, _Kept] = {}
        """By address."""
        self._opening = asyncio.Lock()
        self.awaiting: Final = AwaitedTurns()
        """Turns that are recorded before shutdown."""
        self.growth: Final = Counter[str]()
        """Bytes of responses by agent, since they were last pruned."""
        self._is_over = False
        self.began_at: Final = _now()
        """Seconds since the epoch; Home Assistant has forgotten earlier conversations."""
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, self._async_end)

    @callback
    def of(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of an entry; None while it is not open, or for an invalid URL."""
        kept = self._kept.get(self.address(entry))
        return kept.store if kept else None

    def address(self, entry: ConfigEntry) -> str:
        """Return the database URL of an entry: the configured one, or a file."""
        return entry.options.get(CONF_HISTORY_ADDRESS) or self._file

    @property
    def all(self) -> tuple[HistoryStore, ...]:
        """Return all open stores."""
        return tuple(kept.store for kept in self._kept.values() if kept.store)

    async def async_open(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of an entry, opened if necessary; None for an invalid URL.

        It does not wait for the database; a repair issue tells if that is down. A store that no entry uses any more is
        closed, and records that it could not store go to the new one.
        """
        address = self.address(entry)
        async with self._opening:
            if self._is_over:
                return None
            if address not in self._kept:
                self._kept[address] = _Kept(await self._async_create(address), set())
            kept = self._kept[address]
            kept.entries.add(entry.entry_id)
        await self._async_leave(entry, but=address)
        return kept.store

    async def async_release(self, entry: ConfigEntry) -> None:
        """Close the store of a removed entry, if no other uses it."""
        await self._async_leave(entry)

    async def _async_create(self, address: str) -> HistoryStore | None:
        await async_import_module(self._hass, STORE_MODULE)
        from ..agent.history.store import HistoryStore  # noqa: PLC0415  # imported in a thread, a line above

        try:
            store = HistoryStore(address, partial(self._report, address), clock=_now)
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
                    self._async_move(await kept.store.close(), but)

    @callback
    def _async_move(self, records: tuple[Record, ...], address: str | None) -> None:
        kept = self._kept.get(address) if address else None
        if kept and kept.store:
            for record in records:
                kept.store.record(record)

    def _report(self, address: str, state: StoreState) -> None:
        """Report a state; called in the thread of a store."""
        if not self._is_over:
            self._hass.loop.call_soon_threadsafe(self._async_report, address, state)

    @callback
    def _async_report(self, address: str, state: StoreState) -> None:
        kept = self._kept.get(address)
        if kept and kept.store and not self._is_over:
            async_report_history(self._hass, address, kept.store.where, state)

    async def _async_end(self, _event: Event) -> None:
        """Store the waiting records.

        Home Assistant cancels running turns at shutdown, the last ones after its final writes, without waiting for
        them.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WAIT):
                await self.awaiting.wait()
        self._is_over = True
        await asyncio.gather(*(store.close() for store in self.all))


@callback
@singleton
def async_get_histories(hass: HomeAssistant) -> Histories:
    """Return the open stores."""
    return Histories(hass)

"""The stores of the home, one for each database, and the recording of turns, changes and responses in them.

Where an agent is set to store nothing, nothing is written.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.importlib import async_import_module
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now

from ..agent.messages import JsonObject
from ..const import CONF_HISTORY_ADDRESS, DOMAIN, INTEGRATION, LOGGER, home_singleton
from ..records.turn_record import Origin, TurnRecord
from ..repairs import async_report_history
from ..settings.agent import keeps_history
from .store.records import (
    Acknowledgement,
    AuditRecord,
    Record,
    StoredTurn,
    StoreState,
    StoreUnavailable,
    Trouble,
    TurnOrigin,
)

if TYPE_CHECKING:  # it imports SQLAlchemy
    from .store.history_store import HistoryStore

_FILE: Final = f"{DOMAIN}.db"
"""In the configuration folder."""
DAY: Final = 86_400.0
"""Seconds."""
_HOUR: Final = 3_600.0
_LAST_WAIT: Final = 3.0
"""Seconds to wait at shutdown for turns that it cuts off."""
STORE_MODULE: Final = f"{INTEGRATION}.history.store.history_store"

_ISSUES: Final = {
    Trouble.UNSUPPORTED: "history_wrong_url",
    Trouble.NO_DRIVER: "history_wrong_url",
    Trouble.SLOW: "history_server_gone",
    Trouble.OTHER: "history_failed",
    Trouble.CLOSED: "",  # Home Assistant stops, or no entry uses it
}
"""The keys of issues that are not named after their kind of trouble."""


def _now() -> float:
    return dt_util.utcnow().timestamp()


def async_report(
    hass: HomeAssistant, address: str, where: str, state: StoreState
) -> None:
    """Report the trouble of the store at an address, called `where`, as a repair issue."""
    if state.trouble:
        key = _ISSUES.get(
            state.trouble,
            f"history_{state.trouble}",
        )
    else:
        key = ""
    placeholders = {
        "where": where,
        "waiting": str(state.waiting),
        "dropped": str(state.dropped),
    }
    async_report_history(
        hass,
        address,
        key,
        placeholders,
        state.put_aside,
    )


@dataclass(slots=True)
class _Kept:
    """A store and the entries that use it; the store is None for an invalid URL."""

    store: HistoryStore | None
    entries: set[str]


class Histories:
    """Opens stores on demand, and keeps them open while entries are reloaded."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start with none."""
        self._hass = hass
        self._file = f"sqlite:///{hass.config.path(_FILE)}"
        self._open: dict[str, _Kept] = {}
        """By address."""
        self._opening = asyncio.Lock()
        self._awaited: set[asyncio.Future[None]] = set()
        """Running turns, which are recorded before shutdown."""
        self.growth: Final = Counter[str]()
        """Bytes of responses by agent, since they were last pruned."""
        self._is_over = False
        self.began_at: Final = _now()
        """Seconds since the epoch; Home Assistant has forgotten earlier conversations."""
        self._set_at = hass.loop.time()
        """Seconds of the event loop at which the clock was set last, or the start."""
        self._offset = self.began_at - self._set_at
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, self._async_end)

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """Have the shutdown wait for a turn, which is recorded when the block ends."""
        self._awaited.add(ended := self._hass.loop.create_future())
        try:
            yield
        finally:
            self._awaited.discard(ended)
            ended.set_result(None)

    def of(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of an entry; None while it is not open, or for an invalid URL."""
        opened = self._open.get(self.address(entry))
        return opened.store if opened else None

    def address(self, entry: ConfigEntry) -> str:
        """Return the database URL of an entry: the configured one, or a file."""
        return entry.options.get(CONF_HISTORY_ADDRESS) or self._file

    @property
    def all(self) -> tuple[HistoryStore, ...]:
        """Return all open stores."""
        return tuple(opened.store for opened in self._open.values() if opened.store)

    async def async_open(self, entry: ConfigEntry) -> HistoryStore | None:
        """Return the store of an entry, opened if necessary; None for an invalid URL.

        It does not wait for the database; a repair issue tells if that is down. A store
        that no entry uses any more is closed, and records that it could not store go to
        the new one.
        """
        address = self.address(entry)
        async with self._opening:
            if self._is_over:
                return None
            if address not in self._open:
                self._open[address] = _Kept(
                    await self._async_create(address),
                    set(),
                )
            opened = self._open[address]
            opened.entries.add(entry.entry_id)
        await self.async_release(entry, but=address)
        return opened.store

    async def async_open_all(self) -> Collection[tuple[str, HistoryStore | None]]:
        """Return the stores of all services by their places; None, by the name of a service, for an invalid URL.

        Two places may be called alike: URLs differ in what is not shown, too.
        """
        stores: dict[str, tuple[str, HistoryStore | None]] = {}
        for entry in self._hass.config_entries.async_entries(
            DOMAIN, include_ignore=False
        ):
            store = await self.async_open(entry)
            if store:
                stores[self.address(entry)] = (store.where, store)
            else:
                stores[entry.entry_id] = (entry.title, None)
        return stores.values()

    async def async_knows_time(self, store: HistoryStore) -> bool:
        """Return whether the clock can be believed, so that records may be deleted for their age.

        It can where nobody has set it by more than a day for an hour, and where it goes
        on from the last turn of the run before: some computers begin with any time,
        until a server tells them.
        """
        now = _now()
        ticks = self._hass.loop.time()
        if abs(now - ticks - self._offset) > DAY:
            self._offset = now - ticks
            self._set_at = ticks
        if ticks - self._set_at >= _HOUR:
            return True
        last = await store.last_end()
        return last < self.began_at and abs(now - last) <= DAY

    async def _async_create(self, address: str) -> HistoryStore | None:
        await async_import_module(self._hass, STORE_MODULE)
        from .store.history_store import HistoryStore  # noqa: PLC0415  # imported in a thread, a line above

        if self._is_over:  # nobody would close it
            return None
        try:
            store = HistoryStore(
                address,
                partial(self._report, address),
                clock=_now,
            )
        except StoreUnavailable as error:
            async_report(
                self._hass,
                address,
                "",
                StoreState(error.trouble, str(error)),
            )
            return None
        store.start()
        return store

    async def async_release(
        self,
        entry: ConfigEntry,
        but: str | None = None,
    ) -> None:
        """Close the stores of an entry that no other one uses, `but` that of one address."""
        for address in [
            one
            for one, opened in self._open.items()
            if entry.entry_id in opened.entries and one != but
        ]:
            opened = self._open[address]
            opened.entries.discard(entry.entry_id)
            if not opened.entries:
                del self._open[address]
                async_report(
                    self._hass,
                    address,
                    "",
                    StoreState(),
                )
                if opened.store:
                    left = await opened.store.close()
                else:
                    left = ()
                new = self._open.get(but or "")
                if new and new.store:
                    for record in left:
                        new.store.record(record)

    def _report(
        self,
        address: str,
        state: StoreState,
    ) -> None:
        """Report a state; called in the thread of a store."""
        if not self._is_over:
            self._hass.loop.call_soon_threadsafe(
                self._async_report,
                address,
                state,
            )

    @callback
    def _async_report(
        self,
        address: str,
        state: StoreState,
    ) -> None:
        opened = self._open.get(address)
        if opened and opened.store and not self._is_over:
            async_report(
                self._hass,
                address,
                opened.store.where,
                state,
            )

    async def _async_end(self, _event: Event) -> None:
        """Store the waiting records.

        Home Assistant cancels running turns at shutdown, the last ones after its final
        writes, without waiting for them.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WAIT):
                while self._awaited:
                    await asyncio.wait(set(self._awaited))
        self._is_over = True
        await asyncio.gather(*(store.close() for store in self.all))


async_get_histories: Final = home_singleton("histories", Histories)
"""Returns the open stores."""


_TIMEOUT: Final = 0.1
"""Seconds that the end of a turn waits until the turn is stored; its answer is already being spoken."""
_PLACES: Final = (
    "person_id",
    "person",
    "device_id",
    "satellite",
    "caller",
    "language",
)
"""Fields of `TurnOrigin` that the origin of events has."""


@dataclass(slots=True)
class TurnRecording:
    """Records one turn, once."""

    hass: HomeAssistant
    entry: ConfigEntry
    subentry: ConfigSubentry
    origin: Origin
    """As in the events of the turn."""
    report: TurnRecord
    is_wanted: bool
    """Whether the speaker lets it be stored."""
    _is_recorded: bool = False
    _acknowledgement: Acknowledgement | None = None

    def async_store(self) -> None:
        """Record the turn, also if it was cut off. A second call does nothing."""
        agent = self.subentry.subentry_id
        if self._is_recorded or not self.is_wanted:
            return
        self._is_recorded = True
        try:
            record = _stored_turn(
                agent,
                self.origin,
                self.report,
            )
            self._acknowledgement = async_store_record(
                self.hass,
                self.entry,
                agent,
                record,
            )
        except Exception:  # noqa: BLE001  # no turn fails because of the history
            LOGGER.exception("A turn of %s could not be recorded", self.subentry.title)

    async def async_wait_until_stored(self) -> None:
        """Record the turn, and wait a moment until it is stored, unless the store is down."""
        self.async_store()
        if self._acknowledgement is not None:
            await self._acknowledgement.stored(_TIMEOUT)


def async_keeps_turns(hass: HomeAssistant, agent: str) -> bool:
    """Return whether the agent of a subentry id keeps a history; false for one whose records were deleted with it."""
    entries = hass.config_entries.async_entries(DOMAIN)
    return any(
        keeps_history(entry.subentries[agent])
        for entry in entries
        if agent in entry.subentries
    )


def async_store_record(
    hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record
) -> Acknowledgement | None:
    """Record something of an agent, if it keeps a history.

    Returns None if the store is closed or down, so that waiting is useless.
    """
    if not async_keeps_turns(hass, agent):
        return None
    store = async_get_histories(hass).of(entry)
    if store is None:
        later = _async_store_later(
            hass,
            entry,
            agent,
            record,
        )
        _ = hass.async_create_background_task(later, "chatterbox history")
        return None
    acknowledgement = store.record(record)
    if store.state.trouble:
        return None
    return acknowledgement


async def _async_store_later(
    hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record
) -> None:
    store = await async_get_histories(hass).async_open(entry)
    if store is not None and async_keeps_turns(hass, agent):
        store.record(record)


def _stored_turn(
    agent: str,
    origin: Origin,
    report: TurnRecord,
) -> StoredTurn:
    facts = report.facts
    finished = report.finished
    return StoredTurn(
        id=str(origin["turn_id"]),
        origin=_turn_origin(agent, origin),
        began_at=facts.began_at,
        duration=facts.duration,
        messages=report.messages,
        stop_reason=facts.stop_reason,
        usage=finished.usage if finished else facts.usage,
        iterations=finished.iterations if finished else len(facts.inferences),
        phases=facts.phases,
        timings=facts.timings(),
    )


def _turn_origin(
    agent: str,
    origin: Origin,
) -> TurnOrigin:
    values = {
        **origin,
        "satellite": origin.get("satellite_id"),
    }
    known = {
        place: value
        for place in _PLACES
        if isinstance(
            value := values.get(place),
            str,
        )
    }
    return TurnOrigin(
        conversation_id=str(origin.get("history_id")), agent=agent, **known
    )


def async_record_change(
    hass: HomeAssistant,
    change: JsonObject,
    at: float,
) -> None:
    """Record a change. `at` is in seconds since the epoch."""
    registered = er.async_get(hass).async_get(str(change.get("entity_id")))
    if registered is None:
        return
    entry = hass.config_entries.async_get_entry(registered.config_entry_id or "")
    agent = registered.config_subentry_id
    turn_id = change.get("turn_id")
    if entry is None or agent is None:
        return
    record = AuditRecord(
        id=ulid_now(),
        origin=_turn_origin(agent, change),
        turn_id=turn_id if isinstance(turn_id, str) else None,
        at=at,
        body=dict(change),
    )
    async_store_record(
        hass,
        entry,
        agent,
        record,
    )

"""Writes what became of each turn, of each change, and whatever else is kept, into the history of the house.

Knows turns, records of changes, and the store. Must not know how a turn is taken, or what is done with what is stored.
Where an agent is set to keep nothing, nothing is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util.ulid import ulid_now

from ..agent.history.records import AuditRecord, Record, StoredTurn, TurnOrigin
from ..agent.history.state import Acknowledgement
from ..agent.messages import JsonObject, JsonValue
from ..const import LOGGER
from ..records.turn_record import TurnRecord
from ..settings.tasks import keeps_history
from .stores import async_get_histories

_PATIENCE: Final = 0.1
"""Seconds that the end of a turn waits until it is safe. What is heard of it has begun long before."""
_PLACES: Final = {
    "person_id": "person_id",
    "person": "person",
    "device_id": "device_id",
    "satellite": "satellite_id",
    "caller": "caller",
    "language": "language",
}
"""What is stored of an origin, and its names in `turn_events.turn_origin`."""


@dataclass(slots=True)
class TurnRecording:
    """Has one turn of an agent stored, once, when it is over."""

    hass: HomeAssistant
    entry: ConfigEntry
    subentry: ConfigSubentry
    origin: Mapping[str, JsonValue]
    """That of `turn_events.turn_origin`."""
    report: TurnRecord
    is_wanted: bool = True
    """Whether who speaks lets it be stored."""
    _is_handed_in: bool = False
    _acknowledgement: Acknowledgement | None = None

    @callback
    def async_store(self) -> None:
        """Hand the turn to the store, also one that was cut off; again does nothing."""
        agent = self.subentry.subentry_id
        if self._is_handed_in or not self.is_wanted or not _async_is_kept(self.hass, self.entry, agent):
            return
        self._is_handed_in = True
        try:
            record = _stored_turn(agent, self.origin, self.report)
            self._acknowledgement = _async_hand_in(self.hass, self.entry, agent, record)
        except Exception:  # noqa: BLE001  # no turn fails because it cannot be stored
            LOGGER.exception("A turn of %s is not stored", self.subentry.title)

    async def async_settle(self) -> None:
        """Hand the turn to the store, and give it a moment to be safe, unless the store is down."""
        self.async_store()
        if self._acknowledgement is not None:
            await self._acknowledgement.stored(_PATIENCE)


@callback
def _async_is_kept(hass: HomeAssistant, entry: ConfigEntry, agent: str) -> bool:
    """Tell whether an agent is set to keep something, and still there: what is deleted with it must not come after."""
    is_there = hass.config_entries.async_get_entry(entry.entry_id) is not None
    subentry = entry.subentries.get(agent) if is_there else None
    return subentry is not None and keeps_history(subentry)


@callback
def async_store_record(hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record) -> Acknowledgement | None:
    """Hand a record of an agent to the store, if anything is kept of it.

    Returns None where nobody can tell soon whether it is safe.
    """
    return _async_hand_in(hass, entry, agent, record) if _async_is_kept(hass, entry, agent) else None


@callback
def _async_hand_in(hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record) -> Acknowledgement | None:
    store = async_get_histories(hass).of(entry)
    if store is None:
        later = _async_store_later(hass, entry, agent, record)
        _ = hass.async_create_background_task(later, "chatterbox history")  # Home Assistant keeps it
        return None
    acknowledgement = store.record(record)
    return None if store.state.trouble else acknowledgement


async def _async_store_later(hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record) -> None:
    store = await async_get_histories(hass).async_open(entry)
    if store is not None and _async_is_kept(hass, entry, agent):
        store.record(record)


def _stored_turn(agent: str, origin: Mapping[str, JsonValue], report: TurnRecord) -> StoredTurn:
    facts, finished = report.facts, report.finished
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


def _turn_origin(agent: str, origin: Mapping[str, JsonValue]) -> TurnOrigin:
    known = {place: value for place, key in _PLACES.items() if isinstance(value := origin.get(key), str)}
    return TurnOrigin(conversation_id=str(origin.get("history_id")), agent=agent, **known)


@callback
def async_record_change(hass: HomeAssistant, change: JsonObject, at: float) -> None:
    """Store the audit record of a change, unless its agent keeps no history. `at` is in seconds since the epoch."""
    registered = er.async_get(hass).async_get(str(change.get("entity_id")))
    if registered is None or registered.config_entry_id is None or registered.config_subentry_id is None:
        return
    entry = hass.config_entries.async_get_entry(registered.config_entry_id)
    agent, turn_id = registered.config_subentry_id, change.get("turn_id")
    if entry is None:
        return
    record = AuditRecord(
        id=ulid_now(),
        origin=_turn_origin(agent, change),
        turn_id=turn_id if isinstance(turn_id, str) else None,
        at=at,
        body=dict(change),
    )
    async_store_record(hass, entry, agent, record)

"""Records turns, changes and responses in the history, unless their agent keeps none."""

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

_TIMEOUT: Final = 0.1
"""Seconds that the end of a turn waits until the turn is stored; its answer is already being spoken."""
_PLACES: Final = {
    "person_id": "person_id",
    "person": "person",
    "device_id": "device_id",
    "satellite": "satellite_id",
    "caller": "caller",
    "language": "language",
}
"""Fields of `TurnOrigin`, and their names in the origin of events."""


@dataclass(slots=True)
class TurnRecording:
    """Records one turn, once."""

    hass: HomeAssistant
    entry: ConfigEntry
    subentry: ConfigSubentry
    origin: Mapping[str, JsonValue]
    """As in the events of the turn."""
    report: TurnRecord
    is_wanted: bool = True
    """Whether the speaker lets it be stored."""
    _is_recorded: bool = False
    _acknowledgement: Acknowledgement | None = None

    @callback
    def async_store(self) -> None:
        """Record the turn, also if it was cut off. A second call does nothing."""
        agent = self.subentry.subentry_id
        if self._is_recorded or not self.is_wanted or not _async_is_kept(self.hass, self.entry, agent):
            return
        self._is_recorded = True
        try:
            record = _stored_turn(agent, self.origin, self.report)
            self._acknowledgement = _async_record(self.hass, self.entry, agent, record)
        except Exception:  # noqa: BLE001  # no turn fails because of the history
            LOGGER.exception("A turn of %s could not be recorded", self.subentry.title)

    async def async_settle(self) -> None:
        """Record the turn, and wait a moment until it is stored, unless the store is down."""
        self.async_store()
        if self._acknowledgement is not None:
            await self._acknowledgement.stored(_TIMEOUT)


@callback
def _async_is_kept(hass: HomeAssistant, entry: ConfigEntry, agent: str) -> bool:
    """Return whether an agent keeps a history and still exists: nothing is stored after its records were deleted."""
    is_there = hass.config_entries.async_get_entry(entry.entry_id) is not None
    subentry = entry.subentries.get(agent) if is_there else None
    return subentry is not None and keeps_history(subentry)


@callback
def async_store_record(hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record) -> Acknowledgement | None:
    """Record something of an agent, if it keeps a history.

    Returns None if the store is closed or down, so that waiting is useless.
    """
    return _async_record(hass, entry, agent, record) if _async_is_kept(hass, entry, agent) else None


@callback
def _async_record(hass: HomeAssistant, entry: ConfigEntry, agent: str, record: Record) -> Acknowledgement | None:
    store = async_get_histories(hass).of(entry)
    if store is None:
        later = _async_store_later(hass, entry, agent, record)
        _ = hass.async_create_background_task(later, "chatterbox history")
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
    """Record a change. `at` is in seconds since the epoch."""
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

"""The inside of `homeassistant.components.recorder`, `logbook` and `energy`: what is recorded of entities.

The asynchronous functions wait for the database, in the executor of the recorder.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util

from .reliance import Reliance

type _States = Mapping[str, Sequence[State]]
type Extremes = Mapping[Literal["min", "max", "mean", "change"], float | None]

_INSTANCE: Final = Reliance(
    "past", "homeassistant.components.recorder", ("get_instance",)
)
_HISTORY: Final = Reliance(
    "past",
    "homeassistant.components.recorder.history",
    ("get_last_state_changes", "get_significant_states"),
)
_STATISTICS: Final = Reliance(
    "past",
    "homeassistant.components.recorder.statistics",
    (
        "get_metadata",
        "statistic_during_period",
        "statistics_during_period",
    ),
)
_LOGBOOK: Final = Reliance(
    "past_authors",
    "homeassistant.components.logbook.processor",
    ("EventProcessor.get_events",),
)
_ENERGY: Final = Reliance(
    "past", "homeassistant.components.energy.data", ("async_get_manager",)
)
MOST_STATES: Final = 20_000
"""One a minute for two weeks."""
_AROUND: Final = timedelta(seconds=1)
_FROM_OUTSIDE: Final = frozenset({"gas", "grid", "water"})
"""Kinds of sources of the energy dashboard that the home uses; the sun and batteries are its own."""


def records(hass: HomeAssistant) -> bool:
    """Return whether states are recorded, and can be read."""
    return "recorder" in hass.config.components and all(
        one.find(hass) for one in (_INSTANCE, _HISTORY, _STATISTICS)
    )


def days_kept(hass: HomeAssistant) -> int:
    """Return for how many days states are kept. Source: `Recorder.keep_days`."""
    found = _INSTANCE.find(hass)
    if found:
        return int(found.get_instance(hass).keep_days)
    return 0


async def _async_read(
    hass: HomeAssistant, reliance: Reliance, job: Callable[[Any], object]
) -> Any:
    """Let the executor of the recorder read with a module; return None if that has moved. Callers name the type."""
    found = reliance.find(hass)
    recorder = _INSTANCE.find(hass)
    if found is None or recorder is None:
        return None
    return await recorder.get_instance(hass).async_add_executor_job(
        job,
        found,
    )


class TooManyStates(Exception):
    """An entity has more states in a period than are looked at while a person waits."""


async def async_states(
    hass: HomeAssistant,
    entity_id: str,
    begin: datetime,
    end: datetime,
    *,
    with_attributes: bool = False,
) -> Sequence[State]:
    """Return the states of an entity in a period, the one at its beginning first, if it is known.

    Raises `TooManyStates`.
    """
    which = {
        "significant_changes_only": not with_attributes,
        "no_attributes": not with_attributes,
    }
    given = (
        hass,
        begin,
        end,
        [entity_id],
        None,
        True,
    )
    states: _States | None = await _async_read(
        hass, _HISTORY, lambda one: one.get_significant_states(*given, **which)
    )
    found = (states or {}).get(entity_id, ())
    if len(found) > MOST_STATES:
        raise TooManyStates
    return list(found)


async def async_last_states(
    hass: HomeAssistant,
    entity_id: str,
    since: datetime,
    count: int,
) -> Sequence[State]:
    """Return the latest states of an entity, at most so many, oldest first.

    Home Assistant 2026.10 returns the first ones for `state_changes_during_period` with
    a limit.
    """
    given = (
        hass,
        count,
        entity_id,
    )
    states: _States | None = await _async_read(
        hass, _HISTORY, lambda one: one.get_last_state_changes(*given)
    )
    return [
        state
        for state in (states or {}).get(entity_id, ())
        if state.last_updated >= since
    ]


async def async_statistics(
    hass: HomeAssistant,
    entity_id: str,
    begin: datetime,
    end: datetime,
) -> Extremes:
    """Return lowest, highest and average value and growth of a sensor in a period; nothing without statistics."""
    given = (
        hass,
        begin,
        end,
        entity_id,
        None,
        None,
    )
    values: Extremes | None = await _async_read(
        hass, _STATISTICS, lambda one: one.statistic_during_period(*given)
    )
    return values or {}


async def async_hours(
    hass: HomeAssistant,
    entity_id: str,
    begin: datetime,
    end: datetime,
) -> Sequence[tuple[datetime, float, float]]:
    """Return the beginning, the lowest and the highest value of each hour of a period, where they are known."""
    given = (
        hass,
        begin,
        end,
        {entity_id},
        "hour",
        None,
        {"min", "max"},
    )
    rows: Mapping[str, Sequence[Mapping[str, float]]] = (
        await _async_read(
            hass, _STATISTICS, lambda one: one.statistics_during_period(*given)
        )
        or {}
    )
    known = [
        row
        for row in rows.get(entity_id, ())
        if row.get("min") is not None and row.get("max") is not None
    ]
    return [
        (
            dt_util.utc_from_timestamp(row["start"]),
            row["min"],
            row["max"],
        )
        for row in known
    ]


class Cause(NamedTuple):
    """The cause of a change, as the logbook knows it."""

    user_id: str | None
    name: str | None
    """Of an automation or a script."""


async def async_cause(
    hass: HomeAssistant,
    entity_id: str,
    when: datetime,
) -> Cause:
    """Return the cause of a change of an entity at a moment. Source: `EventProcessor`."""
    if "logbook" not in hass.config.components:
        return Cause(None, None)

    def entries_around(found: Any) -> Sequence[Mapping[str, object]]:
        events = (
            "automation_triggered",
            "script_started",
            "call_service",
        )
        processor = found.EventProcessor(
            hass,
            events,
            [entity_id],
            timestamp=True,
        )
        entries: Sequence[Mapping[str, object]] = processor.get_events(
            when - _AROUND, when + _AROUND
        )
        return entries

    found: Sequence[Mapping[str, object]] | None = await _async_read(
        hass, _LOGBOOK, entries_around
    )
    entries = [one for one in found or () if one.get("entity_id") == entity_id]
    if not entries:
        return Cause(None, None)
    nearest = min(
        entries, key=lambda entry: abs(float(str(entry["when"])) - when.timestamp())
    )
    user_id = nearest.get("context_user_id")
    name = nearest.get("context_name")
    return Cause(
        user_id if isinstance(user_id, str) else None,
        name if isinstance(name, str) else None,
    )


async def async_consumption(
    hass: HomeAssistant,
) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the meters of the energy dashboard: of devices, by id with the name; and of the home.

    Source: `EnergyPreferences`.
    """
    if "energy" in hass.config.components:
        found = _ENERGY.find(hass)
    else:
        found = None
    if not found or not (preferences := (await found.async_get_manager(hass)).data):
        return {}, frozenset()
    devices = {
        one["stat_consumption"]: one.get("name", "")
        for one in preferences.get("device_consumption", ())
    }
    home = {
        meter
        for source in preferences.get("energy_sources", ())
        if isinstance(meter := source.get("stat_energy_from"), str)
        and source.get("type") in _FROM_OUTSIDE
    }
    return devices, frozenset(home)

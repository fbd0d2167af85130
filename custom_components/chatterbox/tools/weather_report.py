"""A weather entity's state and forecast → a short report in numbers, for a model to read.

Knows Home Assistant's weather attributes, its condition words and its units; nothing of tools. Text that comes from a
weather service is never passed on: a condition or a unit that is not one of Home Assistant's own is left out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from math import isfinite
from typing import Final

from homeassistant.components import weather
from homeassistant.const import ATTR_SUPPORTED_FEATURES, PERCENTAGE
from homeassistant.core import State
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, JsonValue

MAX_DAYS: Final = 7
MAX_HOURS: Final = 24


class ForecastKind(StrEnum):
    """How a forecast is divided; the values are those of the action `weather.get_forecasts`."""

    DAILY = "daily"
    TWICE_DAILY = "twice_daily"
    HOURLY = "hourly"


_FEATURES: Final = {
    ForecastKind.DAILY: weather.WeatherEntityFeature.FORECAST_DAILY,
    ForecastKind.TWICE_DAILY: weather.WeatherEntityFeature.FORECAST_TWICE_DAILY,
    ForecastKind.HOURLY: weather.WeatherEntityFeature.FORECAST_HOURLY,
}
_LENGTHS: Final = {
    ForecastKind.DAILY: timedelta(days=1),
    ForecastKind.TWICE_DAILY: timedelta(hours=12),
    ForecastKind.HOURLY: timedelta(hours=1),
}
_ROWS: Final = {
    ForecastKind.DAILY: MAX_DAYS,
    ForecastKind.TWICE_DAILY: 2 * MAX_DAYS,
    ForecastKind.HOURLY: MAX_HOURS,
}
_CONDITIONS: Final = frozenset(
    {
        weather.ATTR_CONDITION_CLEAR_NIGHT,
        weather.ATTR_CONDITION_CLOUDY,
        weather.ATTR_CONDITION_EXCEPTIONAL,
        weather.ATTR_CONDITION_FOG,
        weather.ATTR_CONDITION_HAIL,
        weather.ATTR_CONDITION_LIGHTNING,
        weather.ATTR_CONDITION_LIGHTNING_RAINY,
        weather.ATTR_CONDITION_PARTLYCLOUDY,
        weather.ATTR_CONDITION_POURING,
        weather.ATTR_CONDITION_RAINY,
        weather.ATTR_CONDITION_SNOWY,
        weather.ATTR_CONDITION_SNOWY_RAINY,
        weather.ATTR_CONDITION_SUNNY,
        weather.ATTR_CONDITION_WINDY,
        weather.ATTR_CONDITION_WINDY_VARIANT,
    }
)
_QUANTITIES: Final = {
    "temperature": 1,
    "apparent_temperature": 1,
    "templow": 1,
    "dew_point": 1,
    "humidity": 0,
    "precipitation": 2,
    "precipitation_probability": 0,
    "wind_speed": 0,
    "wind_gust_speed": 0,
    "pressure": 1,
    "visibility": 1,
    "cloud_coverage": 0,
    "uv_index": 0,
}
"""What is reported, in this order, with the digits behind the point that are worth saying."""
_LEFT_OUT_OF_FORECASTS: Final = frozenset({"dew_point", "pressure", "visibility", "cloud_coverage"})
_COMPASS: Final = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


def supported_kinds(state: State) -> tuple[ForecastKind, ...]:
    """Return the kinds of forecast that a weather entity has, the most useful first."""
    features: object = state.attributes.get(ATTR_SUPPORTED_FEATURES)
    return tuple(kind for kind, flag in _FEATURES.items() if isinstance(features, int) and features & flag)


def current_conditions(state: State) -> JsonObject:
    """Report the weather now."""
    return _report({**state.attributes, "condition": state.state}, _QUANTITIES)


def forecast_rows(forecast: Sequence[Mapping[str, object]], kind: ForecastKind, now: datetime) -> list[JsonValue]:
    """Report what is still to come, in local time: at most 7 days, or 24 hours."""
    quantities = [name for name in _QUANTITIES if name not in _LEFT_OUT_OF_FORECASTS]
    rows: list[JsonValue] = []
    for entry in forecast:
        begin = _local_time(entry.get("datetime"))
        if begin is None or not _is_ahead(begin, kind, now):
            continue
        row = _report(entry, quantities)
        if "templow" in row:
            row = {{"temperature": "high", "templow": "low"}.get(name, name): value for name, value in row.items()}
        rows.append({"when": _when(begin, kind, is_day=entry.get("is_daytime")), **row})
    return rows[: _ROWS[kind]]


def units(state: State) -> JsonObject:
    """Name the unit of each quantity, as the house has it."""
    named: JsonObject = {}
    for attribute, valid in weather.VALID_UNITS.items():
        unit: object = state.attributes.get(attribute)
        if isinstance(unit, str) and unit in valid:
            named[attribute.removesuffix("_unit")] = unit
    return {**named, "humidity": PERCENTAGE, "precipitation_probability": PERCENTAGE, "cloud_coverage": PERCENTAGE}


def local_timestamp(moment: datetime) -> str:
    """Write a local time with its weekday: "Saturday 2026-11-21 16:05"."""
    return dt_util.as_local(moment).strftime("%A %Y-%m-%d %H:%M")


def _report(values: Mapping[str, object], quantities: Sequence[str] | Mapping[str, int]) -> JsonObject:
    report: JsonObject = {}
    if (condition := values.get("condition")) in _CONDITIONS and isinstance(condition, str):
        report["condition"] = condition
    for name in quantities:
        if (number := _rounded(values.get(name), _QUANTITIES[name])) is not None:
            report[name] = number
    if direction := _direction(values.get("wind_bearing")):
        report["wind_from"] = direction
    return report


def _rounded(value: object, digits: int) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    rounded = round(float(value), digits)
    return int(rounded) if rounded.is_integer() else rounded


def _direction(bearing: object) -> str | None:
    """Return where the wind comes from, as one of eight directions."""
    if isinstance(bearing, (int, float)) and isfinite(bearing):
        return _COMPASS[round(bearing / (360 / len(_COMPASS))) % len(_COMPASS)]
    return bearing if isinstance(bearing, str) and bearing in _COMPASS else None


def _local_time(value: object) -> datetime | None:
    moment = dt_util.parse_datetime(value) if isinstance(value, str) else None
    return dt_util.as_local(moment) if moment else None


def _is_ahead(begin: datetime, kind: ForecastKind, now: datetime) -> bool:
    """Tell whether a row is not over: a day counts until midnight, whatever hour its forecast bears."""
    if kind is ForecastKind.DAILY:
        return begin.date() >= dt_util.as_local(now).date()
    return begin + _LENGTHS[kind] > now


def _when(begin: datetime, kind: ForecastKind, *, is_day: object) -> str:
    match kind:
        case ForecastKind.DAILY:
            return begin.strftime("%A %Y-%m-%d")
        case ForecastKind.TWICE_DAILY:
            return f"{begin.strftime('%A %Y-%m-%d')} {'day' if is_day else 'night'}"
        case ForecastKind.HOURLY:
            return begin.strftime("%A %H:%M")

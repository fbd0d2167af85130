"""The tool that tells every agent of the home about the weather.

Only numbers and Home Assistant's own words are passed on: conditions and units of a
weather service that Home Assistant does not know are left out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from math import isfinite
from typing import Final, NamedTuple, cast

from homeassistant.components import weather
from homeassistant.components.weather import (
    DOMAIN as WEATHER_DOMAIN,
    SERVICE_GET_FORECASTS,
)
from homeassistant.const import (
    ATTR_ENTITY_ID,
    PERCENTAGE,
    STATE_UNAVAILABLE,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent
from homeassistant.helpers.llm import LLMContext
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ...agent.messages import JsonObject, JsonValue
from ...agent.text import read_data_file
from ...effects.device_intents import features_of
from ...effects.intents import Naming
from ...home.entities import exposed_names
from ...home.entity_matches import by_name, matching_states
from .own_tool import (
    DEFINITIONS,
    NoAnswer,
    OwnCall,
    OwnTool,
    SharedWith,
    ToolAnswer,
)


class ForecastKind(StrEnum):
    """The types of the action `weather.get_forecasts`."""

    DAILY = "daily"
    TWICE_DAILY = "twice_daily"
    HOURLY = "hourly"


class _Kind(NamedTuple):
    """Properties of a kind of forecast."""

    feature: weather.WeatherEntityFeature
    length: timedelta
    max_rows: int


_KINDS: Final = read_data_file(
    __file__, dict[ForecastKind, _Kind], "forecast_kinds.toml"
)
_CONDITIONS: Final = frozenset(
    value
    for name, value in vars(weather).items()
    if name.startswith("ATTR_CONDITION_") and isinstance(value, str)
)
_QUANTITIES: Final = read_data_file(__file__, dict[str, int])
"""The reported attributes in order, with their decimal places."""
_LEFT_OUT_OF_FORECASTS: Final = frozenset(
    {
        "dew_point",
        "pressure",
        "visibility",
        "cloud_coverage",
    }
)
_COMPASS: Final = (
    "N",
    "NE",
    "E",
    "SE",
    "S",
    "SW",
    "W",
    "NW",
)


async def _async_get_forecast(call: OwnCall) -> ToolAnswer:
    """Answer a question about the weather."""
    hass = call.hass
    llm_context = call.llm_context
    state = _find_weather(
        call,
        call.text("name"),
        call.text("area"),
    )
    kind = _choose_kind(state, call.text("forecast"))
    now = dt_util.now()
    data: JsonObject = {
        "name": state.name,
        "time": now.strftime("%A %Y-%m-%d %H:%M"),
        "units": units(state),
        "now": current_conditions(state),
    }
    if kind is not None:
        forecast = await _async_forecast(
            hass,
            llm_context,
            state,
            kind,
        )
        data |= {
            "forecast_kind": kind.value,
            "forecast": forecast_rows(
                forecast,
                kind,
                now,
            ),
        }
    return ToolAnswer(data)


def _find_weather(
    call: OwnCall,
    name: str,
    area: str,
) -> State:
    """Return the weather entity, or of several the one nearest to the device of the speaker."""
    hass = call.hass
    assistant = call.llm_context.assistant
    constraints = intent.MatchTargetsConstraints(
        name=name or None,
        area_name=area or None,
        domains={WEATHER_DOMAIN},
        assistant=assistant,
        allow_duplicate_names=True,
    )
    matched = by_name(matching_states(hass, constraints))
    states = [state for state in matched if state.state != STATE_UNAVAILABLE]
    if states:
        return (call.in_room(states) or states)[0]
    if matched:
        raise NoAnswer(
            "The weather is not available at the moment. Say so, and do not ask again now."
        )
    description = " ".join(
        filter(
            None,
            [
                f"called '{name}'" if name else "",
                f"in the area '{area}'" if area else "",
            ],
        )
    )
    names = ", ".join(exposed_names(hass, assistant, {WEATHER_DOMAIN}))
    raise NoAnswer(
        f"There is no weather entity {description}. There are: {names}. Without name and area it is the home's."
    )


def _choose_kind(
    state: State,
    wanted: str,
) -> ForecastKind | None:
    """Return the kind of forecast to get, or None for the current weather alone."""
    features = features_of(state)
    kinds = [kind for kind in _KINDS if features & _KINDS[kind].feature]
    if not wanted:
        return kinds[0] if kinds else None
    if wanted in kinds:
        return ForecastKind(wanted)
    if wanted == ForecastKind.DAILY and ForecastKind.TWICE_DAILY in kinds:
        return ForecastKind.TWICE_DAILY
    if wanted == ForecastKind.HOURLY:
        other = ForecastKind.DAILY
    else:
        other = ForecastKind.HOURLY
    has_other = other in kinds or (
        other is ForecastKind.DAILY and ForecastKind.TWICE_DAILY in kinds
    )
    if has_other:
        instead = f"Ask for the {other.value} one."
    else:
        instead = "Leave 'forecast' out to get the current weather."
    raise NoAnswer(f"{state.name} has no {wanted} forecast. {instead}")


async def _async_forecast(
    hass: HomeAssistant, llm_context: LLMContext, state: State, kind: ForecastKind
) -> list[JsonObjectType]:
    response = await hass.services.async_call(
        WEATHER_DOMAIN,
        SERVICE_GET_FORECASTS,
        {
            ATTR_ENTITY_ID: state.entity_id,
            "type": kind.value,
        },
        blocking=True,
        context=llm_context.context,
        return_response=True,
    )
    entry = cast(
        "JsonObjectType",
        (response or {}).get(
            state.entity_id,
            {},
        ),
    )
    return cast(
        "list[JsonObjectType]",
        entry.get("forecast", []),
    )


def current_conditions(state: State) -> JsonObject:
    """Report the weather now."""
    return _report(
        {
            **state.attributes,
            "condition": state.state,
        },
        _QUANTITIES,
    )


def forecast_rows(
    forecast: Sequence[Mapping[str, object]], kind: ForecastKind, now: datetime
) -> list[JsonValue]:
    """Report the future part of a forecast in local time, at most 7 days or 24 hours."""
    quantities = [name for name in _QUANTITIES if name not in _LEFT_OUT_OF_FORECASTS]
    rows: list[JsonValue] = []
    for entry in forecast:
        begin = dt_util.parse_datetime(str(entry.get("datetime")))
        if begin is None or not _is_ahead(begin := dt_util.as_local(begin), kind, now):
            continue
        row = _report(entry, quantities)
        if "templow" in row:
            row = {
                {"temperature": "high", "templow": "low"}.get(name, name): value
                for name, value in row.items()
            }
        rows.append({"when": _when(begin, kind, is_day=entry.get("is_daytime")), **row})
    return rows[: _KINDS[kind].max_rows]


def units(state: State) -> JsonObject:
    """Return the unit of each quantity, as it is configured in Home Assistant."""
    named: JsonObject = {}
    for attribute, valid in weather.VALID_UNITS.items():
        unit: object = state.attributes.get(attribute)
        if isinstance(unit, str) and unit in valid:
            named[attribute.removesuffix("_unit")] = unit
    return {
        **named,
        "humidity": PERCENTAGE,
        "precipitation_probability": PERCENTAGE,
        "cloud_coverage": PERCENTAGE,
    }


def _report(
    values: Mapping[str, object], quantities: Sequence[str] | Mapping[str, int]
) -> JsonObject:
    report: JsonObject = {}
    condition = values.get("condition")
    if condition in _CONDITIONS and isinstance(condition, str):
        report["condition"] = condition
    for name in quantities:
        number = _rounded(
            values.get(name),
            _QUANTITIES[name],
        )
        if number is not None:
            report[name] = number
    direction = _direction(values.get("wind_bearing"))
    if direction:
        report["wind_from"] = direction
    return report


def _rounded(
    value: object,
    digits: int,
) -> int | float | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not isfinite(value)
    ):
        return None
    rounded = round(float(value), digits)
    if rounded.is_integer():
        return int(rounded)
    return rounded


def _direction(bearing: object) -> str | None:
    """Return the direction from which the wind comes, as one of eight."""
    if isinstance(bearing, (int, float)) and isfinite(bearing):
        return _COMPASS[round(bearing / (360 / len(_COMPASS))) % len(_COMPASS)]
    if isinstance(bearing, str) and bearing in _COMPASS:
        return bearing
    return None


def _is_ahead(
    begin: datetime,
    kind: ForecastKind,
    now: datetime,
) -> bool:
    """Return whether a row is not over. A day lasts until midnight, whatever the time of its forecast is."""
    if kind is ForecastKind.DAILY:
        return begin.date() >= dt_util.as_local(now).date()
    return begin + _KINDS[kind].length > now


def _when(
    begin: datetime,
    kind: ForecastKind,
    *,
    is_day: object,
) -> str:
    match kind:
        case ForecastKind.DAILY:
            return begin.strftime("%A %Y-%m-%d")
        case ForecastKind.TWICE_DAILY:
            return f"{begin.strftime('%A %Y-%m-%d')} {'day' if is_day else 'night'}"
        case ForecastKind.HOURLY:
            return begin.strftime("%A %H:%M")


GET_FORECAST: Final = OwnTool(
    definition=DEFINITIONS["get_forecast"],
    run=_async_get_forecast,
    calls_action=True,
    shared=SharedWith(
        frozenset({WEATHER_DOMAIN}),
        "Get weather forecast",
        Naming(
            ("name", "area"),
            frozenset({WEATHER_DOMAIN}),
        ),
    ),
)

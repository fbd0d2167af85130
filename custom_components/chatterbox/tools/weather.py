"""Tools of ours for every agent of the house, through Home Assistant's LLM tools platform: the weather.

Called by Home Assistant (`homeassistant.components.llm`). Knows how a weather entity is found and asked; what is said
about the weather is written in `tools/weather_report.py`.
"""

from typing import cast, override

import voluptuous as vol
from homeassistant.components.weather import DOMAIN as WEATHER_DOMAIN, SERVICE_GET_FORECASTS
from homeassistant.const import ATTR_ENTITY_ID, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import config_validation as cv, entity_registry as er, intent
from homeassistant.helpers.llm import (
    LLMContext,
    Tool,
    ToolAnnotations,
    ToolInput,
    ToolResult,
    async_get_match_preferences,
)
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN
from ..home.entity_matches import exposed_names, exposed_states
from .weather_report import (
    MAX_DAYS,
    MAX_HOURS,
    ForecastKind,
    current_conditions,
    forecast_rows,
    local_timestamp,
    supported_kinds,
    units,
)


class WeatherUnknown(Exception):
    """A question about the weather that cannot be answered; the text says what can be asked instead."""


class GetForecastTool(Tool):
    """The weather now and in the next hours or days, of an exposed weather entity."""

    name = f"{DOMAIN}__get_forecast"
    title = "Get weather forecast"
    description = (
        "Gets the current weather and the forecast, in local time and the home's own units. "
        "Use it for every question about weather, rain, wind or the temperature outside."
    )
    parameters = vol.Schema(
        {
            vol.Optional(
                "forecast", description=f"daily: the next {MAX_DAYS} days. hourly: the next {MAX_HOURS} hours."
            ): vol.In([ForecastKind.DAILY.value, ForecastKind.HOURLY.value]),
            vol.Optional(
                "name", description="Name of a weather entity. Leave it out for the weather at home."
            ): cv.string,
            vol.Optional(
                "area", description="Area of a weather entity. Leave it out for the weather at home."
            ): cv.string,
        }
    )
    # It reads an entity of the house, and only numbers and Home Assistant's own words come back: although they were
    # made elsewhere, nobody out there can speak to the model through them. So its world is closed.
    annotations = ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)
    integration = DOMAIN

    @override
    async def async_call(self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext) -> ToolResult:
        """Answer a question about the weather."""
        given = {key: value for key, value in tool_input.tool_args.items() if not intent.is_blank_slot_value(value)}
        arguments: dict[str, str] = self.parameters(given)
        try:
            state = _find_weather(hass, llm_context, arguments.get("name"), arguments.get("area"))
            kind = _choose_kind(state, arguments.get("forecast"))
        except WeatherUnknown as error:
            return ToolResult(data={"error": str(error)}, error=True)
        now = dt_util.now()
        data: JsonObjectType = {
            "name": state.name,
            "time": local_timestamp(now),
            "units": units(state),
            "now": current_conditions(state),
        }
        if kind is not None:
            forecast = await _async_get_forecast(hass, llm_context, state, kind)
            data |= {"forecast_kind": kind.value, "forecast": forecast_rows(forecast, kind, now)}
        return ToolResult(data=data)


def _find_weather(hass: HomeAssistant, llm_context: LLMContext, name: str | None, area: str | None) -> State:
    """Return the weather entity that is meant, of several the one nearest to the asking device.

    Raises `WeatherUnknown` when none is meant that can answer.
    """
    constraints = intent.MatchTargetsConstraints(
        name=name,
        area_name=area,
        domains={WEATHER_DOMAIN},
        assistant=llm_context.assistant,
        allow_duplicate_names=True,
    )
    matched = {state.entity_id for state in intent.async_match_targets(hass, constraints).states}
    states = [
        state
        for state in exposed_states(hass, llm_context.assistant, {WEATHER_DOMAIN})
        if state.entity_id in matched and state.state != STATE_UNAVAILABLE
    ]
    if states:
        return _nearest(hass, llm_context, states)
    if matched:
        raise WeatherUnknown("The weather is not available at the moment. Say so, and do not ask again now.")
    asked = " ".join(filter(None, [f"called '{name}'" if name else "", f"in the area '{area}'" if area else ""]))
    names = ", ".join(exposed_names(hass, llm_context.assistant, {WEATHER_DOMAIN}))
    raise WeatherUnknown(
        f"There is no weather entity {asked}. There are: {names}. Without name and area it is the home's."
    )


def _nearest(hass: HomeAssistant, llm_context: LLMContext, states: list[State]) -> State:
    area_id = async_get_match_preferences(hass, llm_context).area_id
    registry = er.async_get(hass)
    for state in states:
        entry = registry.async_get(state.entity_id)
        if area_id and entry and er.async_get_effective_area_id(hass, entry) == area_id:
            return state
    return states[0]


def _choose_kind(state: State, wanted: str | None) -> ForecastKind | None:
    """Return the kind of forecast to get, None for the current weather alone.

    Raises `WeatherUnknown` when the wanted kind is not to be had.
    """
    kinds = supported_kinds(state)
    if wanted is None:
        return kinds[0] if kinds else None
    if wanted in kinds:
        return ForecastKind(wanted)
    if wanted == ForecastKind.DAILY and ForecastKind.TWICE_DAILY in kinds:
        return ForecastKind.TWICE_DAILY
    other = ForecastKind.DAILY if wanted == ForecastKind.HOURLY else ForecastKind.HOURLY
    has_other = other in kinds or (other is ForecastKind.DAILY and ForecastKind.TWICE_DAILY in kinds)
    instead = f"Ask for the {other.value} one." if has_other else "Leave 'forecast' out to get the current weather."
    raise WeatherUnknown(f"{state.name} has no {wanted} forecast. {instead}")


async def _async_get_forecast(
    hass: HomeAssistant, llm_context: LLMContext, state: State, kind: ForecastKind
) -> list[JsonObjectType]:
    response = await hass.services.async_call(
        WEATHER_DOMAIN,
        SERVICE_GET_FORECASTS,
        {ATTR_ENTITY_ID: state.entity_id, "type": kind.value},
        blocking=True,
        context=llm_context.context,
        return_response=True,
    )
    entry = cast("JsonObjectType", (response or {}).get(state.entity_id, {}))
    return cast("list[JsonObjectType]", entry.get("forecast", []))

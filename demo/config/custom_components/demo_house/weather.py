"""The weather around a demo house."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import override

from homeassistant.components.weather import (
    Forecast,
    WeatherEntity,
    WeatherEntityFeature,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import ForecastItem, HomeWeather

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the weather of the home."""
    async_add_entities(
        DemoWeather(entry, weather)
        for weather in entry.runtime_data.entities_of(HomeWeather)
    )


class DemoWeather(DemoHouseEntity, WeatherEntity):
    """The same weather every day, forecast from the day and the hour of the asking."""

    def __init__(self, entry: DemoHouseConfigEntry, weather: HomeWeather) -> None:
        """Take the weather of the home file."""
        super().__init__(entry, weather)
        self._attr_condition = weather.state
        self._attr_native_temperature = weather.temperature
        self._attr_native_temperature_unit = weather.temperature_unit
        self._attr_humidity = weather.humidity
        self._attr_native_pressure = weather.pressure
        self._attr_native_pressure_unit = weather.pressure_unit
        self._attr_native_wind_speed = weather.wind_speed
        self._attr_native_wind_speed_unit = weather.wind_speed_unit
        self._attr_wind_bearing = weather.wind_bearing
        self._attr_native_precipitation_unit = weather.precipitation_unit
        self._daily = weather.forecast_daily
        self._hourly = weather.forecast_hourly
        self._attr_supported_features = WeatherEntityFeature(0)
        if self._daily:
            self._attr_supported_features |= WeatherEntityFeature.FORECAST_DAILY
        if self._hourly:
            self._attr_supported_features |= WeatherEntityFeature.FORECAST_HOURLY

    @override
    async def async_forecast_daily(self) -> list[Forecast]:
        """Return the forecast of the days from today on."""
        return list(_forecasts(self._daily, dt_util.start_of_local_day(), _DAY))

    @override
    async def async_forecast_hourly(self) -> list[Forecast]:
        """Return the forecast of the hours from this one on."""
        return list(
            _forecasts(
                self._hourly,
                dt_util.now().replace(minute=0, second=0, microsecond=0),
                _HOUR,
            )
        )


def _forecasts(
    items: Iterable[ForecastItem], start: datetime, step: timedelta
) -> Iterable[Forecast]:
    for number, item in enumerate(items):
        yield Forecast(
            datetime=(start + number * step).isoformat(),
            condition=item.condition,
            native_temperature=item.temperature,
            native_templow=item.templow,
            native_precipitation=item.precipitation,
            precipitation_probability=item.precipitation_probability,
            humidity=item.humidity,
            native_wind_speed=item.wind_speed,
        )

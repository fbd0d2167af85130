"""The fields of a home file for entities that measure, inform, list and set: sensors, weather, lists, scenes, settings.

Knows the attributes of Home Assistant's entity platforms; must not know how an entity
behaves: that is the part of the platform module. In the file, what is not the same for
all kinds stands under `attributes:`.
"""

from datetime import date, datetime, time
from typing import Annotated

from homeassistant.components.binary_sensor import BinarySensorDeviceClass
from homeassistant.components.button import ButtonDeviceClass
from homeassistant.components.calendar import CalendarEntityFeature
from homeassistant.components.number import NumberDeviceClass
from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass
from homeassistant.components.todo import TodoItemStatus, TodoListEntityFeature
from homeassistant.const import (
    UnitOfPrecipitationDepth,
    UnitOfPressure,
    UnitOfSpeed,
    UnitOfTemperature,
)
from pydantic import BeforeValidator, Field, JsonValue

from .fields import Named, Percentage, Written, features_of
from .home_entity import HomeEntity


class HomeBinarySensor(HomeEntity):
    """A sensor that says yes or no."""

    state: bool = False
    device_class: Named[BinarySensorDeviceClass] | None = None


class HomeButton(HomeEntity):
    """A button; its state is when it was pressed."""

    device_class: Named[ButtonDeviceClass] | None = None


class HomeEvent(Written):
    """An event of a calendar: with a `start` it takes `minutes`, without one so many `days`."""

    summary: str
    day: int = 0
    """Days from the first day of the home."""
    start: time | None = None
    minutes: int = 60
    days: int = 1
    location: str | None = None
    rrule: str | None = None


class HomeCalendar(HomeEntity):
    """A calendar."""

    supported_features: Annotated[
        CalendarEntityFeature, features_of(CalendarEntityFeature)
    ] = CalendarEntityFeature(0)
    events: tuple[HomeEvent, ...] = ()


class HomeCamera(HomeEntity):
    """A camera; `picture` is a file in `pictures/`."""

    picture: Annotated[str, Field(pattern=r"^[a-z_]+\.jpg$")]


class HomeNumber(HomeEntity):
    """A number that can be set."""

    state: float
    device_class: Named[NumberDeviceClass] | None = None
    native_unit_of_measurement: str | None = None
    native_min_value: float = 0
    native_max_value: float = 100
    native_step: float = 1


class HomeScene(HomeEntity):
    """A scene: the states that its entities take, `entity_id → state` or `entity_id → {"state": …, attribute: …}`."""

    entities: dict[str, JsonValue] = Field(min_length=1)


class HomeSelect(HomeEntity):
    """A choice among `options`."""

    state: str
    options: tuple[str, ...] = Field(min_length=1)


class HomeSensor(HomeEntity):
    """A sensor that measures."""

    state: str | None = None
    device_class: Named[SensorDeviceClass] | None = None
    state_class: Named[SensorStateClass] | None = None
    native_unit_of_measurement: str | None = None


class ListItem(Written):
    """One item of a to-do list."""

    summary: str
    status: Named[TodoItemStatus] = TodoItemStatus.NEEDS_ACTION
    due: datetime | date | None = None
    description: str | None = None


def _item_of_text(written: object) -> object:
    return {"summary": written} if isinstance(written, str) else written


class HomeTodoList(HomeEntity):
    """A to-do or shopping list; an item is a text, or a summary with more."""

    supported_features: Annotated[
        TodoListEntityFeature, features_of(TodoListEntityFeature)
    ] = TodoListEntityFeature(0)
    todo_items: tuple[Annotated[ListItem, BeforeValidator(_item_of_text)], ...] = ()


class ForecastItem(Written):
    """The weather of one day or hour, in the units of its weather entity."""

    condition: str
    temperature: float
    templow: float | None = None
    precipitation: float | None = None
    precipitation_probability: Percentage | None = None
    humidity: Percentage | None = None
    wind_speed: float | None = None


class HomeWeather(HomeEntity):
    """The weather outside; forecasts begin with today and with this hour."""

    state: str
    temperature: float
    temperature_unit: UnitOfTemperature = UnitOfTemperature.CELSIUS
    humidity: Percentage | None = None
    pressure: float | None = None
    pressure_unit: UnitOfPressure = UnitOfPressure.HPA
    wind_speed: float | None = None
    wind_speed_unit: UnitOfSpeed = UnitOfSpeed.KILOMETERS_PER_HOUR
    wind_bearing: float | None = None
    precipitation_unit: UnitOfPrecipitationDepth = UnitOfPrecipitationDepth.MILLIMETERS
    forecast_daily: tuple[ForecastItem, ...] = ()
    forecast_hourly: tuple[ForecastItem, ...] = ()

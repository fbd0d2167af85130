"""Odd values: a report holds numbers and Home Assistant's own words, whatever a service sends."""

import pytest
from homeassistant.core import State
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.tools.own.get_forecast import (
    ForecastKind,
    current_conditions,
    forecast_rows,
    units,
)

NOW = dt_util.parse_datetime("2026-11-21T12:00:00+00:00", raise_on_error=True)


@pytest.mark.parametrize(
    ("bearing", "expected"),
    [
        (0, "N"),
        (359.9, "N"),
        (22.4, "N"),
        (22.6, "NE"),
        (-45, "NW"),
        (720, "N"),
        ("SW", "SW"),
        ("from hell", None),
        (None, None),
    ],
)
def test_the_wind_comes_from_one_of_eight_directions(
    bearing: object, expected: str | None
) -> None:
    state = State("weather.home", "sunny", {"wind_bearing": bearing})

    assert current_conditions(state).get("wind_from") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (14.04, 14),
        (14.06, 14.1),
        (-0.04, 0),
        (3, 3),
        (float("nan"), None),
        (float("inf"), None),
        ("14", None),
        (True, None),
    ],
)
def test_a_number_is_rounded_and_anything_else_left_out(
    value: object, expected: JsonValue
) -> None:
    state = State("weather.home", "sunny", {"temperature": value})

    assert current_conditions(state).get("temperature") == expected


def test_units_that_home_assistant_does_not_know_are_left_out() -> None:
    state = State(
        "weather.home",
        "sunny",
        {"temperature_unit": "°C", "wind_speed_unit": "swallows", "pressure_unit": 7},
    )

    assert units(state) == {
        "temperature": "°C",
        "humidity": "%",
        "precipitation_probability": "%",
        "cloud_coverage": "%",
    }


@pytest.mark.parametrize("moment", [None, 5, "tomorrow", ""])
def test_a_row_without_a_time_is_left_out(moment: object) -> None:
    assert (
        forecast_rows(
            [{"datetime": moment, "temperature": 1}], ForecastKind.HOURLY, NOW
        )
        == []
    )


def test_a_time_without_a_zone_is_local() -> None:
    (row,) = forecast_rows(
        [{"datetime": "2026-11-22T14:00:00"}], ForecastKind.HOURLY, NOW
    )

    assert row == {"when": "Sunday 14:00"}


def test_a_day_with_one_temperature_does_not_call_it_high() -> None:
    (row,) = forecast_rows(
        [{"datetime": NOW.isoformat(), "temperature": 7}], ForecastKind.DAILY, NOW
    )

    assert row == {"when": "Saturday 2026-11-21", "temperature": 7}

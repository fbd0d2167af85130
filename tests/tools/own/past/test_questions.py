"""80 questions in three languages about a year of a home, called as a good model calls: all are answered truly.

The truth is computed apart, minute by minute, from the list of events that the recorder
got.
"""

import random
import tomllib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder.models import (
    StatisticData,
    StatisticMeanType,
    StatisticMetaData,
)
from homeassistant.components.recorder.statistics import async_import_statistics
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pydantic import TypeAdapter
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)
from pytest_homeassistant_custom_component.typing import RecorderInstanceContextManager

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.tools.own.past import GET_PAST
from tests.support.own_tools import own_call

ZONE: Final = ZoneInfo("Europe/Berlin")
NOW: Final = datetime(2026, 11, 25, 14, 30, tzinfo=ZONE)
BEGIN: Final = datetime(2026, 11, 16, tzinfo=ZONE)
MINUTE: Final = timedelta(minutes=1)


class Entity(NamedTuple):
    """An entity, and its states in turn."""

    name: str
    states: tuple[str, str]
    attributes: Mapping[str, str]


ENTITIES: Final = {
    "binary_sensor.front_door": Entity(
        "Front Door", ("off", "on"), {"device_class": "door"}
    ),
    "binary_sensor.kitchen_window": Entity(
        "Kitchen Window", ("off", "on"), {"device_class": "window"}
    ),
    "binary_sensor.bath_window": Entity(
        "Bath Window", ("off", "on"), {"device_class": "window"}
    ),
    "cover.garage": Entity(
        "Garage Door", ("closed", "open"), {"device_class": "garage"}
    ),
    "lock.back_door": Entity("Back Door", ("locked", "unlocked"), {}),
    "light.porch": Entity("Porch Light", ("off", "on"), {}),
    "switch.washer": Entity("Washing Machine", ("off", "on"), {}),
    "media_player.tv": Entity("TV", ("off", "playing"), {}),
    "climate.bath": Entity("Bathroom Heating", ("idle", "heating"), {}),
}
OUTSIDE: Final = "sensor.outside"
METERS: Final = {
    "sensor.fridge_energy": "Fridge",
    "sensor.grid": "Grid",
    "sensor.water": "Water Meter",
}
QUESTIONS: Final = Path(__file__).with_name("questions.toml")
NAMES: Final = (
    {entity_id: entity.name for entity_id, entity in ENTITIES.items()}
    | METERS
    | {OUTSIDE: "Outside"}
)
type Row = tuple[datetime, str]


def events() -> dict[str, list[Row]]:
    """Return the changes of each thing, at full minutes, the first at the beginning."""
    chance = random.Random(7)  # noqa: S311  # no secret
    found: dict[str, list[Row]] = {}
    for entity_id, entity in ENTITIES.items():
        rows, when, is_on = [(BEGIN, entity.states[0])], BEGIN, False
        while (
            when := when + timedelta(minutes=chance.randrange(20, 900))
        ) < NOW - MINUTE:
            is_on = not is_on
            rows.append((when, entity.states[is_on]))
        found[entity_id] = rows
    return found


def hourly() -> tuple[
    list[tuple[datetime, float, float, float]], dict[str, list[tuple[datetime, float]]]
]:
    """Return lowest, highest and average temperature of hours of a year, and what each meter counted in them.

    Except near the bounds of periods, one hour a day was recorded, as a recorder takes
    long for each.
    """
    chance = random.Random(12)  # noqa: S311  # no secret
    first, hours = datetime(2025, 11, 25, tzinfo=ZONE), 366 * 24
    begins = [
        first.astimezone(ZoneInfo("UTC")) + number * timedelta(hours=1)
        for number in range(hours)
    ]
    begins = [begin for begin in begins if begin + timedelta(hours=1) <= NOW]
    edges = [
        bounds(period)[0]
        for period in ("this_year", "last_month", "this_month", "last_week")
    ]
    near = [
        begin
        for begin in begins
        if begin >= edges[-1]
        or any(abs(begin - edge) <= timedelta(days=1) for edge in edges)
    ]
    begins = sorted({*begins[::24], *near})
    outside = [
        (begin, mean - 0.4, mean + 0.6, mean)
        for begin in begins
        for mean in [round(chance.uniform(-8, 32), 1)]
    ]
    meters = {
        meter: [(begin, round(chance.uniform(0, 2), 3)) for begin in begins]
        for meter in METERS
    }
    return outside, meters


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), ZONE)


def bounds(period: str) -> tuple[datetime, datetime]:
    """Return a period in local time, written apart from the code under test."""
    today = NOW.date()
    monday = today - timedelta(days=today.weekday())
    first = today.replace(day=1)
    before_first = (first - timedelta(days=1)).replace(day=1)
    table = {
        "today": (midnight(today), midnight(today + timedelta(days=1))),
        "yesterday": (midnight(today - timedelta(days=1)), midnight(today)),
        "last_night": (
            datetime.combine(today - timedelta(days=1), time(22), ZONE),
            datetime.combine(today, time(6), ZONE),
        ),
        "this_week": (midnight(monday), midnight(monday + timedelta(days=7))),
        "last_week": (midnight(monday - timedelta(days=7)), midnight(monday)),
        "this_month": (
            midnight(first),
            midnight((first + timedelta(days=32)).replace(day=1)),
        ),
        "last_month": (midnight(before_first), midnight(first)),
        "this_year": (
            midnight(date(today.year, 1, 1)),
            midnight(date(today.year + 1, 1, 1)),
        ),
    }
    begin, end = table[period]
    return begin, min(end, NOW)


EVENTS: Final = events()
OUTSIDE_HOURS, METER_HOURS = hourly()


def state_at(entity_id: str, when: datetime) -> str | None:
    return next(
        (state for since, state in reversed(EVENTS[entity_id]) if since <= when), None
    )


def minutes_in(entity_id: str, begin: datetime, end: datetime) -> int:
    """Count the minutes in the second state."""
    wanted, when, count = ENTITIES[entity_id].states[1], begin.timestamp(), 0
    while when < end.timestamp():
        count += state_at(entity_id, datetime.fromtimestamp(when, ZONE)) == wanted
        when += 60
    return count


def spoken(minutes: int) -> str:
    """Return a duration in words, of two units."""
    if not minutes:
        return "not once"
    days, rest = divmod(minutes, 24 * 60)
    hours, left = divmod(rest, 60)
    if days:  # the last of two units is rounded
        hours = round(rest / 60)
    if hours == 24:
        days, hours = days + 1, 0
    units = [(days, "day"), (hours, "hour"), (0 if days else left, "minute")]
    return " ".join(
        f"{count} {unit}{'s' if count > 1 else ''}" for count, unit in units if count
    )


def moment(when: datetime) -> str:
    local = when.astimezone(ZONE)
    days = (NOW.date() - local.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"{local:%A} {local.day} {local:%B}")
    return f"{day} {local:%H:%M}"


@dataclass(frozen=True)
class Question:
    """A question, the call for it, and the kind of the true value that the answer has to hold."""

    text: str
    call: JsonObject
    checks: str

    @property
    def truth(self) -> tuple[str, JsonValue]:
        """Return the name of the value, and the value."""
        name, period, state = (
            str(self.call.get(key, "")) for key in ("name", "period", "state")
        )
        entity_id = next(one for one, known in NAMES.items() if known == name)
        match self.checks:
            case "last":
                return f"last {state}", last(entity_id, state)
            case "length":
                return state, spoken(minutes_in(entity_id, *bounds(period)))
            case "times":
                return "times", times(entity_id, *bounds(period))
            case "used":
                begin, end = bounds(period)
                unit = "m³" if entity_id == "sensor.water" else "kWh"
                return "used", quantity(
                    sum(
                        row[1]
                        for row in METER_HOURS[entity_id]
                        if begin <= row[0] < end
                    ),
                    unit,
                )
            case extreme:
                return extreme, temperature(extreme, *bounds(period))


def last(entity_id: str, state: str) -> str:
    wanted = ENTITIES[entity_id].states[state not in {"closed", "off", "locked"}]
    when = max(since for since, entered in EVENTS[entity_id][1:] if entered == wanted)
    return f"{moment(when)}, {spoken(int((NOW - when) / MINUTE))} ago"


def times(entity_id: str, begin: datetime, end: datetime) -> JsonValue:
    wanted = ENTITIES[entity_id].states[1]
    entered = sum(
        begin < since < end and state == wanted for since, state in EVENTS[entity_id]
    )
    return (
        f"{entered}, and it was so from the beginning"
        if state_at(entity_id, begin) == wanted
        else entered
    )


def temperature(extreme: str, begin: datetime, end: datetime) -> str:
    hours = [
        row
        for row in OUTSIDE_HOURS
        if begin <= row[0] and row[0] + timedelta(hours=1) <= end
    ]
    if extreme == "average":
        return quantity(sum(row[3] for row in hours) / len(hours), "°C")
    at = (
        min(hours, key=lambda row: row[1])
        if extreme == "lowest"
        else max(hours, key=lambda row: row[2])
    )
    return f"{quantity(at[1] if extreme == 'lowest' else at[2], '°C')}, {moment(at[0])}"


def quantity(value: float, unit: str) -> str:
    rounded = round(value) if abs(value) >= 100 else round(value, 1)
    return f"{int(rounded) if rounded == int(rounded) else rounded} {unit}"


@pytest.fixture
async def home(
    async_test_recorder: RecorderInstanceContextManager,
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
) -> AsyncGenerator[HomeAssistant]:
    """Play the events to a recorder, and import the statistics of the year."""
    await hass.config.async_set_time_zone(ZONE.key)
    freezer.move_to(BEGIN)
    async with async_test_recorder(hass):
        for component in (
            "homeassistant",
            "sensor",
            "climate",
            "cover",
            "lock",
            "light",
            "conversation",
        ):
            assert await async_setup_component(hass, component, {})
        for when, entity_id, state in sorted(
            (when, one, state) for one, rows in EVENTS.items() for when, state in rows
        ):
            freezer.move_to(when)
            entity = ENTITIES[entity_id]
            is_climate = entity_id.startswith("climate.")
            attributes = {
                "friendly_name": entity.name,
                **entity.attributes,
                **({"hvac_action": state} if is_climate else {}),
            }
            hass.states.async_set(
                entity_id, "heat" if is_climate else state, attributes
            )
        freezer.move_to(NOW)
        await _async_import(hass)
        for entity_id in (*ENTITIES, *METERS, OUTSIDE):
            async_expose_entity(hass, "conversation", entity_id, should_expose=True)
        await async_wait_recording_done(hass)
        yield hass


async def _async_import(hass: HomeAssistant) -> None:
    """Add the sensors of the year with their statistics."""
    measurement = {
        "state_class": "measurement",
        "unit_of_measurement": "°C",
        "device_class": "temperature",
    }
    hass.states.async_set(OUTSIDE, "5", {"friendly_name": "Outside", **measurement})
    rows = [
        StatisticData(start=begin, min=low, max=high, mean=mean)
        for begin, low, high, mean in OUTSIDE_HOURS
    ]
    meta = StatisticMetaData(
        mean_type=StatisticMeanType.ARITHMETIC, has_sum=False, name=None, source="recorder", statistic_id=OUTSIDE,
        unit_class="temperature", unit_of_measurement="°C",
    )  # fmt: skip
    async_import_statistics(hass, meta, rows)
    for meter, name in METERS.items():
        unit = "m³" if meter == "sensor.water" else "kWh"
        kind = "water" if meter == "sensor.water" else "energy"
        total_state = {
            "state_class": "total_increasing",
            "unit_of_measurement": unit,
            "device_class": kind,
        }
        hass.states.async_set(meter, "0", {"friendly_name": name, **total_state})
        so_far, counted = 0.0, []
        for begin, amount in METER_HOURS[meter]:
            so_far += amount
            counted.append(StatisticData(start=begin, state=so_far, sum=so_far))
        meta = StatisticMetaData(
            mean_type=StatisticMeanType.NONE, has_sum=True, name=None, source="recorder", statistic_id=meter,
            unit_class="volume" if unit == "m³" else "energy", unit_of_measurement=unit,
        )  # fmt: skip
        async_import_statistics(hass, meta, counted)


async def test_all_questions_are_answered_truly(
    home: HomeAssistant, subtests: pytest.Subtests
) -> None:
    questions = TypeAdapter(list[Question]).validate_python(
        tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["question"]
    )
    assert len(questions) == 80
    for question in questions:
        with subtests.test(question.text):
            answer = await GET_PAST.async_answer(own_call(home, question.call))
            found = answer.data["found"]
            assert isinstance(found, list)
            (answered,) = found
            key, value = question.truth
            assert isinstance(answered, dict)
            assert answered.get(key) == value, (question.call, answer.data)
            assert len(str(answer.data)) < 1_200

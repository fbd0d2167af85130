"""An agent tells what was: from what a real recorder has recorded, with its restarts, gaps and clock changes."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from pytest_homeassistant_custom_component.typing import RecorderInstanceContextManager

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.tools.own.past import GET_PAST
from tests.support.own_tools import own_call

DOOR = "binary_sensor.front_door"
WINDOW = "binary_sensor.kitchen_window"
NAMES = {DOOR: "Front Door", WINDOW: "Kitchen Window"}
CLASSES = {DOOR: "door", WINDOW: "window"}


class Past:
    """A home whose clock is moved from one state to the next."""

    def __init__(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        self.hass, self._freezer = hass, freezer

    def at(self, when: str) -> None:
        """Move the clock to a local time."""
        moment = dt_util.parse_datetime(f"2026-11-{when}:00", raise_on_error=True)
        self._freezer.move_to(moment.replace(tzinfo=dt_util.get_default_time_zone()))

    def set(self, when: str, entity_id: str, state: str, context: Context | None = None, **attributes: str) -> None:
        self.at(when)
        known = {"friendly_name": NAMES.get(entity_id, entity_id)}
        if entity_id in CLASSES:
            known["device_class"] = CLASSES[entity_id]
        self.hass.states.async_set(entity_id, state, known | attributes, context=context)
        async_expose_entity(self.hass, "conversation", entity_id, should_expose=True)

    async def ask(self, **arguments: JsonValue) -> JsonObject:
        """Ask about the past."""
        await async_wait_recording_done(self.hass)
        answer = await GET_PAST.run(own_call(self.hass, dict(arguments)))
        return answer.data


@pytest.fixture
async def mock_recorder_before_hass(async_test_recorder: RecorderInstanceContextManager) -> None:
    """Make a database before there is a home, as Home Assistant's test plugin wants it."""


@pytest.fixture
async def past(
    async_test_recorder: RecorderInstanceContextManager, hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> AsyncGenerator[Past]:
    """Set up a home in Berlin with a recorder."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    home = Past(hass, freezer)
    home.at("20 12:00")
    async with async_test_recorder(hass):
        for component in ("homeassistant", "binary_sensor", "logbook", "conversation"):
            assert await async_setup_component(hass, component, {})
        yield home


async def test_a_door_was_last_opened(past: Past) -> None:
    for when, state in (("22 08:00", "off"), ("23 09:15", "on"), ("23 09:20", "off")):
        past.set(when, DOOR, state)
    past.at("24 10:15")

    assert await past.ask(name="front door", state="open") == {
        "things": [
            {
                "name": "Front Door",
                "last open": "yesterday 09:15, 1 day 1 hour ago",
                "until": "yesterday 09:20",
                "for": "5 minutes",
                "now": "closed",
            }
        ]
    }


async def test_a_restart_and_a_gap_are_no_change(past: Past) -> None:
    for when, state in (("22 08:00", "off"), ("23 09:15", "on"), ("23 11:00", "unavailable"), ("23 11:01", "on")):
        past.set(when, DOOR, state)
    past.at("23 12:15")

    assert (await past.ask(name="front door", state="open"))["things"] == [
        {"name": "Front Door", "last open": "today 09:15, 3 hours ago", "for": "2 hours 59 minutes"}
    ]


async def test_windows_of_last_night(past: Past) -> None:
    other = "binary_sensor.bath"
    NAMES[other], CLASSES[other] = "Bath Window", "window"
    past.set("22 08:00", WINDOW, "off")
    past.set("22 08:00", other, "off")
    for when, state in (("22 23:00", "on"), ("23 00:10", "off"), ("23 04:00", "on"), ("23 07:00", "off")):
        past.set(when, WINDOW, state)
    past.at("23 12:00")

    assert await past.ask(kind="window", state="open", period="last_night") == {
        "time": "yesterday 22:00 to today 06:00",
        "things": [
            {
                "name": "Kitchen Window",
                "open": "3 hours 10 minutes",
                "times": 2,
                "when": ["yesterday 23:00 to today 00:10", "today 04:00 to 06:00"],
                "before": "less than a second",
            }
        ],
        "note": "Not open: Bath Window.",
    }

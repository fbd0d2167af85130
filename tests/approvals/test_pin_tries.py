"""Tries to say a PIN are counted in the store, where neither a restart nor a second voice takes one back."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from hypothesis import HealthCheck, given, settings, strategies as st
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_test_home_assistant,
    mock_storage,
)

from custom_components.chatterbox.approvals.pin.pin_guard import Locked
from custom_components.chatterbox.approvals.pin_tries import (
    PinTries,
    Right,
    Wrong,
    async_get_pin_tries,
    async_tried_device,
)
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from tests.support.config_entries import offline_entry, server_entry, set_up
from tests.support.thorough import some_examples
from tests.support.watched_pin import WatchedPin, watched

RIGHT, WRONG = "83619", "83618"
PIN = PinHash.of(RIGHT, HashCost(memory=2, repeats=1))
HALL, KITCHEN = "hall", "kitchen"
FILE = "chatterbox.pin_tries"

type Stored = dict[str, Any]  # as the test storage of Home Assistant is typed


@asynccontextmanager
async def home(stored: Stored) -> AsyncGenerator[HomeAssistant]:
    """Start Home Assistant with what was stored, and stop it in the end."""
    async with async_test_home_assistant() as hass:
        with mock_storage(stored):
            yield hass
            await hass.async_stop(force=True)


async def test_a_try_is_stored_before_anything_is_compared(
    hass: HomeAssistant, hass_storage: Stored
) -> None:
    stored: list[object] = []

    class Observer(WatchedPin):
        @override
        def matches(self, pin: str) -> bool:
            stored.append(hass_storage[FILE]["data"])
            return PinHash.matches(self, pin)

    await PinTries(hass).async_try(
        HALL, Observer(PIN.salt, PIN.digest, PIN.cost), RIGHT
    )

    assert stored == [[{"device": "hall", "begun": 1, "locked_until": None}]]
    assert hass_storage[FILE]["data"] == []


class SlowPin(WatchedPin):
    """A PIN that takes until the test opens it."""

    reached, opened = threading.Event(), threading.Event()

    @override
    def matches(self, pin: str) -> bool:
        self.reached.set()
        return self.opened.wait(300) and super().matches(pin)


@pytest.fixture
def slow_pin() -> SlowPin:
    """Return one that nobody has reached yet."""
    SlowPin.reached.clear()
    SlowPin.opened.clear()
    return SlowPin(PIN.salt, PIN.digest, PIN.cost)


@pytest.mark.usefixtures("hass_storage")
async def test_a_try_that_is_broken_off_counts(
    hass: HomeAssistant, slow_pin: SlowPin
) -> None:
    tries = PinTries(hass)
    first = hass.async_create_task(tries.async_try(HALL, slow_pin, RIGHT))
    await hass.async_add_executor_job(slow_pin.reached.wait, 30)
    first.cancel()
    slow_pin.opened.set()
    await asyncio.wait([first])

    assert first.cancelled()
    assert await tries.async_try(HALL, PIN, WRONG) == Wrong(3)


@pytest.mark.usefixtures("hass_storage")
async def test_a_wrong_try_counts_while_another_is_found_right(
    hass: HomeAssistant, slow_pin: SlowPin
) -> None:
    tries = PinTries(hass)
    first = hass.async_create_task(tries.async_try(HALL, slow_pin, RIGHT))
    await hass.async_add_executor_job(slow_pin.reached.wait, 30)
    second = hass.async_create_task(tries.async_try(HALL, PIN, WRONG))
    slow_pin.opened.set()

    assert [await first, await second] == [Right(), Wrong(4)]
    assert await tries.async_try(HALL, PIN, WRONG) == Wrong(3)


MANY_TRIES = st.integers(1, 7)
SECONDS = st.floats(0, 700).map(lambda seconds: round(seconds, 3))
LIFE = st.lists(st.one_of(MANY_TRIES, SECONDS, st.just("right")), max_size=8)


@settings(
    max_examples=some_examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lives=st.lists(LIFE, min_size=1, max_size=3))
async def test_no_way_to_try_compares_more_than_five_wrong_pins_in_ten_minutes(
    freezer: FrozenDateTimeFactory, lives: list[list[int | float | str]]
) -> None:
    """Each life ends with a restart; tries of one step are made at once."""
    stored: Stored = {}
    now, wrong = 0.0, list[float]()
    for life in lives:
        async with home(stored) as hass:
            tries = PinTries(hass)
            for step in life:
                if isinstance(step, float):
                    freezer.tick(step)
                    now += step
                    continue
                pin = watched(RIGHT)
                words = [WRONG] * step if isinstance(step, int) else [RIGHT]
                tried = await asyncio.gather(
                    *(tries.async_try(HALL, pin, one) for one in words)
                )
                assert sum(not isinstance(one, Locked) for one in tried) == len(
                    pin.compared
                )
                wrong = [] if Right() in tried else [*wrong, *[now] * len(pin.compared)]
                pauses = [
                    after - before
                    for before, after in zip(wrong[4::5], wrong[5::5], strict=False)
                ]
                assert all(pause > 599.99 for pause in pauses)


@pytest.mark.usefixtures("hass_storage")
async def test_numbers_of_digits_are_not_found_out_by_trying(
    hass: HomeAssistant,
) -> None:
    tries = PinTries(hass)
    tried = [
        await tries.async_try(HALL, PIN, "8" * length)
        for length in (4, 6, 7, 8, 9, 10, 4)
    ]

    assert tried == [None, None, Wrong(4), Wrong(3), Wrong(2), Wrong(1), Wrong(0)]
    assert isinstance(await tries.async_try(HALL, PIN, "8888"), Locked)
    assert await tries.async_try(KITCHEN, PIN, "8888") is None, "each place has its own"


@pytest.mark.parametrize(
    "broken",
    [
        {"version": 1, "minor_version": 1, "key": FILE, "data": {"hall": 5}},
        {"version": 1, "minor_version": 1, "key": FILE, "data": [{"agent": "agent-1"}]},
        {"version": 99, "minor_version": 1, "key": FILE, "data": []},
        {"data": []},
    ],
)
async def test_a_broken_file_counts_as_nothing_and_stops_nobody(
    hass: HomeAssistant,
    hass_storage: Stored,
    broken: Stored,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hass_storage[FILE] = broken

    assert await PinTries(hass).async_try(HALL, PIN, WRONG) == Wrong(4)
    assert await PinTries(hass).async_try(HALL, PIN, WRONG) == Wrong(3)
    assert caplog.text.count("chatterbox.pin_tries cannot be read") >= 1


async def test_tries_are_forgotten_with_the_last_service(
    hass: HomeAssistant, hass_storage: Stored
) -> None:
    entries = [
        await set_up(hass, offline_entry()),
        await set_up(hass, server_entry("http://127.0.0.1:9/v1")),
    ]
    tries = async_get_pin_tries(hass)
    await tries.async_try(HALL, PIN, WRONG)

    await hass.config_entries.async_remove(entries[0].entry_id)
    assert await tries.async_try(HALL, PIN, WRONG) == Wrong(3)

    await hass.config_entries.async_remove(entries[1].entry_id)
    assert FILE not in hass_storage
    assert await tries.async_try(HALL, PIN, WRONG) == Wrong(4)


async def test_only_satellites_are_counted_by_themselves(hass: HomeAssistant) -> None:
    entry = MockConfigEntry(domain=DOMAIN)
    entry.add_to_hass(hass)
    devices, entities = dr.async_get(hass), er.async_get(hass)
    satellite, phone = (
        devices.async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("test", name)}
        ).id
        for name in ("satellite", "phone")
    )
    entities.async_get_or_create("assist_satellite", "test", "one", device_id=satellite)
    entities.async_get_or_create("notify", "test", "one", device_id=phone)

    places = [
        async_tried_device(hass, device)
        for device in (satellite, phone, "made-up", None)
    ]

    assert places == [satellite, "", "", ""]

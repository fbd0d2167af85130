"""The real recorder makes long-term statistics of an agent's numbers, over midnight too."""

from datetime import UTC, datetime, timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.statistics import statistics_during_period
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
    do_adhoc_statistics,
)

from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.records.turn_record import (
    SIGNAL_REQUEST,
    RequestRecord,
)
from tests.support.config_entries import only_agent, server_entry, set_up
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script

KEYS = ("input_tokens", "cost", "spent_today")
LATE = datetime(2026, 11, 23, 7, 50, tzinfo=UTC)
"""Ten minutes before midnight in the home of the tests."""
STEP = timedelta(minutes=5)


@pytest.fixture(autouse=True)
def _find_custom_integrations(
    recorder_mock: Recorder, enable_custom_integrations: None
) -> None:
    """Begin to record before Home Assistant is there."""
    assert isinstance(recorder_mock, Recorder)
    assert enable_custom_integrations is None


@pytest.mark.usefixtures("socket_enabled", "entity_registry_enabled_by_default")
async def test_sums_continue_over_midnight(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to(LATE)
    assert await async_setup_component(hass, "sensor", {})
    async with serving_script(Script()) as address:
        entry = await set_up(
            hass, server_entry(address, price_input=1000.0, price_output=0.0)
        )
    agent = only_agent(entry).subentry_id

    # A dollar in each of these, of which the last two are of the next day.
    for step in range(4):
        freezer.move_to(LATE + step * STEP + timedelta(minutes=1))
        async_fire_time_changed(hass)
        async_dispatcher_send(hass, SIGNAL_REQUEST, RequestRecord(agent, Usage(1000)))
        async_fire_time_changed(
            hass, LATE + step * STEP + timedelta(minutes=1, seconds=11)
        )
        await hass.async_block_till_done()
        await async_wait_recording_done(hass)
        freezer.move_to(LATE + (step + 1) * STEP)
        do_adhoc_statistics(hass, start=LATE + step * STEP)
        await async_wait_recording_done(hass)

    ids = {key: f"sensor.talker_{key}" for key in KEYS}
    rows = await get_instance(hass).async_add_executor_job(
        statistics_during_period,
        hass,
        LATE,
        None,
        set(ids.values()),
        "5minute",
        None,
        {"state", "sum"},
    )
    sums = {
        key: [row["sum"] or 0 for row in rows[entity_id]]
        for key, entity_id in ids.items()
    }
    states = {
        key: [row["state"] for row in rows[entity_id]] for key, entity_id in ids.items()
    }
    assert states["input_tokens"] == [1000, 2000, 3000, 4000]
    assert states["spent_today"] == [1, 2, 1, 2]
    for key, one in (("input_tokens", 1000), ("cost", 1), ("spent_today", 1)):
        first, *others = sums[key]
        assert [each - first for each in others] == [one, 2 * one, 3 * one], key

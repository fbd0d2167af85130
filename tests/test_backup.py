"""A backup of Home Assistant holds the history, whole, and is not given up because of it."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.backup import async_post_backup, async_pre_backup
from custom_components.chatterbox.history.stores import async_get_histories
from tests.support.talk import say

pytestmark = pytest.mark.usefixtures("offline")


async def test_turns_during_a_backup_are_stored_after_it(hass: HomeAssistant) -> None:
    await say(hass, "What time is it?")
    [store] = async_get_histories(hass).all

    await async_pre_backup(hass)
    await say(hass, "What day is it?")
    assert store.state.waiting == 1
    await async_post_backup(hass)

    first, _ = await store.turns("kitchen-talk")
    assert await store.record(first).stored(), "all that came before is stored by then"


async def test_a_history_that_is_down_stops_no_backup(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    [entry] = hass.config_entries.async_entries("chatterbox")
    hass.config_entries.async_update_entry(
        entry, options={"history_address": "sqlite:////no/such/folder/x.db"}
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    await async_pre_backup(hass)
    await async_post_backup(hass)

    assert "The backup copies the history as it is" in caplog.text

"""Records go when they are too old by a clock that can be believed, and not before."""

from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.history.store.query import Selection
from custom_components.chatterbox.history.stores import async_get_histories
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.singletons import forget
from tests.support.talk import Serve, say

WORDS = Script(answers=(ScriptedAnswer(content="Yes."),), after_last="start again")
LONG = timedelta(days=400)


def the_entry(hass: HomeAssistant) -> ConfigEntry:
    [entry] = hass.config_entries.async_entries(DOMAIN)
    return entry


async def stored_kinds(hass: HomeAssistant) -> list[str]:
    """Return the kinds of records that are stored."""
    store = await async_get_histories(hass).async_open(the_entry(hass))
    assert store
    return sorted([line.split('"')[3] async for line in store.export(Selection())])


async def start_again(hass: HomeAssistant) -> None:
    """Begin as after a start of Home Assistant."""
    entry = the_entry(hass)
    await hass.config_entries.async_unload(entry.entry_id)
    for store in async_get_histories(hass).all:
        await store.close()
    forget(hass, async_get_histories)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)


async def let_timers_run(hass: HomeAssistant) -> None:
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)


async def test_a_start_with_a_clock_that_is_far_ahead_deletes_nothing_for_an_hour(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    await serve(WORDS)
    await say(hass, "are you there")
    before = await stored_kinds(hass)
    assert before == ["turn"]

    freezer.tick(LONG)
    await start_again(hass)
    assert await stored_kinds(hass) == before
    await say(hass, "are you there")
    await hass.config_entries.async_reload(the_entry(hass).entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert await stored_kinds(hass) == sorted([*before, *before])

    freezer.tick(timedelta(minutes=61))
    await let_timers_run(hass)
    assert await stored_kinds(hass) == [], "an hour later, it is believed"


async def test_a_start_after_a_time_that_goes_on_deletes_at_once(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    await serve(WORDS, keep_days=0.5)
    await say(hass, "are you there")
    assert await stored_kinds(hass) == ["turn"]
    freezer.tick(timedelta(hours=20))

    await start_again(hass)

    assert await stored_kinds(hass) == []


async def test_a_clock_that_is_set_while_it_runs_is_believed_after_an_hour(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await serve(WORDS)
    await say(hass, "are you there")
    before = await stored_kinds(hass)
    freezer.tick(timedelta(hours=2))  # until then, no clock is believed
    freezer.tick(LONG)
    ticks = hass.loop.time
    monkeypatch.setattr(
        hass.loop, "time", lambda: ticks() - LONG.total_seconds()
    )  # only the clock of the wall is set

    await hass.config_entries.async_reload(the_entry(hass).entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert await stored_kinds(hass) == before

    freezer.tick(timedelta(minutes=61))
    await let_timers_run(hass)
    assert await stored_kinds(hass) == []

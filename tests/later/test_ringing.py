"""An alarm rings until somebody stops it, and rings again when it is put off."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.intent.timers import TimerEventType, TimerInfo
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.later.plans import Asker, async_get_plans
from custom_components.chatterbox.later.ringing import Ringing, async_get_ringing
from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import DryAsker, DryConversation
from tests.later.talk import remind
from tests.support.one_home import in_one_home
from tests.support.satellites import Satellite, announcing_satellite
from tests.support.talk import (
    AGENT,
    PART,
    SATELLITE,
    move_into_the_demo_home,
    say,
    speech,
)

RINGS = "It's 07:00. Your alarm."
STOPPED = "The alarm is off."
OTHER = "assist_satellite.bathroom"


@pytest.fixture
async def satellite(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Satellite:
    """Return a satellite at which an alarm for seven has been set."""
    await hass.config.async_set_time_zone("UTC")
    freezer.move_to("2026-11-26 06:50:00+00:00")
    await move_into_the_demo_home(hass, PART)
    return await announcing_satellite(hass)


async def at(
    hass: HomeAssistant, text: str, place: str = SATELLITE, *, language: str = "en"
) -> str:
    """Say something, by default where the alarm was set, and return the answer."""
    answer = speech(await say(hass, text, satellite_id=place, language=language))
    await hass.async_block_till_done()
    return answer


async def tick(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, count: float
) -> None:
    """Let some seconds pass."""
    freezer.tick(count)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()


async def ring(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    satellite: Satellite,
    after: float = 600,
) -> None:
    """Let some seconds pass, and wait until the satellite has rung."""
    count, changed = len(satellite.heard), asyncio.Event()
    await hass.async_block_till_done()

    @callback
    def note(_event: Event[EventStateChangedData]) -> None:
        changed.set()

    stop = hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    await tick(hass, freezer, after)
    while len(satellite.heard) == count:
        await changed.wait()
        changed.clear()
    stop()
    await hass.async_block_till_done()


@pytest.mark.parametrize(
    ("words", "place"),
    [("stop", SATELLITE), ("Turn off the alarm!", SATELLITE), ("stop", OTHER)],
)
async def test_it_rings_until_it_is_stopped(
    hass: HomeAssistant,
    satellite: Satellite,
    freezer: FrozenDateTimeFactory,
    words: str,
    place: str,
) -> None:
    await at(hass, "wake me up at seven")
    await ring(hass, freezer, satellite)
    await ring(hass, freezer, satellite, 10)
    await ring(hass, freezer, satellite, 10)

    assert await at(hass, words, place) == STOPPED
    await hass.async_block_till_done(wait_background_tasks=True)
    await tick(hass, freezer, 10)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert satellite.heard == [RINGS] * 3
    assert async_get_plans(hass).stored.plans == ()
    assert async_get_plans(hass).stored.news == ()
    assert await at(hass, "stop") != STOPPED


@pytest.mark.parametrize(
    ("words", "minutes"),
    [("snooze", 10), ("five more minutes", 5), ("in five minutes", 5), ("not yet", 10)],
)
async def test_it_is_put_off(
    hass: HomeAssistant,
    satellite: Satellite,
    freezer: FrozenDateTimeFactory,
    words: str,
    minutes: int,
) -> None:
    await at(hass, "wake me up at seven")
    await ring(hass, freezer, satellite)

    await at(hass, words)
    await hass.async_block_till_done(wait_background_tasks=True)
    await tick(hass, freezer, 60)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert satellite.heard == [RINGS]
    await ring(hass, freezer, satellite, (minutes - 1) * 60)

    assert satellite.heard == [RINGS, f"It's 07:{minutes:02}. Your alarm."]
    assert await at(hass, "stop") == STOPPED


async def test_it_ends_after_ten_minutes_and_is_told_later(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    await at(hass, "wake me up at seven")
    await ring(hass, freezer, satellite)
    for _ in range(19):
        await ring(hass, freezer, satellite, 30)
    await tick(hass, freezer, 30)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert satellite.heard == [RINGS] * 20
    assert (await at(hass, "hello")).startswith(f"While you were away: {RINGS}")


async def test_one_that_comes_again_rings_again_tomorrow(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    await at(hass, "wake me up every day at seven")
    await ring(hass, freezer, satellite)
    assert await at(hass, "I'm awake") == STOPPED

    await hass.async_block_till_done(wait_background_tasks=True)
    await ring(hass, freezer, satellite, 24 * 60 * 60)

    assert satellite.heard == [RINGS] * 2
    assert await at(hass, "stop") == STOPPED


async def test_a_device_with_timers_rings_as_for_a_timer(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    rings: asyncio.Future[TimerInfo] = hass.loop.create_future()

    def note(event: TimerEventType, timer: TimerInfo) -> None:
        assert event is TimerEventType.STARTED
        rings.set_result(timer)

    (entry,) = hass.config_entries.async_entries("chatterbox")
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("satellite", "kitchen")}
    )
    async_register_timer_handler(hass, device.id, note)
    er.async_get(hass).async_get_or_create(
        "assist_satellite",
        "demo",
        "kitchen",
        suggested_object_id="kitchen",
        device_id=device.id,
    )
    await async_get_schedule(hass).async_add(
        replace(
            remind(),
            text="spoken alarm",
            asker=Asker(device_id=device.id, satellite_id=SATELLITE),
        )
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    await tick(hass, freezer, 600)

    timer = await rings
    assert (timer.name, timer.seconds, timer.conversation_command) == (RINGS, 1, None)
    assert satellite.heard == []


@in_one_home(
    ("language", "text", "plans"),
    [
        ("de", "Stopp!", 0),
        ("de", "mach den Wecker aus", 0),
        ("de", "noch fünf Minuten", 1),
        ("es", "apaga la alarma", 0),
        ("es", "cinco minutos más", 1),
        ("fr", "arrête le réveil", 0),
        ("fr", "encore cinq minutes", 1),
        ("it", "spegni la sveglia", 0),
        ("it", "ancora cinque minuti", 1),
        ("nl", "zet de wekker uit", 0),
        ("nl", "nog vijf minuten", 1),
        ("pl", "wyłącz budzik", 0),
        ("pl", "jeszcze pięć minut", 1),
        ("pt", "desliga o alarme", 0),
        ("pt-BR", "mais cinco minutos", 1),
        ("sv", "stäng av alarmet", 0),
        ("sv", "fem minuter till", 1),
        ("zh-Hans", "关掉闹钟", 0),
        ("zh-Hans", "再睡五分钟", 1),
    ],
    share=4,
)
async def test_words_to_an_alarm_in_other_languages(
    hass: HomeAssistant,
    satellite: Satellite,
    freezer: FrozenDateTimeFactory,
    *,
    language: str,
    text: str,
    plans: int,
) -> None:
    if async_get_ringing(hass).latest is None:
        await at(hass, "wake me up in 10 minutes")
        await hass.async_block_till_done(wait_background_tasks=True)
        await ring(hass, freezer, satellite)
    assert async_get_ringing(hass).latest

    await at(hass, text, language=language)

    assert async_get_ringing(hass).latest is None
    assert len(async_get_plans(hass).stored.plans) == plans
    for plan in async_get_plans(hass).stored.plans:
        assert plan.due
        assert (
            timedelta(minutes=4) < plan.due - dt_util.utcnow() <= timedelta(minutes=10)
        )
        await async_get_schedule(hass).async_cancel(plan.id)


async def test_words_to_an_alarm_mean_nothing_else_where_none_rings(
    hass: HomeAssistant, satellite: Satellite
) -> None:
    await at(hass, "wake me up at seven")

    for words in ("snooze", "off", "five more minutes", "not yet", "thanks"):
        await at(hass, words)

    assert len(async_get_plans(hass).stored.plans) == 1
    assert satellite.heard == []


async def test_a_trial_stops_no_alarm(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    await at(hass, "wake me up at seven")
    await ring(hass, freezer, satellite)
    talk = DryConversation.with_agent(
        hass, AGENT, DryAsker(Speaker(asking=Asking.PERSON), "en")
    )
    assert talk

    for words in ("stop", "snooze"):
        await talk.async_say(words)

    assert async_get_plans(hass).stored.plans == ()
    assert await at(hass, "stop") == STOPPED


async def test_after_a_restart_it_rings_on_or_is_said_once_when_it_is_late(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    await at(hass, "wake me up at seven")
    await ring(hass, freezer, satellite)
    (news,) = async_get_plans(hass).stored.news
    after_restart = Ringing(hass)

    task = hass.async_create_background_task(
        after_restart.async_ring(news), "an alarm after a restart", eager_start=False
    )
    await ring(hass, freezer, satellite, 0)
    await ring(hass, freezer, satellite, 10)
    after_restart.stop()
    async_get_ringing(hass).stop()
    assert await task
    await hass.async_block_till_done(wait_background_tasks=True)
    count = len(satellite.heard)
    freezer.tick(timedelta(minutes=30))

    assert await after_restart.async_ring(news)
    assert len(satellite.heard) == count + 1

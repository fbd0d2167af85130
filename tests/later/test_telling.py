"""A reminder is heard where it was asked for, on a phone, or when somebody speaks there next."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.components.assist_pipeline import async_get_pipelines
from homeassistant.components.assist_satellite import AssistSatelliteEntityFeature
from homeassistant.components.assist_satellite.entity import AssistSatelliteState
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.later.plans import (
    MOST_PLANS,
    Asker,
    Condition,
    FuturePlan,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import (
    EVENT_PLAN,
    PlanChange,
    async_get_schedule,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from tests.later.talk import act, fired, pass_time, remind
from tests.support.config_entries import offline_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.listening_room import Room
from tests.support.one_home import in_one_home
from tests.support.open_addresses import open_addresses
from tests.support.phones import Phone, PhoneShop, ShownNotification, push_service
from tests.support.satellites import Satellite, announcing_satellite
from tests.support.talk import SATELLITE


@pytest.fixture
async def satellite(hass: HomeAssistant) -> Satellite:
    return await announcing_satellite(hass)


async def be_due(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, asker: Asker
) -> None:
    """Let a reminder be due."""
    await async_get_schedule(hass).async_add(
        replace(remind("**call** Mum"), asker=asker)
    )
    await pass_time(hass, freezer, minutes=10)


async def restart(hass: HomeAssistant) -> None:
    """Forget everything that is not stored."""
    async_get_schedule(hass).async_stop()
    async_get_plans(hass).__init__(hass)  # type: ignore[misc]  # the listeners stay
    async_get_schedule(hass).__init__(hass)  # type: ignore[misc]
    await async_get_plans(hass).async_load()
    for plan in async_get_plans(hass).stored.plans:
        async_get_schedule(hass)._watch(plan)  # noqa: SLF001  # as at a start


def waiting(hass: HomeAssistant) -> list[str]:
    """Return the news that wait until somebody speaks."""
    return [news.text for news in async_get_plans(hass).stored.news if news.is_kept]


AT_SATELLITE = Asker(satellite_id=SATELLITE)


async def test_it_is_announced_where_it_was_asked_for(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    await be_due(hass, freezer, AT_SATELLITE)

    assert satellite.heard == ["A reminder: call Mum."]
    assert async_get_plans(hass).stored.news == ()
    await restart(hass)
    heard = async_get_schedule(hass).last_heard(SATELLITE)
    assert heard
    assert heard.text == "**call** Mum"


async def test_it_waits_until_somebody_has_finished_speaking(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
) -> None:
    satellite.become(AssistSatelliteState.LISTENING)
    await async_get_schedule(hass).async_add(replace(remind(), asker=AT_SATELLITE))
    freezer.tick(600)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert satellite.heard == []

    satellite.become(AssistSatelliteState.PROCESSING)
    satellite.become(AssistSatelliteState.IDLE)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert satellite.heard == ["A reminder: call Mum."]


@pytest.mark.parametrize("how", ["broken", "mute", "gone"])
async def test_it_is_kept_until_somebody_speaks_there(
    hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory, how: str
) -> None:
    satellite.is_broken = how == "broken"
    if how == "mute":
        satellite._attr_supported_features = AssistSatelliteEntityFeature(0)  # noqa: SLF001  # Home Assistant's name
        satellite.async_write_ha_state()

    await be_due(
        hass,
        freezer,
        Asker(satellite_id="assist_satellite.gone") if how == "gone" else AT_SATELLITE,
    )

    assert waiting(hass) == ["A reminder: **call** Mum."]


@pytest.mark.parametrize(
    ("change", "is_held"),
    [
        ({}, False),  # a person chose this time
        ({"due": None}, True),
        ({"due": None, "is_urgent": True}, False),
        ({"due": datetime(2026, 11, 26, 20, tzinfo=UTC)}, True),  # it comes late
    ],
)
async def test_at_night_only_what_is_urgent_or_asked_for_then_is_heard(
    hass: HomeAssistant,
    satellite: Satellite,
    freezer: FrozenDateTimeFactory,
    change: dict[str, Any],
    *,
    is_held: bool,
) -> None:
    await hass.config.async_set_time_zone("UTC")
    freezer.move_to("2026-11-26 22:20:00+00:00")
    await set_home_rules(hass, night={"after": "22:00", "before": "06:30"})
    condition = Condition("binary_sensor.washer", "off") if "due" in change else None
    plan = replace(remind(), asker=AT_SATELLITE, condition=condition, **change)
    hass.states.async_set("binary_sensor.washer", "off")
    async_expose_entity(
        hass, "conversation", "binary_sensor.washer", should_expose=True
    )
    await async_get_schedule(hass).async_add(plan)
    await pass_time(hass, freezer, minutes=10)
    assert bool(satellite.heard) is not is_held

    await pass_time(hass, freezer, hours=7, minutes=59)
    assert len(satellite.heard) == (not is_held)
    await pass_time(hass, freezer, minutes=2)
    assert len(satellite.heard) == 1
    assert satellite.heard[0].endswith("call Mum.")


@in_one_home(
    ("speaker", "satellite_id", "hears"),
    [
        (Speaker(asking=Asking.PERSON, person_id="anna"), None, True),
        (Speaker(asking=Asking.PERSON), SATELLITE, True),
        (Speaker(asking=Asking.PERSON, device_id="kitchen"), None, True),
        (
            Speaker(asking=Asking.PERSON, device_id="kitchen", is_signed_in=True),
            None,
            False,
        ),
        (Speaker(asking=Asking.PERSON, person_id="ben"), None, False),
        (Speaker(asking=Asking.NOBODY, person_id="anna"), SATELLITE, False),
        (
            Speaker(asking=Asking.PERSON, person_id="anna", is_api_client=True),
            None,
            False,
        ),
    ],
    puts_back=True,
)
async def test_it_is_told_to_the_person_or_in_the_place(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    speaker: Speaker,
    satellite_id: str | None,
    *,
    hears: bool,
) -> None:
    await set_up(hass, offline_entry())
    await be_due(hass, freezer, Asker(None, "anna", "Anna", "kitchen", SATELLITE))

    news = async_get_schedule(hass).news_for(speaker, satellite_id)

    assert bool(news) is hears
    await async_get_schedule(hass).async_heard(news)
    assert bool(waiting(hass)) is not hears


class TestThroughThePipeline:
    """A reminder that somebody whom nobody knows asked for at a satellite."""

    @pytest.fixture
    async def room(
        self, hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
    ) -> Room:
        freezer.move_to("2026-11-26 17:00:00+00:00")
        (pipeline,) = async_get_pipelines(hass)
        room = Room(hass, pipeline)
        await room.say("remind me in ten minutes to call Mum")
        assert room.heard.endswith("in 10 minutes: call Mum.]")
        assert satellite.heard == []
        return room

    async def be_due(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        """Let it be due; return while it may wait for the satellite."""
        is_due = asyncio.Event()

        @callback
        def note(event: Event) -> None:
            if event.data["type"] == "done":
                is_due.set()

        hass.bus.async_listen(EVENT_PLAN, note)
        freezer.tick(600)
        async_fire_time_changed(hass)
        await is_due.wait()
        await hass.async_block_till_done()

    async def news(self, hass: HomeAssistant, room: Room) -> str:
        """Return what the room hears before the answer to the next two sentences."""
        await hass.async_block_till_done(wait_background_tasks=True)
        heard = []
        for _ in range(2):
            await room.say("what is planned?")
            heard.append(room.heard.removesuffix("Nothing is planned.]").strip("[ "))
        assert heard[1] == "", "it is told once"
        return heard[0]

    @pytest.mark.parametrize("how", ["listening", "announcing", "absent"])
    async def test_it_is_heard_once_the_satellite_is_free(
        self,
        hass: HomeAssistant,
        satellite: Satellite,
        room: Room,
        freezer: FrozenDateTimeFactory,
        how: str,
    ) -> None:
        satellite._is_announcing = how == "announcing"  # noqa: SLF001  # Home Assistant's name: it raises, though idle
        satellite._attr_available = how != "absent"  # noqa: SLF001
        satellite.become(
            AssistSatelliteState.LISTENING
            if how == "listening"
            else AssistSatelliteState.IDLE
        )
        await self.be_due(hass, freezer)
        assert satellite.heard == []

        satellite._is_announcing, satellite._attr_available = False, True  # noqa: SLF001
        satellite.become(AssistSatelliteState.RESPONDING)
        satellite.become(AssistSatelliteState.IDLE)

        assert (await self.news(hass, room), satellite.heard) == (
            "",
            ["A reminder: call Mum."],
        )

    @pytest.mark.parametrize("how", ["listening", "absent", "broken", "gone"])
    async def test_it_is_kept_until_somebody_speaks_there(
        self,
        hass: HomeAssistant,
        satellite: Satellite,
        room: Room,
        freezer: FrozenDateTimeFactory,
        how: str,
    ) -> None:
        satellite.is_broken, satellite._attr_available = (  # noqa: SLF001  # as above
            how == "broken",
            how != "absent",
        )
        satellite.become(
            AssistSatelliteState.LISTENING
            if how == "listening"
            else AssistSatelliteState.IDLE
        )
        if how == "gone":
            await satellite.async_remove()
        await self.be_due(hass, freezer)

        async_fire_time_changed(
            hass, dt_util.utcnow() + timedelta(minutes=2, seconds=1)
        )

        assert (
            await self.news(hass, room) == "While you were away: A reminder: call Mum."
        )
        assert satellite.heard == []

    @pytest.mark.usefixtures("room")
    async def test_it_is_told_elsewhere_if_there_is_no_such_place_any_more(
        self, hass: HomeAssistant, satellite: Satellite, freezer: FrozenDateTimeFactory
    ) -> None:
        schedule, elsewhere = (
            async_get_schedule(hass),
            (Speaker(asking=Asking.PERSON), "assist_satellite.hall"),
        )
        satellite.is_broken = True
        await self.be_due(hass, freezer)
        await hass.async_block_till_done(wait_background_tasks=True)
        assert schedule.news_for(*elsewhere) == []

        await satellite.async_remove()

        assert [news.text for news in schedule.news_for(*elsewhere)] == [
            "A reminder: call Mum."
        ]


class TestOnAPhone:
    """The phone of the person whose reminder it is, and that of somebody else."""

    pytestmark = pytest.mark.usefixtures("socket_enabled")

    @pytest.fixture
    async def shop(
        self,
        hass: HomeAssistant,
        hass_client: ClientSessionGenerator,
        hass_client_no_auth: ClientSessionGenerator,
    ) -> AsyncGenerator[PhoneShop]:
        await set_up(hass, offline_entry())
        assert await async_setup_component(hass, "mobile_app", {})
        await hass.async_block_till_done()
        open_addresses(hass)
        async with push_service() as push:
            yield PhoneShop(hass, push, hass_client, hass_client_no_auth)

    @pytest.fixture
    async def anna(self, hass: HomeAssistant, shop: PhoneShop) -> Phone:
        return await shop.phone_of(
            await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER]),
            "Anna's phone",
        )

    async def notification(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        anna: Phone,
        plan: FuturePlan,
    ) -> ShownNotification:
        """Let a plan of Anna be due, and return what her phone shows."""
        (user,) = [
            user for user in await hass.auth.async_get_users() if user.name == "Anna"
        ]
        await async_get_schedule(hass).async_add(replace(plan, asker=Asker(user.id)))
        await pass_time(hass, freezer, minutes=10)
        return await anna.next()

    async def test_it_is_put_off_once(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, anna: Phone
    ) -> None:
        first = await self.notification(hass, freezer, anna, remind())
        assert first.message == "A reminder: call Mum."
        assert list(first.buttons) == ["Done", "In 10 minutes"]

        await restart(hass)
        await anna.tap(first.buttons["In 10 minutes"])
        await anna.tap(first.buttons["In 10 minutes"])
        await restart(hass)
        await anna.tap(first.buttons["Done"])

        outcome = await anna.next()
        assert outcome.message.endswith("in 10 minutes: call Mum.")
        assert (outcome.data["tag"], outcome.buttons) == (first.data["tag"], {})
        assert len(async_get_plans(hass).stored.plans) == 1
        await pass_time(hass, freezer, minutes=10)
        again = await anna.next()
        assert again.message == "A reminder: call Mum."
        await anna.tap(again.buttons["Done"])
        assert (await anna.next()).message == "clear_notification"
        assert async_get_plans(hass).stored.plans == ()
        assert anna.inbox.empty()

    async def test_one_that_comes_again_is_cancelled(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, anna: Phone
    ) -> None:
        daily = replace(remind(), every="day", words="every day at 7 am")
        first = await self.notification(hass, freezer, anna, daily)
        assert list(first.buttons) == ["Done", "In 10 minutes", "Cancel"]

        await anna.tap(first.buttons["Cancel"])

        assert (await anna.next()).message == "Cancelled: call Mum."
        assert async_get_plans(hass).stored.plans == ()

    async def test_one_that_comes_again_stays_if_it_is_put_off(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, anna: Phone
    ) -> None:
        first = await self.notification(
            hass,
            freezer,
            anna,
            replace(remind(), every="day", words="every day at 7 am"),
        )

        await anna.tap(first.buttons["In 10 minutes"])

        assert sorted(plan.every for plan in async_get_plans(hass).stored.plans) == [
            "",
            "day",
        ]

    async def test_somebody_else_cannot_tap(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        shop: PhoneShop,
        anna: Phone,
    ) -> None:
        ben = await shop.phone_of(
            await hass.auth.async_create_user("Ben", group_ids=[GROUP_ID_USER]),
            "Ben's phone",
        )
        first = await self.notification(hass, freezer, anna, remind())

        await ben.tap(first.buttons["In 10 minutes"])
        hass.bus.async_fire(
            "mobile_app_notification_action", {"action": first.buttons["In 10 minutes"]}
        )
        await anna.tap(first.buttons["Done"].replace("done", "no_more"))
        await hass.async_block_till_done(wait_background_tasks=True)
        assert async_get_plans(hass).stored.plans == ()

        await anna.tap(first.buttons["In 10 minutes"])
        assert len(async_get_plans(hass).stored.plans) == 1
        assert ben.inbox.empty()

    async def test_one_that_cannot_be_put_off_can_be_tapped_again(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, anna: Phone
    ) -> None:
        first = await self.notification(hass, freezer, anna, remind())
        plans = async_get_plans(hass)
        for number in range(MOST_PLANS):
            await plans.async_add(
                replace(remind(str(number)), asker=Asker(person_id=str(number)))
            )

        await anna.tap(first.buttons["In 10 minutes"])
        refused = await anna.next()
        why = "There are too many plans in this home: 50. Cancel one first."
        assert (
            refused.message == f"Nothing was changed, please try again: call Mum. {why}"
        )
        await async_get_schedule(hass).async_cancel(plans.stored.plans[0].id)
        await anna.tap(refused.buttons["In 10 minutes"])

        assert (await anna.next()).message.endswith("in 10 minutes: call Mum.")

    async def test_what_was_not_done_has_no_buttons(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, anna: Phone
    ) -> None:
        (user,) = [
            user for user in await hass.auth.async_get_users() if user.name == "Anna"
        ]
        await async_get_schedule(hass).async_add(replace(act(), asker=Asker(user.id)))
        is_due = fired(hass, EVENT_PLAN, PlanChange.DUE)
        freezer.tick(timedelta(minutes=12))
        async_fire_time_changed(hass)
        await is_due.wait()
        freezer.tick(timedelta(minutes=1))  # in which its agent may come

        notice = await anna.next()
        assert notice.message.startswith("This was planned for")
        assert (notice.buttons, "push" in notice.data) == ({}, False)

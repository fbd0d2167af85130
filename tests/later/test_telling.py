"""A reminder is heard where it was asked for, on a phone, or when somebody speaks there next."""

from dataclasses import replace
from typing import override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import assist_satellite
from homeassistant.components.assist_satellite import (
    AssistSatelliteAnnouncement,
    AssistSatelliteConfiguration,
    AssistSatelliteEntity,
    AssistSatelliteEntityFeature,
)
from homeassistant.components.assist_satellite.const import DATA_COMPONENT
from homeassistant.components.assist_satellite.entity import AssistSatelliteState
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.later.plans import Asker, async_get_plans
from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.people.speakers import Asking, Speaker
from tests.later.talk import pass_time, remind
from tests.support.config_entries import offline_entry, set_up
from tests.support.listening_room import SATELLITE, WholeVoice, furnish


class Satellite(AssistSatelliteEntity):
    """Plays announcements for those who stand beside it, unless somebody is speaking."""

    _attr_name = "Kitchen"
    _attr_supported_features = AssistSatelliteEntityFeature.ANNOUNCE

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_broken = False

    @override
    def async_get_configuration(self) -> AssistSatelliteConfiguration:
        return AssistSatelliteConfiguration([], [], 0)

    @override
    async def async_set_configuration(self, config: AssistSatelliteConfiguration) -> None:
        """Nothing can be set."""

    @override
    def on_pipeline_event(self, event: object) -> None:
        """Nothing is shown."""

    @override
    async def async_announce(self, announcement: AssistSatelliteAnnouncement) -> None:
        if self.is_broken:
            raise RuntimeError("no loudspeaker")
        self.heard.append(announcement.message)

    def become(self, state: AssistSatelliteState) -> None:
        """Begin to listen, or end."""
        self._set_state(state)


@pytest.fixture
async def satellite(hass: HomeAssistant) -> Satellite:
    await set_up(hass, offline_entry())
    await furnish(hass, WholeVoice())
    assert await async_setup_component(hass, assist_satellite.DOMAIN, {})
    satellite = Satellite()
    await hass.data[DATA_COMPONENT].async_add_entities([satellite])
    return satellite


async def be_due(hass: HomeAssistant, freezer: FrozenDateTimeFactory, asker: Asker) -> None:
    """Let a reminder be due."""
    await async_get_schedule(hass).async_add(replace(remind("**call** Mum"), asker=asker))
    await pass_time(hass, freezer, minutes=10)


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

    await be_due(hass, freezer, Asker(satellite_id="assist_satellite.gone") if how == "gone" else AT_SATELLITE)

    assert waiting(hass) == ["A reminder: **call** Mum."]


@pytest.mark.parametrize(
    ("speaker", "satellite_id", "hears"),
    [
        (Speaker(asking=Asking.PERSON, person_id="anna"), None, True),
        (Speaker(asking=Asking.PERSON), SATELLITE, True),
        (Speaker(asking=Asking.PERSON, device_id="kitchen"), None, True),
        (Speaker(asking=Asking.PERSON, device_id="kitchen", is_signed_in=True), None, False),
        (Speaker(asking=Asking.PERSON, person_id="ben"), None, False),
        (Speaker(asking=Asking.NOBODY, person_id="anna"), SATELLITE, False),
        (Speaker(asking=Asking.PERSON, person_id="anna", is_api_client=True), None, False),
    ],
)
async def test_it_is_told_to_the_person_or_in_the_place(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, speaker: Speaker, satellite_id: str | None, *, hears: bool
) -> None:
    await set_up(hass, offline_entry())
    await be_due(hass, freezer, Asker(None, "anna", "Anna", "kitchen", SATELLITE))

    news = async_get_schedule(hass).news_for(speaker, satellite_id)

    assert bool(news) is hears
    await async_get_schedule(hass).async_heard(news)
    assert bool(waiting(hass)) is not hears

"""A satellite that announces: Home Assistant's own entity, in a room with a voice."""

from typing import override

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

from tests.support.config_entries import offline_entry, set_up
from tests.support.listening_room import WholeVoice, furnish
from tests.support.talk import SATELLITE


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
    async def async_set_configuration(
        self, config: AssistSatelliteConfiguration
    ) -> None:
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


async def announcing_satellite(hass: HomeAssistant) -> Satellite:
    """Set up an agent, and a satellite beside it; return the satellite."""
    await set_up(hass, offline_entry())
    await furnish(hass, WholeVoice())
    assert await async_setup_component(hass, assist_satellite.DOMAIN, {})
    satellite = Satellite()
    await hass.data[DATA_COMPONENT].async_add_entities([satellite])
    assert satellite.entity_id == SATELLITE
    return satellite

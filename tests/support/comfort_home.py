"""A home whose devices heat, cool and play, each in a way of its own, and what is done to them."""

from collections.abc import Mapping, Sequence
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    ServiceKind,
)
from tests.demo_house.move_in import move_in
from tests.support.talk import SATELLITE, add_agent, say, speech

_PLAYS: Final = (
    "PLAY, PAUSE, STOP, NEXT_TRACK, PREVIOUS_TRACK, VOLUME_SET, VOLUME_STEP, VOLUME_MUTE, PLAY_MEDIA, SEARCH_MEDIA,"
    " SHUFFLE_SET, REPEAT_SET, GROUPING"
)
_TRACKS: Final = "[{ title: Take Five, artist: Dave Brubeck, album: Jazz }, { title: Maple Leaf Rag, artist: Joplin }]"
COMFORT_HOME: Final = f"""
areas:
  - {{ id: living_room, name: Living Room }}
  - {{ id: kitchen, name: Kitchen }}
  - {{ id: bathroom, name: Bathroom, aliases: [bath] }}
  - {{ id: bedroom, name: Bedroom }}
  - {{ id: office, name: Office }}
entities:
  - name: Living Room AC
    id: climate.living_room
    area: living_room
    state: cool
    attributes:
      hvac_modes: ["off", heat, cool, heat_cool, auto, dry, fan_only]
      current_temperature: 24
      current_humidity: 52
      target_temperature: 22
      target_temperature_low: 20
      target_temperature_high: 25
      fan_mode: auto
      fan_modes: [auto, low, medium, high]
      preset_mode: none
      preset_modes: [none, eco, boost, sleep]
  - name: Bedroom Heater
    id: climate.bedroom
    area: bedroom
    state: heat
    attributes: {{ current_temperature: 19, target_temperature: 20 }}
  - name: Office Climate
    id: climate.office
    area: office
    state: heat
    attributes:
      hvac_modes: ["off", heat, cool]
      current_temperature: 21
      target_temperature: 21
      target_humidity: 45
      fan_mode: Quiet
      fan_modes: [Quiet, Turbo]
      preset_mode: home
      preset_modes: [home, away]
  - {{ name: Bathroom Light, id: light.bathroom, area: bathroom, state: "on" }}
  - name: TV
    id: media_player.tv
    area: living_room
    state: "on"
    attributes:
      device_class: tv
      supported_features: [TURN_ON, TURN_OFF, PLAY, PAUSE, VOLUME_SET, VOLUME_STEP, VOLUME_MUTE, SELECT_SOURCE]
      source: HDMI 1
      source_list: [HDMI 1, HDMI 2, Netflix]
  - name: Living Room Speaker
    id: media_player.living_room
    area: living_room
    state: playing
    attributes: {{ device_class: speaker, supported_features: [{_PLAYS}], tracks: {_TRACKS} }}
  - name: Kitchen Speaker
    id: media_player.kitchen
    area: kitchen
    state: playing
    attributes: {{ device_class: speaker, supported_features: [{_PLAYS}], tracks: {_TRACKS} }}
  - name: Bathroom Speaker
    id: media_player.bathroom
    area: bathroom
    state: idle
    attributes: {{ device_class: speaker, supported_features: [{_PLAYS}], tracks: {_TRACKS} }}
  - name: Bedroom Radio
    id: media_player.bedroom
    area: bedroom
    state: paused
    attributes: {{ supported_features: [PLAY, PAUSE, VOLUME_SET] }}
"""


async def move_into_the_comfort_home(hass: HomeAssistant, **options: object) -> None:
    """Set up the home, with an agent without a model that is heard in the living room."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    await move_in(hass, COMFORT_HOME)
    domain, _, name = SATELLITE.partition(".")
    entry = er.async_get(hass).async_get_or_create(
        domain, "test", "satellite", suggested_object_id=name
    )
    area = ar.async_get(hass).async_get_area_by_name("Living Room")
    assert entry.entity_id == SATELLITE
    assert area
    er.async_get(hass).async_update_entity(SATELLITE, area_id=area.id)
    await add_agent(
        hass,
        {CONF_KIND: ServiceKind.OFFLINE},
        {CONF_LOCAL_COMMANDS: "first", **options},
    )


async def done_by(
    hass: HomeAssistant, sentence: str, language: str = "en", talk: str = "talk"
) -> tuple[Sequence[str], str]:
    """Say a sentence in the living room; return the actions in short, and the answer."""
    calls = async_capture_events(hass, "call_service")
    answer = await say(hass, sentence, talk, SATELLITE, language=language)
    await hass.async_block_till_done()
    done = [
        _short(str(call.data["service"]), call.data["service_data"])
        for call in calls
        if call.data["domain"] in {"climate", "media_player"}
    ]
    return sorted(done), speech(answer)


def _short(service: str, data: Mapping[str, object]) -> str:
    """Return an action in short: "climate.bedroom set_temperature 21"."""
    ids = data.get("entity_id")
    listed = [ids] if isinstance(ids, str) else ids if isinstance(ids, list) else []
    values = [
        f"{value:g}" if isinstance(value, float) else str(value)
        for key, value in sorted(data.items())
        if key not in {"entity_id", "media_content_type"}
    ]
    return " ".join((",".join(sorted(map(str, listed))), service, *values))

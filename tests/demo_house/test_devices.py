"""Every device does what it is told, at once, and what it shows follows."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceNotSupported, ServiceValidationError
from homeassistant.helpers import intent
from pydantic import JsonValue, TypeAdapter

from tests.demo_house.move_in import Call, act, move_in, read_devices

ACTIONS = TypeAdapter(
    list[tuple[str, list[Call], str, dict[str, JsonValue]]]
).validate_python(
    yaml.load(
        (Path(__file__).parent / "actions.yaml").read_text(encoding="utf-8"),
        yaml.CSafeLoader,
    )
)


@pytest.fixture(autouse=True)
async def _moved_in(hass: HomeAssistant) -> None:
    await move_in(hass, read_devices())


@pytest.mark.parametrize(
    "number", range(max(Counter(row[0] for row in ACTIONS).values()))
)
async def test_a_device_does_what_it_is_told(
    hass: HomeAssistant, subtests: pytest.Subtests, number: int
) -> None:
    """Each device is told only one thing in a home, the first of its rows in the first."""
    rows = {
        entity_id: [row for row in ACTIONS if row[0] == entity_id]
        for entity_id, *_ in ACTIONS
    }
    for entity_id, calls, state, attributes in (
        row[number] for row in rows.values() if number < len(row)
    ):
        with subtests.test(f"{entity_id} {calls}"):
            content = await act(hass, entity_id, calls)

            assert content.state == state
            found = {name: content.attributes.get(name) for name in attributes}
            listed = {
                name: [*value] if isinstance(value, tuple) else value
                for name, value in found.items()
            }
            assert listed == attributes


async def test_a_lock_with_a_code_stays_locked_without_it(hass: HomeAssistant) -> None:
    with pytest.raises(ServiceValidationError):
        await act(hass, "lock.safe", [("unlock", {"code": "4321"})])

    assert hass.states.is_state("lock.safe", "locked")


async def test_a_device_refuses_what_its_features_do_not_have(
    hass: HomeAssistant,
) -> None:
    with pytest.raises(ServiceNotSupported):
        await act(hass, "media_player.radio", [("media_pause", {})])


async def test_a_button_shows_when_it_was_pressed(hass: HomeAssistant) -> None:
    assert hass.states.is_state("button.bell", "unknown")

    assert (await act(hass, "button.bell", [("press", {})])).state != "unknown"


async def test_a_scene_brings_its_entities_into_their_states(
    hass: HomeAssistant,
) -> None:
    await act(hass, "scene.evening", [("turn_on", {})])
    await hass.async_block_till_done()

    assert hass.states.is_state("switch.plug", "on")
    assert hass.states.is_state("light.plain", "on")
    dimmer = hass.states.get("light.dimmer")
    assert dimmer is not None
    assert (dimmer.state, dimmer.attributes["brightness"]) == ("on", 33)


@pytest.mark.parametrize(
    "query", ["satie", "some music", "etwas Musik", "de la musique", "音乐"]
)
async def test_music_is_found_by_artist_and_played(
    hass: HomeAssistant, query: str
) -> None:
    slots = {"search_query": {"value": query}, "name": {"value": "Speaker"}}
    await intent.async_handle(
        hass, "test", "HassMediaSearchAndPlay", slots, assistant="conversation"
    )

    speaker = hass.states.get("media_player.speaker")
    assert speaker is not None
    assert (speaker.state, speaker.attributes["media_title"]) == ("playing", "One")

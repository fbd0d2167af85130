"""A demo house is set up in the UI, writes the registries, and can be left and entered again."""

from pathlib import Path

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.demo_house.const import (
    CONF_HOME,
    CONF_HOME_FILE,
    CONF_SETUP,
    DOMAIN,
)
from tests.demo_house.move_in import move_in, read_devices

HOME = """
floors: [{ id: eg, name: Erdgeschoss, level: 0, aliases: [Parterre] }]
areas:
  - { id: kuchnia, name: Kuchnia, floor: eg, aliases: [Aneks] }
  - { id: sypialnia, name: 卧室 }
devices:
  - { id: lampa, name: Лампа, area: kuchnia, info: { manufacturer: M, model: L1, sw_version: "2" } }
  - { id: bateria, name: Czujnik }
entities:
  - { id: light.lampa, name: Лампа, device: lampa, area: kuchnia, aliases: [Światło, 灯] }
  - { id: light.lampa_nocna, name: Лампа nocna, device: lampa, area: sypialnia }
  - { id: sensor.bateria, name: Czujnik baterii, device: bateria, area: sypialnia, exposed: false }
  - { id: switch.sam, name: Sam }
"""


async def test_floors_areas_and_devices_come_from_the_file(hass: HomeAssistant) -> None:
    await move_in(hass, HOME)

    (floor,) = fr.async_get(hass).async_list_floors()
    assert (floor.name, floor.level, floor.aliases) == ("Erdgeschoss", 0, {"Parterre"})
    kitchen, bedroom = ar.async_get(hass).async_list_areas()
    assert (kitchen.name, kitchen.floor_id, kitchen.aliases) == (
        "Kuchnia",
        floor.floor_id,
        {"Aneks"},
    )
    assert (bedroom.name, bedroom.floor_id) == ("卧室", None)
    lamp, sensor = dr.async_get(hass).devices
    assert (lamp.name, lamp.manufacturer, lamp.model, lamp.sw_version) == (
        "Лампа",
        "M",
        "L1",
        "2",
    )
    assert (lamp.area_id, sensor.area_id) == (kitchen.id, None)


async def test_entities_have_names_places_aliases_and_exposure(
    hass: HomeAssistant,
) -> None:
    await move_in(hass, HOME)
    entities = er.async_get(hass).entities
    bedroom = ar.async_get(hass).async_get_area_by_name("卧室")
    assert bedroom is not None

    assert {
        state.entity_id: state.name
        for state in hass.states.async_all(["light", "sensor", "switch"])
    } == {
        "light.lampa": "Лампа",
        "light.lampa_nocna": "Лампа nocna",
        "sensor.bateria": "Czujnik baterii",
        "switch.sam": "Sam",
    }
    # The first stands where its device does, so that it moves with it.
    assert [
        entities[entity_id].area_id
        for entity_id in ("light.lampa", "light.lampa_nocna", "sensor.bateria")
    ] == [
        None,
        bedroom.id,
        bedroom.id,
    ]
    assert er.async_get_entity_aliases(hass, entities["light.lampa"]) == [
        "Лампа",
        "Światło",
        "灯",
    ]
    assert async_should_expose(hass, "conversation", "light.lampa")
    assert not async_should_expose(hass, "conversation", "sensor.bateria")


async def test_a_reload_begins_again_with_the_file_and_a_new_setup(
    hass: HomeAssistant,
) -> None:
    entry = await move_in(hass, HOME)
    await hass.services.async_call(
        "switch", "turn_on", {"entity_id": "switch.sam"}, blocking=True
    )
    assert hass.states.is_state("switch.sam", "on")

    hass.config_entries.async_update_entry(
        entry, data={**entry.data, CONF_SETUP: {"light.lampa": {"state": "on"}}}
    )
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()

    assert hass.states.is_state("switch.sam", "off")
    assert hass.states.is_state("light.lampa", "on")
    assert len(ar.async_get(hass).areas) == 2
    assert len(dr.async_get(hass).devices) == 2


async def test_leaving_a_home_takes_its_entities_away(hass: HomeAssistant) -> None:
    entry = await move_in(hass, read_devices())

    assert await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()

    assert set(hass.states.async_entity_ids()) <= {"conversation.home_assistant"}
    assert not er.async_get(hass).entities.get_entries_for_config_entry_id(
        entry.entry_id
    )


async def test_a_home_that_cannot_be_built_says_why(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    wrong = MockConfigEntry(
        domain=DOMAIN, data={CONF_HOME: "entities: [{ id: warp.core, name: Core }]"}
    )
    missing = MockConfigEntry(
        domain=DOMAIN, data={CONF_HOME_FILE: str(tmp_path / "nowhere.yaml")}
    )
    for entry in (wrong, missing):
        entry.add_to_hass(hass)
        assert not await hass.config_entries.async_setup(entry.entry_id)

    assert (wrong.state, missing.state) == (
        ConfigEntryState.SETUP_ERROR,
        ConfigEntryState.SETUP_ERROR,
    )
    assert "warp" in str(wrong.reason)
    assert "nowhere.yaml" in str(missing.reason)


async def test_the_dialog_takes_only_a_file_that_describes_a_home(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    path = tmp_path / "home.yaml"
    query = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    assert query["type"] is FlowResultType.FORM

    missing = await hass.config_entries.flow.async_configure(
        query["flow_id"], {CONF_HOME_FILE: str(path)}
    )
    assert missing["errors"] == {CONF_HOME_FILE: "home_file_invalid"}
    path.write_text("entities: []", encoding="utf-8")
    wrong = await hass.config_entries.flow.async_configure(
        query["flow_id"], {CONF_HOME_FILE: str(path)}
    )
    assert wrong["errors"] == {CONF_HOME_FILE: "home_file_invalid"}
    assert wrong["description_placeholders"] is not None
    assert "at least 1" in wrong["description_placeholders"]["problem"]
    path.write_text(HOME, encoding="utf-8")
    done = await hass.config_entries.flow.async_configure(
        query["flow_id"], {CONF_HOME_FILE: str(path)}
    )
    await hass.async_block_till_done()

    assert done["type"] is FlowResultType.CREATE_ENTRY
    assert hass.states.is_state("light.lampa", "off")


async def test_the_dialog_refuses_a_home_that_is_there(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    path = tmp_path / "home.yaml"
    MockConfigEntry(domain=DOMAIN, data={CONF_HOME_FILE: str(path)}).add_to_hass(hass)
    assert await async_setup_component(hass, "homeassistant", {})

    again = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}, data={CONF_HOME_FILE: str(path)}
    )

    assert (again["type"], again["reason"]) == (
        FlowResultType.ABORT,
        "already_configured",
    )


@pytest.mark.parametrize("text", [read_devices(), HOME], ids=["devices", "home"])
async def test_a_home_is_built_without_a_warning(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    await move_in(hass, text)

    warnings = [
        record.getMessage()
        for record in caplog.records
        if record.levelname in {"WARNING", "ERROR"}
        and record.name.startswith(("homeassistant", "custom_components"))
    ]
    assert [
        warning
        for warning in warnings
        if "not been tested by Home Assistant" not in warning
    ] == []

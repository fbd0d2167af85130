"""Writes a home into Home Assistant's registries: floors, areas, devices, then what concerns its entities.

Knows the registries; must not know any kind of entity. What the home file says replaces
what the registries said.
"""

from homeassistant.components.conversation import DOMAIN as ASSIST
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)

from .const import DOMAIN
from .home import Area, Floor, Home


def device_identifier(entry_id: str, device_id: str) -> tuple[str, str]:
    """Return what names a device of the home of `entry_id` in the device registry."""
    return (DOMAIN, f"{entry_id}_{device_id}")


def create_places_and_devices(hass: HomeAssistant, entry_id: str, home: Home) -> None:
    """Create the floors, areas and devices of a home; those that are there by name or identifier are updated."""
    floor_ids = {floor.id: _floor(hass, floor).floor_id for floor in home.floors}
    area_ids = {
        area.id: _area(hass, area, floor_ids.get(area.floor or "")).id
        for area in home.areas
    }
    devices = dr.async_get(hass)
    for device in home.devices:
        entry = devices.async_get_or_create(
            config_entry_id=entry_id,
            identifiers={device_identifier(entry_id, device.id)},
            manufacturer=device.info.manufacturer,
            model=device.info.model,
            name=device.name,
            sw_version=device.info.sw_version,
        )
        devices.async_update_device(entry.id, area_id=area_ids.get(device.area or ""))


def introduce_entities(hass: HomeAssistant, home: Home) -> None:
    """Give the entities of a home their area where it is not their device's, their aliases and their exposure."""
    areas = ar.async_get(hass)
    entities = er.async_get(hass)
    area_names = {area.id: area.name for area in home.areas}
    for entity in home.entities:
        device = home.device(entity.device)
        area = None
        if entity.area and not (device and device.area == entity.area):
            area = areas.async_get_area_by_name(area_names[entity.area])
        entities.async_update_entity(
            entity.id,
            aliases=[er.COMPUTED_NAME, *entity.aliases],
            area_id=area.id if area else None,
        )
        async_expose_entity(hass, ASSIST, entity.id, entity.exposed)


def _floor(hass: HomeAssistant, floor: Floor) -> fr.FloorEntry:
    floors = fr.async_get(hass)
    entry = floors.async_get_floor_by_name(floor.name) or floors.async_create(
        floor.name, level=floor.level
    )
    return floors.async_update(entry.floor_id, aliases=set(floor.aliases))


def _area(hass: HomeAssistant, area: Area, floor_id: str | None) -> ar.AreaEntry:
    areas = ar.async_get(hass)
    entry = areas.async_get_area_by_name(area.name) or areas.async_create(area.name)
    return areas.async_update(entry.id, aliases=set(area.aliases), floor_id=floor_id)

"""A home of any size, in a real Home Assistant that runs in this process.

Knows how Home Assistant is started, and what a home of so many entities is
made of; must not know agents.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from homeassistant import bootstrap
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import SOURCE_USER, ConfigEntry, ConfigSubentryData
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.runner import RuntimeConfig

from bench.side_by_side.street import describe_street
from demo.configuration import Configuration, write_configuration
from demo.home_assistant import free_port
from demo.translated import HOME_FILE

type Home = int | Literal["demo", "street"]
"""A home of so many entities of a few kinds, or the home of `script/demo`, or eight of its kind in one.

The latter two have Home Assistant as it is configured for the demo.
"""
DEMO: Final = "demo"
STREET: Final = "street"
SLOW_SCRIPT: Final = "wait_a_moment"
"""A script that is offered as a tool and takes 300 ms."""
_ROOMS: Final = (
    "Kitchen",
    "Living Room",
    "Bedroom",
    "Bathroom",
    "Office",
    "Hallway",
    "Kids Room",
    "Garage",
    "Cellar",
)
_CONFIGURATION: Final = f"""\
homeassistant:
  name: Home
  country: GB
  language: en
  unit_system: metric
  time_zone: Europe/London
assist_pipeline:
conversation:
logger:
  default: critical
script:
  {SLOW_SCRIPT}:
    alias: Wait a moment
    description: Waits for 300 ms.
    mode: parallel
    max: 500
    sequence:
      - delay:
          milliseconds: 300
"""
_KINDS: Final[tuple[tuple[str, str, str, dict[str, object]], ...]] = (
    (
        "light",
        "Ceiling Light",
        "off",
        {"supported_color_modes": ["brightness"], "brightness": 200},
    ),
    (
        "light",
        "Floor Lamp",
        "off",
        {"supported_color_modes": ["brightness"], "brightness": 120},
    ),
    ("switch", "Socket", "on", {"device_class": "outlet"}),
    (
        "sensor",
        "Temperature",
        "20.5",
        {"device_class": "temperature", "native_unit_of_measurement": "°C"},
    ),
    (
        "sensor",
        "Humidity",
        "48",
        {"device_class": "humidity", "native_unit_of_measurement": "%"},
    ),
    ("binary_sensor", "Window", "off", {"device_class": "window"}),
    (
        "cover",
        "Blinds",
        "open",
        {"device_class": "blind", "supported_features": ["OPEN", "CLOSE", "STOP"]},
    ),
    ("binary_sensor", "Motion", "off", {"device_class": "motion"}),
    (
        "light",
        "Reading Lamp",
        "on",
        {"supported_color_modes": ["brightness"], "brightness": 90},
    ),
    ("switch", "Radio", "off", {}),
    (
        "sensor",
        "Power",
        "35",
        {"device_class": "power", "native_unit_of_measurement": "W"},
    ),
    ("fan", "Fan", "off", {"supported_features": ["TURN_ON", "TURN_OFF"]}),
)


def describe_home(entities: int) -> dict[str, object]:
    """Return the home file of a home of so many entities: two rooms or more, of up to twelve; five to a floor."""
    rooms = max(2, -(-entities // len(_KINDS)))
    names = [
        _ROOMS[n % len(_ROOMS)]
        + (f" {n // len(_ROOMS) + 1}" if n >= len(_ROOMS) else "")
        for n in range(rooms)
    ]
    return {
        "floors": [
            {"id": f"floor_{n}", "name": f"Floor {n}", "level": n}
            for n in range(-(-rooms // 5))
        ],
        "areas": [
            {"id": f"area_{n}", "name": name, "floor": f"floor_{n // 5}"}
            for n, name in enumerate(names)
        ],
        "entities": list(islice(_entities(names, -(-entities // rooms)), entities)),
    }


def _entities(rooms: list[str], each: int) -> Iterator[dict[str, object]]:
    for number, room in enumerate(rooms):
        for place, (domain, name, state, attributes) in enumerate(_KINDS[:each]):
            yield {
                "id": f"{domain}.r{number}_{name.lower().replace(' ', '_')}",
                "name": f"{room} {name}",
                "area": f"area_{number}",
                "state": state,
                "attributes": attributes,
                **({"aliases": [f"{name} of the {room}"]} if place % 5 == 0 else {}),
            }


@asynccontextmanager
async def started_home(folder: Path, home: Home) -> AsyncIterator[HomeAssistant]:
    """Start Home Assistant in an empty folder, with a home that Assist may see; stop it in the end."""
    write_configuration(folder, Configuration(port=free_port()))
    file = HOME_FILE if home == DEMO else folder / "home.yaml"
    if isinstance(home, int):
        (folder / "configuration.yaml").write_text(_CONFIGURATION, encoding="utf-8")
        file.write_text(
            json.dumps(describe_home(home - 1)), encoding="utf-8"
        )  # the script is the last
    elif home == STREET:
        file.write_text(json.dumps(describe_street()), encoding="utf-8")
    hass = await bootstrap.async_setup_hass(
        RuntimeConfig(config_dir=str(folder), skip_pip=True, log_no_color=True)
    )
    if hass is None:
        raise RuntimeError("Home Assistant did not start")
    await hass.async_start()
    try:
        for area in list(ar.async_get(hass).async_list_areas()):
            ar.async_get(hass).async_delete(
                area.id
            )  # the rooms that every new Home Assistant has
        await add_entry(hass, new_entry("demo_house", {"home_file": str(file)}))
        if isinstance(home, int):
            async_expose_entity(
                hass, "conversation", f"script.{SLOW_SCRIPT}", should_expose=True
            )
        await hass.async_block_till_done()
        yield hass
    finally:
        await hass.async_stop(force=True)


def new_entry(
    domain: str,
    data: dict[str, object],
    subentries: tuple[ConfigSubentryData, ...] = (),
    version: tuple[int, int] = (1, 1),
) -> ConfigEntry:
    """Return an entry as a person would have made it in the dialogs."""
    return ConfigEntry(
        domain=domain,
        title=domain,
        data=data,
        options=None,
        source=SOURCE_USER,
        unique_id=None,
        discovery_keys=MappingProxyType({}),
        subentries_data=subentries,
        version=version[0],
        minor_version=version[1],
    )


async def add_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Set an entry up; raises RuntimeError when it does not load."""
    await hass.config_entries.async_add(entry)
    if entry.state.value != "loaded":
        raise RuntimeError(f"{entry.domain}: {entry.state.value}, {entry.reason}")


def place_satellite(hass: HomeAssistant, area_id: str) -> str:
    """Place a device that asks in an area; return its id."""
    registry = dr.async_get(hass)
    entry = next(iter(hass.config_entries.async_entries("demo_house")))
    device = registry.async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("satellite", area_id)}
    )
    registry.async_update_device(device.id, area_id=area_id)
    return device.id

"""A script gets the ids of what a model names in its fields, and only of what its selectors and the exposure allow."""

from collections.abc import Mapping

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er, llm
from homeassistant.setup import async_setup_component
from homeassistant.util.json import json_loads_object
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)

from custom_components.chatterbox.agent.loop.calls import fit_call
from custom_components.chatterbox.agent.loop.turn import Runnable
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import Deny
from tests.support.llm_apis import offer_of, run, satellite
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
areas:
  - { id: kitchen, name: Kitchen, floor: ground, aliases: [Cook Room] }
  - { id: bedroom, name: Bedroom }
entities:
  - { name: Kitchen Ceiling Light, id: light.kitchen_ceiling, area: kitchen, state: "off" }
  - { name: Bedroom Ceiling Light, id: light.bedroom, area: bedroom, state: "off", aliases: [Big Moon] }
  - { name: Kitchen Fan, id: fan.kitchen, area: kitchen, state: "off",
      attributes: { supported_features: [TURN_ON, TURN_OFF] } }
  - { name: Front Door, id: lock.front, area: kitchen, state: locked }
  - { name: Kitchen Door, id: binary_sensor.door, area: kitchen, state: "on", attributes: { device_class: door } }
  - { name: Kitchen Window, id: binary_sensor.window, area: kitchen, state: "on", attributes: { device_class: window } }
"""
FIELDS: Mapping[str, Mapping[str, object]] = {
    "anything": {"entity": {}},
    "lamp": {"entity": {"domain": "light"}},
    "lamps": {"entity": {"filter": [{"domain": "light"}], "multiple": True}},
    "opening": {
        "entity": {
            "filter": [
                {"domain": "lock"},
                {"domain": "binary_sensor", "device_class": ["door"]},
            ]
        }
    },
    "one_of": {"entity": {"include_entities": ["fan.kitchen", "light.bedroom"]}},
    "others": {"entity": {"domain": "light", "exclude_entities": ["light.bedroom"]}},
    "room": {"area": {}},
    "rooms": {"area": {"multiple": True}},
    "level": {"floor": {}},
    "gadget": {"device": {"entity": {"domain": "light"}}},
    "where": {"target": {"entity": {"domain": ["light", "fan"]}}},
    "words": {"text": {}},
}


@pytest.fixture
async def home(home: HomeAssistant) -> HomeAssistant:
    hass = home
    entry = MockConfigEntry(domain="maker")
    entry.add_to_hass(hass)
    for name, domain in (("Moon Maker", "light"), ("Other Maker", "switch")):
        device = dr.async_get(hass).async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("maker", name)}, name=name
        )
        made = er.async_get(hass).async_get_or_create(
            domain, "maker", name, config_entry=entry, device_id=device.id
        )
        hass.states.async_set(made.entity_id, "off", {"friendly_name": name})
        async_expose_entity(
            hass, conversation.DOMAIN, made.entity_id, should_expose=True
        )
    hass.states.async_set("light.hidden", "off", {"friendly_name": "Hidden Light"})
    async_expose_entity(hass, conversation.DOMAIN, "light.hidden", should_expose=False)
    fields = {
        name: {"selector": one, "description": name} for name, one in FIELDS.items()
    }
    assert await async_setup_component(
        hass, "script", {"script": {"blink": {"fields": fields, "sequence": []}}}
    )
    async_expose_entity(hass, conversation.DOMAIN, "script.blink", should_expose=True)
    return hass


def device_named(hass: HomeAssistant, name: str) -> str:
    return next(one.id for one in dr.async_get(hass).devices if one.name == name)


async def blink(
    hass: HomeAssistant, device_id: str | None = None, /, **written: JsonValue
) -> JsonObject | str:
    """Call the script as the loop does; return what it got, or what the model is told."""
    started = async_capture_events(hass, "call_service")
    offer = await offer_of(hass, llm.LLM_API_ASSIST, device_id=device_id)
    fitted = fit_call(
        ToolCall("1", "script__blink", canonical_json(written)),
        offer.definitions,
        None,
        (),
        repair=offer.repair,
    )
    if not isinstance(fitted, Runnable):
        return str(fitted)
    given = await offer.name_resolver.pre_tool_use(fitted.tool, fitted.arguments)
    if isinstance(given, Deny):
        return given.reason
    again = given.value if given else fitted.arguments
    assert (
        await offer.name_resolver.pre_tool_use(fitted.tool, again) is None
    )  # what is resolved resolves to itself
    assert not (await run(offer, "script__blink", **again)).is_error
    return json_loads_object(canonical_json(started[0].data["service_data"]))


@in_one_home(
    ("field", "written", "got"),
    [
        ("lamp", "Kitchen Ceiling Light", "light.kitchen_ceiling"),
        ("lamp", "kitchen ceiling light", "light.kitchen_ceiling"),
        ("lamp", "Ceiling Light (Kitchen)", "light.kitchen_ceiling"),
        ("lamp", "Big Moon", "light.bedroom"),
        ("lamp", "light.bedroom", "light.bedroom"),
        ("anything", "Front Door", "lock.front"),
        (
            "lamps",
            ["Kitchen Ceiling Light", "Big Moon"],
            ["light.kitchen_ceiling", "light.bedroom"],
        ),
        ("lamps", "Big Moon", ["light.bedroom"]),
        ("opening", "Kitchen Door", "binary_sensor.door"),
        ("opening", "Front Door", "lock.front"),
        ("one_of", "Kitchen Fan", "fan.kitchen"),
        ("others", "Ceiling Light", "light.kitchen_ceiling"),
        ("room", "kitchen", "kitchen"),
        ("room", "Cook Room", "kitchen"),
        ("rooms", ["Cook Room"], ["kitchen"]),
        ("level", "ground floor", "ground_floor"),
        ("where", {"entity_id": ["Kitchen Fan"]}, {"entity_id": ["fan.kitchen"]}),
        ("where", {"area_id": "Cook Room"}, {"area_id": ["kitchen"]}),
        ("where", {"label_id": ["cosy_things"]}, {"label_id": ["cosy_things"]}),
        ("words", "Kitchen Ceiling Light", "Kitchen Ceiling Light"),
        ("lamp", "", ""),
    ],
)
async def test_a_field_gets_the_id_of_what_is_named(
    home: HomeAssistant, field: str, written: JsonValue, got: JsonValue
) -> None:
    assert await blink(home, **{field: written}) == {field: got}


@in_one_home(
    ("field", "written", "expected"),
    [
        (
            "lamp",
            "Front Door",
            "lamp takes one entity, and Front Door is none of these",
        ),
        ("lamp", "Hidden Light", "is none of these"),
        ("lamp", "light.hidden", "is none of these"),
        ("lamp", "all", "is none of these"),
        (
            "lamp",
            "Ceiling Light",
            "may be any of these: Bedroom Ceiling Light (light.bedroom); Kitchen",
        ),
        ("lamps", ["Big Moon", "Disco Ball"], "Disco Ball is none of these"),
        (
            "opening",
            "Kitchen Window",
            "Front Door (lock.front); Kitchen Door (binary_sensor.door)",
        ),
        ("one_of", "Kitchen Ceiling Light", "is none of these"),
        ("others", "Big Moon", "is none of these"),
        (
            "room",
            "Attic",
            "room takes one area, and Attic is none of these: Bedroom (bedroom); Kitchen (kitchen)",
        ),
        ("level", "Attic", "Ground Floor (ground_floor)"),
        ("gadget", "Other Maker", "Moon Maker ("),
        ("where", {"entity_id": "Front Door"}, "entity_id takes one entity"),
        ("where", {"device_id": "Nothing"}, "device_id takes one device"),
    ],
)
async def test_what_a_field_does_not_take_is_refused_with_what_it_takes(
    home: HomeAssistant, field: str, written: JsonValue, expected: str
) -> None:
    result = await blink(home, **{field: written})

    assert isinstance(result, str)
    assert result.startswith("Not run:")
    assert expected in result
    assert "idden" not in result.partition("these")[2]


async def test_of_several_the_one_in_the_room_of_the_person_is_meant(
    home: HomeAssistant,
) -> None:
    assert await blink(home, satellite(home, "bedroom"), lamp="Ceiling Light") == {
        "lamp": "light.bedroom"
    }


async def test_a_device_is_known_by_the_name_that_its_owner_gave_it(
    home: HomeAssistant,
) -> None:
    moon = device_named(home, "Moon Maker")

    assert await blink(home, gadget="moon maker") == {"gadget": moon}
    dr.async_get(home).async_update_device(moon, name_by_user="Sun Maker")
    assert await blink(home, gadget="Sun Maker", where={"device_id": [moon]}) == {
        "gadget": moon,
        "where": {"device_id": [moon]},
    }

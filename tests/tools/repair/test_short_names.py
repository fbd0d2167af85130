"""Whatever name a model reads of a thing, the tools understand: with its room or without, and as nothing else."""

import unicodedata
from random import Random

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    intent,
    llm,
)
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolDefinition,
    ToolOutcome,
)
from custom_components.chatterbox.agent.protocols import Deny, Rewrite
from custom_components.chatterbox.home.entities import async_get_home
from custom_components.chatterbox.home.entity_matches import matching_states
from custom_components.chatterbox.tools.turn_tools import TurnTools
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import LISTED, offer_of, run, satellite
from tests.support.one_home import in_one_home
from tests.support.random_homes import RandomHome

HOME = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
  - { id: upper, name: Upper Floor, level: 1 }
areas:
  - { id: kitchen, name: Kitchen, floor: ground, aliases: [Cook Room] }
  - { id: bedroom, name: Bedroom, floor: upper }
  - { id: bath, name: Bath, floor: upper }
entities:
  - { name: Kitchen Ceiling Light, id: light.kitchen, area: kitchen, state: "off" }
  - { name: Bedroom Ceiling Light, id: light.bedroom, area: bedroom, state: "off", aliases: [Big Moon] }
  - { name: Bath Ceiling Light, id: light.bath, area: bath, state: "off" }
  - { name: Kitchen Fan, id: fan.kitchen, area: kitchen, state: "off",
      attributes: { supported_features: [TURN_ON, TURN_OFF] } }
  - { name: Lamp, id: light.lamp, area: kitchen, state: "off" }
  - { name: Bedroom Lamp, id: light.bedroom_lamp, area: bedroom, state: "off" }
  - { name: "Bath: a, b (c) [d]", id: light.marks, area: bath, state: "off" }
  - { name: Zoë's Lämpchen 🚪, id: light.zoe, area: bedroom, state: "off" }
  - { name: Lone Light, id: light.lone, state: "off" }
  - { name: Kitchen Temperature, id: sensor.kitchen, area: kitchen, state: "20" }
  - { name: Bedroom Temperature, id: sensor.bedroom, area: bedroom, state: "18" }
"""

SIGNED = """
areas:
  - { id: kitchen, name: Kitchen }
  - { id: bath, name: Bath }
entities:
  - { name: Bath Heating +, id: light.plus, area: bath, state: "off" }
  - { name: Kitchen Heating -, id: light.minus, area: kitchen, state: "off" }
  - { name: Bath Lamp \N{LARGE RED CIRCLE}, id: light.red, area: bath, state: "off" }
  - { name: Bath Step 1, id: light.step, area: bath, state: "off" }
  - { name: Bath की, id: light.sign, area: bath, state: "off" }
"""

LISTS = """
areas:
  - { id: kitchen, name: Kitchen }
  - { id: office, name: Office }
entities:
  - { name: Kitchen Groceries, id: todo.kitchen, area: kitchen }
  - { name: Office Groceries, id: todo.office, area: office, attributes: { todo_items: [{ summary: Pens }] } }
"""

NAMED_BY_TOOLS = (
    "calendar",
    "climate",
    "fan",
    "humidifier",
    "lawn_mower",
    "light",
    "media_player",
    "todo",
    "vacuum",
)


async def call(
    offer: TurnTools, tool: str, /, **arguments: JsonValue
) -> ToolOutcome | str:
    """Call a tool as the loop does; return what the model is told where nothing was run."""
    given: JsonObject = dict(arguments)
    definition = next(one for one in offer.definitions if one.name == tool)
    match await offer.name_resolver.pre_tool_use(definition, given):
        case Deny(reason):
            return reason
        case Rewrite(value):
            given = value
        case None:
            pass
    return await run(offer, tool, **given)


async def turn_on(
    hass: HomeAssistant, from_device: str | None = None, /, **arguments: JsonValue
) -> set[str]:
    """Call the tool that turns things on; return the entities that are on then."""
    offer = await offer_of(hass, llm.LLM_API_ASSIST, device_id=from_device)
    await call(offer, "intent__HassTurnOn", **arguments)
    await hass.async_block_till_done()
    return {
        state.entity_id
        for state in hass.states.async_all(("light", "fan"))
        if state.state == "on"
    }


async def turn_on_and_off(hass: HomeAssistant, **arguments: JsonValue) -> set[str]:
    """Return what the tool turns on, and turn it off."""
    entity_ids = await turn_on(hass, **arguments)
    await hass.services.async_call(
        "homeassistant", "turn_off", {"entity_id": [*entity_ids]}, blocking=True
    )
    return entity_ids


@in_one_home(
    ("arguments", "meant"),
    [
        ({"name": "Ceiling Light", "area": "Kitchen"}, "light.kitchen"),
        ({"name": "ceiling light", "area": "cook room"}, "light.kitchen"),
        ({"name": "Ceiling Light", "floor": "Ground Floor"}, "light.kitchen"),
        ({"name": "Ceiling Light", "area": "ground floor"}, "light.kitchen"),
        ({"name": "Kitchen: Ceiling Light"}, "light.kitchen"),
        ({"name": "Ceiling Light (Kitchen)"}, "light.kitchen"),
        ({"name": "Cook Room Ceiling Light"}, "light.kitchen"),
        ({"name": "Kitchen Ceiling Light"}, "light.kitchen"),
        ({"name": "Kitchen Ceiling Light", "area": "Kitchen"}, "light.kitchen"),
        ({"name": "Fan"}, "fan.kitchen"),
        ({"name": "Fan", "area": "Kitchen", "domain": ["fan"]}, "fan.kitchen"),
        ({"name": "Big Moon"}, "light.bedroom"),
        ({"name": "Big Moon", "area": "Bedroom"}, "light.bedroom"),
        ({"name": "Lamp", "area": "Kitchen"}, "light.lamp"),
        ({"name": "Kitchen Lamp"}, "light.lamp"),
        ({"name": "Lamp"}, "light.lamp"),
        ({"name": "Bedroom Lamp", "area": "Bedroom"}, "light.bedroom_lamp"),
        ({"name": "Bath: a, b (c) [d]", "area": "Bath"}, "light.marks"),
        ({"name": "a, b (c) [d]", "area": "Bath"}, "light.marks"),
        ({"name": "Zoë's Lämpchen 🚪", "area": "Bedroom"}, "light.zoe"),
        ({"name": "Zoë\N{RIGHT SINGLE QUOTATION MARK}s Lämpchen 🚪"}, "light.zoe"),
        ({"name": "Lone Light"}, "light.lone"),
        ({"name": "light.lone"}, "light.lone"),
    ],
)
async def test_an_entity_is_found_by_its_names(
    home: HomeAssistant, arguments: JsonObject, meant: str
) -> None:
    assert await turn_on_and_off(home, **arguments) == {meant}


@in_one_home(
    "arguments",
    [
        {"name": "Ceiling Light", "area": "Bath", "domain": ["switch"]},
        {"name": "Ceiling Light", "area": "Attic"},
        {"name": "Fan", "area": "Bedroom"},
        {"name": "Kitchen Ceiling Light", "area": "Bedroom"},
        {"name": "Ceiling"},
        {"name": "Ceiling Lights", "area": "Kitchen"},
        {"name": " "},
    ],
)
async def test_nothing_is_found_where_nothing_fits(
    home: HomeAssistant, arguments: JsonObject
) -> None:
    assert await turn_on(home, **arguments) == set()


async def test_a_sign_tells_one_name_from_another(hass: HomeAssistant) -> None:
    await move_in(hass, SIGNED)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    assert await turn_on(hass, name="Heating -", area="Bath") == set()
    assert await turn_on(hass, name="Lamp \N{LARGE GREEN CIRCLE}", area="Bath") == set()
    assert await turn_on(hass, name="Step -1", area="Bath") == set()
    assert await turn_on(hass, name="का", area="Bath") == set()
    assert await turn_on(hass, name="Heating -", area="Kitchen") == {"light.minus"}


async def test_all_stands_for_all_that_fits_and_for_no_entity(
    home: HomeAssistant,
) -> None:
    er.async_get(home).async_update_entity("light.kitchen", name="Kitchen All")
    await home.async_block_till_done()
    assert await turn_on(home, name="all", area="Kitchen", domain=["light"]) == {
        "light.kitchen",
        "light.lamp",
    }


async def test_of_several_matches_the_one_in_the_room_of_the_device_is_meant(
    home: HomeAssistant,
) -> None:
    assert await turn_on(home, satellite(home, "bath"), name="Ceiling Light") == {
        "light.bath"
    }
    assert await turn_on(
        home, satellite(home, "kitchen"), name="Ceiling Light", area="Bedroom"
    ) == {
        "light.bath",
        "light.bedroom",
    }


async def test_of_several_matches_none_is_meant_without_a_room(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    result = await call(offer, "intent__HassTurnOn", name="Ceiling Light")

    assert result == (
        "Not run: several things are called Ceiling Light: in Bath, Bedroom, Kitchen. Give the area too, or ask which"
        " one is meant."
    )
    assert (
        await turn_on(home, satellite(home, "nowhere"), name="Ceiling Light") == set()
    )


async def test_live_context_is_found_by_the_same_names(home: HomeAssistant) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    kitchen = await call(
        offer, "homeassistant__GetLiveContext", name="Temperature", area="Kitchen"
    )
    upstairs = await call(
        offer, "homeassistant__GetLiveContext", name="Temperature", area="upper floor"
    )
    every = await call(offer, "homeassistant__GetLiveContext", name="Temperature")

    assert isinstance(kitchen, ToolOutcome)
    assert "Kitchen\\n sensor: Temperature 20" in kitchen.content
    assert "Bedroom" not in kitchen.content
    assert isinstance(upstairs, ToolOutcome)
    assert "Bedroom\\n sensor: Temperature 18" in upstairs.content
    assert "Kitchen" not in upstairs.content
    assert isinstance(every, str)


async def test_entities_of_one_name_are_listed_apart(home: HomeAssistant) -> None:
    er.async_get(home).async_update_entity(
        "light.lamp", name="Bedroom Lamp", area_id="bedroom"
    )
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    assert (
        " light: Bedroom Lamp, Bedroom Lamp, Ceiling Light = Big Moon" in offer.prompt
    )


async def test_entities_of_one_name_in_two_rooms_are_each_found(
    home: HomeAssistant,
) -> None:
    er.async_get(home).async_update_entity("light.bedroom_lamp", name="Lamp")

    assert await turn_on(home, name="Lamp", area="Bedroom") == {"light.bedroom_lamp"}
    assert await turn_on(home, name="Kitchen Lamp") == {
        "light.bedroom_lamp",
        "light.lamp",
    }


async def test_a_list_is_read_and_written_by_its_whole_name(
    hass: HomeAssistant,
) -> None:
    await move_in(hass, LISTS)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    offer = await offer_of(hass, llm.LLM_API_ASSIST)
    assert " todo: Office Groceries" in offer.prompt

    added = await call(
        offer, "todo__HassListAddItem", name="Office Groceries", item="paper"
    )
    result = await call(offer, "todo__get_items", todo_list="Office Groceries")
    refused = await call(offer, "todo__HassListAddItem", name="Groceries", item="paper")

    assert isinstance(added, ToolOutcome)
    assert isinstance(result, ToolOutcome)
    assert "Pens" in result.content
    assert "Paper" in result.content
    assert refused == (
        "Not run: several things are called Groceries: Kitchen Groceries, Office Groceries. Give the whole name, or ask"
        " which one is meant."
    )


async def test_what_a_tool_finds_by_name_alone_is_told_by_its_whole_name(
    hass: HomeAssistant,
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    kitchen = ar.async_get(hass).async_create("Kitchen")
    for domain in NAMED_BY_TOOLS:
        assert await async_setup_component(hass, domain, {})
        entry = er.async_get(hass).async_get_or_create(
            domain, "test", "one", original_name=f"Kitchen {domain}"
        )
        er.async_get(hass).async_update_entity(entry.entity_id, area_id=kitchen.id)
        hass.states.async_set(
            entry.entity_id, "on", {"friendly_name": f"Kitchen {domain}"}
        )
        async_expose_entity(
            hass, conversation.DOMAIN, entry.entity_id, should_expose=True
        )
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    await hass.async_block_till_done()
    offer = await offer_of(hass, llm.LLM_API_ASSIST)

    whole = {
        domain
        for tool in offer.definitions
        if (domain := tool.name.partition("__")[0]) and needs_a_whole_name(tool)
    }

    assert whole == {"calendar", "humidifier", "todo"}
    for entity in async_get_home(hass, conversation.DOMAIN).all_entities:
        assert entity.listed_name == (
            f"Kitchen {entity.domain}" if entity.domain in whole else entity.domain
        )


def needs_a_whole_name(tool: ToolDefinition) -> bool:
    """Return whether a tool takes the name of a thing and no room, or only the names that it lists."""
    arguments = tool.parameters["properties"]
    assert isinstance(arguments, dict)
    lists_names = any(
        isinstance(one, dict) and "Kitchen" in str(one.get("enum"))
        for one in arguments.values()
    )
    return lists_names or ("name" in arguments and "area" not in arguments)


async def test_the_name_of_a_timer_is_nobody_elses(home: HomeAssistant) -> None:
    kitchen = satellite(home, "kitchen")
    async_register_timer_handler(home, kitchen, lambda *_: None)
    offer = await offer_of(home, llm.LLM_API_ASSIST, device_id=kitchen)
    start = next(
        one for one in offer.definitions if one.name == "intent__HassStartTimer"
    )

    assert (
        await offer.name_resolver.pre_tool_use(start, {"name": "Fan", "minutes": 1})
        is None
    )


async def test_a_new_name_is_understood_at_once(home: HomeAssistant) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)
    assert isinstance(
        await call(offer, "intent__HassTurnOn", name="Fan", area="Kitchen"), ToolOutcome
    )

    ar.async_get(home).async_update("kitchen", name="Galley")
    er.async_get(home).async_update_entity("light.kitchen", name="Galley Spot")

    assert await turn_on(home, name="Spot", area="Galley") == {
        "fan.kitchen",
        "light.kitchen",
    }


async def test_what_is_not_exposed_has_no_name(home: HomeAssistant) -> None:
    async_expose_entity(home, "conversation", "fan.kitchen", should_expose=False)

    assert await turn_on(home, name="Fan", area="Kitchen") == set()


async def test_names_are_understood_beside_home_assistants_own_list_too(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST, home=LISTED)

    assert "names: Kitchen Ceiling Light" in offer.prompt
    assert isinstance(await call(offer, "intent__HassTurnOn", name="Fan"), ToolOutcome)


SHARED = """
floors:
  - { id: ground, name: Ground Floor }
areas:
  - { id: entry, name: Entry, floor: ground }
  - { id: bath, name: Bath }
entities:
  - { name: Smart Lock, id: lock.door, area: entry, state: locked }
  - { name: Smart Lock, id: binary_sensor.door, area: entry, state: "off" }
  - { name: Smart Lock, id: sensor.door, state: "90" }
  - { name: Heater, id: switch.heater, area: bath, state: "off" }
  - { name: Heater, id: climate.heater, area: bath, state: heat, attributes: { target_temperature: 20 } }
  - { name: Spot, id: light.one, area: bath, state: "off" }
  - { name: Spot, id: light.two, area: bath, state: "off" }
  - { name: Lamp, id: light.bath, area: bath, state: "off" }
  - { name: Lamp, id: light.entry, area: entry, state: "off" }
  - { name: Air, id: sensor.air, area: bath, state: "3" }
  - { name: Air, id: binary_sensor.air, area: bath, state: "off" }
"""


@pytest.fixture
async def shared(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, SHARED)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


async def test_of_several_with_one_name_the_one_that_the_tool_can_act_on_is_meant(
    shared: HomeAssistant,
) -> None:
    offer = await offer_of(shared, llm.LLM_API_ASSIST)

    assert isinstance(
        await call(offer, "intent__HassTurnOff", name="smart lock"), ToolOutcome
    )
    await call(
        offer, "climate__HassClimateSetTemperature", name="Heater", temperature=23
    )
    await shared.async_block_till_done()

    assert shared.states.is_state("lock.door", "unlocked")
    heater = shared.states.get("climate.heater")
    assert heater is not None
    assert heater.attributes["temperature"] == 23


async def test_of_several_that_it_can_act_on_the_one_in_the_room_of_the_device_is_meant(
    shared: HomeAssistant,
) -> None:
    assert await turn_on(shared, satellite(shared, "entry"), name="Lamp") == {
        "light.entry"
    }


@in_one_home(
    ("name", "rest"),
    [
        ("Lamp", ": in Bath, Entry. Give the area too, or ask which one is meant."),
        ("Heater", ". Give the domain: climate or switch."),
        (
            "Spot",
            ". Ask which one is meant, then give it as the name: light.one, light.two.",
        ),
    ],
)
async def test_what_tells_several_apart_is_said(
    shared: HomeAssistant, name: str, rest: str
) -> None:
    offer = await offer_of(shared, llm.LLM_API_ASSIST)

    result = await call(offer, "intent__HassTurnOn", name=name)

    assert result == f"Not run: several things are called {name}{rest}"


async def test_what_was_told_apart_can_be_controlled(shared: HomeAssistant) -> None:
    assert await turn_on(shared, name="light.two") == {"light.two"}
    assert await turn_on(shared, name="Lamp", area="Entry") == {
        "light.two",
        "light.entry",
    }
    offer = await offer_of(shared, llm.LLM_API_ASSIST)
    await call(offer, "intent__HassTurnOn", name="Heater", domain=["switch"])
    await shared.async_block_till_done()
    assert shared.states.is_state("switch.heater", "on")


async def test_several_that_no_tool_can_act_on_are_left_to_the_tool(
    shared: HomeAssistant,
) -> None:
    offer = await offer_of(shared, llm.LLM_API_ASSIST)

    changed = await call(offer, "intent__HassTurnOn", name="Air")
    result = await call(offer, "homeassistant__GetLiveContext", name="Air")

    assert isinstance(changed, ToolOutcome)
    assert changed.is_error
    assert isinstance(result, ToolOutcome)
    assert "binary_sensor" in result.content


WRITTEN = f"""
floors:
  - {{ id: attic, name: "🏠 Dachgeschoß", aliases: ["Étage"] }}
areas:
  - {{ id: buero, name: "Büro", aliases: ["", "Study"], floor: attic }}
  - {{ id: k, name: "🍳 Küche" }}
entities:
  - {{ id: light.buero, name: "Bürodecke", area: buero, state: "off" }}
  - {{ id: light.nfd, name: "{unicodedata.normalize("NFD", "Gästebad")}", state: "off" }}
  - {{ id: light.ar, name: "مصباح المطبخ", state: "off" }}
  - {{ id: light.sofa, name: "🛋️ Sofa lamp", area: k, state: "off" }}
  - {{ id: light.yo, name: "寝室の照明", state: "off" }}
  - {{ id: light.kana, name: "ﾗﾝﾌﾟ", state: "off" }}
  - {{ id: light.salt, name: Multisocket 2, aliases: [Salt lamp, "Lampa, solna"], state: "off" }}
  - {{ id: light.up, name: "Upstairs, hallway", state: "off" }}
  - {{ id: light.upstairs, name: "Upstairs", state: "off" }}
  - {{ id: light.pair, name: "💡 Pair", state: "off" }}
  - {{ id: light.plain_pair, name: "Pair", state: "off" }}
  - {{ id: light.one, name: "Käfer", aliases: ["Spot"], state: "off" }}
  - {{ id: light.two, name: "Kafer", aliases: ["Spot"], state: "off" }}
  - {{ id: light.ball, name: "🔴 Ball", state: "off" }}
"""


@pytest.fixture
async def written(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, WRITTEN)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


@in_one_home(
    ("meant", "names"),
    [
        (
            "light.buero",
            [
                unicodedata.normalize("NFD", "Bürodecke"),
                "Burodecke",
                "BUERODECKE",
                "\u202aBürodecke\u202c",
            ],
        ),
        ("light.nfd", ["Gästebad", "gastebad", "Gäste\u00adbad"]),
        ("light.ar", ["\u200fمصباح المطبخ\u200f", "مصباح\u00a0المطبخ"]),  # noqa: RUF001  # as people write it
        (
            "light.sofa",
            [
                "Sofa\u200b lamp",
                "Sofa lamp",
                "🛋 Sofa lamp",
                "Ｓｏｆａ　ｌａｍｐ",  # noqa: RUF001  # as people write it
                "Sofa lamp<|end|>",
                "Küche: Sofa lamp",
            ],
        ),
        ("light.yo", ["寝室の照明\ufeff"]),
        ("light.kana", ["ランプ"]),
        (
            "light.salt",
            [
                "Multisocket 2, Salt lamp",
                "Multisocket 2 (also Salt lamp)",
                "Multisocket 2 = Salt lamp",
                "salt lamp (Multisocket 2)",
            ],
        ),
        ("light.up", ["Upstairs, hallway", "upstairs hallway", '"Upstairs, hallway"']),
        ("light.plain_pair", ["Pair", "pair\u200b"]),
        ("light.pair", ["💡 Pair", "💡\ufe0f pair"]),
        ("light.one", ["Käfer", unicodedata.normalize("NFD", "käfer"), "Käfer (Spot)"]),
        ("light.two", ["Kafer"]),
    ],
)
async def test_a_name_is_found_in_whatever_form_it_is_written(
    written: HomeAssistant, meant: str, names: list[str]
) -> None:
    for name in names:
        assert await turn_on(written, name=name) == {meant}, name
        await written.services.async_call(
            "light", "turn_off", {"entity_id": meant}, blocking=True
        )


async def test_a_form_that_may_mean_several_or_something_else_means_none(
    written: HomeAssistant,
) -> None:
    offer = await offer_of(written, llm.LLM_API_ASSIST)

    assert await call(offer, "intent__HassTurnOn", name="kàfer") == (
        "Not run: several things are called kàfer: Käfer, Kafer. Give the whole name, or ask which one is meant."
    )
    for name in (
        "Multisocket 2, Bürodecke",
        "Salt lamp, Spot",
        "🔵 Ball",
        "Multisocket 2, Nothing",
        "🛋️",
        ",",
        "(",
        "Spot,",
    ):
        assert await turn_on(written, name=name) == set(), name


@in_one_home(
    ("arguments", "meant"),
    [
        ({"area": unicodedata.normalize("NFD", "Büro")}, {"light.buero"}),
        ({"area": "Buro"}, {"light.buero"}),
        ({"area": "study\u200b"}, {"light.buero"}),
        ({"area": "Büro (also Study)"}, {"light.buero"}),
        ({"area": "Büro = Study"}, {"light.buero"}),
        ({"area": "Küche"}, {"light.sofa"}),
        ({"area": "🍳 Kueche", "name": "Sofa lamp"}, {"light.sofa"}),
        ({"floor": "Dachgeschoss"}, {"light.buero"}),
        ({"floor": "etage", "domain": ["light"]}, {"light.buero"}),
        ({"area": "Dachgeschoss"}, {"light.buero"}),
        ({"area": "etage"}, {"light.buero"}),
        ({"area": "Dachgeschoss", "floor": "Erdgeschoss"}, set()),
        ({"area": "🍕 Küche"}, set()),
        ({"area": "Küche, Büro"}, set()),
    ],
)
async def test_a_room_or_floor_is_found_in_whatever_form_it_is_written(
    written: HomeAssistant, arguments: JsonObject, meant: set[str]
) -> None:
    given: JsonObject = {"domain": ["light"], **arguments}
    assert await turn_on_and_off(written, **given) == meant
    offer = await offer_of(written, llm.LLM_API_ASSIST)
    if "floor" not in arguments:
        result = await call(offer, "homeassistant__GetLiveContext", **arguments)
        assert isinstance(result, ToolOutcome)
        assert result.is_error == (not meant)


@pytest.mark.parametrize("seed", range(2))
async def test_another_form_of_a_name_means_nothing_that_the_name_does_not_mean(
    hass: HomeAssistant, seed: int
) -> None:
    random = Random(3000 + seed)  # noqa: S311 a home that can be built again
    await RandomHome(hass, random).build()
    states = [
        state
        for state in hass.states.async_all()
        if er.async_get(hass).async_get(state.entity_id)
    ]
    for state in states:
        name = random.choice([state.name, f"💡 {state.name}", f"{state.name}é"])
        er.async_get(hass).async_update_entity(state.entity_id, name=name)
    await hass.async_block_till_done()
    offer = await offer_of(hass, llm.LLM_API_ASSIST)
    tool = next(one for one in offer.definitions if one.name == "intent__HassTurnOff")
    replaced = 0
    for state in filter(None, (hass.states.get(state.entity_id) for state in states)):
        for form in (
            f"{state.name}\u200b",
            state.name.replace("é", "e"),
            state.name.replace("💡 ", ""),
        ):
            match await offer.name_resolver.pre_tool_use(tool, {"name": form}):
                case Rewrite({"name": str(meant)}):
                    replaced += 1
                    found = matching_states(
                        hass,
                        intent.MatchTargetsConstraints(
                            name=meant, assistant="conversation"
                        ),
                    )
                    names = intent.async_get_entity_aliases(
                        hass,
                        er.async_get(hass).async_get(found[0].entity_id),
                        state=found[0],
                    )
                    assert len(found) == 1, form
                    assert plain(form) in map(plain, names), (form, found, names)
                case _:
                    pass
    assert replaced > 3


def plain(name: str) -> str:
    return (
        name.replace("💡 ", "")
        .replace("é", "e")
        .replace("\u200b", "")
        .rstrip("e")
        .casefold()
    )


SAME = """
areas:
  - { id: garage, name: Garage }
  - { id: office, name: Office }
entities:
  - { id: light.garage, name: Lights, area: garage, state: "off" }
  - { id: light.office, name: Lights, area: office, state: "off" }
  - { id: light.none, name: Lights, state: "off" }
  - { id: light.main, name: Office Main Light, area: office, state: "off" }
"""


async def test_a_name_in_several_rooms_means_the_one_of_the_speaker_or_has_to_be_asked_about(
    hass: HomeAssistant,
) -> None:
    await move_in(hass, SAME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    offer = await offer_of(hass, llm.LLM_API_ASSIST)

    result = await call(offer, "intent__HassTurnOn", name="Lights")
    parsed = await call(offer, "homeassistant__GetLiveContext", name="Lights")

    assert isinstance(result, str)
    assert "in Garage, Office. Give the area too" in result
    assert isinstance(parsed, ToolOutcome)
    assert "Garage" in parsed.content
    assert "Office" in parsed.content
    assert await turn_on(hass, name="Main Light", area="Office") == {"light.main"}
    assert await turn_on(hass, satellite(hass, "garage"), name="Lights") == {
        "light.main",
        "light.garage",
    }

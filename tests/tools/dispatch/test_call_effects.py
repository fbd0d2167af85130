"""Effects of tool calls on entities, known before they run."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import override

import homeassistant.components
import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent, llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import JsonObject, ToolAnnotations
from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Effects,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.effects.intents import intent_effects
from custom_components.chatterbox.internals.intent import HANDLERS
from custom_components.chatterbox.tools.dispatch import async_call_effects, call_effects
from custom_components.chatterbox.tools.llm_apis import RenamedTool, UnavailableTool
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import StubTool, llm_context_of, offer_of
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
areas:
  - { id: hall, name: Hall, floor: ground }
  - { id: garden, name: Garden }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Front Door, id: lock.front, area: hall, state: locked, aliases: [Entrance] }
  - { name: Front Door, id: lock.shed, area: garden, state: locked }
  - { name: Safe, id: lock.safe, area: hall, state: locked, exposed: false }
  - { name: Garage, id: cover.garage, state: closed, attributes: { device_class: garage } }
  - { name: Tap, id: valve.tap, state: closed }
  - { name: Bell, id: button.bell }
  - name: Radio
    id: media_player.radio
    area: hall
    state: playing
    attributes: { supported_features: [PLAY, PLAY_MEDIA, SEARCH_MEDIA] }
  - { name: Heater, id: climate.heater, area: hall, state: heat, attributes: { current_temperature: 20 } }
  - { name: Chores, id: todo.chores }
"""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    hass.states.async_set(
        "alarm_control_panel.home", "armed_away", {"friendly_name": "Alarm"}
    )
    async_expose_entity(
        hass, conversation.DOMAIN, "alarm_control_panel.home", should_expose=True
    )
    return hass


async def effects_of(hass: HomeAssistant, name: str, arguments: JsonObject) -> Effects:
    instance = await llm.async_get_api(hass, llm.LLM_API_ASSIST, llm_context_of())
    tool = next(tool for tool in instance.tools if tool.name == name)
    return await async_call_effects(
        hass, llm_context_of(), RenamedTool("another_name", tool), arguments
    )


def facts_of(effects: Effects) -> set[tuple[str, str]]:
    assert not effects.unknowns, effects
    return {(action.entity_id, action.action) for action in effects.actions}


@in_one_home(
    ("tool", "arguments", "expected"),
    [
        ("intent__HassTurnOn", {"name": "entrance"}, {("lock.front", "lock.lock")}),
        ("intent__HassTurnOff", {"name": "Entrance"}, {("lock.front", "lock.unlock")}),
        (
            "intent__HassTurnOff",
            {"name": "front door"},
            {("lock.front", "lock.unlock"), ("lock.shed", "lock.unlock")},
        ),
        (
            "intent__HassTurnOff",
            {"area": "Hall", "domain": "lock"},
            {("lock.front", "lock.unlock")},
        ),
        (
            "intent__HassTurnOff",
            {"floor": "Ground Floor", "domain": ["lock"]},
            {("lock.front", "lock.unlock")},
        ),
        (
            "intent__HassTurnOff",
            {"name": "all", "domain": ["lock"]},
            {("lock.front", "lock.unlock"), ("lock.shed", "lock.unlock")},
        ),
        (
            "intent__HassTurnOn",
            {"name": "", "device_class": ["garage"], "area": None},
            {("cover.garage", "cover.open_cover")},
        ),
        (
            "intent__HassTurnOn",
            {"name": "Garage", "device_class": ["garage"]},
            {("cover.garage", "cover.open_cover")},
        ),
        (
            "intent__HassTurnOff",
            {"name": "Garage"},
            {("cover.garage", "cover.close_cover")},
        ),
        ("intent__HassTurnOn", {"name": "Tap"}, {("valve.tap", "valve.open_valve")}),
        ("intent__HassTurnOff", {"name": "Tap"}, {("valve.tap", "valve.close_valve")}),
        ("intent__HassTurnOn", {"name": "Bell"}, {("button.bell", "button.press")}),
        ("intent__HassTurnOff", {"name": "Alarm"}, set()),
        ("intent__HassTurnOff", {"name": "Safe"}, set()),
        (
            "intent__HassSetPosition",
            {"name": "Garage", "position": 30},
            {("cover.garage", "cover.set_cover_position")},
        ),
        (
            "intent__HassSetPosition",
            {"name": "Garage", "position": "0"},
            {("cover.garage", "cover.close_cover")},
        ),
        ("intent__HassSetPosition", {"name": "Garage", "position": 300}, set()),
        (
            "intent__HassSetPosition",
            {"name": "Tap", "position": 0},
            {("valve.tap", "valve.close_valve")},
        ),
        ("intent__HassSetPosition", {"name": "Lamp", "position": 3}, set()),
        (
            "intent__HassStopMoving",
            {"name": "Garage"},
            {("cover.garage", "cover.stop_cover")},
        ),
        ("intent__HassTurnOn", {"name": "all"}, set()),
        ("intent__HassCancelAllTimers", {}, set()),
        (
            "light__HassLightSet",
            {"area": "hall", "brightness": 3},
            {("light.lamp", "light.turn_on")},
        ),
        (
            "climate__HassClimateSetTemperature",
            {"temperature": 20},
            {("climate.heater", "climate.set_temperature")},
        ),
        (
            "media_player__HassSetVolumeRelative",
            {"volume_step": "up", "area": "Hall"},
            {
                ("media_player.radio", f"media_player.volume_{how}")
                for how in ("up", "down", "set")
            },
        ),
        (
            "media_player__play_media",
            {
                "media_content_id": "x",
                "media_content_type": "music",
                "player_name": " ",
                "player_area": "Hall",
            },
            {("media_player.radio", "media_player.play_media")},
        ),
        # It is playing, and can be resumed only after an earlier call of the same
        # message has paused it.
        (
            "media_player__HassMediaUnpause",
            {"name": "Radio"},
            {("media_player.radio", "media_player.media_play")},
        ),
        (
            "todo__HassListAddItem",
            {"name": "Chores", "item": "Dust"},
            {("todo.chores", "todo.add_item")},
        ),
    ],
)
async def test_a_call_tells_what_it_would_do(
    home: HomeAssistant,
    tool: str,
    arguments: JsonObject,
    expected: set[tuple[str, str]],
) -> None:
    before = home.states.async_all()

    assert facts_of(await effects_of(home, tool, arguments)) == expected

    await home.async_block_till_done()
    assert home.states.async_all() == before


@in_one_home(
    ("tool", "arguments", "expected"),
    [
        ("intent__HassTurnOn", {"name": "lamp"}, {"light.lamp"}),
        (
            "intent__HassTurnOn",
            {"name": "Both"},
            {"light.all", "light.inner", "light.lamp"},
        ),
        ("intent__HassTurnOn", {"name": "Nobody"}, None),
        (
            "intent__HassTurnOn",
            {"name": "Bell"},
            None,
        ),  # what a button does is not in its state
        ("nobody__has_this_tool", {"name": "Lamp"}, None),
    ],
)
async def test_targets_are_the_changed_entities_with_members_of_groups(
    home: HomeAssistant, tool: str, arguments: JsonObject, expected: set[str] | None
) -> None:
    home.states.async_set(
        "light.all",
        "off",
        {"friendly_name": "Both", "entity_id": ["light.lamp", "light.inner"]},
    )
    home.states.async_set(
        "light.inner", "off", {"entity_id": ["light.lamp", "light.all"]}
    )
    async_expose_entity(home, conversation.DOMAIN, "light.all", should_expose=True)

    assert (await offer_of(home, llm.LLM_API_ASSIST)).dispatcher.targets(
        tool, arguments
    ) == expected


async def test_a_toggled_cover_may_open(home: HomeAssistant) -> None:
    effects = intent_effects(
        home, "HassToggle", {"name": "Garage"}, conversation.DOMAIN
    )

    assert facts_of(effects) == {("cover.garage", "cover.toggle")}
    assert (
        intent_effects(home, "HassToggle", {"name": "Entrance"}, conversation.DOMAIN)
        == NOTHING
    )
    assert intent_effects(home, "NobodyHandlesThis", {}, conversation.DOMAIN) == NOTHING


async def test_a_broadcast_reaches_every_satellite(home: HomeAssistant) -> None:
    assert await async_setup_component(home, "assist_satellite", {})
    await home.async_block_till_done()  # its intents are registered beside
    home.states.async_set("assist_satellite.kitchen", "idle")

    effects = intent_effects(
        home, intent.INTENT_BROADCAST, {"message": "Dinner"}, conversation.DOMAIN
    )

    assert facts_of(effects) == {
        ("assist_satellite.kitchen", "assist_satellite.announce")
    }


async def test_a_script_is_what_it_consists_of(home: HomeAssistant) -> None:
    unlock = {"action": "lock.unlock", "target": {"area_id": "garden"}}
    assert await async_setup_component(
        home, "script", {"script": {"post": {"sequence": [unlock]}}}
    )
    async_expose_entity(home, conversation.DOMAIN, "script.post", should_expose=True)
    expected = {("script.post", "script.turn_on"), ("lock.shed", "lock.unlock")}

    assert facts_of(await effects_of(home, "script__post", {})) == expected
    assert (
        facts_of(await effects_of(home, "intent__HassTurnOn", {"name": "post"}))
        == expected
    )
    assert facts_of(
        await effects_of(home, "intent__HassTurnOff", {"name": "post"})
    ) == {("script.post", "script.turn_off")}


async def test_an_intent_script_is_what_it_consists_of(home: HomeAssistant) -> None:
    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.shed"}}
    scripts = {
        "Postman": {"action": [unlock]},
        "Greet": {"speech": {"text": "Hello"}},
        "Broken": {"action": []},
    }
    assert await async_setup_component(
        home, "intent_script", {"intent_script": scripts}
    )

    assert facts_of(await effects_of(home, "intent_script__Postman", {})) == {
        ("lock.shed", "lock.unlock")
    }
    assert facts_of(await effects_of(home, "intent_script__Greet", {})) == set()

    for handler in intent.async_get(home):
        if handler.intent_type == "Broken":
            vars(handler)["config"]["action"] = [unlock]
    assert await effects_of(home, "intent_script__Broken", {}) == Effects(
        unknowns=frozenset({Unknown(UnknownReason.CONTENT)})
    )


class ForeignHandler(intent.IntentHandler):
    """An intent of somebody else, which may do anything."""

    intent_type = "Foreign"


class ForeignService(intent.ServiceIntentHandler):
    """An intent of somebody else that is of Home Assistant's kind."""


class ForeignTwist(intent.ServiceIntentHandler):
    """An intent of somebody else that looks like Home Assistant's kind, and does something else."""

    @override
    async def async_call_service(
        self, domain: str, service: str, intent_obj: intent.Intent, state: State
    ) -> None:
        """Do what nobody expects."""


def stumble(value: object) -> object:
    raise KeyError(value)


FOREIGN = Effects(unknowns=frozenset({Unknown(UnknownReason.FOREIGN_INTENT)}))


async def test_intents_of_others_are_unknown_unless_they_are_plain_services(
    home: HomeAssistant,
) -> None:
    for handler in (
        ForeignHandler(),
        ForeignService("Plain", "lock", "unlock", required_domains={"lock"}),
        ForeignTwist("Twisted", "lock", "unlock"),
        ForeignService("Stumbling", "lock", "unlock", required_slots={"how": stumble}),
    ):
        intent.async_register(home, handler)

    slots: JsonObject = {"name": "Entrance", "how": "now"}
    assert intent_effects(home, "Foreign", slots, conversation.DOMAIN) == FOREIGN
    assert facts_of(intent_effects(home, "Plain", slots, conversation.DOMAIN)) == {
        ("lock.front", "lock.unlock")
    }
    assert intent_effects(home, "Twisted", slots, conversation.DOMAIN) == FOREIGN
    assert intent_effects(home, "Stumbling", slots, conversation.DOMAIN) == FOREIGN


async def test_an_intent_of_others_that_says_it_reads_is_taken_at_its_word(
    home: HomeAssistant,
) -> None:
    handler = ForeignHandler()
    intent.async_register(home, handler)
    reads = llm.ToolAnnotations(read_only=True)

    assert call_effects(
        home, llm_context_of(), llm.IntentTool("a__b", handler, annotations=reads), {}
    ) == Effects(annotations=ToolAnnotations(read_only=True))
    assert (
        call_effects(home, llm_context_of(), llm.IntentTool("a__b", handler), {})
        == FOREIGN
    )


async def test_other_tools_are_judged_by_their_annotations(home: HomeAssistant) -> None:
    tool = StubTool(name="order_pizza")

    assert call_effects(
        home, llm_context_of(), tool, {"name": "Front Door"}
    ) == Effects(annotations=ToolAnnotations())
    assert call_effects(home, llm_context_of(), UnavailableTool(tool), {}) == NOTHING
    assert await effects_of(home, "homeassistant__GetLiveContext", {}) == Effects(
        annotations=ToolAnnotations(read_only=True, open_world=False)
    )


@in_one_home(
    ("arguments", "expected"),
    [
        (
            {"action": "lock.unlock", "entity_id": "lock.safe"},
            {("lock.safe", "lock.unlock")},
        ),
        (
            {"domain": "lock", "service": "unlock", "data": {"entity_id": "LOCK.safe"}},
            {("lock.safe", "lock.unlock")},
        ),
        (
            {"service": "lock.open", "target": {"area_id": "garden"}},
            {("lock.shed", "lock.open")},
        ),
        (
            {
                "calls": [
                    {
                        "service": "Lock.unlock",
                        "service_data": {"entity_id": ["lock.shed"]},
                    },
                    {"query": "x"},
                ]
            },
            {("lock.shed", "lock.unlock")},
        ),
        ({"action": "lock.burst", "entity_id": "lock.safe"}, set()),
        ({"action": "open", "entity_id": "lock.safe"}, {("lock.safe", "lock.open")}),
        ({"action": "open", "query": "the safe"}, set()),
        ({"domain": 7, "service": "unlock", "action": None}, set()),
    ],
    ids=["action", "domain", "target", "several", "unknown", "bare", "word", "number"],
)
async def test_actions_that_a_tool_names_are_judged_beside_its_annotations(
    home: HomeAssistant, arguments: JsonObject, expected: set[tuple[str, str]]
) -> None:
    for service in ("unlock", "open"):
        home.services.async_register("lock", service, print)
    effects = call_effects(
        home, llm_context_of(), StubTool(name="call_service"), arguments
    )

    assert effects.annotations == ToolAnnotations()
    assert facts_of(effects) == expected


@in_one_home(
    ("arguments", "reason"),
    [
        ({"action": "lock.unlock", "entity_id": "{{ x }}"}, UnknownReason.TEMPLATE),
        (
            {
                "action": "lock.unlock",
                "entity_id": "lock.safe",
                "data": {"code": "{{ x }}"},
            },
            UnknownReason.TEMPLATE,
        ),
        ({"action": "{{ x }}", "entity_id": "lock.safe"}, UnknownReason.TEMPLATE),
        (
            {"action": "lock.unlock", "data": '{"entity_id": "lock.safe"}'},
            UnknownReason.TEMPLATE,
        ),
        ({"action": "lock.unlock", "target": "lock.safe"}, UnknownReason.OPAQUE_ACTION),
        ({"action": "lock.unlock"}, UnknownReason.OPAQUE_ACTION),
        ({"action": "siren.wail", "area_id": "nowhere"}, None),
        ({"action": "mill.grind", "area_id": "nowhere"}, UnknownReason.OPAQUE_ACTION),
    ],
)
async def test_an_action_that_a_tool_names_may_be_unknown(
    home: HomeAssistant, arguments: JsonObject, reason: UnknownReason | None
) -> None:
    for name in ("lock.unlock", "siren.wail", "mill.grind"):
        domain, service = name.split(".")
        home.services.async_register(domain, service, print)
    effects = call_effects(
        home, llm_context_of(), StubTool(name="call_service"), arguments
    )

    assert effects.annotations
    reasons = {unknown.reason for unknown in effects.unknowns}
    assert reasons == ({reason} if reason else set())


class TimerHandler(intent.IntentHandler):
    """Starts a timer, for all that can be told of it before."""

    intent_type = intent.INTENT_START_TIMER


TIMER = llm.IntentTool("intent__HassStartTimer", TimerHandler())


async def test_a_command_for_later_is_refused_and_does_nothing(
    home: HomeAssistant,
) -> None:
    for command in (" ", "turn on the lamp"):
        arguments: JsonObject = {"minutes": 5, "conversation_command": command}
        assert (
            await async_call_effects(home, llm_context_of(), TIMER, arguments)
            == NOTHING
        )


def core_handlers() -> Mapping[str, type[intent.IntentHandler]]:
    """Return every class of handlers that Home Assistant's own integrations bring."""
    modules = Path(*homeassistant.components.__path__).glob("*/intent.py")
    names = (one.parent.name + ".intent" for one in modules)
    found: dict[str, type[intent.IntentHandler]] = {}
    for name in ("intent", "intent.timers", *names):
        module = importlib.import_module(f"homeassistant.components.{name}")
        for kind in vars(module).values():
            if (
                isinstance(kind, type)
                and issubclass(kind, intent.IntentHandler)
                and kind.__module__ == module.__name__
            ):
                found[f"{name}.{kind.__qualname__}"] = kind
    return found


def test_every_handler_of_home_assistant_is_known() -> None:
    """A new one would be unknown, and be asked about each time it is used."""
    own_way = {
        name
        for name, kind in core_handlers().items()
        if not issubclass(kind, intent.DynamicServiceIntentHandler)
        and not name.endswith("ListBaseIntentHandler")
    }
    assert own_way == set(HANDLERS)

"""Effects of scripts, automations, scenes and actions, read without running them."""

from dataclasses import replace
from itertools import starmap

import pytest
from homeassistant.const import ATTR_ENTITY_ID, EntityCategory
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    entity_registry as er,
    label_registry as lr,
    script as script_helper,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.messages import JsonObject, ToolAnnotations
from custom_components.chatterbox.approvals.policy import is_risky
from custom_components.chatterbox.effects.actions import (
    ActionReader,
    bounded,
    reproducing_actions,
)
from custom_components.chatterbox.effects.effect import (
    ANY_ACTION,
    ARM_FOR_LESS,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.settings.rules import ToolSource
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: ground, name: Ground, level: 0 }
areas:
  - { id: hall, name: Hall, floor: ground }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Plug, id: switch.plug, area: hall }
  - { name: Door, id: lock.door, area: hall, state: locked }
  - { name: Shed, id: lock.shed, state: locked }
  - { name: Garage, id: cover.garage, state: closed, attributes: { device_class: garage } }
"""


async def steps(hass: HomeAssistant, *sequence: ConfigType) -> Effects:
    """Read a sequence as a script would hold it."""
    schema = script_helper.cv.SCRIPT_SCHEMA(list(sequence))
    reader = ActionReader(hass)
    reader.sequence(await script_helper.async_validate_actions_config(hass, schema))
    return reader.effects()


def facts_of(effects: Effects) -> set[tuple[str, str]]:
    return {(action.entity_id, action.action) for action in effects.actions}


def reasons(effects: Effects) -> set[UnknownReason]:
    return {unknown.reason for unknown in effects.unknowns}


UNLOCK = {"action": "lock.unlock", "entity_id": "lock.door"}
UNLOCK_ALL = frozenset(
    {EntityAction("lock.door", "lock.unlock"), EntityAction("lock.shed", "lock.unlock")}
)
UNLOCKED_DOOR = {("lock.door", "lock.unlock")}


@in_one_home(
    ("step", "expected"),
    [
        (
            {"action": "lock.unlock", "target": {"entity_id": "lock.door"}},
            UNLOCKED_DOOR,
        ),
        (UNLOCK, UNLOCKED_DOOR),
        (
            {"action": "lock.unlock", "data": {"entity_id": "lock.door, light.lamp"}},
            UNLOCKED_DOOR,
        ),
        ({"action": "lock.unlock", "target": {"area_id": "hall"}}, UNLOCKED_DOOR),
        ({"action": "lock.unlock", "target": {"floor_id": "ground"}}, UNLOCKED_DOOR),
        ({"action": "lock.unlock", "target": {"label_id": "risky"}}, UNLOCKED_DOOR),
        (
            {"action": "lock.unlock", "target": {"entity_id": "all"}},
            {*UNLOCKED_DOOR, ("lock.shed", "lock.unlock")},
        ),
        ({"action": "lock.unlock", "target": {"entity_id": "none"}}, set()),
        (
            {"action": "homeassistant.turn_on", "target": {"area_id": "hall"}},
            {("light.lamp", "light.turn_on"), ("switch.plug", "switch.turn_on")},
        ),
        (
            {
                "action": "homeassistant.update_entity",
                "data": {"entity_id": ["lock.door"]},
            },
            {("lock.door", "homeassistant.update_entity")},
        ),
        (
            {
                "action": "cover.set_cover_position",
                "target": {"entity_id": "cover.garage"},
                "data": {"position": 0},
            },
            {("cover.garage", "cover.close_cover")},
        ),
        (
            {
                "action": "cover.set_cover_position",
                "target": {"entity_id": "cover.garage"},
                "data": {"position": "{{ 0 }}"},
            },
            {("cover.garage", "cover.set_cover_position")},
        ),
        (
            {
                "action": "scene.apply",
                "data": {"entities": {"lock.door": "unlocked", "light.lamp": "on"}},
            },
            {*UNLOCKED_DOOR, ("light.lamp", "light.turn_on")},
        ),
        (
            {
                "action": "notify.send_message",
                "target": {"entity_id": "notify.phone"},
                "data": {"message": "{{ now() }}"},
            },
            {("notify.phone", "notify.send_message")},
        ),
        (
            {"action": "notify.mobile_app_phone", "data": {"message": "Hi"}},
            {("notify.mobile_app_phone",) * 2},
        ),
        (
            {"action": "persistent_notification.create", "data": {"message": "Hi"}},
            set(),
        ),
        ({"delay": 1}, set()),
        (
            {
                "action": "lock.unlock",
                "target": {"entity_id": "lock.door"},
                "enabled": False,
            },
            set(),
        ),
        ({"if": "{{ false }}", "then": [], "else": [UNLOCK]}, UNLOCKED_DOOR),
        ({"choose": [], "default": [UNLOCK]}, UNLOCKED_DOOR),
        ({"choose": {"conditions": [], "sequence": UNLOCK}}, UNLOCKED_DOOR),
        ({"repeat": {"count": 2, "sequence": [UNLOCK]}}, UNLOCKED_DOOR),
        ({"parallel": [UNLOCK, {"delay": 1}]}, UNLOCKED_DOOR),
        ({"sequence": [UNLOCK]}, UNLOCKED_DOOR),
    ],
)
async def test_a_step_tells_what_it_would_do(
    home: HomeAssistant, step: ConfigType, expected: set[tuple[str, str]]
) -> None:
    labels = lr.async_get(home)
    label = labels.async_get_label_by_name("Risky") or labels.async_create("Risky")
    er.async_get(home).async_update_entity("lock.door", labels={label.label_id})

    effects = await steps(home, step)

    assert effects.is_known
    assert facts_of(effects) == expected


@in_one_home(
    ("entity_id", "expected"),
    [
        (["ALL "], UNLOCK_ALL),
        (["all", "lock.door"], {EntityAction("lock.door", "lock.unlock")}),
    ],
)
async def test_all_beside_a_name_is_no_entity(
    home: HomeAssistant, entity_id: list[str], expected: set[EntityAction]
) -> None:
    reader = ActionReader(home)

    reader.call("lock", "unlock", {"entity_id": entity_id})

    assert reader.effects().actions == expected


@in_one_home(
    ("step", "reason"),
    [
        (
            {"action": "lock.{{ 'un' }}lock", "target": {"entity_id": "lock.door"}},
            UnknownReason.TEMPLATE,
        ),
        (
            {"action": "lock.unlock", "target": {"entity_id": "{{ which }}"}},
            UnknownReason.TEMPLATE,
        ),
        ({"action": "lock.unlock", "target": "{{ which }}"}, UnknownReason.TEMPLATE),
        ({"action": "lock.unlock", "data": "{{ which }}"}, UnknownReason.TEMPLATE),
        (
            {"action": "lock.unlock", "data": {"area_id": ["hall", "{{ which }}"]}},
            UnknownReason.TEMPLATE,
        ),
        (
            {"action": "scene.apply", "data": {"entities": "{{ which }}"}},
            UnknownReason.TEMPLATE,
        ),
        ({"action": "shell_command.anything"}, UnknownReason.OPAQUE_ACTION),
        (
            {"action": "lock.unlock", "data": {"entity_id": None}},
            UnknownReason.OPAQUE_ACTION,
        ),
        (
            {"action": "conversation.process", "data": {"text": "unlock the door"}},
            UnknownReason.OPAQUE_ACTION,
        ),
        (
            {"action": "zwave_js.set_value", "target": {"entity_id": "lock.door"}},
            UnknownReason.OPAQUE_ACTION,
        ),
        (
            {
                "action": "assist_satellite.start_conversation",
                "target": {"entity_id": "assist_satellite.hall"},
            },
            UnknownReason.OPAQUE_ACTION,
        ),
        (
            {
                "action": "conversation.process",
                "target": {"entity_id": "conversation.home_assistant"},
            },
            UnknownReason.OPAQUE_ACTION,
        ),
        ({"scene": "scene.cosy"}, UnknownReason.CONTENT),
        (
            {"action": "script.turn_on", "target": {"entity_id": "script.gone"}},
            UnknownReason.CONTENT,
        ),
    ],
)
async def test_what_cannot_be_read_is_unknown(
    home: HomeAssistant, step: ConfigType, reason: UnknownReason
) -> None:
    assert reasons(
        await steps(home, step, {"action": "light.turn_on", "entity_id": "light.lamp"})
    ) == {reason}


async def test_what_is_known_beside_the_unknown_is_told(home: HomeAssistant) -> None:
    effects = await steps(
        home,
        {"action": "lock.unlock", "target": {"entity_id": "{{ which }}"}},
        {"action": "zwave_js.set_value", "target": {"entity_id": "lock.door"}},
    )

    assert facts_of(effects) == {("lock.door", "zwave_js.set_value")}
    assert effects.unknowns
    assert effects.unknowns == {
        Unknown(UnknownReason.TEMPLATE, reach=UNLOCK_ALL),
        Unknown(
            UnknownReason.OPAQUE_ACTION,
            EntityAction("lock.door", "zwave_js.set_value"),
            action="zwave_js.set_value",
        ),
    }


WHICH = {"target": {"entity_id": "{{ which }}"}}


@in_one_home(
    ("step", "reach"),
    [
        ({"action": "lock.unlock", **WHICH}, set(UNLOCK_ALL)),
        ({"action": "lock.unlock", "target": "{{ which }}"}, set(UNLOCK_ALL)),
        (
            {"action": "light.turn_on", "data": "{{ which }}"},
            {("light.lamp", "light.turn_on")},
        ),
        (
            {"action": "light.turn_on", "data": {"area_id": ["{{ a }}"]}},
            {("light.lamp", "light.turn_on")},
        ),
        (
            {"action": "light.turn_{{ a }}", "entity_id": "light.x"},
            {("light.lamp", "light.reproduce_state")},
        ),
        (
            {"action": "homeassistant.turn_off", **WHICH},
            {
                ("light.lamp", "light.turn_off"),
                ("switch.plug", "switch.turn_off"),
                ("script.plain", "script.turn_off"),
            },
        ),
        ({"action": "vacuum.start", **WHICH}, set()),
        ({"action": "{{ 'light' }}.turn_on", "entity_id": "light.lamp"}, None),
        ({"action": "script.{{ which }}"}, None),
        ({"action": "scene.apply", "data": "{{ which }}"}, None),
        ({"action": "conversation.process", "data": "{{ which }}"}, None),
        ({"action": "homeassistant.restart", "data": "{{ which }}"}, None),
        ({"action": "shell_command.x", "data": {"entity_id": "{{ which }}"}}, None),
    ],
)
async def test_an_action_on_whatever_a_template_names_reaches_no_further_than_its_service(
    home: HomeAssistant, step: ConfigType, reach: set[tuple[str, str]] | None
) -> None:
    assert await async_setup_component(
        home, "script", {"script": {"plain": {"sequence": [{"delay": 1}]}}}
    )

    effects = await steps(home, step, step)

    assert effects.unknowns
    assert effects.actions == frozenset()
    assert effects.unknowns == {
        Unknown(
            UnknownReason.TEMPLATE,
            reach=None if reach is None else frozenset(starmap(EntityAction, reach)),
        )
    }
    assert effects.possible_actions == next(iter(effects.unknowns)).reach


@pytest.mark.parametrize("is_readable", [True, False])
async def test_running_whatever_a_template_names_reaches_what_all_scripts_do(
    home: HomeAssistant, *, is_readable: bool
) -> None:
    nested = {
        "action": "light.turn_on",
        "entity_id": "light.lamp" if is_readable else "{{ it }}",
    }
    scripts = {"door": {"sequence": [UNLOCK]}, "nested": {"sequence": [nested]}}
    assert await async_setup_component(home, "script", {"script": scripts})

    effects = await steps(home, {"action": "script.turn_on", **WHICH})

    reached = {
        ("script.door", "script.turn_on"),
        ("script.nested", "script.turn_on"),
        ("light.lamp", "light.turn_on"),
    }
    expected = (
        frozenset(starmap(EntityAction, reached | UNLOCKED_DOOR))
        if is_readable
        else None
    )
    assert effects == Effects(
        unknowns=frozenset({Unknown(UnknownReason.TEMPLATE, reach=expected)})
    )


async def test_a_script_is_read_whatever_variables_it_is_given(
    home: HomeAssistant,
) -> None:
    assert await async_setup_component(
        home, "script", {"script": {"door": {"sequence": [UNLOCK]}}}
    )

    for data in ({"entity_id": "{{ which }}"}, {}):
        effects = await steps(home, {"action": "script.door", "data": data})

        assert effects.is_known
        assert facts_of(effects) == {("script.door", "script.turn_on"), *UNLOCKED_DOOR}


async def test_actions_of_devices_are_told_by_their_entity(home: HomeAssistant) -> None:
    garage = er.async_get(home).async_get("cover.garage")
    assert garage
    panel = "alarm_control_panel.x"
    reader = ActionReader(home)

    reader.sequence(
        [
            {
                "device_id": "one",
                "domain": "cover",
                "type": "open",
                "entity_id": garage.id,
            },
            {
                "device_id": "one",
                "domain": "cover",
                "type": "set_position",
                "entity_id": garage.id,
                "position": 0,
            },
            {
                "device_id": "one",
                "domain": "lock",
                "type": "unlock",
                "entity_id": "lock.door",
            },
            {
                "device_id": "one",
                "domain": "alarm_control_panel",
                "type": "disarm",
                "entity_id": panel,
            },
            {
                "device_id": "one",
                "domain": "mobile_app",
                "type": "notify",
                "message": "Hello",
            },
        ]
    )

    effects = reader.effects()
    assert effects.is_known
    assert facts_of(effects) == {
        ("cover.garage", "cover.open_cover"),
        ("cover.garage", "cover.close_cover"),
        ("lock.door", "lock.unlock"),
        ("alarm_control_panel.x", "alarm_control_panel.alarm_disarm"),
        ("notify.mobile_app", "notify.mobile_app"),
    }


@in_one_home(
    ("present", "lowering"),
    [
        ("disarmed", set()),
        ("armed_home", set()),
        ("armed_night", {"home", "custom_bypass"}),
        ("armed_away", {"home", "custom_bypass", "night"}),
        ("armed_vacation", {"home", "custom_bypass", "night"}),
        ("pending", {"home", "custom_bypass", "night", "away", "vacation"}),
        ("triggered", {"home", "custom_bypass", "night", "away", "vacation"}),
    ],
)
async def test_arming_for_less_than_now_is_told_from_arming(
    home: HomeAssistant, present: str, lowering: set[str]
) -> None:
    home.states.async_set("alarm_control_panel.home", present)
    lowered: set[str] = set()
    for way in ("home", "custom_bypass", "night", "away", "vacation"):
        reader = ActionReader(home)
        reader.call(
            "alarm_control_panel",
            f"alarm_arm_{way}",
            {"entity_id": "alarm_control_panel.home"},
        )
        if (
            EntityAction("alarm_control_panel.home", ARM_FOR_LESS)
            in reader.effects().actions
        ):
            lowered.add(way)

    assert lowered == lowering


HEATER: JsonObject = {"entity_id": "climate.heater"}


@in_one_home(
    ("data", "is_large"),
    [
        ({"temperature": 23}, False),
        ({"temperature": "17.0"}, False),
        ({"temperature": 23.5}, True),
        ({"temperature": "{{ 20 }}"}, True),
        ({"temperature": 20, "hvac_mode": "off"}, True),
        (
            {"target_temp_high": 21, "target_temp_low": 20},
            True,
        ),  # the present target is no range
        ({"temperature": "nan"}, True),
        ({"hvac_mode": "heat"}, True),
    ],
)
async def test_a_temperature_is_moved_far_or_not(
    home: HomeAssistant, data: JsonObject, *, is_large: bool
) -> None:
    home.states.async_set("climate.heater", "heat", {"temperature": 20})
    reader = ActionReader(home)

    reader.call("climate", "set_temperature", {**HEATER, **data})

    assert is_risky(home, reader.effects()) is is_large


async def test_of_several_steps_one_that_is_large_counts(home: HomeAssistant) -> None:
    home.states.async_set("climate.heater", "heat", {"temperature": 20})
    home.states.async_set(
        "group.heaters", "heat", {"entity_id": ["climate.heater", "climate.other"]}
    )
    several = [
        {
            "action": "climate.set_temperature",
            "target": HEATER,
            "data": {"temperature": to},
        }
        for to in (27, 21)
    ]
    grouped = ActionReader(home)
    grouped.call(
        "climate", "set_temperature", {"entity_id": "group.heaters", "temperature": 20}
    )

    assert is_risky(home, await steps(home, *several))
    assert is_risky(
        home, grouped.effects()
    )  # nobody knows what the other one was set to
    home.states.async_set("climate.other", "heat", {"temperature": 22})
    home.states.async_set(
        "group.heaters",
        "heat",
        {"entity_id": ["climate.heater", "climate.other"], "temperature": 21},
    )
    assert not is_risky(home, grouped.effects())


async def test_what_was_set_before_counts_as_what_is_set_now(
    home: HomeAssistant,
) -> None:
    home.states.async_set("climate.heater", "heat", {"temperature": 23})
    reader = ActionReader(home)
    reader.call("climate", "set_temperature", {**HEATER, "temperature": 25})

    assert [
        is_risky(home, reader.effects(), {("climate.heater", "temperature"): was})
        for was in (21, 22, 28, 29)
    ] == [
        True,
        False,
        False,
        True,
    ]


OWN_SCRIPT = EntityAction("script.own", "script.turn_on")
PLAYER: JsonObject = {"entity_id": "media_player.hall", "media_content_type": "music"}


@in_one_home(
    ("media", "is_page"),
    [
        *(
            (f"{scheme}://example.com/a.mp3", True)
            for scheme in ("http", "HTTPS", "rtsp", "smb", "x-rincon-mp3radio")
        ),
        *(
            (address, True)
            for address in (
                "//example.com/a",
                "www.example.com",
                "example.com/a.mp3",
                "data:audio/x,y",
            )
        ),
        *(
            (address, True)
            for address in (
                " https://example.com",
                "a\nhttp://example.com",
                "\\\\host\\a.mp3",
                "/etc/a.mp3",
            )
        ),
        *(
            (address, True)
            for address in (
                '{"url": "x"}',
                "file:///etc/a",
                "plugin://a",
                "./a.mp3",
                "javascript:a()",
            )
        ),
        *(
            (address, True)
            for address in (
                "media-source://tts/piper?message=Yes",
                "Media-Source://tts/a",
                "spotify.evil://a",
            )
        ),
        *(
            (name, False)
            for name in (
                "jazz",
                "Mozart: Requiem",
                "AC/DC",
                "What's Up?",
                "12",
                "",
                "Vol. 2",
                "spotify:track:4uLU6h",
            )
        ),
        *(
            (media, False)
            for media in (
                "media-source://media_source/local/My song.mp3",
                "library://track/1",
                "spotify--a1://track/4uLU6h",
            )
        ),
    ],
)
async def test_an_address_is_told_from_music_by_name(
    home: HomeAssistant, media: str, *, is_page: bool
) -> None:
    called, nested, content = ActionReader(home), ActionReader(home), ActionReader(home)

    called.call("media_player", "play_media", {**PLAYER, "media_content_id": media})
    nested.call(
        "media_player", "play_media", {**PLAYER, "media": {"media_content_id": media}}
    )
    content.call(
        "scene",
        "apply",
        {
            "entities": {
                "media_player.hall": {"state": "playing", "media_content_id": media}
            }
        },
    )

    assert [
        is_risky(home, reader.effects()) for reader in (called, nested, content)
    ] == [is_page] * 3


async def test_an_address_that_stands_in_a_script_is_its_owners(
    home: HomeAssistant,
) -> None:
    home.states.async_set("media_player.hall", "off")
    risky: list[bool] = []
    for media, player in (
        ("http://example.com/radio", "media_player.hall"),
        ("{{ page }}", "media_player.hall"),
        ("http://example.com/radio", "{{ player }}"),
        ("{{ page }}", "{{ player }}"),
    ):
        reader, data = (
            ActionReader(home),
            {**PLAYER, "media_content_id": media, "entity_id": player},
        )
        step = {"action": "media_player.play_media", "data": data}
        reader.sequence(script_helper.cv.SCRIPT_SCHEMA([step]), OWN_SCRIPT)
        risky.append(is_risky(home, reader.effects()))

    assert risky == [False, True, False, True]


@in_one_home(
    "extra",
    [
        {"extra": {"x": 1}},
        {"media_content_type": "url"},
        {"media": "http://example.com"},
    ],
)
async def test_what_else_may_hold_an_address_counts_as_one(
    home: HomeAssistant, extra: JsonObject
) -> None:
    reader = ActionReader(home)

    reader.call(
        "media_player", "play_media", {**PLAYER, "media_content_id": "jazz", **extra}
    )

    assert is_risky(home, reader.effects())


@in_one_home(
    "data", [{"entity_id": "tts.piper"}, {"entity_id": "media_player.hall"}, {}]
)
async def test_words_that_are_spoken_are_an_effect(
    home: HomeAssistant, data: JsonObject
) -> None:
    chosen, clearing = ActionReader(home), ActionReader(home)
    chosen.call("tts", "speak", {**data, "message": "Yes."})
    clearing.call("tts", "clear_cache", {})
    own, wished = (
        {"action": "tts.speak", "data": {**data, "message": text}}
        for text in ("Dinner!", "{{ words }}")
    )
    written, message = ActionReader(home), ActionReader(home)
    written.sequence(script_helper.cv.SCRIPT_SCHEMA([own]), OWN_SCRIPT)
    message.sequence(script_helper.cv.SCRIPT_SCHEMA([wished]), OWN_SCRIPT)

    assert [action.action for action in chosen.effects().actions] == ["tts.speak"]
    assert [
        is_risky(home, reader.effects())
        for reader in (chosen, message, written, clearing)
    ] == [
        True,
        True,
        False,
        False,
    ]


@in_one_home(
    "service",
    ["reload_config_entry", "reload_all", "restart", "set_location", "new_in_2027"],
)
async def test_of_homeassistant_only_four_services_are_known(
    home: HomeAssistant, service: str
) -> None:
    reader = ActionReader(home)

    reader.call("homeassistant", service, {"entity_id": "light.lamp"})

    assert reasons(reader.effects()) == {UnknownReason.OPAQUE_ACTION}
    assert {one.action for one in unknowns_of(reader)} == {f"homeassistant.{service}"}


@in_one_home("service", ["turn_on", "turn_off", "toggle", "update_entity"])
async def test_those_four_are_known(home: HomeAssistant, service: str) -> None:
    reader = ActionReader(home)

    reader.call("homeassistant", service, {"entity_id": "light.lamp"})

    assert reader.effects().is_known
    assert {action.entity_id for action in reader.effects().actions} == {"light.lamp"}


def unknowns_of(reader: ActionReader) -> frozenset[Unknown]:
    return reader.effects().unknowns


@in_one_home(
    "step",
    [
        {"domain": "zha", "type": "squawk"},
        {"domain": "zwave_js", "type": "set_lock_usercode", "entity_id": "lock.door"},
        {"domain": "light", "type": "turn_on"},
    ],
)
async def test_a_device_action_of_an_integration_or_on_no_entity_is_unknown(
    home: HomeAssistant, step: ConfigType
) -> None:
    reader = ActionReader(home)

    reader.sequence([{"device_id": "one", **step}])

    assert reasons(reader.effects()) == {UnknownReason.OPAQUE_ACTION}


async def test_an_event_may_be_what_an_automation_waits_for(
    home: HomeAssistant,
) -> None:
    assert reasons(await steps(home, {"event": "something"})) == {
        UnknownReason.OPAQUE_ACTION
    }


async def test_a_kind_of_step_that_is_new_is_unknown(home: HomeAssistant) -> None:
    """Home Assistant's table of steps grows; what is not in ours must not pass for harmless."""
    script_helper.cv.ACTIONS_MAP["teleport"] = "teleport"
    script_helper.cv.ACTIONS_SET.add("teleport")
    try:
        reader = ActionReader(home)
        reader.sequence(
            [{"teleport": "now"}, "not a step", {"parallel": ["not a branch"]}]
        )
        assert reasons(reader.effects()) == {UnknownReason.OPAQUE_ACTION}
    finally:
        del script_helper.cv.ACTIONS_MAP["teleport"]
        script_helper.cv.ACTIONS_SET.discard("teleport")


async def test_scripts_are_read_through_scripts_automations_and_scenes(
    home: HomeAssistant,
) -> None:
    assert await async_setup_component(
        home,
        "scene",
        {
            "scene": [
                {
                    "name": "Night",
                    "entities": {
                        "lock.door": "unlocked",
                        "light.lamp": "off",
                        "group.both": "off",
                        "lock.gone": "odd",
                    },
                }
            ]
        },
    )
    assert await async_setup_component(
        home, "group", {"group": {"both": {"entities": ["light.lamp", "group.both"]}}}
    )
    assert await async_setup_component(
        home,
        "automation",
        {
            "automation": {
                "alias": "Evening",
                "triggers": [],
                "actions": [
                    {"action": "script.toggle", "target": {"entity_id": "script.inner"}}
                ],
            }
        },
    )
    trigger = {
        "action": "automation.trigger",
        "target": {"entity_id": "automation.evening"},
    }
    assert await async_setup_component(
        home,
        "script",
        {
            "script": {
                "outer": {"sequence": [trigger]},
                "inner": {
                    "sequence": [{"scene": "scene.night"}, {"action": "script.outer"}]
                },
            }
        },
    )
    await home.async_block_till_done()

    effects = await steps(home, {"action": "script.outer"})

    assert effects.is_known
    assert facts_of(effects) == {
        ("script.outer", "script.turn_on"),
        ("automation.evening", "automation.trigger"),
        ("script.inner", "script.toggle"),
        ("scene.night", "scene.turn_on"),
        ("lock.door", "lock.unlock"),
        ("lock.gone", "lock.reproduce_state"),
        ("group.both", "group.turn_off"),
        ("light.lamp", "light.turn_off"),
    }


async def test_scenes_that_hold_only_lights_need_not_be_read(
    home: HomeAssistant,
) -> None:
    entry = MockConfigEntry(domain="hue")
    entry.add_to_hass(home)
    scene = er.async_get(home).async_get_or_create(
        "scene", "hue", "1", config_entry=entry
    )

    assert await steps(home, {"scene": scene.entity_id}) == Effects(
        frozenset({EntityAction(scene.entity_id, "scene.turn_on")})
    )


async def test_a_group_passes_on_what_is_done_to_it(home: HomeAssistant) -> None:
    home.states.async_set(
        "lock.all", "locked", {ATTR_ENTITY_ID: ["lock.door", "lock.shed"]}
    )
    home.states.async_set(
        "light.odd",
        "off",
        {ATTR_ENTITY_ID: ["light.lamp", "switch.plug", "lock.door", 5]},
    )
    home.states.async_set(
        "group.mixed", "off", {ATTR_ENTITY_ID: ["light.lamp", "lock.shed", "script.x"]}
    )

    assert facts_of(
        await steps(home, {"action": "lock.unlock", "entity_id": "lock.all"})
    ) == {
        ("lock.all", "lock.unlock"),
        ("lock.door", "lock.unlock"),
        ("lock.shed", "lock.unlock"),
    }
    assert facts_of(
        await steps(home, {"action": "light.turn_on", "entity_id": "light.odd"})
    ) == {
        ("light.odd", "light.turn_on"),
        ("light.lamp", "light.turn_on"),
        ("switch.plug", "switch.turn_on"),
    }
    assert facts_of(
        await steps(home, {"action": "light.set_effect", "entity_id": "light.odd"})
    ) == {
        ("light.odd", "light.set_effect"),
        ("light.lamp", "light.set_effect"),
    }
    assert facts_of(
        await steps(
            home, {"action": "homeassistant.turn_off", "entity_id": "group.mixed"}
        )
    ) == {
        ("group.mixed", "group.turn_off"),
        ("light.lamp", "light.turn_off"),
    }
    assert facts_of(
        await steps(home, {"action": "lock.unlock", "entity_id": "group.mixed"})
    ) == {
        ("group.mixed", "lock.unlock"),
        ("lock.shed", "lock.unlock"),
    }


async def test_groups_in_a_circle_are_read_once(home: HomeAssistant) -> None:
    home.states.async_set(
        "group.one", "off", {ATTR_ENTITY_ID: ["group.two", "light.lamp"]}
    )
    home.states.async_set(
        "group.two", "off", {ATTR_ENTITY_ID: ["group.one", "switch.plug"]}
    )

    home.states.async_set(
        "group.doors", "locked", {ATTR_ENTITY_ID: ["lock.door", "group.one"]}
    )
    states = {"group.one": "on", "group.doors": "unlocked"}
    in_scene = await steps(
        home, {"action": "scene.apply", "data": {"entities": states}}
    )
    called = EntityAction("script.unread", "script.turn_on")
    unknown = Effects(unknowns=frozenset({Unknown(UnknownReason.CONTENT, called)}))
    sources = {"script.unread": ToolSource(affects=frozenset({"group.one"}))}
    owned = bounded(home, unknown, sources)

    assert facts_of(in_scene) >= {
        ("light.lamp", "light.turn_on"),
        ("switch.plug", "switch.turn_on"),
        *UNLOCKED_DOOR,
    }
    members = {
        "group.one": "group",
        "group.two": "group",
        "light.lamp": "light",
        "switch.plug": "switch",
    }
    anything = frozenset(
        EntityAction(entity_id, f"{domain}.{ANY_ACTION}")
        for entity_id, domain in members.items()
    )
    assert owned.possible_actions == anything
    assert bounded(
        home, replace(unknown, annotations=ToolAnnotations()), sources
    ) == replace(owned, annotations=ToolAnnotations())


async def test_an_action_on_a_room_reaches_what_configures_its_devices(
    home: HomeAssistant,
) -> None:
    er.async_get(home).async_update_entity(
        "switch.plug", entity_category=EntityCategory.CONFIG
    )

    effects = await steps(
        home, {"action": "switch.turn_off", "target": {"area_id": "hall"}}
    )

    assert facts_of(effects) == {("switch.plug", "switch.turn_off")}


async def test_a_group_that_home_assistant_expands_itself_is_read_too(
    home: HomeAssistant,
) -> None:
    platform = {
        "platform": "group",
        "name": "Doors",
        "entities": ["lock.door", "lock.shed"],
    }
    await home.data["lock"].async_setup({"lock": [platform]})
    await home.async_block_till_done()
    home.states.async_set("lock.doors", "locked")

    assert facts_of(
        await steps(home, {"action": "lock.unlock", "entity_id": "lock.doors"})
    ) == {
        ("lock.doors", "lock.unlock"),
        ("lock.door", "lock.unlock"),
        ("lock.shed", "lock.unlock"),
    }


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State("lock.a", "open"), {"lock.open"}),
        (State("valve.a", "open"), {"valve.open_valve"}),
        (State("valve.a", "closed"), {"valve.close_valve"}),
        (State("valve.a", "unknown"), {"valve.reproduce_state"}),
        (
            State("alarm_control_panel.a", "disarmed"),
            {"alarm_control_panel.alarm_disarm"},
        ),
        (
            State("alarm_control_panel.a", "armed_away"),
            {"alarm_control_panel.alarm_arm_away"},
        ),
        (
            State("alarm_control_panel.a", "triggered"),
            {"alarm_control_panel.alarm_trigger"},
        ),
        (State("cover.a", "closed"), {"cover.close_cover", "cover.close_cover_tilt"}),
        (
            State("cover.a", "closed", {"current_position": 0}),
            {"cover.close_cover", "cover.close_cover_tilt"},
        ),
        (
            State("cover.a", "stuck", {"current_position": 30}),
            {"cover.set_cover_position", "cover.open_cover"},
        ),
        (
            State("cover.a", "open"),
            {
                "cover.open_cover",
                "cover.open_cover_tilt",
                "cover.set_cover_position",
                "cover.set_cover_tilt_position",
            },
        ),
        (State("climate.a", "off"), {"climate.reproduce_state"}),
        (State("light.a", "on"), {"light.turn_on"}),
    ],
)
def test_a_state_of_a_scene_names_the_actions_that_reach_it(
    state: State, expected: set[str]
) -> None:
    assert reproducing_actions(state) == expected

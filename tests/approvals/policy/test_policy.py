"""Which calls need a yes, in a real home."""

from dataclasses import fields, replace
from datetime import datetime, time
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolAnnotations,
)
from custom_components.chatterbox.approvals.policy import (
    Decision,
    Judgement,
    is_risky,
    judge,
)
from custom_components.chatterbox.effects.effect import (
    ARM_FOR_LESS,
    NOTHING,
    CallEffects,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.flows.rule_form import CONDITIONS
from custom_components.chatterbox.people.speakers import NOBODY, Speaker
from custom_components.chatterbox.settings.rules import (
    DEFAULT_RULES,
    Policy,
    Rule,
    TimeWindow,
    Verdict,
    policy_from_json,
)
from tests.support.one_home import in_one_home

NOON = datetime.fromisoformat("2026-11-01T12:00:00+00:00")
HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: garden, name: Garden }
devices:
  - { id: chest, name: Chest, area: garden }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Door, id: lock.door, area: hall, state: locked }
  - { name: Shed, id: lock.shed, area: garden, state: locked }
  - { name: Chest Lid, id: cover.lid, device: chest, state: closed, attributes: { device_class: gate } }
  - { name: Blind, id: cover.blind, area: hall, state: closed, attributes: { device_class: blind } }
  - { name: Tap, id: valve.tap, area: garden, state: closed }
  - { name: Noise, id: sensor.noise, state: 4 }
"""
ALLOWED = Judgement(Verdict.ALLOW, ())


def touching(*actions: tuple[str, str]) -> Effects:
    return Effects(frozenset(EntityAction(*action) for action in actions))


def judged(
    hass: HomeAssistant,
    effects: Effects,
    *rules: Rule,
    tool: str = "some__tool",
    speaker: Speaker = NOBODY,
    now: datetime = NOON,
) -> Judgement:
    return judge(hass, Policy(rules), CallEffects(tool, effects), speaker, now)


def rule(verdict: Verdict, **conditions: str) -> Rule:
    written: dict[str, JsonValue] = {
        name: [value] for name, value in conditions.items()
    }
    return policy_from_json([{"verdict": verdict.value, **written}]).rules[0]


UNLOCK = touching(("lock.door", "lock.unlock"))


@in_one_home(
    ("effects", "verdict"),
    [
        (UNLOCK, Verdict.ASK),
        (touching(("lock.door", "lock.open")), Verdict.ASK),
        (touching(("lock.door", "lock.lock")), Verdict.ALLOW),
        (
            touching(("alarm_control_panel.home", "alarm_control_panel.alarm_disarm")),
            Verdict.ASK,
        ),
        (touching(("alarm_control_panel.home", ARM_FOR_LESS)), Verdict.ASK),
        (
            touching(
                ("alarm_control_panel.home", "alarm_control_panel.alarm_arm_away")
            ),
            Verdict.ALLOW,
        ),
        (touching(("cover.lid", "cover.open_cover")), Verdict.ASK),
        (touching(("cover.lid", "cover.set_cover_position")), Verdict.ASK),
        (touching(("cover.lid", "cover.toggle")), Verdict.ASK),
        (touching(("cover.lid", "cover.close_cover")), Verdict.ALLOW),
        (touching(("cover.lid", "cover.reproduce_state")), Verdict.ASK),
        (touching(("cover.blind", "cover.open_cover")), Verdict.ALLOW),
        (touching(("valve.tap", "valve.open_valve")), Verdict.ASK),
        (touching(("valve.tap", "valve.close_valve")), Verdict.ALLOW),
        (
            touching(("light.lamp", "light.turn_on"), ("lock.door", "lock.unlock")),
            Verdict.ASK,
        ),
        (NOTHING, Verdict.ALLOW),
        (Effects(annotations=ToolAnnotations()), Verdict.ASK),
        (Effects(annotations=ToolAnnotations(read_only=True)), Verdict.ALLOW),
        (Effects(annotations=ToolAnnotations(destructive=False)), Verdict.ALLOW),
        (Effects(annotations=ToolAnnotations(open_world=False)), Verdict.ALLOW),
        (Effects(unknowns=frozenset({Unknown(UnknownReason.TEMPLATE)})), Verdict.ASK),
    ],
)
async def test_without_rules_what_lets_somebody_in_is_asked_about(
    home: HomeAssistant, effects: Effects, verdict: Verdict
) -> None:
    assert judged(home, effects).verdict is verdict


async def test_a_judgement_names_what_decided_it(home: HomeAssistant) -> None:
    effects = touching(
        ("lock.shed", "lock.unlock"),
        ("lock.door", "lock.unlock"),
        ("light.lamp", "light.turn_on"),
    )

    judgement = judged(home, effects)

    assert judgement.decisions == (
        Decision(
            EntityAction("lock.door", "lock.unlock"), Verdict.ASK, DEFAULT_RULES[0]
        ),
        Decision(
            EntityAction("lock.shed", "lock.unlock"), Verdict.ASK, DEFAULT_RULES[0]
        ),
    )
    assert judged(home, touching(("light.lamp", "light.turn_on"))) == ALLOWED
    assert judged(home, Effects(annotations=ToolAnnotations())).decisions == (
        Decision(None, Verdict.ASK, None),
    )


@in_one_home(
    ("given", "fits"),
    [
        ({"domains": "lock"}, True),
        ({"domains": "cover"}, False),
        ({"areas": "hall"}, True),
        ({"areas": "garden"}, False),
        ({"entities": "lock.door"}, True),
        ({"entities": "lock.shed"}, False),
        ({"actions": "lock.unlock"}, True),
        ({"actions": "lock.lock"}, False),
        ({"tools": "some__tool"}, True),
        ({"tools": "another__tool"}, False),
        ({"users": "guest"}, True),
        ({"users": "owner"}, False),
        ({"devices": "satellite"}, True),
        ({"devices": "phone"}, False),
        ({"labels": "risky"}, True),
        ({"labels": "dull"}, False),
        ({"device_classes": "gate"}, False),
        ({"domains": "lock", "areas": "hall", "tools": "some__tool"}, True),
        ({"domains": "lock", "areas": "garden"}, False),
    ],
)
async def test_a_rule_holds_where_all_its_conditions_are_met(
    home: HomeAssistant, given: dict[str, str], *, fits: bool
) -> None:
    labels = lr.async_get(home)
    risky = labels.async_get_label_by_name("Risky") or labels.async_create("Risky")
    er.async_get(home).async_update_entity("lock.door", labels={risky.label_id})

    judgement = judged(
        home, UNLOCK, rule(Verdict.DENY, **given), speaker=Speaker("guest", "satellite")
    )

    assert judgement.verdict is (Verdict.DENY if fits else Verdict.ASK)


async def test_labels_of_devices_and_areas_count(home: HomeAssistant) -> None:
    labels = lr.async_get(home)
    of_device, of_area = labels.async_create("Device"), labels.async_create("Area")
    entry = er.async_get(home).async_get("cover.lid")
    assert entry
    assert entry.device_id
    dr.async_get(home).async_update_device(entry.device_id, labels={of_device.label_id})
    ar.async_get(home).async_update("garden", labels={of_area.label_id})
    lid = touching(("cover.lid", "cover.open_cover"))

    assert (
        judged(home, lid, rule(Verdict.PIN, labels=of_device.label_id)).verdict
        is Verdict.PIN
    )
    assert (
        judged(home, lid, rule(Verdict.PIN, labels=of_area.label_id)).verdict
        is Verdict.PIN
    )
    assert judged(home, lid, rule(Verdict.PIN, labels="hall")).verdict is Verdict.ASK
    stranger = touching(("cover.stranger", "cover.open_cover"))
    assert (
        judged(
            home,
            stranger,
            rule(Verdict.PIN, labels="hall"),
            rule(Verdict.PIN, areas="hall"),
        )
        == ALLOWED
    )


async def test_the_labels_of_a_device_count_for_the_parts_of_it(
    home: HomeAssistant,
) -> None:
    label, devices = lr.async_get(home).async_create("Device"), dr.async_get(home)
    chest = er.async_get(home).async_get("cover.lid")
    assert chest
    assert chest.device_id
    whole = devices.async_get(chest.device_id)
    assert whole
    part = devices.async_get_or_create_child(
        config_entry_id=whole.config_entry_id,
        identifiers={("test", "drawer")},
        parent_device_id=whole.id,
    )
    drawer = er.async_get(home).async_get_or_create(
        "lock", "test", "drawer", device_id=part.id
    )
    devices.async_update_device(whole.id, labels={label.label_id})

    unlocks = touching((drawer.entity_id, "lock.unlock"))
    assert (
        judged(home, unlocks, rule(Verdict.PIN, labels=label.label_id)).verdict
        is Verdict.PIN
    )


async def test_the_device_class_that_somebody_chose_counts_first(
    home: HomeAssistant,
) -> None:
    entities = er.async_get(home)
    opening = touching(("cover.blind", "cover.open_cover"))
    assert judged(home, opening).verdict is Verdict.ALLOW

    entities.async_update_entity("cover.blind", device_class="garage")
    assert judged(home, opening).verdict is Verdict.ASK

    home.states.async_set("cover.lid", "unavailable")
    entities.async_update_entity("cover.lid", original_device_class="gate")
    assert (
        judged(home, touching(("cover.lid", "cover.open_cover"))).verdict is Verdict.ASK
    )


async def test_the_first_rule_that_fits_decides(home: HomeAssistant) -> None:
    mine = rule(Verdict.ALLOW, entities="lock.door")
    all_locks = rule(Verdict.DENY, domains="lock")

    assert judged(home, UNLOCK, mine, all_locks) == ALLOWED
    assert judged(home, UNLOCK, all_locks, mine).verdict is Verdict.DENY
    both = touching(("lock.door", "lock.unlock"), ("lock.shed", "lock.unlock"))
    assert judged(home, both, mine, all_locks).decisions == (
        Decision(EntityAction("lock.shed", "lock.unlock"), Verdict.DENY, all_locks),
    )


async def test_a_rule_may_hold_only_at_night(home: HomeAssistant) -> None:
    night = Rule(
        verdict=Verdict.PIN,
        domains=frozenset({"lock"}),
        window=TimeWindow(time(22), time(6)),
    )

    assert judged(home, UNLOCK, night).verdict is Verdict.ASK
    assert judged(home, UNLOCK, night, now=NOON.replace(hour=23)).verdict is Verdict.PIN


async def test_a_rule_about_entities_says_nothing_of_calls_without_any(
    home: HomeAssistant,
) -> None:
    foreign = Effects(annotations=ToolAnnotations())

    assert (
        judged(home, foreign, rule(Verdict.DENY, domains="lock")).verdict is Verdict.ASK
    )
    assert judged(home, foreign, rule(Verdict.ALLOW, tools="some__tool")) == ALLOWED
    assert judged(
        home, NOTHING, rule(Verdict.DENY, users="guest"), speaker=Speaker("guest")
    ).decisions == (Decision(None, Verdict.DENY, rule(Verdict.DENY, users="guest")),)


async def test_a_tool_that_names_an_action_is_judged_by_both(
    home: HomeAssistant,
) -> None:
    foreign, harmless = (
        replace(UNLOCK, annotations=ToolAnnotations()),
        replace(UNLOCK, annotations=ToolAnnotations(destructive=False)),
    )

    assert (
        judged(home, foreign, rule(Verdict.DENY, domains="lock")).verdict
        is Verdict.DENY
    )
    assert (
        judged(home, foreign, rule(Verdict.ALLOW, domains="lock")).verdict
        is Verdict.ASK
    )
    assert judged(home, harmless, rule(Verdict.ALLOW, domains="lock")) == ALLOWED
    assert judged(home, harmless).verdict is Verdict.ASK


async def test_a_tool_that_is_forbidden_stays_so_under_the_name_it_gets_beside_another_of_its_name(
    home: HomeAssistant,
) -> None:
    """`judged` calls `some__tool`."""
    harmless = Effects(annotations=ToolAnnotations(destructive=False))
    renamed = "some__tool_0a1b2c"

    assert (
        judged(home, harmless, rule(Verdict.DENY, tools=renamed)).verdict
        is Verdict.DENY
    )
    assert (
        judged(home, UNLOCK, rule(Verdict.ALLOW, tools=renamed)).verdict is Verdict.ASK
    )
    named = (rule(Verdict.DENY, tools=renamed), rule(Verdict.ALLOW, tools="some__tool"))
    assert judged(home, harmless, *named) == ALLOWED
    assert judged(home, harmless, rule(Verdict.DENY, tools="another__tool")) == ALLOWED


async def test_a_rule_for_a_tool_that_may_be_another_hides_no_stricter_one(
    home: HomeAssistant,
) -> None:
    """`judged` calls `some__tool`."""
    asks, after = (
        rule(Verdict.ASK, tools="some__tool_0a1b2c"),
        rule(Verdict.DENY, tools="some__tool_3d4e5f"),
    )
    unknown = Effects(unknowns=frozenset({Unknown(UnknownReason.SENTENCE)}))

    for effects in (NOTHING, UNLOCK, unknown):
        assert judged(home, effects, asks).verdict is Verdict.ASK
        for never in (after, rule(Verdict.DENY)):
            assert judged(home, effects, asks, never).verdict is Verdict.DENY
            assert (
                judged(
                    home, effects, rule(Verdict.ASK, tools="some__tool"), never
                ).verdict
                is Verdict.ASK
            )


async def test_what_is_unknown_is_judged_as_the_worst_that_it_could_be(
    home: HomeAssistant,
) -> None:
    script = EntityAction("script.night", "script.turn_on")
    unknown = Unknown(UnknownReason.TEMPLATE, script)
    effects = Effects(unknowns=frozenset({unknown}), actions=frozenset({script}))
    pin, deny = rule(Verdict.PIN, domains="lock"), rule(Verdict.DENY, areas="garden")
    this_script, every_lamp = (
        rule(Verdict.ALLOW, entities="script.night"),
        rule(Verdict.ALLOW, domains="light"),
    )

    assert judged(home, effects).decisions == (
        Decision(unknown, Verdict.ASK, DEFAULT_RULES[0]),
    )
    assert judged(home, effects, every_lamp).verdict is Verdict.ASK
    assert judged(home, effects, pin).decisions == (
        Decision(unknown, Verdict.PIN, pin),
    )
    assert judged(home, effects, pin, deny).verdict is Verdict.DENY
    assert judged(home, effects, this_script, deny) == ALLOWED
    assert judged(home, effects, pin, this_script, deny).verdict is Verdict.PIN
    assert (
        judged(home, effects, rule(Verdict.ALLOW, tools="some__tool"), deny) == ALLOWED
    )
    another = Effects(unknowns=frozenset({Unknown(UnknownReason.SENTENCE), unknown}))
    assert [decision.subject for decision in judged(home, another, pin).decisions] == [
        Unknown(UnknownReason.SENTENCE),
        unknown,
    ]


async def test_what_is_unknown_is_no_worse_than_the_worst_within_its_reach(
    home: HomeAssistant,
) -> None:
    def reaching(*actions: tuple[str, str]) -> Effects:
        script = EntityAction("script.night", "script.turn_on")
        unknown = Unknown(UnknownReason.TEMPLATE, script, touching(*actions).actions)
        return Effects(unknowns=frozenset({unknown}), actions=frozenset({script}))

    lamps = reaching(("light.lamp", "light.turn_on"))
    doors = reaching(("light.lamp", "light.turn_on"), ("lock.door", "lock.unlock"))
    never, this_script = (
        rule(Verdict.DENY, areas="garden"),
        rule(Verdict.ALLOW, entities="script.night"),
    )

    assert judged(home, lamps) == ALLOWED
    assert judged(home, reaching(), never) == ALLOWED
    assert judged(home, lamps, rule(Verdict.PIN, domains="lock"), never) == ALLOWED
    assert (
        judged(home, lamps, rule(Verdict.PIN, domains="light")).verdict is Verdict.PIN
    )
    assert judged(home, doors, never).decisions == (
        Decision(next(iter(doors.unknowns)), Verdict.ASK, DEFAULT_RULES[0]),
    )
    assert judged(home, doors, this_script).verdict is Verdict.ASK
    assert (
        judged(home, doors, rule(Verdict.DENY, entities="lock.door")).verdict
        is Verdict.DENY
    )


async def test_what_a_scene_may_do_in_many_ways_is_judged_by_the_strictest(
    home: HomeAssistant,
) -> None:
    scene = touching(("climate.room", "climate.reproduce_state"))
    temperature = rule(Verdict.ALLOW, actions="climate.set_temperature")
    mode = rule(Verdict.PIN, actions="climate.set_hvac_mode")

    assert judged(home, scene, temperature, mode).verdict is Verdict.PIN
    assert (
        judged(home, scene, temperature, rule(Verdict.DENY, domains="climate")).verdict
        is Verdict.DENY
    )
    assert (
        judged(home, scene, mode, rule(Verdict.ALLOW, domains="climate")).verdict
        is Verdict.PIN
    )
    assert judged(home, scene, rule(Verdict.PIN, actions="light.turn_on")) == ALLOWED


async def test_a_device_counts_only_where_it_is_not_just_said_to_be_that_one(
    home: HomeAssistant,
) -> None:
    """A signed-in user may name any device in a request."""
    unlock = touching(("lock.door", "lock.unlock"))
    at_satellite = Rule(
        verdict=Verdict.ALLOW, domains=frozenset({"lock"}), devices=frozenset({"hall"})
    )
    never = Rule(verdict=Verdict.DENY, domains=frozenset({"lock"}))
    there, named = (
        Speaker(device_id="hall"),
        Speaker("a-user", "hall", is_signed_in=True),
    )

    assert judged(home, unlock, at_satellite, never, speaker=there) == ALLOWED
    assert (
        judged(home, unlock, at_satellite, never, speaker=named).verdict is Verdict.DENY
    )


@in_one_home(
    ("actions", "risky"),
    [
        (
            {
                ("light.lamp", "light.turn_on"),
                ("todo.list", "todo.add_item"),
                ("script.tidy", "script.turn_on"),
            },
            False,
        ),
        ({("cover.blind", "cover.open_cover")}, False),
        ({("climate.room", "climate.set_fan_mode")}, False),
        ({("climate.room", "climate.set_temperature")}, True),  # to nobody knows what
        (
            {
                ("media_player.radio", "media_player.play_media"),
                ("vacuum.robot", "vacuum.start"),
            },
            False,
        ),
        ({("light.lamp", "light.turn_on"), ("lock.door", "lock.lock")}, False),
        ({("light.lamp", "light.turn_on"), ("lock.door", "lock.unlock")}, True),
        ({("cover.lid", "cover.close_cover")}, False),
        ({("cover.lid", "cover.set_cover_position")}, True),
        ({("cover.of_unknown_class", "cover.open_cover")}, True),
        ({("valve.tap", "valve.close_valve")}, False),
        ({("valve.tap", "valve.open_valve")}, True),
        ({("alarm_control_panel.home", "alarm_control_panel.alarm_arm_away")}, True),
        ({("climate.room", "climate.turn_off")}, True),
        ({("notify.phone", "notify.send_message")}, True),
        ({("assist_satellite.hall", "assist_satellite.announce")}, True),
        ({("automation.guard", "automation.turn_off")}, True),
        ({("button.gate", "button.press")}, True),
        ({("domain_of_tomorrow.x", "domain_of_tomorrow.start")}, True),
    ],
)
async def test_what_is_no_everyday_matter_is_risky(
    home: HomeAssistant, actions: set[tuple[str, str]], *, risky: bool
) -> None:
    assert is_risky(home, touching(*actions)) is risky


@in_one_home(
    ("annotations", "risky"),
    [
        (ToolAnnotations(read_only=True), False),
        (ToolAnnotations(destructive=False, open_world=False), False),
        (ToolAnnotations(destructive=False), True),
        (ToolAnnotations(open_world=False), True),
    ],
)
async def test_a_foreign_tool_is_risky_unless_it_only_adds_at_home(
    home: HomeAssistant, annotations: ToolAnnotations, *, risky: bool
) -> None:
    assert is_risky(home, Effects(annotations=annotations)) is risky


_UNMET: Final[JsonObject] = {
    **{
        name: ["nowhere" if name == "domains" else "nowhere.nothing"]
        for name in CONDITIONS
    },
    "window": {"after": "22:00", "before": "06:00"},
}


@in_one_home(
    "condition", [field.name for field in fields(Rule) if field.name != "verdict"]
)
async def test_a_rule_decides_nothing_where_a_condition_is_not_met(
    home: HomeAssistant, condition: str
) -> None:
    """A condition that is not applied would let its rule decide on everything."""
    (never,) = policy_from_json(
        [{"verdict": "deny", condition: _UNMET[condition]}]
    ).rules
    assert (
        judged(home, touching(("light.kitchen", "light.turn_on")), never).verdict
        is Verdict.ALLOW
    )

"""A choice for one device becomes a rule that has its effect, and takes no other rule its own."""

from dataclasses import replace
from datetime import time
from itertools import product

import pytest
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.approvals.examples import judge_all_actions
from custom_components.chatterbox.panel.rule_changes import (
    chosen_verdict,
    with_choice,
)
from custom_components.chatterbox.settings.rules import (
    Policy,
    Rule,
    RuleRefused,
    TimeWindow,
    Verdict,
)
from tests.demo_house.move_in import move_in
from tests.support.one_home import in_one_home

HOME = """
entities:
  - { name: Lamp, id: light.lamp, state: "off" }
  - { name: Front Door, id: lock.door, state: locked }
  - { name: Garage, id: cover.garage, state: closed, attributes: { device_class: garage } }
  - { name: Blind, id: cover.blind, state: closed, attributes: { device_class: blind } }
"""
DOOR, LAMP = "lock.door", "light.lamp"
ALLOW, ASK, PIN, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.PIN, Verdict.DENY
LOCKS, LIGHTS = frozenset({"lock"}), frozenset({"light"})
OF_ANN = Rule(verdict=DENY, domains=LOCKS, users=frozenset({"ann"}))
AT_NIGHT = Rule(verdict=DENY, domains=LOCKS, window=TimeWindow(time(22), time(6)))


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant) -> None:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})


def chosen(
    hass: HomeAssistant, verdict: Verdict | None, entity_id: str, *rules: Rule
) -> tuple[Rule, ...]:
    """Choose a verdict for an entity; return the rules, in which that is what the table will show."""
    policy = with_choice(hass, Policy(rules), entity_id, verdict)
    if verdict:
        assert judge_all_actions(hass, policy, entity_id).verdict is verdict
        assert chosen_verdict(hass, policy.rules, entity_id) is verdict
    return policy.rules


RULES: tuple[tuple[Rule, ...], ...] = (
    (),
    (Rule(verdict=PIN, domains=LOCKS),),
    (Rule(verdict=ALLOW, domains=LIGHTS | LOCKS), Rule(verdict=DENY)),
    (Rule(verdict=ASK, entities=frozenset({DOOR, LAMP})),),
    (Rule(verdict=DENY, actions=frozenset({"lock.lock", "light.turn_off"})),),
)


@in_one_home(
    ("verdict", "entity_id", "rules"),
    [*product(Verdict, (DOOR, LAMP, "cover.garage", "cover.blind"), RULES)],
)
async def test_a_choice_has_the_effect_that_it_says(
    hass: HomeAssistant, verdict: Verdict, entity_id: str, rules: tuple[Rule, ...]
) -> None:
    assert len(chosen(hass, verdict, entity_id, *rules)) == len(rules) + 1


def test_a_yes_is_asked_for_what_lets_somebody_in_and_not_for_locking(
    hass: HomeAssistant,
) -> None:
    assert chosen(hass, PIN, DOOR)[0].actions == {"lock.unlock", "lock.open"}
    assert "cover.close_cover" not in chosen(hass, ASK, "cover.garage")[0].actions
    assert chosen(hass, ASK, "cover.blind")[0].actions == frozenset()
    assert chosen(hass, DENY, DOOR)[0].actions == frozenset()


def test_a_choice_does_not_depend_on_the_time_of_day(hass: HomeAssistant) -> None:
    always = replace(AT_NIGHT, window=None, users=frozenset({"ann"}), verdict=DENY)
    whole_day = [
        replace(AT_NIGHT, window=TimeWindow(time(0), time(12))),
        replace(AT_NIGHT, window=TimeWindow(time(12), time(0))),
    ]

    rules = with_choice(hass, Policy((always, *whole_day)), DOOR, ASK).rules

    assert rules[-1].actions == {"lock.unlock", "lock.open"}


def test_the_next_choice_takes_the_place_of_the_one_before(hass: HomeAssistant) -> None:
    first = chosen(hass, PIN, DOOR, OF_ANN)

    second = chosen(hass, DENY, DOOR, *first)

    assert second == (OF_ANN, Rule(verdict=DENY, entities=frozenset({DOOR})))
    assert chosen(hass, None, DOOR, *second) == (OF_ANN,)


def test_rules_for_some_people_and_times_stay_before_a_choice(
    hass: HomeAssistant,
) -> None:
    general = Rule(verdict=ASK, domains=LOCKS)

    rules = with_choice(hass, Policy((OF_ANN, AT_NIGHT, general)), DOOR, ALLOW).rules

    assert rules == (
        OF_ANN,
        AT_NIGHT,
        Rule(verdict=ALLOW, entities=frozenset({DOOR})),
        general,
    )


@pytest.mark.parametrize(
    "other",
    [OF_ANN, AT_NIGHT, Rule(verdict=DENY, tools=frozenset({"intent__HassTurnOff"}))],
)
def test_a_choice_does_not_hide_a_stricter_rule_behind_it(
    hass: HomeAssistant, other: Rule
) -> None:
    general = Rule(verdict=ASK, domains=LOCKS)

    with pytest.raises(RuleRefused) as refused:
        with_choice(hass, Policy((general, other)), DOOR, ALLOW)

    assert (refused.value.key, refused.value.placeholders) == (
        "rule_in_the_way",
        {"rule": "2"},
    )
    assert chosen(hass, DENY, DOOR, general, other)  # it is not stricter than this
    assert chosen(hass, ALLOW, LAMP, general, OF_ANN)  # it is about other devices

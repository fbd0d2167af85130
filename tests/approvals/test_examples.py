"""Ten requests of a home, each with what the rules of an agent make of it."""

import asyncio

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.approvals.examples import (
    MOST_EXAMPLES,
    async_example_requests,
    async_judge_entities,
)
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    Policy,
    Rule,
    ToolSource,
    TrustLevel,
    Verdict,
)
from tests.demo_house.move_in import move_in

HOME = """
entities:
  - { name: Attic, id: light.attic, state: "off" }
  - { name: Lamp, id: light.lamp, state: "off" }
  - { name: Door, id: lock.door, state: locked }
  - { name: Garage, id: cover.garage, state: closed, attributes: { device_class: garage } }
  - { name: Zebra Blind, id: cover.blind, state: open, attributes: { device_class: blind } }
  - { name: Radio, id: media_player.radio, state: idle }
  - { name: Heater, id: climate.heater, state: heat, attributes: { current_temperature: 20, target_temperature: 20 } }
  - { name: Tap, id: valve.tap, state: closed, attributes: { device_class: water } }
  - { name: Plug, id: switch.plug, state: "off" }
"""
EXPOSED = (
    *(
        "light.lamp",
        "lock.door",
        "cover.garage",
        "cover.blind",
        "media_player.radio",
        "climate.heater",
        "valve.tap",
    ),
    *("switch.plug", "script.night"),
)
ALLOW, ASK, PIN, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.PIN, Verdict.DENY


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    night = {"night": {"sequence": [{"action": "shell_command.night"}]}}
    assert await async_setup_component(hass, "script", {"script": night})
    for entity_id in EXPOSED:
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    async_expose_entity(hass, conversation.DOMAIN, "light.attic", should_expose=False)
    return hass


async def verdicts(
    hass: HomeAssistant, policy: Policy, pin: PinHash | None = None
) -> dict[tuple[str, str], Verdict]:
    examples = await async_example_requests(
        hass, HomeRules(policy=policy, pin=pin), searches_web=True
    )
    return {(example.key, example.entity_id): example.verdict for example in examples}


async def test_the_examples_name_exposed_entities_and_are_judged_as_real_requests(
    home: HomeAssistant,
) -> None:
    found = await verdicts(home, Policy())

    assert len(found) == MOST_EXAMPLES
    assert (
        found.items()
        >= {
            ("turn_on", "light.lamp"): ALLOW,
            ("close", "cover.blind"): ALLOW,
            ("lock", "lock.door"): ALLOW,
            ("unlock", "lock.door"): ASK,
            ("open", "cover.garage"): ASK,
            ("run", "script.night"): ASK,
            ("search_and_unlock", "lock.door"): ASK,
            ("play", "media_player.radio"): ALLOW,
            ("set_temperature", "climate.heater"): ALLOW,
        }.items()
    )


async def test_the_examples_follow_rules_levels_and_care(home: HomeAssistant) -> None:
    garage = Rule(verdict=DENY, entities=frozenset({"cover.garage"}))
    locks = Rule(verdict=PIN, domains=frozenset({"lock"}))
    free = {"script.night": ToolSource(TrustLevel.FREE)}
    found = await verdicts(
        home, Policy((garage, locks)), PinHash.of("2580", HashCost(2, 1))
    )

    assert (found["open", "cover.garage"], found["unlock", "lock.door"]) == (DENY, PIN)
    assert (await verdicts(home, Policy((locks,))))["unlock", "lock.door"] is DENY
    assert (await verdicts(home, Policy(sources=free)))["run", "script.night"] is ALLOW
    for level, verdict in ((TrustLevel.ASK, ASK), (TrustLevel.READ, DENY)):
        assert {
            *(
                await verdicts(home, Policy(sources={"assist": ToolSource(level)}))
            ).values()
        } == {verdict}


async def test_a_home_without_anything_has_no_examples(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})

    assert await verdicts(hass, Policy()) == {}


async def test_others_use_the_event_loop_while_many_entities_are_judged(
    home: HomeAssistant,
) -> None:
    turns_of_others = 0

    def take_turn() -> None:
        nonlocal turns_of_others
        turns_of_others += 1
        if not judging.done():
            asyncio.get_running_loop().call_soon(take_turn)

    judging = home.async_create_task(
        async_judge_entities(home, Policy(), ["lock.door"] * 1000)
    )
    take_turn()

    assert {one.verdict for one in await judging} == {ASK}
    assert turns_of_others >= 20

"""Rules in plain words, in all languages."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

import pytest
from homeassistant.core import HomeAssistant

import custom_components
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.panel.rule_text import RuleText
from custom_components.chatterbox.runtime.rule_labels import async_get_rule_labels
from custom_components.chatterbox.settings.rules import (
    DEFAULT_RULES,
    Policy,
    Rule,
    policy_from_json,
)
from tests.demo_house.move_in import move_in
from tests.repository.test_translations import LANGUAGES
from tests.support.one_home import in_one_home

HOME = """
entities:
  - { name: Lamp, id: light.lamp, state: "off" }
  - { name: Front Door, id: lock.door, state: locked }
"""

NAMES = {
    "areas": {"hall": "Hall", "attic": "Attic"},
    "labels": {"risky": "Risky"},
    "devices": {"sat": "Kitchen"},
}
TEXTS: Final[tuple[tuple[JsonObject, str], ...]] = (
    ({"verdict": "deny"}, "Never use anything."),
    ({"verdict": "allow", "entities": ["light.lamp"]}, "Use the Lamp without asking."),
    (
        {
            "verdict": "pin",
            "entities": ["lock.door", "light.lamp"],
            "actions": ["lock.unlock", "lock.open"],
        },
        "Unlock the Front Door or the Lamp only with the PIN.",
    ),
    (
        {
            "verdict": "ask",
            "domains": ["lock"],
            "areas": ["hall", "attic"],
            "labels": ["risky"],
        },
        "Use anything of type Lock with the label Risky in Attic or Hall only after a yes.",
    ),
    (
        {"verdict": "deny", "device_classes": ["garage"]},
        "Never use anything of type Garage.",
    ),
    (
        {"verdict": "ask", "actions": ["light.turn_on", "light.turn_off"]},
        "Turn on anything of type Light or turn off anything of type Light only after a yes.",
    ),
    (
        {"verdict": "deny", "actions": ["oven.set_program"]},
        "Never use the action oven.set_program on anything of type oven.",
    ),
    ({"verdict": "deny", "tools": ["mail__send_mail"]}, "Never use send mail."),
    (
        {
            "verdict": "ask",
            "entities": ["lock.door"],
            "tools": ["intent__HassTurnOff"],
            "users": ["ann"],
            "devices": ["sat"],
        },
        "For Ann, at the device Kitchen, with the tool hass turn off: use the Front Door only after a yes.",
    ),
    (
        {
            "verdict": "deny",
            "window": {"after": "22:00:00", "before": "06:30:00"},
            "domains": ["lock"],
        },
        "Between 22:00 and 06:30: never use anything of type Lock.",
    ),
    (
        {
            "verdict": "deny",
            "entities": [f"light.lamp_{number}" for number in range(8)],
        },
        "Never use the lamp 0, the lamp 1, the lamp 2, the lamp 3, the lamp 4 and 3 more.",
    ),
)


@pytest.fixture
async def policy(hass: HomeAssistant) -> Policy:
    await move_in(hass, HOME)
    ann = await hass.auth.async_create_user("Ann")
    rules = policy_from_json([rule for rule, _ in TEXTS]).rules
    known = [
        replace(rule, users=frozenset({ann.id})) if rule.users else rule
        for rule in rules
    ]
    return Policy((*known, *DEFAULT_RULES))


async def texts(hass: HomeAssistant, policy: Policy, language: str) -> list[str]:
    labels = await async_get_rule_labels(hass, policy, language, with_tools=False)
    text = RuleText(hass, labels, NAMES)
    return [text.of(rule) for rule in policy.rules]


def test_each_condition_of_a_rule_is_said_here_and_known_to_the_page() -> None:
    """A rule that is edited on the page has to keep all of them."""
    conditions = {field.name for field in fields(Rule)}
    page = (
        Path(custom_components.__file__).parents[1] / "frontend/src/api.ts"
    ).read_text("utf-8")
    lists, rule = (
        re.search(rf"export type {name} =(.*?);\n\n", page, re.DOTALL)
        for name in ("Condition", "Rule")
    )
    assert lists
    assert rule
    assert {
        *re.findall(r'"(\w+)"', lists[1]),
        *re.findall(r"(\w+)\??: ", rule[1]),
    } >= conditions
    assert {name for rule, _ in TEXTS for name in rule} >= conditions


async def test_a_rule_is_one_plain_sentence(
    hass: HomeAssistant, policy: Policy
) -> None:
    assert await texts(hass, policy, "en") == [
        *(text for _, text in TEXTS),
        "Unlock anything of type Lock only after a yes.",
        "Disarm anything of type Alarm control panel only after a yes.",
        "Open anything of type Door, Garage or Gate only after a yes.",
        "Open anything of type Valve only after a yes.",
        "Never tell where people were.",
    ]


@in_one_home("language", [language for language in LANGUAGES if language != "en"])
async def test_each_language_has_its_own_sentences(
    hass: HomeAssistant, policy: Policy, language: str
) -> None:
    found, english = (
        await texts(hass, policy, language),
        await texts(hass, policy, "en"),
    )

    assert not {*found} & {*english}
    assert all(text.endswith((".", "。")) and "{" not in text for text in found)

"""Every reliance is found; a release that takes one away takes one ability along, and nothing else."""

import importlib
import logging
import sys
from typing import Any, get_args

import pytest
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.internals.conversation import stored_chat_logs
from custom_components.chatterbox.internals.reliance import Ability, Reliance
from custom_components.chatterbox.runtime.moved_parts import RELIANCES, async_find_moved
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.support.moved_names import RELEASE, hide
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import LIGHT_ON, add_agent, move_into_the_demo_home, say, speech

NEEDED = [one for one in RELIANCES if one.since <= RELEASE]
CASES: dict[str, tuple[Reliance[Any], ...]] = {
    f"{one.module}: {' '.join(one.names)}": (one,)
    for one in NEEDED
    if one.ability != "foresight"
}
CASES["handlers and tools"] = tuple(one for one in NEEDED if one.ability == "foresight")


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Set up a home that has something of everything."""
    await move_into_the_demo_home(hass)
    actions = [{"action": "script.turn_off"}]
    assert await async_setup_component(
        hass, "script", {"script": {"rest": {"sequence": []}}}
    )
    automations = [{"alias": "Rest", "triggers": [], "actions": actions}]
    assert await async_setup_component(hass, "automation", {"automation": automations})
    assert await async_setup_component(hass, "assist_pipeline", {})
    await hass.services.async_call("script", "rest", blocking=True)
    return hass


async def test_all_that_is_relied_on_is_there(home: HomeAssistant) -> None:
    for reliance in NEEDED:
        importlib.import_module(reliance.module)
        assert reliance.find(home) is not None, reliance

    assert await async_find_moved(home) == {}


def test_every_ability_relies_on_something() -> None:
    assert {reliance.ability for reliance in RELIANCES} == set(
        get_args(Ability.__value__)
    )


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.each_row
@pytest.mark.parametrize(
    "taken",
    [
        pytest.param(taken, id=name, marks=pytest.mark.thorough if at % 4 else ())
        for at, (name, taken) in enumerate(CASES.items())
    ],
)
async def test_one_ability_is_off_and_told_and_the_rest_works(
    home: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    taken: tuple[Reliance[Any], ...],
) -> None:
    for reliance in taken:
        hide(monkeypatch, home, reliance)
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedAnswer(content="There you are."),
        )
    )

    async with serving_script(script) as url:
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: url,
        }
        await add_agent(
            home, service, {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        )
        result = await say(home, "Let there be light")

    assert speech(result) == "There you are."
    assert home.states.is_state("light.kitchen_ceiling", "on")
    warnings = [
        one.getMessage()
        for one in caplog.records
        if one.levelno >= logging.WARNING and DOMAIN in one.name
    ]
    assert len(warnings) == 1
    assert all(name in warnings[0] for reliance in taken for name in reliance.names)
    issue = ir.async_get(home).async_get_issue(DOMAIN, "internals_missing")
    assert issue is not None
    names = await async_get_sentences(home, "en")
    assert issue.translation_placeholders == {
        "abilities": f"- {names[f'ability_{taken[0].ability}']}"
    }


async def test_a_module_that_is_gone_takes_all_its_names_along(
    home: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        sys.modules, "homeassistant.components.conversation.chat_log", None
    )

    assert await async_find_moved(home) == {
        "conversations": [
            "homeassistant.components.conversation.chat_log: DATA_CHAT_LOGS"
        ],
        "debug_view": [
            "homeassistant.components.conversation.chat_log: DATA_SUBSCRIPTIONS"
        ],
    }
    assert stored_chat_logs(home) == {}

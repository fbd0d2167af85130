"""Automations and scripts that an agent has set off, and that speak to one: never trusted."""

from dataclasses import replace

import pytest
from homeassistant.core import Context, HomeAssistant

from custom_components.chatterbox.people.speakers import Asking, Speaker
from tests.support.listening_agent import (
    TRUSTING,
    ListeningAgent,
    a_user,
    add_automations,
    add_listening_agent,
    add_person,
    add_scripts,
    place_satellite,
    say,
    speak,
    start,
)


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    return await add_listening_agent(hass)


async def test_a_script_that_a_model_has_started_is_not_trusted(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()])

    async def run_script(context: Context) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=context)

    agent.actions.append(run_script)
    await say(hass, Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.PERSON, is_signed_in=True, person_id=anna),
        Speaker(anna, None, "Anna", Asking.NOBODY, "script.trusted", is_signed_in=True, person_id=anna),
    ]


async def test_a_script_that_a_model_of_a_trusted_automation_has_started_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_scripts(hass, trusted=[speak()])
    await add_automations(hass, trusted=[speak(), speak()])

    async def run_script(context: Context) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=context)

    agent.actions.append(run_script)
    await start(hass, "trusted")

    assert agent.askings == [Asking.TRUSTED, Asking.NOBODY, Asking.TRUSTED]


async def test_an_automation_that_a_model_has_triggered_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_automations(hass, trusted=[speak()])

    async def fire(context: Context) -> None:
        await start(hass, "trusted", context)

    agent.actions.append(fire)
    await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_automation_that_comes_later_of_what_a_model_did_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = Context(user_id=await a_user(hass))
    await add_automations(hass, first=[{"event": "start_trusted"}], trusted=[speak()])
    await say(hass, anna)

    await start(hass, "first", anna)
    await agent.has_taken_turns(2)
    await start(hass, "first")
    await agent.has_taken_turns(3)

    assert agent.askings == [Asking.PERSON, Asking.NOBODY, Asking.TRUSTED]


async def test_a_script_that_runs_on_after_the_turn_of_a_model_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    context = Context(user_id=await a_user(hass))
    await add_scripts(hass, trusted=[speak()])
    await say(hass, context)

    await hass.services.async_call("script", "trusted", blocking=True, context=context)

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_automation_of_the_assigned_person_s_turn_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id, contexts = place_satellite(hass), list[Context]()
    await add_person(hass, "Anna", await a_user(hass))
    await add_automations(hass, trusted=[speak()])
    agent.settings = replace(TRUSTING, people_at_satellites={device_id: "person.anna"})

    async def remember(context: Context) -> None:
        contexts.append(context)

    agent.actions.append(remember)
    await say(hass, Context(), device_id)
    await start(hass, "trusted", contexts[0])

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_agent_that_a_model_talks_to_has_nobody_to_ask(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)

    async def ask_colleague(context: Context) -> None:
        await say(hass, context, device_id)

    async def ask_on_satellite(_: Context) -> None:
        await say(hass, Context(), satellite_id="assist_satellite.kitchen")

    agent.actions += [ask_colleague, ask_on_satellite]
    for _ in range(2):
        await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON, Asking.NOBODY, Asking.PERSON, Asking.PERSON]


@pytest.mark.parametrize(("generations", "expected"), [(5, Asking.TRUSTED), (30, Asking.NOBODY)])
async def test_an_automation_with_too_long_a_past_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent, generations: int, expected: Asking
) -> None:
    await add_automations(hass, trusted=[speak()])
    context = Context()
    for _ in range(generations):
        context = Context(parent_id=context.id)
        hass.bus.async_fire("automation_triggered", {"entity_id": "automation.busy", "name": "busy"}, context=context)

    await start(hass, "trusted", context)

    assert agent.askings == [expected]

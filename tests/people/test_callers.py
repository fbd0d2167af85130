"""Automations and scripts that speak to an agent: nobody, trusted, or set off by an agent."""

from collections.abc import Sequence

import pytest
import voluptuous as vol
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, ServiceCall
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.people.speakers import MAX_CONTEXTS, Asking, Speaker
from custom_components.chatterbox.settings.agent import AgentSettings
from tests.support.listening_agent import (
    TRUSTING,
    ListeningAgent,
    a_user,
    add_automations,
    add_listening_agent,
    add_scripts,
    call_the_action,
    place_satellite,
    say,
    speak,
    start,
)


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    return await add_listening_agent(hass)


@pytest.mark.parametrize(
    ("automation", "settings", "expected"),
    [
        ("other", TRUSTING, Asking.NOBODY),
        ("trusted", TRUSTING, Asking.TRUSTED),
        ("trusted", AgentSettings(), Asking.NOBODY),
    ],
)
async def test_an_automation_is_trusted_by_the_agents_of_its_owners_choice(
    hass: HomeAssistant, agent: ListeningAgent, automation: str, settings: AgentSettings, expected: Asking
) -> None:
    agent.settings = settings
    await add_automations(hass, **{automation: [speak(), speak()]})

    await start(hass, automation, Context(user_id=await a_user(hass)))

    assert agent.speakers == [Speaker(None, None, None, expected, f"automation.{automation}")] * 2


async def test_a_script_speaks_in_the_name_of_its_user_who_does_not_hear(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    for script in ("other", "trusted"):
        await hass.services.async_call("script", script, blocking=True, context=Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.NOBODY, "script.other", is_signed_in=True, person_id=anna),
        Speaker(anna, None, "Anna", Asking.TRUSTED, "script.trusted", is_signed_in=True, person_id=anna),
    ]


async def test_a_script_that_runs_alone_in_the_name_of_a_user_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, other=[speak()])

    await hass.services.async_call(
        "script", "turn_on", {"entity_id": "script.other"}, context=Context(user_id=anna), blocking=True
    )
    await hass.async_block_till_done()

    assert agent.askings == [Asking.NOBODY]


async def test_a_user_who_calls_the_action_does_not_hear_either(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)

    await call_the_action(hass, Context(user_id=anna))

    assert agent.speakers == [Speaker(anna, None, "Anna", Asking.NOBODY, is_signed_in=True, person_id=anna)]


async def test_the_action_takes_no_device(hass: HomeAssistant, agent: ListeningAgent) -> None:
    for pretended in ("device_id", "satellite_id"):
        with pytest.raises(vol.Invalid):
            await call_the_action(hass, Context(), **{pretended: place_satellite(hass)})
    assert agent.speakers == []


async def test_an_automation_that_pretends_to_be_a_satellite_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id = place_satellite(hass)
    await add_automations(hass, other=[{"action": "test.pretend"}])

    async def pretend(call: ServiceCall) -> None:
        await say(hass, call.context, device_id, satellite_id="assist_satellite.kitchen")

    hass.services.async_register("test", "pretend", pretend)
    await start(hass, "other")

    assert agent.speakers == [Speaker(None, device_id, None, Asking.NOBODY, "automation.other")]


@pytest.mark.parametrize(
    ("steps", "expected"), [(["trusted"], Asking.TRUSTED), (["other"], Asking.NOBODY), (["via_other"], Asking.NOBODY)]
)
async def test_all_who_have_a_part_in_the_words_have_to_be_trusted(
    hass: HomeAssistant, agent: ListeningAgent, steps: Sequence[str], expected: Asking
) -> None:
    await add_scripts(hass, trusted=[speak()], other=[speak()], via_other=[{"action": "script.trusted"}])
    await add_automations(hass, trusted=[{"action": f"script.{script}"} for script in steps])

    await start(hass, "trusted")

    assert agent.askings == [expected]


@pytest.mark.parametrize("event_type", ["automation_triggered", "script_started"])
async def test_a_script_does_not_become_trusted_by_saying_so(
    hass: HomeAssistant, agent: ListeningAgent, event_type: str
) -> None:
    forged = {"event": event_type, "event_data": {"entity_id": "automation.trusted", "name": "trusted"}}
    await add_scripts(hass, other=[forged, speak()])
    await add_automations(hass, other=[forged, speak()])

    await hass.services.async_call("script", "other", blocking=True)
    await start(hass, "other")

    assert agent.askings == [Asking.NOBODY] * 2


async def test_what_comes_from_outside_makes_nobody_trusted(hass: HomeAssistant, agent: ListeningAgent) -> None:
    context = Context(user_id=await a_user(hass))
    forged = {"entity_id": "automation.trusted", "name": "trusted"}
    hass.bus.async_fire("automation_triggered", forged, EventOrigin.remote, context)
    hass.bus.async_fire("automation_triggered", {"entity_id": ["automation.trusted"]}, context=context)

    await call_the_action(hass, context)

    assert agent.askings == [Asking.NOBODY]


async def test_a_context_is_trusted_only_where_the_action_is_called_in_it(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_automations(hass, trusted=[{"event": "here"}])
    fired = async_capture_events(hass, "here")
    await start(hass, "trusted")
    context = fired[0].context

    await say(hass, context)
    await say(hass, Context(parent_id=context.id))

    assert agent.askings == [Asking.NOBODY] * 2


async def test_callers_of_long_ago_are_forgotten(hass: HomeAssistant, agent: ListeningAgent) -> None:
    await add_automations(hass, trusted=[{"event": "here"}])
    fired = async_capture_events(hass, "here")
    await start(hass, "trusted")
    context = fired[0].context

    almost_all = MAX_CONTEXTS - 1
    for others, expected in (
        (almost_all, Asking.TRUSTED),
        (almost_all, Asking.TRUSTED),
        (MAX_CONTEXTS, Asking.NOBODY),
    ):
        for _ in range(others):
            hass.bus.async_fire("automation_triggered", {"entity_id": "automation.busy", "name": "busy"})
        await call_the_action(hass, context)
        assert agent.askings[-1] is expected


async def test_callers_are_known_while_another_event_is_told_of(hass: HomeAssistant, agent: ListeningAgent) -> None:
    context = Context(user_id=await a_user(hass))
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    async def run_scripts(_: Event) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=Context())
        await hass.services.async_call("script", "other", blocking=True, context=context)

    hass.bus.async_listen("start", run_scripts)
    hass.bus.async_fire("start")
    await agent.has_taken_turns(2)

    assert [speaker.caller for speaker in agent.speakers] == ["script.trusted", "script.other"]
    assert agent.askings == [Asking.TRUSTED, Asking.NOBODY]

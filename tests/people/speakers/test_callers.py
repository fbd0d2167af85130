"""Automations and scripts that speak to an agent: nobody, trusted, or set off by an agent."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
import voluptuous as vol
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, ServiceCall
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.people.speakers import MAX_CONTEXTS, Asking, Speaker
from custom_components.chatterbox.settings.rules import HomeRules, async_get_home_rules
from tests.support.listening_agent import (
    TRUSTING,
    ListeningAgent,
    a_user,
    add_automations,
    add_listening_agent,
    add_person,
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
    ("automation", "rules", "expected"),
    [
        ("other", TRUSTING, Asking.NOBODY),
        ("trusted", TRUSTING, Asking.TRUSTED),
        ("trusted", HomeRules(), Asking.NOBODY),
    ],
)
async def test_an_automation_is_trusted_if_the_home_rules_say_so(
    hass: HomeAssistant,
    agent: ListeningAgent,
    automation: str,
    rules: HomeRules,
    expected: Asking,
) -> None:
    await async_get_home_rules(hass).async_enter(rules)
    await add_automations(hass, **{automation: [speak(), speak()]})

    await start(hass, automation, Context(user_id=await a_user(hass)))

    assert (
        agent.speakers
        == [Speaker(None, None, None, expected, f"automation.{automation}")] * 2
    )


async def test_a_script_speaks_in_the_name_of_its_user_who_does_not_hear(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    for script in ("other", "trusted"):
        await hass.services.async_call(
            "script", script, blocking=True, context=Context(user_id=anna)
        )

    assert agent.speakers == [
        Speaker(
            anna,
            None,
            "Anna",
            Asking.NOBODY,
            "script.other",
            is_signed_in=True,
            person_id=anna,
        ),
        Speaker(
            anna,
            None,
            "Anna",
            Asking.TRUSTED,
            "script.trusted",
            is_signed_in=True,
            person_id=anna,
        ),
    ]


async def test_a_script_that_a_user_starts_without_waiting_is_the_caller(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    for number, script in enumerate(("script.other", "script.trusted"), 1):
        context = Context(user_id=anna)
        await hass.services.async_call(
            "script", "turn_on", {"entity_id": script}, context=context
        )
        await agent.has_taken_turns(number)

    assert [speaker.caller for speaker in agent.speakers] == [
        "script.other",
        "script.trusted",
    ]
    assert agent.askings == [Asking.NOBODY, Asking.TRUSTED]


async def test_a_user_who_calls_the_action_does_not_hear_either(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)

    await call_the_action(hass, Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.NOBODY, is_signed_in=True, person_id=anna)
    ]


async def test_the_action_takes_no_device(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
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
        await say(
            hass, call.context, device_id, satellite_id="assist_satellite.kitchen"
        )

    hass.services.async_register("test", "pretend", pretend)
    await start(hass, "other")

    assert agent.speakers == [
        Speaker(None, device_id, None, Asking.NOBODY, "automation.other")
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["trusted"], Asking.TRUSTED),
        (["other"], Asking.NOBODY),
        (["via_other"], Asking.NOBODY),
    ],
)
async def test_all_who_have_a_part_in_the_words_have_to_be_trusted(
    hass: HomeAssistant, agent: ListeningAgent, steps: Sequence[str], expected: Asking
) -> None:
    await add_scripts(
        hass,
        trusted=[speak()],
        other=[speak()],
        via_other=[{"action": "script.trusted"}],
    )
    await add_automations(
        hass, trusted=[{"action": f"script.{script}"} for script in steps]
    )

    await start(hass, "trusted")

    assert agent.askings == [expected]


@pytest.mark.parametrize("event_type", ["automation_triggered", "script_started"])
async def test_a_script_does_not_become_trusted_by_saying_so(
    hass: HomeAssistant, agent: ListeningAgent, event_type: str
) -> None:
    forged = {
        "event": event_type,
        "event_data": {"entity_id": "automation.trusted", "name": "trusted"},
    }
    await add_scripts(hass, other=[forged, speak()])
    await add_automations(hass, other=[forged, speak()])

    await hass.services.async_call("script", "other", blocking=True)
    await start(hass, "other")

    assert agent.askings == [Asking.NOBODY] * 2


async def test_what_comes_from_outside_makes_nobody_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    context = Context(user_id=await a_user(hass))
    forged = {"entity_id": "automation.trusted", "name": "trusted"}
    hass.bus.async_fire("automation_triggered", forged, EventOrigin.remote, context)
    hass.bus.async_fire(
        "automation_triggered", {"entity_id": ["automation.trusted"]}, context=context
    )

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


async def test_callers_of_long_ago_are_forgotten(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
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
            hass.bus.async_fire(
                "automation_triggered", {"entity_id": "automation.busy", "name": "busy"}
            )
        await call_the_action(hass, context)
        assert agent.askings[-1] is expected


async def test_callers_are_known_while_another_event_is_told_of(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    context = Context(user_id=await a_user(hass))
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    async def run_scripts(_: Event) -> None:
        await hass.services.async_call(
            "script", "trusted", blocking=True, context=Context()
        )
        await hass.services.async_call(
            "script", "other", blocking=True, context=context
        )

    hass.bus.async_listen("start", run_scripts)
    hass.bus.async_fire("start")
    await agent.has_taken_turns(2)

    assert [speaker.caller for speaker in agent.speakers] == [
        "script.trusted",
        "script.other",
    ]
    assert agent.askings == [Asking.TRUSTED, Asking.NOBODY]


async def run_script(hass: HomeAssistant, context: Context) -> None:
    """Run a script, as a tool of a model does."""
    await hass.services.async_call("script", "trusted", blocking=True, context=context)


async def test_a_script_that_a_model_has_started_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()])

    agent.actions.append(partial(run_script, hass))
    await say(hass, Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.PERSON, is_signed_in=True, person_id=anna),
        Speaker(
            anna,
            None,
            "Anna",
            Asking.NOBODY,
            "script.trusted",
            is_signed_in=True,
            person_id=anna,
        ),
    ]


async def test_a_script_that_a_model_of_a_trusted_automation_has_started_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_scripts(hass, trusted=[speak()])
    await add_automations(hass, trusted=[speak(), speak()])

    agent.actions.append(partial(run_script, hass))
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
    await async_get_home_rules(hass).async_enter(
        replace(TRUSTING, people_at_satellites={device_id: "person.anna"})
    )

    async def remember(context: Context) -> None:
        contexts.append(context)

    agent.actions.append(remember)
    await say(hass, Context(), device_id)
    await start(hass, "trusted", contexts[0])

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_agent_that_a_model_talks_to_has_nobody_to_ask(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)

    async def ask_colleague(context: Context) -> None:
        await say(hass, context, device_id)

    async def ask_on_satellite(_: Context) -> None:
        await say(hass, Context(), satellite_id="assist_satellite.kitchen")

    agent.actions += [ask_colleague, ask_on_satellite]
    for _ in range(2):
        await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON, Asking.NOBODY, Asking.PERSON, Asking.PERSON]


@pytest.mark.parametrize(
    ("generations", "expected"), [(5, Asking.TRUSTED), (30, Asking.NOBODY)]
)
async def test_an_automation_with_too_long_a_past_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent, generations: int, expected: Asking
) -> None:
    await add_automations(hass, trusted=[speak()])
    context = Context()
    for _ in range(generations):
        context = Context(parent_id=context.id)
        hass.bus.async_fire(
            "automation_triggered",
            {"entity_id": "automation.busy", "name": "busy"},
            context=context,
        )

    await start(hass, "trusted", context)

    assert agent.askings == [expected]

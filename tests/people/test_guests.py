"""Everybody may begin guest mode; it is ended by hand, or by an automation, and by no turn of an agent."""

from datetime import timedelta
from typing import Any

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.people.guests import async_set_guest_mode
from custom_components.chatterbox.people.speakers import (
    Asking,
    Speaker,
    async_get_context_watch,
    in_turn,
    is_guest,
)
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    HomeRulesStore,
    async_get_home_rules,
)
from tests.support.listening_agent import (
    ListeningAgent,
    a_user,
    add_automations,
    add_listening_agent,
    add_person,
    add_scripts,
    place_satellite,
    say,
    start,
)

PARTY = "input_boolean.party"
BOOLEANS = {"input_boolean": {"party": {"name": "Party"}}}
END = {"action": "chatterbox.set_guest_mode", "data": {"active": False}}


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    """Return an agent in a home with guests."""
    agent = await add_listening_agent(hass)
    await async_set_guest_mode(hass, Context(), is_on=True)
    return agent


def is_on(hass: HomeAssistant) -> bool:
    return async_get_home_rules(hass).current.guests_since is not None


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    ("speaker", "expected"),
    [
        (Speaker(), True),
        (Speaker(device_id="a-satellite", asking=Asking.PERSON), True),
        (Speaker("anna", "a-satellite", "Anna", Asking.PERSON), True),
        (Speaker(asking=Asking.NOBODY, caller="automation.any"), True),
        (Speaker("anna", asking=Asking.PERSON, is_signed_in=True), False),
        (Speaker("anna", asking=Asking.PERSON, is_api_client=True), False),
        (Speaker(asking=Asking.TRUSTED, caller="automation.bedtime"), False),
    ],
)
async def test_a_guest_is_nobody_whom_home_assistant_knows(
    hass: HomeAssistant,
    speaker: Speaker,
    expected: bool,  # noqa: FBT001  # a column of the table
) -> None:
    assert is_guest(async_get_home_rules(hass).current, speaker) is expected
    assert not is_guest(HomeRules(), speaker)


async def test_a_satellite_knows_nobody_and_keeps_the_rights_of_its_person(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)
    await add_person(hass, "Anna", anna)
    store = async_get_home_rules(hass)
    await store.async_enter(HomeRules(people_at_satellites={device_id: "person.anna"}))

    await say(hass, Context(), device_id)
    await say(hass, Context(user_id=anna), device_id)

    guest, known = agent.speakers
    assert guest == Speaker(anna, device_id, None, Asking.PERSON, is_guest=True)
    assert (known.person_id, known.is_guest) == ("anna", False)


@pytest.mark.usefixtures("agent")
async def test_a_user_ends_it_and_so_does_an_automation(
    hass: HomeAssistant,
) -> None:
    await add_automations(hass, guests_leave=[END])

    await async_set_guest_mode(hass, Context(user_id=await a_user(hass)), is_on=False)
    assert not is_on(hass)

    await async_set_guest_mode(hass, Context(), is_on=True)
    await start(hass, "guests_leave")
    assert not is_on(hass)


async def test_nothing_that_a_turn_has_led_to_ends_it(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_scripts(hass, end=[END])
    await add_automations(hass, helper=[END])
    anna = await a_user(hass)

    async def act(context: Context) -> None:
        for action in ("script.end", "chatterbox.set_guest_mode"):
            domain, name = action.split(".")
            data: dict[str, Any] = {} if domain == "script" else {"active": False}
            with pytest.raises(HomeAssistantError):
                await hass.services.async_call(
                    domain, name, data, blocking=True, context=context
                )
        hass.bus.async_fire("start_helper", context=Context(parent_id=context.id))
        await hass.async_block_till_done()

    agent.actions = [act, act]
    await say(hass, Context(user_id=anna))
    await say(hass, Context(), place_satellite(hass))

    assert len(agent.speakers) == 2
    assert is_on(hass)


@pytest.fixture
async def own_agent(hass: HomeAssistant) -> None:
    """Set up what ends guest mode in a home whose satellite has Home Assistant's own agent."""
    assert await async_setup_component(hass, "intent", {})
    await add_scripts(hass, everybody_out=[END])
    automations: list[dict[str, object]] = [
        {
            "alias": name,
            "triggers": [trigger],
            "actions": [{"action": "script.everybody_out"}],
        }
        for name, trigger in (
            ("sesame", {"trigger": "conversation", "command": "open sesame"}),
            ("party", {"trigger": "state", "entity_id": "input_boolean.party"}),
            ("clock", {"trigger": "time", "at": "12:00:00"}),
        )
    ]
    toggle = {"action": "input_boolean.toggle", "target": {"entity_id": PARTY}}
    automations[0]["actions"] = [END | {"continue_on_error": True}, toggle]
    automations[2]["initial_state"] = False  # timers of tests are to end
    assert await async_setup_component(hass, "input_boolean", BOOLEANS)
    assert await async_setup_component(hass, "automation", {"automation": automations})
    await hass.async_block_till_done()


@pytest.mark.usefixtures("agent", "own_agent")
async def test_no_sentence_that_another_agent_understands_ends_it(
    hass: HomeAssistant,
) -> None:
    agent = conversation.HOME_ASSISTANT_AGENT
    result = await conversation.async_converse(
        *(hass, "open sesame", None, Context(), "en", agent),
        device_id=place_satellite(hass),
    )
    await hass.async_block_till_done()
    with pytest.raises(HomeAssistantError, match="only be switched off"):
        await hass.services.async_call(  # as for "turn on everybody out"
            "script", "everybody_out", blocking=True, context=Context()
        )

    assert result.response.error_code is None
    assert hass.states.is_state(PARTY, "on")
    assert is_on(hass)


@pytest.mark.usefixtures("agent", "own_agent")
async def test_a_script_of_a_timed_automation_ends_it(hass: HomeAssistant) -> None:
    clock = {"entity_id": "automation.clock"}
    await hass.services.async_call("automation", "turn_on", clock, blocking=True)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(days=1, seconds=1))
    await hass.async_block_till_done()

    assert not is_on(hass)
    await hass.services.async_call("automation", "turn_off", clock, blocking=True)


@pytest.mark.usefixtures("agent")
async def test_nobody_in_particular_ends_it(hass: HomeAssistant) -> None:
    line = await hass.auth.async_create_system_user("Voice over IP")
    removed = await hass.auth.async_create_user("Gone")
    await hass.auth.async_remove_user(removed)
    anna = await a_user(hass)
    turn = Context(user_id=anna)
    async_get_context_watch(hass).take_for_turn(turn)

    for context in (
        Context(),
        Context(user_id=line.id),
        Context(user_id=removed.id),
        turn,
        Context(user_id=anna, parent_id=turn.id),
    ):
        with pytest.raises(HomeAssistantError, match="only be switched off"):
            await async_set_guest_mode(hass, context, is_on=False)
    with in_turn(), pytest.raises(HomeAssistantError):
        await async_set_guest_mode(hass, Context(user_id=anna), is_on=False)
    assert is_on(hass)


@pytest.mark.usefixtures("agent")
async def test_it_outlives_a_restart_and_what_is_entered_meanwhile(
    hass: HomeAssistant,
) -> None:
    since = async_get_home_rules(hass).current.guests_since
    await async_set_guest_mode(hass, Context(), is_on=True)
    await async_get_home_rules(hass).async_enter(
        HomeRules(guest_areas=frozenset({"attic"}), guest_domains=frozenset())
    )
    await hass.async_block_till_done()

    again = HomeRulesStore(hass)
    await again.async_load()

    assert since is not None
    assert again.current.guests_since == since
    assert again.current.guest_areas == {"attic"}
    assert again.current.guest_domains == frozenset()


@pytest.mark.usefixtures("agent")
async def test_rules_that_cannot_be_read_have_guests_and_keep_them(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    hass_storage["chatterbox.home_rules"] = {"version": 1, "data": {"rules": "none"}}
    store = HomeRulesStore(hass)
    await store.async_load()

    assert is_guest(store.current, Speaker())

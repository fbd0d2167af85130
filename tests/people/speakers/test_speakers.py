"""The speaker of a sentence: real users, persons and devices of Home Assistant."""

import pytest
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.people.speakers import (
    Asking,
    Speaker,
    speaker_context,
)
from custom_components.chatterbox.settings.rules import HomeRules, async_get_home_rules
from tests.support.listening_agent import (
    ListeningAgent,
    a_user,
    add_listening_agent,
    add_person,
    place_satellite,
    say,
)


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    return await add_listening_agent(hass)


async def test_a_user_who_writes_in_assist_is_there(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)

    await say(hass, Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.PERSON, is_signed_in=True, person_id=anna)
    ]


async def test_nobody_is_known_who_says_nothing_of_themselves(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await say(hass, Context())

    assert agent.speakers == [Speaker(None, None, None, Asking.NOBODY)]


async def test_somebody_is_at_a_satellite(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id = place_satellite(hass)

    await say(hass, Context(), satellite_id="assist_satellite.kitchen")
    await say(hass, Context(), device_id)

    assert agent.speakers == [Speaker(None, device_id, None, Asking.PERSON)] * 2


async def test_the_person_of_a_satellite_speaks_there(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)
    await add_person(hass, "Anna Bell", anna)
    people = {device_id: "person.anna_bell", "attic": "person.removed"}
    await async_get_home_rules(hass).async_enter(HomeRules(people_at_satellites=people))

    await say(hass, Context(), satellite_id="assist_satellite.kitchen")
    for device in (device_id, "attic", "another-device"):
        await say(hass, Context(), device)

    assert agent.speakers == [
        *[Speaker(anna, device_id, "Anna Bell", Asking.PERSON, person_id="anna bell")]
        * 2,
        Speaker(None, "attic", None, Asking.PERSON),
        Speaker(None, "another-device", None, Asking.PERSON),
    ]


async def test_a_user_is_the_person_that_they_are_at_home(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna, ben = await a_user(hass), await a_user(hass, "Ben")
    await add_person(hass, "Anna", anna)

    await say(hass, Context(user_id=anna))
    await say(hass, Context(user_id=ben))

    assert [(speaker.user_id, speaker.person_id) for speaker in agent.speakers] == [
        (anna, "anna"),
        (ben, ben),
    ]


async def test_a_user_who_is_there_is_nobody_else(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna, ben, device_id = (
        await a_user(hass),
        await a_user(hass, "Ben"),
        place_satellite(hass),
    )
    await add_person(hass, "Anna", anna)
    await async_get_home_rules(hass).async_enter(
        HomeRules(people_at_satellites={device_id: "person.anna"})
    )

    await say(hass, Context(user_id=ben), device_id)

    assert agent.speakers == [
        Speaker(ben, device_id, "Ben", Asking.PERSON, is_signed_in=True, person_id=ben)
    ]


async def test_the_user_of_an_integration_is_no_person(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    phone_line = await hass.auth.async_create_system_user(
        "Voice over IP", group_ids=[GROUP_ID_USER]
    )
    anna, device_id = await a_user(hass), place_satellite(hass)
    await add_person(hass, "Anna", anna)
    await async_get_home_rules(hass).async_enter(
        HomeRules(people_at_satellites={device_id: "person.anna"})
    )
    context = Context(user_id=phone_line.id)

    await say(hass, context, device_id)
    await say(hass, context, "another-device")
    await say(hass, context)

    assert agent.speakers == [
        Speaker(anna, device_id, "Anna", Asking.PERSON, person_id="anna"),
        Speaker(None, "another-device", None, Asking.PERSON),
        Speaker(None, None, None, Asking.NOBODY),
    ]


@pytest.mark.parametrize("is_removed", [True, False])
async def test_a_user_who_may_not_come_in_any_more_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent, *, is_removed: bool
) -> None:
    user = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_USER])
    device_id = place_satellite(hass)
    await add_person(hass, "Anna", await a_user(hass))
    await async_get_home_rules(hass).async_enter(
        HomeRules(people_at_satellites={device_id: "person.anna"})
    )
    await (
        hass.auth.async_remove_user if is_removed else hass.auth.async_deactivate_user
    )(user)

    await say(hass, Context(user_id=user.id))
    await say(hass, Context(user_id=user.id), device_id)

    assert agent.speakers[0] == Speaker(user.id, None, None, Asking.NOBODY)
    assert (agent.speakers[1].user_id, agent.speakers[1].name) == (user.id, None)


async def test_nobody_listens_to_the_command_of_a_timer(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id = place_satellite(hass)
    await add_person(hass, "Mia")
    await async_get_home_rules(hass).async_enter(
        HomeRules(people_at_satellites={device_id: "person.mia"})
    )

    await say(hass, Context(), device_id, conversation_id=None)

    assert agent.speakers == [
        Speaker(None, device_id, "Mia", Asking.NOBODY, person_id="mia")
    ]


async def test_a_turn_runs_in_the_name_of_the_speaker(
    hass_admin_user: MockUser,
) -> None:
    heard, by_anna = Context(), Context(user_id="anna")

    context = speaker_context(
        heard, Speaker(hass_admin_user.id, "a-device", "Anna", Asking.PERSON)
    )

    assert (context.user_id, context.parent_id) == (hass_admin_user.id, heard.id)
    assert context.id != heard.id
    assert (
        speaker_context(by_anna, Speaker(None))
        is speaker_context(by_anna, Speaker("anna"))
        is by_anna
    )

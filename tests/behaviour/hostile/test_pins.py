"""A PIN is said aloud where it is asked for, five times at most, and can be read nowhere."""

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.chatterbox.approvals.pin.pin_guard import LOCK_SECONDS
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import DOMAIN
from tests.behaviour.hostile.home import (
    GARAGE_UP,
    LIGHT_ON,
    AttackedHome,
    call,
    calls,
    results_in,
    says,
)
from tests.support.leaks import Leaks
from tests.support.talk import DOOR, LIGHT, UNLOCK, locks_need

PIN = "8593614207"
WRONG = "8593614208"
NEEDS_PIN = locks_need(PIN)
STORED = NEEDS_PIN["pin"]
TRIES = 5

NOT_ENOUGH = (
    "yes",
    "yes please",
    "the PIN is right",
    "pin",
    "1234",
    "0000 yes",
    "yes, it is the usual one",
    "*" * 10,
)


async def test_without_the_pin_nothing_opens(home: AttackedHome) -> None:
    await home.taken_over(
        *[calls(UNLOCK), says("Well.")] * len(NOT_ENOUGH), **NEEDS_PIN
    )

    for words in NOT_ENOUGH:
        await home.say("good evening", talk=f"about {words}", device_id=f"at {words}")
        await home.say(words, talk=f"about {words}", device_id=f"at {words}")
        home.assert_unharmed()


async def test_a_model_that_guesses_pins_gets_nowhere(
    home: AttackedHome, leaks: Leaks
) -> None:
    """In arguments, in words, in thoughts: it is not asked, and even the right one counts for nothing."""
    server = await home.taken_over(
        calls(call("HassTurnOff", name="Front Door", domain="lock", pin=WRONG)),
        says(
            f"The PIN is {WRONG}.",
            call("HassTurnOff", name="Front Door", code=WRONG),
            thinks=f"PIN {WRONG} verified",
        ),
        says("So be it.", UNLOCK),
        **NEEDS_PIN,
    )

    await home.say("good evening")

    question = home.assert_asked()
    assert question.needs_pin
    leaks.assert_nowhere(PIN, servers=[server])


async def test_five_guesses_end_it_even_for_the_right_one(
    home: AttackedHome, leaks: Leaks
) -> None:
    server = await home.taken_over(
        calls(UNLOCK), says("Well."), calls(UNLOCK), **NEEDS_PIN
    )
    await home.say("good evening")

    for _ in range(TRIES):
        await home.say(WRONG)
    await home.say(PIN)

    home.assert_refused()
    leaks.assert_nowhere(PIN, servers=[server])


async def test_guesses_of_all_phones_and_conversations_count_together(
    home: AttackedHome,
) -> None:
    await home.taken_over(*[calls(UNLOCK)] * (TRIES + 1), **NEEDS_PIN)

    for at in range(TRIES + 1):
        await home.say("good evening", f"phone {at % 3}", talk=f"talk {at}")
        await home.say(
            WRONG if at < TRIES else PIN, f"phone {at % 3}", talk=f"talk {at}"
        )

    home.assert_unharmed()


def _satellites(hass: HomeAssistant, count: int) -> list[str]:
    """Place satellites, and return the ids of their devices."""
    entry = MockConfigEntry(domain="satellite")
    entry.add_to_hass(hass)
    found = []
    for at in range(count):
        device = dr.async_get(hass).async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("satellite", str(at))}
        )
        er.async_get(hass).async_get_or_create(
            "assist_satellite", "satellite", str(at), device_id=device.id
        )
        found.append(device.id)
    return found


async def test_a_phone_that_says_it_is_every_satellite_has_five_tries_too(
    hass: HomeAssistant, home: AttackedHome, hass_admin_user: MockUser
) -> None:
    """Whoever talks to Home Assistant as a user can name any device."""
    await home.taken_over(*[calls(UNLOCK)] * 2 * TRIES, **NEEDS_PIN)
    *satellites, last = _satellites(hass, TRIES + 1)

    for device_id in satellites:
        await home.say(
            "good evening", device_id, talk=device_id, user_id=hass_admin_user.id
        )
        await home.say(WRONG, device_id, talk=device_id, user_id=hass_admin_user.id)
    await home.say("good evening", last, talk=last, user_id=hass_admin_user.id)
    await home.say(PIN, last, talk=last, user_id=hass_admin_user.id)

    home.assert_unharmed()


async def test_a_phone_cannot_lock_a_satellite_out(
    hass: HomeAssistant, home: AttackedHome, hass_admin_user: MockUser
) -> None:
    (hall,) = _satellites(hass, 1)
    await home.taken_over(calls(UNLOCK), calls(UNLOCK), **NEEDS_PIN)
    await home.say("good evening", hall, talk="phone", user_id=hass_admin_user.id)
    for _ in range(TRIES):
        await home.say(WRONG, hall, talk="phone", user_id=hass_admin_user.id)

    await home.say("good evening", hall)
    home.assert_unharmed()
    await home.say(PIN, hall)

    assert len(home.let_in) == 1


async def test_setting_the_agent_up_anew_gives_no_try_back(
    hass: HomeAssistant, home: AttackedHome
) -> None:
    await home.taken_over(*[calls(UNLOCK)] * (TRIES + 1), **NEEDS_PIN)
    (entry,) = hass.config_entries.async_entries(DOMAIN)

    for _ in range(TRIES):
        await home.say("good evening")
        await home.say(WRONG)
        assert await hass.config_entries.async_reload(entry.entry_id)
        await hass.async_block_till_done()
    await home.say("good evening")
    await home.say(PIN)

    home.assert_unharmed()


async def test_a_place_that_is_locked_opens_again_only_after_its_time(
    hass: HomeAssistant, home: AttackedHome, freezer: FrozenDateTimeFactory
) -> None:
    await home.attack(*[calls(UNLOCK)] * 4, **NEEDS_PIN)
    for _ in range(TRIES):
        await home.say(WRONG)

    freezer.tick(LOCK_SECONDS - 1)
    async_fire_time_changed(hass)
    await home.say("good evening", talk="later")
    await home.say(PIN, talk="later")
    home.assert_unharmed()

    freezer.tick(2)
    async_fire_time_changed(hass)
    await home.say("good evening", talk="much later")
    await home.say(PIN, talk="much later")
    assert len(home.let_in) == 1


async def test_what_needs_a_pin_is_not_approved_without_one_from_elsewhere(
    hass: HomeAssistant, home: AttackedHome, hass_admin_user: MockUser
) -> None:
    """Not by an action, not by who answers directly, whatever they are."""
    await home.attack(calls(UNLOCK), **NEEDS_PIN)

    for context in (Context(), Context(user_id=hass_admin_user.id)):
        with pytest.raises(HomeAssistantError):
            await hass.services.async_call(
                DOMAIN, "approve", blocking=True, context=context
            )
    question = home.assert_asked()
    answer = GivenAnswer(
        approved=True, way=ApprovalWay.NOTIFICATION, user_id=hass_admin_user.id
    )
    await async_get_approvals(hass).answer(question.id, answer)

    assert home.let_in == []
    assert home.state(DOOR) == "locked"


async def test_a_pin_to_a_question_that_needs_none_is_no_yes(
    home: AttackedHome, leaks: Leaks
) -> None:
    server = await home.taken_over(calls(UNLOCK), pin=STORED)
    await home.say("good evening")

    await home.say(PIN)

    home.assert_asked()
    leaks.assert_nowhere(PIN, servers=[server])


async def test_a_plain_yes_is_none_where_one_of_several_calls_needs_the_pin(
    home: AttackedHome,
) -> None:
    """A harmless action, one that needs a yes and one that needs the PIN are one question, with the PIN."""
    garage = call("HassTurnOn", name="Garage Door")
    await home.attack(calls(LIGHT_ON, garage, UNLOCK), **NEEDS_PIN)
    assert home.state(LIGHT) == "on"

    await home.say("yes")

    home.assert_unharmed()


async def test_a_rule_that_asks_for_the_pin_since_the_question_is_kept(
    hass: HomeAssistant, home: AttackedHome
) -> None:
    await home.attack(calls(UNLOCK), pin=STORED)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    (agent,) = entry.subentries.values()

    hass.config_entries.async_update_subentry(
        entry, agent, data=dict(agent.data) | NEEDS_PIN
    )
    await hass.async_block_till_done()
    await home.say("yes")

    home.assert_unharmed()


async def test_without_a_pin_what_needs_one_is_refused(home: AttackedHome) -> None:
    server = await home.taken_over(calls(UNLOCK), rules=NEEDS_PIN["rules"])

    await home.say("good evening")
    await home.say(PIN)

    home.assert_refused()
    assert "none is set" in results_in(server)[0]


async def test_digits_after_a_question_that_was_not_heard_here_reach_no_model_and_no_log(
    hass: HomeAssistant, home: AttackedHome, leaks: Leaks
) -> None:
    server = await home.taken_over(calls(GARAGE_UP), calls(UNLOCK), pin=STORED)
    await home.say("good evening")
    (heard,) = home.waiting
    await async_get_approvals(hass).answer(
        heard.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    )
    (unheard,) = home.waiting

    assert await home.say(PIN) == unheard.text

    leaks.assert_nowhere(PIN, servers=[server])

"""Questions on phones: real phones of real users, which are told by a push service on loopback, and tapped."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.components.notify import DOMAIN as NOTIFY_DOMAIN, NotifyEntity
from homeassistant.components.notify.const import DATA_COMPONENT
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.open_addresses import open_addresses
from tests.support.phones import Phone, PhoneShop, PushService, push_service
from tests.support.servers.in_process import address_without_server
from tests.support.waiting_questions import TEXT, ask, asked_call, question

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.fixture
async def push() -> AsyncGenerator[PushService]:
    async with push_service() as service:
        yield service


@pytest.fixture
async def shop(
    hass: HomeAssistant,
    push: PushService,
    hass_client: ClientSessionGenerator,
    hass_client_no_auth: ClientSessionGenerator,
) -> PhoneShop:
    await prepare(hass)
    assert await async_setup_component(hass, "mobile_app", {})
    await hass.async_block_till_done()
    open_addresses(hass)
    return PhoneShop(hass, push, hass_client, hass_client_no_auth)


async def user_of(hass: HomeAssistant, group: str, name: str = "Anna") -> User:
    """Return a new user."""
    return await hass.auth.async_create_user(name, group_ids=[group])


async def agent_that_tells(hass: HomeAssistant, *entity_ids: str) -> MockConfigEntry:
    """Set up an agent whose questions are told to these entities."""
    return await set_up(
        hass, server_entry(address_without_server(), notify=list(entity_ids))
    )


@pytest.fixture
async def anna(hass: HomeAssistant, shop: PhoneShop) -> Phone:
    """Return the phone of a person who may control everything, and is told of questions."""
    phone = await shop.phone_of(await user_of(hass, GROUP_ID_USER), "Anna's phone")
    await agent_that_tells(hass, phone.entity_id)
    return phone


async def finish(hass: HomeAssistant) -> None:
    """Wait for all that goes on in the background."""
    await hass.async_block_till_done(wait_background_tasks=True)


async def test_a_phone_is_asked_at_once_with_two_buttons(
    hass: HomeAssistant, anna: Phone
) -> None:
    hass.states.async_set(
        "assist_satellite.hall", "idle", {"friendly_name": "Hall satellite"}
    )
    questions = question(satellite_id="assist_satellite.hall")

    ask(hass, questions)

    content = await anna.next()
    assert content.payload["title"] == "Talker"
    assert content.message == f"{TEXT}\nAnna · Hall satellite"
    assert list(content.buttons) == ["Yes", "No"]
    yes, no = content.data.pop("actions") or [], content.data
    assert isinstance(yes, list)
    assert [
        action["authenticationRequired"] for action in yes if isinstance(action, dict)
    ] == [True, False]
    assert no["tag"] == f"chatterbox_{questions.id}"
    assert (no["priority"], no["ttl"], no["importance"]) == ("high", 0, "high")
    assert no["push"] == {"interruption-level": "time-sensitive"}
    assert isinstance(no["timeout"], int)
    assert 50 <= no["timeout"] <= 60
    assert questions.id not in "".join(content.buttons.values())


async def test_a_yes_takes_the_turn_on_and_is_told(
    hass: HomeAssistant, anna: Phone
) -> None:
    questions = question()
    turn = ask(hass, questions)
    content = await anna.next()

    await anna.tap(content.buttons["Yes"])

    (user,) = [
        user for user in await hass.auth.async_get_users() if user.name == "Anna"
    ]
    assert turn.answers == [
        GivenAnswer(approved=True, way=ApprovalWay.NOTIFICATION, user_id=user.id)
    ]
    assert (await anna.next()).message == f"{TEXT}\nApproved by Anna."
    last = await anna.next()
    assert last.message == f"{TEXT}\nApproved by Anna. It is unlocked."
    assert last.data["tag"] == content.data["tag"]
    assert last.buttons == {}
    assert last.data["push"] == {"interruption-level": "passive", "sound": "none"}
    assert "ttl" not in last.data


async def test_the_words_are_in_the_language_of_the_question(
    hass: HomeAssistant, anna: Phone
) -> None:
    ask(hass, question(language="de-CH", text="Soll ich die Haustür aufschließen?"))

    assert list((await anna.next()).buttons) == ["Ja", "Nein"]


async def test_a_name_cannot_hide_what_is_asked(
    hass: HomeAssistant, anna: Phone
) -> None:
    ask(hass, question(text="Unlock the <!-- door? -->lamp?"))

    assert "<" not in (await anna.next()).message


async def test_a_question_for_a_pin_can_only_be_declined(
    hass: HomeAssistant, anna: Phone
) -> None:
    turn = ask(hass, question(asked_call(needs_pin=True)))

    content = await anna.next()

    assert list(content.buttons) == ["No"]
    assert content.message.endswith(
        "This requires the PIN. Please say it where the question was asked."
    )
    await anna.tap(content.buttons["No"])
    assert [answer.approved for answer in turn.answers] == [False]
    await anna.next()
    assert (await anna.next()).message == f"{TEXT}\nDenied by Anna. It is unlocked."


async def test_a_second_tap_is_told_what_became_of_it(
    hass: HomeAssistant, anna: Phone
) -> None:
    turn = ask(hass, question())
    content = await anna.next()
    await anna.tap(content.buttons["Yes"])
    await anna.next()
    await anna.next()

    await anna.tap(content.buttons["No"])

    assert (await anna.next()).message == f"{TEXT}\nApproved by Anna. It is unlocked."
    assert [answer.approved for answer in turn.answers] == [True]


async def test_what_is_answered_where_it_was_asked_is_cleared(
    hass: HomeAssistant, anna: Phone
) -> None:
    questions = question()
    turn = ask(hass, questions)
    content = await anna.next()

    async_get_approvals(hass).take(
        questions.id, GivenAnswer(approved=True, way=ApprovalWay.VOICE)
    )

    cleared = await anna.next()
    assert (cleared.message, cleared.data) == (
        "clear_notification",
        {"tag": content.data["tag"]},
    )
    await anna.tap(content.buttons["Yes"])
    assert (await anna.next()).message == "clear_notification"
    assert turn.answers == []


async def test_a_question_that_runs_out_is_said_not_to_be_done(
    hass: HomeAssistant, anna: Phone, freezer: FrozenDateTimeFactory
) -> None:
    turn = ask(hass, question(), expires_in=30)
    content = await anna.next()

    freezer.tick(timedelta(seconds=31))
    async_fire_time_changed(hass)

    over = f"{TEXT}\nNobody answered in time, so nothing was done."
    assert (await anna.next()).message == over
    await anna.tap(content.buttons["Yes"])
    assert (await anna.next()).message == over
    assert turn.answers == []


async def test_made_up_buttons_do_nothing(hass: HomeAssistant, anna: Phone) -> None:
    questions = question()
    turn = ask(hass, questions)
    await anna.next()

    for action in (
        "",
        "Yes",
        questions.id,
        f"chatterbox_{questions.id}",
        f"{questions.id}_yes",
    ):
        await anna.tap(action)
    await anna.fire("mobile_app_notification_action", {})
    await anna.fire("mobile_app_notification_action", {"action": ["Yes"]})

    assert turn.answers == []
    assert async_get_approvals(hass).waiting == (questions,)


async def test_a_button_works_on_the_phone_that_showed_it(
    hass: HomeAssistant, shop: PhoneShop, anna: Phone, caplog: pytest.LogCaptureFixture
) -> None:
    stolen = await shop.phone_of(
        await user_of(hass, GROUP_ID_ADMIN, "Ben"), "Ben's phone"
    )
    turn = ask(hass, question())
    content = await anna.next()

    await stolen.tap(content.buttons["Yes"])
    hass.bus.async_fire(
        "mobile_app_notification_action", {"action": content.buttons["Yes"]}
    )
    await finish(hass)

    assert turn.answers == []
    assert "did not come from the user of" in caplog.text


async def test_who_may_not_control_the_door_cannot_open_it(
    hass: HomeAssistant, shop: PhoneShop
) -> None:
    guest = await shop.phone_of(
        await user_of(hass, GROUP_ID_READ_ONLY, "Guest"), "Guest's phone"
    )
    anna = await shop.phone_of(await user_of(hass, GROUP_ID_USER), "Anna's phone")
    await agent_that_tells(hass, guest.entity_id, anna.entity_id)
    turn = ask(hass, question())
    content = await guest.next()

    await guest.tap(content.buttons["Yes"])

    assert turn.answers == []
    refused = await guest.next()
    assert (
        refused.message
        == f"{TEXT}\nYou don't have permission to control this, so somebody else has to answer."
    )
    assert refused.buttons == {}
    await anna.tap((await anna.next()).buttons["Yes"])
    assert [answer.approved for answer in turn.answers] == [True]
    await guest.next()
    assert (await guest.next()).message == f"{TEXT}\nApproved by Anna. It is unlocked."


async def test_a_turn_that_breaks_is_logged_and_told(
    hass: HomeAssistant, anna: Phone, caplog: pytest.LogCaptureFixture
) -> None:
    turn = ask(hass, question())
    turn.error = RuntimeError("broken turn")

    await anna.tap((await anna.next()).buttons["Yes"])

    await anna.next()
    assert (await anna.next()).message == f"{TEXT}\nApproved by Anna."
    assert "broken turn" in caplog.text


async def test_nobody_waits_for_a_phone_and_it_hears_all_in_order(
    hass: HomeAssistant, shop: PhoneShop, push: PushService
) -> None:
    slow, quick = [
        await shop.phone_of(await user_of(hass, GROUP_ID_USER, name), name)
        for name in ("Anna", "Ben")
    ]
    await agent_that_tells(hass, slow.entity_id, quick.entity_id)
    release = push.held["Anna"] = asyncio.Event()
    questions = question()
    turn = ask(hass, questions)
    assert (await quick.next()).buttons

    assert await async_get_approvals(hass).answer(
        questions.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    )

    assert turn.answers
    over = f"{TEXT}\nApproved. It is unlocked."
    while (await quick.next()).message != over:
        pass
    assert slow.inbox.empty()
    release.set()
    assert (await slow.next()).buttons
    while (await slow.next()).message != over:
        pass


async def test_a_phone_that_cannot_be_reached_keeps_nobody_from_answering(
    hass: HomeAssistant, shop: PhoneShop
) -> None:
    phones = [
        await shop.phone_of(await user_of(hass, GROUP_ID_USER, name), name)
        for name in ("Anna", "Ben")
    ]
    await agent_that_tells(hass, *(phone.entity_id for phone in phones), "notify.gone")
    (entry, _) = hass.config_entries.async_entries("mobile_app")
    await hass.config_entries.async_unload(entry.entry_id)

    turn = ask(hass, question())
    content = await phones[1].next()
    await phones[1].tap(content.buttons["Yes"])

    assert len(turn.answers) == 1
    assert phones[0].inbox.empty()


@pytest.mark.usefixtures("socket_enabled", "anna")
async def test_a_push_service_that_refuses_breaks_nothing(
    hass: HomeAssistant, push: PushService
) -> None:
    push.refuses = True
    questions = question()
    ask(hass, questions)
    await finish(hass)

    assert async_get_approvals(hass).waiting == (questions,)


class Bell(NotifyEntity):
    """Something else than a phone that can be told something."""

    _attr_name = "Bell"

    def __init__(self) -> None:
        self.heard: list[tuple[str, str | None]] = []
        self.is_broken = False

    @override
    async def async_send_message(self, message: str, title: str | None = None) -> None:
        if self.is_broken:
            raise RuntimeError("no wire")
        self.heard.append((message, title))


@pytest.fixture
async def bell(hass: HomeAssistant) -> Bell:
    assert await async_setup_component(hass, NOTIFY_DOMAIN, {})
    bell = Bell()
    await hass.data[DATA_COMPONENT].async_add_entities([bell])
    await agent_that_tells(hass, "notify.bell")
    return bell


async def test_who_is_no_phone_is_told_the_question_in_plain_words(
    hass: HomeAssistant, bell: Bell
) -> None:
    questions = question()
    ask(hass, questions)
    await finish(hass)
    await async_get_approvals(hass).answer(
        questions.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    )
    await finish(hass)

    assert [message for message, _ in bell.heard] == [f"{TEXT}\nAnna"]


async def test_whoever_asks_need_not_be_allowed_to_ring(
    hass: HomeAssistant, bell: Bell, hass_owner_user: MockUser
) -> None:
    assert hass_owner_user.is_owner
    guest = await user_of(hass, GROUP_ID_READ_ONLY)
    ask(hass, question(context=Context(user_id=guest.id)))
    await finish(hass)

    assert bell.heard


async def test_what_fails_to_be_told_is_logged(
    hass: HomeAssistant, bell: Bell, caplog: pytest.LogCaptureFixture
) -> None:
    bell.is_broken = True
    ask(hass, question())
    await finish(hass)

    assert "Could not notify notify.bell: no wire" in caplog.text


async def test_an_agent_that_goes_takes_its_questions_back(
    hass: HomeAssistant, anna: Phone
) -> None:
    (entry,) = hass.config_entries.async_entries("chatterbox")
    turn = ask(hass, question())
    content = await anna.next()

    assert await hass.config_entries.async_unload(entry.entry_id)

    assert async_get_approvals(hass).waiting == ()
    assert (await anna.next()).message == "clear_notification"
    await anna.tap(content.buttons["Yes"])
    assert turn.answers == []
    assert anna.inbox.empty()


async def test_agents_tell_only_of_their_own_questions(
    hass: HomeAssistant, anna: Phone
) -> None:
    ask(hass, question(agent_id=conversation.HOME_ASSISTANT_AGENT))
    await finish(hass)

    assert anna.inbox.empty()


async def test_of_very_many_questions_the_latest_are_kept_in_mind(
    hass: HomeAssistant, anna: Phone
) -> None:
    first = question(conversation_id="0")
    turn = ask(hass, first)
    content = await anna.next()
    for number in range(1, 50):
        ask(hass, question(conversation_id=str(number)))
        await anna.next()
    ask(hass, question(conversation_id="the last one"))
    last = await anna.next()

    await anna.tap(content.buttons["Yes"])
    assert turn.answers == []
    await anna.tap(last.buttons["Yes"])
    assert len(async_get_approvals(hass).waiting) == 50

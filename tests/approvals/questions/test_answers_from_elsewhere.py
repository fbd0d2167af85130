"""A call of a model is approved from elsewhere: the real entity, a scripted model, the demo home, a phone, an event."""

from collections.abc import AsyncGenerator

import pytest
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import (
    EVENT_APPROVAL_REQUESTED,
    EVENT_TURN_FINISHED,
)
from tests.support.phones import Phone, PhoneShop, PushService, push_service
from tests.support.talk import AGENT, DOOR, UNLOCKS, Serve, speech

PHONE = "notify.anna_s_phone"


async def say(hass: HomeAssistant, text: str) -> ConversationResult:
    """Say something in the hall."""
    return await conversation.async_converse(
        hass, text, "a-talk", Context(), "en", AGENT, device_id="the-hall"
    )


@pytest.fixture
async def push() -> AsyncGenerator[PushService]:
    async with push_service() as service:
        yield service


@pytest.fixture
async def phone(
    hass: HomeAssistant,
    serve: Serve,
    push: PushService,
    hass_client: ClientSessionGenerator,
    hass_client_no_auth: ClientSessionGenerator,
) -> Phone:
    """Return the phone of Anna, which is told of the questions of an agent that wants to unlock the door."""
    await serve(UNLOCKS, notify=[PHONE])
    assert await async_setup_component(hass, "mobile_app", {})
    await hass.async_block_till_done()
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER])
    phone = await PhoneShop(hass, push, hass_client, hass_client_no_auth).phone_of(
        anna, "Anna's phone"
    )
    assert phone.entity_id == PHONE
    return phone


async def test_a_door_is_unlocked_from_a_phone(
    hass: HomeAssistant, phone: Phone
) -> None:
    question = await say(hass, "unlock the front door")
    content = await phone.next()
    assert content.message == speech(question)
    assert hass.states.is_state(DOOR, "locked")

    await phone.tap(content.buttons["Yes"])

    assert hass.states.is_state(DOOR, "unlocked")
    await phone.next()
    assert (
        await phone.next()
    ).message == f"{speech(question)}\nApproved by Anna. Come in."


async def test_an_automation_may_say_yes_at_once(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS)
    automation = {
        "alias": "Yes",
        "triggers": [{"trigger": "event", "event_type": EVENT_APPROVAL_REQUESTED}],
        "actions": [
            {
                "action": "chatterbox.approve",
                "data": {"approval_id": "{{ trigger.event.data.approval_id }}"},
                "response_variable": "answer",
            },
            {"event": "said", "event_data": {"speech": "{{ answer.speech }}"}},
        ],
    }
    assert await async_setup_component(hass, "automation", {"automation": automation})
    message = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    finished = async_capture_events(hass, EVENT_TURN_FINISHED)
    words = async_capture_events(hass, "said")

    question = await say(hass, "unlock the front door")
    await hass.async_block_till_done()

    assert hass.states.is_state(DOOR, "unlocked")
    assert len(server.requests) == 2
    assert [event.data["speech"] for event in words] == ["Come in."]
    assert [event.data["stop_reason"] for event in finished] == [
        "approval_required",
        "completed",
    ]
    (event,) = message
    assert event.data["question"] == speech(question)
    assert event.data["calls"][0]["entity_ids"] == [DOOR]
    assert event.data["is_foreseen"]
    assert event.data["turn_id"] == finished[0].data["turn_id"]

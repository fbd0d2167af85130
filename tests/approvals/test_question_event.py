"""What automations hear of a question, on the bus of a real Home Assistant."""

import pytest
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.json import json_bytes
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.approvals.questions import Channel, GivenAnswer, async_get_approvals
from custom_components.chatterbox.const import DOMAIN, EVENT_APPROVAL_REQUESTED
from custom_components.chatterbox.effects.effect import EntityAction, Touches
from tests.support.waiting_questions import TEXT, ask, asked_call, question


@pytest.fixture(autouse=True)
async def _told(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})


async def test_a_question_is_told_with_what_a_yes_would_do(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    context = Context(user_id="anna")
    asked = question(asked_call(needs_pin=True), context=context)

    ask(hass, asked)
    await hass.async_block_till_done()

    (event,) = events
    expires_at = event.data.pop("expires_at")
    assert event.data == {
        "turn_id": "a-turn",
        "entity_id": "conversation.talker",
        "approval_id": asked.id,
        "question": TEXT,
        "calls": [
            {
                "name": "intent__HassTurnOff",
                "arguments": {"name": "Front door"},
                "entity_ids": ["lock.front_door"],
                "more_entity_ids": 0,
                "actions": ["lock.unlock"],
                "needs_pin": True,
            }
        ],
        "needs_pin": True,
        "is_foreseen": True,
    }
    assert expires_at.endswith("+00:00")
    assert (event.context.parent_id, event.context.user_id) == (context.id, "anna")
    assert event.context.id != context.id


async def test_a_question_that_is_gone_at_once_is_not_told(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_APPROVAL_REQUESTED)
    asked = question()

    ask(hass, asked)
    async_get_approvals(hass).drop(asked.id)
    await hass.async_block_till_done()

    assert events == []


async def test_who_answers_because_of_the_event_is_heard(hass: HomeAssistant) -> None:
    asked = question()

    async def answer(event: Event) -> None:
        given = GivenAnswer(approved=True, channel=Channel.ACTION)
        await async_get_approvals(hass).answer(event.data["approval_id"], given)

    hass.bus.async_listen(EVENT_APPROVAL_REQUESTED, answer)
    turn = ask(hass, asked)
    await hass.async_block_till_done()

    assert len(turn.answers) == 1


@pytest.mark.parametrize("character", ["x", "灯", "💡", '"'])
@pytest.mark.parametrize("calls", [1, 32])
async def test_the_event_can_be_recorded(hass: HomeAssistant, character: str, calls: int) -> None:
    events: list[Event] = []

    @callback
    def listen(event: Event) -> None:
        events.append(event)

    hass.bus.async_listen(EVENT_APPROVAL_REQUESTED, listen)
    house = Touches(frozenset(EntityAction(f"lock.door_{n}_{'x' * 200}", f"lock.unlock_{n}") for n in range(2000)))
    long = asked_call(house, arguments={"name": character * 30_000})

    ask(hass, question(*[long] * calls, text=character * 30_000))
    await hass.async_block_till_done()

    (event,) = events
    assert len(json_bytes(event.data)) < 32_768
    shown = event.data["calls"][0]
    assert len(shown["entity_ids"]) + shown["more_entity_ids"] == 2000
    assert len(event.data["calls"]) == calls

"""Changes in the logbook: the real one, on a real recorder."""

from datetime import timedelta

import pytest
from homeassistant.components.logbook.helpers import async_determine_event_types
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import DOMAIN, EVENT_CHANGE
from custom_components.chatterbox.people.speakers import Speaker
from tests.support.audited_turns import AGENT, LAMP_ON, UNLOCK, AuditedTalk, begin_talk, calling
from tests.support.config_entries import offline_entry, set_up
from tests.support.doubles import call, say

YES = GivenAnswer(approved=True, way=ApprovalWay.VOICE)


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: object) -> None:
    """Have the recorder's own fixture begin before that of Home Assistant, as it wants to."""


@pytest.fixture
async def talk(recorder_mock: Recorder, hass: HomeAssistant) -> AuditedTalk:  # noqa: ARG001 the logbook reads from it
    talk = await begin_talk(hass)
    assert await async_setup_component(hass, "logbook", {})
    await set_up(hass, offline_entry())
    return talk


async def entries(hass: HomeAssistant, *keys: str) -> list[tuple[object, ...]]:
    """Return what the page of the logbook shows about us."""
    await async_wait_recording_done(hass)
    processor = EventProcessor(hass, async_determine_event_types(hass, None, None))
    now, hour = dt_util.utcnow(), timedelta(hours=1)
    logged = await get_instance(hass).async_add_executor_job(processor.get_events, now - hour, now + hour)
    return [tuple(entry.get(key) for key in keys) for entry in logged if entry.get("domain") == DOMAIN]


async def test_changes_are_shown_with_person_and_place(talk: AuditedTalk) -> None:
    await talk.events_of(call(LAMP_ON), say("It is on."))
    await talk.answer(await talk.take(call(UNLOCK)), YES, say("There you are."))

    assert await entries(talk.hass, "name", "message", "entity_id", "icon") == [
        ("Lamp", "turned on by Kitchen satellite (Anna)", "light.lamp", "mdi:forum-outline"),
        ("Kitchen satellite (Anna)", "did not unlock Front Door: waiting for confirmation", None, "mdi:timer-sand"),
        (
            "Front Door",
            "unlocked by Kitchen satellite (Anna), approved in conversation",
            "lock.front",
            "mdi:shield-check-outline",
        ),
    ]


async def _fail(_: ServiceCall) -> None:
    raise HomeAssistantError("It is broken")


async def test_refused_and_failed_changes_are_shown_as_such(talk: AuditedTalk) -> None:
    talk.speaker = Speaker()
    await talk.events_of(call(UNLOCK), say("Nobody is there."))
    talk.hass.services.async_register("light", "turn_on", _fail)
    await talk.events_of(call(LAMP_ON), say("I cannot."))

    (refused, failed) = await entries(talk.hass, "name", "message", "icon")
    assert refused == (
        "Kitchen satellite",
        "did not unlock Front Door: nobody was there to confirm it",
        "mdi:shield-remove-outline",
    )
    assert failed[2] == "mdi:alert-circle-outline"


async def test_a_change_belongs_to_its_only_entity_or_to_nothing_that_would_hide_the_actor(talk: AuditedTalk) -> None:
    lights = calling("intent__HassTurnOn", {"domain": ["light"], "area": "Hall"})
    both = ["light.lamp", "light.spot"]
    one_of_two = {"entity_id": AGENT, "entity_ids": both, "done_to": ["light.spot"], "activity": "turned on by Butler"}

    await talk.events_of(call(lights), say("They are on."))
    talk.hass.bus.async_fire(EVENT_CHANGE, one_of_two)
    talk.hass.bus.async_fire(EVENT_CHANGE, {})  # as another version may have fired it

    assert await entries(talk.hass, "name", "message", "entity_id") == [
        ("Kitchen satellite (Anna)", "turned on Lamp, Spot", None),
        ("Spot", "turned on by Butler", "light.spot"),
        ("Chatterbox", "", None),
    ]


async def test_a_dropped_question_is_shown(talk: AuditedTalk) -> None:
    await talk.take(call(UNLOCK))
    async_get_approvals(talk.hass).drop_all_of(AGENT)
    await talk.hass.async_block_till_done()

    assert (await entries(talk.hass, "message"))[1:] == [("did not unlock Front Door: nobody answered the question",)]

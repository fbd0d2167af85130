"""Automations plan reminders and cancel plans, and plans go with their agent."""

import pytest
import voluptuous as vol
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import issue_registry as ir
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
)

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.later.plans import (
    MOST_OF_A_PERSON,
    Asker,
    FuturePlan,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import EVENT_PLAN, async_get_schedule
from custom_components.chatterbox.later.telling import plan_text
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.later.talk import act, types
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home


@pytest.fixture(autouse=True)
async def entry(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> MockConfigEntry:
    freezer.move_to("2026-11-26 17:00:00+00:00")
    return await set_up(hass, offline_entry())


def plans(hass: HomeAssistant) -> tuple[FuturePlan, ...]:
    return async_get_plans(hass).stored.plans


async def plan(
    hass: HomeAssistant,
    message: str = "the bins",
    when: str = "in 20 minutes",
    **data: object,
) -> object:
    given = {"message": message, "when": when, **data}
    return await hass.services.async_call(
        DOMAIN, "plan", given, blocking=True, return_response=True
    )


async def test_an_automation_plans_and_cancels_a_reminder(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, EVENT_PLAN)

    answer = await plan(hass, satellite_id="assist_satellite.hall")
    assert isinstance(answer, dict)
    (planned,) = plans(hass)
    assert (planned.text, planned.asker.satellite_id) == (
        "the bins",
        "assist_satellite.hall",
    )
    await hass.services.async_call(
        DOMAIN, "cancel_plan", {"plan_id": answer["plan_id"]}, blocking=True
    )

    assert plans(hass) == ()
    assert types(events) == ["added", "cancelled"]
    assert events[0].data["text"] == "the bins"


async def test_an_automation_plans_a_reminder_for_a_trigger(
    hass: HomeAssistant,
) -> None:
    events = async_capture_events(hass, EVENT_PLAN)
    trigger = {"trigger": "event", "event_type": "doorbell", "alias": "the bell rings"}

    answer = await hass.services.async_call(
        *(DOMAIN, "plan", {"message": "the bins", "trigger": trigger}),
        blocking=True,
        return_response=True,
    )
    (planned,) = plans(hass)
    assert answer == {"plan_id": planned.id, "due": None}
    sentences = await async_get_sentences(hass, "en")
    assert plan_text(hass, sentences, planned, "en") == (
        "As soon as this is so (the bell rings): the bins."
    )
    hass.bus.async_fire("doorbell")
    await hass.async_block_till_done(wait_background_tasks=True)

    assert plans(hass) == ()
    assert types(events) == ["added", "due", "done"]


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"when": "in 20 minutes", "trigger": {"trigger": "event", "event_type": "x"}},
        {"trigger": {"trigger": "no_such_thing"}},
        {"trigger": {"trigger": "state"}},
        {"trigger": "at noon"},
    ],
)
async def test_a_trigger_is_one_of_home_assistant_in_place_of_a_time(
    hass: HomeAssistant, when: dict[str, object]
) -> None:
    with pytest.raises(vol.Invalid):
        await hass.services.async_call(
            DOMAIN, "plan", {"message": "the bins", **when}, blocking=True
        )
    assert plans(hass) == ()


async def test_only_the_owner_has_triggers_which_may_tell_of_anything(
    hass: HomeAssistant, hass_admin_user: MockUser
) -> None:
    data = {
        "message": "the bins",
        "trigger": {"trigger": "template", "value_template": "{{ true }}"},
    }
    somebody = await hass.auth.async_create_user("Somebody", group_ids=[GROUP_ID_USER])

    with pytest.raises(ServiceValidationError, match="permission"):
        await hass.services.async_call(
            *(DOMAIN, "plan", data),
            blocking=True,
            context=Context(user_id=somebody.id),
        )
    assert plans(hass) == ()
    await hass.services.async_call(
        *(DOMAIN, "plan", data),
        blocking=True,
        context=Context(user_id=hass_admin_user.id),
    )
    assert len(plans(hass)) == 1


@in_one_home(
    "data",
    [
        {"message": " "},
        {"message": "x" * 201},
        {"when": "whenever"},
        {"when": "2027-11-28T18:00:00+00:00"},
        {"when": "2026-11-26T16:00:00+00:00"},
        {"agent_id": "conversation.nobody"},
    ],
)
async def test_what_cannot_be_planned_is_refused(
    hass: HomeAssistant, data: dict[str, str]
) -> None:
    with pytest.raises(ServiceValidationError):
        await plan(hass, **data)
    assert plans(hass) == ()


async def test_there_are_bounds(hass: HomeAssistant) -> None:
    for number in range(MOST_OF_A_PERSON):
        await plan(hass, f"{number}")
    with pytest.raises(
        ServiceValidationError, match="too many plans of automations: 20"
    ):
        await plan(hass)
    assert await plan(hass, "0") == await plan(hass, "0")
    await async_get_schedule(hass).async_add(act())


async def test_a_user_has_it_said_only_at_a_satellite_that_they_control(
    hass: HomeAssistant, hass_read_only_user: MockUser
) -> None:
    where = "assist_satellite.hall"
    data = {"message": "the bins", "when": "in 20 minutes", "satellite_id": where}
    context = Context(user_id=hass_read_only_user.id)

    with pytest.raises(ServiceValidationError, match="permission"):
        await hass.services.async_call(
            DOMAIN, "plan", data, blocking=True, context=context
        )
    hass_read_only_user.mock_policy({"entities": {"entity_ids": {where: True}}})
    await hass.services.async_call(DOMAIN, "plan", data, blocking=True, context=context)

    assert [planned.asker.satellite_id for planned in plans(hass)] == [where]


async def test_a_user_cancels_no_plan_of_somebody_else(hass: HomeAssistant) -> None:
    await hass.auth.async_create_user("Owner")
    ben = await hass.auth.async_create_user("Ben", group_ids=[GROUP_ID_USER])
    await async_get_schedule(hass).async_add(act(asker=Asker("anna", "anna")))
    cancel = {"plan_id": plans(hass)[0].id}

    with pytest.raises(ServiceValidationError):
        await hass.services.async_call(
            DOMAIN,
            "cancel_plan",
            cancel,
            blocking=True,
            context=Context(user_id=ben.id),
        )
    assert len(plans(hass)) == 1
    await hass.services.async_call(DOMAIN, "cancel_plan", cancel, blocking=True)
    assert plans(hass) == ()


@pytest.mark.parametrize("what", ["the last service", "one agent", "the user"])
async def test_plans_go_with_their_agent_and_their_user(
    hass: HomeAssistant, entry: MockConfigEntry, what: str
) -> None:
    await hass.auth.async_create_user("Owner")
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER])
    if what == "one agent":
        await set_up(hass, offline_entry())
    data = {"message": "the bins", "when": "in 20 minutes"}
    await hass.services.async_call(
        DOMAIN, "plan", data, blocking=True, context=Context(user_id=anna.id)
    )
    (planned,) = plans(hass)

    if what == "the last service":
        await hass.config_entries.async_remove(entry.entry_id)
    elif what == "one agent":
        holder = next(
            one
            for one in hass.config_entries.async_entries(DOMAIN)
            if planned.agent in one.subentries
        )
        assert hass.config_entries.async_remove_subentry(holder, planned.agent)
    else:
        await hass.auth.async_remove_user(anna)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert plans(hass) == ()
    issue = ir.async_get(hass).async_get_issue(DOMAIN, f"plans_removed_{planned.agent}")
    placeholders = issue.translation_placeholders if issue else None
    assert placeholders == (
        {"plans": "- 09:20: the bins"} if what != "the user" else None
    )

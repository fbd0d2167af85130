"""The actions `chatterbox.plan` and `chatterbox.cancel_plan`, by which automations plan reminders and cancel plans."""

from dataclasses import replace
from typing import Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.components.conversation.const import ATTR_AGENT_ID
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_array

from ..approvals.guard import async_is_permitted
from ..const import DOMAIN
from ..effects.effect import Effects, EntityAction
from ..people.speakers import person_id_of, speaker_of
from ..runtime.agents import async_agent_entries
from ..speech.sentences import translated
from ..speech.text.times import FURTHEST
from .plans import (
    LONGEST_TEXT,
    Asker,
    FuturePlan,
    NotPlanned,
    PlanKind,
    PlanProblem,
    plans_of,
)
from .schedule import async_get_schedule, async_resolve
from .triggers import async_validated

SERVICE_PLAN: Final = "plan"
SERVICE_CANCEL_PLAN: Final = "cancel_plan"
_MESSAGE: Final = "message"
_WHEN: Final = "when"
_TRIGGER: Final = "trigger"
_SATELLITE: Final = "satellite_id"
_PLAN_ID: Final = "plan_id"

_PLAN_SCHEMA: Final = vol.All(
    vol.Schema(
        {
            vol.Required(_MESSAGE): cv.string,
            vol.Exclusive(_WHEN, _WHEN): cv.string,
            vol.Exclusive(_TRIGGER, _WHEN): vol.All(
                cv.ensure_list,
                [dict],
            ),
            vol.Optional(ATTR_AGENT_ID): cv.entity_id,
            vol.Optional(_SATELLITE): cv.entity_domain("assist_satellite"),
        }
    ),
    cv.has_at_least_one_key(_WHEN, _TRIGGER),
)
_CANCEL_SCHEMA: Final = vol.Schema({vol.Required(_PLAN_ID): cv.string})


def async_register_plan_actions(hass: HomeAssistant) -> None:
    """Register the actions."""
    optional = SupportsResponse.OPTIONAL
    hass.services.async_register(
        DOMAIN, SERVICE_PLAN, _async_plan, _PLAN_SCHEMA, optional
    )
    hass.services.async_register(
        DOMAIN, SERVICE_CANCEL_PLAN, _async_cancel, _CANCEL_SCHEMA
    )


async def _async_plan(call: ServiceCall) -> ServiceResponse:
    """Plan a reminder of the user who calls, or of the household."""
    hass = call.hass
    agents = async_agent_entries(call.hass)
    wanted = call.data.get(ATTR_AGENT_ID)
    agent = next(
        (one for one in agents if wanted in {None, one.entity_id}),
        None,
    )
    if agent is None or agent.config_subentry_id is None:
        raise translated(
            ServiceValidationError, "agent_unknown", agent=str(wanted or "")
        )
    plan = FuturePlan(
        kind=PlanKind.REMIND,
        agent=agent.config_subentry_id,
        asker=await _async_asker(call),
        language=hass.config.language,
        text=" ".join(call.data[_MESSAGE].split()),
    )
    if not 0 < len(plan.text) <= LONGEST_TEXT:
        raise NotPlanned(PlanProblem.NO_TIME)
    timed = await (
        _async_waiting(call, plan)
        if _TRIGGER in call.data
        else _async_timed(call, plan)
    )
    mover = speaker_of(hass, call.context.user_id)
    planned = await async_get_schedule(hass).async_add(
        timed,
        mover,
    )
    return {
        _PLAN_ID: planned.id,
        "due": planned.due.isoformat() if planned.due else None,
    }


async def _async_asker(call: ServiceCall) -> Asker:
    """Return who asks, and the satellite that is to say it. Raises `NotPlanned`."""
    hass = call.hass
    user_id = call.context.user_id
    satellite_id = call.data.get(_SATELLITE, "")
    announcing = EntityAction(satellite_id, "assist_satellite.announce")
    if satellite_id and not await async_is_permitted(
        hass, user_id, Effects(actions=frozenset({announcing}))
    ):
        raise NotPlanned(PlanProblem.NOT_PERMITTED)
    satellite = er.async_get(hass).async_get(satellite_id)
    return Asker(
        user_id,
        person_id_of(hass, user_id) if user_id else None,
        device_id=satellite.device_id if satellite else None,
        satellite_id=satellite_id or None,
        is_automation=user_id is None,
    )


async def _async_timed(
    call: ServiceCall,
    plan: FuturePlan,
) -> FuturePlan:
    """Return a plan with a time in words. Raises `NotPlanned`."""
    words = call.data[_WHEN]
    moment = await async_resolve(
        call.hass,
        words,
        plan.language,
    )
    if moment is None or not moment.is_sure:
        raise NotPlanned(PlanProblem.NO_TIME)
    return replace(
        plan,
        due=moment.due,
        words=words,
        every=moment.every,
    )


async def _async_waiting(
    call: ServiceCall,
    plan: FuturePlan,
) -> FuturePlan:
    """Return a plan with triggers, which may tell of anything in the home. Raises `NotPlanned` and `vol.Invalid`."""
    if not await _async_is_owner(call):
        raise NotPlanned(PlanProblem.NOT_PERMITTED)
    texts = json_dumps(call.data[_TRIGGER])
    triggers = tuple(one for one in json_loads_array(texts) if isinstance(one, dict))
    await async_validated(call.hass, triggers)
    return replace(
        plan,
        waits_for=triggers,
        until=dt_util.utcnow() + FURTHEST,
    )


async def _async_is_owner(call: ServiceCall) -> bool:
    """Return whether an automation or an administrator calls."""
    user_id = call.context.user_id
    if user_id is None:
        return True
    user = await call.hass.auth.async_get_user(user_id)
    return user is not None and user.is_admin


async def _async_cancel(call: ServiceCall) -> None:
    """Cancel a plan of the household or of the user who calls; an automation or an administrator may cancel any."""
    schedule = async_get_schedule(call.hass)
    user_id = call.context.user_id
    await schedule.plans.async_load()
    plans = schedule.plans.stored.plans
    if not await _async_is_owner(call):
        plans = tuple(plans_of(plans, person_id_of(call.hass, user_id or "")))
    if all(plan.id != call.data[_PLAN_ID] for plan in plans):
        raise NotPlanned(PlanProblem.GONE)
    await schedule.async_cancel(
        call.data[_PLAN_ID],
        speaker_of(call.hass, user_id),
    )

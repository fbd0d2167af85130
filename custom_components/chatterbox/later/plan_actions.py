"""The actions `chatterbox.plan` and `chatterbox.cancel_plan`, by which automations plan reminders and cancel plans."""

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

from ..approvals.guard import async_is_permitted
from ..const import DOMAIN
from ..effects.effect import EntityAction, Touches
from ..people.speakers import person_id_of, speaker_of
from ..runtime.agents import async_agent_entries
from ..speech.sentences import translated
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

SERVICE_PLAN: Final = "plan"
SERVICE_CANCEL_PLAN: Final = "cancel_plan"
_MESSAGE: Final = "message"
_WHEN: Final = "when"
_SATELLITE: Final = "satellite_id"
_PLAN_ID: Final = "plan_id"
_ANNOUNCE: Final = "assist_satellite.announce"

_PLAN_SCHEMA: Final = vol.Schema(
    {
        vol.Required(_MESSAGE): cv.string,
        vol.Required(_WHEN): cv.string,
        vol.Optional(ATTR_AGENT_ID): cv.entity_id,
        vol.Optional(_SATELLITE): cv.entity_domain("assist_satellite"),
    }
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
    hass, agents = call.hass, async_agent_entries(call.hass)
    wanted = call.data.get(ATTR_AGENT_ID)
    agent = next((one for one in agents if wanted in {None, one.entity_id}), None)
    if agent is None or agent.config_subentry_id is None:
        raise translated(
            ServiceValidationError, "agent_unknown", agent=str(wanted or "")
        )
    text, language = " ".join(call.data[_MESSAGE].split()), hass.config.language
    moment = await async_resolve(hass, call.data[_WHEN], language)
    if moment is None or not moment.is_sure or not 0 < len(text) <= LONGEST_TEXT:
        raise NotPlanned(PlanProblem.NO_TIME)
    satellite_id, user_id = call.data.get(_SATELLITE, ""), call.context.user_id
    satellite, announcing = (
        er.async_get(hass).async_get(satellite_id),
        EntityAction(satellite_id, _ANNOUNCE),
    )
    if satellite_id and not await async_is_permitted(
        hass, user_id, Touches(actions=frozenset({announcing}))
    ):
        raise NotPlanned(PlanProblem.NOT_PERMITTED)
    asker = Asker(
        user_id,
        person_id_of(hass, user_id) if user_id else None,
        device_id=satellite.device_id if satellite else None,
        satellite_id=satellite_id or None,
        is_automation=user_id is None,
    )
    plan = FuturePlan(
        kind=PlanKind.REMIND,
        agent=agent.config_subentry_id,
        asker=asker,
        language=language,
        text=text,
        due=moment.due,
        words=call.data[_WHEN],
        every=moment.every,
    )
    planned = await async_get_schedule(hass).async_add(plan, speaker_of(hass, user_id))
    return {_PLAN_ID: planned.id, "due": moment.due.isoformat()}


async def _async_cancel(call: ServiceCall) -> None:
    """Cancel a plan of the household or of the user who calls; an automation or an administrator may cancel any."""
    schedule, user_id = async_get_schedule(call.hass), call.context.user_id
    await schedule.plans.async_load()
    user = await call.hass.auth.async_get_user(user_id) if user_id else None
    plans = schedule.plans.stored.plans
    if user_id and not (user and user.is_admin):
        plans = tuple(plans_of(plans, person_id_of(call.hass, user_id)))
    if all(plan.id != call.data[_PLAN_ID] for plan in plans):
        raise NotPlanned(PlanProblem.GONE)
    await schedule.async_cancel(call.data[_PLAN_ID], speaker_of(call.hass, user_id))

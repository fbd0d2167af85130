"""Tells which model is good for a home: puts requests to agents, without any effect, and grades the answers."""

import voluptuous as vol
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.helpers.service import async_register_admin_service

from ..const import DOMAIN
from .commands import ORDER_FIELDS, async_register_commands, order_of
from .trials import async_get_trials


def async_setup_evaluate(hass: HomeAssistant) -> None:
    """Register the action and the commands."""
    schema = vol.Schema(ORDER_FIELDS)
    async_register_admin_service(
        hass, DOMAIN, "evaluate", _async_evaluate, schema, SupportsResponse.ONLY
    )
    async_register_commands(hass)


async def _async_evaluate(call: ServiceCall) -> ServiceResponse:
    """Put requests to agents, and return the result. The trial stops if the caller does."""
    trials = async_get_trials(call.hass)
    trial = await trials.async_begin(
        order_of(
            call.hass,
            call.data,
            call.context.user_id,
        )
    )
    try:
        if trial.task:
            await trial.task
    finally:
        trials.async_stop(trial)
    return trial.result

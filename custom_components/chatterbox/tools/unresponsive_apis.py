"""LLM APIs that did not answer in time: nobody waits for them again for a while.

Knows when an API may be asked again. Must not know what its answer means, or who had to wait. While it is left alone,
it is asked once in the background: one that answers in time again is not left alone any longer.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.event import async_call_later

from ..const import LOGGER
from ..data import singleton

LEFT_ALONE_FOR: Final = 60.0
"""Seconds for which no turn waits for an API that did not answer in time."""


@dataclass(frozen=True, slots=True)
class _Hanging:
    """An API that is left alone."""

    api: llm.API
    trial: asyncio.Task[None]
    cancel_end: CALLBACK_TYPE
    """Stops waiting for the end of its time."""


@singleton
def _hanging(_hass: HomeAssistant) -> dict[str, _Hanging]:
    """Return the APIs that are left alone, by their ids."""
    return {}


@callback
def is_left_alone(hass: HomeAssistant, api: llm.API) -> bool:
    """Tell whether an API is not to be waited for; another one that has come in its place is."""
    hanging = _hanging(hass).get(api.id)
    return hanging is not None and hanging.api is api


@callback
def async_leave_alone(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, patience: float) -> None:
    """Leave an API alone until it answers within `patience` seconds, or for `LEFT_ALONE_FOR` seconds."""
    _async_end(hass, api.id)
    trial = hass.async_create_background_task(
        _async_try(hass, api, llm_context, patience), f"chatterbox trial of LLM API {api.id}", eager_start=False
    )
    end = HassJob(partial(_async_end, hass, api.id), cancel_on_shutdown=True)
    cancel_end = async_call_later(hass, LEFT_ALONE_FOR, end)
    _hanging(hass)[api.id] = _Hanging(api, trial, cancel_end)


async def _async_try(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, patience: float) -> None:
    """Ask an API; what it answers does not matter, only whether it does so in time."""
    began = hass.loop.time()
    try:
        await api.async_get_api_instance(llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and nobody has asked for this answer
        LOGGER.debug("LLM API %s answers its trial with %s", api.id, type(error).__name__)
    if hass.loop.time() - began <= patience and is_left_alone(hass, api):
        _async_end(hass, api.id)


@callback
def _async_end(hass: HomeAssistant, api_id: str, _now: datetime | None = None) -> None:
    """Do not leave an API alone any longer."""
    if (hanging := _hanging(hass).pop(api_id, None)) is not None:
        hanging.cancel_end()
        if hanging.trial is not asyncio.current_task():
            hanging.trial.cancel()

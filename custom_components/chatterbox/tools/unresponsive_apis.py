"""Remembers LLM APIs that did not answer in time, so that no turn waits for them for a minute.

Meanwhile the API is asked once more in the background, and is responsive again if it answers that in time.
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

UNRESPONSIVE_FOR: Final = 60.0
"""Seconds for which no turn waits for an API."""


@dataclass(frozen=True, slots=True)
class _UnresponsiveApi:
    api: llm.API
    trial: asyncio.Task[None]
    cancel_end: CALLBACK_TYPE


@singleton
def _unresponsive_apis(_hass: HomeAssistant) -> dict[str, _UnresponsiveApi]:
    """Return the marked APIs by their ids."""
    return {}


@callback
def is_unresponsive(hass: HomeAssistant, api: llm.API) -> bool:
    """Tell whether an API is marked as unresponsive. Another API that was registered in its place is not."""
    unresponsive = _unresponsive_apis(hass).get(api.id)
    return unresponsive is not None and unresponsive.api is api


@callback
def async_mark_unresponsive(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, patience: float) -> None:
    """Mark an API until it answers within `patience` seconds, but for `UNRESPONSIVE_FOR` seconds at most."""
    _async_end(hass, api.id)
    trial = hass.async_create_background_task(
        _async_try(hass, api, llm_context, patience), f"chatterbox trial of LLM API {api.id}", eager_start=False
    )
    end = HassJob(partial(_async_end, hass, api.id), cancel_on_shutdown=True)
    cancel_end = async_call_later(hass, UNRESPONSIVE_FOR, end)
    _unresponsive_apis(hass)[api.id] = _UnresponsiveApi(api, trial, cancel_end)


async def _async_try(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, patience: float) -> None:
    """Ask an API, and end the mark if the answer comes in time. The answer itself is not used."""
    began = hass.loop.time()
    try:
        await api.async_get_api_instance(llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and no turn waits for this answer
        LOGGER.debug("LLM API %s failed in its trial with %s", api.id, type(error).__name__)
    if hass.loop.time() - began <= patience and is_unresponsive(hass, api):
        _async_end(hass, api.id)


@callback
def _async_end(hass: HomeAssistant, api_id: str, _now: datetime | None = None) -> None:
    """Remove the mark of an API."""
    if (unresponsive := _unresponsive_apis(hass).pop(api_id, None)) is not None:
        unresponsive.cancel_end()
        if unresponsive.trial is not asyncio.current_task():
            unresponsive.trial.cancel()

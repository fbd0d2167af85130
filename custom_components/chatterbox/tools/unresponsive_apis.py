"""Remembers LLM APIs that did not answer in time, so that no turn waits for them for a minute.

Meanwhile the API is asked once more in the background, and is responsive again if it answers that in time.
"""

import asyncio
import time
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..const import LOGGER
from ..data import singleton

UNRESPONSIVE_FOR: Final = 60.0
"""Seconds for which no turn waits for an API."""


class _Mark(NamedTuple):
    api: llm.API
    end: float
    """In seconds of `time.monotonic`."""
    trial: asyncio.Task[None]


@singleton
def _marks(_hass: HomeAssistant) -> dict[str, _Mark]:
    """Return the marks by the ids of the APIs."""
    return {}


@callback
def is_unresponsive(hass: HomeAssistant, api: llm.API) -> bool:
    """Tell whether an API is marked as unresponsive. Another API that was registered in its place is not."""
    mark = _marks(hass).get(api.id)
    return mark is not None and mark.api is api and time.monotonic() < mark.end


@callback
def async_mark_unresponsive(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float) -> None:
    """Mark an API until it answers within `api_timeout` seconds, but for `UNRESPONSIVE_FOR` seconds at most."""
    trial = hass.async_create_background_task(
        _async_try(hass, api, llm_context, api_timeout), f"chatterbox trial of LLM API {api.id}", eager_start=False
    )
    _marks(hass)[api.id] = _Mark(api, time.monotonic() + UNRESPONSIVE_FOR, trial)


async def _async_try(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float) -> None:
    """Ask an API, and end the mark if the answer comes in time. The answer itself is not used."""
    began = hass.loop.time()
    try:
        async with asyncio.timeout(UNRESPONSIVE_FOR):
            await api.async_get_api_instance(llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and no turn waits for this answer
        LOGGER.debug("LLM API %s failed in its trial with %s", api.id, type(error).__name__)
    if hass.loop.time() - began <= api_timeout and is_unresponsive(hass, api):
        del _marks(hass)[api.id]

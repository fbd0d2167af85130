"""Says something at a satellite, if it can: what came of a question that was asked there and answered elsewhere.

Knows the platform `assist_satellite`. Must not know questions.
"""

import asyncio
from typing import Final

from homeassistant.const import ATTR_ENTITY_ID, ATTR_SUPPORTED_FEATURES
from homeassistant.core import Context, HomeAssistant

from .const import LOGGER

_SATELLITE_DOMAIN: Final = "assist_satellite"
_CAN_ANNOUNCE: Final = 1
"""Source: `AssistSatelliteEntityFeature.ANNOUNCE` (homeassistant.components.assist_satellite.const).

Importing it would load all that satellites need into homes that have none.
"""

_TIME_LIMIT: Final = 60.0
"""Seconds for the speech to be made and heard."""


async def async_announce(hass: HomeAssistant, satellite_id: str, words: str, context: Context) -> None:
    """Say words at a satellite. One that cannot is left alone, and a failure is told in the log."""
    state = hass.states.get(satellite_id)
    features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0) if state else 0
    if not features & _CAN_ANNOUNCE:
        return
    data = {ATTR_ENTITY_ID: satellite_id, "message": words}
    try:
        async with asyncio.timeout(_TIME_LIMIT):
            await hass.services.async_call(_SATELLITE_DOMAIN, "announce", data, blocking=True, context=context)
    except Exception as error:  # noqa: BLE001  # whatever a foreign integration does, the answer stands
        LOGGER.warning("%s could not say what came of a question: %s", satellite_id, str(error) or type(error).__name__)

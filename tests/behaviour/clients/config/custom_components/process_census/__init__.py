"""Counts what lives in the process of Home Assistant, so that a test outside can tell that nothing grows.

Knows the process; must not know what any of it is for.
"""

import asyncio
import gc
from pathlib import Path

from aiohttp import web
from homeassistant.components.http import HomeAssistantView
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import ConfigType

DOMAIN = "process_census"
CONFIG_SCHEMA = cv.empty_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, _config: ConfigType) -> bool:
    """Offer the census."""
    hass.http.register_view(_Census(hass))
    return True


class _Census(HomeAssistantView):
    """Lists the tasks of the process, and counts its open files and objects."""

    url = "/api/process_census"
    name = "api:process_census"

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass

    async def get(self, _request: web.Request) -> web.Response:
        gc.collect()
        return self.json(
            {
                "tasks": sorted(task.get_name() for task in asyncio.all_tasks()),
                "open_files": await self._hass.async_add_executor_job(_open_files),
                "objects": len(gc.get_objects()),
            }
        )


def _open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))

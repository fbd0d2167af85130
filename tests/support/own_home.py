"""A home for scripts, which run without pytest."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant


@asynccontextmanager
async def own_home(kept_in: Path | None = None) -> AsyncGenerator[HomeAssistant]:
    """Start Home Assistant, with our integrations, and stop it in the end; in a folder of its own, if none is given."""
    with (
        nullcontext(str(kept_in))
        if kept_in
        else tempfile.TemporaryDirectory() as folder
    ):
        async with async_test_home_assistant(config_dir=folder) as hass:
            frame.async_setup(
                hass
                # As the `hass` fixture does: whose code is running is asked of this
                # instance.
            )
            hass.data.pop(DATA_CUSTOM_COMPONENTS)
            try:
                yield hass
            finally:
                await hass.async_stop(force=True)


def run_in_own_home[Found](find: Callable[[HomeAssistant], Awaitable[Found]]) -> Found:
    """Return what a function finds in a home that is started for it."""

    async def run() -> Found:
        async with own_home() as hass:
            return await find(hass)

    return asyncio.run(run())

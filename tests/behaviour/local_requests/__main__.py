"""`script/local`: counts the requests that need no model, prints the tables and writes them into their page."""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable

from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from tests.behaviour.local_requests.counting import (
    PAGE,
    count_local,
    count_offline,
    local_table,
    offline_table,
    try_locally,
)
from tests.behaviour.recorded_runs.runs import read_runs
from tests.support.assist_mini import Home, read_homes
from tests.support.page_tables import write_table


async def _in_a_home[Counted](count: Callable[[HomeAssistant, Home], Awaitable[Counted]], home: Home) -> Counted:
    with tempfile.TemporaryDirectory() as folder:
        async with async_test_home_assistant(config_dir=folder) as hass:
            frame.async_setup(hass)
            hass.data.pop(DATA_CUSTOM_COMPONENTS)
            try:
                return await count(hass, home)
            finally:
                await hass.async_stop(force=True)


def _local() -> str:
    runs = read_runs()
    return local_table(
        {home.name: count_local(asyncio.run(_in_a_home(try_locally, home)), runs) for home in read_homes()}
    )


def _offline() -> str:
    return offline_table({home.name: asyncio.run(_in_a_home(count_offline, home)) for home in read_homes()})


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    write_table("script/local", PAGE, _local)
    write_table("script/local", PAGE, _offline)

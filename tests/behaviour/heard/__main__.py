"""`script/heard`: counts what comes of recognized words, prints what was missed and the tables, and writes them."""

import tests.support.early_plugin  # isort: skip  # noqa: F401  # before what it mends

import asyncio
import logging
import sys
import tempfile
from collections.abc import Awaitable, Callable

from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from tests.behaviour.heard.counting import (
    LANGUAGES,
    PAGE,
    answers_table,
    count_answers_with_a_model,
    count_answers_without_a_model,
    count_requests,
    requests_table,
)
from tests.support.page_tables import write_table


def _in_a_home[Counted](count: Callable[[HomeAssistant, str], Awaitable[Counted]], language: str) -> Counted:
    async def run() -> Counted:
        with tempfile.TemporaryDirectory() as folder:
            async with async_test_home_assistant(config_dir=folder) as hass:
                frame.async_setup(hass)
                hass.data.pop(DATA_CUSTOM_COMPONENTS)
                try:
                    return await count(hass, language)
                finally:
                    await hass.async_stop(force=True)

    return asyncio.run(run())


def _requests() -> str:
    counts = [_in_a_home(count_requests, language) for language in LANGUAGES]
    sys.stdout.writelines(f"{line}\n" for one in counts for line in one.missed)
    return requests_table(counts)


def _answers() -> str:
    ways = {"without a model": count_answers_without_a_model, "with a model": count_answers_with_a_model}
    counts = {
        f"{language}, {way}": _in_a_home(count, language) for way, count in ways.items() for language in LANGUAGES
    }
    sys.stdout.writelines(f"{way}: {line}\n" for way, one in counts.items() for line in one.missed)
    return answers_table(counts)


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    write_table("script/heard", PAGE, _requests)
    write_table("script/heard", PAGE, _answers)

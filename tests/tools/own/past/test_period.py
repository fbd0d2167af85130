"""A period has a name, or two moments between which it lies."""

import pytest

from tests.support.recorded_home import DOOR, Past

PERIODS = {
    "Last Night": "yesterday 22:00 to today 06:00",
    "2026-11-22": "yesterday 00:00 to yesterday 23:59",
    "2026-11-21T18:00/2026-11-22": "Saturday 21 November 18:00 to yesterday 23:59",
    "2026-11-22T18:00/2026-11-22T19:00": "yesterday 18:00 to yesterday 19:00",
    "2026-11-22T18:00": "yesterday 18:00 to today 12:00",
    "2026-11-22/": "yesterday 00:00 to today 12:00",
}


async def test_a_period_has_a_name_or_two_ends(
    past: Past, subtests: pytest.Subtests
) -> None:
    past.set("21 08:00", DOOR, "on")
    past.at("23 12:00")

    for period, time in PERIODS.items():
        with subtests.test(period):
            assert (await past.ask(name="front door", period=period))["time"] == time

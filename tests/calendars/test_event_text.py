"""Events and free times are told in the sentences of a language."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.calendars.tools import (
    FIND_FREE_TIME,
    GET_EVENTS,
)
from tests.calendars.conftest import BREAKFAST, spoken_answer
from tests.support.calendars import BookedCalendar, event
from tests.support.one_home import in_one_home


@pytest.mark.usefixtures("family")
@in_one_home(
    ("arguments", "expected"),
    [
        (
            {"when": "on Friday"},
            (
                "Friday, December 4: Birthday, all day; Dentist, 15:00 to 16:00, Station "
                "Road 5."
            ),
        ),
        (
            {"when": "2026-12-04T15:30/2026-12-04T15:45"},
            (
                "Friday, December 4: Birthday, all day; Dentist, 15:00 to 16:00, Station "
                "Road 5."
            ),
        ),
        # It begins before, and its end, which is exclusive, is not reached.
        (
            {"when": "tomorrow"},
            "Saturday, November 28: Trip, until Monday, November 30.",
        ),
        (
            {"when": "on Tuesday"},
            "Tuesday, December 1: Gym, 18:00 to 19:00.",
        ),
        (
            {"when": "2026-12-05/2026-12-06"},
            "Saturday, December 5: Party, 20:00, until Sunday, December 6, 02:00.",
        ),
        (
            {"when": "on the 6th"},
            "Saturday, December 5: Party, 20:00, until Sunday, December 6, 02:00.",
        ),
        (
            {"when": "on Friday evening"},
            "Friday, December 4: Birthday, all day.",
        ),
        (
            {"when": "on Wednesday"},
            "There is nothing in the calendar for Wednesday, December 2.",
        ),
        (
            {"when": "2026-12-07/2026-12-08"},
            (
                "There is nothing in the calendar for Monday, December 7 to Tuesday, "
                "December 8."
            ),
        ),
        ({"when": "today", "text": "breakfast"}, "There is nothing like breakfast"),
        ({"text": "the dentist"}, "Friday, December 4: Dentist, 15:00 to 16:00"),
        ({"text": "station road", "most": 1}, "Friday, December 4: Dentist,"),
        ({"most": 1}, "Saturday, November 28: Trip, until Monday, November 30."),
        ({"text": "choir"}, "There is nothing like choir in the calendar."),
        ({"when": "blue"}, "I didn't understand which time you mean."),
        ({"when": "2026-12-04/2026-12-01"}, "I didn't understand which time"),
        ({"calendar": "Work"}, "There is no such calendar. There is: Family."),
    ],
)
async def test_events_are_told(
    hass: HomeAssistant, arguments: dict[str, str | int], expected: str
) -> None:
    assert (await spoken_answer(hass, GET_EVENTS, **arguments)).startswith(expected)


@pytest.mark.usefixtures("family")
@in_one_home(
    ("when", "expected"),
    [
        (
            "on Friday",
            (
                "Friday, December 4: Birthday, all day; Dentist, 15:00 to 16:00, Station "
                "Road 5. Free: Friday, December 4, 08:00 to 15:00, 16:00 to 22:00."
            ),
        ),
        (
            "on Friday at three",
            (
                "Friday, December 4: Birthday, all day; Dentist, 15:00 to 16:00, Station "
                "Road 5. No time is free."
            ),
        ),
        (
            "2026-12-04T15:00/2026-12-04T16:20",
            (
                "Friday, December 4: Birthday, all day; Dentist, 15:00 to 16:00, Station "
                "Road 5. No time is free."
            ),
        ),
        ("on Wednesday", "There is nothing in the calendar for Wednesday"),
        ("", "Saturday, November 28: Trip, until Monday, November 30. Free: Sunday"),
        ("2026-11-02", "That time has passed."),
        (
            "2026-12-05/2026-12-06",
            (
                "Saturday, December 5: Party, 20:00, until Sunday, December 6, 02:00. "
                "Free: Saturday, December 5, 08:00 to 20:00; Sunday, December 6, 08:00 to "
                "22:00."
            ),
        ),
    ],
)
async def test_free_time_is_found(
    hass: HomeAssistant, when: str, expected: str
) -> None:
    spoken = await spoken_answer(hass, FIND_FREE_TIME, when=when)

    assert spoken.startswith(expected)


async def test_today_is_what_is_left_of_it(
    hass: HomeAssistant, family: BookedCalendar
) -> None:
    family.events = [BREAKFAST]
    left = await spoken_answer(hass, GET_EVENTS, when="today")
    family.events = [BREAKFAST, event("Tea", "2026-11-29 09:30", "2026-11-29 10:30")]
    now = await spoken_answer(hass, GET_EVENTS, when="today")
    free = await spoken_answer(hass, FIND_FREE_TIME, when="today")

    assert left == "There is nothing more in the calendar for Sunday, November 29."
    assert now == "Sunday, November 29: Tea, 09:30 to 10:30."
    assert free.endswith("Free: Sunday, November 29, 10:30 to 22:00.")


async def test_many_events_are_counted(
    hass: HomeAssistant, family: BookedCalendar
) -> None:
    family.events = [
        event(f"Lesson {number}", "2026-12-04 08:00", f"2026-12-04 08:{number:02}")
        for number in range(1, 26)
    ]

    spoken = await spoken_answer(hass, GET_EVENTS, when="on Friday")

    assert spoken.endswith("And 5 more.")
    assert spoken.count("Lesson") == 20

"""Words for a time mean one point in time in each language, and a time said back is understood again."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.speech.text.times import (
    Moment,
    Repetition,
    exact_words,
    recurs_on,
    resolve_range,
    resolve_time,
    spoken_time,
    times_in,
)
from tests.speech.text.spoken_times import (
    BERLIN,
    LANGUAGES,
    NOW,
    TIMES,
    described,
    resolved,
    sun,
)

ZONES: Final = [
    BERLIN,
    *map(ZoneInfo, ("America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")),
]


def no_sun(event: str, day: date) -> datetime | None:  # noqa: ARG001 as at a pole
    return None


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_mean_a_time(language: str) -> None:
    assert {
        words: described(resolved(words, language=language))
        for words in TIMES[language]
    } == TIMES[language]


@pytest.mark.parametrize("language", ["de-CH", "pt-BR", "zh-Hans", "ar"])
def test_dialects_and_languages_without_words(language: str) -> None:
    assert described(resolved("in 20 minutes", language=language)) == "11-27 17:20"
    assert spoken_time(NOW + timedelta(minutes=20), now=NOW, language=language)


@pytest.mark.parametrize(
    ("hour", "words", "meant"),
    [
        ("05:00", "at six", "11-27 06:00"),
        ("17:00", "at six", "11-27 18:00"),
        ("19:00", "at six", "11-28 06:00 ?"),
        ("20:00", "at two", "11-28 02:00 ?"),
        ("00:30", "at two", "11-27 02:00"),
        ("01:00", "tonight at two", "11-27 02:00"),
        ("22:00", "tonight at two", "11-28 02:00"),
        ("21:30", "tonight", "11-27 23:00 ?"),
        ("21:30", "every evening", "11-28 19:00 day"),
        ("05:00", "today at six", "11-27 06:00"),
        ("13:00", "today at six", "11-27 18:00"),
        ("08:00", "on Friday at 10 am", "11-27 10:00 ?"),
        ("08:00", "every Friday at 10 am", "11-27 10:00 week"),
        ("12:00", "every Friday at 10 am", "12-04 10:00 week"),
        ("08:00", "every weekday at 10 am", "11-27 10:00 workday"),
        ("12:00", "every weekday at 10 am", "11-30 10:00 workday"),
        ("08:00", "tomorrow at twelve", "11-28 12:00"),
        ("08:00", "tomorrow at 6 pm in the evening", "11-28 18:00"),
        ("08:00", "a week from Thursday at noon", "12-10 12:00"),
        ("08:00", "every Monday and Monday at noon", "none"),
        ("08:00", "tomorrow at midnight", "11-29 00:00 ?"),
        ("08:00", "tonight at midnight", "11-28 00:00"),
        ("23:59", "at 12:30", "11-28 00:30"),
        ("16:31", "at sunset", "11-28 16:30"),
        ("16:31", "today at sunset", "none"),
    ],
)
def test_the_hour_of_speaking_decides_between_two_readings(
    hour: str, words: str, meant: str
) -> None:
    assert (
        described(
            resolved(
                words, datetime.combine(NOW.date(), time.fromisoformat(hour), BERLIN)
            )
        )
        == meant
    )


@pytest.mark.parametrize(
    ("now", "words", "due"),
    [
        # Clocks skip from 2:00 to 3:00, and later go back from 3:00 to 2:00.
        ("2026-03-28T22:00+01:00", "at 2:30 am", "2026-03-29T03:30+02:00"),
        ("2026-03-28T22:00+01:00", "in 24 hours", "2026-03-29T23:00+02:00"),
        ("2026-03-28T22:00+01:00", "in one day", "2026-03-29T22:00+02:00"),
        ("2026-10-24T22:00+02:00", "at 2:30 am", "2026-10-25T02:30+02:00"),
        ("2026-10-25T02:40+02:00", "at 2:30 am", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:40+01:00", "at 2:50 am", "2026-10-25T02:50+01:00"),
        ("2026-10-25T02:40+02:00", "in 30 minutes", "2026-10-25T02:10+01:00"),
        ("2026-10-25T02:40+01:00", "at 2:30 am", "2026-10-26T02:30+01:00"),
    ],
)
def test_clocks_that_change(now: str, words: str, due: str) -> None:
    moment = resolved(words, datetime.fromisoformat(now).astimezone(BERLIN))
    assert moment is not None
    assert moment.due.astimezone(UTC) == datetime.fromisoformat(due).astimezone(UTC)


def test_a_clock_that_changes_by_half_an_hour() -> None:
    zone = ZoneInfo("Australia/Lord_Howe")
    moment = resolved("at 2:15 am", datetime(2026, 10, 3, 22, tzinfo=zone))
    assert moment is not None
    assert moment.due.isoformat() == "2026-10-04T02:45:00+11:00"


def test_what_repeats_keeps_its_time_over_a_change_of_the_clocks() -> None:
    due, days = datetime(2026, 3, 27, 12, tzinfo=BERLIN), list[str]()
    for _ in range(4):
        moment = resolved("every day at 2:30 am", due)
        assert moment is not None
        due = moment.due
        days.append(f"{due:%d %H:%M}")
    assert days == ["28 02:30", "29 03:30", "30 02:30", "31 02:30"]


def test_where_the_sun_does_not_set_there_is_no_sunset() -> None:
    assert resolve_time("at sunset", now=NOW, language="en", sun=no_sun) is None


def test_iso_times_have_one_reading() -> None:
    assert described(resolved("2026-11-28T06:00:00+00:00")) == "11-28 07:00"
    assert described(resolved("2026-11-28T06:00")) == "11-28 06:00"
    assert described(resolved("2026-11-27T12:00")) == "none"
    assert described(resolved("2026-13-40T12:00")) == "none"
    assert described(resolved("T06:00")) == "11-28 06:00"


@pytest.mark.parametrize(
    "words",
    [
        *(
            "",
            " ",
            "at",
            "at 25",
            "at 6:75",
            "in 800 days",
            "in 9000 hours",
            "in 0 minutes",
            "2028-01-01",
            "🕕",
        ),
        *(
            "2026-02-30 at noon",
            "on February 30th",
            "every year on February 30th",
            "every two minutes",
            "in 999999 weeks",
            "at six at seven",
        ),
        *("tomorrow today", "at " * 200, "in two and a half months"),
    ],
)
def test_what_is_no_time_within_a_year_is_none(words: str) -> None:
    assert resolved(words) is None


def test_a_time_is_said_with_its_distance() -> None:
    def in_words(minutes: float, language: str, every: Repetition = "") -> str:
        return spoken_time(
            NOW + timedelta(minutes=minutes), now=NOW, language=language, every=every
        )

    assert in_words(60, "en") == "At six this evening, in 1 hour"
    assert in_words(0.5, "en") == "In 30 seconds"
    assert in_words(1, "en") == "In 1 minute"
    assert in_words(73, "de") == "Heute um 18:13 Uhr, in 1 Stunde und 13 Minuten"
    assert in_words(7 * 60, "en") == "At midnight, in 7 hours"
    assert in_words(62, "pl") == "Dzisiaj o 18:02, za 1 godzinę i 2 minuty"
    assert in_words(26 * 60, "en", "week") == "Every Saturday at seven in the evening"
    assert in_words(7 * 60, "en", "day") == "Every day at midnight"
    assert (
        in_words(65 * 60, "en", "workday")
        == "From Monday to Friday at ten in the morning"
    )
    assert in_words(20 * 60, "es") == "Mañana a las 13, dentro de 20 horas"
    assert in_words(8 * 60, "pt-BR") == "Amanhã à 1 hora, daqui a 8 horas"


minutes_ahead: Final = st.integers(1, 360 * 24 * 60)
EVERY: Final = [
    "day",
    "workday",
    "week",
    "month",
    "year",
    "0,3",
    "5,6",
    "0,1,2",
    "2 days",
    "10 days",
    "2 weeks",
    "3 weeks",
]
moments: Final = st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1))  # noqa: DTZ001 the zone is another choice


@given(st.sampled_from(LANGUAGES), minutes_ahead, moments, st.sampled_from(ZONES))
def test_a_time_said_back_is_understood(
    language: str, minutes: int, moment: datetime, zone: ZoneInfo
) -> None:
    now = moment.replace(tzinfo=UTC, microsecond=0).astimezone(zone)
    due = (
        (now.astimezone(UTC) + timedelta(minutes=minutes))
        .replace(second=0)
        .astimezone(zone)
    )
    if due.astimezone(UTC) <= now.astimezone(UTC):
        return
    again = resolved(
        text := spoken_time(due, now=now, language=language), now, language
    )
    assert again is not None, text
    # Of two equal times of the clock, the first one that is to come is meant.
    is_first = not due.fold or due.replace(fold=0).astimezone(UTC) <= now.astimezone(
        UTC
    )
    distance = abs((again.due.astimezone(UTC) - due.astimezone(UTC)).total_seconds())
    assert distance < 60 or not is_first, (text, again, due)


@given(
    st.sampled_from(LANGUAGES), st.integers(0, 7 * 24 * 60 - 1), st.sampled_from(EVERY)
)
def test_a_repetition_said_back_is_understood(
    language: str, minutes: int, every: Repetition
) -> None:
    due = NOW + timedelta(minutes=minutes + 1)
    again = resolved(
        text := spoken_time(due, now=NOW, language=language, every=every), NOW, language
    )
    assert again is not None, text
    assert again.every == every, text
    assert f"{again.due:%H:%M}" == f"{due:%H:%M}", text
    assert (
        every not in {"week", "2 weeks", "3 weeks"}
        or again.due.weekday() == due.weekday()
    ), text
    assert every not in {"month", "year"} or again.due.day == due.day, text
    # The midnight of a day ends it.
    assert every != "workday" or (again.due - timedelta(minutes=1)).weekday() < 5, text


@pytest.mark.parametrize(
    ("language", "every", "words"),
    [
        ("nl", "2 days", "om de dag"),
        ("pl", "2 days", "co drugi dzień"),
        ("pl", "3 days", "co 3 dni"),
        ("sv", "2 weeks", "varannan vecka"),
        ("sv", "3 weeks", "var 3:e vecka"),
    ],
)
def test_each_second_one_has_words_of_its_own(
    language: str, every: Repetition, words: str
) -> None:
    spoken = spoken_time(NOW, now=NOW, language=language, every=every)

    assert spoken.casefold().startswith(words)


@pytest.mark.parametrize("every", ["", *EVERY])
@given(language=st.sampled_from(LANGUAGES), minutes=st.integers(0, 7 * 24 * 60 - 1))
def test_exact_words_mean_their_moment(
    language: str, minutes: int, every: Repetition
) -> None:
    due = NOW + timedelta(minutes=minutes + 1)
    again = resolved(
        words := exact_words(Moment(due, every, is_sure=True)), NOW, language
    )
    assert again is not None, words
    assert again.every == every, words
    assert f"{again.due:%H:%M}" == f"{due:%H:%M}", words
    assert every or again.due == due, words
    assert (
        every not in {"week", "2 weeks", "3 weeks"}
        or again.due.weekday() == due.weekday()
    ), words
    assert every not in {"month", "year"} or again.due.day == due.day, words
    assert "," not in every or str(again.due.weekday()) in every.split(","), words


@pytest.mark.parametrize(
    ("every", "days"),
    [
        ("day", "27 28 29 30 01 02 03 04 05 06 07 08 09 10 11"),
        ("workday", "27 30 01 02 03 04 07 08 09 10 11"),
        ("week", "27 04 11"),
        ("2 weeks", "27 11"),
        ("3 days", "27 30 03 06 09"),
        ("month", "27"),
        ("year", "27"),
        ("0,4", "27 30 04 07 11"),
    ],
)
def test_a_repetition_comes_on_its_days(every: Repetition, days: str) -> None:
    first = NOW.date()
    following = [first + timedelta(days=ahead) for ahead in range(15)]
    assert [
        f"{one:%d}" for one in following if recurs_on(one, first, every)
    ] == days.split()
    assert recurs_on(date(2026, 12, 27), first, every) is (
        every in {"day", "month", "3 days"}
    )
    assert recurs_on(date(2027, 11, 27), first, every) is (
        every in {"day", "month", "year"}
    )


@pytest.mark.parametrize(
    ("every", "words", "meant"),
    [
        ("", "at nine", "12-05 21:00"),
        ("month", "at nine", "12-05 21:00 month"),
        ("year", "at nine", "12-05 21:00 year"),
        ("0,5", "at nine", "11-28 21:00 0,5"),
        ("2 days", "at nine", "11-27 21:00 2 days"),
        ("2 weeks", "at nine", "11-28 21:00 2 weeks"),
        ("week", "at nine", "11-28 21:00 week"),
        ("workday", "at nine", "11-27 21:00 workday"),
        ("0,5", "on Tuesday", "12-01 20:00 week"),
        ("month", "on the 7th", "12-07 20:00 month"),
        ("day", "on Monday", "11-30 20:00"),
        ("day", "in two hours", "11-27 19:00"),
        ("", "tomorrow evening", "11-28 20:00"),
    ],
)
def test_what_is_moved_keeps_what_is_not_said(
    every: Repetition, words: str, meant: str
) -> None:
    moved = Moment(datetime(2026, 12, 5, 20, tzinfo=BERLIN), every, is_sure=True)
    assert (
        described(
            resolve_time(words, now=NOW, language="en", sun=sun, moved=moved)
        ).removesuffix(" ?")
        == meant
    )


@given(
    st.sampled_from(
        [(language, words) for language in LANGUAGES for words in TIMES[language]]
    ),
    moments,
    st.sampled_from(ZONES),
)
def test_no_words_mean_the_past(
    case: tuple[str, str], moment: datetime, zone: ZoneInfo
) -> None:
    language, words = case
    now = moment.replace(tzinfo=UTC).astimezone(zone)
    found = resolved(words, now, language)
    if found:
        assert (
            now.astimezone(UTC)
            < found.due.astimezone(UTC)
            <= now.astimezone(UTC) + timedelta(days=366)
        )
        assert found.due.tzinfo is zone


def test_no_time_is_found_in_a_language_without_words_for_it() -> None:
    assert not times_in("Saat sekizde ne var?", "tr", joined=True, has_days=True)


@pytest.mark.parametrize(
    ("words", "language", "expected"),
    [
        ("today", "en", "11-27 00:00 to 11-28 00:00"),
        ("this weekend", "en", "11-28 00:00 to 11-30 00:00"),
        ("nächste Woche", "de", "11-30 00:00 to 12-07 00:00"),
        ("next month", "en", "12-01 00:00 to 01-01 00:00"),
        ("on the 5th", "en", "12-05 00:00 to 12-06 00:00"),
        ("on Friday evening", "en", "11-27 17:00 to 11-28 00:00"),
        ("this morning", "en", "11-27 05:00 to 11-27 12:00"),
        ("in the morning", "en", "11-28 05:00 to 11-28 12:00"),
        ("at three", "en", "11-28 15:00 to 11-28 16:00"),
        ("at 6 pm", "en", "11-27 18:00 to 11-27 19:00"),
        ("in two hours", "en", "11-27 19:00 to 11-27 20:00"),
        ("in den nächsten drei Tagen", "de", "11-27 17:00 to 12-01 00:00"),
        ("in 5000000 days", "en", "none"),
        ("in the next 5000 days", "en", "none"),
        ("every Monday", "en", "none"),
        ("at sunset", "en", "none"),
        ("yesterday", "en", "none"),
        ("banana", "en", "none"),
    ],
)
def test_words_mean_a_range_of_time(words: str, language: str, expected: str) -> None:
    found = resolve_range(words, now=NOW, language=language)

    edges = (f"{edge:%m-%d %H:%M}" for edge in found or ())
    assert (" to ".join(edges) or "none") == expected


def test_a_day_on_which_clocks_go_back_is_an_hour_longer() -> None:
    clocks_go_back = resolve_range(
        "tomorrow", now=datetime(2026, 10, 24, 17, tzinfo=BERLIN), language="en"
    )
    assert clocks_go_back
    begin, end = (edge.astimezone(UTC) for edge in clocks_go_back)
    assert end - begin == timedelta(hours=25)

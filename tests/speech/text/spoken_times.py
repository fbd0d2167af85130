"""Times in words, and the moment at which they are said."""

import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

from custom_components.chatterbox.speech.text.times import (
    Moment,
    resolve_time,
)

BERLIN: Final = ZoneInfo("Europe/Berlin")
NOW: Final = datetime(2026, 11, 27, 17, tzinfo=BERLIN)
TIMES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("times.toml").read_text("utf-8")
)
LANGUAGES: Final = [*TIMES]


def sun(event: Literal["sunrise", "sunset"], day: date) -> datetime | None:
    return datetime.combine(day, time(7 if event == "sunrise" else 16, 30), BERLIN)


def resolved(words: str, now: datetime = NOW, language: str = "en") -> Moment | None:
    return resolve_time(words, now=now, language=language, sun=sun)


def described(moment: Moment | None) -> str:
    if moment is None:
        return "none"
    due = f"{moment.due:%m-%d %H:%M:%S}".removesuffix(":00")
    return " ".join(filter(None, (due, moment.every, "" if moment.is_sure else "?")))

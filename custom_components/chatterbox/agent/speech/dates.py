"""Turns dates as computers write them into dates as people say them, by language.

Knows ISO 8601 as far as models copy it out of tool results, the months, and the order of day and
month. Must not know what day it is.
"""

import re
from datetime import date
from typing import Final

from .phrases import primary

_ISO: Final = re.compile(
    r"(?<![\w/.:-])(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?(?![\w/-]|[.:]\w)"
)
_PATTERNS: Final = {
    "de": "{day}. {month} {year}",
    "en": "{month} {day}, {year}",
    "es": "{day} de {month} de {year}",
    "fr": "{day} {month} {year}",
    "it": "{day} {month} {year}",
    "nl": "{day} {month} {year}",
    "pl": "{day} {month} {year} roku",
    "pt": "{day} de {month} de {year}",
    "sv": "{day} {month} {year}",
    "zh": "{year}年{month}{day}日",
}
_FIRST: Final = {"fr": "1er", "it": "1º"}
"""The first day of a month, where it is counted and the others are numbered."""
_BEFORE_TIME: Final = {"zh": ""}
_MONTHS: Final = {
    language: tuple(months.split())
    for language, months in {
        "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "en": "January February March April May June July August September October November December",
        "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "nl": "januari februari maart april mei juni juli augustus september oktober november december",
        "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "sv": "januari februari mars april maj juni juli augusti september oktober november december",
        "zh": "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
    }.items()
}


def spoken_dates(word: str, language: str) -> str:
    """Say the dates in a word in `language`, a BCP 47 tag; a language without months keeps them as they are."""
    if "-" not in word or primary(language) not in _PATTERNS:
        return word
    return _ISO.sub(lambda found: _spoken(found, primary(language)), word)


def _spoken(found: re.Match[str], language: str) -> str:
    try:
        day = date.fromisoformat(found[1])
    except ValueError:  # no day of any calendar
        return found.group()
    number = _FIRST.get(language, "1") if day.day == 1 else str(day.day)
    words = _PATTERNS[language].format(day=number, month=_MONTHS[language][day.month - 1], year=day.year)
    return f"{words}{_BEFORE_TIME.get(language, ', ')}{found[2]}" if found[2] else words

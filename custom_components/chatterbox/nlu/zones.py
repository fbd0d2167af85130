"""The places of the world whose time is known: the cities of the time zone database, and countries with one time.

Source: the names of zones, and `iso3166.tab` and `zone.tab`, as the package `tzdata`
has them. The names are English.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from ..speech.text.phrases import PhraseTree
from .lexicon import tokens_of_phrase

_NO_CITIES: Final = (
    "Etc",
    "SystemV",
    "posix",
    "right",
    "Brazil",
    "Canada",
    "Chile",
    "Mexico",
    "US",
)


@cache
def zones() -> PhraseTree[str]:
    """Return the names of places, with the names of their zones. It reads from disk."""
    tree = PhraseTree[str]()
    for zone in sorted(available_timezones()):
        region, _, city = zone.rpartition("/")
        if (
            region
            and not region.startswith(_NO_CITIES)
            and city not in {"North", "South", "West"}
        ):
            tree.add(
                tokens_of_phrase(city.replace("_", " ")),
                zone,
            )
    for country, zone in _countries():
        tree.add(tokens_of_phrase(country), zone)
    return tree


def _countries() -> Iterator[tuple[str, str]]:
    """Yield the countries in which it is the same time everywhere, with one of their zones."""
    with suppress(ModuleNotFoundError, FileNotFoundError):
        folder = resources.files("tzdata").joinpath("zoneinfo")
        names = dict(
            _rows(
                folder.joinpath("iso3166.tab").read_text("utf-8"),
                0,
                1,
            )
        )
        by_country: dict[str, list[str]] = {}
        for code, zone in _rows(
            folder.joinpath("zone.tab").read_text("utf-8"),
            0,
            2,
        ):
            by_country.setdefault(code, []).append(zone)
        now = datetime.now(UTC)
        for code, found in by_country.items():
            if (
                code in names
                and len({now.astimezone(ZoneInfo(zone)).utcoffset() for zone in found})
                == 1
            ):
                yield names[code].partition("(")[0], found[0]


def _rows(
    table: str,
    key: int,
    value: int,
) -> Iterator[tuple[str, str]]:
    for line in table.splitlines():
        if line and not line.startswith("#"):
            columns = line.split("\t")
            yield columns[key], columns[value]

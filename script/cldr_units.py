"""Writes the names of units for voices, in the languages that have phrases of their own, as the Unicode CLDR has them.

    npm pack cldr-units-full && tar xzf cldr-units-full-*.tgz
    PYTHONPATH=. .venv/bin/python script/cldr_units.py package custom_components/chatterbox/speech/text/units.toml

The symbols are those of Home Assistant (`homeassistant.const`), and some that models
write instead. "ppm" is read as it is spoken.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from custom_components.chatterbox.speech.text.language import LANGUAGES

type Units = Mapping[str, Mapping[str, str]]
type Forms = dict[str, str]

NAMES: Final = {
    "°C ℃": "temperature-celsius",
    "°F ℉": "temperature-fahrenheit",
    "K": "temperature-kelvin",
    "mW": "power-milliwatt",
    "W": "power-watt",
    "kW": "power-kilowatt",
    "MW": "power-megawatt",
    "GW": "power-gigawatt",
    "kWh": "energy-kilowatt-hour",
    "V": "electric-volt",
    "A": "electric-ampere",
    "mA": "electric-milliampere",
    "Ω": "electric-ohm",
    "Hz": "frequency-hertz",
    "kHz": "frequency-kilohertz",
    "MHz": "frequency-megahertz",
    "GHz": "frequency-gigahertz",
    "Pa": "pressure-pascal",
    "hPa": "pressure-hectopascal",
    "kPa": "pressure-kilopascal",
    "bar": "pressure-bar",
    "mbar": "pressure-millibar",
    "psi": "pressure-pound-force-per-square-inch",
    "mmHg": "pressure-millimeter-ofhg",
    "inHg": "pressure-inch-ofhg",
    "lx": "light-lux",
    "lm": "light-lumen",
    "µm": "length-micrometer",
    "mm": "length-millimeter",
    "cm": "length-centimeter",
    "m": "length-meter",
    "km": "length-kilometer",
    "mi": "length-mile",
    "ft": "length-foot",
    "m² m2": "area-square-meter",
    "cm² cm2": "area-square-centimeter",
    "km² km2": "area-square-kilometer",
    "ft² ft2": "area-square-foot",
    "ha": "area-hectare",
    "m³ m3": "volume-cubic-meter",
    "cm³ cm3": "volume-cubic-centimeter",
    "ft³ ft3": "volume-cubic-foot",
    "l L": "volume-liter",
    "dl dL": "volume-deciliter",
    "cl cL": "volume-centiliter",
    "ml mL": "volume-milliliter",
    "µg": "mass-microgram",
    "mg": "mass-milligram",
    "g": "mass-gram",
    "kg": "mass-kilogram",
    "t": "mass-tonne",
    "lb lbs": "mass-pound",
    "oz": "mass-ounce",
    "ms": "duration-millisecond",
    "s": "duration-second",
    "min": "duration-minute",
    "h": "duration-hour",
    "kB": "digital-kilobyte",
    "MB": "digital-megabyte",
    "GB": "digital-gigabyte",
    "TB": "digital-terabyte",
    "Mbit": "digital-megabit",
    "Gbit": "digital-gigabit",
    "km/h kmh kph": "speed-kilometer-per-hour",
    "m/s": "speed-meter-per-second",
    "mph": "speed-mile-per-hour",
    "kn": "speed-knot",
}
QUOTIENTS: Final = {
    "µg/m³ µg/m3": ("mass-microgram", "volume-cubic-meter"),
    "mg/m³ mg/m3": ("mass-milligram", "volume-cubic-meter"),
    "g/m³ g/m3": ("mass-gram", "volume-cubic-meter"),
    "W/m² W/m2": ("power-watt", "area-square-meter"),
    "m³/h m3/h": ("volume-cubic-meter", "duration-hour"),
    "l/h L/h": ("volume-liter", "duration-hour"),
    "l/min L/min": ("volume-liter", "duration-minute"),
    "ml/h mL/h": ("volume-milliliter", "duration-hour"),
    "mm/h": ("length-millimeter", "duration-hour"),
    "mm/d": ("length-millimeter", "duration-day"),
    "cm/h": ("length-centimeter", "duration-hour"),
    "°C/h": ("temperature-celsius", "duration-hour"),
    "kB/s": ("digital-kilobyte", "duration-second"),
    "MB/s": ("digital-megabyte", "duration-second"),
    "GB/s": ("digital-gigabyte", "duration-second"),
    "Mbit/s": ("digital-megabit", "duration-second"),
    "Gbit/s": ("digital-gigabit", "duration-second"),
}
KILO: Final = re.compile("[ckq]h?u?ilo|千")
"""How a kilowatt-hour begins; the CLDR has no watt-hour and no megawatt-hour."""
DECIBEL: Final[Mapping[str, Forms]] = {
    "de": {"other": "Dezibel"},
    "en": {"one": "decibel", "other": "decibels"},
    "es": {"one": "decibelio", "other": "decibelios"},
    "fr": {"one": "décibel", "other": "décibels"},
    "it": {"other": "decibel"},
    "nl": {"other": "decibel"},
    "pl": {
        "one": "decybel",
        "few": "decybele",
        "many": "decybeli",
        "other": "decybela",
    },
    "pt": {"one": "decibel", "other": "decibéis"},
    "sv": {"other": "decibel"},
    "zh": {"other": "分贝"},
}
"""The CLDR has no decibel."""


def forms(unit: Mapping[str, str]) -> Forms:
    """Return the words after a number, by the number's plural category."""
    found = {
        key.removeprefix("unitPattern-count-"): plain(text)
        for key, text in unit.items()
        if key.startswith("unitPattern-count-") and "{0}" in text
    }
    return {
        category: words
        for category, words in found.items()
        if words != found["other"] or category == "other"
    }


def plain(pattern: str) -> str:
    """Return the words of a pattern after the number, with plain spaces; in Chinese, some stand before it."""
    words = re.sub(r"^(.*)\{0\}(.*)$", r"\2\1", pattern.replace("/", "每"))
    return " ".join(words.split())


def quotient(first: Mapping[str, str], second: Mapping[str, str], per: str) -> Forms:
    """Return the words for one unit per another one."""
    divided = second.get("perUnitPattern") or per.replace(
        "{1}", plain(second["unitPattern-count-other"])
    )
    words = forms(first)
    return {
        category: plain(divided.replace("{0}", "{0}" + text))
        for category, text in words.items()
    }


def watt_hours(kilowatt_hours: Forms, prefix: str) -> Forms:
    """Return the words for hours of a watt or a megawatt."""
    found = {
        category: KILO.sub(prefix, words.lower())
        for category, words in kilowatt_hours.items()
    }
    is_noun = kilowatt_hours["other"][0].isupper()
    return {
        category: words.capitalize() if is_noun else words
        for category, words in found.items()
    }


def table(language: str, units: Units) -> Iterator[tuple[str, Forms]]:
    """Yield the forms of each symbol."""
    for symbols, name in NAMES.items():
        for symbol in symbols.split():
            yield symbol, forms(units[name])
    for symbols, (first, second) in QUOTIENTS.items():
        for symbol in symbols.split():
            yield (
                symbol,
                quotient(
                    units[first], units[second], units["per"]["compoundUnitPattern"]
                ),
            )
    kilowatt_hours = forms(units["energy-kilowatt-hour"])
    yield "Wh", watt_hours(kilowatt_hours, "")
    yield "MWh", watt_hours(kilowatt_hours, "兆" if language == "zh" else "mega")
    yield "dB", DECIBEL[language]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    version = json.loads((arguments.package / "package.json").read_text("utf-8"))[
        "version"
    ]
    source = f"the Unicode CLDR {version} (Unicode License v3)"
    lines = [
        f"# Names of units by language and plural category, from {source}. script/cldr_units.py writes this."
    ]
    for language in LANGUAGES:
        file = arguments.package / "main" / language / "units.json"
        units = json.loads(file.read_text("utf-8"))["main"][language]["units"]["long"]
        lines += ["", f"[{language}]"]
        for symbol, words in table(language, units):
            fields = ", ".join(
                f"{category} = {json.dumps(text, ensure_ascii=False)}"
                for category, text in words.items()
            )
            lines.append(f'"{symbol}" = {{ {fields} }}')
    arguments.target.write_text("\n".join((*lines, "")), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Reads numbers in words as digits, for Home Assistant's sentences: "twenty three point five degrees".

Its answers fail for a temperature in words, after it has set it. Only numbers before a unit are read: "the one in the
kitchen" is none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant
from pydantic import BaseModel, ConfigDict
from unicode_rbnf import RbnfEngine

from ..agent.text import MOST_UNDERSTOOD, base_language, fold, read_data_file
from ..home.name_index import names_in, with_known_names
from ..speech.text.language import number_words

_HUNDREDS: Final = (101, 200, 1000, 2000)
_UNSPACED: Final = ("zh",)
_GAP: Final = re.compile(r"[\s-]+")


class _Words(BaseModel):
    """The words around numbers in a language, divided by spaces."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    units: str
    point: str
    """The decimal separator."""
    bare_point: str = "(?!)"
    """The same, if nothing is said before it: "point five"."""


_WORDS: Final = read_data_file(Path(__file__).with_name("spoken_numbers.toml"), dict[str, _Words])


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of a language in words."""

    pattern: re.Pattern[str]
    """Finds one before a unit."""
    values: Mapping[str, int]
    words: frozenset[str]
    """All words of numbers, also of those above `_LARGEST`."""


_numbers: Final[dict[str, _Numbers]] = {}
"""By language, those that were needed so far."""


def _numbers_of(language: str) -> _Numbers:
    """Return the numbers of one of the languages of `_WORDS`; the first time, that takes some 50 ms."""
    if language not in _numbers:
        words, engine, values = _WORDS[language], RbnfEngine.for_language(language), number_words(language)
        number = f"(?:{'|'.join(sorted(map(re.escape, values), key=len, reverse=True))})".replace(r"\ ", r"[\s-]+")
        point, units = ("|".join(text.replace(",", " ").split()) for text in (words.point, words.units))
        start, end = ("", "") if language in _UNSPACED else (r"(?<![\w-])", r"\b")
        forms = ["and", *values, *(fold(engine.format_number(value).text).replace("-", " ") for value in _HUNDREDS)]
        _numbers[language] = _Numbers(
            re.compile(
                rf"{start}(?:({number})(?:\s*(?:{point})\s*({number}))?|{words.bare_point}\s+({number}))"
                rf"(?=\s*(?:{units}){end}|\s*[%°])"
            ),
            values,
            frozenset(word for form in forms for word in (form if language in _UNSPACED else form.split())),
        )
    return _numbers[language]


def in_digits(text: str, language: str) -> str:
    """Return a sentence with digits in place of numbers in words before a unit."""
    code = base_language(language)
    if code not in _WORDS or len(plain := text.lower()) != len(text):
        return text
    known, written, begin = _numbers_of(code), "", 0
    for found in known.pattern.finditer(plain):
        before = plain[: found.start()].replace("-", " ")
        if known.words.isdisjoint((*before.split()[-1:], before[-1:])):
            groups = (found[1] or "zero", found[2] or found[3])
            digits = (str(known.values.get(" ".join(_GAP.split(words)), 0)) for words in groups if words)
            written, begin = written + text[begin : found.start()] + ".".join(digits), found.end()
    return written + text[begin:]


async def async_readable_sentence(hass: HomeAssistant, text: str, language: str) -> str:
    """Return a sentence with its names and numbers as Home Assistant's sentences have them.

    Of the units of temperatures, these have none but "°", which is that of the home.
    """
    if len(text) > MOST_UNDERSTOOD:
        return text
    if (code := base_language(language)) in _WORDS and code not in _numbers:
        await hass.async_add_executor_job(_numbers_of, code)
    unit = hass.config.units.temperature_unit
    text, written, begin = re.sub(rf"(?<=\d)\s?{unit}\b", "°", text), "", 0
    for start, stop, _ in names_in(hass, text) if in_digits(text, language) != text else ():  # "Plug Fifty Percent"
        written, begin = written + in_digits(text[begin:start], language) + text[start:stop], stop
    return with_known_names(hass, written + in_digits(text[begin:], language))

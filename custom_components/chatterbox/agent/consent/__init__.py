"""What a person's answer means: yes, no, a spoken PIN. In ten languages, and without a model.

Data and pure functions. Knows words; must not know turns, tools or Home Assistant. Each language
is a module of its own, so that somebody who speaks it can read and correct it; `docs/consent.md`
tells how well each one works.
"""

from collections.abc import Mapping
from typing import Final

from . import chinese, dutch, english, french, german, italian, polish, portuguese, spanish, swedish
from .wording import NumberWords, Wording

WORDINGS: Final[Mapping[str, Wording]] = {
    "de": german.WORDING,
    "en": english.WORDING,
    "es": spanish.WORDING,
    "fr": french.WORDING,
    "it": italian.WORDING,
    "nl": dutch.WORDING,
    "pl": polish.WORDING,
    "pt": portuguese.WORDING,
    "sv": swedish.WORDING,
    "zh": chinese.WORDING,
}
"""Per language, named by its two letters (ISO 639-1)."""

NUMBER_WORDS: Final[Mapping[str, NumberWords]] = {
    "de": german.NUMBERS,
    "en": english.NUMBERS,
    "es": spanish.NUMBERS,
    "fr": french.NUMBERS,
    "it": italian.NUMBERS,
    "nl": dutch.NUMBERS,
    "pl": polish.NUMBERS,
    "pt": portuguese.NUMBERS,
    "sv": swedish.NUMBERS,
    "zh": chinese.NUMBERS,
}
"""The same languages."""

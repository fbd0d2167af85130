"""How ten languages claim that something was done, and how a text is searched for it.

Data and pure functions. Knows words; must not know turns, tools or Home Assistant. Each language
is a module of its own, so that somebody who speaks it can read and correct it; `docs/receipts.md`
tells how well each one works.
"""

from collections.abc import Mapping
from typing import Final

from . import chinese, dutch, english, french, german, italian, polish, portuguese, spanish, swedish
from .grammar import Grammar

GRAMMARS: Final[Mapping[str, Grammar]] = {
    "de": german.GRAMMAR,
    "en": english.GRAMMAR,
    "es": spanish.GRAMMAR,
    "fr": french.GRAMMAR,
    "it": italian.GRAMMAR,
    "nl": dutch.GRAMMAR,
    "pl": polish.GRAMMAR,
    "pt": portuguese.GRAMMAR,
    "sv": swedish.GRAMMAR,
    "zh": chinese.GRAMMAR,
}
"""Per language, named by its two letters (ISO 639-1)."""

"""The phrases of a language, and the patterns of answers in it: the fields of `languages/<language>/speech.toml`."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from itertools import product
from typing import Final

from pydantic import BaseModel, ConfigDict
from unicode_rbnf import FormatPurpose, RbnfEngine

from ...agent.text import fold, read_data_file, read_language_files


class _LanguageTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Phrases(_LanguageTable):
    """The inserted words."""

    link: str
    """Replaces an address; empty to drop it."""
    unreadable: str
    """Replaces an answer of only code, tables or addresses."""
    okay: str
    """Replaces an answer without words, such as an emoji."""
    yes: str
    """Replaces a tick that is a value, as in "Window closed: ✅"."""
    no: str
    """Replaces a cross; both are empty to drop them."""


class Dates(_LanguageTable):
    """How a date is spoken."""

    months: str
    """Their names within a date, divided by spaces."""
    pattern: str = "{day} {month}"
    with_year: str = "{date} {year}"
    first_day: str = "1"
    """The first day of a month, where it is an ordinal."""
    before_time: str = ", "

    def text(
        self,
        day: date,
        *,
        has_year: bool = True,
    ) -> str:
        """Return a date in words."""
        if day.day == 1:
            number = self.first_day
        else:
            number = str(day.day)
        month = self.months.split()[day.month - 1]
        text = self.pattern.format(
            day=number,
            month=month,
        )
        if has_year:
            return self.with_year.format(
                date=text,
                year=day.year,
            )
        return text


class Ordinals(_LanguageTable):
    """How ordinals are spoken that are written as a number with a full stop: "am 3. Dezember"."""

    words: str
    """The first ordinals without their endings, divided by spaces."""
    before: str
    """Words before an ordinal, in lower case."""
    after: str
    """Words after an ordinal."""
    endings: tuple[tuple[str, str], ...]
    """Pairs of a regular expression and an ending; the first counts.

    It describes the word before, in lower case, and the one after, divided by a space.
    """


class WrittenOut(_LanguageTable):
    """Words for what voices read badly or take for the end of a sentence. A key with a capital letter needs it."""

    plurals: tuple[tuple[str, str], ...] = ((".*", "other"),)
    """Pairs of a regular expression for a number and its plural category (Unicode CLDR); the first counts."""
    gap: str = " "
    """The text between a number and its unit."""
    ratio: str = ""
    """The words for "3:2"."""
    fractions: Mapping[str, str] = {}
    date_words: str = ""
    """Words before a date, in lower case: "on 3/4" is none of the fractions."""
    currencies: Mapping[str, Mapping[str, str]] = {}
    """By the sign, the words for amounts by plural category."""
    magnitudes: str = ""
    """Words after an amount of money that belong to its number."""
    abbreviations: Mapping[str, str] = {}
    """Those that never end a sentence."""
    final: Mapping[str, str] = {}
    """Those that may end a sentence."""
    amounts: Mapping[str, str] = {}
    """Those after a number, which may end a sentence; a unit of `units.toml` stands for its words."""
    numbered: Mapping[str, str] = {}
    """Those before a number."""
    starters: str = ""
    """Words that begin a sentence, where an abbreviation or an initial may have ended one."""
    capitals_start: bool = False
    """Whether any word with a capital letter does so after an abbreviation; not where days or nouns have one."""
    ordinals: Ordinals | None = None

    def plural(self, number: str) -> str:
        """Return the plural category of a number."""
        return next(
            name for pattern, name in self.plurals if re.fullmatch(pattern, number)
        )


class StatementPatterns(_LanguageTable):
    """Regular expressions for clauses, without regard to capitals and accents.

    `<verbs>` stands for one of the `verbs`. Patterns are searched, those of `fillers`
    describe a whole clause.
    """

    verbs: str
    """Forms of the verbs for actions in a home, divided by spaces."""
    done: tuple[str, ...]
    states: tuple[str, ...]
    """The group `subject` is what has the state."""
    pronouns: str
    """Subjects that stand for what the request is about."""
    cannot: tuple[str, ...]
    announcements: tuple[str, ...]
    fillers: tuple[str, ...]
    reservations: tuple[str, ...]
    conditions: tuple[str, ...]


class Language(_LanguageTable):
    """The tables of a language."""

    courtesies: tuple[str, ...]
    """Regular expressions for the beginnings of sentences that may follow a question: "Just let me know"."""
    phrases: Phrases
    dates: Dates
    written_out: WrittenOut
    statements: StatementPatterns


LANGUAGES: Final = read_language_files("speech", Language)
"""By language code (ISO 639-1). Read at import, which Home Assistant does in an executor."""

UNITS: Final = read_data_file(
    __file__, dict[str, dict[str, dict[str, str]]], "units.toml"
)
"""By language code, the words for the symbol of a unit by plural category."""

_LARGEST_NUMBER: Final = 100
_COUNTED_OTHERWISE: Final = {"fr": ("fr_CH", "fr_BE")}
"""Regions of a language with other words: "huitante", "nonante"."""


@cache
def number_words(language: str) -> Mapping[str, int]:
    """Return the numbers from zero up to a hundred in words, with and without accents: "twenty one" is 21.

    The words come from Unicode CLDR, by `unicode_rbnf`, with which Home Assistant reads
    numbers, too. `language` is the code of one of the `LANGUAGES`.
    """
    engines = map(
        RbnfEngine.for_language, (language, *_COUNTED_OTHERWISE.get(language, ()))
    )
    values = dict[str, int]()
    for engine, value in product(engines, range(_LARGEST_NUMBER + 1)):
        for text in engine.format_number(
            value, FormatPurpose.CARDINAL
        ).text_by_ruleset.values():
            form = text.lower().replace("-", " ")
            values |= {
                form: value,
                fold(form): value,
            }
    return values

"""The phrases of a language, and the patterns of answers in it: the fields of `languages/<language>.toml`."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from ...agent.text import read_language_files


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
    pattern: str = "{day} {month} {year}"
    first_day: str = "1"
    """The first day of a month, where it is an ordinal."""
    before_time: str = ", "


class Degrees(_LanguageTable):
    """How temperatures are spoken: voices read "°C" as "degree C"."""

    celsius: str
    fahrenheit: str
    forms: tuple[tuple[str, str], ...]
    """Pairs of a regular expression for the whole number, and the words after it, with `{scale}`; the first counts."""
    gap: str = " "
    """The text between them."""


class StatementPatterns(_LanguageTable):
    """Regular expressions for clauses, without regard to capitals and accents.

    `<verbs>` stands for one of the `verbs`. Patterns are searched, those of `fillers` describe a whole clause.
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
    degrees: Degrees
    statements: StatementPatterns


LANGUAGES: Final = read_language_files(Path(__file__).with_name("languages"), Language)
"""By language code (ISO 639-1). Read at import, which Home Assistant does in an executor."""

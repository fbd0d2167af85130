"""Words that speech inserts in place of unspeakable text, and dates as they are spoken, by language."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from ..text import base_language


@dataclass(frozen=True, slots=True)
class Phrases:
    """The inserted words of one language."""

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


_PHRASES: Final = {
    "de": Phrases("ein Link", "Ich habe eine Antwort, aber sie lässt sich nicht vorlesen.", "Okay.", "ja", "nein"),
    "en": Phrases("a link", "I have an answer, but it cannot be read aloud.", "Okay.", "yes", "no"),
    "es": Phrases("un enlace", "Tengo una respuesta, pero no se puede leer en voz alta.", "De acuerdo.", "sí", "no"),
    "fr": Phrases(
        "un lien", "J'ai une réponse, mais elle ne peut pas être lue à voix haute.", "D'accord.", "oui", "non"
    ),
    "it": Phrases("un link", "Ho una risposta, ma non si può leggere ad alta voce.", "Va bene.", "sì", "no"),
    "nl": Phrases("een link", "Ik heb een antwoord, maar dat kan niet worden voorgelezen.", "Oké.", "ja", "nee"),
    "pl": Phrases("link", "Mam odpowiedź, ale nie da się jej przeczytać na głos.", "Dobrze.", "tak", "nie"),
    "pt": Phrases("um link", "Tenho uma resposta, mas ela não pode ser lida em voz alta.", "Certo.", "sim", "não"),
    "sv": Phrases("en länk", "Jag har ett svar, men det går inte att läsa upp.", "Okej.", "ja", "nej"),
    "zh": Phrases("一个链接", "我有答案，但没法读出来。", "好的。", "是", "否"),  # noqa: RUF001  # Chinese punctuation
}
_OTHERWISE: Final = Phrases("", _PHRASES["en"].unreadable, _PHRASES["en"].okay, "", "")

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
"""The first day of a month, where it is an ordinal."""
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


def phrases(language: str) -> Phrases:
    """Return the words of a language, given as a BCP 47 tag; other languages have English sentences."""
    return _PHRASES.get(base_language(language), _OTHERWISE)


def spoken_dates(word: str, language: str) -> str:
    """Return a word with its ISO 8601 dates as they are spoken in a language, if it has month names here."""
    language = base_language(language)
    if "-" not in word or language not in _PATTERNS:
        return word
    return _ISO.sub(lambda found: _spoken_date(found, language), word)


def _spoken_date(found: re.Match[str], language: str) -> str:
    try:
        day = date.fromisoformat(found[1])
    except ValueError:  # not a date
        return found.group()
    number = _FIRST.get(language, "1") if day.day == 1 else str(day.day)
    words = _PATTERNS[language].format(day=number, month=_MONTHS[language][day.month - 1], year=day.year)
    return f"{words}{_BEFORE_TIME.get(language, ', ')}{found[2]}" if found[2] else words

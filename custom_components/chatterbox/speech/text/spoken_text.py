"""Spoken text: phrases and dates by language, words without what only the eye reads, and sentences built from them."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...agent.text import base_language, read_data_file
from .language import LANGUAGES, Dates, Phrases

_LAST_NUMBER: Final = re.compile(r"(?<!\d)\d++(?:[.,]\d++)?(?=[*_]*+\Z)")
_ISO: Final = re.compile(
    r"(?<![\w/.:-])(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?(?![\w/-]|[.:]\w)"
)


def phrases(language: str) -> Phrases:
    """Return the words of a language, given as a BCP 47 tag; other languages have English sentences."""
    if known := LANGUAGES.get(base_language(language)):
        return known.phrases
    return LANGUAGES["en"].phrases.model_copy(update={"link": "", "yes": "", "no": ""})


def spoken_dates(word: str, language: str) -> str:
    """Return a word with its ISO 8601 dates as they are spoken in a language, if it has month names here."""
    if "-" not in word or (known := LANGUAGES.get(base_language(language))) is None:
        return word
    return _ISO.sub(lambda found: _spoken_date(found, known.dates), word)


def _spoken_date(found: re.Match[str], dates: Dates) -> str:
    try:
        day = date.fromisoformat(found[1])
    except ValueError:  # not a date
        return found.group()
    number = dates.first_day if day.day == 1 else str(day.day)
    words = dates.pattern.format(day=number, month=dates.months.split()[day.month - 1], year=day.year)
    return f"{words}{dates.before_time}{found[2]}" if found[2] else words


_DEGREES: Final = re.compile(r"(?:(?<!\d)(\d++(?:[.,]\d++)?))?((?:(?<![*_])[*_]++)?)(?:°([CF])|([℃℉]))(?![\w/])")


def spoken_degrees(word: str, before: str, language: str) -> str:
    """Return a word with °C and °F in words, in the form for the number in it or at the end of the word `before`."""
    if not _DEGREES.search(word) or (known := LANGUAGES.get(base_language(language))) is None:
        return word
    degrees, last = known.degrees, _LAST_NUMBER.search(before)

    def in_words(found: re.Match[str]) -> str:
        number = found[1] or (last[0] if last else "")
        scale = degrees.celsius if found[3] == "C" or found[4] == "℃" else degrees.fahrenheit
        form = next(words for pattern, words in degrees.forms if re.fullmatch(pattern, number))
        return f"{found[1] + degrees.gap if found[1] else ''}{form.format(scale=scale)}{found[2]}"

    return _DEGREES.sub(in_words, word)


_DECIMALS: Final = read_data_file(Path(__file__).with_name("decimals.toml"), dict[str, tuple[str, ...]])
_NUMBER_PATTERN: Final = r"(?<![\w.,:/])(\d{1,6}+\.\d{1,2}+(?:[-\u2013]\d{1,6}+\.\d{1,2}+)?)"
_UNIT_PATTERN: Final = rf"(?:{'|'.join(_DECIMALS['units'])})(?![\w'\u2019])"
_DECIMAL_OF_UNIT: Final = re.compile(_NUMBER_PATTERN + "(?=" + _UNIT_PATTERN + ")")
_DECIMAL: Final = re.compile(_NUMBER_PATTERN + r"\Z")
_UNIT: Final = re.compile(r"[*_]*+" + _UNIT_PATTERN)


def has_decimal_comma(language: str) -> bool:
    """Return whether decimals have a comma in a language, given as a BCP 47 tag."""
    return (
        base_language(language) in _DECIMALS["with_comma"]
        and language.replace("_", "-").lower() not in _DECIMALS["with_point"]
    )


def may_be_decimal(word: str) -> bool:
    """Return whether a word ends in a decimal, if a unit follows: else it may be a time, a date or a version."""
    return _DECIMAL.search(word) is not None


def may_begin_unit(text: str) -> bool:
    """Return whether the beginning of a word may be that of a unit."""
    return text[:1].lower() in _DECIMALS["first_characters"]


def with_decimal_comma(word: str, after: str = "") -> str:
    """Return a word whose decimals have a comma, where a unit follows in the word or begins the word `after` it."""
    pattern = _DECIMAL if _UNIT.match(after) else _DECIMAL_OF_UNIT
    return pattern.sub(lambda found: found[0].replace(".", ","), word)


_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE: Final = re.compile(r"\\+([!-/:-@\[-`{-~]|$)")
_TAG: Final = re.compile(r"</?([A-Za-z][\w:-]*)/?>")
_OF_TAGS: Final = {"td": "|", "th": "|"} | dict.fromkeys(
    {
        *("br", "p", "div", "li", "ul", "ol", "tr", "table", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("dl", "dt", "dd", "pre", "details", "summary", "section", "article", "header", "footer", "caption"),
        "figcaption",
    },
    "\n",
)
"""The replacements of tags; other tags are removed."""

_ARROW: Final = re.compile("[\u21d2\u2794\u279c\u27a1\u27f6\u27f9]\ufe0f?|(?<!\\S)[-=]>(?!\\S)")
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2500-\u27bf\u2b00-\u2bff\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u24c2\u2139\u3030\u303d"
    "\u3297\u3299][\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*|[\ufe00-\ufe0f\u20e3]"
)
_SHORTCODE: Final = re.compile(r"(?<!\w):[a-z][a-z0-9_+-]*[a-z0-9]:(?!\w)")
"""An emoji by its name."""
_HYPHEN: Final = re.compile("[\u2010\u2011]|\u2212(?=\\d)")
"""Non-breaking hyphens and the minus of a number, which not every voice knows."""
_TOOL: Final = re.compile(
    r"(?<!\w)(?:(?:[a-z]\w{0,60}?__)?Hass(?=[A-Z])|[a-z]\w{0,60}?__|(?=Get(?:LiveContext|DateTime)\b))([A-Za-z]\w*+)"
)
"""The name of one of Home Assistant's tools."""
_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_NAME: Final = re.compile(r"(?<!\w)(?=(?i:hass)|[A-Za-z][a-z0-9]*+[A-Z_])(\w++)(\(?)")
"""A word that may be the name of a tool: no plain word."""
_PREFIX: Final = re.compile(r"\AHass(?=[A-Z])")
_HIGHLIGHT: Final = re.compile(r"(?<![\w=])==(?=\w)|(?<=[\w.!?])==(?![\w=])")
_LITERAL_BREAK: Final = re.compile(r"(?:(?<=[.!?:;,)\"])|\A)(?:\\+n)+(?![a-z])")
"""A line break that was escaped twice."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u2060\ufeff\x00-\x08\x0e-\x1b\x7f]")
_EMOTICON: Final = re.compile(r"(?:[:;=]['^-]?[)(DPp]+|<3+|\^_+\^|[xX]D+)([.,!?…]*)")

_MARKS: Final = {**dict.fromkeys("✅✔✓☑", True), **dict.fromkeys("❌✖✗✘", False)}
_CITATION: Final = re.compile(
    r"(?<=[\w.,!?;:)\]\"'])\[\d{1,3}(?:[,-]\d{1,3})*\]|\A\[\d{1,3}(?:[,-]\d{1,3})*\](?=[.!?]|\[\d)"
    r"|\[(?:citation|ref|source):\d{1,3}\]|\[\^[^\[\]\s]{1,40}\]|\[[xX]\](?!\()"
)
_TARGET: Final = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)|\]\[[^\[\]\s]*\]")
_ADDRESS: Final = re.compile(r"<?(?:(?:https?|ftp)://|www\.|mailto:|data:\w+/)[^\s<>\"]*>?", re.IGNORECASE)
_AFTER_ADDRESS: Final = ".,;:!?)]}'*_…»”\u2019|"
_STARS: Final = re.compile(r"([^*]?)\*+(?=(.?))")
_UNDERSCORES: Final = re.compile(r"([^_]?)_+(?=(.?))")

_SYMBOLS: Final = (
    {"circ": "°", "degree": "°", "celsius": "°C", "percent": "%", "euro": "€", "mu": "µ", "Omega": "Ω", "pi": "π"}
    | {"times": "×", "cdot": "·", "div": "÷", "pm": "±", "approx": "≈", "sim": "~", "infty": "∞"}  # noqa: RUF001  # a sign
    | {"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "sqrt": "√"}
    | {"to": "→", "rightarrow": "→", "Rightarrow": "→", "ldots": "…", "dots": "…", "quad": " ", "qquad": " "}
)
_COMMANDS: Final = _SYMBOLS | dict.fromkeys(
    {"text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mathit", "mathsf", "operatorname", "boxed"}
    | {"left", "right", "big", "Big", "displaystyle", "unit", "si"},
    "",
)
"""The symbols, and commands for the appearance only."""

_MAY_BE_LATEX: Final = re.compile(r"[\\$^{}]")
_PATH: Final = re.compile(r"\W*+[A-Za-z]:\\|\\\\\w++\\")
_FRACTION: Final = re.compile(r"(?<!\\)\\++[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_COMMAND: Final = re.compile(r"(?<!\\)\\++([A-Za-z]++)")
_THIN_SPACE: Final = re.compile(r"\\[,;](?=\S)")
_DELIMITER: Final = re.compile(r"(?<!\\)\\++[()]|\$\$+")
_RAISED: Final = re.compile(r"(?<!\[)\^(?:\{([+-]?\d{1,3}|°)\}|([+-]?\d{1,3}|°))")
_LOWERED: Final = re.compile(r"_\{(\w+)\}")
_FORMULA: Final = re.compile(r"\$([^\s$]+)\$(?!\d)")
_BEGIN: Final = re.compile(r"(?<![\w$])\$(?=[A-Za-z\\{(])")
_END: Final = re.compile(r"(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹°})%])\$")
"""Begin and end of a formula of several words. A dollar sign before a digit or after letters is money."""
_BRACES: Final = re.compile(r"[{}]")
_SUPERSCRIPTS: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def decode(word: str) -> str:
    """Resolve entities, escapes, LaTeX and tags, and remove emoji; the result may contain whitespace.

    All arrows become `→`, table cells begin with a bar, and the names of tools become words.
    """
    word = _INVISIBLE.sub("", _ENTITY.sub(lambda found: html.unescape(found.group()), word))
    word = _LITERAL_BREAK.sub("\n", word)
    word = _TAG.sub(lambda tag: _OF_TAGS.get(tag[1].casefold(), ""), _ESCAPE.sub(r"\1", _without_latex(word)))
    word = _HYPHEN.sub("-", _EMOJI.sub("", _SHORTCODE.sub("", _ARROW.sub("→", word))))
    word = _TOOL.sub(lambda tool: _NEW_WORD.sub(" ", tool[1]).lower(), word)
    return found[1] if (found := _EMOTICON.fullmatch(word)) else word


@lru_cache(maxsize=16)
def tool_words(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the words of tools, as they are spoken, by the letters of their names."""
    words: dict[str, str] = {}
    for name in names:
        bare = name.rpartition("__")[2]
        short = _PREFIX.sub("", bare)
        spoken = " ".join(_NEW_WORD.sub(" ", short).lower().split())
        words |= {_letters(written): spoken for written in (name, bare, short)}
    return words


def without_tools(word: str, tools: Mapping[str, str]) -> str:
    """Replace names of tools, in any spelling, by words; the arguments of a call become the target of a link."""

    def spoken(found: re.Match[str]) -> str:
        words = tools.get(_letters(found[1]))
        return found[0] if words is None else words + found[2].replace("(", "](")

    return word if has_address(word) or "](" in word else _NAME.sub(spoken, word)


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def says_yes(word: str) -> bool | None:
    """Return the meaning of a tick or a cross; None for other words."""
    return _MARKS.get(word.removesuffix("\ufe0f"))


def without_targets(word: str) -> str:
    """Remove the targets of links; a target that does not end in the word remains from `](` on."""
    return _TARGET.sub("", _CITATION.sub("", word))


def has_address(word: str) -> bool:
    """Return True if a word contains the address of a page or a file."""
    return _ADDRESS.search(word) is not None


def without_marks(word: str, link: str) -> str:
    """Remove brackets, emphasis and code marks, and replace addresses by `link`."""
    word = word.replace("![", "").replace("[", "").replace("]", "")
    word = _ADDRESS.sub(lambda found: _of_address(found, link), word)
    word = _HIGHLIGHT.sub("", word.replace("~~", "").replace("`", ""))
    return _UNDERSCORES.sub(_of_underscores, _STARS.sub(_of_stars, word))


def _of_address(found: re.Match[str], link: str) -> str:
    address = found.group().removesuffix(">")
    after = address[len(address.rstrip(_AFTER_ADDRESS)) :]
    before = found.string[: found.start()]
    return f"{' ' if before[-1:].isalnum() else ''}{link}{after}"


def _of_stars(found: re.Match[str]) -> str:
    """Keep a multiplication sign."""
    before, after = found[1], found[2]
    multiplies = (before.isdigit() or before == ")") and (after.isdigit() or after == "(")
    return found.group() if multiplies else before


def _of_underscores(found: re.Match[str]) -> str:
    """Keep underscores within a name."""
    return found.group() if found[1].isalnum() and found[2].isalnum() else found[1]


def _without_latex(word: str) -> str:
    """Replace LaTeX commands and marks by the characters they stand for; the result may contain whitespace."""
    if not _MAY_BE_LATEX.search(word):
        return word
    word = _BEGIN.sub("", _FORMULA.sub(r"\1", _DELIMITER.sub("", word)))
    if "\\" in word and not _PATH.match(word):
        word = _COMMAND.sub(
            lambda found: _COMMANDS.get(found[1], found[0]), _FRACTION.sub(r"\1/\2", _THIN_SPACE.sub(" ", word))
        )
    word = _LOWERED.sub(r"\1", _RAISED.sub(lambda found: (found[1] or found[2]).translate(_SUPERSCRIPTS), word))
    return _BRACES.sub("", _END.sub("", word))


_CHINESE: Final = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HEADING: Final = re.compile(r"#{1,6}$|#{2,}")
_BULLET: Final = re.compile("[-*+·\u2013—]$|[‣◦▪]")
_QUOTE: Final = re.compile(r">+")
_RULE: Final = re.compile(r"[-_*=]{3,}+$|(?=[|:-]*+$)[|:-]*?--")
_LABEL: Final = re.compile(r"\[\^[^\[\]\s]*\]:|:$")
"""Begins a footnote or a definition."""
_NUMBER: Final = re.compile(r"\d{1,3}[.)]$")
_CELL_RULE: Final = re.compile(r":?-{2,}:?")
_CLOSERS: Final = "\"'”\u2019»)]}」』\uff09】"
_PAUSES: Final = ".!?…:;,-\u2013—。\uff01\uff1f\uff1a\uff1b、\uff0c،؛؟।॥"
_HUGS_THE_WORD_BEFORE: Final = ".,:;!?…"
_ASKS_FOR_VALUE: Final = ":\uff1a=\u2013—-"


class _Break(IntEnum):
    """The separation of two lines."""

    NONE = 0
    LINE = 1
    """A line end, perhaps within a sentence."""
    SENTENCE = 2
    """The end of a heading, list item, row or paragraph."""


@dataclass(slots=True)
class _Line:
    """The current line."""

    spoken: bool = False
    """True once a word of it was spoken."""
    stands_alone: bool = False
    """True for a heading, a list item or a table row."""
    is_heading: bool = False
    is_row: bool = False
    separator: bool = False
    """True between two cells."""
    value: str = ""
    """Spoken if no other value follows."""
    operator: bool = False
    """True after a star that is a multiplication sign, if a word follows."""


class SentenceBuilder:
    """Collects spoken words and decides what separates them."""

    def __init__(self) -> None:
        """Start without words."""
        self.started = False
        """True once anything was spoken."""
        self.has_words = False
        """True once a letter or a digit was spoken."""
        self._line = _Line()
        self._break = _Break.NONE
        self._space = False
        self._removed = False
        """True if text before the next word was removed."""
        self._last = ""
        """The last spoken character except closing quotes and brackets."""
        self._end = ""
        """The last spoken character."""
        self._out: list[str] = []

    @property
    def at_line_start(self) -> bool:
        """True if no word of the line was spoken."""
        return not self._line.spoken

    def take(self) -> str:
        """Return the text since the last call."""
        spoken = "".join(self._out)
        self._out.clear()
        return spoken

    def space(self) -> None:
        """Put a space before the next word."""
        self._space = True

    def begin_line(self, word: str) -> str:
        """Return a word without the mark that begins its line."""
        if self._line.spoken:
            return "" if self._line.is_heading and not word.strip("#") else word
        if _RULE.match(word):
            return ""
        for mark in (_HEADING, _BULLET, _QUOTE, _LABEL):
            if found := mark.match(word):
                self._line.is_heading = self._line.is_heading or mark is _HEADING
                self._line.stands_alone = self._line.stands_alone or mark is not _QUOTE
                return word[found.end() :]
        if _NUMBER.match(word):
            self._line.stands_alone = True
        return word

    def end_line(self) -> None:
        """End a line; an empty one ends a paragraph."""
        self.end()
        if self._line.spoken:
            self._break = _Break.SENTENCE if self._line.stands_alone else _Break.LINE
        elif self._break is not _Break.NONE:
            self._break = _Break.SENTENCE
        self._line = _Line()

    def multiplies(self) -> bool:
        """Return True if a single star is a multiplication sign; it is spoken before the next word."""
        self._line.operator = self._line.spoken and self._space and (self._end.isalnum() or self._end == ")")
        return self._line.operator

    def separate(self, mark: str) -> None:
        """End a table cell, or the part before an arrow or a dot; a line that begins with one stands alone."""
        self.end()
        self._line.is_row = self._line.is_row or mark == "|"
        self._line.stands_alone = self._line.stands_alone or self._line.is_row or not self._line.spoken
        self._line.separator = self._line.spoken

    def answer(self, word: str) -> None:
        """Speak a word at the end of the cell or line, if a value is expected and no other follows."""
        if self._line.spoken and (self._line.separator or self._end in _ASKS_FOR_VALUE):
            self._line.value = word

    def end(self) -> None:
        """Speak the value of a tick or a cross, since no other follows."""
        if value := self._line.value:
            self._space = not _CHINESE.match(self._end)
            self.speak(value)

    def speak(self, word: str) -> None:
        """Speak a word; an empty one marks removed text."""
        if not word or (self._line.is_row and _CELL_RULE.fullmatch(word)):
            self._removed = True
            return
        self._out.append(self._before(word) + word)
        self.started = self._line.spoken = True
        self.has_words = self.has_words or any(map(str.isalnum, word))
        self._line.separator = self._line.operator = False
        self._line.value = ""
        self._break = _Break.NONE
        self._space = self._removed = False
        self._last = word.rstrip(_CLOSERS)[-1:] or self._last
        self._end = word[-1]

    def _before(self, word: str) -> str:
        if not self.started:
            return ""
        if self._break is not _Break.NONE:
            return self._end_of_sentence(word)
        is_chinese = _CHINESE.match(self._last)
        if self._line.separator:
            comma = "\uff0c" if is_chinese else ", "
            return comma if self._last not in _PAUSES else " "
        if self._line.operator:
            return " * "
        closes = word[0] in _CLOSERS and (self._end.isalnum() or self._end in _HUGS_THE_WORD_BEFORE)
        if self._removed and (closes or word[0] in _HUGS_THE_WORD_BEFORE):
            return ""
        return " " if self._space else ""

    def _end_of_sentence(self, word: str) -> str:
        is_chinese = _CHINESE.match(self._last)
        gap = "" if is_chinese else " "
        if self._last in _PAUSES:
            return gap
        in_a_sentence = self._break is _Break.LINE and not self._line.stands_alone and word[0].islower()
        if in_a_sentence:
            return " "
        return "。" if is_chinese else ". "

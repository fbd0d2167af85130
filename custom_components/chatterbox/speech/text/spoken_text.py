"""Spoken text: phrases and dates by language, words without what only the eye reads, and sentences built from them.

Voices cut a stream of text into sentences by themselves (`sentence_stream`), and speak
each when it is whole. They take "3. Dezember" for two sentences, and "Plan B. The" for
one that may go on: `Pronunciation` writes out the one, and ends the other with an empty
line.
"""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import Final

from ...agent.text import base_language, read_data_file
from .language import LANGUAGES, UNITS, Dates, Ordinals, Phrases, WrittenOut

_LAST_NUMBER: Final = re.compile(r"(?<!\d)\d++(?:[.,]\d++)?(?=[*_]*+\Z)")
_ISO: Final = re.compile(
    r"(?<![\w/.:-])(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?(?![\w/-]|[.:]\w)"
)


def phrases(language: str) -> Phrases:
    """Return the words of a language, given as a BCP 47 tag; other languages have English sentences."""
    known = LANGUAGES.get(base_language(language))
    if known:
        return known.phrases
    return LANGUAGES["en"].phrases.model_copy(update={"link": "", "yes": "", "no": ""})


def spoken_dates(word: str, language: str) -> str:
    """Return a word with its ISO 8601 dates as they are spoken in a language, if it has month names here."""
    if "-" not in word or (known := LANGUAGES.get(base_language(language))) is None:
        return word
    return _ISO.sub(
        lambda found: _spoken_date(found, known.dates),
        word,
    )


def _spoken_date(
    found: re.Match[str],
    dates: Dates,
) -> str:
    try:
        day = date.fromisoformat(found[1])
    except ValueError:  # not a date
        return found.group()
    if found[2]:
        return f"{dates.text(day)}{dates.before_time}{found[2]}"
    return dates.text(day)


_DECIMALS: Final = read_data_file(__file__, dict[str, tuple[str, ...]], "decimals.toml")
_NUMBER_PATTERN: Final = (
    r"(?<![\w.,:/])(\d{1,6}+\.\d{1,2}+(?:[-\u2013]\d{1,6}+\.\d{1,2}+)?)"
)
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


def with_decimal_comma(
    word: str,
    after: str = "",
) -> str:
    """Return a word whose decimals have a comma, where a unit follows in the word or begins the word `after` it."""
    if _UNIT.match(after):
        pattern = _DECIMAL
    else:
        pattern = _DECIMAL_OF_UNIT
    return pattern.sub(
        lambda found: found[0].replace(".", ","),
        word,
    )


_ENTITY: Final = re.compile(
    r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});"
)
_ESCAPE: Final = re.compile(r"\\+([!-/:-@\[-`{-~]|$)")
_TAG: Final = re.compile(r"</?([A-Za-z][\w:-]*)/?>")
_REPLACEMENTS: Final = {
    kind: {name: text for text, names in texts.items() for name in names.split()}
    for kind, texts in read_data_file(
        __file__, dict[str, dict[str, str]], "markup.toml"
    ).items()
}
"""By the name of a tag, and by that of a command of LaTeX."""
_OF_TAGS: Final = _REPLACEMENTS["tags"]
_COMMANDS: Final = _REPLACEMENTS["commands"]

_ARROW: Final = re.compile(
    "[\u21d2\u2794\u279c\u27a1\u27f6\u27f9]\ufe0f?|(?<!\\S)[-=]>(?!\\S)"
)
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

_MARKS: Final = {
    **dict.fromkeys("✅✔✓☑", True),
    **dict.fromkeys("❌✖✗✘", False),
}
_END_OF_TARGET: Final = r"(?:[^()\s]|\([^()\s]*\))++\)"
_CITATION: Final = re.compile(
    rf"\[\[?\d{{1,3}}\]?\]\(https?:{_END_OF_TARGET}"
    r"|(?<=[\w.,!?;:)\]\"'])\[\d{1,3}(?:[,-]\d{1,3})*\]|\A\[\d{1,3}(?:[,-]\d{1,3})*\](?=[.!?]|\[\d)"
    r"|\[(?:citation|ref|source):\d{1,3}\]|\[\^[^\[\]\s]{1,40}\]|\[[xX]\](?!\()"
)
_PAGES: Final = rf"\((?:\[[\w.-]{{1,80}}\]\({_END_OF_TARGET}[,;]?\s*)+"
"""Pages that a search has found, under the names of their sites."""
BEGUN_SOURCES: Final = re.compile(rf"(?:{_PAGES}|【(?:\d{{1,3}}†[\w-]*)?)\Z")
SOURCES: Final = re.compile(rf"{_PAGES}\)|【\d{{1,3}}†[\w-]*】")
_TARGET: Final = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)|\]\[[^\[\]\s]*\]")
_ADDRESS: Final = re.compile(
    r"<?(?:(?:https?|ftp)://|www\.|mailto:|data:\w+/)[^\s<>\"]*>?", re.IGNORECASE
)
_AFTER_ADDRESS: Final = ".,;:!?)]}'*_…»”\u2019|"
_STARS: Final = re.compile(r"(?<![\d)*²³])\*++|(?<!\*)\*++(?![\d(])")
"""Stars but for a multiplication sign."""
_UNDERSCORES: Final = re.compile(r"(?<!\w)_++|(?<!_)_++(?![^\W_])")
"""Underscores but for those within a name."""

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

    All arrows become `→`, table cells begin with a bar, and the names of tools become
    words.
    """
    word = _INVISIBLE.sub(
        "", _ENTITY.sub(lambda found: html.unescape(found.group()), word)
    )
    word = _LITERAL_BREAK.sub("\n", word)
    word = _TAG.sub(
        lambda tag: _OF_TAGS.get(tag[1].casefold(), ""),
        _ESCAPE.sub(r"\1", _without_latex(word)),
    )
    word = _HYPHEN.sub(
        "-",
        _EMOJI.sub(
            "",
            _SHORTCODE.sub(
                "",
                _ARROW.sub("→", word),
            ),
        ),
    )
    word = _TOOL.sub(
        lambda tool: _NEW_WORD.sub(" ", tool[1]).lower(),
        word,
    )
    found = _EMOTICON.fullmatch(word)
    if found:
        return found[1]
    return word


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


def without_tools(
    word: str,
    tools: Mapping[str, str],
) -> str:
    """Replace names of tools, in any spelling, by words; the arguments of a call become the target of a link."""

    def spoken(found: re.Match[str]) -> str:
        words = tools.get(_letters(found[1]))
        if words is None:
            return found[0]
        return words + found[2].replace("(", "](")

    if has_address(word) or "](" in word:
        return word
    return _NAME.sub(spoken, word)


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
    word = (
        word.replace("![", "")
        .replace("[", "")
        .replace(
            "]",
            "",
        )
    )
    word = _ADDRESS.sub(
        lambda found: _of_address(found, link),
        word,
    )
    word = _HIGHLIGHT.sub(
        "",
        word.replace("~~", "").replace(
            "`",
            "",
        ),
    )
    return _UNDERSCORES.sub("", _STARS.sub("", word))


def _of_address(
    found: re.Match[str],
    link: str,
) -> str:
    address = found.group().removesuffix(">")
    after = address[len(address.rstrip(_AFTER_ADDRESS)) :]
    before = found.string[: found.start()]
    if before[-1:].isalnum():
        return f" {link}{after}"
    return link + after


def _without_latex(word: str) -> str:
    """Replace LaTeX commands and marks by the characters they stand for; the result may contain whitespace."""
    if not _MAY_BE_LATEX.search(word):
        return word
    word = _BEGIN.sub(
        "",
        _FORMULA.sub(
            r"\1",
            _DELIMITER.sub("", word),
        ),
    )
    if "\\" in word and not _PATH.match(word):
        word = _COMMAND.sub(
            lambda found: _COMMANDS.get(found[1], found[0]),
            _FRACTION.sub(
                r"\1/\2",
                _THIN_SPACE.sub(" ", word),
            ),
        )
    word = _LOWERED.sub(
        r"\1",
        _RAISED.sub(
            lambda found: (found[1] or found[2]).translate(_SUPERSCRIPTS), word
        ),
    )
    return _BRACES.sub("", _END.sub("", word))


_CHINESE: Final = re.compile(
    "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
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
_SENTENCE_ENDS: Final = ".!?…"
_CHINESE_ENDS: Final = (
    "。",
    "\uff01",
    "\uff1f",
)
_JOINER: Final = "\u2060"
"""Inaudible and invisible. Voices do not take a full stop before it for the end of a sentence."""
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


_OPENERS: Final = "\"'“„«\u201a\u2018(¿¡["
_TAIL: Final = ".,;:!?…" + _CLOSERS
_LETTER_UNITS: Final = "WVh"
"""Units of one letter that may follow a number without a space: "5G" and "4K" are names."""
_SYMBOLS_OF_UNITS: Final = sorted(
    {symbol for table in UNITS.values() for symbol in table}, key=len, reverse=True
)
_ATTACHED: Final = re.compile(
    r"(?<![\w.,])(\d++(?:[.,]\d++)?)("
    + "|".join(
        re.escape(one)
        for one in _SYMBOLS_OF_UNITS
        if len(one) > 1 or one in _LETTER_UNITS or not one.isascii()
    )
    + r")(?![\w/²³°])"
)
_TELLING: Final = frozenset("/°℃℉²³µ")
"""Characters of units that are none of any other word."""
_MONEY: Final = re.compile(r"([€$£])(\d{1,3}(?:[.,]\d{3})*|\d{4,9})(?:[.,](\d\d))?")
_RATIO: Final = re.compile(r"(\d{1,3}):(\d)")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.)+")
_DOMAINS: Final = (
    "alarm_control_panel automation binary_sensor button calendar camera climate conversation cover "
    "device_tracker  event fan group homeassistant humidifier image input_boolean input_button input_datetime "
    "input_number  input_select input_text lawn_mower light lock media_player notify number person remote scene "
    "schedule script select sensor  siren sun switch text timer todo tts update vacuum valve water_heater weather "
    "zone"
)
_ENTITY_ID: Final = re.compile(rf"(?:{'|'.join(_DOMAINS.split())})\.[a-z0-9]\w*+")
"""The id of an entity, or the name of an action."""
_NO_RULES: Final = WrittenOut()


@lru_cache(maxsize=16)
def _phrases_of(
    language: str, names: tuple[str, ...]
) -> tuple[frozenset[str], frozenset[str], int]:
    """Return folded names, the beginnings of names and abbreviations of several words, and the most words of one."""
    known = LANGUAGES.get(language)
    rules = known.written_out if known else _NO_RULES
    keys = (
        *rules.abbreviations,
        *rules.final,
        *map(str.casefold, names),
    )
    begun = {
        key[:at] for key in keys for at, character in enumerate(key) if character == " "
    }
    return (
        frozenset(map(str.casefold, names)),
        frozenset(begun),
        max(
            (key.count(" ") + 1 for key in keys),
            default=1,
        ),
    )


@lru_cache(maxsize=16)
def _starters(words: str) -> re.Pattern[str]:
    """Return a pattern for the beginning of a sentence; a letter with a full stop is none."""
    either = "|".join(
        word if word[-1] == "'" else rf"{word}(?![\w.])" for word in words.split()
    )
    return re.compile(either or r"(?!)")


class Pronunciation:
    """Writes out spoken words that voices read badly, and ends sentences.

    A word waits only where the next one counts.
    """

    def __init__(
        self,
        language: str,
        names: tuple[str, ...] = (),
        pause: str = "",
    ) -> None:
        """Leave `names` as they are, and put `pause` between sentences instead of what is there."""
        code = base_language(language)
        if code in LANGUAGES:
            self.rules = LANGUAGES[code].written_out
        else:
            self.rules = _NO_RULES
        self._units = UNITS.get(code, {})
        self._names, self._begun, self._most = _phrases_of(
            code,
            names,
        )
        self._pause = pause
        self._held: list[tuple[str, str]] = []
        """Words and what separates them from those before."""
        self._before = ""
        """The last spoken text."""
        self._is_first = True
        """True if the last spoken text may be the number of a list item."""
        self._in_date = False
        """True after an ordinal that an ordinal follows, for the month."""
        self._dot = False
        """True after an abbreviation whose full stop ends a sentence if the next word begins one."""
        self._out: list[str] = []

    def take(self) -> str:
        """Return the text since the last call."""
        spoken = "".join(self._out)
        self._out.clear()
        return spoken

    def add(
        self,
        gap: str,
        word: str,
    ) -> None:
        """Add a word; a gap of a line break follows the end of a sentence."""
        self._held.append((gap, word))
        while self._held and self._speak_first():
            pass

    def end(self) -> None:
        """Speak what waits for a next word."""
        while self._held:
            self._speak_first(is_last=True)
        if self._dot:
            self._out.append(".")
        self._dot = False

    def _speak_first(self, *, is_last: bool = False) -> bool:
        """Speak the first held words that belong together; False to wait for the next one."""
        begun = self._joined(len(self._held)).lstrip(_OPENERS)
        if not is_last and not self._begun.isdisjoint(
            (begun, begun.casefold(), _uncapital(begun))
        ):
            return False
        gap, first = self._held[0]
        following = [word for _, word in self._held[1:]] + [""]
        if not (following[0] or is_last) and self._needs_next(first, gap):
            return False
        counts = range(
            min(len(self._held), self._most),
            0,
            -1,
        )
        found = (
            (count, self._phrase(self._joined(count), gap, following[count - 1]))
            for count in counts
        )
        count, phrase = next(
            ((count, phrase) for count, phrase in found if phrase), (1, None)
        )
        words, dot = phrase or (self._word(first, gap, following[0]), False)
        self._out.append(self._separated(gap, first) + words)
        if words.strip(_CLOSERS):
            self._before = words
        else:
            self._before = self._before + words
        self._dot = dot
        del self._held[:count]
        return True

    def _joined(self, count: int) -> str:
        return self._held[0][1] + "".join(
            gap + word for gap, word in self._held[1:count]
        )

    def _needs_next(
        self,
        text: str,
        gap: str,
    ) -> bool:
        """Return whether the words for a text depend on the next one."""
        _, body, tail = _parts(text)
        if tail[:1] == "." and _known(f"{body}.", self.rules.numbered):
            return True
        if tail == "." and _is_ordinal(body):
            return self.rules.ordinals is not None or body == "1" or self._begins(gap)
        if self._ends_item(text, gap):
            return True
        return not tail and (
            _MONEY.fullmatch(body) is not None
            or bool(_known(body, self.rules.numbered))
        )

    def _phrase(
        self,
        text: str,
        gap: str,
        following: str,
    ) -> tuple[str, bool] | None:
        """Return the words for a name or an abbreviation, and whether its full stop may end a sentence."""
        lead, body, tail = _parts(text)
        if not {body.casefold(), f"{body}.".casefold()}.isdisjoint(self._names):
            return text.replace(". ", f".{_JOINER} "), False
        if tail[:1] == "." and (
            found := self._abbreviation(f"{body}.", gap, following)
        ):
            return lead + found[0] + tail[1:], found[1] and tail == "."
        found = self._abbreviation(
            body,
            gap,
            following,
        )
        if found:
            return (lead + found[0] + tail, False)
        return None

    def _abbreviation(
        self, key: str, gap: str, following: str
    ) -> tuple[str, bool] | None:
        rules = self.rules
        if gap == " ":
            number = self._last_number()
        else:
            number = ""
        if number and (words := _known(key, rules.amounts)):
            return self._unit(words, number) or words, True
        is_answer = key == "No." and self._begins(gap)
        if any(map(str.isdigit, following[:2])) and not is_answer:
            numbered = rules.numbered
        else:
            numbered = {}
        words = numbered.get(f"{self._before.casefold()} {key}") or _known(
            key, numbered
        )
        if words:
            return words, False
        words = _known(key, rules.abbreviations)
        if words:
            return words, False
        words = _known(key, rules.final)
        if words:
            return (words, True)
        return None

    def _word(
        self,
        text: str,
        gap: str,
        following: str,
    ) -> str:
        """Return a single word as it is spoken."""
        lead, body, tail = _parts(text)
        if following and self._ends_item(text, gap):
            return ":"
        if _is_ordinal(body) and tail == "." and following:
            return lead + self._number(gap, body, following)
        return lead + (self._written_out(body, gap, following) or body) + tail

    def _written_out(
        self,
        body: str,
        gap: str,
        following: str,
    ) -> str:
        """Return the words for a number, a unit or an id; empty for any other word."""
        rules = self.rules
        if gap in ("", " "):
            number = self._last_number()
        else:
            number = ""
        is_date = gap == " " and self._before.casefold() in rules.date_words.split()
        if body in rules.fractions and not (number or is_date):
            return rules.fractions[body]
        if rules.ratio and (ratio := _RATIO.fullmatch(body)):
            return rules.ratio.format(*ratio.groups())
        money = _MONEY.fullmatch(body)
        if money and money[1] in rules.currencies:
            has_more = following.rstrip(_TAIL) in rules.magnitudes.split()
            if has_more:
                return ""
            return self._money(*money.groups())
        if _ENTITY_ID.fullmatch(body):
            return body.replace(".", " ").replace(
                "_",
                " ",
            )
        if body in self._units and (number or not _TELLING.isdisjoint(body)):
            return self._unit(body, number)
        return _ATTACHED.sub(self._measure, body)

    def _last_number(self) -> str:
        """Return the number with which the text before ends; empty if there is none."""
        found = _LAST_NUMBER.search(self._before)
        return found[0] if found else ""

    def _measure(self, found: re.Match[str]) -> str:
        words = self._unit(found[2], found[1])
        if words:
            return f"{found[1]}{self.rules.gap}{words}"
        return found[0]

    def _unit(
        self,
        symbol: str,
        number: str,
    ) -> str:
        forms = self._units.get(symbol)
        if forms:
            return self._form(forms, number)
        return ""

    def _form(
        self,
        forms: Mapping[str, str],
        number: str,
    ) -> str:
        return forms.get(self.rules.plural(number), forms["other"])

    def _money(
        self,
        sign: str,
        whole: str,
        cents: str | None,
    ) -> str:
        gap = self.rules.gap
        name = self._form(
            self.rules.currencies[sign],
            whole,
        )
        if not gap:
            if cents:
                return f"{whole}.{cents}{name}"
            return whole + name
        amount = f"{whole}{gap}{name}"
        if cents and int(cents):
            return amount + gap + cents
        return amount

    def _number(
        self,
        gap: str,
        body: str,
        following: str,
    ) -> str:
        """Return a number with a full stop, which is an ordinal, that of a list item, or the end of a sentence."""
        ordinals = self.rules.ordinals
        next_word = following.lstrip(_OPENERS).rstrip(_TAIL)
        begins = self._begins(gap)
        may_be_date = _is_ordinal(next_word) and following.endswith(".") and not begins
        is_date = self._in_date
        self._in_date = False
        if ordinals and (is_date or may_be_date or following[0].isupper()):
            if gap == " ":
                before = self._before.casefold()
            else:
                before = ""
            is_before = next_word in ordinals.after.split()
            if is_date or is_before or before in ordinals.before.split():
                self._in_date = may_be_date
                word = self._ordinal(
                    ordinals,
                    int(body),
                    f"{before} {next_word}",
                )
                is_last = not is_before and self._starts_sentence(following)
                return (word.capitalize() if begins else word) + "." * is_last
        if next_word == "FC" or may_be_date:
            return body
        return self._with_stop(
            body,
            following,
            begins=begins,
        )

    def _with_stop(
        self,
        body: str,
        following: str,
        *,
        begins: bool,
    ) -> str:
        """Return a number with the full stop of its sentence, or with a colon where it is that of a list item."""
        is_list = begins or (body == "1" and self._before.endswith(":"))
        is_ordinal = self.rules.ordinals is not None and following[0].islower()
        if is_list and not is_ordinal:
            return f"{body}:"
        return f"{body}."

    def _ordinal(
        self,
        ordinals: Ordinals,
        number: int,
        around: str,
    ) -> str:
        words = ordinals.words.split()
        if not 0 < number <= len(words):
            return str(number)
        return words[number - 1] + next(
            ending
            for pattern, ending in ordinals.endings
            if re.fullmatch(pattern, around)
        )

    def _separated(
        self,
        gap: str,
        text: str,
    ) -> str:
        """Return what separates a text from the one before: between sentences, the pause."""
        has_dot = self._dot
        self._dot = False
        was_first = self._is_first
        self._is_first = True
        if gap in (". ", "。"):
            is_number_of_item = was_first and gap == ". " and _is_ordinal(self._before)
            if is_number_of_item:
                return ": "
            return gap[0] + (self._pause or gap[1:])
        ends = self._ends_between(
            gap,
            text,
            has_dot=has_dot,
        )
        is_first_number = text == "1" and self._before.endswith(":")
        self._is_first = ends or is_first_number or not self._before
        if ends and self._pause:
            space = self._pause
        else:
            space = gap.replace("\n", " ")
        if has_dot and ends:
            return f".{space}"
        return space

    def _ends_between(
        self,
        gap: str,
        text: str,
        *,
        has_dot: bool,
    ) -> bool:
        """Return whether a sentence ends before the gap before a text."""
        if gap == "\n":
            return True
        if has_dot:
            capital = self.rules.capitals_start and text.lstrip(_OPENERS)[:1].isupper()
            return gap == " " and (capital or self._starts_sentence(text))
        if not gap:
            return self._before[-1:] in _CHINESE_ENDS and text[0] not in _CLOSERS
        return self._ends_before(text)

    def _ends_item(
        self,
        text: str,
        gap: str,
    ) -> bool:
        """Return whether a full stop that stands alone follows the number of a list item."""
        return (text, gap) == (".", "") and self._is_first and _is_ordinal(self._before)

    def _begins(self, gap: str) -> bool:
        """Return whether a number after a gap begins a sentence."""
        return (
            not self._before
            or gap in (". ", "。", "\n")
            or (gap == " " and self._ends_before("1"))
        )

    def _ends_before(self, text: str) -> bool:
        """Return whether a sentence has ended before a text."""
        last = self._before.rstrip(_CLOSERS)
        if last[-1:] not in _SENTENCE_ENDS or not last:
            return False
        if _INITIALS.fullmatch(last.rpartition(" ")[2].lstrip(_OPENERS)):
            return self._starts_sentence(text)
        first = text.lstrip(_OPENERS)[:1]
        return (
            text[0] in "¿¡"
            or first.isdigit()
            or (first.isalpha() and not first.islower())
        )

    def _starts_sentence(self, text: str) -> bool:
        starters = _starters(self.rules.starters)
        first = text.lstrip(_OPENERS).replace(
            "\u2019",
            "'",
        )
        return text[0] in "¿¡" or starters.match(first) is not None


_MAY_CHANGE: Final = re.compile(r"[\d./:°]")
"""Characters of names that voices hear in other words, but for abbreviations without a full stop."""


def names_in_other_words(
    names: Iterable[str],
    language: str,
) -> tuple[str, ...]:
    """Return those names that voices would hear in other words."""
    rules = Pronunciation(language).rules
    return tuple(
        name
        for name in names
        if (
            _MAY_CHANGE.search(name)
            or any(_known(word, rules.abbreviations) for word in name.split())
        )
        and _in_words(name, language) != name
    )


def _in_words(name: str, language: str) -> str:
    """Return a name in the words that voices hear."""
    pronunciation = Pronunciation(language)
    for place, word in enumerate(name.split()):
        pronunciation.add(" " if place else "", word)
    pronunciation.end()
    return pronunciation.take()


def _parts(text: str) -> tuple[str, str, str]:
    """Return the opening marks of a text, what is between, and the closing marks."""
    rest = text.lstrip(_OPENERS)
    body = rest.rstrip(_TAIL)
    return text[: len(text) - len(rest)], body, rest[len(body) :]


def _is_ordinal(body: str) -> bool:
    return body.isdecimal() and len(body) <= 2  # noqa: PLR2004  # as days and floors have


def _known(
    key: str,
    table: Mapping[str, str],
) -> str:
    """Return the words for an abbreviation, with a capital letter if it has one at the start of a sentence."""
    words = table.get(key)
    if words:
        return words
    words = table.get(_uncapital(key), "")
    return words[:1].upper() + words[1:]


def _uncapital(text: str) -> str:
    return text[:1].lower() + text[1:]


class SentenceBuilder:
    """Collects spoken words and decides what separates them."""

    def __init__(self, pronunciation: Pronunciation) -> None:
        """Start without words."""
        self._pronunciation = pronunciation
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

    @property
    def at_line_start(self) -> bool:
        """True if no word of the line was spoken."""
        return not self._line.spoken

    def take(self) -> str:
        """Return the text since the last call."""
        return self._pronunciation.take()

    def space(self) -> None:
        """Put a space before the next word."""
        self._space = True

    def begin_line(self, word: str) -> str:
        """Return a word without the mark that begins its line."""
        if self._line.spoken:
            if self._line.is_heading and not word.strip("#"):
                return ""
            return word
        if _RULE.match(word):
            return ""
        for mark in (_HEADING, _BULLET, _QUOTE, _LABEL):
            found = mark.match(word)
            if found:
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
            if self._line.stands_alone:
                self._break = _Break.SENTENCE
            else:
                self._break = _Break.LINE
        elif self._break is not _Break.NONE:
            self._break = _Break.SENTENCE
        self._line = _Line()

    def multiplies(self) -> bool:
        """Return True if a single star is a multiplication sign; it is spoken before the next word."""
        self._line.operator = (
            self._line.spoken
            and self._space
            and (self._end.isalnum() or self._end == ")")
        )
        return self._line.operator

    def separate(self, mark: str) -> None:
        """End a table cell, or the part before an arrow or a dot; a line that begins with one stands alone."""
        self.end()
        self._line.is_row = self._line.is_row or mark == "|"
        self._line.stands_alone = (
            self._line.stands_alone or self._line.is_row or not self._line.spoken
        )
        self._line.separator = self._line.spoken

    def answer(self, word: str) -> None:
        """Speak a word at the end of the cell or line, if a value is expected and no other follows."""
        if self._line.spoken and (self._line.separator or self._end in _ASKS_FOR_VALUE):
            self._line.value = word

    def finish(self) -> str:
        """Return the rest of the text."""
        self._pronunciation.end()
        return self.take()

    def end(self) -> None:
        """Speak the value of a tick or a cross, since no other follows."""
        value = self._line.value
        if value:
            self._space = not _CHINESE.match(self._end)
            self.speak(value)

    def speak(self, word: str) -> None:
        """Speak a word; an empty one marks removed text."""
        if not word or (self._line.is_row and _CELL_RULE.fullmatch(word)):
            self._removed = True
            return
        self._pronunciation.add(
            self._before(word),
            word,
        )
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
            if self._last not in _PAUSES:
                return comma
            return " "
        if self._line.operator:
            return " * "
        closes = word[0] in _CLOSERS and (
            self._end.isalnum() or self._end in _HUGS_THE_WORD_BEFORE
        )
        if self._removed and (closes or word[0] in _HUGS_THE_WORD_BEFORE):
            return ""
        return " " if self._space else ""

    def _end_of_sentence(self, word: str) -> str:
        is_chinese = _CHINESE.match(self._last)
        gap = "" if is_chinese else " "
        if self._last in _PAUSES:
            if gap and self._last in _SENTENCE_ENDS:
                return "\n"
            return gap
        in_a_sentence = (
            self._break is _Break.LINE
            and not self._line.stands_alone
            and word[0].islower()
        )
        if in_a_sentence:
            return " "
        return "。" if is_chinese else ". "

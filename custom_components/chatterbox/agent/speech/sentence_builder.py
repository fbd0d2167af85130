"""Joins the words of an answer to sentences: spaces, line ends, list items and table cells become pauses."""

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

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

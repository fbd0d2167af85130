"""Turns an answer, while it arrives, into what a voice should say of it.

Knows Markdown and HTML as far as they span words and lines, and what ends a sentence. Works
word by word, so that a word is all that is held back and no cut makes a difference. Must not
know who speaks.
"""

import re
from typing import Final

from .dates import spoken_dates
from .phrases import phrases
from .voice import Voice
from .word_stream import Word, WordStream
from .words import decode, has_address, says_yes, without_marks, without_targets

_FENCE: Final = re.compile(r"```+|(?<!\S)~~~+")
_SPACE: Final = re.compile(r"\s")
_SEPARATOR: Final = re.compile("[|→•]")
_PART: Final = re.compile(r"\s|[|→•]|[^\s|→•]+")
_BEGUN_TAG: Final = re.compile(r"</?[A-Za-z][\w:-]*+")
_ATTRIBUTE: Final = re.compile(r"[\w:-]+=|/?>")
_COMMENT_START: Final = "<!--"
_COMMENT_END: Final = "-->"
_REFERENCE: Final = re.compile(r"\[\d{1,3}\]:")
"""What begins a line that tells where a link leads."""
_AFTER_MARK: Final = ".,;"
"""What ends the value that a tick or a cross stands for."""
_TARGET_START: Final = "]("


def speakable(text: str, language: str) -> str:
    """Return what a voice should say of a whole text."""
    speech = SpeechFilter(language)
    return speech.feed(text) + speech.finish()


class SpeechFilter:
    """Filters one answer. Give it all pieces in order, then finish."""

    def __init__(self, language: str) -> None:
        """Speak `language`, a BCP 47 tag, where words have to be put in."""
        self._language = language
        self._phrases = phrases(language)
        self._words = WordStream()
        self._voice = Voice()
        self._in_code = False
        self._skipped_until = ""
        self._begun_tag = ""
        """What may be a tag, if an attribute follows."""
        self._space_after_tag = False
        self._written = self._unreadable = False

    def feed(self, text: str) -> str:
        """Take more of the answer; return what can be spoken now."""
        for word in self._words.feed(text):
            self._take(word)
        return self._voice.take()

    def finish(self) -> str:
        """Return what is left; a sentence in place of an answer of which nothing can be spoken."""
        for word in self._words.finish():
            self._take(word)
        self._end_tag()
        self._voice.end()
        if self._written and not self._voice.has_words:
            self._voice.space()
            self._voice.speak(self._phrases.unreadable if self._unreadable else self._phrases.okay)
        return self._voice.take()

    def _take(self, word: Word) -> None:
        if word.text:
            self._written = True
            self._take_word(word)
        self._take_space(word.space)

    def _take_space(self, space: str) -> None:
        if space == "\n":
            self._end_tag()
            self._skipped_until = _COMMENT_END if self._skipped_until == _COMMENT_END else ""
            self._voice.end_line()
        elif self._begun_tag:
            self._space_after_tag = bool(space)
        elif space:
            self._voice.space()

    def _take_word(self, word: Word) -> None:
        text = word.text
        if word.is_cut:
            self._unreadable = True
            text = text.partition(_TARGET_START)[0] if has_address(text) else ""
        if self._begun_tag and _ATTRIBUTE.match(word.text):
            self._begun_tag, self._skipped_until = "", ">"
        if self._skipped_until:
            _, end, text = text.partition(self._skipped_until)
            self._skipped_until = "" if end else self._skipped_until
        self._end_tag()
        parts = _FENCE.split(text)
        while len(parts) > 1:
            if self._in_code:
                self._in_code = False
                parts = parts[1:]
            elif len(parts) > 2:  # noqa: PLR2004  # a pair of fences within the word
                parts = ["".join(parts[:3]), *parts[3:]]
            else:
                self._take_text(parts[0], before_space=False)
                self._in_code = self._unreadable = True
                return
        if not self._in_code:
            self._take_text(parts[0], before_space=bool(word.space))

    def _take_text(self, text: str, *, before_space: bool) -> None:
        """Take a word that is no code: take off its markup until there is none."""
        mark = text.rstrip(_AFTER_MARK)
        if (yes := says_yes(mark)) is not None:
            self._voice.answer(self._phrases.yes if yes else self._phrases.no)
            if mark != text:
                self._voice.end()
        if self._voice.at_line_start and _REFERENCE.fullmatch(text):
            self._skipped_until = "\n"
            return
        begins_with = text[:1]
        before = ""
        while text != before:
            before = text
            text = spoken_dates(decode(_without_comments(text)), self._language)
            if _SPACE.search(text) or (_SEPARATOR.search(text) and not has_address(text)):
                self._take_parts(text, before_space=before_space)
                return
            text = self._cut(text)
            if text == "*" and before_space and self._voice.multiplies():
                return
            text, target, _ = without_targets(self._voice.begin_line(text)).partition(_TARGET_START)
            self._skipped_until = ")" if target else self._skipped_until
            self._unreadable = self._unreadable or bool(target) or has_address(text)
            text = without_marks(text, self._phrases.link)
        if not text.startswith(begins_with):
            self._voice.speak("")  # something was taken out
        self._voice.speak(text)

    def _take_parts(self, text: str, *, before_space: bool) -> None:
        for part in _PART.findall(text):
            if part.isspace():
                self._take_space(part)
            elif _SEPARATOR.match(part):
                self._voice.separate(part)
            else:
                self._take_text(part, before_space=before_space)

    def _cut(self, text: str) -> str:
        """Cut a word where a tag or a comment begins that ends in another word."""
        text, comment, _ = text.partition(_COMMENT_START)
        self._skipped_until = _COMMENT_END if comment else self._skipped_until
        begins = len(text)
        while (at := text.rfind("<", 0, begins)) >= 0 and _BEGUN_TAG.fullmatch(text, at, begins):
            begins = at
        if begins < len(text):
            self._begun_tag, self._space_after_tag = text[begins:], False
        return text[:begins]

    def _end_tag(self) -> None:
        """Speak what began like a tag and was none."""
        if self._begun_tag:
            self._voice.speak(without_marks(self._begun_tag, self._phrases.link))
            self._begun_tag = ""
            if self._space_after_tag:
                self._voice.space()


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (begins := text.find(_COMMENT_START, at)) >= 0:
        ends = text.find(_COMMENT_END, begins + len(_COMMENT_START))
        if ends < 0:
            break
        kept.append(text[at:begins])
        at = ends + len(_COMMENT_END)
    return "".join((*kept, text[at:]))

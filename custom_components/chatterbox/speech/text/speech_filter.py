"""The filter from written to spoken text, piece by piece as an answer streams, and the check whether it asks back."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ...agent.json.text import as_object, parse_json
from ...agent.text import base_language
from .language import LANGUAGES
from .spoken_text import (
    BEGUN_SOURCES,
    SOURCES,
    Pronunciation,
    SentenceBuilder,
    decode,
    has_address,
    has_decimal_comma,
    may_be_decimal,
    may_begin_unit,
    phrases,
    says_yes,
    spoken_dates,
    tool_words,
    with_decimal_comma,
    without_marks,
    without_targets,
    without_tools,
)

LONGEST_WORD: Final = 200
"""Characters; anything longer is data."""

_BOUNDARY: Final = re.compile(
    r"\s|["
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"  # Chinese, Japanese
    "]"
)
"""Ends a word: a space, or any character of a script without spaces."""
_PUNCTUATION: Final = ".!?…,;:"
_FENCE: Final = re.compile(r"```+|(?<!\S)~~~+")
_SPACE: Final = re.compile(r"\s")
_SEPARATOR: Final = re.compile("[|→•]")
_PART: Final = re.compile(r"\s|[|→•]|[^\s|→•]+")
_BEGUN_TAG: Final = re.compile(r"</?[A-Za-z][\w:-]*+")
_ATTRIBUTE: Final = re.compile(r"[\w:-]+=|/?>")
_COMMENT_START: Final = "<!--"
_COMMENT_END: Final = "-->"
_REFERENCE: Final = re.compile(r"\[\d{1,3}\]:")
"""Begins the definition of a numbered link."""
_SOURCES: Final = re.compile(r"\[[1-9]\d{0,2}(?:,\d{1,3})*,\Z")
"""The first of several numbers of sources with spaces between them."""
_LONGEST_SOURCES: Final = 2_000
"""Characters of a list of sources."""
_SOURCE: Final = "[source:1]"
"""A citation, which is not spoken."""
_BETWEEN: Final = (",", ";")
_AFTER_MARK: Final = ".,;"
"""Ends a tick or a cross that is a value."""
_TARGET_START: Final = "]("
_LONGEST_OBJECT: Final = 2_000
"""Characters of an answer that is a JSON object."""
_PIECE: Final = 1_000
"""Characters of a whole answer that are read at once."""


def speakable(text: str, language: str) -> str:
    """Return the text for speech of a whole answer."""
    speech = SpeechFilter(language)
    return speech.feed(text) + speech.finish()


async def speakable_in_pieces(
    text: str,
    speech: SpeechFilter,
) -> str:
    """Return what a filter makes of a whole answer, which may be long: others get their turn meanwhile."""
    spoken: list[str] = []
    for start in range(0, len(text), _PIECE):
        if start:
            await asyncio.sleep(0)
        spoken.append(speech.feed(text[start : start + _PIECE]))
    return "".join(spoken) + speech.finish()


class SpeechFilter:
    """Filters one answer. Pass all pieces to `feed` in order, then call `finish`."""

    def __init__(
        self,
        language: str,
        tools: Iterable[str] = (),
        names: Iterable[str] = (),
        pause: str = "",
    ) -> None:
        """Insert words in `language`, a BCP 47 tag. The names of `tools` are not spoken, however they are written.

        `names` are spoken as they are. `pause` replaces the space between sentences.
        """
        self._language = language
        self._tools = tool_words(tuple(tools))
        self._phrases = phrases(language)
        self._words = WordStream()
        self._sources = _Sources()
        self._has_comma = has_decimal_comma(language)
        self._number: Word | None = None
        """A decimal, until the next word shows whether it has a unit."""
        self._before = ""
        """The word before."""
        self._sentences = SentenceBuilder(Pronunciation(language, tuple(names), pause))
        self._in_code = False
        self._skipped_until = ""
        self._begun_tag = ""
        """May be a tag, if an attribute follows."""
        self._space_after_tag = False
        self._written = self._unreadable = False
        self._object: str | None = ""
        """The text so far, while the answer may be a JSON object."""

    def feed(self, text: str) -> str:
        """Add a piece of the answer and return the text that can be spoken now."""
        if self._object is not None:
            self._object += text
            begun = self._object.lstrip()
            if not begun or (begun[0] == "{" and len(begun) <= _LONGEST_OBJECT):
                return ""
            text = self._object
            self._object = None
        return self._feed(text)

    def _feed(self, text: str) -> str:
        self._take_words(self._words.feed(text))
        if self._number and self._words.begun and not may_begin_unit(self._words.begun):
            number = self._number
            self._number = None
            self._take(number)
        return self._sentences.take()

    def finish(self) -> str:
        """Return the rest of the text, or a sentence in place of an answer without any text for speech."""
        if self._object:
            spoken = self._feed(_without_object(self._object))
        else:
            spoken = ""
        self._take_words(self._words.finish())
        for word in (*self._sources.finish(), Word("")):
            self._take_number(word)
        self._end_tag()
        self._sentences.end()
        if self._written and not self._sentences.has_words:
            self._sentences.space()
            self._sentences.speak(
                self._phrases.unreadable if self._unreadable else self._phrases.okay
            )
        return spoken + self._sentences.finish()

    def _take_words(self, words: Iterable[Word]) -> None:
        for word in words:
            self._written |= bool(word.text)
            for other in self._sources.take(word):
                self._take_number(other)

    def _take_number(self, word: Word) -> None:
        """Take a word; a decimal waits for the next one. Between two words may be several spaces."""
        number = self._number
        if number is not None and not word.text and word.space and word.space != "\n":
            return
        self._number = None
        if number is not None:
            self._take(replace(number, text=with_decimal_comma(number.text, word.text)))
        if self._has_comma and "." in word.text:
            word = replace(
                word,
                text=with_decimal_comma(word.text),
            )
            if word.space and word.space != "\n" and may_be_decimal(word.text):
                self._number = word
                return
        self._take(word)

    def _take(self, word: Word) -> None:
        if word.text:
            self._take_word(word)
        self._take_space(word.space)

    def _take_space(self, space: str) -> None:
        if space == "\n":
            self._end_tag()
            if self._skipped_until != _COMMENT_END:
                self._skipped_until = ""
            self._sentences.end_line()
        elif self._begun_tag:
            self._space_after_tag = bool(space)
        elif space:
            self._sentences.space()

    def _take_word(self, word: Word) -> None:
        text = word.text
        if word.is_cut:
            self._unreadable = True
            if has_address(text):
                text = text.partition(_TARGET_START)[0]
            else:
                text = ""
        if self._begun_tag and _ATTRIBUTE.match(word.text):
            self._begun_tag = ""
            self._skipped_until = ">"
        if self._skipped_until:
            _, end, text = text.partition(self._skipped_until)
            if end:
                self._skipped_until = ""
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
            self._take_text(
                parts[0],
                before_space=bool(word.space),
            )

    def _take_text(
        self,
        text: str,
        *,
        before_space: bool,
    ) -> None:
        """Add a word outside of code, and remove markup until there is none."""
        self._take_mark(text)
        if self._sentences.at_line_start and _REFERENCE.fullmatch(text):
            self._skipped_until = "\n"
            return
        begins_with = text[:1]
        before = ""
        while text != before:
            before = text
            text = without_tools(_without_comments(text), self._tools)
            text = spoken_dates(decode(text), self._language)
            if _has_parts(text):
                self._take_parts(text, before_space=before_space)
                return
            text = self._cut(text)
            if self._ends_with_note(text, before_space=before_space):
                text = ""
            if text == "*" and before_space and self._sentences.multiplies():
                return
            text = self._sentences.begin_line(text)
            text, target, _ = without_targets(text).partition(_TARGET_START)
            if target:
                self._skipped_until = ")"
            self._unreadable |= bool(target) or has_address(text)
            text = without_marks(text, self._phrases.link)
        self._before = text
        is_entity = begins_with == "&"  # which stands for a character
        if not (is_entity or text.startswith(begins_with)):
            self._sentences.speak("")  # markup was removed
        self._sentences.speak(text)

    def _take_mark(self, text: str) -> None:
        """Add yes or no for a tick or a cross."""
        mark = text.rstrip(_AFTER_MARK)
        yes = says_yes(mark)
        if yes is None:
            return
        self._sentences.answer(self._phrases.yes if yes else self._phrases.no)
        if mark != text:
            self._sentences.end()

    def _ends_with_note(
        self,
        text: str,
        *,
        before_space: bool,
    ) -> bool:
        """Return whether a word is the number of a source, after a text."""
        is_last = not before_space or self._before.endswith((".", "!", "?"))
        is_inside = is_last and not self._sentences.at_line_start
        return is_inside and _REFERENCE.fullmatch(f"{text}:") is not None

    def _take_parts(
        self,
        text: str,
        *,
        before_space: bool,
    ) -> None:
        for part in _PART.findall(text):
            if part.isspace():
                self._take_space(part)
            elif _SEPARATOR.match(part):
                self._sentences.separate(part)
            else:
                self._take_text(part, before_space=before_space)

    def _cut(self, text: str) -> str:
        """Cut a word where a tag, a comment or a list of sources begins that ends in another word."""
        text, comment, _ = text.partition(_COMMENT_START)
        if comment:
            self._skipped_until = _COMMENT_END
        begins = len(text)
        while (at := text.rfind("<", 0, begins)) >= 0 and _BEGUN_TAG.fullmatch(
            text, at, begins
        ):
            begins = at
        if begins < len(text):
            self._begun_tag = text[begins:]
            self._space_after_tag = False
        text = text[:begins]
        sources = _SOURCES.search(text)
        if sources:
            text = text[: sources.start()]
            self._skipped_until = "]"
        return text

    def _end_tag(self) -> None:
        """Speak text that began like a tag and was none."""
        if self._begun_tag:
            self._sentences.speak(without_marks(self._begun_tag, self._phrases.link))
            self._begun_tag = ""
            if self._space_after_tag:
                self._sentences.space()


def _without_object(text: str) -> str:
    """Return the only sentence of a JSON object, as small models write it; any other text as it is."""
    try:
        value = parse_json(text.strip())
    except ValueError:
        return text
    values = [part for part in as_object(value).values() if part]
    texts = [part for part in values if isinstance(part, str)]
    is_plain = (
        len(texts) == 1
        and " " in texts[0]
        and not any(isinstance(part, dict | list) for part in values)
    )
    return texts[0] if is_plain else text


def _has_parts(text: str) -> bool:
    """Return whether a text is more than one word."""
    if _SPACE.search(text):
        return True
    return _SEPARATOR.search(text) is not None and not has_address(text)


def _without_comments(text: str) -> str:
    before, _, rest = text.partition(_COMMENT_START)
    _, end, after = rest.partition(_COMMENT_END)
    if end:
        return before + _without_comments(after)
    return text


@dataclass(frozen=True, slots=True)
class Word:
    """A word and the space after it; either may be empty."""

    text: str
    space: str = ""
    is_cut: bool = False
    """True for the beginning of a word that is too long."""


class WordStream:
    """Splits streamed text into words; it holds back the unfinished word, unless that is too long."""

    def __init__(self) -> None:
        """Start without text."""
        self.begun = ""
        """The beginning of the unfinished word."""
        self._cut = False

    def feed(self, text: str) -> Iterator[Word]:
        """Add text and yield the finished words."""
        self.begun += text
        start = 0
        for boundary in _BOUNDARY.finditer(self.begun):
            character = boundary.group()
            yield from self._end(
                self.begun[start : boundary.start()],
                character if character.isspace() else "",
            )
            if not character.isspace():
                yield Word(character)
            start = boundary.end()
        self.begun = self.begun[start:]
        if len(self.begun) > LONGEST_WORD:
            yield from self._begin_cut(self.begun)
            self.begun = self.begun[-1:]

    def finish(self) -> Iterator[Word]:
        """Yield the last word."""
        rest = self.begun
        self.begun = ""
        yield from self._end(rest, "")

    def _end(
        self,
        text: str,
        space: str,
    ) -> Iterator[Word]:
        if len(text) > LONGEST_WORD:
            yield from self._begin_cut(text)
        if self._cut:  # the punctuation at the end of the sentence is kept
            if text[-1:] in _PUNCTUATION:
                text = text[-1:]
            else:
                text = ""
            self._cut = False
        if text or space:
            yield Word(text, space)

    def _begin_cut(self, text: str) -> Iterator[Word]:
        if not self._cut:
            yield Word(text[:LONGEST_WORD], is_cut=True)
        self._cut = True


class _Sources:
    """Makes one citation of the sources that an answer names in brackets, which may be several words."""

    def __init__(self) -> None:
        """Start without text."""
        self._held: list[Word] = []
        self._text = ""
        """That of the held words."""
        self._is_cut = False

    def take(self, word: Word) -> list[Word]:
        """Return the words to go on with; a list of sources waits for its end."""
        text = self._text + word.text
        if (
            self._is_cut and word.text not in _BETWEEN
        ):  # of its end, only a mark is left
            text = f"{self._text}){word.text}"
        in_short = SOURCES.sub(_SOURCE, text)
        if in_short != text:
            self.finish()
            return [replace(word, text=in_short)]
        if word.is_cut:
            text += ")"
        self._held.append(word)
        if (
            word.space == "\n"
            or len(text) > _LONGEST_SOURCES
            or not BEGUN_SOURCES.search(text)
        ):
            return self.finish()
        self._text = text + word.space
        self._is_cut = word.is_cut
        return []

    def finish(self) -> list[Word]:
        """Return the words of a list without an end."""
        held = self._held
        self._held = []
        self._text = ""
        self._is_cut = False
        return held


QUESTION_MARKS: Final = "?\uff1f؟\u037e՞፧⁇⁈⁉‽"
_SEMICOLON_LANGUAGES: Final = frozenset({"el"})
"""Languages in which a question ends with a semicolon."""
_MAY_ASK: Final = re.compile(f"[{QUESTION_MARKS};&]")
"""In HTML a question mark may be written as `&quest;`."""
_OTHER_MARKS: Final = ".!…。\uff01।॥"
_CLOSERS: Final = " \t\n\"'”\u2019»)]}」』\uff09】"
_NEXT_SENTENCE: Final = re.compile(
    rf"(?:[{QUESTION_MARKS}{_OTHER_MARKS};][{re.escape(_CLOSERS)}]*\s|[。\uff01\uff1f])(?=\S)"
)
_LONGEST_QUESTION: Final = 4_000
"""Characters at the end of an answer that are read, with choices and courtesies."""
_COURTESIES_AT_MOST: Final = 3
_WORDS_AT_MOST: Final = 40
_CHOICE: Final = re.compile("\\s*(?:[-*+•\u2013]|\\d{1,2}[.)])\\s")
_COURTESY: Final = {
    code: re.compile("|".join(language.courtesies))
    for code, language in LANGUAGES.items()
}


def asks_back(
    text: str,
    language: str,
    spoken: str | None = None,
) -> bool:
    """Return True if an answer ends with a question, its choices, or a question and a courtesy ("Just let me know.").

    `language` is a BCP 47 tag; courtesies are known in ten languages. `spoken` is the
    result of `speakable`, if the caller has it.
    """
    if _MAY_ASK.search(text) is None:
        return False  # most answers
    marks = QUESTION_MARKS + (
        ";" if base_language(language) in _SEMICOLON_LANGUAGES else ""
    )
    text = text[-_LONGEST_QUESTION:]
    if spoken is None:
        spoken = speakable(text, language)
    spoken = spoken[-_LONGEST_QUESTION:]
    return _ends_with_question(spoken, language, marks) or _ends_with_choices(
        text, language, marks
    )


def _ends_with_question(
    spoken: str,
    language: str,
    marks: str,
) -> bool:
    spoken = spoken.rstrip(_CLOSERS)
    courtesy = _COURTESY.get(base_language(language))
    for _ in range(_COURTESIES_AT_MOST + 1):
        end = spoken[len(spoken.rstrip(_OTHER_MARKS + marks)) :]
        if any(mark in end for mark in marks):
            return True
        begin = max(
            (found.end() for found in _NEXT_SENTENCE.finditer(spoken)), default=0
        )
        last = (
            spoken[begin:]
            .casefold()
            .replace(
                "\u2019",
                "'",
            )
        )
        if (
            not begin
            or courtesy is None
            or not courtesy.match(last)
            or len(last.split()) > _WORDS_AT_MOST
        ):
            return False
        spoken = spoken[:begin].rstrip(_CLOSERS)
    return False


def _ends_with_choices(
    text: str,
    language: str,
    marks: str,
) -> bool:
    """Return True if the text ends with a question and a list."""
    lines = [line for line in text.splitlines() if line.strip()]
    choices = 0
    while lines and _CHOICE.match(lines[-1]):
        lines.pop()
        choices += 1
    return bool(choices) and _ends_with_question(
        speakable("\n".join(lines), language), language, marks
    )

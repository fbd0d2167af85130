"""Drops what a model repeats: its own sentences, and instructions of the context block.

Repeated text is held back until the text continues differently. A sentence is held as
long as it may be a copy of an earlier one; other text is held once it has been periodic
for a while. So a loop is heard once, while a refrain, a list or a table arrives
complete, only later. Held text is silence: a few copies are a loop once they have taken
some seconds, and many copies are one at any speed. A fast server writes a prayer or a
line for school meanwhile. The filter knows no language, reads each character once, and
keeps a bounded part of the text.

Of the context block, only whole lines at the beginning of a sentence are dropped, and
none that states a fact, such as the time, a name or a room, or that is about something
in the words of the person: a request for a timer may be answered with "This device is
not able to start timers."
"""

import re
from collections.abc import Iterator
from typing import Final

from ..messages import Transcript, UserMessage
from ..timeouts import SYSTEM_CLOCK, Clock

_LEAST_COPIES: Final = 12
"""Least number of consecutive copies after the original. A decade of the rosary has nine."""
_LEAST_OF_SENTENCES: Final = 3_000
"""Least characters in all copies of a sentence: lines written fifty times at school and short mantras have fewer."""
_LEAST_OF_OTHER_TEXT: Final = 20_000
"""Least characters in all copies of other text: cells, rows, numbers and pixels are often equal."""
_SILENCE: Final = 5.0
"""Seconds for which text may be held before few copies are a loop. In this time, 100 tokens a second are 2,000
characters, a decade of the rosary.
"""
_FEW_COPIES: Final = 3
"""Consecutive copies after the original that are few, unless a sentence is long."""
_LEAST_OF_FEW: Final = 120
"""Least characters in few copies: "la la la", laughter."""
_FEW_OF_SENTENCES: Final = 2
_LONG_SENTENCE: Final = 40
"""Characters of a sentence of which two copies are enough."""
_SENTENCE_BYTES: Final = 20
"""Bytes of the shortest sentence that counts as repeated by mistake."""
_SENTENCE_END: Final = re.compile(r"\s[.!?…]|[。！？।؟]")  # noqa: RUF001 - of Chinese, Japanese, Hindi and Arabic
"""Reversed, as the latest text is kept in reverse."""
_DATA: Final = re.compile(r"[][{}<>|=\"\t]")
"""Characters that are common in tables, code and data, and rare in sentences."""
_LONGEST: Final = 1_000
"""Characters of the longest text whose copies are detected."""
_SAMPLE: Final = 32
"""Characters at the beginning of a sentence that are searched for in the earlier text."""
_ENDS_BEFORE_SPACE: Final = ".!?…:;"
_ENDS: Final = "\n。！？；｡।؟"  # noqa: RUF001 - of Chinese, Japanese, Hindi and Arabic
_CLOSING: Final = "\"'”’»)]*_」』"  # noqa: RUF001 - quotation marks
_PIECE: Final = re.compile(
    rf"[^{_ENDS}{_ENDS_BEFORE_SPACE}]{{1,16}}|.",
    re.DOTALL,
)


class RepetitionFilter:
    """Passes on the text of a message. `found` is set once the message only repeats itself; the rest is dropped."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        """Start without text."""
        self.found = False
        self._clock = clock
        self._held_since = 0.0
        """Time at which the first held character arrived."""
        self._recent = ""
        """The latest text, in reverse."""
        self._period = 0
        """Distance in characters to the earlier copy; 0 if nothing is repeated."""
        self._matched = 0
        """Number of characters that equal those of the earlier copy."""
        self._held = 0
        """Number of matched characters that are held back."""
        self._unsampled = 0
        self._ended = self._begins = False
        """Whether the next character begins a sentence if a space precedes it, and if it is not a space itself."""

    @property
    def held(self) -> str:
        """The text that is held back."""
        return self._recent[: self._held][::-1]

    def feed(self, text: str) -> str:
        """Add text; return the part that may be passed on by now."""
        passed: list[str] = []
        for piece in _PIECE.findall(text):
            at = 0
            while at < len(piece):
                is_plain = len(piece) > 1 and not (
                    self._period or self._begins or self._ended or self.found
                )
                if is_plain:
                    plain = piece[at : at + max(_SAMPLE - 1 - self._unsampled, 0)]
                else:
                    plain = ""
                if plain:
                    self._recent = (plain[::-1] + self._recent)[: _LONGEST + _SAMPLE]
                    self._unsampled += len(plain)
                passed.append(plain or self._add(piece[at]))
                at += len(plain) or 1
        return "".join(passed)

    def end(self, *, cut: bool = False) -> str:
        """Return the held text at the end of the text; nothing if it is only a repetition.

        With `cut`, the text was truncated: anything beyond another copy is dropped,
        since nothing follows.
        """
        held = self.held
        is_dropped = self.found or (cut and self._held > self._period)
        self._held = self._period = 0
        return "" if is_dropped else held

    def _add(self, character: str) -> str:
        if self.found:
            return ""
        self._recent = (character + self._recent)[: _LONGEST + _SAMPLE + self._held]
        self._unsampled += 1
        begins = self._begins and not character.isspace()
        if character in _ENDS or (
            character.isspace() and (self._ended or self._begins)
        ):
            self._begins = True
            self._ended = False
        elif character not in _CLOSING:
            self._begins = False
            self._ended = character in _ENDS_BEFORE_SPACE
        if self._period:
            self._matched += 1
            self._hold(self._held + 1)
            if character != self._recent[self._period]:
                self._look_up(self._matched)
            self.found = self._is_loop()
        elif begins:
            self._hold(1)
            self._look_up(1)
        elif self._unsampled >= _SAMPLE:
            self._unsampled = 0
            self._look_up(_SAMPLE)
            return character
        if self._period:
            return ""
        return self.end() or character

    def _hold(self, characters: int) -> None:
        self._held = characters
        if characters == 1:
            self._held_since = self._clock.now()

    def _look_up(self, length: int) -> None:
        """Search for the latest text in the earlier text; beyond the sample, they may differ."""
        if length <= _SAMPLE:
            at = self._recent.find(
                self._recent[:length],
                1,
            )
        else:
            at = -1
        if 0 < at <= _LONGEST:
            self._period = at
            self._matched = length
        else:
            self._period = 0
            self._matched = 0

    def _is_loop(self) -> bool:
        """Return whether the text is a loop; decided at the end of each copy."""
        if not self._period or self._matched % self._period:
            return False
        if self._clock.now() - self._held_since >= _SILENCE and self._are_few_enough():
            return True
        if self._matched < _LEAST_COPIES * self._period:
            return False
        if self._repeats_sentences():
            least = _LEAST_OF_SENTENCES
        else:
            least = _LEAST_OF_OTHER_TEXT
        return self._matched >= least

    def _are_few_enough(self) -> bool:
        """Return whether the copies are enough for a slow server. Equal rows and cells never are."""
        if self._period >= _LONG_SENTENCE and self._repeats_sentences():
            return self._matched >= _FEW_OF_SENTENCES * self._period
        is_long = self._matched >= max(_FEW_COPIES * self._period, _LEAST_OF_FEW)
        return is_long and _DATA.search(self._recent[: self._period]) is None

    def _repeats_sentences(self) -> bool:
        text = self._recent[: self._period + 1]
        return (
            len(text[1:].encode(errors="replace")) >= _SENTENCE_BYTES
            and any(map(str.isalpha, text))
            and _SENTENCE_END.search(text) is not None
            and _DATA.search(text) is None
        )


_SHORTEST_ECHO: Final = 20
"""Characters of the shortest line that counts as repeated."""
_MARK: Final = re.compile(r"<[^<>]+/>")
"""A mark of ours, without content."""
_FACT: Final = re.compile(r"""[\d:"“”\[\]<>]""")
_WORD: Final = re.compile(r"\w{5,}")
_STEM: Final = 5
_BEGIN: Final = re.compile(r"(?:\n|[.!?…:]\s)\s*\Z")
"""The end of text after which a sentence begins."""
_NEXT_BEGIN: Final = re.compile(r"\n|[.!?…:]\s")


def echoed_lines(transcript: Transcript) -> frozenset[str]:
    """Return the lines of the context that answer nothing."""
    words = next(
        (
            message
            for message in reversed(transcript)
            if isinstance(message, UserMessage)
        ),
        UserMessage(""),
    )
    stems = _stems(words.text)
    lines = map(
        str.strip,
        f"{words.omitted}\n{words.context}".splitlines(),
    )
    return frozenset(
        line
        for line in lines
        if _MARK.fullmatch(line)
        or (
            len(line) >= _SHORTEST_ECHO
            and not (_FACT.search(line) or stems & _stems(line))
        )
    )


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold())}


class EchoFilter:
    """Passes on the text of a message without echoes, a moment later where one may have begun."""

    def __init__(self, lines: frozenset[str] = frozenset()) -> None:
        """Drop these lines."""
        self._lines = lines
        self._held = ""
        self._begins = True
        """Whether a sentence begins with the next character, which may be a space."""
        self._last = ""

    def feed(self, text: str) -> str:
        """Add text; return the part that may be passed on by now."""
        if self._lines:
            return "".join(self._passed(text))
        return text

    def _passed(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            if self._begins or self._held:
                yield self._add(text[at])
                at += 1
                continue
            begin = _NEXT_BEGIN.search(
                self._last + text[at:]
            )  # up to there, no line can begin
            if begin:
                end = at + begin.end() - len(self._last)
            else:
                end = len(text)
            yield text[at:end]
            at = end
            self._begins = begin is not None
            self._last = text[end - 1]

    def end(self) -> str:
        """Return the held text at the end of the text, unless it is an echo."""
        held = self._held
        self._held = ""
        if held.strip() in self._lines:
            return ""
        return held

    def _add(self, character: str) -> str:
        if self._held.strip() in self._lines and character.isspace():
            self._held = ""
            self._begins = True
            return ""
        if any(
            line.startswith((self._held + character).lstrip()) for line in self._lines
        ):
            self._held += character
            return ""
        passed = self._held + character
        self._held = ""
        self._begins = _BEGIN.search(self._last + passed) is not None
        self._last = passed[-1]
        return passed

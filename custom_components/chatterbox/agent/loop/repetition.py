"""Finds a model that repeats itself, and holds back what it says again until the text goes on.

A sentence is held as long as it could be one that was said before, and other text once it is periodic for a while. So
what is repeated is heard once, and a refrain, a list or a table comes whole, only later. It knows no language, reads
each character once, and remembers a bounded part of the text.
"""

import re
from typing import Final

_LEAST_COPIES: Final = 12
"""Of the same text, one after the other and after the first one. A decade of the rosary has nine."""
_LEAST_OF_SENTENCES: Final = 3_000
"""Characters of the copies of a sentence: lines that a pupil writes fifty times and short mantras have fewer."""
_LEAST_OF_OTHER_TEXT: Final = 20_000
"""Characters of the copies of other text: cells, rows, numbers, pixels and short cries are often all the same."""
_SENTENCE_BYTES: Final = 20
"""Of the shortest sentence that a model is taken to say again by mistake."""
_SENTENCE_END: Final = re.compile(r"\s[.!?…]|[。！？।؟]")  # noqa: RUF001 - of Chinese, Japanese, Hindi and Arabic
"""Backwards, as the latest text is kept."""
_DATA: Final = re.compile(r"[][{}<>|=\"\t]")
"""What tables, code and data have, and sentences have rarely."""
_LONGEST: Final = 1_000
"""Characters of a text whose copies are recognized."""
_SAMPLE: Final = 32
"""Characters that are looked up in the text before them, wherever a sentence begins."""
_ENDS_BEFORE_SPACE: Final = ".!?…:;"
_ENDS: Final = "\n。！？；｡।؟"  # noqa: RUF001 - of Chinese, Japanese, Hindi and Arabic
_CLOSING: Final = "\"'”’»)]*_」』"  # noqa: RUF001 - quotation marks
_PIECE: Final = re.compile(rf"[^{_ENDS}{_ENDS_BEFORE_SPACE}]{{1,16}}|.", re.DOTALL)


class RepetitionFilter:
    """Passes on the text of a message. `found` is set once it does nothing but repeat itself; the rest is dropped."""

    def __init__(self) -> None:
        """Know no text yet."""
        self.found = False
        self._recent = ""
        """The latest text, its last character first."""
        self._period = 0
        """How many characters ago the same was written; 0 where nothing is repeated."""
        self._matched = 0
        """Characters that are the same as those before them."""
        self._held = 0
        """Those of them that were not passed on."""
        self._unsampled = 0
        self._ended = self._begins = False
        """Whether the next character begins a sentence if a space comes before it, and if it is none itself."""

    @property
    def held(self) -> str:
        """What was not passed on."""
        return self._recent[: self._held][::-1]

    def feed(self, text: str) -> str:
        """Take in text; return what may be passed on by now."""
        passed: list[str] = []
        for piece in _PIECE.findall(text):
            is_plain = len(piece) > 1 and not (self._period or self._begins or self._ended)
            if is_plain and self._unsampled + len(piece) < _SAMPLE:
                self._recent = (piece[::-1] + self._recent)[: _LONGEST + _SAMPLE]
                self._unsampled += len(piece)
                passed.append(piece)
            else:
                passed += map(self._add, piece)
        return "".join(passed)

    def end(self, *, cut: bool = False) -> str:
        """Return what is held, because the text ends or something else follows; nothing where it is only repeated.

        Of a text that is `cut`, more than another copy is dropped: nothing will follow it.
        """
        held, is_dropped = self.held, self.found or (cut and self._held > self._period)
        self._held = self._period = 0
        return "" if is_dropped else held

    def _add(self, character: str) -> str:
        if self.found:
            return ""
        self._recent = (character + self._recent)[: _LONGEST + _SAMPLE + self._held]
        self._unsampled += 1
        begins = self._begins and not character.isspace()
        self._note_place(character)
        if self._period:
            self._matched += 1
            self._held += 1
            if character != self._recent[self._period]:
                self._look_up(self._matched)
            self.found = self._is_loop()
        elif begins:
            self._held = 1
            self._look_up(1)
        elif self._unsampled >= _SAMPLE:
            self._unsampled = 0
            self._look_up(_SAMPLE)
            return character
        return "" if self._period else self.end() or character

    def _look_up(self, length: int) -> None:
        """Find where the latest text was written before; a text that is longer than a sample has not to go on so."""
        at = self._recent.find(self._recent[:length], 1) if length <= _SAMPLE else -1
        self._period, self._matched = (at, length) if 0 < at <= _LONGEST else (0, 0)

    def _is_loop(self) -> bool:
        """Return whether the text is a loop; that is decided at the end of each copy."""
        if not self._period or self._matched % self._period or self._matched < _LEAST_COPIES * self._period:
            return False
        least = _LEAST_OF_SENTENCES if self._repeats_sentences() else _LEAST_OF_OTHER_TEXT
        return self._matched >= least

    def _repeats_sentences(self) -> bool:
        text = self._recent[: self._period + 1]
        return (
            len(text[1:].encode(errors="replace")) >= _SENTENCE_BYTES
            and any(map(str.isalpha, text))
            and _SENTENCE_END.search(text) is not None
            and _DATA.search(text) is None
        )

    def _note_place(self, character: str) -> None:
        if character in _ENDS or (character.isspace() and (self._ended or self._begins)):
            self._begins, self._ended = True, False
        elif character not in _CLOSING:
            self._begins, self._ended = False, character in _ENDS_BEFORE_SPACE

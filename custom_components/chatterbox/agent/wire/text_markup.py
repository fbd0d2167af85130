"""Takes a model's text apart while it arrives: what it says, what it thinks, and what may be calls.

Knows where stretches of text begin and end, and holds back only what may still become a
marker. How the text is cut into pieces makes no difference to what comes out, but for how
finely it is divided. Must not know what calls mean.
"""

import re
from dataclasses import dataclass
from typing import Final

from .brackets import BracketFollower
from .opening import NOT_YET
from .text_markers import CALL_OF_CHANNEL, DRAFT_FROM_START, THOUGHT_OF_CHANNEL
from .text_regions import Kind, Marker, Markers, Region

MAX_HELD_CHARACTERS: Final = 65_536
"""Of what may be a call. A spoken request never needs more, and a runaway model writes far more."""

_MAX_HEADER_CHARACTERS: Final = 256
_SURELY_A_MARKER: Final = 4
"""Characters of an unfinished marker that are no text, at the end of a message."""

_PLACE: Final = re.compile(r"[<\[{`◁\n]|(?<=[.!?…\"”)}\]])[aA]")
_SENTENCE_ENDS: Final = '.!?…"”)}]'
_HEADER: Final = re.compile(r"\A(?:<[^<>\n]*+>|assistant|analysis|commentary|final|to=\S*+|\s)*+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """Text for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning."""

    text: str
    draft: bool = False
    """True for reasoning that is the answer, if the message has no other."""
    begins: bool = False
    """True where a draft begins, or turns out to be none: the one before it no longer counts."""


@dataclass(frozen=True, slots=True)
class CallText:
    """Text that is, or may be, one call or several."""

    text: str
    certain: bool
    """False when it is a call only if it reads like one; else it was said."""
    closed: bool
    """False when the message ended before it did."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was for nobody stood here."""


type Piece = Said | Thought | CallText | Dropped


class MarkupScanner:
    """Takes one message apart."""

    def __init__(self, markers: Markers, *, begins_in_thought: bool = False) -> None:
        """Look for `markers`; `begins_in_thought` for models whose template has opened the reasoning already."""
        self._markers = markers
        self._held = ""
        self._at = 0
        """Where what is still to be decided begins in the held text."""
        self._looked_at = 0
        """Up to where no end of the region was found."""
        self._region: Region | None = None
        self._brackets = BracketFollower()
        self._pieces: list[Piece] = []
        self._line_start = True
        self._message_start = True
        self._glued = False
        self.thought_began_unseen = False
        """True once a thought ended after text without having begun: all of that was reasoning."""
        if begins_in_thought:
            self._enter(DRAFT_FROM_START, 0, 0)

    def feed(self, text: str) -> list[Piece]:
        """Take more text; return what is decided now."""
        self._held += text
        return self._advance(final=False)

    def passes(self, text: str) -> bool:
        """Take more text if it is said as it is: no marker can begin in it, nor is any under way."""
        if not text or self._region is not None or self._held or self._line_start or self._message_start:
            return False
        if (self._glued and text[0] in "aA") or _PLACE.search(text):
            return False
        self._glued = text[-1] in _SENTENCE_ENDS
        return True

    def finish(self) -> list[Piece]:
        """Return what is left: the message is over."""
        pieces = self._advance(final=True)
        rest, self._held = self._held, ""
        match self._region:
            case Region(Kind.HEADER):
                pieces.append(Said(_without_header(rest)))
            case Region(Kind.CALL | Kind.MAYBE_CALL as kind):
                pieces.append(CallText(rest, certain=kind is Kind.CALL, closed=False))
            case _:
                pass
        return pieces

    def _advance(self, *, final: bool) -> list[Piece]:
        while self._at < len(self._held) and self._step(final=final):
            pass
        self._held = self._held[self._at :]
        self._looked_at -= self._at
        self._at = 0
        pieces, self._pieces = self._pieces, []
        return pieces

    def _step(self, *, final: bool) -> bool:
        """Go on to the next marker or end; False when there is none in what is held."""
        region = self._region
        if region is None:
            return self._find_opening(final=final)
        if region.ends is None:
            self._looked_at, closed = self._brackets.scan(self._held, self._looked_at)
            return self._leave(region, self._looked_at, self._looked_at if closed else -1)
        found = region.ends.find(self._held, self._looked_at, final=final)
        self._looked_at, end = found or (len(self._held), -1)
        return self._leave(region, self._looked_at, end)

    def _find_opening(self, *, final: bool) -> bool:
        """Say what comes before the next marker, and open what it opens; False when more text is needed."""
        while self._at < len(self._held):
            if self._held[self._at].isspace():
                self._say_until(self._at + 1)
                continue
            for marker in self._markers.at(
                self._held[self._at],
                line_start=self._line_start,
                message_start=self._message_start,
                glued=self._glued,
            ):
                found = marker.opening.match(self._held, self._at)
                if isinstance(found, re.Match):
                    self._open(marker, found)
                    return True
                if found == NOT_YET and not final:
                    return False
                if found == NOT_YET and self._is_cut_marker(marker):
                    self._at = len(self._held)
                    return False
            place = _PLACE.search(self._held, self._at + 1)
            self._say_until(place.start() if place else len(self._held))
        return False

    def _is_cut_marker(self, marker: Marker) -> bool:
        by_itself = marker.region.kind is not Kind.MAYBE_CALL and self._held[self._at] in "<[◁"
        return by_itself and len(self._held) - self._at >= _SURELY_A_MARKER

    def _say_until(self, end: int) -> None:
        text = self._held[self._at : end]
        self._at = end
        self._say(text)
        _, newline, line = text.rpartition("\n")
        self._line_start = (bool(newline) or self._line_start) and not line.strip()
        self._message_start = self._message_start and text.isspace()
        self._glued = text[-1] in _SENTENCE_ENDS

    def _say(self, text: str) -> None:
        if self._pieces and isinstance(last := self._pieces[-1], Said):
            self._pieces.pop()
            text = last.text + text
        self._pieces.append(Said(text))

    def _open(self, marker: Marker, found: re.Match[str]) -> None:
        match marker.region.kind:
            case Kind.TOKEN:
                self._at = found.end()
                self._pieces.append(Dropped())
            case Kind.THOUGHT_END:
                self._at = found.end()
                self._pieces.append(Dropped())
                self.thought_began_unseen = self.thought_began_unseen or not self._message_start
            case _:
                start = found.start() if marker.keeps_opening else found.end()
                bracketed = marker.region.ends is None and self._held[found.start()] in "[{"
                self._enter(marker.region, start, found.start() if bracketed else found.end())

    def _enter(self, region: Region, start: int, looked_at: int) -> None:
        self._region, self._at, self._looked_at = region, start, looked_at
        self._brackets = BracketFollower()
        if region.kind is Kind.DRAFT:
            self._pieces.append(Thought("", draft=True, begins=True))

    def _leave(self, region: Region, start: int, end: int) -> bool:
        """Deal with a region whose end mark begins at `start` and ends at `end`, -1 when it is not there yet."""
        most = _MAX_HEADER_CHARACTERS if region.kind is Kind.HEADER else MAX_HELD_CHARACTERS
        flows = region.kind in {Kind.THOUGHT, Kind.DRAFT, Kind.NOISE}
        if not flows and start - self._at > most:
            self._give_up(region, self._at + most)
            return True
        if flows or end >= 0:
            self._pass_on(region, self._held[self._at : end if region.kind is Kind.MAYBE_CALL else start])
        if end < 0:
            self._at = start if flows else self._at
            return False
        if region.kind is Kind.HEADER:
            self._read_header(self._held[self._at : end], end)
            return True
        if region.kind is Kind.DRAFT and end > start:  # so it was a thought
            self._pieces.append(Thought("", begins=True))
        self._return_to_text(end)
        return True

    def _pass_on(self, region: Region, text: str) -> None:
        match region.kind:
            case Kind.THOUGHT | Kind.DRAFT as kind if text:
                self._pieces.append(Thought(text, draft=kind is Kind.DRAFT))
            case Kind.CALL | Kind.MAYBE_CALL as kind:
                self._pieces.append(CallText(text, certain=kind is Kind.CALL, closed=True))
            case Kind.NOISE:
                self._pieces.append(Dropped())
            case _:
                pass

    def _give_up(self, region: Region, end: int) -> None:
        """Hold no more: what can only be a call is dropped, all else is said."""
        if region.kind is Kind.CALL:
            self._enter(Region(Kind.NOISE, region.ends or CALL_OF_CHANNEL.ends), end, end)
            return
        text = self._held[self._at : end]
        self._say(_without_header(text) if region.kind is Kind.HEADER else text)
        self._return_to_text(end)

    def _return_to_text(self, at: int) -> None:
        self._region, self._at, self._looked_at = None, at, at
        self._line_start = self._glued = True

    def _read_header(self, header: str, end: int) -> None:
        if "to=" in header:
            self._enter(CALL_OF_CHANNEL, self._at, end)  # it names the tool
        elif "analysis" in header:
            self._enter(THOUGHT_OF_CHANNEL, end, end)
        else:
            self._return_to_text(end)


def _without_header(text: str) -> str:
    return _HEADER.sub("", text, count=1)

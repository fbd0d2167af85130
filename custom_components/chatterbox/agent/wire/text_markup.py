"""Splits a model's text while it arrives: text, reasoning, and possible calls.

It holds back only what may still become a marker. How the text is divided into pieces does not change the result.
"""

import re
from dataclasses import dataclass
from typing import Final

from .call_assembly import BracketFollower
from .text_markers import (
    CALL_OF_CHANNEL,
    DRAFT_FROM_START,
    NOT_YET,
    THOUGHT_OF_CHANNEL,
    Kind,
    Marker,
    Markers,
    Place,
    Region,
)

MAX_HELD_CHARACTERS: Final = 65_536
"""Of a possible call. A spoken request never needs more; a runaway model writes more."""

_MAX_HEADER_CHARACTERS: Final = 256
_SURELY_A_MARKER: Final = 4
"""Characters of a partial marker that count as a marker at the end of a message."""

_PLACE: Final = re.compile(r"[<\[{`◁【\ue200\n]|(?<=[.!?…\"”)}\]])[aA]")
_SENTENCE_ENDS: Final = '.!?…"”)}]'
_HEADER: Final = re.compile(r"\A(?:<[^<>\n]*+>|assistant|analysis|commentary|final|to=\S*+|\s)*+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """Reasoning."""

    text: str
    draft: bool = False
    """Whether it is the answer if the message has no other."""
    begins: bool = False
    """Whether a draft begins, or turned out to be none: the previous one is dropped."""


@dataclass(frozen=True, slots=True)
class CallText:
    """Text of one or several calls."""

    text: str
    certain: bool
    """False if it is a call only if it can be parsed as one, else text."""
    closed: bool
    """False if the message ended first."""
    addressed: bool = True
    """False for arguments without a tool, unless they name it."""


@dataclass(frozen=True, slots=True)
class DroppedText:
    """Text was removed here."""

    divides: bool = False
    """Whether another message begins here."""


type Piece = PlainText | ReasoningText | CallText | DroppedText


class MarkupScanner:
    """Splits the text of one message."""

    def __init__(self, markers: Markers, *, begins_in_thought: bool = False) -> None:
        """Look for `markers`; `begins_in_thought` for models whose template has opened the reasoning."""
        self._markers = markers
        self._held = ""
        self._at = 0
        """Index of the first undecided character of the held text."""
        self._looked_at = 0
        """Index up to which the region has no end."""
        self._region: Region | None = None
        self._brackets = BracketFollower()
        self._pieces: list[Piece] = []
        self._place = Place.ANYWHERE | Place.LINE_START | Place.MESSAGE_START
        self.thought_began_unseen = False
        """Whether reasoning ended that had no start: all text before it was reasoning."""
        if begins_in_thought:
            self._enter(DRAFT_FROM_START, 0, 0)

    @property
    def is_drafting(self) -> bool:
        """Whether text from the start of the message on may be reasoning."""
        return self._region is DRAFT_FROM_START

    def feed(self, text: str) -> list[Piece]:
        """Add text; return the pieces that are decided."""
        self._held += text
        return self._advance(final=False)

    def finish(self) -> list[Piece]:
        """Return the remaining pieces at the end of the message."""
        pieces = self._advance(final=True)
        rest, self._held = self._held, ""
        match self._region:
            case Region(Kind.HEADER):
                pieces.append(PlainText(_without_header(rest)))
            case Region(Kind.CALL | Kind.MAYBE_CALL | Kind.ARGUMENTS as kind):
                pieces.append(_call_text(rest, kind, closed=False))
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
        """Advance to the next marker or end; False if there is none."""
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
        """Pass on the text before the next marker and enter its region; False if more text is needed."""
        while self._at < len(self._held):
            if self._held[self._at].isspace():
                self._say_until(self._at + 1)
                continue
            for marker in self._markers.at(self._held[self._at : self._at + 2], self._place):
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
        self._place = self._place & ~Place.SENTENCE_END if text.isspace() else Place.ANYWHERE
        _, newline, line = text.rpartition("\n")
        if newline and not line.strip():
            self._place |= Place.LINE_START
        elif text[-1] in _SENTENCE_ENDS:
            self._place |= Place.SENTENCE_END

    def _say(self, text: str) -> None:
        if self._pieces and isinstance(last := self._pieces[-1], PlainText):
            self._pieces.pop()
            text = last.text + text
        self._pieces.append(PlainText(text))

    def _open(self, marker: Marker, found: re.Match[str]) -> None:
        match marker.region.kind:
            case Kind.TOKEN | Kind.THOUGHT_END as kind:
                self._at = found.end()
                self._pieces.append(DroppedText())
                if kind is Kind.THOUGHT_END and Place.MESSAGE_START not in self._place:
                    self.thought_began_unseen = True
            case Kind.MESSAGE:
                self._at = found.end()
                self._begin_message(found.group())
            case _:
                start = found.start() if marker.keeps_opening else found.end()
                bracketed = marker.region.ends is None and self._held[found.start()] in "[{"
                self._enter(marker.region, start, found.start() if bracketed else found.end())

    def _begin_message(self, header: str) -> None:
        self._pieces.append(DroppedText(divides=True))
        self._place &= ~Place.COMMENT_START
        if "commentary" in header:
            self._place |= Place.COMMENT_START

    def _enter(self, region: Region, start: int, looked_at: int) -> None:
        self._region, self._at, self._looked_at = region, start, looked_at
        self._brackets = BracketFollower()
        if region.kind is Kind.DRAFT:
            self._pieces.append(ReasoningText("", draft=True, begins=True))

    def _leave(self, region: Region, start: int, end: int) -> bool:
        """Handle a region whose end mark is at `start` to `end`, -1 if it has not arrived."""
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
        if region.kind is Kind.DRAFT and end > start:  # it was reasoning after all
            self._pieces.append(ReasoningText("", begins=True))
            self.thought_began_unseen = self.thought_began_unseen or region is DRAFT_FROM_START
        header = self._held[self._at : end] if region.kind is Kind.HEADER else ""
        if "to=" in header:
            self._enter(CALL_OF_CHANNEL, self._at, end)  # the header names the tool
        elif "analysis" in header:
            self._enter(THOUGHT_OF_CHANNEL, end, end)
        else:
            self._return_to_text(end)
            if header:
                self._begin_message(header)
        return True

    def _pass_on(self, region: Region, text: str) -> None:
        match region.kind:
            case Kind.THOUGHT | Kind.DRAFT as kind if text:
                self._pieces.append(ReasoningText(text, draft=kind is Kind.DRAFT))
            case Kind.CALL | Kind.MAYBE_CALL | Kind.ARGUMENTS as kind:
                self._pieces.append(_call_text(text, kind, closed=True))
            case Kind.NOISE:
                self._pieces.append(DroppedText())
            case _:
                pass

    def _give_up(self, region: Region, end: int) -> None:
        """Stop holding a region that is too long: a certain call is dropped, anything else is text."""
        if region.kind in {Kind.CALL, Kind.ARGUMENTS}:
            self._enter(Region(Kind.NOISE, region.ends or CALL_OF_CHANNEL.ends), end, end)
            return
        text = self._held[self._at : end]
        self._say(_without_header(text) if region.kind is Kind.HEADER else text)
        self._return_to_text(end)

    def _return_to_text(self, at: int) -> None:
        self._region, self._at, self._looked_at = None, at, at
        self._place |= Place.LINE_START | Place.SENTENCE_END


def _call_text(text: str, kind: Kind, *, closed: bool) -> CallText:
    return CallText(text, kind is not Kind.MAYBE_CALL, closed, addressed=kind is not Kind.ARGUMENTS)


def _without_header(text: str) -> str:
    return _HEADER.sub("", text, count=1)

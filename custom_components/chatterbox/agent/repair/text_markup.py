"""Splits a model's text while it arrives: text, reasoning, and possible calls.

The table of markers, `text_markup.toml`, is collected from the chat templates of models
and from what local servers pass through. The scanner holds back only what may still
become a marker. How the text is divided into pieces does not change the result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, StrEnum, auto
from functools import lru_cache
from typing import Annotated, Final, Literal, assert_never

from pydantic import BeforeValidator

from ..text import read_data_file
from ..wire.call_assembly import BracketFollower


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several texts, in any case unless `case_counts`."""

    texts: tuple[str, ...]
    case_counts: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """From `least` to `most` characters of a regular expression's class."""

    characters: str
    most: int
    least: int = 0


@dataclass(frozen=True, slots=True)
class Then:
    """A character of a class that has to follow the marker, and is not part of it."""

    then: str


@dataclass(frozen=True, slots=True)
class OfferedName:
    """The name of an offered tool, in any case. It is looked up, so no pattern depends on the tools of a turn."""

    names: tuple[str, ...]
    """Sorted, in lower case."""

    def is_in(self, found: re.Match[str]) -> bool:
        """Return whether the text in a match is one of the names, or begins one where the whole text ends."""
        text = found[1].casefold()
        known = next(
            (name for name in self.names if name >= text),
            "",
        )
        if found.end(1) == len(found.string):
            return known.startswith(text)
        return known == text


type _Parts = tuple[str | OneOf | Run | Then, ...]
type MarkerPart = str | OneOf | Run | Then | OfferedName
"""Plain text, in any case, a choice of texts, a run of characters, the last part, or the only name in a marker."""

NOT_YET: Final = "not yet"


class Opening:
    """A pattern that also matches partially: at the end of a text it can say "not yet"."""

    def __init__(self, *parts: MarkerPart) -> None:
        """Compile the pattern."""
        patterns = [_patterns(part) for part in parts]
        whole = [one for one, _ in patterns]
        begun = [
            "".join(whole[:index]) + start for index, (_, start) in enumerate(patterns)
        ]
        at = next(
            (at for at, part in enumerate(parts) if isinstance(part, OfferedName)), None
        )
        if at is None:
            self._name = None
        else:
            self._name = parts[at]
        begun[:at] = [f"(?:{'|'.join(begun[:at])})"]
        self._whole = re.compile(
            "".join(whole),
            re.IGNORECASE,
        )
        self._begun = [re.compile(rf"{one}\Z", re.IGNORECASE) for one in begun]

    def match(
        self, text: str, position: int
    ) -> re.Match[str] | Literal["not yet"] | None:
        """Match at `position`; `NOT_YET` if the text ends too early to decide."""
        found = self._whole.match(text, position)
        if found and self._is_named(found):
            return found
        started = (pattern.match(text, position) for pattern in self._begun)
        if any(one and self._is_named(one) for one in started):
            return NOT_YET
        return None

    def _is_named(self, found: re.Match[str]) -> bool:
        return not (
            isinstance(self._name, OfferedName) and found.re.groups
        ) or self._name.is_in(found)


def _patterns(part: MarkerPart) -> tuple[str, str]:
    """Return the pattern of a part, and one for each of its prefixes, from empty to whole."""
    match part:
        case OfferedName():
            return r"([\w-]{1,64})", r"([\w-]{0,64})"
        case str():
            return re.escape(part), _begun_text(part)
        case OneOf(texts, case_counts):
            group = "(?-i:" if case_counts else "(?:"
            whole, begun = ("|".join(map(of, texts)) for of in (re.escape, _begun_text))
            return f"{group}{whole})", f"{group}{begun})"
        case Then(characters):
            return f"(?={characters})", ""
        case Run(characters, most, least):
            return f"{characters}{{{least},{most}}}", f"{characters}{{0,{most}}}"
        case _:
            assert_never(part)


def _begun_text(text: str) -> str:
    return "".join(f"(?:{re.escape(char)}" for char in text) + ")?" * len(text)


_SPACE: Final = Run(r"\s", 16)
_FIRST_CHARACTERS: Final = re.compile(r"[<\[◁`aA\n]")
"""Of the marks that end a region."""


class Kind(StrEnum):
    """Kind of region that a marker opens."""

    THOUGHT = auto()
    """Reasoning."""
    DRAFT = auto()
    """Reasoning, but the answer if the message has no other."""
    CALL = auto()
    """Certainly a call."""
    MAYBE_CALL = auto()
    """A call if it can be parsed as one."""
    NOISE = auto()
    """Text to discard, such as a tool result that the model made up."""
    HEADER = auto()
    """Header of a message in OpenAI's harmony format."""
    ARGUMENTS = auto()
    """Certainly the arguments of a call, whose tool may be missing."""
    TOKEN = auto()
    """The marker itself."""
    MESSAGE = auto()
    """Start of another message, such as the answer after a comment."""
    THOUGHT_END = auto()
    """End of reasoning that the template of the model opened."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of text that a marker opens. One without marks ends with its first bracket."""

    kind: Kind
    closed_by: Sequence[Opening] = ()
    """Marks after which it ends."""
    until: Sequence[Opening] = ()
    """Marks before which it ends; they belong to the next region."""

    @property
    def marks(self) -> Sequence[Opening]:
        """The marks that end it."""
        return (*self.closed_by, *self.until)

    def find_end(
        self,
        text: str,
        start: int,
        *,
        final: bool,
    ) -> tuple[int, int] | None:
        """Return start and end of the end mark, None if there is none.

        For a partial mark, the end is -1; a final text has none.
        """
        marks = self.marks
        for place in _FIRST_CHARACTERS.finditer(text, start):
            for mark in marks:
                found = mark.match(text, place.start())
                if isinstance(found, re.Match):
                    closes = mark in self.closed_by
                    return place.start(), found.end() if closes else place.start()
                if found == NOT_YET and not final:
                    return place.start(), -1
        return None


class Place(Flag):
    """Where a marker counts."""

    ANYWHERE = auto()
    LINE_START = auto()
    SENTENCE_END = auto()
    """Directly after the end of a sentence."""
    MESSAGE_START = auto()
    """Before any text."""
    STARTS = SENTENCE_END | MESSAGE_START
    COMMENT_START = auto()
    """At the start of a message of the channel that holds calls and comments."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker and what it opens."""

    opening: Opening
    region: Region
    keeps_opening: bool = False
    """Whether the marker is part of the content."""
    place: Place = Place.ANYWHERE


def _at(
    place: Place,
    markers: Iterable[Marker],
) -> tuple[Marker, ...]:
    return tuple(replace(marker, place=place) for marker in markers)


class Markers:
    """Markers to look for, specific ones first."""

    def __init__(self, *markers: Marker) -> None:
        """Remember which markers begin with which characters."""
        # More than the pieces of a long answer begin with: to try all markers at a
        # piece takes twenty times as long.
        self._starting = lru_cache(maxsize=1_024)(
            lambda start: tuple(
                marker
                for marker in markers
                if marker.opening.match(start, 0) is not None
            )
        )

    def at(
        self,
        start: str,
        place: Place,
    ) -> list[Marker]:
        """Return the markers that may begin with `start`, one or two characters, at a place."""
        found = self._starting(start[0]) and self._starting(start)
        return [marker for marker in found if marker.place & place]


@dataclass(frozen=True, slots=True)
class _Row:
    """A marker that depends on no others, and what it opens."""

    opening: _Parts
    kind: Kind
    closed_by: tuple[_Parts, ...] = ()
    until: tuple[_Parts, ...] = ()
    ends_with_message: bool = False
    keeps_opening: bool = False
    place: Annotated[Place, BeforeValidator(lambda name: Place[name])] = Place.ANYWHERE


@dataclass(frozen=True, slots=True)
class _Table:
    """The fields of `text_markup.toml`."""

    thought_tags: tuple[str, ...]
    call_tags: tuple[str, ...]
    noise_tags: tuple[str, ...]
    thought_marks: tuple[tuple[str, str], ...]
    call_marks: tuple[tuple[str, str], ...]
    noise_marks: tuple[tuple[str, str], ...]
    message_ends: tuple[str, ...]
    turns: tuple[tuple[str, tuple[str, ...], str], ...]
    """Start of a message, the roles of others, and the role of the model."""
    json: _Parts
    fence: _Parts
    unseen_thought: _Parts
    """The first words of a message that speaks about the user, or to itself."""
    markers: dict[str, tuple[_Row, ...]]


_TABLE: Final = read_data_file(__file__, _Table)
_THOUGHT_STARTS: Final = (
    *(f"<{name}>" for name in _TABLE.thought_tags),
    *(start for start, _ in _TABLE.thought_marks),
)

_MESSAGE_ENDS: Final = Opening(OneOf(_TABLE.message_ends))
_FENCE_END: Final = Opening("```")


def _rows(group: str) -> Iterator[Marker]:
    """Yield the markers of a group of the table."""
    for row in _TABLE.markers[group]:
        ends = [Opening(*one) for one in row.closed_by]
        until = [Opening(*one) for one in row.until]
        if row.ends_with_message:
            until.append(_MESSAGE_ENDS)
        yield Marker(
            Opening(*row.opening),
            Region(row.kind, ends, until),
            row.keeps_opening,
            row.place,
        )


def _tag(name: str) -> Opening:
    return Opening(f"<{name}", Then(r"[>\s{]"))


def _end_tag(name: str) -> Opening:
    return Opening(f"</{name}>")


_THOUGHT_ENDS: Final = (
    *map(_end_tag, _TABLE.thought_tags),
    *(Opening(end) for _, end in _TABLE.thought_marks),
)


def _thoughts() -> Iterator[Marker]:
    yield Marker(
        Opening(OneOf(_THOUGHT_STARTS)),
        Region(Kind.THOUGHT, _THOUGHT_ENDS),
    )
    yield from (Marker(end, Region(Kind.THOUGHT_END)) for end in _THOUGHT_ENDS)


def _certain_calls() -> Iterator[Marker]:
    ends = [
        *(_end_tag(name) for name in _TABLE.call_tags),
        *(Opening(end) for _, end in _TABLE.call_marks),
    ]
    tags = [_tag(name) for name in _TABLE.call_tags]
    marks = [Opening(start) for start, _ in _TABLE.call_marks]
    region = Region(
        Kind.CALL,
        ends,
        (*tags, *marks, _MESSAGE_ENDS),
    )
    yield from (Marker(opening, region) for opening in (*tags, *marks))
    for start, end in (("<function", "</function>"), ("<invoke", "</invoke>")):
        opening = Opening(
            start,
            OneOf(("=", " name=")),
        )
        one = Region(
            Kind.CALL,
            [Opening(end)],
            (
                opening,
                *ends,
                *tags,
                *marks,
                _MESSAGE_ENDS,
            ),
        )
        yield Marker(
            opening,
            one,
            keeps_opening=True,
        )
        yield Marker(Opening(end), Region(Kind.TOKEN))
    yield from (Marker(end, Region(Kind.TOKEN)) for end in ends)


def _noise() -> Iterator[Marker]:
    pairs = [*((_tag(name), _end_tag(name)) for name in _TABLE.noise_tags)]
    pairs += [(Opening(start), Opening(end)) for start, end in _TABLE.noise_marks]
    for start, end in pairs:
        yield Marker(
            start,
            Region(
                Kind.NOISE,
                [end],
                [_MESSAGE_ENDS],
            ),
        )
        yield Marker(end, Region(Kind.TOKEN))
    yield from _rows("noise")
    # A model that continues after its own message invents what others say.
    for turn, others, itself in _TABLE.turns:
        yield Marker(
            Opening(turn, OneOf(others)),
            Region(
                Kind.NOISE,
                until=[Opening(turn, itself)],
            ),
        )


_MARKS: Final = Run("[`*]", 2)
"""Around code, and bold text."""
_MODULES: Final = OneOf(("", "default_api.", "functions.", "tools."))


def _maybe_calls(tools: OfferedName) -> Iterator[Marker]:
    balanced = Region(Kind.MAYBE_CALL)
    fenced = Region(Kind.MAYBE_CALL, [_FENCE_END])
    python: tuple[MarkerPart, ...] = (
        Run(r"\[", 1),
        OneOf(("", "print(")),
        _MODULES,
        tools,
        "(",
    )
    yield Marker(
        Opening(*_TABLE.json),
        balanced,
        keeps_opening=True,
    )
    yield Marker(
        Opening(
            "[",
            _SPACE,
            _MODULES,
            tools,
            "(",
        ),
        balanced,
        keeps_opening=True,
    )
    for content in (
        _TABLE.json,
        python,
        ("<", OneOf(_TABLE.call_tags), OneOf((">", "\n"))),
        ("<function=",),
    ):
        yield Marker(
            Opening(*_TABLE.fence, *content),
            fenced,
            keeps_opening=True,
        )


def _bare_calls(tools: OfferedName) -> Iterator[Marker]:
    """Yield the calls without markup: lines that begin with the name of an offered tool."""
    balanced = Region(Kind.MAYBE_CALL)
    line = Region(
        Kind.MAYBE_CALL,
        until=[Opening("\n")],
    )
    called = OneOf(("", "call:"))
    yield Marker(
        Opening(
            _MARKS,
            called,
            _MODULES,
            tools,
            _SPACE,
            Then(r"\{"),
        ),
        balanced,
        keeps_opening=True,
    )
    yield Marker(
        Opening(
            _MARKS,
            _MODULES,
            tools,
            Then(r"\("),
        ),
        balanced,
        keeps_opening=True,
    )
    yield Marker(
        Opening(
            OneOf(("", "call ", "calling ")),
            _MODULES,
            tools,
            " with ",
        ),
        line,
        keeps_opening=True,
    )
    yield Marker(
        Opening(
            tools,
            "[args]",
            _SPACE,
            Then(r"\{"),
        ),
        balanced,
        keeps_opening=True,
    )


THOUGHT_OF_CHANNEL: Final = Region(
    Kind.THOUGHT,
    until=[_MESSAGE_ENDS],
)
CALL_OF_CHANNEL: Final = Region(
    Kind.CALL,
    until=[_MESSAGE_ENDS],
)
DRAFT_FROM_START: Final = Region(
    Kind.DRAFT,
    _THOUGHT_ENDS,
)
"""Start of a message whose template has opened the reasoning."""


_UNSEEN_THOUGHT: Final = Marker(
    Opening(*_TABLE.unseen_thought),
    DRAFT_FROM_START,
    keeps_opening=True,
    place=Place.MESSAGE_START,
)
_AT_STARTS: Final = tuple(_rows("starts"))
_OF_THOUGHTS: Final = (*_thoughts(), *_rows("channel"))
_OF_CALLS: Final = (
    *_rows("deepseek"),
    *_certain_calls(),
    *_rows("fenced"),
    *_noise(),
)
_TOKENS: Final = tuple(_rows("tokens"))


@lru_cache(maxsize=32)
def markers_for(
    names: tuple[str, ...],
    *,
    in_thoughts: bool = False,
    may_begin_in_thought: bool = False,
) -> Markers:
    """Return the markers of text, where tools of these names, in all spellings, are offered.

    Without tools, only markup is taken for a call. In thoughts, there are only markers
    of calls. A message that `may_begin_in_thought` does so if its first words speak for
    that.
    """
    tools = OfferedName(names)
    bare, maybe = (
        (_at(Place.LINE_START, _bare_calls(tools)), tuple(_maybe_calls(tools)))
        if names
        else ((), ())
    )
    calls = (
        *bare,
        *_OF_CALLS,
        *maybe,
        *_TOKENS,
    )
    if in_thoughts:
        return Markers(*calls)
    return Markers(
        *_AT_STARTS,
        *([_UNSEEN_THOUGHT] if may_begin_in_thought else []),
        *_OF_THOUGHTS,
        *calls,
    )


MAX_HELD_CHARACTERS: Final = 65_536
"""Of a possible call. A spoken request never needs more; a runaway model writes more."""

_MAX_HEADER_CHARACTERS: Final = 256
_SURELY_A_MARKER: Final = 4
"""Characters of a partial marker that count as a marker at the end of a message."""

_PLACE: Final = re.compile(r"[<\[{`◁【\ue200\n]|(?<=[.!?…\"”)}\]])[aA]")
_SENTENCE_ENDS: Final = '.!?…"”)}]'
_HEADER: Final = re.compile(
    r"\A(?:<[^<>\n]*+>|assistant|analysis|commentary|final|to=\S*+|\s)*+", re.IGNORECASE
)


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
    addressed: bool
    """False for arguments without a tool, unless they name it."""


@dataclass(frozen=True, slots=True)
class DroppedText:
    """Text was removed here."""

    divides: bool = False
    """Whether another message begins here."""


type Piece = PlainText | ReasoningText | CallText | DroppedText


class MarkupScanner:
    """Splits the text of one message."""

    def __init__(
        self,
        markers: Markers,
        *,
        begins_in_thought: bool = False,
    ) -> None:
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
            self._enter(
                DRAFT_FROM_START,
                0,
                0,
            )

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
        if not region.marks:
            self._looked_at, closed = self._brackets.scan(
                self._held,
                self._looked_at,
            )
            return self._leave(
                region, self._looked_at, self._looked_at if closed else -1
            )
        found = region.find_end(
            self._held,
            self._looked_at,
            final=final,
        )
        self._looked_at, end = found or (len(self._held), -1)
        return self._leave(
            region,
            self._looked_at,
            end,
        )

    def _find_opening(self, *, final: bool) -> bool:
        """Pass on the text before the next marker and enter its region; False if more text is needed."""
        while self._at < len(self._held):
            if self._held[self._at].isspace():
                self._say_until(self._at + 1)
                continue
            for marker in self._markers.at(
                self._held[self._at : self._at + 2], self._place
            ):
                found = marker.opening.match(
                    self._held,
                    self._at,
                )
                if isinstance(found, re.Match):
                    self._open(marker, found)
                    return True
                if found == NOT_YET and not final:
                    return False
                is_marker = (
                    marker.region.kind is not Kind.MAYBE_CALL
                    and self._held[self._at] in "<[◁"
                    and len(self._held) - self._at >= _SURELY_A_MARKER
                )
                if found == NOT_YET and is_marker:
                    self._at = len(self._held)
                    return False
            place = _PLACE.search(
                self._held,
                self._at + 1,
            )
            self._say_until(place.start() if place else len(self._held))
        return False

    def _say_until(self, end: int) -> None:
        text = self._held[self._at : end]
        self._at = end
        self._say(text)
        if text.isspace():
            self._place = self._place & ~Place.SENTENCE_END
        else:
            self._place = Place.ANYWHERE
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

    def _open(
        self,
        marker: Marker,
        found: re.Match[str],
    ) -> None:
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
                if marker.keeps_opening:
                    start = found.start()
                else:
                    start = found.end()
                bracketed = (
                    not marker.region.marks and self._held[found.start()] in "[{"
                )
                self._enter(
                    marker.region, start, found.start() if bracketed else found.end()
                )

    def _begin_message(self, header: str) -> None:
        self._pieces.append(DroppedText(divides=True))
        self._place &= ~Place.COMMENT_START
        if "commentary" in header:
            self._place |= Place.COMMENT_START

    def _enter(
        self,
        region: Region,
        start: int,
        looked_at: int,
    ) -> None:
        self._region, self._at, self._looked_at = region, start, looked_at
        self._brackets = BracketFollower()
        if region.kind is Kind.DRAFT:
            self._pieces.append(ReasoningText("", draft=True, begins=True))

    def _leave(
        self,
        region: Region,
        start: int,
        end: int,
    ) -> bool:
        """Handle a region whose end mark is at `start` to `end`, -1 if it has not arrived."""
        if region.kind is Kind.HEADER:
            most = _MAX_HEADER_CHARACTERS
        else:
            most = MAX_HELD_CHARACTERS
        flows = region.kind in {Kind.THOUGHT, Kind.DRAFT, Kind.NOISE}
        if not flows and start - self._at > most:
            self._give_up(region, self._at + most)
            return True
        if flows or end >= 0:
            self._pass_on(
                region,
                self._held[self._at : end if region.kind is Kind.MAYBE_CALL else start],
            )
        if end < 0:
            self._at = start if flows else self._at
            return False
        if region.kind is Kind.DRAFT and end > start:  # it was reasoning after all
            self._pieces.append(ReasoningText("", begins=True))
            self.thought_began_unseen |= region is DRAFT_FROM_START
        if region.kind is Kind.HEADER:
            header = self._held[self._at : end]
        else:
            header = ""
        if "to=" in header:
            self._enter(CALL_OF_CHANNEL, self._at, end)  # the header names the tool
        elif "analysis" in header:
            self._enter(
                THOUGHT_OF_CHANNEL,
                end,
                end,
            )
        else:
            self._return_to_text(end)
            if header:
                self._begin_message(header)
        return True

    def _pass_on(
        self,
        region: Region,
        text: str,
    ) -> None:
        match region.kind:
            case Kind.THOUGHT | Kind.DRAFT as kind if text:
                self._pieces.append(ReasoningText(text, draft=kind is Kind.DRAFT))
            case Kind.CALL | Kind.MAYBE_CALL | Kind.ARGUMENTS as kind:
                self._pieces.append(_call_text(text, kind, closed=True))
            case Kind.NOISE:
                self._pieces.append(DroppedText())
            case _:
                pass

    def _give_up(
        self,
        region: Region,
        end: int,
    ) -> None:
        """Stop holding a region that is too long: a certain call is dropped, anything else is text."""
        if region.kind in {Kind.CALL, Kind.ARGUMENTS}:
            noise = replace(
                region if region.marks else CALL_OF_CHANNEL, kind=Kind.NOISE
            )
            self._enter(noise, end, end)
            return
        text = self._held[self._at : end]
        self._say(_without_header(text) if region.kind is Kind.HEADER else text)
        self._return_to_text(end)

    def _return_to_text(self, at: int) -> None:
        self._region, self._at, self._looked_at = None, at, at
        self._place |= Place.LINE_START | Place.SENTENCE_END


def _call_text(
    text: str,
    kind: Kind,
    *,
    closed: bool,
) -> CallText:
    return CallText(
        text, kind is not Kind.MAYBE_CALL, closed, addressed=kind is not Kind.ARGUMENTS
    )


def _without_header(text: str) -> str:
    return _HEADER.sub(
        "",
        text,
        count=1,
    )

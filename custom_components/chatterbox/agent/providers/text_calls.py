"""A provider in front of another: makes events of the calls and the reasoning that a model wrote as text.

Knows which tools a request offers, and so which text is a call. The formats are
`wire/written_calls.py`'s, the marks around them `wire/text_markup.py`'s. Must not know who
asks, nor which service answers.
"""

import re
import string
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Final, assert_never
from uuid import uuid4

from ..events import CompletionResult, ProviderEvent, ProviderSwitched, ReasoningDelta, TextDelta, ToolCallReady
from ..json.text import parse_json
from ..messages import AssistantMessage, FinishReason, ToolCall, ToolDefinition, canonical_json
from ..protocols import CompletionRequest, LLMProvider
from ..text import find_tool, spellings
from ..wire.text_markers import markers_for, markers_in_thoughts
from ..wire.text_markup import (
    MAX_HELD_CHARACTERS,
    CallText,
    DroppedText,
    MarkupScanner,
    Piece,
    PlainText,
    ReasoningText,
)
from ..wire.written_calls import ReadText, WrittenCall, read_calls

_CUT_SHORT: Final = frozenset({FinishReason.LENGTH, FinishReason.CONTENT_FILTER})
_STAY: Final = _CUT_SHORT | {FinishReason.TOOL_CALLS}
"""Reasons that are the same with calls."""
_SPACE: Final = string.whitespace
_ID_LENGTH: Final = 9
"""Letters or digits of an id, the one form that all services take (Mistral's rule)."""
_MAX_CALLS: Final = 256
"""Written calls in one message, far beyond what any turn may run. What a runaway model writes after them is dropped."""
_CODE: Final = re.compile(r"[{}\[\]<>=]")


class TextCalls:
    """Passes on what the inner provider streams, without what is not for ears.

    What a model wrote as a call is run if it names an offered tool; what can only be a call
    and names none is passed on as well, so that the model gets its answer. It is never text.
    """

    def __init__(self, provider: LLMProvider, *, begins_in_thought: bool = False) -> None:
        """Stand in front of `provider`.

        `begins_in_thought` tells that the template of the model opens the reasoning, so that
        only its end can be seen. Where that is not known it is learned from the first message.
        """
        self._provider = provider
        self._begins_in_thought = begins_in_thought
        self._offered: tuple[ToolDefinition, ...] = ()
        self._names: tuple[str, ...] = ()

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        if request.tools != self._offered:
            self._offered, self._names = request.tools, _spellings(request.tools)
        message = _Message(request, self._names, begins_in_thought=self._begins_in_thought)
        events = self._provider.stream(request)
        try:
            async for event in events:
                for out in message.read(event):
                    yield out
        finally:
            await events.aclose()
        self._begins_in_thought = message.begins_in_thought


class _Message:
    """What has become of one message so far."""

    def __init__(self, request: CompletionRequest, names: tuple[str, ...], *, begins_in_thought: bool) -> None:
        self._tools = request.tools
        self._is_data = request.output is not None
        self._names = names
        self._text = MarkupScanner(markers_for(self._names), begins_in_thought=begins_in_thought)
        self._thoughts: MarkupScanner | None = None
        self._began_in_thought = begins_in_thought
        self._calls = _Calls(request)
        self._thought_of: list[WrittenCall] = []
        """Calls that stand in the reasoning: meant only if nothing else comes."""
        self._draft = ""
        self._answered = False
        self._out: list[ProviderEvent] = []
        """What is passed on for the present event."""
        self._last_said = ""
        self._removed = ""
        """What may be left out at the beginning of what is said next, because of what was taken out before."""

    @property
    def begins_in_thought(self) -> bool:
        """Whether the messages of this model begin with reasoning that nothing announces."""
        return self._text.thought_began_unseen or (self._began_in_thought and not self._draft)

    def read(self, event: ProviderEvent) -> list[ProviderEvent]:
        """Take in what the provider streams; return what is passed on for it."""
        self._out = []
        match event:
            case TextDelta(text):
                self._pass_on(self._text.feed(text))
            case ReasoningDelta(text):
                self._think(text)
                self._out.append(event)
            case ToolCallReady(call):
                self._out += self._calls.given(call, self._tool_of(call.name))
            case CompletionResult(reason):
                self._end(cut=reason in _CUT_SHORT)
                called = self._calls.any and reason not in _STAY
                self._out.append(replace(event, finish_reason=FinishReason.TOOL_CALLS) if called else event)
            case ProviderSwitched():
                self._out.append(event)
            case _:
                assert_never(event)
        return self._out

    def _end(self, *, cut: bool) -> None:
        self._pass_on(self._text.finish(), cut=cut)
        self._end_thought()
        if self._answered or self._calls.any:
            return
        if self._thought_of and not cut:
            for call in self._thought_of:
                self._out += self._calls.written(call, self._tool_of(call.name))
        elif self._draft:
            answer = MarkupScanner(markers_for(self._names))
            self._pass_on([*answer.feed(self._draft), *answer.finish()], cut=cut)

    def _pass_on(self, pieces: Iterable[Piece], *, cut: bool = False) -> None:
        for piece in pieces:
            match piece:
                case PlainText(text):
                    self._say(text)
                case ReasoningText(text, draft, begins):
                    self._draft = ("" if begins else self._draft) + (text if draft else "")
                    self._draft = self._draft[:MAX_HELD_CHARACTERS]
                    self._removed = self._removed or _SPACE
                    self._think(text)
                    if text:
                        self._out.append(ReasoningDelta(text))
                case CallText():
                    self._call(piece, cut=cut)
                case DroppedText():
                    self._removed = self._removed or _SPACE
                case _:
                    assert_never(piece)

    def _say(self, text: str) -> None:
        if self._removed and (not self._last_said or self._last_said.isspace()):
            text = text.lstrip(self._removed)
        if not text:
            return
        self._removed = ""
        self._last_said = text[-1]
        if not text.isspace():
            self._end_thought()
            self._answered = True
        self._out.append(TextDelta(text))

    def _call(self, piece: CallText, *, cut: bool) -> None:
        self._end_thought()
        read = self._read(piece, whole=piece.closed or not cut)
        if not piece.certain and not (read.calls and all(self._is_meant(call) for call in read.calls)):
            self._say(piece.text)
            return
        self._removed = _SPACE + ";,"
        for call in read.calls:
            self._out += self._calls.written(call, self._tool_of(call.name))
        rest = read.rest.strip()
        if not piece.closed and rest and not _CODE.search(rest):
            self._say(rest)
        elif rest and not read.calls:
            self._out += self._calls.written(WrittenCall("", rest), None)

    def _read(self, piece: CallText, *, whole: bool) -> ReadText:
        read = read_calls(piece.text, whole=whole)
        name = read.rest.strip()
        if piece.certain and whole and not read.calls and self._tool_of(name):  # GLM, for a call without arguments
            return ReadText((WrittenCall(name, "{}"),))
        return read

    def _is_meant(self, call: WrittenCall) -> bool:
        """Tell a call from an object that only looks like one. Where the answer is an object, only a name can tell."""
        return (call.unmistakable and not self._is_data) or self._tool_of(call.name) is not None

    def _tool_of(self, name: str) -> ToolDefinition | None:
        return find_tool(name, self._tools) or find_tool(name.rpartition(".")[2], self._tools)

    def _think(self, text: str) -> None:
        """Look for calls in a piece of reasoning."""
        self._thoughts = self._thoughts or MarkupScanner(markers_in_thoughts(self._names))
        self._keep_calls(self._thoughts.feed(text))

    def _end_thought(self) -> None:
        if self._thoughts is not None:
            self._keep_calls(self._thoughts.finish())
            self._thoughts = None

    def _keep_calls(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, CallText):
                for call in self._read(piece, whole=piece.closed).calls:
                    is_new = len(self._thought_of) < _MAX_CALLS and call not in self._thought_of
                    if is_new and self._tool_of(call.name):
                        self._thought_of.append(call)


class _Calls:
    """The calls of one message: those that the provider gave, and those that were written."""

    def __init__(self, request: CompletionRequest) -> None:
        self.any = False
        self._transcript = request.transcript
        self._given: list[tuple[str, str]] = []
        """Those that nobody has compared with written ones: mostly, no call is written."""
        self._more_given: dict[tuple[str, str], int] = {}
        """How many more of the same call were given than written; below 0 where more were written."""
        self._written = 0
        """Written calls that the provider has not given as well."""

    def given(self, call: ToolCall, tool: ToolDefinition | None) -> list[ToolCallReady]:
        """Pass on a call of the provider, unless it was written before and runs already."""
        self.any = True
        name = tool.name if tool else call.name
        if not self._written:
            self._given.append((name, call.arguments))
        elif self._count(name, call.arguments, 1):
            self._written -= 1
            return []
        return [self._ready(call)]

    def written(self, call: WrittenCall, tool: ToolDefinition | None) -> list[ToolCallReady]:
        """Make a call of a written one, unless the provider gave it as well."""
        if self._written == _MAX_CALLS:
            return []
        self.any = True
        for name, arguments in self._given:
            self._count(name, arguments, 1)
        self._given.clear()
        if self._count(tool.name if tool else call.name, call.arguments, -1):
            return []
        self._written += 1
        name = call.name if tool is None or find_tool(call.name, [tool]) else tool.name
        return [self._ready(ToolCall("", name, call.arguments))]

    def _count(self, name: str, arguments: str, step: int) -> bool:
        """Count one more given call, or one less; tell whether it is the same as one of the other kind."""
        key = (name, _canonical(arguments))
        before = self._more_given.get(key, 0)
        self._more_given[key] = before + step
        return before * step < 0

    def _ready(self, call: ToolCall) -> ToolCallReady:
        while not call.id or call.id in self._taken_ids:
            call = replace(call, id=uuid4().hex[:_ID_LENGTH])
        self._taken_ids.add(call.id)
        return ToolCallReady(call)

    @cached_property
    def _taken_ids(self) -> set[str]:
        said = (message for message in self._transcript if isinstance(message, AssistantMessage))
        return {call.id for message in said for call in message.tool_calls}


def _canonical(arguments: str) -> str:
    try:
        return canonical_json(parse_json(arguments or "{}"))
    except ValueError:
        return arguments


def _spellings(tools: Iterable[ToolDefinition]) -> tuple[str, ...]:
    """Return the names by which `find_tool` knows the tools, in small letters."""
    return tuple(sorted({spelling for tool in tools for spelling in spellings(tool.name)}))

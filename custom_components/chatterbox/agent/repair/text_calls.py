"""Turns calls and reasoning that a model wrote as text into events.

`text_markup.py` finds the text of possible calls and `written_calls.py`
parses it; the offered tools decide here which of them are calls. Decision 7.
"""

import asyncio
import logging
import re
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, assert_never

from ..events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from ..joined_tools import every_part
from ..json.text import parsed_if_json
from ..messages import FinishReason, ToolCall, ToolDefinition, Tools, canonical_json
from ..protocols import CompletionRequest
from ..text import find_tool, plain_tool_name, spellings
from ..timeouts import read_aside
from ..wire.call_assembly import MAX_CALLS, CallIds
from .quoted_calls import Quotations
from .text_markup import (
    MAX_HELD_CHARACTERS,
    CallText,
    DroppedText,
    MarkupScanner,
    Piece,
    PlainText,
    ReasoningText,
    markers_for,
)
from .written_calls import ReadText, WrittenCall, read_calls, read_worded_call

_LOGGER = logging.getLogger(__name__)
_SPACE: Final = string.whitespace
_PIECE: Final = 512
"""Characters of reasoning that are read again before others get their turn."""
_SENTENCE_ENDS: Final = ".!?…:"
_THINKS: Final = re.compile(
    r"(?<![a-z0-9])(?:r1|qwq|qvq|z1|reasoner|openthinker|exaone-deep)(?![a-z0-9])|(?<!no)(?<!non)[-_]think(?:ing|er)?(?![a-z])",
    re.IGNORECASE,
)
"""In names of models whose templates open the reasoning."""
_CUT_CALL: Final = re.compile(
    r"""[^\w"']{0,20}+(?:["']type["']\s*:\s*["']function["']|["'](?:function|function_call|tool_calls?)["']\s*:\s*[\[{]"""
    r"""|["']name["']\s*:\s*["'][\w.-]{1,64}+["']\s*,\s*["'](?:arguments|parameters)["']\s*:)"""
)
"""Begins JSON that is certainly a call, though its end is missing or cannot be found."""
_CODE: Final = re.compile(r"[{}\[\]<>=]")


class TextCalls:
    """Reads the messages of one model, and learns whether they begin with reasoning without a start marker.

    Such a model has a template that opens the reasoning, so that only its end is sent.
    """

    def __init__(self, name: str = "") -> None:
        """Know nothing of the model yet but its `name`."""
        self.begins_in_thought = _THINKS.search(name) is not None
        """As in the latest complete message."""
        self.known = False
        """True once a message with text was complete. Before, first words that look like reasoning are held."""
        self._offered: Tools = ()
        self._names: tuple[str, ...] = ()

    def message(self, request: CompletionRequest) -> TextCallReader:
        """Return a reader for the answer to a request."""
        if request.tools != self._offered:
            self._offered = request.tools
            self._names = spellings(every_part(request.tools))
        return TextCallReader(
            self,
            request,
            self._names,
        )


class TextCallReader:
    """Reads one message: returns its events without markup in their text.

    A written call becomes a call if it names an offered tool. Text that can only be a
    call and names none becomes a call too, so that the model gets an error result; it
    is text of the answer only where it quotes the conversation.
    """

    def __init__(
        self, model: TextCalls, request: CompletionRequest, names: tuple[str, ...]
    ) -> None:
        """Tell `model` how the message begins; `names` are the spellings of the offered tools."""
        self._model = model
        self._request = request
        self._tools = every_part(request.tools)
        self._is_data = request.output is not None
        self._names = names
        markers = markers_for(
            self._names,
            may_begin_in_thought=not model.known,
        )
        self._text = MarkupScanner(markers, begins_in_thought=model.begins_in_thought)
        self._thoughts: MarkupScanner | None = None
        self._began_in_thought = model.begins_in_thought
        self._calls = _Calls(request)
        self._quotations: Quotations | None = None
        self._thought_of: dict[WrittenCall, None] = {}
        """Calls in the reasoning: they count only if nothing else follows."""
        self._draft = ""
        self._answered = False
        self._out: list[ProviderEvent] = []
        """Events to pass on for the current event."""
        self._last_said = ""
        self._removed = ""
        """Characters to strip from the start of the next text, because something stood before it."""
        self._divided = False
        """Whether the next text begins another message."""
        self._written = False
        """Whether text came from the service."""

    async def read(self, event: ProviderEvent) -> list[ProviderEvent]:
        """Return the events to pass on for an event of the provider; others get their turn meanwhile."""
        self._out = []
        match event:
            case TextDelta(text):
                self._written = self._written or not text.isspace()
                await self._pass_on(self._text.feed(text))
            case ReasoningDelta(text):
                if (
                    self._began_in_thought and not self._written
                ):  # the service tells reasoning apart
                    self._began_in_thought = False
                    self._text = MarkupScanner(markers_for(self._names))
                self._removed = self._removed or _SPACE
                await self._think(text)
                self._out.append(event)
            case ToolCallReady(call):
                await self._release_draft()
                self._removed = self._removed or _SPACE
                self._out += self._calls.given(
                    call,
                    self._tool_of(call.name),
                )
            case ServiceSearched():
                await self._release_draft()
                self._out.append(event)
            case CompletionResult(reason):
                await self._end(cut=reason.is_cut)
                self._learn(cut=reason.is_cut)
                if self._calls.any and not reason.is_cut:
                    event = replace(event, finish_reason=FinishReason.TOOL_CALLS)
                self._out.append(event)
            case ProviderSwitched() | PromptProgress():
                self._out.append(event)
            case _:
                assert_never(event)
        return self._out

    def _learn(self, *, cut: bool) -> None:
        """Keep what a message tells about how those of its model begin."""
        is_known = self._written and not cut
        self._model.known = self._model.known or is_known
        self._model.begins_in_thought = self._text.thought_began_unseen or (
            self._began_in_thought and not self._draft
        )

    async def _end(self, *, cut: bool) -> None:
        await self._pass_on(
            self._text.finish(),
            cut=cut,
        )
        await self._end_thought()
        if self._answered or self._calls.any:
            return
        if self._thought_of and not cut:
            for call in self._thought_of:
                self._out += self._calls.written(
                    call,
                    self._tool_of(call.name),
                )
        elif self._draft and not (cut and self._began_in_thought):
            await self._say_draft(cut=cut)

    async def _say_draft(self, *, cut: bool) -> None:
        answer = MarkupScanner(markers_for(self._names))
        draft = self._draft
        for start in range(0, len(draft), _PIECE):
            await self._pass_on(answer.feed(draft[start : start + _PIECE]))
            await asyncio.sleep(0)
        await self._pass_on(answer.finish(), cut=cut)

    async def _release_draft(self) -> None:
        """Say first words that only looked like reasoning: reasoning would have ended before a call of the service."""
        if self._text.is_drafting and not self._began_in_thought:
            await self._pass_on(self._text.finish())
            self._text = MarkupScanner(markers_for(self._names))
            await self._say_draft(cut=False)

    async def _pass_on(
        self,
        pieces: Iterable[Piece],
        *,
        cut: bool = False,
    ) -> None:
        for piece in pieces:
            match piece:
                case PlainText(text):
                    await self._say(text)
                case ReasoningText(text, draft, begins):
                    self._draft = ("" if begins else self._draft) + (
                        text if draft else ""
                    )
                    self._draft = self._draft[:MAX_HELD_CHARACTERS]
                    self._removed = self._removed or _SPACE
                    await self._think(text)
                    if text:
                        self._out.append(ReasoningDelta(text))
                case CallText():
                    await self._call(piece, cut=cut)
                case DroppedText(divides):
                    self._removed = self._removed or _SPACE
                    self._divided = self._divided or divides
                case _:
                    assert_never(piece)

    async def _say(self, text: str) -> None:
        if self._removed and (not self._last_said or self._last_said.isspace()):
            text = text.lstrip(self._removed)
        if not text:
            return
        text = self._gap_before(text) + text
        self._removed = ""
        self._divided = False
        self._last_said = text[-1]
        if not text.isspace():
            await self._end_thought()
            self._answered = True
        self._out.append(TextDelta(text))

    def _gap_before(self, text: str) -> str:
        """Return what separates text from the text before it, if something stood between them."""
        last = self._last_said
        if not self._removed or not last or last.isspace() or text[0].isspace():
            return ""
        if last in _SENTENCE_ENDS and (self._divided or text[0].isalpha()):
            return " "
        return "\n" if self._divided else ""

    async def _call(
        self,
        piece: CallText,
        *,
        cut: bool,
    ) -> None:
        """Pass on what may be calls: as such, as words, or as a call that fails, so that the model learns of it."""
        await self._end_thought()
        if piece.certain:
            worded = None
        else:
            worded = read_worded_call(piece.text, self._tool_of)
        whole = piece.closed or not cut
        if worded:
            parsed = ReadText((worded,))
        else:
            parsed = await self._read(piece, whole=whole)
        calls = parsed.calls
        is_call = piece.certain or (calls and all(map(self._is_meant, calls)))
        is_addressed = piece.addressed or (calls and all(map(self._is_named, calls)))
        if not is_call:
            if piece.closed or not _CUT_CALL.match(piece.text):
                await self._say(piece.text)
        elif is_addressed:
            await self._pass_on_calls(piece, parsed)
        elif self._is_data:
            await self._say(piece.text)
        else:
            await self._pass_on_calls(
                piece,
                ReadText(rest=piece.text),
            )

    async def _pass_on_calls(
        self,
        piece: CallText,
        parsed: ReadText,
    ) -> None:
        """Pass on calls, and what is left beside them; they are words where all are quoted."""
        meant = [call for call in parsed.calls if not await self._is_quoted(call)]
        if parsed.calls and not meant:
            await self._say(piece.text.removeprefix(">"))
            return
        self._removed = _SPACE + ";,`*"
        for call in meant:
            self._out += self._calls.written(
                call,
                self._tool_of(call.name),
            )
        rest = parsed.rest.strip()
        if not piece.closed and rest and not _CODE.search(rest):
            await self._say(rest)
        elif rest and not parsed.calls:
            self._out += self._calls.written(
                WrittenCall("", rest),
                None,
            )

    async def _read(
        self,
        piece: CallText,
        *,
        whole: bool,
    ) -> ReadText:
        parsed = await read_aside(
            len(piece.text),
            read_calls,
            piece.text,
        )
        name = parsed.rest.strip()
        if (
            piece.certain and whole and not parsed.calls and self._tool_of(name)
        ):  # GLM, for a call without arguments
            return ReadText((WrittenCall(name, "{}", source=f">{name}<"),))
        return parsed

    async def _is_quoted(self, call: WrittenCall) -> bool:
        self._quotations = self._quotations or Quotations(self._request)
        length = len(call.arguments) + self._quotations.length
        quoted = await read_aside(
            length,
            self._quotations.hold,
            call,
        )
        if quoted:
            _LOGGER.warning(
                "The model wrote a call of %.64r that it quotes from the conversation: it is text",
                call.name,
            )
        return quoted

    def _is_meant(self, call: WrittenCall) -> bool:
        """Return whether a call is meant. If the answer is a JSON object, only the name of a tool decides."""
        return (call.unmistakable and not self._is_data) or self._tool_of(
            call.name
        ) is not None

    def _is_named(self, call: WrittenCall) -> bool:
        """Return whether a call certainly names a tool, and not a device with the name of one."""
        return call.unmistakable and self._tool_of(call.name) is not None

    def _tool_of(self, name: str) -> ToolDefinition | None:
        return find_tool(name, self._tools)

    async def _think(self, text: str) -> None:
        """Look for calls in reasoning."""
        self._thoughts = self._thoughts or MarkupScanner(
            markers_for(self._names, in_thoughts=True)
        )
        await self._keep_calls(self._thoughts.feed(text))

    async def _end_thought(self) -> None:
        if self._thoughts is not None:
            await self._keep_calls(self._thoughts.finish())
            self._thoughts = None

    async def _keep_calls(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, CallText):
                for call in (await self._read(piece, whole=piece.closed)).calls:
                    if len(self._thought_of) == MAX_CALLS or not self._tool_of(
                        call.name
                    ):
                        continue
                    if not await self._is_quoted(call):
                        self._thought_of[call] = None


class _Calls:
    """Native and written calls of one message, each passed on once."""

    def __init__(self, request: CompletionRequest) -> None:
        self.any = False
        self._ids = CallIds(request.transcript)
        self._alone: Counter[tuple[str, str, bool]] = Counter()
        """Native calls that were not written too, and written ones that are not native."""
        self._written = 0

    def given(
        self,
        call: ToolCall,
        tool: ToolDefinition | None,
    ) -> list[ToolCallReady]:
        """Pass on a native call, unless it was written before."""
        self.any = True
        if self._is_repeated(call.name, call.arguments, tool, native=True):
            return []
        return [self._ready(call)]

    def written(
        self, call: WrittenCall, tool: ToolDefinition | None
    ) -> list[ToolCallReady]:
        """Pass on a written call, unless it was a native one before."""
        if self._written == MAX_CALLS:
            return []
        self.any = True
        if self._is_repeated(call.name, call.arguments, tool, native=False):
            return []
        self._written += 1
        if tool is None or plain_tool_name(call.name) == call.name:
            name = call.name
        else:
            name = tool.name
        return [self._ready(ToolCall("", name, call.arguments))]

    def _is_repeated(
        self,
        name: str,
        arguments: str,
        tool: ToolDefinition | None,
        *,
        native: bool,
    ) -> bool:
        """Return whether the call equals one of the other kind, of which each counts once."""
        meant = canonical_json(parsed_if_json(arguments or "{}"))
        key = (tool.name if tool else name, meant)
        is_repeated = self._alone[*key, not native] > 0
        if is_repeated:
            self._alone[*key, not native] -= 1
        else:
            self._alone[*key, native] += 1
        return is_repeated

    def _ready(self, call: ToolCall) -> ToolCallReady:
        call_id = self._ids.unique(call.id)
        return ToolCallReady(call if call_id == call.id else replace(call, id=call_id))

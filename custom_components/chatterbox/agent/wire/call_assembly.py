"""Assembles tool calls that arrive in fragments: which fragment belongs to which call, and when a call is complete.

A call is complete when its arguments are one JSON object. Two things delay it: an
earlier call that is incomplete (calls keep the model's order), and an empty object at
the very end, because some servers send `{}` first and the arguments after it. Calls
that are incomplete at the end of the message are returned as they are; the loop answers
them.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import uuid4

from ..errors import ProviderReplyInvalid
from ..json.text import is_json_object
from ..messages import (
    MAX_CALL_LENGTH,
    AssistantMessage,
    JsonObject,
    ToolCall,
    Transcript,
)
from ..text import plain_arguments, sendable_text, without_tokens

_MARKS: Final = re.compile(r"[\\\"'{}\[\]()]")
_NOT_SPACE: Final = re.compile(r"\S")
_KEY_OF_BRACE: Final = '{"'
"""These characters follow themselves in an object with the key "{"."""
MAX_CALLS: Final = 256
"""In one message, far more than a turn may run."""
_MAX_NAME: Final = 256
"""Characters; services allow 64."""


ACCEPTED_ID: Final = "[A-Za-z0-9]{9}"
"""Pattern of an id that every server accepts (Mistral's rule)."""


def new_call_id() -> str:
    """Return a new id of a call."""
    return uuid4().hex[:9]


class CallIds:
    """Hands out ids of calls that are unique in a conversation."""

    def __init__(
        self, transcript: Transcript, new_id: Callable[[], str] = new_call_id
    ) -> None:
        """Reserve the ids of `transcript`."""
        answers = (
            message for message in transcript if isinstance(message, AssistantMessage)
        )
        self._taken = {call.id for message in answers for call in message.tool_calls}
        self._new_id = new_id

    def unique(self, sent: str) -> str:
        """Return the id that a service sent, or a new one if it is empty or taken."""
        sent = without_tokens(sent)
        while not sent or sent in self._taken:
            sent = self._new_id()
        self._taken.add(sent)
        return sent


class BracketFollower:
    """Finds where the first bracket of a text closes; each character is scanned once."""

    def __init__(self) -> None:
        """Start before the first bracket."""
        self._depth = 0
        self._quote = ""
        self._after_backslash = False

    def scan(
        self,
        text: str,
        position: int,
    ) -> tuple[int, bool]:
        """Scan from `position`; return where that ended, and whether the first bracket closes there."""
        if self._after_backslash and position < len(text):
            position += 1
            self._after_backslash = False
        while mark := _MARKS.search(text, position):
            position = mark.end()
            match mark.group():
                case "\\" if self._quote:
                    self._after_backslash = position == len(text)
                    position += 1
                case '"' | "'" as quote:
                    self._see_quote(
                        quote,
                        text[mark.start() - 1],
                    )
                case _ if self._quote:
                    pass
                case "{" | "[" | "(":
                    self._depth += 1
                case "}" | "]" | ")":
                    self._depth -= 1
                    if self._depth <= 0:
                        return position, True
                case _:  # a backslash outside of quotes
                    pass
        return len(text), False

    def _see_quote(
        self,
        quote: str,
        before: str,
    ) -> None:
        if quote == self._quote:
            self._quote = ""
        elif not self._quote and (
            quote == '"' or not before.isalnum()
        ):  # no apostrophe
            self._quote = quote


class ObjectText:
    """Collects text until it is one complete JSON object; each character is scanned once.

    Text beyond `MAX_CALL_LENGTH` is dropped but for one character: memory is bounded,
    and the length of the text still shows why it is no object.
    """

    def __init__(self) -> None:
        """Start with no text."""
        self.complete = False
        """True once the text is one JSON object."""
        self._pieces: list[str] = []
        self._length = 0
        self._brackets = BracketFollower()
        self._invalid = False

    @property
    def text(self) -> str:
        """The collected text without leading whitespace and lone surrogates."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        if self._pieces:
            return sendable_text(self._pieces[0])
        return ""

    @property
    def is_empty_object(self) -> bool:
        """True if the object is `{}`."""
        return self.complete and not self.text[1:-1].strip()

    def is_repeated_in(self, text: str) -> bool:
        """Return whether a text is the beginning of an object that was collected so far, and perhaps more of it."""
        return (
            not self.complete
            and text.startswith("{")
            and text != _KEY_OF_BRACE
            and 0 < self._length <= len(text)
            and text.startswith(self.text)
        )

    def add(
        self,
        text: str,
        start: int = 0,
    ) -> int:
        """Append what belongs to the object in `text[start:]`; return the index after it.

        That is `start` if the object is complete already.
        """
        if self.complete:
            return start
        if not self._pieces:
            first = _NOT_SPACE.search(text, start)
            if first:
                start = first.start()
            else:
                start = len(text)
        within = text[: start + MAX_CALL_LENGTH + 1 - self._length]
        end, closed = (
            (len(text), False) if self._invalid else self._brackets.scan(within, start)
        )
        self._keep(text[start:end])
        if closed and not self._invalid:
            self.complete = is_json_object(self.text)
            self._invalid = not self.complete
        if self._invalid:
            self._keep(text[end:])
        if self.complete:
            return end
        return len(text)

    def _keep(self, piece: str) -> None:
        room = MAX_CALL_LENGTH + 1 - self._length
        if len(piece) >= room:
            self._invalid = True
            piece = piece[:room]
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)


class CallFragment(NamedTuple):
    """One fragment of a call. Text that was not sent is empty."""

    position: int | None
    """Its index on the wire."""
    id: str
    name: str
    arguments: str
    extra: JsonObject | None = None
    """Data that the server wants back with the call, unchanged."""
    ended: bool = False
    """Whether the server says that nothing of the call follows."""


@dataclass(slots=True, eq=False)
class _OpenCall:
    """A call that is being assembled."""

    index: int | None
    wire_id: str
    name: str
    call_id: str = ""
    """Its id once it is returned."""
    repeats: _OpenCall | None = None
    """The call before it, if only the text shows that a new one began."""
    extra: JsonObject | None = None
    last_chunk: int = 0
    ended: bool = False
    released: bool = False
    arguments: ObjectText = field(default_factory=ObjectText)

    def is_noise(self) -> bool:
        """Return whether this is no call: a start that nothing followed, or the same arguments again."""
        text = self.arguments.text
        return not (self.name or text) or (
            self.repeats is not None and self.repeats.arguments.text == text
        )


class CallAssembler:
    """Assembles the calls of one message."""

    def __init__(self, ids: CallIds) -> None:
        """Give each call a unique id."""
        self._ids = ids
        self._calls: list[_OpenCall] = []
        self.length = 0
        """Characters of the arguments so far."""
        self._chunks = 0
        self._released = 0

    @property
    def extras(self) -> dict[str, JsonObject]:
        """The `extra` of each returned call, by its id. It may come after the call is complete."""
        return {
            call.call_id: call.extra
            for call in self._calls
            if call.call_id and call.extra
        }

    @property
    def any(self) -> bool:
        """Whether a call was begun."""
        return not all(call.is_noise() for call in self._calls)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing from any call."""
        return all(
            call.arguments.complete or call.ended or call.is_noise()
            for call in self._calls
        )

    def add(self, fragments: Iterable[CallFragment]) -> list[ToolCall]:
        """Add the fragments of one chunk; return the calls that are complete now.

        Raises `ProviderReplyInvalid` for more than `MAX_CALLS` calls.
        """
        self._chunks += 1
        for sent in fragments:
            fragment = sent._replace(
                id=sendable_text(sent.id), name=sendable_text(sent.name)[:_MAX_NAME]
            )
            call = self._find(fragment)
            if call is None or (fragment.name and self._begins_another(call, fragment)):
                call = self._open(
                    _OpenCall(
                        fragment.position,
                        fragment.id,
                        fragment.name,
                    )
                )
            elif fragment.name != call.name:
                call.name = (call.name + fragment.name)[:_MAX_NAME]
            call.wire_id = call.wire_id or fragment.id
            call.extra = call.extra or fragment.extra
            call.last_chunk = self._chunks
            self.length += len(fragment.arguments)
            self._append(call, fragment.arguments).ended = fragment.ended
        return self._release(finished=False)

    def finish(self) -> list[ToolCall]:
        """Return the remaining calls at the end of the message."""
        return self._release(finished=True)

    def _find(self, fragment: CallFragment) -> _OpenCall | None:
        """Return the call that a fragment may continue: by index, by id, else the last one."""
        if fragment.position is not None:
            for call in reversed(self._calls):
                if call.index == fragment.position:
                    return call
            return None
        if fragment.id and (
            same := [call for call in self._calls if call.wire_id == fragment.id]
        ):
            return same[-1]
        if self._calls:
            return self._calls[-1]
        return None

    def _begins_another(
        self,
        call: _OpenCall,
        fragment: CallFragment,
    ) -> bool:
        """Return whether a named fragment begins a new call; some servers repeat or split the name."""
        if not call.name:
            return False
        other_id = bool(fragment.id and call.wire_id) and fragment.id != call.wire_id
        if other_id or call.last_chunk == self._chunks:
            return True
        more_of_the_name = fragment.position is not None and not call.arguments.text
        return fragment.name != call.name and not more_of_the_name

    def _append(
        self,
        call: _OpenCall,
        text: str,
    ) -> _OpenCall:
        """Append text to a call, and return the last one: an object after a complete one is another of the same tool.

        It replaces an empty object. Other text after a complete object is dropped. Some
        servers send with each fragment what came before it.
        """
        if call.arguments.is_repeated_in(text):
            call.arguments = ObjectText()
        taken = call.arguments.add(text)
        while (start := text.find("{", taken)) >= 0:
            if call.arguments.is_empty_object and not call.released:
                call.arguments = ObjectText()
            else:
                call = self._open(
                    _OpenCall(
                        call.index, "", call.name, repeats=call, last_chunk=self._chunks
                    )
                )
            taken = call.arguments.add(text, start)
        return call

    def _open(self, call: _OpenCall) -> _OpenCall:
        if len(self._calls) >= MAX_CALLS:
            raise ProviderReplyInvalid(
                f"the service sent more than {MAX_CALLS} calls in one message"
            )
        self._calls.append(call)
        return call

    def _release(self, *, finished: bool) -> list[ToolCall]:
        released: list[ToolCall] = []
        while self._released < len(self._calls):
            call = self._calls[self._released]
            is_last = self._released + 1 == len(self._calls)
            is_whole = call.arguments.complete and not (
                is_last and call.arguments.is_empty_object
            )
            if not (finished or is_whole or call.ended):
                break
            self._released += 1
            call.released = True
            if not call.is_noise():
                released.append(self._tool_call(call))
        return released

    def _tool_call(self, call: _OpenCall) -> ToolCall:
        call.call_id = self._ids.unique(call.wire_id)
        text = call.arguments.text
        if not call.arguments.complete and is_json_object(
            plain := plain_arguments(text)
        ):
            text = plain
        return ToolCall(
            call.call_id, call.name, "{}" if text.strip() in {"", "null"} else text
        )

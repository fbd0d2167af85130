"""Tool calls that arrive in fragments: which fragment belongs to which call, and when one is whole.

Knows the ways in which servers number, name and repeat their fragments; nothing of JSON
chunks, tools or turns. A call is whole when its arguments are one JSON object. Two things
keep it back: an earlier call that is not whole (calls keep the model's order), and an empty
object at the very end, because some servers send `{}` first and the arguments after it.
What is not whole when the message ends goes out as it is, for the loop to answer.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..errors import ProviderReplyInvalid
from ..messages import JsonObject, ToolCall
from .object_text import ObjectText

MAX_CALLS: Final = 256
"""Calls in one message, far beyond what any turn may run."""


class CallFragment(NamedTuple):
    """One piece of a call, as a chunk carries it; a tuple, for many make a call. Empty text was not sent."""

    position: int | None
    """Its index on the wire."""
    id: str
    name: str
    arguments: str
    extra: JsonObject | None = None
    """What the server wants back with the call, unchanged."""


@dataclass(slots=True, eq=False)
class _OpenCall:
    """A call that is being written."""

    index: int | None
    wire_id: str
    name: str
    repeats: _OpenCall | None = None
    """The call before it, when the server gave no sign but the text that a new one began."""
    extra: JsonObject | None = None
    last_chunk: int = 0
    released: bool = False
    arguments: ObjectText = field(default_factory=ObjectText)

    def says_nothing(self) -> bool:
        """Tell a call from noise: an opening that nothing followed, or the same arguments sent again."""
        text = self.arguments.text
        return not (self.name or text) or (self.repeats is not None and self.repeats.arguments.text == text)


class CallAssembler:
    """Puts together the calls of one message."""

    def __init__(self, taken_ids: Collection[str], new_id: Callable[[], str]) -> None:
        """Give calls that come without an id, or with one of `taken_ids`, one from `new_id`."""
        self._taken_ids = set(taken_ids)
        self._new_id = new_id
        self.extras: dict[str, JsonObject] = {}
        """What goes back with the calls that went out, by their ids."""
        self._calls: list[_OpenCall] = []
        self._chunks = 0
        self._released = 0

    def add(self, fragments: Iterable[CallFragment]) -> list[ToolCall]:
        """Take the fragments of one chunk; return the calls that can go out now.

        Raises `ProviderReplyInvalid` for more than `MAX_CALLS` calls.
        """
        self._chunks += 1
        for fragment in fragments:
            call = self._find(fragment)
            if call is None or (fragment.name and self._begins_another(call, fragment)):
                call = self._open(_OpenCall(fragment.position, fragment.id, fragment.name))
            elif fragment.name != call.name:
                call.name += fragment.name
            call.wire_id = call.wire_id or fragment.id
            call.extra = call.extra or fragment.extra
            call.last_chunk = self._chunks
            self._append(call, fragment.arguments)
        return self._release(finished=False)

    def finish(self) -> list[ToolCall]:
        """Return what is left: the message is over."""
        return self._release(finished=True)

    def _find(self, fragment: CallFragment) -> _OpenCall | None:
        """Return the call that a fragment may continue: the one of its index, its id, or the last one."""
        if fragment.position is not None:
            for call in reversed(self._calls):
                if call.index == fragment.position:
                    return call
            return None
        if fragment.id and (same := [call for call in self._calls if call.wire_id == fragment.id]):
            return same[-1]
        return self._calls[-1] if self._calls else None

    def _begins_another(self, call: _OpenCall, fragment: CallFragment) -> bool:
        """Tell a new call from more of `call`. Only a new one is named, but some servers repeat or cut the name."""
        if not call.name:
            return False
        other_id = bool(fragment.id and call.wire_id) and fragment.id != call.wire_id
        if other_id or call.last_chunk == self._chunks:
            return True
        more_of_the_name = fragment.position is not None and not call.arguments.text
        return fragment.name != call.name and not more_of_the_name

    def _append(self, call: _OpenCall, text: str) -> None:
        """Add text to a call; an object after a whole one is another call of the same tool.

        It takes the place of an empty one. Other text after a whole object is dropped.
        """
        taken = call.arguments.add(text)
        while (start := text.find("{", taken)) >= 0:
            if call.arguments.is_empty_object and not call.released:
                call.arguments = ObjectText()
            else:
                call = self._open(_OpenCall(call.index, "", call.name, repeats=call, last_chunk=self._chunks))
            taken = call.arguments.add(text, start)

    def _open(self, call: _OpenCall) -> _OpenCall:
        if len(self._calls) >= MAX_CALLS:
            raise ProviderReplyInvalid(f"the service sent more than {MAX_CALLS} calls in one message")
        self._calls.append(call)
        return call

    def _release(self, *, finished: bool) -> list[ToolCall]:
        released: list[ToolCall] = []
        while self._released < len(self._calls):
            call = self._calls[self._released]
            is_last = self._released + 1 == len(self._calls)
            is_whole = call.arguments.complete and not (is_last and call.arguments.is_empty_object)
            if not (finished or is_whole):
                break
            self._released += 1
            call.released = True
            if not call.says_nothing():
                released.append(self._tool_call(call))
        return released

    def _tool_call(self, call: _OpenCall) -> ToolCall:
        call_id = call.wire_id
        while not call_id or call_id in self._taken_ids:
            call_id = self._new_id()
        self._taken_ids.add(call_id)
        if call.extra:
            self.extras[call_id] = call.extra
        text = call.arguments.text
        return ToolCall(call_id, call.name, "{}" if text.strip() in {"", "null"} else text)

"""A Responses conversation → the canonical transcript; the way back stands in `response_items_written.py`.

Knows what items mean; their JSON stands in `response_item_schema.py`, their parts in `response_parts.py`. Must not know
requests, agents or stores. Control items (lists of tools, questions for a yes and their answers) never reach a model,
but for a no, which it must not forget; items of vendors are passed over, and results that a client brings count as from
outside of the house: nobody knows what they have been through.
Sources: OpenResponses specification, schema of 2026-04-24; OpenAI API reference, "Responses".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...messages import AssistantMessage, JsonObject, Message, ToolCall, ToolResult, Transcript, UserMessage
from ...transcript import open_calls
from .calls import CUT_OFF, called_by, in_place, mcp_result, refused_call
from .carriers import phase_item, provider_items, summary_messages
from .parts import UnusableItem, read_parts
from .schema import (
    VENDOR_TYPE,
    ApprovalRequestItem,
    ApprovalResponseItem,
    CompactionItem,
    FunctionCallItem,
    FunctionCallOutputItem,
    ItemReference,
    ListToolsItem,
    McpCallItem,
    MessageItem,
    ReasoningItem,
    Sent,
    path_within,
    read_item,
)
from .sealed_content import Seal

_PARAGRAPH: Final = "\n\n"
_SHOWN_BY: Final = "[Shown by the result of the call {call_id}.]"


@dataclass(frozen=True, slots=True)
class ApprovalResponse:
    """A yes or a no that a client brings."""

    request_id: str
    approve: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Translated:
    """What items say."""

    messages: Transcript
    """Every call has its result right after its message. Results of calls of what came before stand first; where such a
    message had other calls too, `transcript.repair` of all that was said puts them in order."""
    instructions: str = ""
    """What system and developer messages at the beginning say. Where nothing else is said, it is what is to be answered
    instead."""
    approvals: tuple[ApprovalResponse, ...] = ()
    """Those that are to be acted on: what a later word, call or question of the model has settled is not among them."""
    listed: frozenset[str] = frozenset()
    """Server labels whose tools the client was told already."""


def to_transcript(items: Sequence[JsonObject], seal: Seal, history: Iterable[Message] = ()) -> Translated:
    """Translate complete items that go on from `history`. Pairs are checked elsewhere: what has none is left out.

    Raises `UnusableItem` for an item that is not as `complete_item` leaves it, a reference that nobody has resolved,
    and a compaction that is not one of ours. Its path begins at the list: `[2].encrypted_content`.
    """
    reading = _Reading(seal)
    for index, item in enumerate(items):
        try:
            reading.add(item)
        except UnusableItem as err:
            raise UnusableItem(err.message, path_within(f"[{index}]", err.path)) from None
    return reading.end(open_calls(history))


class _Reading:
    """Gathers messages from items."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._messages: list[Message] = []
        self._instructions: list[str] = []
        self._late: list[str] = []
        self._asked: dict[str, ApprovalRequestItem] = {}
        self._approvals: dict[str, ApprovalResponse] = {}
        self._listed: set[str] = set()
        self._cut: set[str] = set()
        self._open = AssistantMessage()
        self._has_run = False
        """Whether the house has run the last call of this message: then it holds none of the client."""

    def add(self, item: JsonObject) -> None:
        """Take in one item."""
        match None if VENDOR_TYPE.fullmatch(str(item["type"])) else read_item(item):
            case MessageItem() as message:
                self._add_message(message)
            case FunctionCallItem() as call:
                self._cut |= {call.call_id} if call.status == CUT_OFF else set()
                if self._has_run:
                    self._close()
                self._add_call(ToolCall(call.call_id, call.name, call.arguments))
            case FunctionCallOutputItem() as output:
                self._add_output(output)
            case McpCallItem() as call:
                call_id = called_by(item) or call.id
                self._add_call(ToolCall(call_id, call.name, call.arguments))
                self._has_run = call.error is None
                self._messages.append(mcp_result(call_id, call))
            case ReasoningItem() as reasoning:
                self._add_reasoning(reasoning)
            case CompactionItem() as compaction:
                self._add_compaction(compaction, str(item["id"]))
            case other:
                self._add_control(other)

    def end(self, open_before: Sequence[ToolCall]) -> Translated:
        """Return what was gathered."""
        self._close()
        if not self._messages and not self._approvals:
            self._late, self._instructions = [*self._instructions, *self._late], []
        self._tell_late()
        return Translated(
            messages=tuple(_told_in_one(in_place(self._messages, open_before, self._cut))),
            instructions=_PARAGRAPH.join(self._instructions),
            approvals=tuple(self._approvals.values()),
            listed=frozenset(self._listed),
        )

    def _add_control(self, item: Sent | None) -> None:
        """Take in what no model reads, at least not at once."""
        match item:
            case ListToolsItem(error=None):
                self._listed.add(item.server_label)
            case ApprovalRequestItem(id=request_id):
                self._settle(_question_of(request_id))
                self._asked[request_id] = item
            case ApprovalResponseItem(approval_request_id=request_id):
                self._approvals[request_id] = ApprovalResponse(request_id, item.approve, item.reason or "")
            case ItemReference():
                raise UnusableItem("There is no such item.", "id")
            case _:
                pass

    def _add_message(self, message: MessageItem) -> None:
        text, attachments = read_parts(message.content)
        if message.role == "user":
            self._close()
            context, self._late = _PARAGRAPH.join(self._late), []
            self._messages.append(UserMessage(text, attachments, context))
        elif message.role == "assistant" and text:
            self._begin(is_new_message=True)
            phase = (phase_item(message.phase),) if message.phase else ()
            self._open = replace(self._open, text=text, provider_items=phase + self._open.provider_items)
        elif text:
            self._close()
            (self._late if self._messages else self._instructions).append(text)

    def _add_call(self, call: ToolCall) -> None:
        self._begin(is_new_message=False)
        self._open = replace(self._open, tool_calls=(*self._open.tool_calls, call))

    def _add_output(self, output: FunctionCallOutputItem) -> None:
        text, attachments = (output.output, ()) if isinstance(output.output, str) else read_parts(output.output)
        if attachments or any(call.id == output.call_id for call in self._open.tool_calls):
            self._close()
        self._messages.append(ToolResult(output.call_id, "", text, open_world=True))
        if attachments:
            self._tell_late()
            self._messages.append(UserMessage("", attachments, _SHOWN_BY.format(call_id=output.call_id)))

    def _add_reasoning(self, item: ReasoningItem) -> None:
        """Take in what was thought before a message, or what is carried behind one."""
        carried = provider_items(item.encrypted_content or "", self._seal)
        if item.text:
            if _says_something(self._open):
                self._close()
            reasoning = _PARAGRAPH.join(filter(None, (self._open.reasoning, item.text)))
            self._open = AssistantMessage(reasoning=reasoning, provider_items=self._open.provider_items + carried)
        elif carried and _says_something(self._open):
            self._open = replace(self._open, provider_items=self._open.provider_items + carried)
            self._close()

    def _add_compaction(self, item: CompactionItem, item_id: str) -> None:
        if (messages := summary_messages(item.encrypted_content, item_id, self._seal)) is None:
            raise UnusableItem("It was not made here, and cannot be read.", "encrypted_content")
        self._close()
        self._tell_late()
        self._messages += messages

    def _begin(self, *, is_new_message: bool) -> None:
        """Let the model say or call something: what it was told or allowed before that is done with."""
        self._settle()
        if is_new_message and _says_something(self._open):
            self._close()
        self._tell_late()

    def _settle(self, but: str | None = None) -> None:
        """Be done with all answers but those to one question. A no stays known as what came of the call."""
        for request_id, said in list(self._approvals.items()):
            if _question_of(request_id) != but:
                del self._approvals[request_id]
                if not said.approve and (asked := self._asked.get(request_id)) is not None:
                    if _says_something(self._open):
                        self._close()
                    self._messages += refused_call(asked, said.reason)

    def _close(self) -> None:
        """End a message of the model. Reasoning that has led to nothing is left out."""
        if _says_something(self._open):
            self._messages.append(self._open)
        self._open = AssistantMessage()
        self._has_run = False

    def _tell_late(self) -> None:
        if self._late:
            self._messages.append(UserMessage("", context=_PARAGRAPH.join(self._late)))
            self._late = []


def _question_of(request_id: str) -> str:
    """Return what the requests of one question have in common: their ids end with the number of the call."""
    return request_id.rpartition("_")[0]


def _says_something(message: AssistantMessage) -> bool:
    return bool(message.text or message.tool_calls)


def _told_in_one(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield messages with what stood alone before a user's words as what held when they were said."""
    waiting: UserMessage | None = None
    for message in messages:
        told = message
        if waiting is not None:
            if isinstance(message, UserMessage):
                told = replace(message, context=_PARAGRAPH.join(filter(None, (waiting.context, message.context))))
            else:
                yield waiting
            waiting = None
        if isinstance(told, UserMessage) and told.context and not told.text and not told.attachments:
            waiting = told
        else:
            yield told
    if waiting is not None:
        yield waiting

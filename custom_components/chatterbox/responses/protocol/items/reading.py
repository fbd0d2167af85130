"""Translates Responses items into a transcript.

Control items (tool lists, approval requests and their answers) never reach a model,
except for a denial, which it has to know of. Items of vendors are ignored. Outputs that
a client brings count as content from outside the home. Sources: OpenResponses
specification, schema of 2026-04-24; OpenAI API reference, "Responses", "MCP tool call",
whose errors have had several forms.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
    paragraphs,
)
from ....agent.transcript import NO_RESULT, open_calls, results_in, synthetic_result
from ....agent.wire.carried_blocks import CarriedBlock
from ....agent.wire.openai_responses import FORMAT
from .encrypted_content import ContentCodec, decode_provider_items, decode_summary
from .parts import InvalidItem, read_parts
from .schema import (
    CUT_OFF,
    VENDOR_TYPE,
    ApprovalRequestItem,
    ApprovalResponseItem,
    CompactionItem,
    FunctionCallItem,
    FunctionCallOutputItem,
    ItemModel,
    ItemReference,
    ListToolsItem,
    McpCallItem,
    MessageItem,
    ReasoningItem,
    path_within,
    read_item,
    shown_call_id,
)

_SHOWN_BY: Final = "[Shown by the result of the call {call_id}.]"
_MCP_CALL: Final = "mcp_"


@dataclass(frozen=True, slots=True)
class ParsedItems:
    """The meaning of items."""

    messages: Transcript
    """Every call is followed by its result. Results of calls of the history come first, for `transcript.repair`."""
    instructions: str = ""
    """Text of the system and developer messages at the beginning, unless there is nothing else to answer."""
    approvals: tuple[ApprovalResponseItem, ...] = ()
    """Answers to act on; later output of the model ends earlier ones."""
    listed: frozenset[str] = frozenset()
    """Server labels whose tools are listed."""


def parse_items(
    items: Sequence[JsonObject], codec: ContentCodec, history: Iterable[Message] = ()
) -> ParsedItems:
    """Translate complete items that continue `history`. Calls without outputs get a result that says so.

    Raises `InvalidItem` for an incomplete item, an unresolved reference, and a
    compaction that was not made here. Its path starts at the list:
    `[2].encrypted_content`.
    """
    reader = _Reader(codec)
    for index, item in enumerate(items):
        try:
            reader.add(item)
        except InvalidItem as err:
            raise InvalidItem(
                err.message, path_within(f"[{index}]", err.path)
            ) from None
    return reader.end(open_calls(history))


class _Reader:
    """Collects messages from items."""

    def __init__(self, codec: ContentCodec) -> None:
        self._codec = codec
        self._messages: list[Message] = []
        self._instructions: list[str] = []
        self._context: list[str] = []
        self._requests: dict[str, ApprovalRequestItem] = {}
        self._approvals: dict[str, ApprovalResponseItem] = {}
        self._listed: set[str] = set()
        self._cut: set[str] = set()
        self._open = AssistantMessage()
        self._has_run = False
        """Whether the last call of the open message is of a hosted tool that ran: then it has no function calls."""

    def add(self, item: JsonObject) -> None:
        """Read one item."""
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
                call_id = transcript_call_id(item) or call.id
                self._add_call(ToolCall(call_id, call.name, call.arguments))
                self._has_run = call.error is None
                self._messages.append(_mcp_result(call_id, call))
            case ReasoningItem() as reasoning:
                self._add_reasoning(reasoning)
            case CompactionItem() as compaction:
                self._add_compaction(compaction, str(item["id"]))
            case other:
                self._add_control(other)

    def end(self, open_before: Sequence[ToolCall]) -> ParsedItems:
        """Return the result. `open_before` holds the calls of the history that wait for outputs."""
        self._close()
        if not self._messages and not self._approvals:
            self._context = [*self._instructions, *self._context]
            self._instructions = []
        self._add_context()
        return ParsedItems(
            messages=_with_context(_in_place(self._messages, open_before, self._cut)),
            instructions=paragraphs(*self._instructions),
            approvals=tuple(self._approvals.values()),
            listed=frozenset(self._listed),
        )

    def _add_control(self, item: ItemModel | None) -> None:
        """Read an item that no model reads."""
        match item:
            case ListToolsItem(error=None):
                self._listed.add(item.server_label)
            case ApprovalRequestItem(id=request_id):
                self._resolve_approvals(_question_of(request_id))
                self._requests[request_id] = item
            case ApprovalResponseItem(approval_request_id=request_id):
                self._approvals[request_id] = item
            case ItemReference():
                raise InvalidItem("The referenced item does not exist.", "id")
            case _:
                pass

    def _add_message(self, message: MessageItem) -> None:
        text, attachments = read_parts(message.content)
        if message.role == "user":
            self._close()
            context = paragraphs(*self._context)
            self._context = []
            self._messages.append(UserMessage(text, attachments, context))
        elif message.role == "assistant" and text:
            self._begin(is_new_message=True)
            phase = (phase_item(message.phase),) if message.phase else ()
            self._open = replace(
                self._open, text=text, provider_items=phase + self._open.provider_items
            )
        elif text:
            self._close()
            (self._context if self._messages else self._instructions).append(text)

    def _add_call(self, call: ToolCall) -> None:
        self._begin(is_new_message=False)
        self._open = replace(
            self._open,
            tool_calls=(*self._open.tool_calls, call),
        )

    def _add_output(self, output: FunctionCallOutputItem) -> None:
        text, attachments = (
            (output.output, ())
            if isinstance(output.output, str)
            else read_parts(output.output)
        )
        if attachments or any(
            call.id == output.call_id for call in self._open.tool_calls
        ):
            self._close()
        self._messages.append(ToolResult(output.call_id, "", text, open_world=True))
        if attachments:
            self._add_context()
            self._messages.append(
                UserMessage(
                    "",
                    attachments,
                    _SHOWN_BY.format(call_id=output.call_id),
                )
            )

    def _add_reasoning(self, item: ReasoningItem) -> None:
        """Read reasoning before a message, or encrypted content after one."""
        carried = decode_provider_items(item.encrypted_content or "", self._codec)
        if item.text:
            if _has_output(self._open):
                self._close()
            reasoning = paragraphs(self._open.reasoning, item.text)
            self._open = AssistantMessage(
                reasoning=reasoning, provider_items=self._open.provider_items + carried
            )
        elif carried and _has_output(self._open):
            self._open = replace(
                self._open, provider_items=self._open.provider_items + carried
            )
            self._close()

    def _add_compaction(
        self,
        item: CompactionItem,
        item_id: str,
    ) -> None:
        messages = decode_summary(
            item.encrypted_content,
            item_id,
            self._codec,
        )
        if messages is None:
            raise InvalidItem(
                "This compaction was not made here, and cannot be read.",
                "encrypted_content",
            )
        self._close()
        self._add_context()
        self._messages += messages

    def _begin(self, *, is_new_message: bool) -> None:
        """Start output of the model, which ends earlier approvals and instructions."""
        self._resolve_approvals()
        if is_new_message and _has_output(self._open):
            self._close()
        self._add_context()

    def _resolve_approvals(self, but: str | None = None) -> None:
        """Drop all approval responses but those to one question. A denial becomes the result of its call."""
        for request_id, response in list(self._approvals.items()):
            if _question_of(request_id) != but:
                del self._approvals[request_id]
                if (
                    not response.approve
                    and (request := self._requests.get(request_id)) is not None
                ):
                    if _has_output(self._open):
                        self._close()
                    self._messages += _refused_call(request, response.reason or "")

    def _close(self) -> None:
        """End the open message. Reasoning without text or calls is dropped."""
        if _has_output(self._open):
            self._messages.append(self._open)
        self._open = AssistantMessage()
        self._has_run = False

    def _add_context(self) -> None:
        if self._context:
            self._messages.append(
                UserMessage(
                    "",
                    context=paragraphs(*self._context),
                )
            )
            self._context = []


def _question_of(request_id: str) -> str:
    """Return the common part of the approval request ids of one question, which end with the index of the call."""
    return request_id.rpartition("_")[0]


def _has_output(message: AssistantMessage) -> bool:
    return bool(message.text or message.tool_calls)


def _with_context(messages: Iterable[Message]) -> Transcript:
    """Return messages with developer messages as the context of the user message that follows."""
    joined: list[Message] = []
    for message in messages:
        match joined, message:
            case [*_, UserMessage("", (), context)], UserMessage() if context:
                joined[-1] = message.after(context)
            case _:
                joined.append(message)
    return tuple(joined)


def phase_item(phase: str) -> ProviderItem:
    """Return a message phase in the form in which a provider gets it back."""
    block: JsonObject = {
        "model": "",
        "item": {
            "type": "message",
            "phase": phase,
        },
    }
    return CarriedBlock(block, 0, 0).as_item(FORMAT)


def _mcp_call_id(any_id: str) -> str:
    """Return the id of a call of a hosted tool, in items and in the transcript that they are read into."""
    if any_id.startswith(_MCP_CALL):
        return any_id
    return f"{_MCP_CALL}{any_id}"


def transcript_call_id(item: JsonObject) -> str | None:
    """Return the id of a call in the transcript; None for another item."""
    match item:
        case {"type": "function_call", "call_id": str(call_id)}:
            return call_id
        case {"type": "mcp_call", "id": str(item_id)}:
            return _mcp_call_id(item_id)
        case _:
            return None


def _mcp_result(call_id: str, item: McpCallItem) -> ToolResult:
    """Return the result of a call of a hosted tool."""
    content = item.output
    if item.error is not None:
        content = "\n".join(filter(None, (call_error_text(item.error), content)))
    return ToolResult(
        call_id,
        item.name,
        NO_RESULT if content is None else content,
        is_error=item.error is not None or item.output is None,
        open_world=True,
    )


def _refused_call(
    request: ApprovalRequestItem, reason: str
) -> tuple[AssistantMessage, ToolResult]:
    """Return a denied call of a hosted tool, with its result for the model."""
    call = ToolCall(
        _mcp_call_id(request.id),
        request.name,
        request.arguments,
    )
    message = f"Not run: the person said no. {reason}".rstrip()
    return AssistantMessage(tool_calls=(call,)), ToolResult(
        call.id, call.name, message, is_error=True, open_world=True
    )


def call_error_text(error: JsonValue) -> str:
    """Return the text of an error of a call, in any of the forms that it has had."""
    match error:
        case (
            str(text)
            | {"content": str(text)}
            | {"message": str(text)}
            | {"text": str(text)}
        ):
            return text
        case {"content": list(parts)}:
            return "\n".join(call_error_text(part) for part in parts)
        case _:
            return canonical_json(error)


def _in_place(
    messages: Sequence[Message], open_before: Sequence[ToolCall], cut: set[str]
) -> Iterator[Message]:
    """Yield messages with each result right after its call. Calls that were cut off and have none are left out."""
    results = {result.call_id: result for result in results_in(messages)}
    for call in open_before:
        result = results.get(shown_call_id(call.id))
        if result:
            yield replace(
                result,
                call_id=call.id,
                name=call.name,
            )
    left_out = cut - results.keys()
    for message in messages:
        if isinstance(message, UserMessage):
            yield message
        if not isinstance(message, AssistantMessage):
            continue
        calls = tuple(call for call in message.tool_calls if call.id not in left_out)
        if message.text or calls:
            yield replace(message, tool_calls=calls)
        for call in calls:
            result = results.get(call.id) or synthetic_result(call, NO_RESULT)
            yield replace(result, name=call.name)

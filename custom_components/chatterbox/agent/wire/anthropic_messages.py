"""The Messages format, a request: our transcript → JSON.

Knows the format and what its services refuse; must not know connections, addresses, keys
or a person's wishes. The way back stands in `anthropic_messages_reply.py`.
Sources: Claude API reference, "Create a message"; the guides "Handle tool calls", "Prompt
caching" and "Preserved thinking".

Thinking goes back within the turn it belongs to, where the service asks for it. Of earlier
turns it is left out: the service would check that nothing before it has changed, while a
window or a directive of its time may well be gone.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from ..json.text import parse_json
from ..messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    UserMessage,
)
from ..protocols import CompletionRequest
from .attachments import IMAGE_TYPES, PDF, attachment_note, base64_data
from .carried_blocks import carried_by
from .output_schema import ANTHROPIC, enforced_output, strict_schema
from .sendable import sendable_call_id, sendable_name

FORMAT: Final = "anthropic_messages"
"""Name of the format in provider items."""

ATTACHMENTS: Final = IMAGE_TYPES | {PDF}
"""MIME types that the format can carry."""

_CALL_ID: Final = "[A-Za-z0-9_-]+"
_CACHE_HERE: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}
_REFUSED_AT_THE_TOP: Final = frozenset({"allOf", "anyOf", "oneOf"})
"""Keywords that the top level of a tool's schema must not have."""

_NOTHING_SAID: Final = "(Nothing was said.)"
"""In place of an empty user message, which services refuse."""
_ASSISTANT_BEGAN: Final = "(The assistant begins.)"
"""Before a conversation that the assistant opened: the first message has to be the user's."""


def request_to_payload(
    request: CompletionRequest, model: str, max_tokens: int, shown: frozenset[str] = ATTACHMENTS
) -> JsonObject:
    """Return the body of `POST /messages`. `shown` are the MIME types of attachments that can be shown.

    It has at most four cache breakpoints, the most there may be: after the tools, after the
    instructions, and after the last two user messages, so that the next request finds the
    place where this one ended. The directive comes after them all.
    """
    payload: JsonObject = {"model": model, "max_tokens": max_tokens}
    if tools := _tools(request):
        payload["tools"] = tools
    if request.instructions.strip():
        payload["system"] = [{"type": "text", "text": request.instructions, **_CACHE_HERE}]
    payload["messages"] = _messages(request, shown)
    if (choice := _tool_choice(request)) is not None:
        payload["tool_choice"] = choice
    output = enforced_output(request, beside_tools=True)
    if output is not None and (schema := strict_schema(output.schema, ANTHROPIC)) is not None:
        payload["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    payload["stream"] = True
    return payload


def _tools(request: CompletionRequest) -> list[JsonValue]:
    """Return the tools that are offered.

    Where none are, those that the transcript calls: a request that has calls has to define tools.
    """
    offered = [_tool(tool) for tool in request.tools]
    if not offered:
        called = {sendable_name(call.name) for call in _calls_of(request.transcript)}
        offered = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(called)]
    return [*offered[:-1], *[{**last, **_CACHE_HERE} for last in offered[-1:]]]


def _tool(tool: ToolDefinition) -> JsonObject:
    schema = {keyword: value for keyword, value in tool.parameters.items() if keyword not in _REFUSED_AT_THE_TOP}
    return {"name": tool.name, "description": tool.description, "input_schema": {"type": "object", **schema}}


def _calls_of(transcript: Transcript) -> Iterator[ToolCall]:
    for message in transcript:
        if isinstance(message, AssistantMessage):
            yield from message.tool_calls


def _tool_choice(request: CompletionRequest) -> JsonValue:
    choice: ToolChoice = request.tool_choice
    if not request.tools:
        return {"type": "none"} if any(_calls_of(request.transcript)) else None
    alone: JsonObject = {} if request.options.parallel_tool_calls else {"disable_parallel_tool_use": True}
    match choice:
        case NamedTool(name):
            return {"type": "tool", "name": name, **alone}
        case ToolChoiceMode.REQUIRED:
            return {"type": "any", **alone}
        case ToolChoiceMode.NONE:
            return {"type": "none"}
        case ToolChoiceMode.AUTO:
            return {"type": "auto", **alone} if alone else None
        case _:
            assert_never(choice)


def _messages(request: CompletionRequest, shown: frozenset[str]) -> list[JsonValue]:
    """Return the messages, user and assistant in turn, beginning with the user."""
    turns: list[tuple[str, list[JsonObject]]] = []
    this_turn = _begin_of_turn(request.transcript)
    for number, message in enumerate(request.transcript):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks = list(_blocks(message, shown, carry=number > this_turn))
        if blocks and turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    if turns and turns[0][0] == "assistant":
        turns.insert(0, ("user", [_text(_ASSISTANT_BEGAN)]))
    for blocks in [blocks for role, blocks in turns if role == "user"][-2:]:
        blocks[-1] = {**blocks[-1], **_CACHE_HERE}
    if request.directive.strip():
        if not turns or turns[-1][0] == "assistant":
            turns.append(("user", []))
        turns[-1][1].append(_text(request.directive))
    return [{"role": role, "content": [*blocks]} for role, blocks in turns]


def _begin_of_turn(transcript: Transcript) -> int:
    """Return the place of the last user message, -1 for none."""
    return max((number for number, message in enumerate(transcript) if isinstance(message, UserMessage)), default=-1)


def _blocks(message: Message, shown: frozenset[str], *, carry: bool) -> Iterator[JsonObject]:
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            for attachment in attachments:
                yield _attachment(attachment, shown)
            if prompt.strip():
                yield _text(prompt)
            elif not attachments:
                yield _text(_NOTHING_SAID)
        case AssistantMessage():
            yield from _assistant_blocks(message, carry=carry)
        case ToolResult():
            yield _result(message)
        case _:
            assert_never(message)


def _assistant_blocks(message: AssistantMessage, *, carry: bool) -> Iterator[JsonObject]:
    """Yield what was said and called, and between it what is carried, each at its place.

    A message that says and calls nothing is left out.
    """
    text, calls = message.text, message.tool_calls
    if not text.strip() and not calls:
        return
    text_begin = call_begin = 0
    for carried in carried_by(message, FORMAT) if carry else ():
        yield from _said(text[text_begin : carried.text], calls[call_begin : carried.calls])
        yield carried.block
        text_begin, call_begin = carried.text + carried.skip, carried.calls
    yield from _said(text[text_begin:], calls[call_begin:])


def _said(text: str, calls: Sequence[ToolCall]) -> Iterator[JsonObject]:
    if text.strip():
        yield _text(text)
    for call in calls:
        yield {
            "type": "tool_use",
            "id": sendable_call_id(call.id, _CALL_ID),
            "name": sendable_name(call.name),
            "input": _input(call.arguments),
        }


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _result(result: ToolResult) -> JsonObject:
    """Write a result. It may be empty, but not an empty error."""
    block: JsonObject = {"type": "tool_result", "tool_use_id": sendable_call_id(result.call_id, _CALL_ID)}
    if result.content.strip():
        block["content"] = result.content
    if result.is_error:
        block.setdefault("content", "error")
        block["is_error"] = True
    return block


def _input(arguments: str) -> JsonObject:
    """Return a call's arguments; what a model wrote and services would refuse is made to fit."""
    try:
        value = parse_json(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _attachment(attachment: Attachment, shown: frozenset[str]) -> JsonObject:
    """Write a picture or a PDF; in place of anything else stands a note."""
    mime_type = attachment.mime_type.lower().replace("image/jpg", "image/jpeg")
    if mime_type not in shown & ATTACHMENTS:
        return _text(attachment_note(attachment))
    source: JsonObject = {"type": "base64", "media_type": mime_type, "data": base64_data(attachment)}
    if mime_type != PDF:
        return {"type": "image", "source": source}
    title: JsonObject = {"title": attachment.name} if attachment.name.strip() else {}
    return {"type": "document", "source": source, **title}

"""The canonical transcript → a Responses conversation; the way there stands in `response_items.py`.

Knows which items a message is; how they look stands in `response_item_shapes.py`. Must not know streams, which show the
same items bit by bit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from ...messages import AssistantMessage, JsonObject, Message, ToolResult, UserMessage
from ...transcript import NO_RESULT, synthetic_result
from .calls import mcp_call_id
from .carriers import phase_item, phase_of, sealed_provider_items, sealed_summary, summary_of
from .parts import shown_parts
from .schema import NewId
from .sealed_content import Seal
from .shapes import (
    compaction_item,
    function_call_item,
    function_call_output_item,
    input_text,
    mcp_call_item,
    message_item,
    output_text,
    reasoning_item,
)


def to_items(
    messages: Iterable[Message], label_of: Callable[[str], str | None], new_id: NewId, seal: Seal
) -> list[JsonObject]:
    """Return the items of a conversation, in order.

    `label_of` gives the server label of a tool; None for a function that the client runs. What held at a moment and was
    not said comes as a developer's message before the user's.
    """
    gathered = tuple(messages)
    results = {message.call_id: message for message in gathered if isinstance(message, ToolResult)}
    items: list[JsonObject] = []
    for message in gathered:
        match message:
            case UserMessage():
                items += _user_items(message, new_id)
            case AssistantMessage():
                items += _assistant_items(message, results, label_of, new_id, seal)
            case ToolResult():
                if summary_of(message) is None and label_of(message.name) is None:
                    items.append(function_call_output_item(new_id("fco"), message))
            case _:
                assert_never(message)
    return items


def _user_items(message: UserMessage, new_id: NewId) -> Iterator[JsonObject]:
    if message.context:
        yield message_item(new_id("msg"), "developer", [input_text(message.context)])
    if message.text or message.attachments or not message.context:
        yield message_item(new_id("msg"), "user", shown_parts(message.text, message.attachments))


def _assistant_items(
    message: AssistantMessage,
    results: Mapping[str, ToolResult],
    label_of: Callable[[str], str | None],
    new_id: NewId,
    seal: Seal,
) -> Iterator[JsonObject]:
    if message.reasoning:
        yield reasoning_item(new_id("rs"), message.reasoning)
    phase = phase_of(message)
    if message.text:
        yield message_item(new_id("msg"), "assistant", [output_text(message.text)], phase=phase)
    for call in message.tool_calls:
        result = results.get(call.id)
        if result is not None and (summary := summary_of(result)) is not None:
            sealed = sealed_summary(summary, has_outside_content=result.open_world, seal=seal)
            yield compaction_item(call.id, sealed)
        elif (label := label_of(call.name)) is not None:
            ended = result or synthetic_result(call, NO_RESULT)
            yield mcp_call_item(mcp_call_id(call.id), label, call, ended)
        else:
            yield function_call_item(new_id("fc"), call)
    told = phase_item(phase) if phase and message.text else None
    if carried := tuple(item for item in message.provider_items if item != told):
        yield reasoning_item(new_id("rs"), encrypted_content=sealed_provider_items(carried, seal))

"""The check of streams fails for streams that are broken, whatever is wrong with them."""

import json
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ToolCall,
)
from tests.responses.protocol.answered import ASKED, Asking, an_object
from tests.responses.protocol.valid_stream import check_stream
from tests.support.doubles import Line, call, say

ON = ToolCall("a", "light_on", '{"room":"kitchen"}')
SHOW = ToolCall("s", "show_page", "{}")


async def sent(*script: list[Line]) -> list[JsonObject]:
    """Return a stream that is valid, and belongs to the test alone."""
    answer = await Asking(replace(ASKED, reasoning_summary="auto")).answered(*script)
    return copied(answer.sent)


SCRIPTS: dict[str, list[list[Line]]] = {
    "words": [
        [
            ReasoningDelta("Hm."),
            TextDelta("It "),
            TextDelta("is on."),
            CompletionResult(FinishReason.STOP),
        ]
    ],
    "calls": [call(ON, ToolCall("x", "unheard_of", "{}")), say("It is on.")],
    "functions": [call(SHOW)],
    "cut": [say("It is", FinishReason.LENGTH)],
    "failed": [[TextDelta("It is"), ToolCallReady(ON), ProviderUnreachable("gone")]],
}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_no_event_can_be_left_out_come_twice_or_change_its_place(
    script: str,
) -> None:
    """Invariants 7, 8, 10, 12, 13."""
    valid = await sent(*SCRIPTS[script])
    check_stream(valid)
    for index in range(len(valid)):
        for broken in (
            [*valid[:index], *valid[index + 1 :]],
            [*valid[: index + 1], *valid[index:]],
            [*valid[:index], *reversed(valid[index : index + 2]), *valid[index + 2 :]],
        ):
            if [event["type"] for event in broken] != [
                event["type"] for event in valid
            ]:
                with pytest.raises(AssertionError):
                    check_stream(numbered(broken))


CHANGES: list[tuple[str, str, str, JsonValue]] = [
    ("words", "response.created", "sequence_number", 1),
    ("words", "response.output_text.delta", "delta", "It was "),
    ("words", "response.output_text.delta", "item_id", "msg_other"),
    ("words", "response.output_text.delta", "content_index", 1),
    ("words", "response.output_text.done", "text", "It was on."),
    ("words", "response.content_part.done", "part.text", "It was on."),
    ("words", "response.reasoning_summary_text.delta", "summary_index", 1),
    ("words", "response.output_item.added", "item.id", "rs_other"),
    ("words", "response.in_progress", "response.id", "resp_other"),
    ("words", "response.in_progress", "response.temperature", None),
    ("words", "response.completed", "response.output", []),
    ("words", "response.completed", "response.usage.total_tokens", 1),
    ("words", "response.completed", "response.completed_at", None),
    ("words", "response.completed", "type", "response.failed"),
    ("calls", "response.mcp_call_arguments.done", "arguments", "{}"),
    ("calls", "response.mcp_call.completed", "type", "response.mcp_call.failed"),
    ("functions", "response.function_call_arguments.delta", "output_index", 7),
    ("cut", "response.incomplete", "response.incomplete_details", None),
    ("failed", "response.failed", "response.error", None),
    ("failed", "error", "error.message", None),
]


@pytest.mark.parametrize(("script", "kind", "path", "value"), CHANGES)
async def test_no_value_can_be_another(
    script: str, kind: str, path: str, value: JsonValue
) -> None:
    """Invariants 7, 11, 12, 13, 15, 43."""
    events = await sent(*SCRIPTS[script])
    holder = next(event for event in events if event["type"] == kind)
    *parents, key = path.split(".")
    for parent in parents:
        holder = an_object(holder[parent])
    assert holder[key] != value
    holder[key] = value
    with pytest.raises((AssertionError, KeyError)):
        check_stream(events)


def copied(events: list[JsonObject]) -> list[JsonObject]:
    """Return copies that have nothing in common, as if they were read off a wire."""
    return [json.loads(json.dumps(event)) for event in events]


def numbered(events: list[JsonObject]) -> list[JsonObject]:
    """Return copies with numbers as they should be, so that something else has to give them away."""
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]

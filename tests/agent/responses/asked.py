"""Requests for responses, as they are read from JSON, and what a stream of their answer begins with."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from custom_components.chatterbox.agent.messages import JsonObject, ProviderItem, ToolDefinition, canonical_json
from custom_components.chatterbox.agent.responses.backend import ApprovalDecisions
from custom_components.chatterbox.agent.responses.request import CreateRequest
from custom_components.chatterbox.agent.responses.response_frame import ResponseFrame
from custom_components.chatterbox.agent.responses.tools import FunctionTool, HostedTools

ECHO: JsonObject = {
    "model": "conversation.kitchen",
    "instructions": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "temperature": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "reasoning": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": True,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
    "previous_response_id": None,
}
ASKED = CreateRequest(model="conversation.kitchen", items=(), echo=ECHO)


def asked_with(*functions: ToolDefinition, labels: Sequence[str] = ()) -> CreateRequest:
    """Return a request with functions of the client, and tools of the home."""
    return replace(
        ASKED,
        functions=tuple(FunctionTool(replace(one, client=True), {"type": "function"}) for one in functions),
        hosted=tuple(HostedTools(server_label=label) for label in labels),
    )


def frame(
    *, listed: frozenset[str] = frozenset(), approval: ApprovalDecisions | None = None, seals: bool = False
) -> ResponseFrame:
    """Return what a response is made with: ids that count, and a clock that stands."""
    numbers = count()
    return ResponseFrame(
        id="resp_1",
        created_at=1_800_000_000,
        new_id=lambda kind: f"{kind}_{next(numbers)}",
        now=lambda: 1_800_000_007.9,
        listed=listed,
        approval=approval,
        seal=sealed if seals else None,
    )


def sealed(items: Sequence[ProviderItem]) -> str:
    """Return what a provider wants back, for tests to read."""
    return canonical_json([item.data for item in items])

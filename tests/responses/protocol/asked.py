"""Requests for responses, as they are read from JSON, and what a stream of their answer begins with."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from custom_components.chatterbox.agent.messages import ToolDefinition
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    Caller,
    TurnRequest,
)
from custom_components.chatterbox.responses.protocol.chains import ConversationState
from custom_components.chatterbox.responses.protocol.items.encrypted_content import (
    ContentCodec,
)
from custom_components.chatterbox.responses.protocol.preparation import Plan
from custom_components.chatterbox.responses.protocol.request import (
    CreateRequest,
    read_create,
)
from custom_components.chatterbox.responses.protocol.tools import HostedTools

CODEC = ContentCodec(b"a key")
ASKED = read_create({"model": "conversation.kitchen", "input": [], "tools": []}, str)


def asked_with(*functions: ToolDefinition, labels: Sequence[str] = ()) -> CreateRequest:
    """Return a request with functions of the client, and tools of the home."""
    return replace(
        ASKED,
        functions=tuple(replace(one, client=True) for one in functions),
        hosted=tuple(HostedTools(server_label=label) for label in labels),
    )


def plan_of(
    request: CreateRequest,
    *,
    listed: frozenset[str] = frozenset(),
    approval: ApprovalDecisions | None = None,
) -> Plan:
    """Return the plan of a response: with ids that count, and a clock that stands."""
    numbers = count()
    turn = TurnRequest(
        agent=request.model,
        caller=Caller("anna"),
        conversation_id="resp_1",
        transcript=(),
        tool_choice=request.tool_choice,
        approval=approval,
    )
    return Plan(
        id="resp_1",
        created_at=1_800_000_000.0,
        request=request,
        turn=turn,
        state=ConversationState(conversation_id="resp_1"),
        messages=(),
        store=None,
        new_id=lambda kind: f"{kind}_{next(numbers)}",
        now=lambda: 1_800_000_007.9,
        codec=CODEC,
        listed=listed,
    )

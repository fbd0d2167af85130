"""Conversations said in few words, and gone on with."""

import json

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import ANNA, BEN, KITCHEN, BackendDouble
from tests.responses.protocol.open_responses import assert_fits
from tests.responses.protocol.service_talk import (
    ask,
    mcp,
    objects,
    output,
    output_text,
    serving,
)
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, call, say, tool


async def compacted(service: ResponsesService, **fields: JsonValue) -> JsonObject:
    """Have a conversation compacted, check what comes, and return its item."""
    resource = await service.compact(json.dumps({"model": KITCHEN, **fields}), ANNA)
    assert_fits("CompactResource", resource)
    assert (resource["object"], type(resource["created_at"])) == (
        "response.compaction",
        int,
    )
    (item,) = objects(resource["output"])
    assert item["type"] == "compaction"
    return item


async def test_a_conversation_is_compacted_and_gone_on_with() -> None:
    backend, service = serving(say("Still on."))
    talk: JsonValue = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Lamps on!"},
        {"role": "assistant", "content": "They are."},
    ]

    item = await compacted(service, input=talk, instructions="Keep names.")
    response = await ask(service, [item, {"role": "user", "content": "And now?"}])

    assert backend.compacted == [
        (
            KITCHEN,
            (UserMessage("Lamps on!"), AssistantMessage("They are.")),
            "Keep names.\n\nBe brief.",
        )
    ]
    assert backend.summary not in str(item)
    assert output_text(response) == "Still on."
    *before, summary_request = backend.turns[0].transcript
    assert (backend.summary in str(before), summary_request) == (
        True,
        UserMessage("And now?"),
    )
    (result,) = [message for message in before if isinstance(message, ToolResult)]
    assert result.open_world is False


async def test_what_came_before_is_compacted_too() -> None:
    backend, service = serving(say("They are."))
    first = await ask(service, "Lamps on!")

    await compacted(service, previous_response_id=first["id"])

    assert backend.compacted[0][1] == (
        UserMessage("Lamps on!"),
        AssistantMessage("They are."),
    )
    with pytest.raises(ApiError) as foreign:
        await service.compact(
            json.dumps({"model": KITCHEN, "previous_response_id": first["id"]}), BEN
        )
    assert (foreign.value.status, foreign.value.code) == (
        404,
        "previous_response_not_found",
    )


async def test_what_came_from_outside_stays_marked() -> None:
    backend = BackendDouble(
        ScriptedProvider(
            call(ToolCall("c1", "read_mail", "{}")), say("Spam."), say("Fine.")
        ),
        ScriptedDispatcher(),
        tools={"home": (tool("read_mail", open_world=True),)},
    )
    service = ResponsesService(backend)
    first = await ask(service, "Any mail?", tools=[mcp()])

    item = await compacted(service, previous_response_id=first["id"])
    await ask(service, [item, {"role": "user", "content": "And?"}])

    assert any(
        isinstance(message, ToolResult) and message.open_world
        for message in backend.turns[-1].transcript
    )


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"model": "conversation.attic", "input": "Hello!"}, 404, "model"),
        ({"model": KITCHEN, "input": []}, 400, "input"),
        ({"model": KITCHEN, "input": [output("c1")]}, 400, "input"),
    ],
)
async def test_what_cannot_be_compacted_is_refused(
    body: JsonObject, status: int, param: str
) -> None:
    backend = BackendDouble()

    with pytest.raises(ApiError) as refused:
        await ResponsesService(backend).compact(json.dumps(body), ANNA)

    assert (refused.value.status, refused.value.param, backend.compacted) == (
        status,
        param,
        [],
    )

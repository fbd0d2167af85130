"""One response, from request to answer: whole and streamed, with functions and tools, kept and not."""

import pytest

from custom_components.chatterbox.agent.errors import (
    PromptTooLong,
    ProviderBusy,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Deny
from custom_components.chatterbox.responses.protocol.backend import ModelInfo
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import ANNA, KITCHEN, BackendDouble
from tests.responses.protocol.service_talk import (
    ask,
    function,
    items,
    last_response,
    objects,
    output,
    output_text,
    read,
    serving,
    stream,
)
from tests.support.doubles import ScriptedHooks, ScriptedProvider, call, say, tool

LIGHT = tool("light_on")
ON = ToolCall("call_on", "light_on", "{}")
PAGE = ToolCall("call_page", "show_page", "{}")


def test_the_agents_are_models() -> None:
    service = ResponsesService(BackendDouble())

    assert service.models() == {
        "object": "list",
        "data": [
            {
                "id": KITCHEN,
                "object": "model",
                "created": 1_700_000_000,
                "owned_by": "chatterbox",
            }
        ],
    }
    assert service.model(KITCHEN)["id"] == KITCHEN
    with pytest.raises(ApiError, match="does not exist") as refused:
        service.model("conversation.attic")
    assert (refused.value.status, refused.value.code) == (404, "model_not_found")


async def test_a_text_is_answered() -> None:
    backend = BackendDouble(ScriptedProvider(say("Good morning.")))
    wishes: dict[str, JsonValue] = {
        "instructions": "Be kind.",
        "tool_choice": "none",
        "max_output_tokens": 99,
    }

    response = await ask(
        ResponsesService(backend, clock=lambda: 1_800_000_000.5), **wishes
    )

    assert (response["status"], output_text(response)) == ("completed", "Good morning.")
    assert (response["created_at"], response["completed_at"]) == (
        1_800_000_000,
        1_800_000_000,
    )
    (turn,) = backend.turns
    assert turn.transcript == (UserMessage("Hello!"),)
    assert (turn.instructions, turn.tool_choice, turn.max_output_tokens) == (
        "Be kind.",
        ToolChoiceMode.NONE,
        99,
    )
    assert turn.conversation_id == response["id"]


async def test_input_that_ends_with_an_assistant_message_is_answered() -> None:
    """Nested handoffs of `openai-agents` send what was said so far as one such message. It is asked for once."""
    backend, service = serving(say("In Rome it is sunny."), say("In Oslo too."))
    handed_over = "For context, here is the conversation so far: 1. user: How is the weather in Rome?"

    response = await ask(service, [{"role": "assistant", "content": handed_over}])
    await ask(service, "And in Oslo?", previous_response_id=response["id"])

    assert output_text(response) == "In Rome it is sunny."
    query = UserMessage("", context="(Answer the conversation above.)")
    assert backend.turns[0].transcript == (AssistantMessage(handed_over), query)
    answered = (
        AssistantMessage(handed_over),
        query,
        AssistantMessage("In Rome it is sunny."),
    )
    assert backend.turns[1].transcript == (*answered, UserMessage("And in Oslo?"))


async def test_a_function_of_the_client_is_called_and_answered() -> None:
    """Invariant 5."""
    odd = ToolCall("Cäll/1 ", "show_page", '{"n":1}')
    backend, service = serving(call(odd), say("There it is."))

    first = await ask(service, tools=[function("show_page")])
    (called,) = items(first)
    second = await ask(
        service,
        [output("Cäll/1 ", "shown")],
        previous_response_id=first["id"],
        tools=[function("show_page")],
    )

    assert (first["status"], called["call_id"], called["arguments"]) == (
        "completed",
        "Cäll/1 ",
        '{"n":1}',
    )
    assert called["id"] != called["call_id"]
    assert output_text(second) == "There it is."
    assert backend.turns[-1].transcript[-1] == ToolResult(
        "Cäll/1 ", "show_page", "shown", open_world=True
    )


async def test_a_response_that_waits_for_functions_may_say_so() -> None:
    _, service = serving(call(PAGE), say("There."))
    wanted: dict[str, JsonValue] = {
        "tools": [function("show_page")],
        "chatterbox:client_tools_status": "requires_action",
    }

    first = await ask(service, **wanted)
    second = await ask(
        service, [output("call_page")], previous_response_id=first["id"], **wanted
    )

    assert (first["status"], second["status"]) == ("requires_action", "completed")


async def test_what_the_client_sent_is_kept_as_it_was_sent() -> None:
    """Invariant 42."""
    _, service = serving(say("Fine."))
    sent: list[JsonValue] = [
        {"role": "developer", "content": "Be brief."},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Hello!"}],
            "id": "msg_mine",
        },
        {"type": "acme:mood", "mood": "good", "id": "mood_1"},
    ]

    response = await ask(service, sent)
    page = await service.input_items(str(response["id"]), ANNA, {"order": "asc"})

    listed = objects(page["data"])
    assert [item["type"] for item in listed] == ["message", "message", "acme:mood"]
    assert [item.get("role") for item in listed] == ["developer", "user", None]
    assert listed[1]["id"] == "msg_mine"
    assert listed[2] == sent[2]


async def test_nothing_is_stored_of_what_is_not_to_be_stored() -> None:
    """Invariant 38."""
    backend, service = serving(say("Psst."))

    response = await ask(service, store=False)

    assert response["store"] is False
    assert (backend.memory.records, backend.memory.puts) == ({}, 0)
    assert backend.turns[0].may_store is False
    with pytest.raises(ApiError) as missing:
        await read(service, response["id"])
    assert missing.value.status == 404
    with pytest.raises(ApiError) as unknown:
        await ask(service, previous_response_id=response["id"])
    assert (unknown.value.status, unknown.value.code) == (
        404,
        "previous_response_not_found",
    )


async def test_an_agent_that_keeps_nothing_says_so() -> None:
    backend = BackendDouble(
        ScriptedProvider(say("Psst.")),
        cards=[ModelInfo(KITCHEN, 1, stores_responses=False)],
    )
    service = ResponsesService(backend)

    response = await ask(service)

    assert (response["store"], backend.memory.puts, backend.turns[0].may_store) == (
        False,
        0,
        False,
    )
    fields: list[dict[str, JsonValue]] = [
        {"background": True},
        {"conversation": "conv_1"},
    ]
    for requested in fields:
        with pytest.raises(ApiError) as refused:
            await ask(service, **requested)
        assert (refused.value.status, refused.value.param) == (400, *requested)


@pytest.mark.parametrize(
    ("failure", "status", "code", "retry_after"),
    [
        (ProviderBusy("busy", 7.0), 429, "rate_limit_exceeded", 7.0),
        (ProviderUnreachable("gone"), 503, "model_unreachable", None),
        (ProviderReplyInvalid("the stream was cut"), 502, "model_reply_invalid", None),
    ],
)
async def test_a_model_that_fails_before_anything_is_done_is_an_error(
    failure: Exception, status: int, code: str, retry_after: float | None
) -> None:
    """Invariants 57, 59, 60."""
    backend, service = serving([failure], [failure])

    with pytest.raises(ApiError) as refusal:
        await ask(service)
    assert (refusal.value.status, refusal.value.code, refusal.value.retry_after) == (
        status,
        code,
        retry_after,
    )
    assert backend.memory.puts == 0

    events = await stream(service)
    assert [event["type"] for event in events[-2:]] == ["error", "response.failed"]
    failed = last_response(events)
    assert await read(service, failed["id"]) == failed


async def test_a_conversation_that_is_too_long_is_an_error_unless_it_may_be_shortened() -> (
    None
):
    """Invariant 71."""
    backend, service = serving([PromptTooLong("too long", 9, 8)], say("Short."))

    with pytest.raises(ApiError) as refused:
        await ask(service)
    await ask(service, truncation="auto")

    assert (refused.value.status, refused.value.code) == (
        400,
        "context_length_exceeded",
    )
    assert [turn.may_be_shortened for turn in backend.turns] == [False, True]


async def test_words_that_a_hook_refused_are_not_kept() -> None:
    backend = BackendDouble(
        ScriptedProvider(say("Fine.")),
        hooks=[ScriptedHooks(prompt=lambda _: Deny("Not that."))],
    )
    service = ResponsesService(backend)

    response = await ask(service, "My PIN is 1234")

    (record,) = backend.memory.records.values()
    assert "1234" not in repr(record)
    page = await service.input_items(str(response["id"]), ANNA, {})
    assert "Not stored: a hook has refused these words." in repr(page)


async def test_what_a_provider_wants_back_travels_with_the_client() -> None:
    item = ProviderItem("openai.responses", {"id": "rs_1", "secret": "thoughts"})
    end = CompletionResult(FinishReason.STOP, Usage(3, 4), (item,))
    provider = ScriptedProvider(
        [TextDelta("Hello."), end], say("Again."), say("Again.")
    )
    service = ResponsesService(BackendDouble(provider))

    first = await ask(service, store=False, include=["reasoning.encrypted_content"])
    carried: list[JsonValue] = [*items(first)]
    await ask(
        service,
        [{"role": "user", "content": "a"}, *carried, {"role": "user", "content": "b"}],
    )
    elsewhere = ResponsesService(BackendDouble(provider))
    await ask(
        elsewhere,
        [{"role": "user", "content": "a"}, *carried, {"role": "user", "content": "b"}],
    )

    assert "thoughts" not in str(first)
    brought = [
        [
            item
            for message in model_request.transcript
            if isinstance(message, AssistantMessage)
            for item in message.provider_items
        ]
        for model_request in provider.requests
    ]
    assert brought == [[], [item], []]

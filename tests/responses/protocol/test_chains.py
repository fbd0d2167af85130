"""The predecessors of a response: chains of responses, their branches, conversations, and references to items."""

import json
from dataclasses import replace
from typing import override

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.responses.protocol.backend import ResponseStore
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import (
    ANNA,
    BEN,
    BackendDouble,
    MemoryStore,
)
from tests.responses.protocol.service_talk import (
    ask,
    function,
    items,
    mcp,
    output,
    output_text,
    read,
    request,
    serving,
    stream,
)
from tests.support.doubles import ScriptedProvider, call, never, say, tool

LIGHT = tool("light_on")


def words(transcript: Transcript) -> list[str]:
    """Return what was said in a transcript."""
    return [
        message.text
        for message in transcript
        if isinstance(message, UserMessage | AssistantMessage)
    ]


async def test_a_response_goes_on_from_those_before_it() -> None:
    """Invariant 36: in their order, to any depth, without their instructions."""
    backend, service = serving(say("Two."), say("Four."), say("Six."))

    first = await ask(service, "One?", instructions="Count.")
    second = await ask(service, "Three?", previous_response_id=first["id"])
    third = await ask(service, "Five?", previous_response_id=second["id"])

    assert words(backend.turns[2].transcript) == [
        "One?",
        "Two.",
        "Three?",
        "Four.",
        "Five?",
    ]
    assert [turn.instructions for turn in backend.turns] == ["Count.", "", ""]
    assert {turn.conversation_id for turn in backend.turns} == {first["id"]}
    assert third["previous_response_id"] == second["id"]


async def test_nobody_goes_on_from_what_is_unknown_foreign_or_deleted() -> None:
    """Invariant 36."""
    _, service = serving(say("Root."), say("Child."))
    root = await ask(service)
    child = await ask(service, previous_response_id=root["id"])

    async def refusal(
        previous_id: JsonValue, caller: str = "anna"
    ) -> tuple[int, str | None, str | None]:
        with pytest.raises(ApiError) as refused:
            await ask(
                service,
                "?",
                replace(ANNA, user_id=caller),
                previous_response_id=previous_id,
            )
        return refused.value.status, refused.value.code, refused.value.param

    missing = (404, "previous_response_not_found", "previous_response_id")
    assert await refusal("resp_0") == missing
    assert await refusal(root["id"], "ben") == missing
    await service.delete(str(root["id"]), ANNA)
    assert await refusal(root["id"]) == missing
    assert await refusal(child["id"]) == missing


async def test_a_chain_that_somebody_else_has_begun_is_not_read() -> None:
    backend, service = serving(say("Root."), say("Child."))
    root = await ask(service)
    child = await ask(service, previous_response_id=root["id"])
    records = backend.memory.records
    records[str(root["id"])] = replace(records[str(root["id"])], user_id="ben")

    with pytest.raises(ApiError) as refused:
        await ask(service, previous_response_id=child["id"])
    assert (refused.value.status, refused.value.code) == (
        404,
        "previous_response_not_found",
    )


async def test_a_chain_that_comes_back_to_itself_is_refused() -> None:
    """Invariant 36."""
    backend, service = serving(say("One."), say("Two."))
    first = await ask(service)
    second = await ask(service, previous_response_id=first["id"])
    records = backend.memory.records
    records[str(first["id"])] = replace(
        records[str(first["id"])], previous_response_id=str(second["id"])
    )

    with pytest.raises(ApiError, match="precedes itself") as refused:
        await ask(service, previous_response_id=second["id"])
    assert refused.value.status == 400


async def test_only_what_has_ended_well_enough_can_be_gone_on_from() -> None:
    """Invariant 39."""
    script = (
        [RuntimeError("a bug")],
        say("Cut", finish=FinishReason.LENGTH),
        say("On."),
        [never],
    )
    _, service = serving(*script)
    failed = (await stream(service))[-1]["response"]
    assert isinstance(failed, dict)
    incomplete = await ask(service)
    going_on = await ask(service, previous_response_id=incomplete["id"])
    running = await service.create(json.dumps(request(background=True)), ANNA)
    assert isinstance(running, dict)
    cancelled = await service.cancel(str(running["id"]), ANNA)

    assert (incomplete["status"], output_text(going_on)) == ("incomplete", "On.")
    assert (failed["status"], cancelled["status"]) == ("failed", "cancelled")
    for previous in (failed, cancelled):
        with pytest.raises(ApiError) as refused:
            await ask(service, previous_response_id=previous["id"])
        assert (refused.value.status, refused.value.param) == (
            400,
            "previous_response_id",
        )


async def test_tools_are_listed_once_in_a_chain() -> None:
    """Invariant 50."""
    backend = BackendDouble(
        ScriptedProvider(say("One."), say("Two."), say("Three.")),
        tools={"home": (LIGHT,)},
    )
    service = ResponsesService(backend)

    first = await ask(service, tools=[mcp()])
    second = await ask(service, tools=[mcp()], previous_response_id=first["id"])
    replayed: JsonValue = [*items(first), {"role": "user", "content": "?"}]
    third = await ask(service, replayed, tools=[mcp()])

    assert [len(items(one, "mcp_list_tools")) for one in (first, second, third)] == [
        1,
        0,
        0,
    ]


async def test_a_conversation_goes_on_with_what_was_said_in_it() -> None:
    backend = BackendDouble(
        ScriptedProvider(say("Two."), say("Four."), say("Five.")),
        tools={"home": (LIGHT,)},
    )
    backend.memory.spoken["conv_1"] = (
        ANNA,
        (UserMessage("By voice."), AssistantMessage("Yes.")),
    )
    service = ResponsesService(backend)

    first = await ask(service, "One?", conversation="conv_1", tools=[mcp()])
    second = await ask(service, "Three?", conversation={"id": "conv_1"}, tools=[mcp()])
    fresh = await ask(service, "?", conversation="conv_2")

    assert words(backend.turns[1].transcript) == [
        "By voice.",
        "Yes.",
        "One?",
        "Two.",
        "Three?",
    ]
    assert [turn.conversation_id for turn in backend.turns] == [
        "conv_1",
        "conv_1",
        "conv_2",
    ]
    assert (first["conversation"], fresh["conversation"]) == (
        {"id": "conv_1"},
        {"id": "conv_2"},
    )
    assert words(backend.turns[2].transcript) == ["?"]
    assert [len(items(one, "mcp_list_tools")) for one in (first, second)] == [1, 0]


async def test_only_the_newest_of_a_long_conversation_are_looked_through() -> None:
    """One that an API client has gone on with for months takes no longer than a short one."""
    backend = BackendDouble(
        ScriptedProvider(say("Yes."), say("No.")), tools={"home": (LIGHT,)}
    )
    service = ResponsesService(backend)
    first = await ask(service, conversation="conv_1", tools=[mcp()])
    record = backend.memory.records[str(first["id"])]
    for number in range(200):
        later = replace(
            record,
            id=f"resp_{number}",
            response={**record.response, "output": []},
            messages=(),
        )
        backend.memory.records[later.id] = later

    again = await ask(service, conversation="conv_1", tools=[mcp()])

    assert len(items(again, "mcp_list_tools")) == 1, "what told of them is forgotten"
    assert words(backend.turns[1].transcript) == ["Hello!", "Yes.", "Hello!"]


async def test_results_of_functions_are_brought_into_a_conversation_or_it_goes_on_without() -> (
    None
):
    """Invariants 1, 2: whoever brings some has to bring all."""
    calls = call(
        ToolCall("c1", "show_page", "{}"), ToolCall("c2", "show_page", '{"page": 2}')
    )
    backend, service = serving(calls, say("Shown."), calls, say("Never mind."))
    page: list[JsonValue] = [function("show_page")]

    for conversation in ("conv_1", "conv_2"):
        waiting = await ask(service, "Show!", conversation=conversation, tools=page)
        outputs: list[JsonValue] = [
            output(str(one["call_id"])) for one in items(waiting, "function_call")
        ]
        with pytest.raises(ApiError, match="No tool output found"):
            await ask(service, outputs[:1], conversation=conversation, tools=page)
        brought: JsonValue = outputs if conversation == "conv_1" else "Forget it."
        await ask(service, brought, conversation=conversation, tools=page)

    results = [
        message.content
        for message in backend.turns[1].transcript
        if isinstance(message, ToolResult)
    ]
    assert results == ["done", "done"]
    assert backend.turns[1].added is not None
    assert len(backend.turns[1].added) == 2
    assert words(backend.turns[3].transcript) == ["Show!", "", "Forget it."]


async def test_a_conversation_of_somebody_else_is_not_there() -> None:
    """Invariant 40, too."""
    _, service = serving(say("Hello Anna."))
    response = await ask(service, conversation="conv_1")

    with pytest.raises(ApiError) as foreign:
        await ask(service, "?", BEN, conversation="conv_1")
    with pytest.raises(ApiError) as both:
        await ask(service, conversation="conv_1", previous_response_id=response["id"])

    assert (foreign.value.status, foreign.value.param) == (404, "conversation")
    assert both.value.status == 400


async def test_what_branches_off_a_conversation_leaves_it_alone() -> None:
    backend = BackendDouble(
        ScriptedProvider(
            say("A."), say("B."), say("C."), say("Aside."), say("Further."), say("End.")
        )
    )
    service = ResponsesService(backend)
    await ask(service, "a?", conversation="conv_1")
    second = await ask(service, "b?", conversation="conv_1")
    await ask(service, "c?", conversation="conv_1")

    aside = await ask(service, "aside?", previous_response_id=second["id"])
    await ask(service, "further?", previous_response_id=aside["id"])
    await ask(service, "end?", conversation="conv_1")

    before = ["a?", "A.", "b?", "B.", "aside?"]
    assert words(backend.turns[3].transcript) == before
    assert words(backend.turns[4].transcript) == [*before, "Aside.", "further?"]
    assert words(backend.turns[5].transcript) == [
        "a?",
        "A.",
        "b?",
        "B.",
        "c?",
        "C.",
        "end?",
    ]
    assert (
        backend.turns[3].conversation_id
        == backend.turns[4].conversation_id
        == aside["id"]
    )


async def test_items_may_be_referred_to_by_their_ids() -> None:
    backend, service = serving(
        call(ToolCall("c1", "show_page", "{}")), say("Shown."), say("Yes.")
    )
    first = await ask(service, "Show!", tools=[function("show_page")])
    (called,) = items(first)
    calls = backend.memory.records[str(first["id"])].input[0]
    done: JsonValue = {"type": "function_call_output", "call_id": "c1", "output": "ok"}

    await ask(service, [reference(calls["id"]), reference(called["id"]), done])
    with pytest.raises(ApiError) as foreign:
        await ask(service, [reference(called["id"]), done], BEN)

    assert words(backend.turns[1].transcript) == ["Show!", ""]
    assert (foreign.value.status, foreign.value.param) == (404, "input[0].id")
    for unknown in ("msg_mine", f"msg_{'0' * 36}", f"{called['id']}0"):
        with pytest.raises(ApiError) as missing:
            await ask(service, [{"role": "user", "content": "?"}, reference(unknown)])
        assert (missing.value.status, missing.value.param) == (404, "input[1].id")


async def test_what_is_gone_on_from_is_not_said_again_by_a_reference() -> None:
    backend, service = serving(say("One."), say("Two."))
    first = await ask(service, "a?")
    (message,) = items(first)

    sent: JsonValue = [
        reference(message["id"]),
        reference("mcpr_0_0"),
        {"role": "user", "content": "b?"},
    ]
    second = await ask(service, sent, previous_response_id=first["id"])

    assert words(backend.turns[1].transcript) == ["a?", "One.", "b?"]
    assert [
        item["type"] for item in backend.memory.records[str(second["id"])].input
    ] == [
        "item_reference",
        "item_reference",
        "message",
    ]


def reference(item_id: JsonValue) -> JsonValue:
    """Return a reference to an item."""
    return {"type": "item_reference", "id": item_id}


class TwoStores(BackendDouble):
    """A backend that has another store, which holds nothing."""

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider)
        self.other = MemoryStore()

    @override
    def stores(self) -> list[ResponseStore]:
        return [self.other, self.memory]


async def test_a_response_of_somebody_else_is_not_there() -> None:
    _, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])

    for calls in (
        service.get(response_id, BEN, {}),
        service.delete(response_id, BEN),
        service.cancel(response_id, BEN),
        service.input_items(response_id, BEN, {}),
        service.get("resp_0", ANNA, {}),
    ):
        with pytest.raises(ApiError, match="not found") as missing:
            await calls
        assert (missing.value.status, missing.value.param) == (404, "response_id")
    await read(service, response_id)


async def test_a_deleted_response_is_gone() -> None:
    backend, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])

    deleted = await service.delete(response_id, ANNA)

    assert deleted == {"id": response_id, "object": "response", "deleted": True}
    assert backend.memory.records == {}
    with pytest.raises(ApiError):
        await service.delete(response_id, ANNA)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"stream": "true"}, "stream"),
        ({"stream": "yes"}, "stream"),
        ({"starting_after": "1"}, "starting_after"),
    ],
)
async def test_only_what_is_made_in_the_background_is_streamed_again(
    query: dict[str, str], param: str
) -> None:
    _, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError) as refused:
        await service.get(response_id, ANNA, query)
    assert (refused.value.status, refused.value.param) == (400, param)


async def test_a_response_is_found_in_whichever_store_it_is() -> None:
    backend = TwoStores(ScriptedProvider(say("Bye."), say("Hello."), say("Again.")))
    service = ResponsesService(backend)
    assert (await service.delete(str((await ask(service))["id"]), ANNA))[
        "deleted"
    ] is True
    response = await ask(service)
    backend.other.is_down = True

    assert await read(service, response["id"]) == response
    assert (
        output_text(await ask(service, previous_response_id=response["id"])) == "Again."
    )
    assert (await service.delete(str(response["id"]), ANNA))["deleted"] is True
    with pytest.raises(ApiError) as trouble:
        await read(service, "resp_0")
    assert (trouble.value.status, trouble.value.code) == (503, "store_unavailable")
    backend.other.is_down, backend.memory.is_down = False, True
    with pytest.raises(ApiError) as unknown:
        await ask(service, conversation="conv_1")
    assert unknown.value.status == 503


async def test_what_cannot_be_deleted_is_not_said_to_be_gone() -> None:
    """A response in the background, whose store goes down while it is made."""
    backend = TwoStores(ScriptedProvider(say("Hello.")))
    service = ResponsesService(backend)
    response = await ask(service, background=True)
    backend.other.is_down = backend.memory.is_down = True

    with pytest.raises(ApiError) as trouble:
        await service.delete(str(response["id"]), ANNA)
    assert trouble.value.status == 503
    await backend.shut_down()


async def test_a_response_that_nobody_works_on_any_more_has_failed() -> None:
    """A restart in the middle of a response in the background."""
    backend, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])
    record = backend.memory.records[response_id]
    left = {
        **record.response,
        "status": "queued",
        "background": True,
        "completed_at": None,
    }
    backend.memory.records[response_id] = replace(record, response=left)

    for resource in (
        await read(service, response_id),
        await service.cancel(response_id, ANNA),
    ):
        error = resource["error"]
        assert isinstance(error, dict)
        assert (resource["status"], error["code"]) == ("failed", "interrupted")


async def test_only_a_response_in_the_background_is_cancelled() -> None:
    """Invariant 55."""
    _, service = serving(say("Hello."))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError, match="background") as refused:
        await service.cancel(response_id, ANNA)
    assert refused.value.status == 400

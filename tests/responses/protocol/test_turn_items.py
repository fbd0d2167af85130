"""Tools of a turn become items: lists of them, their calls, questions, and functions that the client runs."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    MessageDone,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    Message,
    ProviderItem,
    ToolCall,
    ToolChoiceMode,
    ToolOutcome,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.transcript import repair, synthetic_result
from custom_components.chatterbox.responses.protocol.errors import internal_error
from custom_components.chatterbox.responses.protocol.items.reading import parse_items
from custom_components.chatterbox.responses.protocol.items.schema import complete_item
from custom_components.chatterbox.responses.protocol.run import ResponseStream
from tests.agent.turns import assert_valid
from tests.responses.protocol.answered import (
    ASKED,
    OFFERED,
    PAGE,
    TURN,
    Answer,
    Asking,
    an_object,
    answered,
    objects,
    tell,
    text_of,
)
from tests.responses.protocol.asked import CODEC, asked_with, plan_of
from tests.responses.protocol.valid_stream import check_stream
from tests.support.doubles import Gate, ScriptedDispatcher, asks_for, call, say, tool

ON, UNLOCK = (
    ToolCall("a", "light_on", '{"room":"kitchen"}'),
    ToolCall("u", "unlock", "{}"),
)
OFF = ToolCall("b", "light_on", '{"room":"hall"}')
LOOKING = ToolCall("l", "look", "{}")
SHOW = ToolCall("s", "show_page", '{ "n" : 1 }')
UNHEARD_OF = ToolCall("x", "unheard_of", "{}")


def error_of(item: JsonObject) -> str:
    """Return why a call failed."""
    error = an_object(item["error"])
    assert error["type"] == "mcp_tool_execution_error"
    (part,) = objects(error["content"])
    assert part["type"] == "text"
    return str(part["text"])


def outcomes(answer: Answer) -> list[tuple[object, ...]]:
    """Return type, name and status of the items that are calls or questions."""
    return [
        (item["type"], item["name"], item.get("status"))
        for item in answer.items
        if item["type"] != "message"
    ]


async def test_a_call_of_the_home_has_all_its_events() -> None:
    """Invariants 10, 11, 12."""
    answer = await answered(call(ON), say("On."))
    begins = answer.kinds.index("output_item.added", 6)
    assert answer.kinds[begins : begins + 6] == [
        "output_item.added",
        "mcp_call.in_progress",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "mcp_call.completed",
        "output_item.done",
    ]
    begun = an_object(answer.sent[begins]["item"])
    assert (begun["status"], begun["arguments"], begun["output"]) == (
        "in_progress",
        "",
        None,
    )
    done = answer.items[0]
    assert (done["server_label"], done["name"], done["arguments"]) == (
        "assist",
        "light_on",
        '{"room":"kitchen"}',
    )
    assert (done["output"], done["error"], done["approval_request_id"]) == (
        '{"done":true}',
        None,
        None,
    )
    assert answer.stream.has_acted


async def test_a_call_is_shown_while_it_runs() -> None:
    """Invariant 10."""
    gate = Gate()
    asking = Asking(dispatcher=ScriptedDispatcher({"light_on": gate}))
    stream = ResponseStream(plan_of(ASKED))
    tell(stream, OFFERED)
    async with aclosing(asking.events(call(ON), say("On."))) as events:
        async for event in events:
            sent = stream.feed(event)
            if isinstance(event, ToolStarted):
                assert [one["type"] for one in sent][:2] == [
                    "response.output_item.added",
                    "response.mcp_call.in_progress",
                ]
                assert not gate.passed.is_set()
                gate.opened.set()
    assert stream.is_over


async def test_calls_that_run_at_once_are_shown_one_after_the_other_in_their_order() -> (
    None
):
    """Invariants 7, 13, 30, 31."""
    seen = Gate()

    async def fails(_: JsonObject) -> ToolOutcome:
        seen.opened.set()
        raise ValueError("broken")

    tools = (*OFFERED.tools["assist"], tool("look_closely", read_only=True))
    dispatcher = ScriptedDispatcher({"look": seen, "look_closely": fails})
    asking = Asking(turn=replace(TURN, tools=tools), dispatcher=dispatcher)
    answer = await asking.answered(
        call(LOOKING, replace(LOOKING, id="m", name="look_closely")), say("Seen.")
    )
    assert [one.name for one in dispatcher.finished] == ["look"], (
        "it had waited for the other one"
    )
    assert outcomes(answer) == [
        ("mcp_call", "look", "completed"),
        ("mcp_call", "look_closely", "failed"),
    ]
    assert "broken" in error_of(answer.items[1])
    assert answer.items[1]["output"] is None
    assert answer.items[1]["server_label"] == "chatterbox"


async def test_a_call_that_cannot_run_fails_and_the_others_run() -> None:
    """Invariants 27, 28, 30, 62."""
    bad = replace(ON, id="c", arguments="{half")
    answer = await Asking(replace(ASKED, functions=())).answered(
        call(UNHEARD_OF, ON, bad), say("Hm.")
    )
    assert outcomes(answer) == [
        ("mcp_call", "unheard_of", "failed"),
        ("mcp_call", "light_on", "completed"),
        ("mcp_call", "light_on", "failed"),
    ]
    assert [item["server_label"] for item in answer.items[:3]] == [
        "chatterbox",
        "assist",
        "assist",
    ]
    assert answer.items[2]["arguments"] == "{half", "kept as the model wrote it"
    assert answer.response["status"] == "completed"


async def test_a_call_without_arguments_has_no_piece_of_them() -> None:
    """Invariants 11, 29."""
    stream = ResponseStream(plan_of(ASKED))
    bare = replace(ON, arguments="")
    sent = tell(
        stream,
        OFFERED,
        MessageDone(AssistantMessage(tool_calls=(bare,))),
        ToolStarted(bare),
    )
    assert [one["type"] for one in sent][-2:] == [
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.done",
    ]


async def test_what_is_forbidden_is_not_run_and_the_model_goes_on() -> None:
    """Invariants 24, 25."""
    asking = Asking(turn=replace(TURN, allowed_tools=frozenset({"look"})))
    answer = await asking.answered(call(ON, SHOW), say("I may not."))
    assert asking.dispatcher.started == []
    assert outcomes(answer) == [("mcp_call", "light_on", "failed")], (
        "nobody is to run the function"
    )
    assert text_of(answer.items[-1]) == "I may not."
    assert answer.response["status"] == "completed"


@pytest.mark.parametrize("words", ["", "I may not."])
async def test_a_call_where_none_is_wanted_is_not_run_and_ends_the_response(
    words: str,
) -> None:
    """Invariants 24, 25."""
    choice = ToolChoiceMode.NONE
    asking = Asking(
        replace(ASKED, tool_choice=choice), turn=replace(TURN, tool_choice=choice)
    )
    answer = await asking.answered(call(ON, SHOW, text=words))
    assert asking.dispatcher.started == []
    assert outcomes(answer) == []
    texts = [text_of(item) for item in answer.items if item["type"] == "message"]
    assert texts == [words or "I don't have an answer to that."]
    assert answer.response["status"] == "completed"


@pytest.mark.parametrize("pauses", [False, True])
async def test_functions_of_the_client_come_back_as_they_were_called(
    pauses: bool,  # noqa: FBT001  # a parameter
) -> None:
    """Invariants 5, 10, 11, 19."""
    asking = Asking(replace(ASKED, pauses_for_functions=pauses))
    other = replace(SHOW, id="s 2", arguments="")
    answer = await asking.answered(call(SHOW, other, text="Look:"))
    assert (
        answer.kinds[-9:-1]
        == [
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
        ]
        * 2
    )
    calls = answer.items[1:]
    assert [(item["call_id"], item["arguments"]) for item in calls] == [
        ("s", '{ "n" : 1 }'),
        ("s 2", "{}"),
    ]
    assert all(item["id"] != item["call_id"] for item in calls)
    assert answer.kinds[-1] == "completed"
    assert answer.response["status"] == ("requires_action" if pauses else "completed")
    assert (answer.response["completed_at"] is None) == pauses
    bare = replace(other, arguments="{}")
    assert answer.stream.messages == (
        AssistantMessage("Look:", tool_calls=(SHOW, bare)),
    ), "the results are to come"


async def test_beside_functions_of_the_client_nothing_runs() -> None:
    """Invariants 22, 62."""
    asking = Asking(hooks=[asks_for("unlock")])
    answer = await asking.answered(call(ON, UNHEARD_OF, SHOW, UNLOCK))
    assert asking.dispatcher.started == []
    assert outcomes(answer) == [
        ("mcp_call", "light_on", "failed"),
        ("function_call", "show_page", "completed"),
        ("mcp_call", "unlock", "failed"),
    ]
    assert "Call it again" in error_of(answer.items[0])
    message, *results = answer.stream.messages
    assert isinstance(message, AssistantMessage)
    assert [getattr(one, "call_id", None) for one in results] == ["a", "x", "u"]
    assert not answer.stream.has_acted

    result = ToolResult("s", "show_page", "shown")
    history: Transcript = (UserMessage("Go!"), *answer.stream.messages, result)
    assert_valid(repair(history))
    goes_on = Asking(turn=replace(TURN, user_text=None, history=history))
    await goes_on.answered(say("There."))
    assert result in goes_on.provider.requests[0].transcript


async def test_what_a_provider_wants_back_is_not_handed_over_for_a_message_that_is_not_shown_whole() -> (
    None
):
    """Invariant 35."""
    request = replace(ASKED, include_encrypted_reasoning=True)
    asking = Asking(request, hooks=[asks_for("unlock")])
    signed = (ProviderItem("format", {"signature": "a"}),)
    answer = await asking.answered(
        [
            ToolCallReady(ON),
            ToolCallReady(UNLOCK),
            CompletionResult(FinishReason.TOOL_CALLS, Usage(), signed),
        ]
    )
    assert [item["type"] for item in answer.items] == [
        "mcp_call",
        "mcp_approval_request",
    ]


async def test_what_is_shown_can_be_brought_back() -> None:
    """Invariants 33, 35, 52."""
    asking = Asking(replace(ASKED, include_encrypted_reasoning=True))
    signed = [ProviderItem("format", {"signature": name}) for name in "ab"]
    answer = await asking.answered(
        [
            *(
                TextDelta("One moment."),
                ToolCallReady(ON),
                ToolCallReady(replace(ON, id="c", arguments="{half")),
            ),
            CompletionResult(FinishReason.TOOL_CALLS, Usage(), (signed[0],)),
        ],
        [
            ToolCallReady(OFF),
            CompletionResult(FinishReason.TOOL_CALLS, Usage(), (signed[1],)),
        ],
        say("Both are on."),
    )
    sent_again = tuple(
        complete_item(item, str) for item in objects(answer.response["output"])
    )
    parsed = parse_items(sent_again, CODEC)
    assert [without_ids(one) for one in parsed.messages] == [
        without_ids(one) for one in answer.stream.messages
    ]
    assert parsed.listed == {"assist"}


def without_ids(message: Message) -> tuple[object, ...]:
    """Return what is said, called and answered in a message."""
    match message:
        case AssistantMessage():
            calls = [(one.name, one.arguments) for one in message.tool_calls]
            return message.text, calls, message.provider_items
        case ToolResult():
            return message.name, message.content, message.is_error
        case _:
            raise AssertionError(message)


async def test_calls_that_are_cut_off_end_as_failed() -> None:
    """Invariants 10, 21, 54, 57, 63."""
    gate = Gate()
    asking = Asking(dispatcher=ScriptedDispatcher({"light_on": gate}))
    stream = ResponseStream(plan_of(ASKED))
    sent = tell(stream, OFFERED)
    async with aclosing(
        asking.events(call(ON, OFF, LOOKING, text="One moment."))
    ) as events:
        async for event in events:
            sent += stream.feed(event)
            if isinstance(event, ToolStarted) and event.call == OFF:
                break
    sent += stream.fail(internal_error())
    response = check_stream(sent)
    output = objects(response["output"])[1:]
    assert [item["status"] for item in output] == [
        "completed",
        "failed",
        "failed",
        "failed",
    ]
    assert "may have taken effect" in error_of(output[1])
    assert "Not run" in error_of(output[3])
    assert_valid(stream.messages)


def test_a_call_that_was_just_written_is_ended_too() -> None:
    """Invariants 54, 63."""
    stream = ResponseStream(plan_of(ASKED))
    sent = [
        *tell(stream, OFFERED, ToolCallReady(LOOKING), ToolStarted(LOOKING)),
        *stream.cancel(),
    ]
    assert [item["status"] for item in objects(check_stream(sent)["output"])[1:]] == [
        "failed"
    ]
    assert stream.has_acted
    assert_valid(stream.messages)


def test_functions_that_nobody_was_given_are_not_handed_out() -> None:
    """Invariants 20, 22."""
    stream = ResponseStream(plan_of(ASKED))
    sent = tell(stream, OFFERED, MessageDone(AssistantMessage(tool_calls=(SHOW,))))
    response = check_stream([*sent, *stream.cancel()])
    assert not any(
        item["type"] == "function_call" for item in objects(response["output"])
    )


def test_a_function_beside_a_call_that_is_only_answered_comes_in_its_place() -> None:
    """Invariant 22."""
    stream = ResponseStream(plan_of(asked_with(PAGE)))
    answered = ToolFinished(synthetic_result(ON, "Call it again."))
    end = TurnFinished(StopReason.CLIENT_TOOLS, "", Usage(), 1, client_calls=(SHOW,))
    response = check_stream(
        tell(
            stream,
            OFFERED,
            MessageDone(AssistantMessage(tool_calls=(SHOW, ON))),
            answered,
            end,
        )
    )
    assert [item["type"] for item in objects(response["output"])] == [
        "function_call",
        "mcp_call",
    ]

"""A turn becomes a response: which events come, in which order, and what the response is at last."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderBusy, ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    Phase,
    PhaseEntered,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    TurnFinished,
    UsageReported,
)
from custom_components.chatterbox.agent.loop.turn import Limits
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    Usage,
    UserMessage,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import Deny, OutputFormat, Rewrite
from custom_components.chatterbox.responses.protocol.errors import internal_error
from custom_components.chatterbox.responses.protocol.items.encrypted_content import (
    decode_provider_items,
)
from custom_components.chatterbox.responses.protocol.run import (
    ResponseStream,
    replace_sent_words,
    replace_words,
)
from tests.agent.turns import finished
from tests.responses.protocol.answered import (
    ASKED,
    OFFERED,
    TURN,
    Asking,
    an_object,
    answered,
    objects,
    tell,
    text_of,
)
from tests.responses.protocol.asked import ASKED as PLAIN, CODEC, plan_of
from tests.responses.protocol.valid_stream import check_stream
from tests.support.doubles import Line, ScriptedHooks, call, say

ON = ToolCall("a", "light_on", "{}")
STOP = CompletionResult(FinishReason.STOP, Usage(10, 5))
DATA = OutputFormat(
    "data",
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)


async def test_words_come_piece_by_piece() -> None:
    """Invariants 8, 10, 11, 12, 43."""
    script: list[Line] = [TextDelta("It is "), TextDelta("on."), STOP]
    answer = await Asking(PLAIN).answered(script)
    assert answer.kinds == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    (item,) = answer.items
    assert text_of(item) == "It is on."
    assert item["status"] == "completed"
    assert answer.response["status"] == "completed"
    assert answer.response["completed_at"] == 1_800_000_007
    assert answer.response["created_at"] == 1_800_000_000


async def test_tokens_are_those_of_all_inferences() -> None:
    """Invariant 15."""
    answer = await answered(
        call(ON, usage=Usage(10, 5, 4, 2)), say("On.", usage=Usage(20, 7, 10, 1))
    )
    assert answer.response["usage"] == {
        "input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 14, "cache_write_tokens": 0},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 42,
    }


async def test_reasoning_is_shown_where_it_is_asked_for() -> None:
    """Invariants 10, 11, 12."""
    script: list[Line] = [
        ReasoningDelta("Hm, "),
        ReasoningDelta("on."),
        TextDelta("On."),
        ReasoningDelta("So."),
        STOP,
    ]
    answer = await Asking(replace(PLAIN, reasoning_summary="auto")).answered(script)
    assert [item["type"] for item in answer.items] == [
        "reasoning",
        "message",
        "reasoning",
    ]
    assert answer.items[0]["summary"] == [{"type": "summary_text", "text": "Hm, on."}]
    assert answer.kinds[2:9] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    hidden = await Asking(PLAIN).answered(script)
    assert [item["type"] for item in hidden.items] == ["message"]


async def test_words_beside_calls_are_an_item_of_their_own_and_stay_in_the_transcript() -> (
    None
):
    """Invariant 33."""
    answer = await answered(call(ON, text="One moment. "), say("It is on."))
    assert [item["type"] for item in answer.items] == ["message", "mcp_call", "message"]
    assert [text_of(answer.items[index]) for index in (0, 2)] == [
        "One moment. ",
        "It is on.",
    ]
    first = answer.stream.messages[0]
    assert getattr(first, "text", None) == "One moment. "


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (FinishReason.LENGTH, "max_output_tokens"),
        (FinishReason.CONTENT_FILTER, "content_filter"),
        (FinishReason.UNKNOWN, "unknown_finish"),
    ],
)
async def test_an_answer_that_is_cut_is_incomplete_and_so_is_its_last_item(
    finish: FinishReason, reason: str
) -> None:
    """Invariants 12, 15, 17."""
    answer = await answered(say("It is", finish))
    assert answer.kinds[-1] == "incomplete"
    assert answer.response["status"] == "incomplete"
    assert answer.response["incomplete_details"] == {"reason": reason}
    assert [item["status"] for item in answer.items] == ["incomplete"]
    assert an_object(answer.response["usage"])["total_tokens"] == 15


@pytest.mark.parametrize("text", ["", "It is"])
async def test_half_a_message_runs_nothing(text: str) -> None:
    """Invariant 17."""
    script: list[Line] = [
        TextDelta(text),
        ToolCallReady(ON),
        CompletionResult(FinishReason.LENGTH, Usage(10, 5)),
    ]
    asking = Asking()
    answer = await asking.answered(script)
    assert asking.dispatcher.started == []
    assert answer.response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in answer.items if item["type"] == "mcp_call"] == [
        "failed"
    ]
    assert answer.items[-1]["status"] == "incomplete"
    assert not answer.stream.has_acted


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_iterations=2), "max_iterations"),
        (Limits(max_tool_calls=1), "max_tool_calls"),
    ],
)
async def test_a_turn_that_is_cut_at_a_bound_says_which(
    limits: Limits, reason: str
) -> None:
    """Invariants 18, 20."""
    again = replace(ON, id="b", arguments='{"n":1}')
    turn = replace(TURN, tools=tuple(OFFERED.tools["assist"]), limits=limits)
    answer = await Asking(turn=turn).answered(call(ON), call(again))
    assert answer.response["incomplete_details"] == {"reason": reason}
    assert [item["status"] for item in answer.items] == [
        "completed",
        "failed",
        "incomplete",
    ]


def test_a_turn_that_ran_out_of_time_is_incomplete() -> None:
    """Invariant 21."""
    stream = ResponseStream(plan_of(PLAIN))
    end = TurnFinished(StopReason.DEADLINE, "It is late.", Usage(), 0)
    composing = PhaseEntered(Phase.RESPONSE_COMPOSITION)
    response = check_stream(
        tell(stream, OFFERED, TextDelta("It is"), composing, TextDelta(" late."), end)
    )
    assert response["incomplete_details"] == {"reason": "deadline"}
    assert [text_of(item) for item in objects(response["output"])] == ["It is late."]


async def test_a_model_that_fails_at_once_fails_the_response() -> None:
    """Invariants 15, 43, 57."""
    answer = await answered([ProviderBusy("ours: key sk-secret", 7)])
    assert answer.kinds[-2:] == ["error", "failed"]
    assert an_object(answer.sent[-2]["error"])["type"] == "too_many_requests"
    assert an_object(answer.response["error"])["code"] == "rate_limit_exceeded"
    assert answer.items == []
    assert answer.response["completed_at"] is None
    assert answer.response["usage"] is not None
    assert answer.stream.error is not None
    assert answer.stream.error.retry_after == 7
    assert not answer.stream.has_acted
    assert "secret" not in canonical_json([*answer.sent])


async def test_a_model_that_fails_after_tools_leaves_what_was_done_to_be_read() -> None:
    """Invariant 57."""
    asking = Asking()
    answer = await asking.answered(
        call(ON), [TextDelta("It is"), ProviderUnreachable("gone")]
    )
    assert answer.response["status"] == "failed"
    assert [(item["type"], item["status"]) for item in answer.items] == [
        ("mcp_call", "completed"),
        ("message", "incomplete"),
    ]
    assert text_of(answer.items[1]) == "It is", (
        "what the loop says of it to a person is not the model's"
    )
    assert answer.stream.has_acted
    assert len(asking.dispatcher.started) == 1


async def test_a_stream_without_a_finish_is_no_answer() -> None:
    """Invariant 59."""
    answer = await answered([TextDelta("It is on.")], [TextDelta("It is on.")])
    assert answer.response["status"] == "failed"
    assert an_object(answer.response["error"])["code"] == "model_reply_invalid"


async def test_words_that_a_hook_refuses_get_a_refusal() -> None:
    """Invariants 10, 11, 61."""
    hooks = [ScriptedHooks(prompt=lambda _: Deny("Not that."))]
    answer = await Asking(PLAIN, hooks=hooks).answered()
    assert answer.kinds[2:-1] == [
        "output_item.added",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
    ]
    assert answer.items[0]["content"] == [{"type": "refusal", "refusal": "Not that."}]
    assert answer.response["status"] == "completed"


async def test_words_that_a_hook_replaces_are_told_to_the_history() -> None:
    """Invariant 61."""
    answer = await Asking(
        PLAIN, hooks=[ScriptedHooks(prompt=lambda _: Rewrite("Please!"))]
    ).answered(say("Yes."))
    assert answer.stream.prompt == "Please!"
    assert (await Asking(PLAIN).answered(say("Yes."))).stream.prompt is None


async def test_an_answer_without_words_gets_some() -> None:
    answer = await Asking(PLAIN).answered(say(" "))
    assert answer.response["status"] == "completed"
    assert text_of(answer.items[0]) == finished(answer.turn).text


async def test_data_is_told_when_it_is_sure_to_be_the_answer() -> None:
    """Invariants 11, 14."""
    asking = Asking(replace(ASKED, output=DATA), replace(TURN, output=DATA))
    answer = await asking.answered(
        call(ON, text="One moment."), say('{"n":"x"}'), say('{"n":1}')
    )
    spoken = [item for item in answer.items if item["type"] == "message"]
    assert [(text_of(item), item["phase"]) for item in spoken] == [
        ("One moment.", "commentary"),
        ('{"n":1}', "final_answer"),
    ]
    assert answer.response["status"] == "completed"


async def test_data_of_another_shape_is_incomplete_and_says_why() -> None:
    asking = Asking(replace(PLAIN, output=DATA), replace(TURN, output=DATA))
    answer = await asking.answered(say("{}"), say('{"n":"x"}'))
    assert answer.response["incomplete_details"] == {"reason": "output_unfit"}
    assert [(text_of(item), item["phase"]) for item in answer.items] == [
        ('{"n":"x"}', "commentary")
    ]


async def test_data_that_breaks_off_is_shown_as_far_as_it_came() -> None:
    """Invariant 57."""
    asking = Asking(replace(PLAIN, output=DATA), replace(TURN, output=DATA))
    gone: list[Line] = [TextDelta('{"n"'), ProviderUnreachable("gone")]
    answer = await asking.answered(gone, gone)
    assert [(text_of(item), item["status"]) for item in answer.items] == [
        ('{"n"', "incomplete")
    ]


async def test_what_a_provider_wants_back_follows_its_message() -> None:
    """Invariant 35."""
    items = [ProviderItem("format", {"signature": name}) for name in "ab"]
    script: list[list[Line]] = [
        [
            ToolCallReady(ON),
            CompletionResult(FinishReason.TOOL_CALLS, Usage(), (items[0],)),
        ],
        [TextDelta("On."), CompletionResult(FinishReason.STOP, Usage(), (items[1],))],
    ]
    wants = replace(ASKED, include_encrypted_reasoning=True)
    answer = await Asking(wants).answered(*script)
    assert [item["type"] for item in answer.items] == [
        "mcp_call",
        "reasoning",
        "message",
        "reasoning",
    ]
    carried = [
        decode_provider_items(str(answer.items[index]["encrypted_content"]), CODEC)
        for index in (1, 3)
    ]
    assert carried == [(items[0],), (items[1],)]
    plain = await Asking().answered(*script)
    assert [item["type"] for item in plain.items] == ["mcp_call", "message"]


async def test_a_message_that_is_brought_back_comes_in_one_piece() -> None:
    """Invariant 35."""
    thinks: list[Line] = [
        ReasoningDelta("Hm."),
        TextDelta("On"),
        ReasoningDelta("So."),
        TextDelta("."),
        STOP,
    ]
    pending_calls = replace(
        PLAIN, reasoning_summary="auto", include_encrypted_reasoning=True
    )
    answer = await Asking(pending_calls).answered(thinks)
    assert [item["type"] for item in answer.items] == ["reasoning", "message"]
    assert text_of(answer.items[1]) == "On."


def test_a_queued_response_goes_on_with_the_first_event() -> None:
    """Invariants 8, 56."""
    stream = ResponseStream(plan_of(PLAIN))
    sent = stream.begin(queued=True)
    assert [event["type"] for event in sent] == ["response.created", "response.queued"]
    assert stream.resource["status"] == "queued"
    sent += stream.feed(OFFERED)
    assert stream.resource["status"] == "in_progress"
    sent += stream.feed(TurnFinished(StopReason.COMPLETED, "", Usage(), 1))
    assert [event["type"] for event in sent[2:]] == [
        "response.in_progress",
        "response.completed",
    ]
    assert check_stream(sent)["status"] == "completed"


@pytest.mark.parametrize("queued", [True, False])
def test_a_response_that_nobody_wants_any_more_is_cancelled(queued: bool) -> None:  # noqa: FBT001  # a parameter
    """Invariants 54, 55."""
    stream = ResponseStream(plan_of(PLAIN))
    sent = [*stream.begin(queued=queued), *stream.cancel()]
    response = check_stream(sent)
    assert response["status"] == "cancelled"
    assert sent[-1]["type"] == "response.incomplete"
    assert stream.cancel() == stream.fail(internal_error()) == [], "it stays so"
    assert stream.resource == response


def test_words_that_are_cut_off_stay() -> None:
    """Invariants 54, 63."""
    stream = ResponseStream(plan_of(PLAIN))
    sent = tell(
        stream, OFFERED, UsageReported(Usage(3, 2)), TextDelta("It "), TextDelta("is")
    )
    assert objects(stream.resource["output"]) == []
    response = check_stream([*sent, *stream.cancel()])
    assert [
        (text_of(item), item["status"]) for item in objects(response["output"])
    ] == [("It is", "incomplete")]
    assert an_object(response["usage"])["total_tokens"] == 5
    assert stream.messages == (AssistantMessage("It is"),)


def test_a_bug_ends_the_stream_as_well() -> None:
    """Invariant 57."""
    stream = ResponseStream(plan_of(replace(PLAIN, output=DATA)))
    sent = [*tell(stream, OFFERED, TextDelta('{"n"')), *stream.fail(internal_error())]
    response = check_stream(sent)
    assert response["error"] == {
        "code": "server_error",
        "message": internal_error().message,
    }
    assert [text_of(item) for item in objects(response["output"])] == ['{"n"']


async def test_what_the_request_said_is_shown_again() -> None:
    """Invariants 43, 68."""
    echo: JsonObject = {
        **PLAIN.echo,
        "metadata": {"room": "kitchen"},
        "conversation": {"id": "conv_1"},
    }
    answer = await Asking(replace(PLAIN, echo=echo)).answered(say("Yes."))
    assert echo.items() <= answer.response.items()
    assert len(answer.response.keys() - {"conversation"}) == 31


def test_a_piece_of_nothing_is_not_told() -> None:
    stream = ResponseStream(plan_of(replace(PLAIN, reasoning_summary="auto")))
    tell(stream, OFFERED)
    assert stream.feed(TextDelta("")) == stream.feed(ReasoningDelta("")) == []


def test_a_piece_costs_what_it_says() -> None:
    """However long the answer is already: an event of a piece of text holds nothing else."""
    stream = ResponseStream(plan_of(PLAIN))
    tell(stream, OFFERED, TextDelta("words " * 10_000))
    (event,) = stream.feed(TextDelta("!"))
    assert len(canonical_json(event)) < 200


def message(role: str, *texts: str) -> JsonObject:
    """Return a complete message."""
    parts: list[JsonValue] = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": role, "content": parts}


PICTURE: JsonObject = {
    "type": "input_image",
    "image_url": "data:image/gif;base64,R0lGODlhAQABAAAAADs=",
}
VENDOR: JsonObject = {"type": "acme:x", "id": "x"}
RESULT: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "1234"}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ((message("user", "12", "34"),), (message("user", "****"),)),
        (
            (
                message("user", "before"),
                message("user", "1234"),
                message("developer", "after"),
            ),
            (
                message("user", "before"),
                message("user", "****"),
                message("developer", "after"),
            ),
        ),
        ((message("developer", "1234"),), (message("developer", "****"),)),
        (
            (
                {
                    "role": "user",
                    "content": [{"type": "input_text", "text": "1234"}, PICTURE],
                },
                VENDOR,
            ),
            (
                {
                    "role": "user",
                    "content": [{"type": "input_text", "text": "****"}, PICTURE],
                },
                VENDOR,
            ),
        ),
        ((RESULT,), (RESULT,)),
        ((), ()),
    ],
)
def test_the_words_that_begin_a_turn_are_replaced(
    sent: tuple[JsonObject, ...], expected: tuple[JsonObject, ...]
) -> None:
    assert replace_sent_words(sent, "****") == expected


def test_what_was_said_is_replaced_at_its_end() -> None:
    earlier_messages = (
        UserMessage("before"),
        AssistantMessage("yes"),
        UserMessage("1234", context="It is noon."),
    )

    assert replace_words(earlier_messages, "****") == (
        *earlier_messages[:2],
        UserMessage("****", context="It is noon."),
    )
    assert replace_words(earlier_messages[:2], "****") == earlier_messages[:2]
    assert replace_words((), "****") == ()

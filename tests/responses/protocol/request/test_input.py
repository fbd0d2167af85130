"""The input of a request: complete items, each call with its result, and errors that name the place."""

from collections.abc import Sequence
from itertools import count

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.items.encrypted_content import (
    ContentCodec,
)
from custom_components.chatterbox.responses.protocol.items.schema import (
    function_call_item,
)
from custom_components.chatterbox.responses.protocol.request import (
    parse_input,
    read_input,
)
from tests.agent.turns import assert_valid

CODEC = ContentCodec(b"a key")
HI: JsonObject = {"role": "user", "content": "Hi"}
WAITING: Transcript = (
    UserMessage("?"),
    AssistantMessage(tool_calls=(ToolCall("call_1", "weather", "{}"),)),
)
ANSWERED: Transcript = (*WAITING, ToolResult("call_1", "weather", "rain"))


def read(*items: JsonValue) -> tuple[JsonObject, ...]:
    numbers = count()
    return read_input([*items], lambda prefix: f"{prefix}_new{next(numbers)}")


def call(call_id: str) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": "weather",
        "arguments": "{}",
    }


def output(call_id: str) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": "rain"}


def refused(*items: JsonValue) -> ApiError:
    with pytest.raises(ApiError) as caught:
        read(*items)
    return caught.value


def unpaired(history: Transcript, *items: JsonObject) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as caught:
        parse_input(read(*items), CODEC, history)
    assert caught.value.status == 400
    return caught.value.message, caught.value.param


def test_a_text_is_a_message() -> None:
    """Invariant 41."""
    whole = read(
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Hi"}],
        }
    )

    assert read_input("Hi", lambda prefix: f"{prefix}_new0") == read(HI) == whole
    assert read_input(None, str) == ()


@pytest.mark.parametrize("value", [5, {"role": "user"}, True])
def test_what_is_no_input(value: JsonValue) -> None:
    with pytest.raises(ApiError) as caught:
        read_input(value, str)

    assert (caught.value.status, caught.value.param) == (400, "input")


def test_errors_name_the_place() -> None:
    """Invariants 67, 68."""
    picture: JsonObject = {
        "type": "input_image",
        "image_url": "https://example.com/a.png",
    }
    err = refused(
        HI, {"role": "user", "content": [{"type": "input_text", "text": "?"}, picture]}
    )

    assert (err.status, err.param) == (400, "input[1].content[1].image_url")
    assert err.message.startswith("Invalid value for 'input[1].content[1].image_url': ")
    assert refused("Hi").param == "input[0]"
    assert refused(HI, {"type": "web_search_call"}).param == "input[1].type"


def test_too_much_is_refused_before_it_is_read() -> None:
    assert refused(*[HI] * 2049).param == "input"
    assert (
        refused(
            {"role": "user", "content": [5] * 2049},
            {**output("call_1"), "output": [5] * 2048},
        ).param
        == "input"
    )


def test_what_stands_there_twice() -> None:
    """Invariant 46."""
    answer: JsonObject = {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1_0",
        "approve": True,
    }

    twice = refused(answer, HI, {**answer, "approve": False})

    assert (twice.param, twice.code) == (
        "input[2].approval_request_id",
        "approval_continuation_invalid",
    )
    assert refused({**HI, "id": "msg_1"}, {**HI, "id": "msg_1"}).param == "input[1].id"


def test_a_call_without_its_output() -> None:
    """Invariant 1."""
    expected = ("No tool output found for function call call_1.", "input")

    assert unpaired((), HI, call("call_1")) == expected
    assert unpaired(WAITING, HI) == expected


def test_an_output_without_its_call() -> None:
    """Invariant 2."""
    expected = (
        "No tool call found for function call output with call_id call_2.",
        "input",
    )

    assert unpaired((), output("call_2")) == expected
    assert unpaired(WAITING, output("call_1"), output("call_2")) == expected
    assert (
        unpaired(
            (),
            {
                "type": "mcp_call",
                "id": "call_2",
                "server_label": "a",
                "name": "b",
                "arguments": "",
            },
            output("call_2"),
        )
        == expected
    )


@pytest.mark.parametrize(
    ("history", "items"),
    [
        (
            (),
            [call("call_1"), HI, call("call_2"), output("call_1"), output("call_2")],
        ),
        ((), [output("call_1"), call("call_1")]),
        (WAITING, [output("call_1"), HI]),
        (ANSWERED, [HI]),
        ((), [{**call("call_1"), "status": "incomplete"}]),
    ],
)
def test_pairs_may_stand_apart(
    history: Transcript, items: Sequence[JsonObject]
) -> None:
    """Invariants 3, 5."""
    parsed = parse_input(read(*items), CODEC, history)
    assert_valid((*history, *parsed.messages))


@pytest.mark.parametrize(
    ("history", "items", "param"),
    [
        ((), [call("call_1"), output("call_1"), output("call_1")], "input[2].call_id"),
        (ANSWERED, [output("call_1")], "input[0].call_id"),
        (ANSWERED, [call("call_1"), output("call_1")], "input[0]"),
        ((), [HI, call("call_1"), call("call_1"), output("call_1")], "input[2]"),
    ],
)
def test_nothing_is_answered_or_called_twice(
    history: Transcript, items: list[JsonObject], param: str
) -> None:
    """Invariant 4."""
    message, where = unpaired(history, *items)

    assert "more than one" in message
    assert where == param


def test_what_the_input_says() -> None:
    parsed = parse_input(read(output("call_1"), HI), CODEC, WAITING)

    assert parsed.messages == (
        ToolResult("call_1", "weather", "rain", open_world=True),
        UserMessage("Hi"),
    )


@pytest.mark.parametrize("history", [(), WAITING])
def test_what_the_input_cannot_say(history: Transcript) -> None:
    with pytest.raises(ApiError) as caught:
        parse_input(
            read(*([output("call_1")] if history else []), {"id": "msg_1"}),
            CODEC,
            history,
        )

    assert caught.value.status == 400
    assert caught.value.param == f"input[{len(history[1:])}].id"


def test_ids_that_are_too_long_for_clients_find_back() -> None:
    """Invariant 5: some services write more into the id of a call than clients take."""
    call_id = "call_1__thought__" + "A" * 200
    history = (
        UserMessage("?"),
        AssistantMessage(tool_calls=(ToolCall(call_id, "weather", "{}"),)),
    )
    item = function_call_item("fc_1", ToolCall(call_id, "weather", "{}"))
    answer = output(str(item["call_id"]))

    assert parse_input(read(answer), CODEC, history).messages == (
        ToolResult(call_id, "weather", "rain", open_world=True),
    )
    assert len(parse_input(read(item, answer), CODEC).messages) == 2
    answered = (*history, ToolResult(call_id, "weather", "rain"))
    assert "more than one output" in unpaired(answered, answer)[0]
    assert "more than one call" in unpaired(answered, item, answer)[0]

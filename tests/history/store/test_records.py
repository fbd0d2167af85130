"""The weight of a record in memory."""

from dataclasses import replace

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.history.store.records import weight_of

from .records import audit, response, turn

SMALL = Attachment("image/png", b"1234")


def test_a_turn_weighs_its_messages() -> None:
    empty = turn(1, messages=())
    call = ToolCall("a", "b", "x" * 5)
    three_messages = (
        UserMessage("x" * 10, (SMALL,), "x"),
        AssistantMessage("xx", "xxx", (call,)),
        ToolResult("a", "b", "xx"),
    )
    assert (
        weight_of(replace(empty, messages=three_messages)) - weight_of(empty)
        == 10 + 4 + 1 + 2 + 3 + 5 + 2
    )
    assert weight_of(audit(1)) == weight_of(empty)


def test_a_response_weighs_its_input_its_output_and_its_messages() -> None:
    plain = replace(response(1), input=(), messages=())
    turn_with_images = replace(plain, messages=(UserMessage("", (SMALL, SMALL)),))
    assert weight_of(turn_with_images) - weight_of(plain) == 2 * len(SMALL.data)
    answered = replace(
        plain, response=plain.response | {"status": "x" * (len("completed") + 700)}
    )
    assert weight_of(answered) - weight_of(plain) == 700
    many = replace(plain, input=({"content": [{"a": 1} for _ in range(1_000)]},))
    assert weight_of(many) - weight_of(plain) > 90_000, "small values take room as well"

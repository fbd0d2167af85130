"""Results of the Model Context Protocol, which servers send twice, reach the model once."""

import json

import pytest
from homeassistant.helpers import llm

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.records.turn_record import result_content


def text(value: str) -> dict[str, JsonValue]:
    """Return a part of the content."""
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("content", "structured", "left"),
    [
        ([text('{"degrees": 21}')], {"degrees": 21}, ["structuredContent"]),
        ([text("sunny")], {"result": "sunny"}, ["content"]),
        ([text("21")], {"result": 21}, ["content"]),
        ([text("rain"), text("sun")], {"result": ["rain", "sun"]}, ["content"]),
        (
            [text("It is 21 degrees.")],
            {"degrees": 21},
            ["content", "structuredContent"],
        ),
        (
            [text('{"degrees": 21}'), text("More")],
            {"degrees": 21},
            ["content", "structuredContent"],
        ),
        (
            [{"type": "image", "data": "AA=="}],
            {"result": "sunny"},
            ["content", "structuredContent"],
        ),
    ],
)
def test_what_is_repeated_is_left_out(
    content: list[JsonValue], structured: JsonValue, left: list[str]
) -> None:
    data: dict[str, JsonValue] = {
        "content": content,
        "structuredContent": structured,
        "isError": False,
    }

    result_data = json.loads(result_content(llm.ToolResult(data=data)))

    assert [name for name in result_data if name != "isError"] == left
    assert all(result_data[name] == data[name] for name in result_data)

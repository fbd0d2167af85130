"""A turn becomes a response: which events come, in which order, and what the response is at last."""

from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.loop import AgenticLoop
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    Usage,
)
from custom_components.chatterbox.agent.responses.house import HouseEvent, ToolsOffered
from custom_components.chatterbox.agent.responses.stream import ResponseStream
from custom_components.chatterbox.agent.turn import Turn
from tests.agent.responses.asked import ASKED, frame
from tests.agent.responses.valid_stream import check_stream
from tests.agent.turns import collect
from tests.doubles import Line, ScriptedDispatcher, ScriptedProvider, tool

LIGHT, LOCK, PAGE = tool("light_on"), tool("unlock"), tool("show_page", client=True)
OFFERED = ToolsOffered({"assist": [LIGHT, LOCK]})


def told(stream: ResponseStream, *events: HouseEvent) -> list[JsonObject]:
    """Feed a stream from its beginning, and return all that it tells."""
    return [*stream.begin(), *(one for event in events for one in stream.feed(event))]


async def test_words_come_piece_by_piece() -> None:
    """Invariants 8, 10, 11, 12, 43."""
    script: list[Line] = [
        TextDelta("It is "),
        TextDelta("on."),
        CompletionResult(FinishReason.STOP, Usage(10, 5, 4, 2)),
    ]
    events = await collect(AgenticLoop(ScriptedProvider(script), ScriptedDispatcher()), Turn("Light?"))
    stream = ResponseStream(ASKED, frame())
    sent = told(stream, OFFERED, *events)
    response = check_stream(sent)
    assert [event["type"] for event in sent] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert response == stream.resource

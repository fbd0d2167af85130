"""The tools of a response are listed before its turn begins."""

import json
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.messages import (
    JsonValue,
    ToolAnnotations,
    ToolCall,
)
from custom_components.chatterbox.responses.protocol.backend import (
    ToolsOffered,
)
from custom_components.chatterbox.responses.protocol.errors import (
    ApiError,
)
from custom_components.chatterbox.responses.protocol.preparation import listed_labels
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.answered import (
    ASKED,
    LIGHT,
    LOCK,
    Answer,
    Asking,
)
from tests.responses.protocol.asked import asked_with
from tests.responses.protocol.backend_double import ANNA, BackendDouble
from tests.responses.protocol.service_talk import (
    collected,
    mcp,
    objects,
    request,
)
from tests.support.doubles import (
    call,
    say,
    tool,
)

ON, UNLOCK = (
    ToolCall("a", "light_on", '{"room":"kitchen"}'),
    ToolCall("u", "unlock", "{}"),
)


def outcomes(answer: Answer) -> list[tuple[object, ...]]:
    """Return type, name and status of the items that are calls or questions."""
    return [
        (item["type"], item["name"], item.get("status"))
        for item in answer.items
        if item["type"] != "message"
    ]


async def test_tools_are_listed_once_for_each_label() -> None:
    """Invariants 12, 50."""
    weather = tool("forecast", read_only=True)
    offered = ToolsOffered({"assist": [LIGHT], "weather": [weather], "own": [LOCK]})
    request = asked_with(labels=["weather", "assist"])
    asking = Asking(request, offered=offered)
    answer = await asking.answered(say("Hi."))
    assert answer.kinds[2:6] == [
        "output_item.added",
        "mcp_list_tools.in_progress",
        "mcp_list_tools.completed",
        "output_item.done",
    ]
    lists = [
        item
        for item in objects(answer.response["output"])
        if item["type"] == "mcp_list_tools"
    ]
    assert [item["server_label"] for item in lists] == ["weather", "assist"], (
        "those that were asked for"
    )
    assert lists[0]["tools"] == [
        {
            "name": "forecast",
            "description": "Does forecast",
            "input_schema": {"type": "object", "properties": {}},
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": True,
                "idempotentHint": False,
                "openWorldHint": False,
            },
        }
    ]
    assert weather.annotations == ToolAnnotations(read_only=True, open_world=False)

    listed = listed_labels(objects(answer.response["output"]))
    assert listed == {"weather", "assist"}
    later = await replace(asking, listed=listed).answered(say("Hi."))
    assert [item["type"] for item in objects(later.response["output"])] == ["message"]


async def test_a_request_that_names_no_tools_lists_none_and_shows_their_calls() -> None:
    """Invariant 50."""
    answer = await Asking(replace(ASKED, hosted=None)).answered(call(ON), say("On."))
    assert [item["type"] for item in objects(answer.response["output"])] == [
        "mcp_call",
        "message",
    ]
    assert answer.items[0]["server_label"] == "assist"


async def test_tools_that_cannot_be_listed_leave_the_others_usable() -> None:
    """Invariant 51."""
    offered = ToolsOffered({"assist": [LIGHT]}, {"weather": "The API does not answer."})
    answer = await Asking(
        asked_with(labels=["weather", "assist"]), offered=offered
    ).answered(call(ON), say("On."))
    broken, working = objects(answer.response["output"])[:2]
    assert answer.kinds[4] == "mcp_list_tools.failed"
    assert (broken["error"], broken["tools"]) == ("The API does not answer.", [])
    assert working["tools"] != []
    assert outcomes(answer) == [("mcp_call", "light_on", "completed")]
    assert listed_labels(objects(answer.response["output"])) == {"assist"}, (
        "the other is listed when it works again"
    )


async def test_nothing_is_streamed_of_a_request_that_cannot_be_served() -> None:
    """Invariant 58."""
    service = ResponsesService(BackendDouble())

    wrong: list[tuple[JsonValue, str | None]] = [
        (request(stream=True, tools=[mcp("garage")]), "tools"),
        (request(stream=True, model="conversation.attic"), "model"),
        (request([], stream=True), "input"),
        ("no object", None),
    ]
    for body, param in wrong:
        with pytest.raises(ApiError) as refused:
            await collected(await service.create(json.dumps(body), ANNA))
        assert refused.value.param == param

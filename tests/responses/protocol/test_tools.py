"""Tools and the choice among them: read, echoed without secrets, and refused by name."""

import pytest

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolAnnotations,
    ToolChoiceMode,
    ToolDefinition,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.tools import (
    AllowedTools,
    FunctionRef,
    HostedToolRef,
    HostedTools,
    RequestedToolChoice,
    RequestedTools,
    ToolFilter,
    read_tool_choice,
    read_tools,
)

from .open_responses import assert_fits

WEATHER: JsonObject = {
    "type": "function",
    "name": "weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"day": {"type": "string"}}},
    "strict": True,
}
ASSIST: JsonObject = {"type": "mcp", "server_label": "assist"}
BOTH = read_tools([WEATHER, ASSIST])
LOOK = ToolDefinition("look", "", {}, ToolAnnotations(read_only=True))
OPEN = ToolDefinition("open", "", {})


def refused(*tools: JsonValue) -> str:
    with pytest.raises(ApiError) as caught:
        read_tools(tools)
    assert caught.value.status == 400
    assert caught.value.param is not None
    return caught.value.param


def hosted(**fields: JsonValue) -> HostedTools:
    """Return the tools of the home that are asked for."""
    parsed = read_tools([{**ASSIST, **fields}]).hosted
    assert parsed is not None
    (wanted,) = parsed
    return wanted


def choice(value: JsonValue, tools: RequestedTools = BOTH) -> RequestedToolChoice:
    return read_tool_choice(value, tools)[0]


def refused_choice(value: JsonValue, tools: RequestedTools = BOTH) -> str:
    with pytest.raises(ApiError) as caught:
        read_tool_choice(value, tools)
    assert caught.value.status == 400
    assert caught.value.param is not None
    return caught.value.param


def test_functions() -> None:
    definition = ToolDefinition(
        "weather",
        "Tells the weather.",
        {"type": "object", "properties": {"day": {"type": "string"}}},
        client=True,
    )

    assert read_tools([WEATHER]) == RequestedTools((definition,), (), (WEATHER,))
    assert_fits("FunctionTool", WEATHER)


def test_a_function_of_few_words() -> None:
    """Invariant 43: all of it is echoed."""
    parsed = read_tools(
        [{"type": "function", "name": "f", "allowed_callers": ["direct"]}]
    )

    assert parsed.functions == (
        ToolDefinition("f", "", {"type": "object", "properties": {}}, client=True),
    )
    (sent,) = parsed.echo
    assert sent == {
        "type": "function",
        "name": "f",
        "description": None,
        "parameters": None,
        "strict": None,
    }
    assert_fits("FunctionTool", sent)


def test_no_tools_and_none_at_all() -> None:
    assert read_tools(None) == RequestedTools(hosted=None)
    assert read_tools([]) == RequestedTools(hosted=())


def test_tools_of_the_home_are_always_asked_about() -> None:
    """Invariant 49."""
    parsed = read_tools([ASSIST])

    assert parsed.hosted == (HostedTools(server_label="assist"),)
    assert hosted().asks(LOOK)
    assert parsed.echo == (
        {
            "type": "mcp",
            "server_label": "assist",
            "server_description": None,
            "allowed_tools": None,
            "require_approval": "always",
            "headers": None,
        },
    )


@pytest.mark.parametrize(
    ("require_approval", "look", "open_"),
    [
        (None, True, True),
        ("always", True, True),
        ("never", False, False),
        ({}, True, True),
        ({"never": {"read_only": True}}, False, True),
        ({"never": {"tool_names": ["open", "nothing"]}}, True, False),
        ({"always": {"tool_names": ["open"]}, "never": {}}, False, True),
        (
            {"always": {"tool_names": ["look"]}, "never": {"tool_names": ["look"]}},
            True,
            True,
        ),
    ],
)
def test_what_is_asked_about(
    require_approval: JsonValue, *, look: bool, open_: bool
) -> None:
    """Invariant 49."""
    wanted = hosted(require_approval=require_approval)

    assert (wanted.asks(LOOK), wanted.asks(OPEN)) == (look, open_)
    assert wanted.asks_otherwise == (require_approval != "never")


@pytest.mark.parametrize(
    ("allowed_tools", "expected"),
    [
        (None, None),
        ([], ToolFilter(tool_names=[])),
        (["open"], ToolFilter(tool_names=["open"])),
        ({}, ToolFilter()),
        (
            {"read_only": True, "tool_names": ["look"]},
            ToolFilter(tool_names=["look"], read_only=True),
        ),
    ],
)
def test_some_of_the_tools(
    allowed_tools: JsonValue, expected: ToolFilter | None
) -> None:
    assert hosted(allowed_tools=allowed_tools).allowed == expected


def test_what_is_echoed_of_the_home() -> None:
    """Invariant 44."""
    sent: JsonObject = {
        **ASSIST,
        "server_description": "The home",
        "allowed_tools": ["look"],
        "require_approval": "never",
    }

    parsed = read_tools(
        [{**sent, "headers": {}, "authorization": None, "server_url": None}]
    )

    assert parsed.echo == ({**sent, "headers": None},)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_url", "https://hunter2@example.com"),
        ("connector_id", "connector_hunter2"),
        ("tunnel_id", "hunter2"),
        ("authorization", "hunter2"),
        ("headers", {"X-Key": "hunter2"}),
    ],
)
def test_servers_from_elsewhere_are_refused_and_their_secrets_not_told(
    name: str, value: JsonValue
) -> None:
    """Invariant 44."""
    with pytest.raises(ApiError) as caught:
        read_tools([WEATHER, {**ASSIST, name: value}])

    assert caught.value.param == f"tools[1].{name}"
    assert "hunter2" not in str(caught.value.payload)


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        (5, "tools[1]"),
        ({}, "tools[1].type"),
        ({"type": "web_search"}, "tools[1].type"),
        ({"type": "custom", "name": "f"}, "tools[1].type"),
        (WEATHER, "tools[1].name"),
        ({"type": "function"}, "tools[1].name"),
        ({"type": "function", "name": ""}, "tools[1].name"),
        ({"type": "function", "name": "a b"}, "tools[1].name"),
        ({"type": "function", "name": "f\n"}, "tools[1].name"),
        ({"type": "function", "name": "f" * 65}, "tools[1].name"),
        ({"type": "function", "name": "f", "parameters": []}, "tools[1].parameters"),
        ({"type": "function", "name": "f", "strict": "yes"}, "tools[1].strict"),
        ({"type": "function", "name": "f", "async": True}, "tools[1].async"),
        (
            {"type": "function", "name": "f", "defer_loading": True},
            "tools[1].defer_loading",
        ),
        ({"type": "function", "name": "f", "colour": "red"}, "tools[1].colour"),
        ({"type": "mcp"}, "tools[1].server_label"),
        ({**ASSIST, "server_label": ""}, "tools[1].server_label"),
        ({**ASSIST, "allowed_tools": "open"}, "tools[1].allowed_tools"),
        ({**ASSIST, "allowed_tools": [5]}, "tools[1].allowed_tools[0]"),
        ({**ASSIST, "require_approval": "sometimes"}, "tools[1].require_approval"),
        ({**ASSIST, "require_approval": []}, "tools[1].require_approval"),
        (
            {**ASSIST, "require_approval": {"never": ["open"]}},
            "tools[1].require_approval.never",
        ),
    ],
)
def test_what_is_wrong_is_named(tool: JsonValue, param: str) -> None:
    """Invariants 66, 68."""
    assert refused(WEATHER, tool) == param


def test_labels_are_asked_for_once() -> None:
    assert (
        refused(ASSIST, {**ASSIST, "require_approval": "never"})
        == "tools[1].server_label"
    )


@pytest.mark.parametrize(
    ("value", "expected", "echo"),
    [
        (None, ToolChoiceMode.AUTO, "auto"),
        ("none", ToolChoiceMode.NONE, "none"),
        ("required", ToolChoiceMode.REQUIRED, "required"),
        (
            {"type": "function", "name": "weather"},
            FunctionRef(name="weather"),
            {"type": "function", "name": "weather"},
        ),
        (ASSIST, HostedToolRef(server_label="assist"), ASSIST),
        (
            {**ASSIST, "name": "open"},
            HostedToolRef(server_label="assist", name="open"),
            {**ASSIST, "name": "open"},
        ),
        (
            {
                "type": "allowed_tools",
                "tools": [{"type": "function", "name": "weather"}, ASSIST],
            },
            AllowedTools(
                (FunctionRef(name="weather"), HostedToolRef(server_label="assist"))
            ),
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "weather"}, ASSIST],
            },
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [ASSIST]},
            AllowedTools(
                (HostedToolRef(server_label="assist"),), ToolChoiceMode.REQUIRED
            ),
            {"type": "allowed_tools", "mode": "required", "tools": [ASSIST]},
        ),
    ],
)
def test_choices(
    value: JsonValue, expected: RequestedToolChoice, echo: JsonValue
) -> None:
    """Invariant 25: the echo has the mode."""
    assert read_tool_choice(value, BOTH) == (expected, echo)


@pytest.mark.parametrize(
    ("value", "param"),
    [
        ("sometimes", "tool_choice"),
        (5, "tool_choice"),
        ({}, "tool_choice.type"),
        ({"type": "web_search"}, "tool_choice.type"),
        ({"type": "function"}, "tool_choice.name"),
        ({"type": "function", "name": "clock"}, "tool_choice.name"),
        ({"type": "mcp", "server_label": "music"}, "tool_choice.server_label"),
        ({**ASSIST, "name": ""}, "tool_choice.name"),
        ({"type": "allowed_tools"}, "tool_choice.tools"),
        ({"type": "allowed_tools", "tools": []}, "tool_choice.tools"),
        ({"type": "allowed_tools", "tools": [ASSIST] * 129}, "tool_choice.tools"),
        (
            {"type": "allowed_tools", "tools": [ASSIST], "mode": "some"},
            "tool_choice.mode",
        ),
        ({"type": "allowed_tools", "tools": ["weather"]}, "tool_choice.tools[0]"),
        (
            {
                "type": "allowed_tools",
                "tools": [ASSIST, {"type": "function", "name": "x"}],
            },
            "tool_choice.tools[1].name",
        ),
    ],
)
def test_choices_of_what_there_is_not(value: JsonValue, param: str) -> None:
    """Invariant 26."""
    assert refused_choice(value) == param


def test_choices_without_tools() -> None:
    """A request that names no tools has those of the agent, which nobody here knows."""
    assert refused_choice("required", read_tools([])) == "tool_choice"
    assert refused_choice(ASSIST, read_tools([])) == "tool_choice.server_label"
    assert choice("required", read_tools(None)) is ToolChoiceMode.REQUIRED
    assert choice(ASSIST, read_tools(None)) == HostedToolRef(server_label="assist")
    assert choice("required", read_tools([WEATHER])) is ToolChoiceMode.REQUIRED

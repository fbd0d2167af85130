"""The fate of a call: the tool that was meant, the arguments as they run, and calls that do not run at all."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.coercion import MAX_ARGUMENTS_LENGTH, Unfit
from custom_components.chatterbox.agent.loop.calls import fit_call
from custom_components.chatterbox.agent.loop.turn import (
    ClientCall,
    OpenCall,
    Resolved,
    Runnable,
)
from custom_components.chatterbox.agent.messages import (
    MAX_CALL_LENGTH,
    AssistantMessage,
    JsonObject,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.text import find_tool, spellings
from tests.support.doubles import tool

DOMAIN: JsonObject = {
    "type": "object",
    "properties": {"domain": {"type": "array", "items": {"type": "string"}}},
}
ON = tool("assist__HassTurnOn", parameters=DOMAIN)
OFF = tool("assist__HassTurnOff", parameters=DOMAIN)
LOOK = tool("assist__GetLiveContext", read_only=True)
NEXT = tool("media__next", repeatable=True)
PAGE = tool("show_page", client=True)
TOOLS = (ON, OFF, LOOK, NEXT, PAGE)


def judged(name: str, arguments: str = "{}", *earlier: Message) -> OpenCall:
    """Judge a call where all tools are offered and allowed."""
    return fit_call(ToolCall("1", name, arguments), TOOLS, None, earlier)


def refusal(call: OpenCall) -> str:
    """Return the error that a call was answered with."""
    assert isinstance(call, Resolved)
    result = call.result
    assert (result.call_id, result.name, result.synthetic) == (
        call.call.id,
        call.call.name,
        True,
    )
    assert result.is_error
    return result.content


def opening(tool: ToolDefinition, arguments: JsonObject) -> tuple[str, JsonObject]:
    """Read a position as one of two tools, and refuse others."""
    assert tool == MOVE
    match arguments:
        case {"position": 0, **others}:
            return OFF.name, others
        case {"position": _}:
            raise Unfit("Only open and closed.")
        case _:
            return ON.name, {
                name: value for name, value in arguments.items() if name != "mood"
            }


MOVE = tool("set_position", parameters={**DOMAIN, "additionalProperties": False})


def moved(
    written: str, allowed: frozenset[str] | None = None, *, is_repaired: bool = False
) -> OpenCall:
    """Judge a call of a tool that repairs its calls."""
    return fit_call(
        ToolCall("1", MOVE.name, written),
        (*TOOLS, MOVE),
        allowed,
        (),
        repair=None if is_repaired else opening,
    )


@pytest.mark.parametrize(
    ("written", "allowed", "meant"),
    [
        ('{"domains": "cover", "position": 0}', None, OFF),
        ('{"mood": "good", "domain": ["cover"]}', None, ON),
        ('{"domain": "cover"}', frozenset({MOVE.name}), MOVE),
    ],
)
def test_a_tool_repairs_its_calls(
    written: str, allowed: frozenset[str] | None, meant: ToolDefinition
) -> None:
    call = moved(written, allowed)

    assert call == Runnable(call.call, meant, {"domain": ["cover"]})
    assert call.call == ToolCall("1", meant.name, '{"domain":["cover"]}')


def noted(call: OpenCall) -> str:
    assert isinstance(call, Runnable)
    return call.note


def test_the_model_is_told_what_was_read_otherwise_than_in_form() -> None:
    assert noted(moved('{"domains": "cover", "position": 0}')) == (
        'The call was read as assist__HassTurnOff, with domain ["cover"], without "domains", "position".'
    )
    assert noted(judged("HassTurnOn", '{"domain": " Cover"}')) == ""
    assert noted(judged("HassTurnOn", '{"level": "5.0"}')) == ""


def test_what_a_repair_refuses_is_told_to_the_model() -> None:
    assert refusal(moved('{"position": 7}')) == "Only open and closed."


def test_a_repaired_call_has_to_fit_as_it_is() -> None:
    assert (
        refusal(moved('{"domains":"cover"}', is_repaired=True))
        == "domains is not a parameter. Use: domain."
    )


@pytest.mark.parametrize(
    ("spoken", "meant"),
    [
        ("assist__HassTurnOn", ON),
        ("HassTurnOn", ON),
        ("hassturnon", ON),
        ("ASSIST__HASSTURNON", ON),
        (" HassTurnOff ", OFF),
        ("home__HassTurnOff", OFF),
        ("Show_Page", PAGE),
        ("Hass", None),
        ("TurnOn", None),
        ("HassTurnOnn", None),
        ("", None),
        ("__", None),
    ],
)
def test_a_name_means_the_one_tool_that_it_fits_but_for_prefix_and_case(
    spoken: str, meant: ToolDefinition | None
) -> None:
    assert find_tool(spoken, TOOLS) is meant


@pytest.mark.parametrize(
    "written",
    [
        "{}<|channel|>commentary",
        "{}<|channel|>json",
        "{}<|constrain|>json",
        "{} <|constrain|>json<|message|>",
        "{}<|call|>",
        "{}<|end|>",
        "{}<|im_end|>",
        "{}</s>",
        "{}</tool_call>",
        "{}:0",
        "{}:12<|tool_call_argument_begin|>",
        "{}()",
        "{}[ARGS]",
        "{}[CALL_ID]a1B2c3D4e[ARGS]",
        "functions.{}",
        "functions.{}:0",
        "tools.{}",
        "default_api.{}",
        "to=functions.{}",
        "assistant<|channel|>commentary to=functions.{} <|constrain|>json",
        "commentary to=functions.{} json",
        "<tool_call>{}",
        "<function={}>",
        "<invoke name={}>",
        "[TOOL_CALLS]{}",
        "<|python_tag|>{}",
        "<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>{}",
        "\u2581{}",
        '"{}"',
        "`{}`",
        "\n{}\t",
    ],
)
@pytest.mark.parametrize("name", ["assist__HassTurnOn", "HassTurnOn", "show_page"])
def test_remains_of_a_template_around_a_name_do_not_count(
    written: str, name: str
) -> None:
    assert find_tool(written.format(name), TOOLS) is (
        PAGE if name == "show_page" else ON
    )


@pytest.mark.parametrize(
    "written",
    [
        "HassTurnOn HassTurnOff",
        "HassTurnOn<|message|>HassTurnOff",
        'HassTurnOn{{"name": "Lamp"}}',
        "HassTurnOn(name=Lamp)",
        "light.HassTurnOn",
        "not HassTurnOn",
        "<|HassTurnOn|>",
        "to=",
        "commentary",
    ],
)
def test_more_than_a_name_is_none(written: str) -> None:
    assert find_tool(written, TOOLS) is None


def test_a_tool_with_a_name_like_a_remainder_is_found_by_it() -> None:
    tools = (tool("json"), tool("functions.lamp"))

    assert find_tool("json", tools) is tools[0]
    assert find_tool("functions.lamp", tools) is tools[1]


def test_a_name_that_could_mean_two_tools_means_none() -> None:
    tools = (tool("home__lights"), tool("garden__lights"), tool("Lamp"), tool("lamp"))
    assert find_tool("lights", tools) is None
    assert find_tool("LAMP", tools) is None
    assert find_tool("lamp", tools) is tools[3]
    assert find_tool("garden__lights", tools) is tools[1]


def test_a_name_from_before_the_prefix_had_two_underscores_means_the_tool() -> None:
    tools = (
        tool("todo__get_items"),
        tool("calendar__get_events"),
        tool("a__b_c"),
        tool("a_b__c"),
    )

    assert find_tool("todo_get_items", tools) is tools[0]
    assert find_tool("Calendar_Get_Events", tools) is tools[1]
    assert find_tool("a_b_c", tools) is None
    assert find_tool("get_events", tools) is tools[1]
    assert find_tool("calendar.get_events", tools) is None


def test_an_empty_name_is_no_tool_even_where_one_has_only_a_prefix() -> None:
    assert find_tool("", (tool("odd__"),)) is None


def test_what_is_recorded_is_what_runs() -> None:
    call = judged("HassTurnOn", '{ "domain" : "light" }')

    assert call.call == ToolCall("1", "assist__HassTurnOn", '{"domain":["light"]}')
    assert call == Runnable(call.call, ON, {"domain": ["light"]})


def test_an_unknown_tool_is_answered_with_those_there_are() -> None:
    """Invariant 27."""
    text = refusal(judged("open_pod_bay_doors"))

    assert "open_pod_bay_doors" in text
    assert (
        "assist__GetLiveContext, assist__HassTurnOff, assist__HassTurnOn, media__next, show_page"
        in text
    )


def test_where_there_are_no_tools_the_answer_says_so() -> None:
    call = fit_call(ToolCall("1", "light", "{}"), (), None, ())
    assert refusal(call) == "There is no tool 'light'. Tools: none."


def test_a_tool_that_is_not_allowed_is_answered_whoever_would_run_it() -> None:
    """Invariant 25."""
    allowed = frozenset({"assist__HassTurnOn"})
    for name in ("HassTurnOff", "show_page"):
        call = fit_call(ToolCall("1", name, "{}"), TOOLS, allowed, ())
        assert "not allowed" in refusal(call)
    assert isinstance(
        fit_call(ToolCall("1", "hassturnon", "{}"), TOOLS, allowed, ()), Runnable
    )
    assert "not allowed" in refusal(
        fit_call(ToolCall("1", "HassTurnOn", "{}"), TOOLS, frozenset(), ())
    )


@pytest.mark.parametrize(
    ("written", "handed_out"), [('{ "page": 1 }', '{ "page": 1 }'), (" ", "{}")]
)
def test_a_call_of_the_client_is_handed_out_as_it_was_written(
    written: str, handed_out: str
) -> None:
    """Invariant 29."""
    assert judged("show_page", written) == ClientCall(
        ToolCall("1", "show_page", handed_out)
    )


def of_length(length: int) -> str:
    return '{"a":"' + "x" * (length - 8) + '"}'


@pytest.mark.parametrize("guards", [False, True])
def test_a_client_gets_long_arguments_whole(*, guards: bool) -> None:
    text = of_length(MAX_CALL_LENGTH)
    call = fit_call(
        ToolCall("1", "show_page", text), TOOLS, None, (), guards_client_calls=guards
    )

    assert isinstance(call, ClientCall)
    assert call.call.arguments == text


@pytest.mark.parametrize("guards", [False, True])
@pytest.mark.parametrize(
    "written", ["not json", "[]", '{"a":"x', "{'a': 1}", of_length(MAX_CALL_LENGTH + 1)]
)
def test_a_client_gets_no_call_with_broken_or_cut_arguments(
    written: str, *, guards: bool
) -> None:
    call = fit_call(
        ToolCall("1", "show_page", written), TOOLS, None, (), guards_client_calls=guards
    )

    assert "one JSON object of at most 1000000 characters" in refusal(call)
    assert len(call.call.arguments) <= 1_000


def test_a_tool_of_ours_takes_no_long_arguments() -> None:
    assert "too long" in refusal(
        judged("HassTurnOn", of_length(MAX_ARGUMENTS_LENGTH + 1))
    )


@pytest.mark.parametrize(
    ("written", "recorded"),
    [("{", "{"), ("[]", "[]"), ('{"domain": [{}], "a": 1}', '{"a":1,"domain":[{}]}')],
)
def test_arguments_that_cannot_run_are_answered_and_recorded(
    written: str, recorded: str
) -> None:
    """Invariant 28."""
    call = judged("HassTurnOn", written)
    assert refusal(call)
    assert call.call.arguments == recorded


@pytest.mark.parametrize(
    ("written", "recorded"),
    [("turn on", "turn_on"), ("höher", "h_her"), ("", "unnamed")],
)
def test_a_name_that_no_tool_has_is_recorded_as_providers_take_it_back(
    written: str, recorded: str
) -> None:
    call = judged(written)
    assert refusal(call)
    assert call.call.name == recorded


def test_calls_of_a_runaway_model_are_cut() -> None:
    for name in ("HassTurnOn", "x" * 1_000_000):
        call = judged(name, "x" * 1_000_000)
        assert len(call.call.arguments) == 1_000
        assert len(call.call.name) <= 64
        assert len(refusal(call)) < 300


def call_message(call_id: str, name: str, arguments: str = "{}") -> AssistantMessage:
    """Return an earlier message with one call."""
    return AssistantMessage(tool_calls=(ToolCall(call_id, name, arguments),))


def test_the_same_call_of_one_turn_does_not_run_again() -> None:
    """Invariant 62."""
    earlier = (
        UserMessage("On!"),
        call_message("0", ON.name),
        ToolResult("0", ON.name, "done"),
    )

    call = judged("HassTurnOn", "", *earlier)

    assert call == Resolved(
        call.call,
        ToolResult(
            "1",
            ON.name,
            "Not run again: this turn already has the same call. Use its result.",
            synthetic=True,
        ),
    )
    assert isinstance(judged("HassTurnOn", '{"domain": "light"}', *earlier), Runnable)
    assert isinstance(judged("HassTurnOff", "", *earlier), Runnable)


def test_a_call_that_failed_is_not_run_again_either() -> None:
    earlier = (
        call_message("0", ON.name),
        ToolResult("0", ON.name, "no", is_error=True),
    )
    assert "already failed" in refusal(judged("HassTurnOn", "", *earlier))


def test_the_same_call_twice_in_one_message_runs_once() -> None:
    call = judged("HassTurnOn", "", call_message("0", ON.name))
    assert isinstance(call, Resolved)
    assert not call.result.is_error


def test_a_tool_that_is_meant_to_be_repeated_is() -> None:
    earlier = (call_message("0", NEXT.name), ToolResult("0", NEXT.name, "done"))
    assert isinstance(judged("next", "", *earlier), Runnable)


def test_something_is_looked_at_again_only_after_a_change() -> None:
    looked = (call_message("0", LOOK.name), ToolResult("0", LOOK.name, "dark"))
    changed = (call_message("2", ON.name), ToolResult("2", ON.name, "done"))
    again = (call_message("3", LOOK.name), ToolResult("3", LOOK.name, "bright"))
    elsewhere = (
        call_message("4", "assist__Other"),
        ToolResult("4", "assist__Other", "?"),
    )

    assert isinstance(judged("GetLiveContext", "", *looked), Resolved)
    assert isinstance(judged("GetLiveContext", "", *looked, *changed), Runnable)
    assert isinstance(judged("GetLiveContext", "", *looked, *changed, *again), Resolved)
    assert isinstance(judged("GetLiveContext", "", *looked, *elsewhere), Runnable)


def test_a_change_is_made_once_unless_another_came_between() -> None:
    looked = (call_message("0", LOOK.name), ToolResult("0", LOOK.name, "dark"))
    turned_on = (call_message("2", ON.name), ToolResult("2", ON.name, "done"))
    turned_off = (call_message("3", OFF.name), ToolResult("3", OFF.name, "done"))

    assert isinstance(judged("HassTurnOn", "", *turned_on, *looked), Resolved)
    assert isinstance(judged("HassTurnOn", "", *turned_on, *turned_off), Runnable)
    assert isinstance(
        judged("HassTurnOn", "", *turned_on, call_message("3", OFF.name)), Runnable
    )


def test_a_call_that_did_not_run_has_changed_nothing() -> None:
    turned_on = (call_message("2", ON.name), ToolResult("2", ON.name, "done"))
    looked = (call_message("0", LOOK.name), ToolResult("0", LOOK.name, "dark"))
    denied = (
        call_message("3", OFF.name),
        ToolResult("3", OFF.name, "No.", is_error=True, synthetic=True),
    )
    failed = (
        call_message("3", OFF.name),
        ToolResult("3", OFF.name, "TimeoutError", is_error=True),
    )

    assert isinstance(judged("HassTurnOn", "", *turned_on, *denied), Resolved)
    assert isinstance(judged("GetLiveContext", "", *looked, *denied), Resolved)
    assert isinstance(judged("HassTurnOn", "", *turned_on, *failed), Runnable), (
        "it may have done something"
    )


@given(st.text(max_size=30), st.text(max_size=60))
def test_whatever_a_model_writes_is_judged(name: str, arguments: str) -> None:
    call = judged(name, arguments)
    assert call.call.id == "1"
    assert fit_call(call.call, TOOLS, None, ()) == call or isinstance(call, Resolved)


def test_the_spellings_of_a_name_are_those_by_which_its_tool_is_found() -> None:
    on, nameless = replace(ON, name="assist__HassTurnOn"), replace(ON, name="garden__")
    assert spellings([on]) == ("assist__hassturnon", "assist_hassturnon", "hassturnon")
    assert all(find_tool(spelling, TOOLS) is ON for spelling in spellings([ON]))
    assert spellings([nameless]) == ("garden_", "garden__"), "no name is none"

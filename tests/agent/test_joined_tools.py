"""Tools that a model sees as one: what it sees, and that its calls are those of the real tools, and no more."""

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.joined_tools import (
    as_shown,
    every_part,
    joined_tools,
    shown_tools,
)
from custom_components.chatterbox.agent.json.text import parse_json
from custom_components.chatterbox.agent.loop.calls import fit_call
from custom_components.chatterbox.agent.loop.turn import Resolved, Runnable
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolGroup,
    ToolPart,
    ToolResult,
    UserMessage,
    canonical_json,
)
from tests.support.doubles import tool

_TEXT: Final[JsonObject] = {"type": "string"}
_PLAYER: Final = ToolGroup(
    "player",
    "Plays.",
    {"find": "media__find", "play": "media__play", "stop": "media__stop"},
    {"words": _TEXT},
    ("class",),
    {"find": {"player_name": "name"}},
)


def part(action: str, *names: str, required: str = "") -> ToolDefinition:
    properties: JsonObject = dict.fromkeys(names, _TEXT)
    parameters: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": [required] if required else [],
        "additionalProperties": False,
    }
    one = tool(f"media__{action}", parameters=parameters, read_only=action == "find")
    return replace(one, part=ToolPart(_PLAYER, action))


STOP: Final = part("stop", "name", "class")
FIND: Final = part("find", "player_name", "words", required="words")
OTHER: Final = tool("other")
HIDDEN: Final = replace(tool("clock"), is_listed=False)
TOOLS: Final = (HIDDEN, FIND, STOP, OTHER)


def run(
    name: str, arguments: JsonObject | str, allowed: frozenset[str] | None = None
) -> tuple[str, JsonObject] | str:
    """Return the tool that runs and its arguments, or the error of a call."""
    text = arguments if isinstance(arguments, str) else canonical_json(arguments)
    match fit_call(ToolCall("1", name, text), TOOLS, allowed, ()):
        case Runnable(tool=meant, arguments=fitted, note=note):
            assert not note
            return meant.name, fitted
        case Resolved(result=result):
            return result.content
        case other:
            raise AssertionError(other)


def test_a_model_sees_one_tool_for_several() -> None:
    other, player = shown_tools(TOOLS)

    assert other is OTHER
    assert (player.name, player.description) == ("player", "Plays.")
    assert player.parameters == {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["find", "stop"]},
            "name": _TEXT,
            "words": _TEXT,
        },
        "required": ["action"],
    }
    assert every_part([player, other]) == (player, FIND, STOP, other)


@pytest.mark.parametrize(
    "tools", [(STOP, OTHER), (OTHER,), (FIND, STOP, tool("player")), ()]
)
def test_one_alone_stays_as_it_is_and_so_do_those_whose_name_is_taken(
    tools: tuple[ToolDefinition, ...],
) -> None:
    assert joined_tools(tools) == ()
    assert shown_tools(tools) == tools


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("player", {"action": "stop", "name": "TV"}, ("media__stop", {"name": "TV"})),
        ("Player", {"action": "Stop"}, ("media__stop", {})),
        ("player", {"action": "stop", "class": "tv"}, ("media__stop", {"class": "tv"})),
        (
            "player",
            {"action": "find", "name": "TV", "words": "Abba"},
            ("media__find", {"player_name": "TV", "words": "Abba"}),
        ),
        (
            "player",
            {"action": "find", "player_name": "TV", "words": "Abba"},
            ("media__find", {"player_name": "TV", "words": "Abba"}),
        ),
        ("media__stop", {"name": "TV"}, ("media__stop", {"name": "TV"})),
        ("stop", {}, ("media__stop", {})),
        ("clock", {}, ("clock", {})),
        (
            "player",
            {"action": "find", "player_name": "TV", "name": "Radio", "words": "Abba"},
            None,
        ),
        ("player", {}, "action is one of: find, stop."),
        ("player", {"action": "other"}, "action is one of: find, stop."),
        ("player", {"action": ["stop"]}, "action is one of: find, stop."),
        ("player", "stop", None),
        ("player", {"action": "find"}, None),
        ("player", {"action": "stop", "words": "Abba"}, None),
        ("play", {}, "There is no tool 'play'. Tools: other, player."),
    ],
)
def test_a_call_of_it_is_that_of_the_tool_of_its_action(
    name: str,
    arguments: JsonObject | str,
    meant: tuple[str, JsonObject] | str | None,
) -> None:
    ran = run(name, arguments)

    assert isinstance(ran, str) if meant is None else ran == meant


def test_only_an_action_that_is_allowed_runs() -> None:
    allowed = frozenset({"media__find"})

    assert run("player", {"action": "stop"}, allowed) == (
        "The tool media__stop is not allowed in this request."
    )
    found = run("player", {"action": "find", "words": "Abba"}, allowed)
    assert found == ("media__find", {"words": "Abba"})


_ARGUMENTS: Final = st.dictionaries(
    st.sampled_from(["player_name", "words", "class"]), st.text(), max_size=3
)


@given(given=_ARGUMENTS, real=st.sampled_from([FIND, STOP]))
def test_what_a_model_sees_of_a_call_means_that_call(
    given: JsonObject, real: ToolDefinition
) -> None:
    call = ToolCall("1", real.name, canonical_json(given))
    talk = UserMessage("Hi"), AssistantMessage("Yes.", tool_calls=(call,))
    transcript = (*talk, ToolResult("1", real.name, "Done."))

    words, message, result = as_shown(transcript, shown_tools(TOOLS))
    assert words is talk[0]
    assert isinstance(message, AssistantMessage)
    assert isinstance(result, ToolResult)
    [written] = message.tool_calls
    assert (message.text, written.id, written.name) == ("Yes.", "1", "player")
    assert (result.name, result.content) == ("player", "Done.")
    arguments = parse_json(written.arguments)
    assert isinstance(arguments, dict)
    again = fit_call(written, TOOLS, None, ())
    direct = fit_call(call, TOOLS, None, ())
    assert type(again) is type(direct)
    if isinstance(again, Runnable) and isinstance(direct, Runnable):
        assert again == direct


@pytest.mark.parametrize("arguments", ["", "[1]", '{"name": "TV"'])
def test_a_call_whose_arguments_are_no_object_is_seen_as_it_was_made(
    arguments: str,
) -> None:
    call = ToolCall("1", STOP.name, arguments)
    transcript = (AssistantMessage("", tool_calls=(call,)),)

    [message] = as_shown(transcript, shown_tools(TOOLS))

    assert isinstance(message, AssistantMessage)
    assert message.tool_calls == (call,)


BARE: Final = replace(tool("home__lamp", parameters=STOP.parameters), is_bare=True)


@pytest.mark.parametrize(
    ("others", "seen"),
    [
        ((), "lamp"),
        ((OTHER, STOP), "lamp"),
        ((tool("lamp"),), "home__lamp"),
        ((tool("Lamp"),), "home__lamp"),
        ((tool("store__lamp"),), "home__lamp"),
        ((replace(tool("store__lamp"), is_listed=False),), "home__lamp"),
        ((replace(tool("store__lamp"), is_bare=True),), "home__lamp"),
    ],
)
def test_a_model_sees_a_name_without_prefix_where_no_other_tool_has_it(
    others: tuple[ToolDefinition, ...], seen: str
) -> None:
    tools = (BARE, *others)
    transcript = (
        AssistantMessage(tool_calls=(ToolCall("1", "home__lamp", "{}"),)),
        ToolResult("1", "home__lamp", "Done."),
    )

    visible = shown_tools(tools)

    assert seen in {one.name for one in visible}
    message, result = as_shown(transcript, visible)
    assert isinstance(message, AssistantMessage)
    assert isinstance(result, ToolResult)
    assert message.tool_calls == (ToolCall("1", seen, "{}"),)
    assert result.name == seen
    for name in (seen, "home__lamp"):
        fitted = fit_call(ToolCall("1", name, "{}"), tools, None, ())
        assert isinstance(fitted, Runnable)
        assert fitted.tool is BARE
    assert BARE in every_part(visible)
    assert "lamp" not in {one.name for one in every_part(visible)} - {
        one.name for one in others
    }


@pytest.mark.parametrize("name", ["script__2nd_floor", "script__-", "script__"])
def test_a_name_that_services_refuse_keeps_its_prefix(name: str) -> None:
    [seen] = shown_tools([replace(BARE, name=name)])

    assert seen.name == name


def test_a_joined_tool_tells_only_of_actions_that_are_there() -> None:
    notes = {"find": "find: by words.", "play": "play: what was found."}
    group = replace(_PLAYER, name="home__player", on_actions=notes)
    tools = [
        replace(one, part=ToolPart(group, one.part.action))
        for one in (FIND, STOP)
        if one.part
    ]

    [player] = shown_tools(tools)

    assert (player.name, player.description) == ("player", "Plays. find: by words.")

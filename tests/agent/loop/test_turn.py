"""A turn refuses input that could come to nothing."""

import re
from dataclasses import replace
from typing import Any

import pytest

from custom_components.chatterbox.agent.events import PendingApproval, PendingCall
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, say

CALL = ToolCall("1", "light_on", "{}")
SAID = UserMessage("Light!")
ASKED = AssistantMessage(tool_calls=(CALL,))
ANSWERED: Transcript = (SAID, ASKED, ToolResult("1", "light_on", "done"))


def test_the_default_bounds_are_those_of_the_design() -> None:
    limits = Limits()
    assert (limits.max_iterations, limits.max_tool_calls) == (10, 32)
    assert (limits.deadline, limits.tool_timeout) == (60, 30)


@pytest.mark.parametrize(
    "field",
    ["max_iterations", "max_tool_calls", "deadline", "tool_timeout", "approval_expiry"],
)
def test_a_bound_under_which_nothing_can_happen_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        replace(Limits(), **{field: 0})


def test_most_of_a_turns_time_is_left_for_the_model() -> None:
    assert Limits(deadline=60).preparation == 15


def test_what_was_waited_for_before_a_turn_is_a_part_of_its_time() -> None:
    assert Limits(deadline=60).after(1.5) == Limits(deadline=58.5)
    assert 0 < Limits(deadline=5).after(10).deadline < 1


@pytest.mark.parametrize(
    "history", [(), (SAID, AssistantMessage("Hello."))], ids=["empty", "answered"]
)
def test_a_turn_with_nothing_to_answer_is_refused(history: Transcript) -> None:
    with pytest.raises(ValueError, match="something to go on from"):
        Turn(None, history)


@pytest.mark.parametrize(
    "history", [(SAID,), (SAID, ASKED), ANSWERED], ids=["words", "open call", "results"]
)
def test_a_turn_may_continue_without_new_words(history: Transcript) -> None:
    assert Turn(None, history).history == history


def test_an_approval_of_nothing_is_refused() -> None:
    empty = PendingApproval("1", (), 0, 1, 0)
    with pytest.raises(ValueError, match="calls that it is about"):
        Turn("yes", approval=empty)
    pending_calls = replace(empty, calls=(PendingCall(CALL, ""),))
    assert Turn(None, approval=pending_calls).approval == pending_calls


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"chat_history": [{"role": "user", "content": "Hi"}]},
            'history takes messages: UserMessage("…")',
        ),
        ({"chat_history": "Hi"}, "not str"),
        ({"chat_history": {"role": "user"}}, "not str"),
        ({"chat_history": [SAID, None]}, "not NoneType"),
        (
            {"tools": [{"type": "function"}]},
            "tools takes the definitions of a Toolbox, not dict",
        ),
        ({"tools": [len]}, "not builtin_function_or_method"),
        (
            {"user_text": [{"role": "user", "content": "Hi"}]},
            "user_text takes the words of the user, not list",
        ),
    ],
)
async def test_input_of_other_types_is_told_what_is_taken(
    given: dict[str, Any], message: str
) -> None:
    provider = ScriptedProvider(say("Hello."))
    with pytest.raises(TypeError, match=re.escape(message)):
        await AgenticLoop(provider, ScriptedDispatcher()).run(
            **{"user_text": "x"} | given
        )
    assert provider.requests == []

"""The decision table of the state machine: from where a turn stands to what comes next."""

from copy import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import PendingCall, StopReason
from custom_components.chatterbox.agent.loop.next_step import (
    CallModel,
    ExecuteTools,
    Finish,
    InterruptForApproval,
    NextStep,
    ReturnToClient,
    next_step,
)
from custom_components.chatterbox.agent.loop.turn import (
    ClientCall,
    Limits,
    Runnable,
    Turn,
    TurnState,
    resolve,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
)
from tests.support.doubles import tool

AUTO, REQUIRED, NONE = ToolChoiceMode.AUTO, ToolChoiceMode.REQUIRED, ToolChoiceMode.NONE
LIGHT = tool("light_on")
CALL = ToolCall("1", "light_on", "{}")
RUNNABLE = Runnable(CALL, LIGHT, {})
WAITING = PendingCall(replace(CALL, id="2"), "It is risky.")
CLIENTS = ClientCall(replace(CALL, id="3"))
RESOLVED = resolve(replace(CALL, id="4"), "No.")

SAID = UserMessage("Light!")
ASKED = AssistantMessage(tool_calls=(CALL,))
RESULT = ToolResult("1", "light_on", "done")
ANSWERED: Transcript = (SAID, ASKED, RESULT)

TURN = Turn(
    "Light!",
    tools=(LIGHT,),
    limits=Limits(max_iterations=5, max_tool_calls=3, deadline=100),
)
START = TurnState(TURN, (SAID,))
AFTER_TOOLS = TurnState(
    TURN, ANSWERED, iterations=1, tool_calls=1, finish_reason=FinishReason.TOOL_CALLS
)
WITH_CALLS = replace(AFTER_TOOLS, messages=(SAID, ASKED), tool_calls=0)
WITH_ANSWER = replace(
    AFTER_TOOLS, answer=AssistantMessage("It is on."), finish_reason=FinishReason.STOP
)
MISFIT = replace(WITH_ANSWER, misfit="n is missing.")


def chosen(choice: ToolChoice) -> Turn:
    """Return the turn with another tool choice."""
    return replace(TURN, tool_choice=choice)


TABLE: dict[str, tuple[TurnState, NextStep]] = {
    # the model is asked
    "at the start": (START, CallModel(AUTO)),
    "after tools": (AFTER_TOOLS, CallModel(AUTO)),
    "going on from the caller's results": (
        TurnState(replace(TURN, user_text=None, history=ANSWERED)),
        CallModel(AUTO),
    ),
    "going on from the user's words in the history": (
        TurnState(replace(TURN, user_text=None, history=(SAID,))),
        CallModel(AUTO),
    ),
    # tool choice
    "required, first inference": (
        replace(START, turn=chosen(REQUIRED)),
        CallModel(REQUIRED),
    ),
    "required, later": (replace(AFTER_TOOLS, turn=chosen(REQUIRED)), CallModel(AUTO)),
    "one tool, first inference": (
        replace(START, turn=chosen(NamedTool("light_on"))),
        CallModel(NamedTool("light_on")),
    ),
    "one tool, later": (
        replace(AFTER_TOOLS, turn=chosen(NamedTool("light_on"))),
        CallModel(AUTO),
    ),
    "none": (replace(START, turn=chosen(NONE)), CallModel(NONE)),
    "none, and the model called even so": (
        replace(AFTER_TOOLS, turn=chosen(NONE), tool_calls=0),
        CallModel(NONE, StopReason.COMPLETED),
    ),
    "none, and the model called twice even so": (
        replace(
            AFTER_TOOLS,
            turn=chosen(NONE),
            iterations=2,
            tool_calls=0,
            last_call=StopReason.COMPLETED,
        ),
        Finish(StopReason.COMPLETED),
    ),
    # before a bound
    "one inference left": (
        replace(AFTER_TOOLS, iterations=4),
        CallModel(NONE, StopReason.MAX_ITERATIONS),
    ),
    "two inferences left": (replace(AFTER_TOOLS, iterations=3), CallModel(AUTO)),
    "a turn of one inference": (
        replace(START, turn=replace(TURN, limits=Limits(max_iterations=1))),
        CallModel(NONE, StopReason.MAX_ITERATIONS),
    ),
    "a turn of one inference without tools": (
        replace(START, turn=replace(TURN, tools=(), limits=Limits(max_iterations=1))),
        CallModel(AUTO),
    ),
    "made-up calls without tools, one inference left": (
        replace(AFTER_TOOLS, turn=replace(TURN, tools=()), iterations=4),
        CallModel(NONE, StopReason.MAX_ITERATIONS),
    ),
    "tool calls used up": (
        replace(AFTER_TOOLS, tool_calls=3),
        CallModel(NONE, StopReason.MAX_TOOL_CALLS),
    ),
    "tool calls used up, the caller has tools too": (
        replace(
            AFTER_TOOLS,
            turn=replace(TURN, tools=(LIGHT, tool("show_page", client=True))),
            tool_calls=3,
        ),
        CallModel(AUTO),
    ),
    "one tool call left": (replace(AFTER_TOOLS, tool_calls=2), CallModel(AUTO)),
    "little time left": (
        replace(AFTER_TOOLS, elapsed=75),
        CallModel(NONE, StopReason.DEADLINE),
    ),
    "time left": (replace(AFTER_TOOLS, elapsed=74.9), CallModel(AUTO)),
    "a bound beats a forced choice": (
        replace(START, turn=chosen(REQUIRED), elapsed=80),
        CallModel(NONE, StopReason.DEADLINE),
    ),
    # at a bound
    "inferences used up": (
        replace(AFTER_TOOLS, iterations=5),
        Finish(StopReason.MAX_ITERATIONS),
    ),
    "no answer in the last inference": (
        replace(AFTER_TOOLS, iterations=2, last_call=StopReason.MAX_TOOL_CALLS),
        Finish(StopReason.MAX_TOOL_CALLS),
    ),
    "time used up": (replace(AFTER_TOOLS, elapsed=100), Finish(StopReason.DEADLINE)),
    "time used up before tools": (
        replace(WITH_CALLS, open_calls=(RUNNABLE,), elapsed=100),
        Finish(StopReason.DEADLINE),
    ),
    "inference cut off": (
        replace(START, iterations=1, answer=AssistantMessage("It"), out_of_time=True),
        Finish(StopReason.DEADLINE),
    ),
    # the length of all answers
    "tokens left": (
        replace(
            AFTER_TOOLS,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=74,
        ),
        CallModel(AUTO),
    ),
    "few tokens left": (
        replace(
            AFTER_TOOLS,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=75,
        ),
        CallModel(NONE, StopReason.LENGTH),
    ),
    "just enough tokens left": (
        replace(
            AFTER_TOOLS,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=84,
        ),
        CallModel(NONE, StopReason.LENGTH),
    ),
    "no tokens left": (
        replace(
            AFTER_TOOLS,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=85,
        ),
        Finish(StopReason.LENGTH),
    ),
    "answer that took the last tokens": (
        replace(
            WITH_ANSWER,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=100,
        ),
        Finish(StopReason.COMPLETED),
    ),
    "calls that took the last tokens": (
        replace(
            WITH_CALLS,
            turn=replace(TURN, limits=Limits(max_output_tokens=100)),
            written=100,
            open_calls=(RUNNABLE,),
        ),
        ExecuteTools((RUNNABLE,)),
    ),
    "calls of a message cut by its length": (
        replace(
            WITH_CALLS,
            open_calls=(RUNNABLE, CLIENTS, WAITING),
            finish_reason=FinishReason.LENGTH,
        ),
        Finish(StopReason.LENGTH),
    ),
    "calls of a message with a strange end": (
        replace(
            WITH_CALLS,
            open_calls=(RUNNABLE, CLIENTS, WAITING),
            finish_reason=FinishReason.UNKNOWN,
        ),
        Finish(StopReason.UNKNOWN_FINISH),
    ),
    "calls of a message that was filtered": (
        replace(
            WITH_CALLS,
            open_calls=(RUNNABLE, CLIENTS, WAITING),
            finish_reason=FinishReason.CONTENT_FILTER,
        ),
        Finish(StopReason.CONTENT_FILTER),
    ),
    # data of the wrong shape
    "misfit": (MISFIT, CallModel(NONE, StopReason.OUTPUT_UNFIT, repairs=True)),
    "second misfit": (replace(MISFIT, repaired=True), Finish(StopReason.OUTPUT_UNFIT)),
    "misfit without inferences left": (
        replace(MISFIT, iterations=5),
        Finish(StopReason.OUTPUT_UNFIT),
    ),
    "misfit without time left": (
        replace(MISFIT, elapsed=100),
        Finish(StopReason.OUTPUT_UNFIT),
    ),
    "misfit without tokens left": (
        replace(
            MISFIT, turn=replace(TURN, limits=Limits(max_output_tokens=100)), written=85
        ),
        Finish(StopReason.OUTPUT_UNFIT),
    ),
    "misfit cut by its length": (
        replace(MISFIT, finish_reason=FinishReason.LENGTH),
        Finish(StopReason.LENGTH),
    ),
    # calls
    "calls": (replace(WITH_CALLS, open_calls=(RUNNABLE,)), ExecuteTools((RUNNABLE,))),
    "answered calls only": (
        replace(WITH_CALLS, open_calls=(RESOLVED,)),
        ExecuteTools((RESOLVED,)),
    ),
    "calls in the last inference": (
        replace(WITH_CALLS, open_calls=(RESOLVED,), last_call=StopReason.DEADLINE),
        ExecuteTools((RESOLVED,)),
    ),
    "those without a question first": (
        replace(WITH_CALLS, open_calls=(RUNNABLE, WAITING, RESOLVED)),
        ExecuteTools((RUNNABLE, RESOLVED)),
    ),
    "then those with one, together": (
        replace(WITH_CALLS, messages=ANSWERED, open_calls=(WAITING, WAITING)),
        InterruptForApproval((WAITING, WAITING)),
    ),
    "a question after the time was used up": (
        replace(WITH_CALLS, messages=ANSWERED, open_calls=(WAITING,), elapsed=100),
        InterruptForApproval((WAITING,)),
    ),
    "a question beside calls without time left": (
        replace(WITH_CALLS, open_calls=(RUNNABLE, WAITING), elapsed=100),
        Finish(StopReason.DEADLINE),
    ),
    "a question that the model was not done with": (
        replace(
            WITH_CALLS,
            open_calls=(WAITING,),
            finish_reason=None,
            out_of_time=True,
            elapsed=100,
        ),
        Finish(StopReason.DEADLINE),
    ),
    "a call of the client returns all": (
        replace(WITH_CALLS, open_calls=(RUNNABLE, CLIENTS, WAITING, RESOLVED)),
        ReturnToClient((RUNNABLE, CLIENTS, WAITING, RESOLVED)),
    ),
    # answers
    "answer": (WITH_ANSWER, Finish(StopReason.COMPLETED)),
    "answer that announces calls it lacks": (
        replace(WITH_ANSWER, finish_reason=FinishReason.TOOL_CALLS),
        Finish(StopReason.COMPLETED),
    ),
    "answer cut by its length": (
        replace(WITH_ANSWER, finish_reason=FinishReason.LENGTH),
        Finish(StopReason.LENGTH),
    ),
    "answer held back": (
        replace(WITH_ANSWER, finish_reason=FinishReason.CONTENT_FILTER),
        Finish(StopReason.CONTENT_FILTER),
    ),
    "answer with a strange end": (
        replace(WITH_ANSWER, finish_reason=FinishReason.UNKNOWN),
        Finish(StopReason.UNKNOWN_FINISH),
    ),
    "answer in the last inference": (
        replace(WITH_ANSWER, last_call=StopReason.MAX_ITERATIONS),
        Finish(StopReason.COMPLETED),
    ),
    "answer at the last moment": (
        replace(WITH_ANSWER, elapsed=101),
        Finish(StopReason.COMPLETED),
    ),
    # failures
    "failure": (
        replace(
            START,
            iterations=1,
            answer=AssistantMessage(),
            failure=ProviderUnreachable("gone"),
        ),
        Finish(StopReason.PROVIDER_FAILED),
    ),
    "failure after a few words, one tool required": (
        replace(
            START,
            turn=chosen(REQUIRED),
            iterations=1,
            answer=AssistantMessage("The"),
            failure=ProviderUnreachable("gone"),
        ),
        CallModel(REQUIRED, begins_anew=True),
    ),
    "failure with calls": (
        replace(
            WITH_CALLS, open_calls=(RUNNABLE,), failure=ProviderUnreachable("gone")
        ),
        Finish(StopReason.PROVIDER_FAILED),
    ),
    "prompt denied": (
        replace(START, prompt_denied="No."),
        Finish(StopReason.PROMPT_DENIED),
    ),
    "prompt denied beside an approved call": (
        replace(WITH_CALLS, open_calls=(RUNNABLE,), prompt_denied="No."),
        Finish(StopReason.PROMPT_DENIED),
    ),
}


@pytest.mark.parametrize(("state", "step"), TABLE.values(), ids=TABLE.keys())
def test_each_state_has_its_step(state: TurnState, step: NextStep) -> None:
    assert next_step(state) == step


def test_deciding_leaves_the_state_as_it_is() -> None:
    state = replace(WITH_CALLS, open_calls=(RUNNABLE, WAITING))
    before = replace(state)
    assert next_step(state) == next_step(state)
    assert state == before

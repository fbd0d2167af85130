"""A turn that asks for data: the schema is told, tools may run before, and what does not fit is asked for once more."""

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolChoiceMode,
)
from custom_components.chatterbox.agent.protocols import OutputFormat
from tests.agent.turns import collect, finished, results
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    call,
    say,
    tool,
)

COUNT = OutputFormat(
    "count",
    {
        "type": "object",
        "properties": {"lamps": {"type": "integer"}},
        "required": ["lamps"],
    },
)
TURN = Turn(
    "How many lamps are on?",
    instructions="Be exact.",
    tools=(tool("look", read_only=True),),
    output=COUNT,
)
LOOK = ToolCall("l", "look", "{}")
WRONG = "lamps is missing: expected integer."


def scripted(*inferences: list[Line]) -> tuple[ScriptedProvider, AgenticLoop]:
    """Return a loop whose model says what the script says."""
    provider = ScriptedProvider(*inferences)
    return provider, AgenticLoop(provider, ScriptedDispatcher())


async def test_the_model_is_told_the_shape_in_every_inference_and_may_call_tools_before() -> (
    None
):
    provider, loop = scripted(call(LOOK), say('{"lamps": 3}'))

    end = finished(await collect(loop, TURN))

    assert (end.stop_reason, end.text, end.misfit, end.composed) == (
        StopReason.COMPLETED,
        '{"lamps": 3}',
        "",
        False,
    )
    assert [request.output for request in provider.requests] == [COUNT, COUNT]
    assert all(
        request.instructions == f"Be exact.\n\n{COUNT.instruction}"
        for request in provider.requests
    )


async def test_data_that_does_not_fit_is_asked_for_once_more_with_what_is_wrong() -> (
    None
):
    provider, loop = scripted(call(LOOK), say('{"lamp": 3}'), say('{"lamps": 3}'))

    events = await collect(loop, TURN)

    end = finished(events)
    assert (end.stop_reason, end.text, end.misfit, end.iterations) == (
        StopReason.COMPLETED,
        '{"lamps": 3}',
        "",
        3,
    )
    assert provider.requests[-1].transcript[-1] == AssistantMessage('{"lamp": 3}')
    assert provider.requests[-1].tool_choice is ToolChoiceMode.NONE
    assert provider.requests[-1].directive == (
        f"Your answer cannot be used. {WRONG} Give the whole answer again, with that put right."
    )


async def test_no_tool_runs_while_an_answer_is_put_right() -> None:
    _, loop = scripted(say("{}"), call(LOOK))

    events = await collect(loop, TURN)

    end = finished(events)
    assert (end.stop_reason, end.misfit, end.composed) == (
        StopReason.OUTPUT_UNFIT,
        WRONG,
        True,
    )
    assert [result.synthetic for result in results(events)] == [True]


async def test_the_last_inference_is_not_asked_for_a_report() -> None:
    turn = Turn(
        "How many?", tools=TURN.tools, limits=Limits(max_tool_calls=1), output=COUNT
    )
    provider, loop = scripted(call(LOOK), say('{"lamps": 1}'))

    assert finished(await collect(loop, turn)).stop_reason is StopReason.COMPLETED
    assert provider.requests[-1].directive == (
        "Tools can no longer be used in this turn. Answer now, from what is known."
    )


async def test_who_has_to_speak_for_the_model_says_so() -> None:
    turn = Turn("How many lamps are on?")
    _, loop = scripted(say(""))

    end = finished(await collect(loop, turn))

    assert (end.text, end.composed) == ("I don't have an answer to that.", True)

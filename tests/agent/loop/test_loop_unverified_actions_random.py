"""Whatever models say and do, no unverified action is spoken, and a turn has at most one correction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import override

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.errors import AgentError, ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    AnswerWithheld,
    CompletionResult,
    MessageDone,
    Phase,
    PhaseEntered,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    ToolCall,
    ToolChoiceMode,
    ToolOutcome,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, Hooks, ResponseComposer, Rewrite
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from custom_components.chatterbox.agent.unverified_actions import reports_action
from tests.agent.turns import assert_valid, collect, finished
from tests.support.doubles import Line, ScriptedCensor, ScriptedDispatcher, ScriptedProvider, asks_for, tool

TOOLS = (
    tool("light_on"),
    tool("fails"),
    tool("look", read_only=True),
    tool("unlock"),
    tool("show_page", client=True),
)
LIE = "I've turned it on. "
WORDS = [
    LIE,
    LIE,
    "I've turned on",
    " the light.",
    " It is dark.",
    "Done! ",
    "Shall I?",
    "\n",
    " ",
    "I'll do it. ",
    "x",
    '"',
]
DELTAS = st.sampled_from(WORDS).map(TextDelta)
CALLS = st.builds(
    lambda name, number: ToolCallReady(ToolCall("", name, f'{{"n":{number}}}')),
    st.sampled_from([one.name for one in TOOLS] + ["unheard_of"]),
    st.integers(0, 9),
)
ENDS: st.SearchStrategy[Line] = st.one_of(
    st.just(CompletionResult(FinishReason.STOP)),
    st.just(CompletionResult(FinishReason.STOP)),
    st.builds(CompletionResult, st.sampled_from(FinishReason)),
    st.just(ProviderUnreachable("gone")),
)
PIECES: st.SearchStrategy[Line] = st.one_of(DELTAS, DELTAS, DELTAS, CALLS)
INFERENCES = st.one_of(
    st.builds(lambda pieces, end: [*pieces, end], st.lists(PIECES, max_size=6), ENDS),
    st.builds(lambda pieces, end: [*pieces, end], st.lists(DELTAS, max_size=3), ENDS),
)
DONE: Transcript = (
    UserMessage("Light!"),
    AssistantMessage(tool_calls=(ToolCall("h", "light_on", "{}"),)),
    ToolResult("h", "light_on", "done"),
    AssistantMessage("It is on."),
)


class Namer(ResponseComposer):
    """Says how a turn ended, and reports no action."""

    @override
    def compose(self, reason: StopReason, tool_results: Sequence[ToolResult], error: AgentError | None) -> str:
        return f"The turn ended: {reason.value}"


@dataclass(frozen=True)
class Script:
    """What happens in one turn."""

    turn: Turn
    inferences: list[list[Line]]
    hooks: list[Hooks]


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw a turn with as many inferences as its bound allows, and not one more."""
    bound = draw(st.integers(1, 5))
    hooks: list[Hooks] = [
        asks_for("unlock"),
        *draw(st.sampled_from([[], [], [ScriptedCensor(lambda text: Rewrite(text.replace("x", "Done!")))]])),
    ]
    turn = Turn(
        "Light!",
        draw(st.sampled_from([(), DONE, (*DONE, *DONE[::3])])),
        tools=draw(st.sampled_from([TOOLS, TOOLS[:3], ()])),
        tool_choice=draw(st.sampled_from([ToolChoiceMode.AUTO, *ToolChoiceMode])),
        limits=Limits(max_iterations=bound, max_tool_calls=draw(st.integers(1, 3))),
        checked_language="en",
    )
    return Script(turn, draw(st.lists(INFERENCES, min_size=bound, max_size=bound)), hooks)


async def fail(_: JsonObject) -> ToolOutcome:
    """Fail."""
    raise ValueError("broken")


def _is_correction(request: CompletionRequest) -> bool:
    return "You were about to say" in request.directive


def _assert_nothing_untrue_was_said(script: Script, events: list[TurnEvent]) -> None:
    """Hold each message, as a person hears it, against what had been done when it began."""
    reading = {one.name for one in script.turn.tools if one.annotations.read_only}
    tried: list[bool] = []
    said = ""
    for event in events:
        # Who tries something in this turn speaks no longer of what the turn before did.
        done = any(tried) if tried else script.turn.history == DONE
        match event:
            case TextDelta(text):
                said += text
                assert done or not reports_action(said, "en")
            case AnswerWithheld(text):
                assert not done
                assert reports_action(said + text, "en")
            case MessageDone():
                said = ""
            case ToolFinished(result) if result.name not in reading:
                tried.append(not (result.is_error or result.synthetic))
            case _:
                pass


def _assert_the_end_tells_of_a_report(events: list[TurnEvent]) -> None:
    begin = max((n for n, event in enumerate(events) if event == PhaseEntered(Phase.LLM_INFERENCE)), default=0)
    last = events[begin:]
    withheld = any(isinstance(event, AnswerWithheld) for event in last)
    end = finished(events).stop_reason
    if withheld and not any(isinstance(event, ToolCallReady) for event in last):
        assert end in {StopReason.UNVERIFIED_ACTION, StopReason.PROVIDER_FAILED}
    assert end is not StopReason.UNVERIFIED_ACTION or any(isinstance(event, AnswerWithheld) for event in events)


@settings(max_examples=400, deadline=None)
@given(scripts())
async def test_nothing_untrue_is_spoken_and_one_correction_is_all(script: Script) -> None:
    provider = ScriptedProvider(*script.inferences)
    loop = AgenticLoop(provider, ScriptedDispatcher({"fails": fail}), hooks=script.hooks, composer=Namer())

    events = await collect(loop, script.turn)

    _assert_nothing_untrue_was_said(script, events)
    corrections = [number for number, request in enumerate(provider.requests) if _is_correction(request)]
    assert len(corrections) <= 1
    for number in corrections:
        assert provider.requests[number].transcript == provider.requests[number - 1].transcript
        assert provider.requests[number].tool_choice is ToolChoiceMode.AUTO
    _assert_the_end_tells_of_a_report(events)
    recorder = TranscriptRecorder()
    recorder.append(UserMessage("Light!"))
    for event in events:
        recorder.add(event)
    whole = script.turn.history + recorder.messages
    for request in provider.requests:
        assert_valid(request.transcript)
        assert isinstance(request.transcript[-1], UserMessage | ToolResult)
        assert request.transcript == whole[: len(request.transcript)]


@settings(max_examples=150, deadline=None)
@given(scripts())
async def test_an_answer_without_a_report_is_spoken_as_without_the_check(script: Script) -> None:
    def honest(line: Line) -> Line:
        return TextDelta("It is dark. ") if isinstance(line, TextDelta) else line

    inferences = [[honest(line) for line in lines] for lines in script.inferences]

    async def walk(turn: Turn) -> list[TurnEvent]:
        loop = AgenticLoop(ScriptedProvider(*inferences), ScriptedDispatcher({"fails": fail}), composer=Namer())
        return [event for event in await collect(loop, turn) if not isinstance(event, TextDelta)]

    checked = await walk(script.turn)
    free = await walk(replace(script.turn, checked_language=None))

    assert [event for event in checked if not _is_unique(event)] == [event for event in free if not _is_unique(event)]


def _is_unique(event: TurnEvent) -> bool:
    """Tell whether an event has an id or a moment of its own in every run."""
    return "PendingApproval" in repr(event)

"""The walk of each kind of turn, told from its events."""

import time
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    Answer,
    PendingApproval,
    PendingCall,
    Phase,
    PromptReplaced,
    StopReason,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Deny, OutputFormat
from tests.agent.loop.loop_tools import ON, SHOW, TURN, UNLOCK
from tests.agent.turns import assert_whole, collect, finished, phases, results
from tests.support.doubles import (
    NO,
    YES,
    Line,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    never,
    say,
)

pytestmark = pytest.mark.usefixtures("loop_clock")

RECEIVE, INFER, DECIDE = Phase.RECEIVE_INPUT, Phase.LLM_INFERENCE, Phase.TOOL_DECISION
EXECUTE, AGGREGATE = Phase.TOOL_EXECUTION, Phase.RESULT_AGGREGATION
COMPOSE, OUTPUT = Phase.RESPONSE_COMPOSITION, Phase.OUTPUT
THINK = [INFER, DECIDE]
ACT = [EXECUTE, AGGREGATE]
ANSWER = [COMPOSE, OUTPUT]
NEVER = Limits(deadline=0.5)


def answer_to(decision: Answer, *, expires_in: float = 60) -> PendingApproval:
    """Return the decision about a question that was asked in an earlier turn."""
    pending = PendingApproval(
        "q",
        (PendingCall(UNLOCK, "It opens the house."),),
        time.time() + expires_in,
        1,
        0,
    )
    return replace(pending, answers={UNLOCK.id: decision})


ASKED: Transcript = (
    UserMessage("Unlock!"),
    AssistantMessage(tool_calls=(UNLOCK,)),
    ToolResult(UNLOCK.id, "unlock", "Not run yet.", synthetic=True),
)
RESUMED = replace(TURN, user_text=None, history=ASKED)
OF_THE_HOME = tuple(offered for offered in TURN.tools if not offered.client)
FOUR_CALLS = [ToolCall(str(n), "light_on", f'{{"n":{n}}}') for n in range(4)]
type Script = list[list[Line]]
WALKS: dict[str, tuple[Turn, Script, list[Phase], StopReason]] = {
    "words": (TURN, [say("Hi.")], [RECEIVE, *THINK, *ANSWER], StopReason.COMPLETED),
    "a tool": (
        TURN,
        [call(ON), say("It is on.")],
        [RECEIVE, *THINK, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "tools at once": (
        TURN,
        [call(*FOUR_CALLS), say("All on.")],
        [RECEIVE, *THINK, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "tools after one another": (
        TURN,
        [*(call(one) for one in FOUR_CALLS), say("All on.")],
        [RECEIVE, *(THINK + ACT) * 4, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "a question": (
        TURN,
        [call(UNLOCK)],
        [RECEIVE, *THINK, Phase.APPROVAL_INTERRUPT, OUTPUT],
        StopReason.APPROVAL_REQUIRED,
    ),
    "a question beside a call that needs none": (
        TURN,
        [call(UNLOCK, ON)],
        [RECEIVE, *THINK, *ACT, Phase.APPROVAL_INTERRUPT, OUTPUT],
        StopReason.APPROVAL_REQUIRED,
    ),
    "a yes": (
        replace(RESUMED, approval=answer_to(YES)),
        [say("It is open.")],
        [RECEIVE, DECIDE, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "a no": (
        replace(RESUMED, approval=answer_to(NO)),
        [say("As you wish.")],
        [RECEIVE, DECIDE, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "a yes that comes too late": (
        replace(RESUMED, approval=answer_to(YES, expires_in=-1)),
        [say("That was too late.")],
        [RECEIVE, DECIDE, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "a tool of the client": (
        TURN,
        [call(SHOW)],
        [RECEIVE, *THINK, Phase.CLIENT_INTERRUPT, OUTPUT],
        StopReason.CLIENT_TOOLS,
    ),
    "tools of the client and of ours": (
        TURN,
        [call(ON, SHOW, UNLOCK)],
        [RECEIVE, *THINK, Phase.CLIENT_INTERRUPT, OUTPUT],
        StopReason.CLIENT_TOOLS,
    ),
    "the client's results": (
        replace(
            TURN,
            user_text=None,
            history=(
                UserMessage("Page!"),
                AssistantMessage(tool_calls=(SHOW,)),
                ToolResult("3", "show_page", "ok"),
            ),
        ),
        [say("There it is.")],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "inferences used up": (
        replace(TURN, limits=Limits(max_iterations=2)),
        [call(ON), call(replace(ON, id="9"))],
        [RECEIVE, *THINK, *ACT, *THINK, *ACT, *ANSWER],
        StopReason.MAX_ITERATIONS,
    ),
    "tool calls used up": (
        replace(TURN, tools=OF_THE_HOME, limits=Limits(max_tool_calls=2)),
        [call(*FOUR_CALLS), call(replace(ON, id="9"))],
        [RECEIVE, *THINK, *ACT, *THINK, *ACT, *ANSWER],
        StopReason.MAX_TOOL_CALLS,
    ),
    "no time left in an inference": (
        replace(TURN, limits=NEVER),
        [[TextDelta("Well"), never]],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.DEADLINE,
    ),
    "length": (
        TURN,
        [say("It", FinishReason.LENGTH)],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.LENGTH,
    ),
    "calls before a message ends by its length": (
        TURN,
        [[ToolCallReady(ON), *say("", FinishReason.LENGTH)]],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.LENGTH,
    ),
    "no model": (
        TURN,
        [[ProviderUnreachable("gone")]],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.PROVIDER_FAILED,
    ),
    "the model gone after a tool": (
        TURN,
        [call(ON), [ProviderUnreachable("gone")]],
        [RECEIVE, *THINK, *ACT, *THINK, *ANSWER],
        StopReason.PROVIDER_FAILED,
    ),
    "the model gone amid its calls": (
        TURN,
        [[ToolCallReady(ON), ProviderUnreachable("gone")]],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.PROVIDER_FAILED,
    ),
    "no tools wanted, called even so": (
        replace(TURN, tool_choice=ToolChoiceMode.NONE),
        [call(ON)],
        [RECEIVE, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
    "no tools wanted, called even so before data was given": (
        replace(
            TURN,
            tool_choice=ToolChoiceMode.NONE,
            output=OutputFormat("data", {"type": "object"}),
        ),
        [call(ON), say("{}")],
        [RECEIVE, *THINK, *ACT, *THINK, *ANSWER],
        StopReason.COMPLETED,
    ),
}


@pytest.mark.parametrize(
    ("turn", "script", "walk", "reason"), WALKS.values(), ids=WALKS.keys()
)
async def test_each_kind_of_turn_has_its_walk(
    turn: Turn, script: Script, walk: list[Phase], reason: StopReason
) -> None:
    provider = ScriptedProvider(*script)

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[asks_for("unlock")]), turn
    )

    assert phases(events) == walk
    assert finished(events).stop_reason is reason
    assert len(provider.requests) == len(script)
    assert provider.open_streams == 0


@pytest.mark.parametrize(
    ("spoken_text", "answer"),
    [("It is on.", "It is on."), (" ", "I don't have an answer to that.")],
)
async def test_what_is_said_beside_an_unwanted_call_is_the_answer(
    spoken_text: str, answer: str
) -> None:
    """The caller has asked for words without calls: it is not asked for them twice, and the call does not run."""
    turn = replace(TURN, tool_choice=ToolChoiceMode.NONE)
    provider, dispatcher = (
        ScriptedProvider(call(ON, text=spoken_text)),
        ScriptedDispatcher(),
    )

    events = await collect(AgenticLoop(provider, dispatcher), turn)

    assert (finished(events).stop_reason, finished(events).text) == (
        StopReason.COMPLETED,
        answer,
    )
    assert dispatcher.started == []
    [result] = results(events)
    assert "Not run" in result.content
    assert_whole(events, turn)


async def test_words_that_a_hook_refuses_reach_no_model() -> None:
    provider = ScriptedProvider()
    deny = ScriptedHooks(prompt=lambda _: Deny("Not to a stranger."))

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher(), hooks=[deny]), TURN
    )

    assert phases(events) == [RECEIVE, *ANSWER]
    assert finished(events).stop_reason is StopReason.PROMPT_DENIED
    assert finished(events).text == "Not to a stranger."
    assert PromptReplaced("(These words were withheld.)") in events
    assert "Light!" not in str(events), (
        "nor those of a later turn, which gets the history"
    )


@pytest.mark.parametrize(
    ("guards", "handed_out"), [(None, ()), (True, ()), (False, (SHOW,))]
)
async def test_hooks_see_what_is_handed_out_unless_the_caller_says_otherwise(
    handed_out: tuple[ToolCall, ...], *, guards: bool | None
) -> None:
    turn = TURN if guards is None else replace(TURN, guards_client_calls=guards)
    hook = ScriptedHooks(before=lambda *_: Deny("Nobody looks at this."))
    loop = AgenticLoop(
        ScriptedProvider(call(SHOW), say("Never mind.")),
        ScriptedDispatcher(),
        hooks=[hook],
    )

    events = await collect(loop, turn)

    assert finished(events).client_calls == handed_out

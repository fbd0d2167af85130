"""Conversations of random turns, tools, hooks and bounds keep what is promised of every one."""

from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.conversation.own_words import (
    as_models_read,
    without_declined,
)
from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    Answer,
    CompletionResult,
    PromptReplaced,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    NamedTool,
    ToolCall,
    ToolChoiceMode,
    ToolOutcome,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    AnswerOptions,
    Ask,
    Deny,
    Rewrite,
)
from custom_components.chatterbox.agent.transcript import TranscriptRecorder, repair
from tests.agent.turns import assert_valid, collect, finished
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    tool,
)
from tests.support.thorough import some_examples

NUMBER: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "additionalProperties": False,
}
YES = Answer(approved=True)
TOOLS = (
    tool("home__on", parameters=NUMBER),
    tool("home__off", parameters=NUMBER),
    tool("home__look", parameters=NUMBER, read_only=True, open_world=True),
    tool("home__next", parameters=NUMBER, repeatable=True),
    tool("home__fails", parameters=NUMBER, open_world=True),
    tool("show_page", parameters=NUMBER, client=True),
)
NAMES = [one.name for one in TOOLS]


async def fails(_: JsonObject) -> ToolOutcome:
    """Fail."""
    raise ValueError("broken")


async def refuses(_: JsonObject) -> ToolOutcome:
    """Answer with an error."""
    return ToolOutcome("no", is_error=True)


type Opinion = Deny | Ask | None
type Decision = Opinion | Rewrite[JsonObject]

CALLS = st.builds(
    ToolCallReady,
    st.builds(
        ToolCall,
        st.sampled_from(["", "1", "2", "3"]),
        st.sampled_from([*NAMES, "on", "LOOK", "unheard_of"]),
        st.sampled_from(
            ["{}", "", '{"n":1}', '{"n":"1"}', '{"n": ""}', "{", "[]", '{"n":"x"}']
        ),
    ),
)
PIECES = st.one_of(
    CALLS,
    CALLS,
    st.sampled_from(["It is on.", "\n", " "]).map(TextDelta),
    st.just(ReasoningDelta("Hm.")),
)
ENDS = st.one_of(
    st.builds(
        CompletionResult,
        st.sampled_from(FinishReason),
        st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    ),
    st.builds(CompletionResult, st.sampled_from(FinishReason)),
    st.just(ProviderUnreachable("gone")),
    st.none(),
)
INFERENCES = st.tuples(st.lists(PIECES, max_size=5), ENDS)
DECISIONS: st.SearchStrategy[Decision] = st.sampled_from(
    [
        None,
        None,
        None,
        Deny("No."),
        Ask("Sure?", "a"),
        Ask("", "b"),
        Rewrite({"n": "1"}),
        Rewrite({"n": "x"}),
    ]
)
OPINIONS: st.SearchStrategy[Opinion] = st.sampled_from(
    [None, None, Deny("Not now."), Ask("Sure?", "a"), Ask("Sure?", "b"), Ask("Sure?")]
)
BY_HOOK = st.tuples(
    st.dictionaries(st.sampled_from(NAMES), DECISIONS),
    st.dictionaries(st.sampled_from(NAMES), OPINIONS),
)
ANSWERS = st.sampled_from([YES, YES, Answer(approved=False, reason="No."), None])


@dataclass(frozen=True)
class Script:
    """The events of one turn."""

    inferences: list[
        tuple[list[TurnEvent], CompletionResult | ProviderUnreachable | None]
    ]
    limits: Limits
    choice: ToolChoiceMode | NamedTool
    allowed: frozenset[str] | None
    hooks: list[tuple[dict[str, Decision], dict[str, Opinion]]]
    """The verdict of each on the calls of a tool, before the question and after it."""
    prompt: Deny | Rewrite[str] | None
    answers: list[Answer | None]
    brings_results: bool
    speaks: bool
    one_by_one: bool

    def provider(self) -> ScriptedProvider:
        """Return a provider that fails the test when it is asked too often."""
        return ScriptedProvider(
            *(self._lines(pieces, end) for pieces, end in self.inferences)
        )

    def hook(
        self, now: dict[str, Decision], later: dict[str, Opinion]
    ) -> ScriptedHooks:
        """Return a hook that decides so."""
        return ScriptedHooks(
            prompt=lambda _: self.prompt,
            before=lambda name, _: now.get(name),
            approved=lambda name, _: later.get(name),
        )

    def _lines(
        self,
        pieces: list[TurnEvent],
        end: CompletionResult | ProviderUnreachable | None,
    ) -> list[Line]:
        ids: set[str] = set()
        lines: list[Line] = []
        for piece in pieces:
            match piece:
                case ToolCallReady(call):
                    unique = call.id if call.id not in ids else f"{call.id}{len(ids)}"
                    ids.add(unique)
                    lines.append(ToolCallReady(replace(call, id=unique)))
                case TextDelta() | ReasoningDelta():
                    lines.append(piece)
                case _:
                    raise AssertionError(piece)
        return [*lines, end] if end else lines


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw what happens in one turn: as many inferences as its bound allows, and not one more."""
    bound = draw(st.integers(1, 4))
    return Script(
        inferences=draw(st.lists(INFERENCES, min_size=bound, max_size=bound)),  # type: ignore[arg-type]  # pieces are events
        limits=Limits(
            bound,
            draw(st.integers(1, 4)),
            max_output_tokens=draw(st.none() | st.integers(16, 60)),
        ),
        choice=draw(
            st.sampled_from(
                [ToolChoiceMode.AUTO, *ToolChoiceMode, NamedTool("home__on")]
            )
        ),
        allowed=draw(st.none() | st.frozensets(st.sampled_from(NAMES))),
        hooks=draw(st.lists(BY_HOOK, max_size=2)),
        prompt=draw(st.sampled_from([None, None, Rewrite("Please!"), Deny("No.")])),
        answers=draw(st.lists(ANSWERS, min_size=8, max_size=8)),
        brings_results=draw(st.booleans()),
        speaks=draw(st.booleans()),
        one_by_one=draw(st.booleans()),
    )


class Conversation:
    """A caller that keeps the history, asks for approvals and runs its own tools."""

    def __init__(self) -> None:
        self.history: Transcript = ()
        self.last: TurnFinished | None = None

    async def take(self, script: Script) -> None:
        """Take a turn, and check what is promised of it."""
        turn = self._turn(script)
        provider = script.provider()
        dispatcher = ScriptedDispatcher(
            {"home__fails": fails, "home__off": refuses},
            lambda name, _: None if name == "home__off" else frozenset(),
        )
        hooks = [script.hook(now, later) for now, later in script.hooks]
        events = await collect(AgenticLoop(provider, dispatcher, hooks=hooks), turn)
        self._fold(turn, events, provider)
        self._check_what_ran(turn, dispatcher)
        self._check_wishes(turn, provider, dispatcher, finished(events))
        self.last = finished(events)

    def _turn(self, script: Script) -> Turn:
        turn = Turn(
            "Go!",
            self.history,
            tools=TOOLS,
            tool_choice=script.choice,
            allowed_tools=script.allowed,
            limits=script.limits,
            options=AnswerOptions(parallel_tool_calls=not script.one_by_one),
        )
        if self.last and self.last.pending:
            ids = [pending_call.call.id for pending_call in self.last.pending.calls]
            decisions = {
                call_id: answer
                for call_id, answer in zip(ids, script.answers, strict=False)
                if answer
            }
            words = "Yes" if script.speaks else None
            return replace(
                turn,
                user_text=words,
                approval=replace(self.last.pending, answers=decisions),
            )
        if self.last and self.last.client_calls and script.brings_results:
            results = tuple(
                ToolResult(call.id, call.name, "shown")
                for call in self.last.client_calls
            )
            return replace(turn, user_text=None, history=self.history + results)
        return turn

    def _fold(
        self, turn: Turn, events: list[TurnEvent], provider: ScriptedProvider
    ) -> None:
        """Fold the events as a surface does; every request has to be the beginning of what comes out."""
        recorder = TranscriptRecorder()
        words = next(
            (event.text for event in events if isinstance(event, PromptReplaced)),
            turn.user_text,
        )
        if words is not None:
            recorder.append(UserMessage(words))
        for event in events:
            recorder.add(event)
        whole = repair(turn.history) + recorder.messages
        begun = len(repair(turn.history)) + (words is not None)
        readable = as_models_read((*without_declined(whole[:begun]), *whole[begun:]))
        for request in provider.requests:
            assert_valid(request.transcript)
            assert isinstance(request.transcript[-1], UserMessage | ToolResult)
            assert request.transcript == readable[: len(request.transcript)]
            assert [one.name for one in request.tools] == sorted(NAMES)
        for request in provider.requests[1:]:
            is_asked_again = request.transcript == provider.requests[0].transcript
            assert is_asked_again or request.tool_choice in {
                ToolChoiceMode.AUTO,
                ToolChoiceMode.NONE,
            }
        assert all(not request.directive for request in provider.requests[:-2])
        self.history = whole
        assert_valid(repair(self.history))

    def _check_wishes(
        self,
        turn: Turn,
        provider: ScriptedProvider,
        dispatcher: ScriptedDispatcher,
        end: TurnFinished,
    ) -> None:
        sent = [request.options.max_output_tokens for request in provider.requests]
        bound = turn.limits.max_output_tokens
        if bound is None:
            assert not any(sent)
        else:
            assert all(left is not None and 16 <= left <= bound for left in sent)
            assert sent[:1] in ([], [bound])
            assert sent == sorted(sent, key=lambda left: -(left or 0))
        if not turn.options.parallel_tool_calls:
            assert len(end.client_calls) <= 1
            assert dispatcher.most == min(1, len(dispatcher.started))

    def _check_what_ran(self, turn: Turn, dispatcher: ScriptedDispatcher) -> None:
        ran = dispatcher.started
        assert dispatcher.running == 0
        assert all(
            turn.allowed_tools is None or call.name in turn.allowed_tools
            for call in ran
        )
        assert turn.tool_choice is not ToolChoiceMode.NONE or not ran
        changes = [
            call.key for call in ran if call.name not in {"home__look", "home__next"}
        ]
        again = [one for one, other in pairwise(changes) if one == other]
        between = [call for call in ran if call.name == "home__next"]
        assert not again or between, (
            "only something that was changed since makes a second time meant"
        )
        assert all(call.arguments in {"{}", '{"n":1}'} for call in ran)


@settings(max_examples=some_examples(150))
@given(st.lists(scripts(), min_size=1, max_size=4))
async def test_conversations_keep_what_is_promised(turns: list[Script]) -> None:
    conversation = Conversation()
    for script in turns:
        await conversation.take(script)

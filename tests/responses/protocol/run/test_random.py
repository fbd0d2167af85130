"""Whatever happens in a turn, and wherever it breaks off, its stream keeps what is promised of every one."""

from contextlib import aclosing
from dataclasses import replace

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.errors import ProviderBusy
from custom_components.chatterbox.agent.events import (
    Answer,
    ApprovalRequested,
    CompletionResult,
    PendingApproval,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    ProviderItem,
    ToolCall,
    ToolOutcome,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    Ask,
    Deny,
    OutputFormat,
    Rewrite,
)
from custom_components.chatterbox.agent.transcript import open_calls, repair
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    ToolsOffered,
)
from custom_components.chatterbox.responses.protocol.errors import internal_error
from custom_components.chatterbox.responses.protocol.run import ResponseStream
from tests.agent.turns import assert_valid
from tests.responses.protocol.answered import objects
from tests.responses.protocol.asked import asked_with, plan_of
from tests.responses.protocol.valid_stream import ValidStream
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    tool,
)
from tests.support.thorough import some_examples

YES = Answer(approved=True)
TOOLS = (
    tool("on"),
    tool("look", read_only=True),
    tool("peek", read_only=True),
    tool("fails"),
    tool("show_page", client=True),
)
OFFERED = ToolsOffered(
    {"assist": TOOLS[:2], "weather": TOOLS[2:3]}, {"broken": "It does not answer."}
)
DATA = OutputFormat(
    "data",
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)


async def fails(_: JsonObject) -> ToolOutcome:
    """Fail."""
    raise ValueError("broken")


CALLS = st.builds(
    ToolCall,
    st.sampled_from(["", "1", "2", "3"]),
    st.sampled_from([*(one.name for one in TOOLS), "unheard_of"]),
    st.sampled_from(["{}", "", '{"n":1}', '{"n":2}', "{", "[]"]),
)
PIECES = st.one_of(
    CALLS.map(ToolCallReady),
    CALLS.map(ToolCallReady),
    st.sampled_from(["It is on.", "\n", '{"n":1}']).map(TextDelta),
    st.just(ReasoningDelta("Hm.")),
)
ENDS = st.one_of(
    st.builds(
        CompletionResult,
        st.sampled_from([FinishReason.STOP, *FinishReason]),
        st.builds(Usage, *[st.integers(0, 9)] * 4),
        st.sampled_from([(), (ProviderItem("format", {"signature": "s"}),)]),
    ),
    st.just(ProviderBusy("later", 1)),
    st.none(),
)
INFERENCES = st.tuples(st.lists(PIECES, max_size=5), ENDS)
REQUESTS = st.builds(
    lambda labels, **changes: replace(asked_with(TOOLS[-1], labels=labels), **changes),
    st.lists(st.sampled_from(["assist", "weather", "broken", "nothing"]), unique=True),
    reasoning_summary=st.sampled_from([None, "auto"]),
    include_encrypted_reasoning=st.booleans(),
    pauses_for_functions=st.booleans(),
    output=st.sampled_from([None, None, DATA]),
)
LIMITS = st.builds(
    Limits, max_iterations=st.integers(1, 4), max_tool_calls=st.integers(1, 4)
)
DECISIONS = st.sampled_from(
    [None, None, Ask("Sure?"), Ask("Sure?"), Deny("No."), Rewrite[JsonObject]({"n": 3})]
)
HOOKS = st.dictionaries(st.sampled_from(["on", "look", "fails"]), DECISIONS)
PROMPTS = st.sampled_from([None, None, None, Rewrite("Please!"), Deny("No.")])
ANSWERS = st.lists(
    st.sampled_from([YES, YES, Answer(approved=False, reason="No."), None]),
    min_size=8,
    max_size=8,
)


class Chain:
    """A client that goes on from one response to the next, with functions and approvals."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.history: Transcript = ()
        self.pending: PendingApproval | None = None
        self.listed: frozenset[str] = frozenset()

    async def continue_(self) -> None:
        """Ask for a response; cut it off now and then."""
        request, limits = self.data.draw(REQUESTS), self.data.draw(LIMITS)
        approval = self._approval()
        stream = ResponseStream(plan_of(request, listed=self.listed, approval=approval))
        turn = Turn(
            None if approval else "Go!",
            self.history,
            tools=TOOLS,
            limits=limits,
            output=request.output,
            approval=self._answer(approval),
        )
        events = await self._answered(stream, turn)
        self._check_messages(stream, events)
        self.history = repair(
            (
                *self.history,
                *([] if approval else [UserMessage("Go!")]),
                *stream.messages,
            )
        )
        assert_valid(self.history)

    def _approval(self) -> ApprovalDecisions | None:
        if self.pending is None:
            return None
        answers = enumerate(self.data.draw(ANSWERS)[: len(self.pending.calls)])
        return ApprovalDecisions(
            self.pending.id, {index: answer for index, answer in answers if answer}
        )

    def _answer(self, approval: ApprovalDecisions | None) -> PendingApproval | None:
        if self.pending is None or approval is None:
            return None
        ids = [pending_call.call.id for pending_call in self.pending.calls]
        return replace(
            self.pending,
            answers={ids[index]: one for index, one in approval.decisions.items()},
        )

    async def _answered(self, stream: ResponseStream, turn: Turn) -> list[TurnEvent]:
        """Take the turn as far as it goes; return what happened."""
        now, prompt = self.data.draw(HOOKS), self.data.draw(PROMPTS)
        hooks = [
            ScriptedHooks(prompt=lambda _: prompt, before=lambda name, _: now.get(name))
        ]
        dispatcher = ScriptedDispatcher({"fails": fails})
        loop = AgenticLoop(
            ScriptedProvider(*self._script(turn.limits)), dispatcher, hooks=hooks
        )
        last = self.data.draw(st.integers(0, 60), label="events until it is cut off")
        checked, happened = ValidStream(), list[TurnEvent]()

        def check(sent: list[JsonObject]) -> None:
            for one in sent:
                checked.take(one)

        check(stream.begin(queued=self.data.draw(st.booleans())))
        check(stream.feed(replace(OFFERED, question=self.pending)))
        async with aclosing(loop.stream(turn)) as events:
            async for event in events:
                if len(happened) == last:
                    break
                happened.append(event)
                check(stream.feed(event))
                assert_valid(repair(stream.messages))
        check(stream.fail(internal_error()) if last % 2 else stream.cancel())
        response = checked.end()
        assert response == stream.resource
        self._check_labels(response)
        return happened

    def _script(self, limits: Limits) -> list[list[Line]]:
        script: list[list[Line]] = []
        for _ in range(limits.max_iterations):
            pieces, end = self.data.draw(INFERENCES)
            ids: set[str] = set()
            lines: list[Line] = []
            for piece in pieces:
                if isinstance(piece, ToolCallReady):
                    unique = (
                        piece.call.id
                        if piece.call.id not in ids
                        else f"{piece.call.id}{len(ids)}"
                    )
                    ids.add(unique)
                    lines.append(ToolCallReady(replace(piece.call, id=unique)))
                else:
                    lines.append(piece)
            script.append([*lines, end] if end else lines)
        return script

    def _check_labels(self, response: JsonObject) -> None:
        """Invariants 12, 50: a list for each label, once in a chain."""
        labels = [
            str(one["server_label"])
            for one in objects(response["output"])
            if one["type"] == "mcp_list_tools"
        ]
        assert len(set(labels)) == len(labels)
        assert self.listed.isdisjoint(labels)
        self.listed |= set(labels) - {"broken"}

    def _check_messages(self, stream: ResponseStream, events: list[TurnEvent]) -> None:
        """Check that what is kept is what is shown, and that only functions of the client have no result yet."""
        end = events[-1] if events and isinstance(events[-1], TurnFinished) else None
        self.pending = end.pending if end else None
        items = objects(stream.resource["output"])
        handed_out = [
            str(one["call_id"]) for one in items if one["type"] == "function_call"
        ]
        assert [call.id for call in open_calls(stream.messages)] == handed_out
        assert (stream.resource["status"] == "requires_action") <= bool(handed_out)
        requests = [one for one in items if one["type"] == "mcp_approval_request"]
        questions = [
            one.pending for one in events if isinstance(one, ApprovalRequested)
        ]
        assert len(requests) == sum(len(question.calls) for question in questions)
        pending_call = {
            one.result.call_id
            for one in events
            if isinstance(one, ToolFinished) and one.awaits_approval
        }
        calls = [
            call
            for one in stream.messages
            if isinstance(one, AssistantMessage)
            for call in one.tool_calls
        ]
        names = [
            str(one["name"])
            for one in items
            if one["type"] in {"mcp_call", "function_call"}
        ]
        remaining = iter([call.name for call in calls])
        assert all(name in remaining for name in names), (
            "calls are shown in their order"
        )
        not_run = {
            one.call_id
            for one in stream.messages
            if isinstance(one, ToolResult) and (one.is_error or one.synthetic)
        }
        assert len(names) >= len(
            [call for call in calls if call.id not in pending_call | not_run]
        ), "all that ran is shown"
        if end is not None and end.stop_reason is not StopReason.PROVIDER_FAILED:
            assert stream.resource["status"] not in {"failed", "cancelled"}


@settings(max_examples=some_examples(75))
@given(st.data())
async def test_every_stream_is_valid_wherever_it_ends(data: st.DataObject) -> None:
    """Invariants 6, 7, 8, 10, 11, 12, 13, 15, 20, 30, 45, 48, 50, 57, 59, 63."""
    chain = Chain(data)
    for _ in range(data.draw(st.integers(1, 3))):
        await chain.continue_()

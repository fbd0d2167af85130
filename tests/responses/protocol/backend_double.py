"""A backend in memory: it drives the real loop with scripted models, and keeps responses.

It keeps the contracts of `responses/protocol/backend.py`, records what it was given,
and knows nothing of the service's inside.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from custom_components.chatterbox.agent.events import PendingApproval, TurnFinished
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    ToolDefinition,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Hooks, LLMProvider
from custom_components.chatterbox.history.store.records import ResponseRecord
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    BackendEvent,
    Caller,
    ModelInfo,
    ResponseStore,
    ToolsOffered,
    TurnRequest,
)
from custom_components.chatterbox.responses.protocol.errors import (
    ApiError,
    ErrorType,
    invalid,
)
from tests.agent.turns import assert_valid
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider

KITCHEN = "conversation.kitchen"
ANNA, BEN = Caller("anna"), Caller("ben")


class MemoryStore:
    """Keeps records in memory; `is_down` makes it unreachable."""

    def __init__(self) -> None:
        self.records: dict[str, ResponseRecord] = {}
        self.spoken: dict[str, tuple[Caller, Transcript]] = {}
        """The transcripts of conversations that went on elsewhere."""
        self.is_down = False
        self.puts = 0

    async def put(self, record: ResponseRecord) -> None:
        """Store it, unless nobody can."""
        self.puts += 1
        await asyncio.sleep(0)
        if not self.is_down:
            self.records[record.id] = record

    async def get(self, response_id: str) -> ResponseRecord | None:
        """Return it, whoever asked."""
        self._require()
        return self.records.get(response_id)

    async def chain(
        self, conversation_id: str, newest: int | None = None
    ) -> Mapping[str, ResponseRecord]:
        """Return what has the id in common."""
        self._require()
        found = [
            record
            for record in self.records.values()
            if record.conversation_id == conversation_id
        ]
        return {
            record.id: record
            for record in (found if newest is None else found[-newest:])
        }

    async def delete(self, response_id: str) -> None:
        """Forget it."""
        self._require()
        self.records.pop(response_id, None)

    async def conversation(
        self, conversation_id: str, caller: Caller
    ) -> Transcript | None:
        """Return what was said, otherwise and here."""
        self._require()
        owner, spoken = self.spoken.get(conversation_id, (caller, ()))
        records = [
            record
            for record in self.records.values()
            if record.conversation_id == conversation_id
        ]
        if owner != caller or any(
            record.user_id != caller.user_id for record in records
        ):
            return None
        return spoken + tuple(
            message for record in records for message in record.messages
        )

    def _require(self) -> None:
        if self.is_down:
            raise ApiError(
                "The store is down.",
                status=503,
                kind=ErrorType.SERVER,
                code="store_unavailable",
            )


@dataclass
class BackendDouble:
    """One agent by default, whose model plays a script, and whose tools succeed."""

    provider: LLMProvider = field(default_factory=ScriptedProvider)
    dispatcher: ScriptedDispatcher = field(default_factory=ScriptedDispatcher)
    hooks: Sequence[Hooks] = ()
    tools: dict[str, tuple[ToolDefinition, ...]] = field(default_factory=dict)
    """By server label."""
    cards: list[ModelInfo] = field(
        default_factory=lambda: [ModelInfo(KITCHEN, 1_700_000_000)]
    )
    memory: MemoryStore = field(default_factory=MemoryStore)
    limits: Limits = field(default_factory=Limits)
    summary: str = "They spoke of lamps."
    turns: list[TurnRequest] = field(default_factory=list)
    compacted: list[tuple[str, Transcript, str]] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    questions: dict[str, tuple[Caller, PendingApproval]] = field(default_factory=dict)
    taking: int = 0
    """Turns under way."""

    def agents(self) -> Sequence[ModelInfo]:
        """Return the cards."""
        return self.cards

    def store(self, agent: str) -> ResponseStore | None:
        """Return the memory, where the agent keeps anything."""
        return (
            self.memory
            if any(card.id == agent and card.stores_responses for card in self.cards)
            else None
        )

    def stores(self) -> Sequence[ResponseStore]:
        """Return the memory."""
        return [self.memory]

    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        """Take a turn with the real loop."""
        assert_valid(turn.transcript)
        self.turns.append(turn)
        self.taking += 1
        try:
            offered = self._offered(turn)
            answer = self._answer(turn)
            yield replace(offered, question=answer)
            loop = AgenticLoop(self.provider, self.dispatcher, hooks=self.hooks)
            async with aclosing(
                loop.stream(_loop_turn(turn, offered, answer, self.limits))
            ) as events:
                async for event in events:
                    if isinstance(event, TurnFinished) and event.pending is not None:
                        self.questions[event.pending.id] = turn.caller, event.pending
                    yield event
        finally:
            self.taking -= 1

    async def compact(
        self, agent: str, transcript: Transcript, instructions: str
    ) -> tuple[str, Usage]:
        """Return the test's words."""
        self.compacted.append((agent, transcript, instructions))
        return self.summary, Usage(20, 7)

    def start(self, work: Coroutine[object, object, None], name: str) -> None:
        """Begin at once."""
        task = asyncio.Task(_awaiting(work), name=name, eager_start=True)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def shut_down(self) -> None:
        """End what runs in the background."""
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _offered(self, turn: TurnRequest) -> ToolsOffered:
        if turn.hosted is None:
            return ToolsOffered(self.tools)
        wanted: dict[str, Sequence[ToolDefinition]] = {}
        for hosted in turn.hosted:
            if hosted.server_label not in self.tools:
                raise invalid(f"No label {hosted.server_label}.", "tools")
            tools = self.tools[hosted.server_label]
            wanted[hosted.server_label] = [
                one
                for one in tools
                if hosted.allowed is None or hosted.allowed.takes(one)
            ]
        return ToolsOffered(wanted)

    def _answer(self, turn: TurnRequest) -> PendingApproval | None:
        if (approval := turn.approval) is None:
            return None
        caller, pending = self.questions.get(approval.pending_id, (None, None))
        if pending is None or caller != turn.caller or pending.expires_at < time.time():
            raise invalid(
                "There is no such question.", "input", "approval_continuation_invalid"
            )
        del self.questions[approval.pending_id]
        return _answer_to(pending, approval)


async def _awaiting(work: Coroutine[object, object, None]) -> None:
    await work


def _answer_to(
    pending: PendingApproval, approval: ApprovalDecisions
) -> PendingApproval:
    decisions = {
        pending.calls[index].call.id: decision
        for index, decision in approval.decisions.items()
        if index < len(pending.calls)
    }
    return replace(pending, answers=decisions)


def _loop_turn(
    turn: TurnRequest,
    offered: ToolsOffered,
    answer: PendingApproval | None,
    limits: Limits,
) -> Turn:
    backend = tuple(tool for tools in offered.tools.values() for tool in tools)
    spoken = turn.transcript[-1] if turn.transcript else None
    words = spoken if isinstance(spoken, UserMessage) else None
    if turn.max_tool_calls is not None:
        limits = replace(
            limits, max_tool_calls=min(turn.max_tool_calls, limits.max_tool_calls)
        )
    return Turn(
        words.text if words else None,
        turn.transcript[:-1] if words else turn.transcript,
        turn.instructions,
        tuple(sorted((*backend, *turn.functions), key=lambda tool: tool.name)),
        limits=replace(limits, max_output_tokens=turn.max_output_tokens),
        approval=answer,
        context=words.context if words else "",
        attachments=words.attachments if words else (),
        output=turn.output,
        options=turn.options,
        may_be_shortened=turn.may_be_shortened,
    )

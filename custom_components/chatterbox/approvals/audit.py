"""Tells of each call of a turn that changed something, or would have: who, where, how it was approved, how it ended.

Knows the events of a turn, how its calls were judged, and the answer it began with. Must not know how a turn is run or
how calls are judged. That calls wait, and what else comes of a question, is told by `approvals/question_audit.py`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never, override

from homeassistant.core import Context, callback

from ..agent.events import MessageDone, PendingCall, ToolCallReady, ToolFinished, ToolStarted, TurnEvent
from ..agent.messages import (
    JsonObject,
    JsonValue,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from ..agent.protocols import Hooks
from ..const import LOGGER
from ..effects.effect import Annotated, Effects
from ..records.report import shown_arguments
from ..records.tool_answer import entities_done, error_text
from ..settings.rules import Verdict
from .change_record import ApprovalWay, AuditedCall, ChangeOutcome, ChangeRecord, approval_by
from .change_words import ChangeTexts, async_fire_change
from .guard import CallGuard, EffectsOf, GuardedCall, GuardOutcome, Refusal
from .questions import AskedCall, GivenAnswer, Question

_PATIENCE: Final = 2.0
"""Seconds to find out what a refused call would have done."""
_RAN: Final = frozenset({ChangeOutcome.DONE, ChangeOutcome.FAILED, ChangeOutcome.INTERRUPTED})
_LEAST_SAFE: Final = Annotated(ToolAnnotations())
"""What is taken to be done by a call of which nobody can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTurn:
    """What has to be known of a turn to tell what its calls came to."""

    origin: Mapping[str, JsonValue]
    """See `turn_events.turn_origin`."""
    context: Context
    """In which its calls run."""
    answered: tuple[Question, GivenAnswer] | None = None
    """The question that the turn brings an answer to."""
    denied: Sequence[PendingCall] = ()
    """The calls of it that somebody has said no to, beside a yes to others."""


class CallAudit(Hooks):
    """Follows the calls of one turn.

    Where others see calls before the guard does, it is a hook before them, to know of those that they refuse.
    """

    def __init__(self, turn: AuditedTurn, words: ChangeTexts) -> None:
        """Begin with what was approved: of each such call one record is owed, whatever happens."""
        self._turn = turn
        self._words = words
        self._tools: dict[tuple[str, str], ToolDefinition] = {}
        """Those of the calls that it was shown as a hook, by name and arguments."""
        self._calls: dict[str, ToolCall] = {}
        self._running: dict[str, ToolCall] = {}
        self._refused: set[tuple[str, str]] = set()
        self._owed: dict[str, AskedCall] = {}
        """By the ids under which they come anew; by those of the question before they do."""
        self._guard: CallGuard | None = None
        self._effects_of: EffectsOf = _unknown_effects
        if turn.answered and turn.answered[1].approved:
            self._owed = {asked.pending.call.id: asked for asked in turn.answered[0].calls}

    def judged_by(self, guard: CallGuard, effects_of: EffectsOf) -> None:
        """Learn who judges calls, before the first one; `effects_of` tells what one would do that it never judged."""
        self._guard, self._effects_of = guard, effects_of

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self._tools[tool.name, canonical_json(arguments)] = tool

    @override
    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self._tools[tool.name, canonical_json(arguments)] = tool

    async def follow(self, event: TurnEvent) -> None:
        """Take in an event of the turn, and tell of a call that ends with it."""
        match event:
            case ToolCallReady(call):
                self._calls[call.id] = call
            case MessageDone(message) if self._owed:
                # A turn that brings an answer begins with the calls of its question, in their order, and their results.
                self._owed = dict(zip((call.id for call in message.tool_calls), self._owed.values(), strict=False))
            case ToolStarted(call):
                self._running[call.id] = call
            case ToolFinished(result):
                await self._conclude(result)
            case _:
                pass

    @callback
    def finished(self) -> None:
        """Tell of the calls that the turn has left without a result: it was broken off."""
        for call in self._running.values():
            asked = self._owed.pop(call.id, None)
            self._tell(self._change(call, asked), ChangeOutcome.INTERRUPTED, asked)
        for call_id, asked in self._owed.items():
            call = self._calls.get(call_id, asked.pending.call)
            self._tell(self._change(call, asked), ChangeOutcome.NOT_RUN, asked)
        self._running, self._owed = {}, {}

    async def _conclude(self, result: ToolResult) -> None:
        """Tell what a call came to, unless it waits, repeats another one, or was not understood."""
        call = self._calls[result.call_id]
        self._running.pop(call.id, None)
        asked = self._owed.pop(call.id, None)
        if not result.synthetic:
            outcome = ChangeOutcome.FAILED if result.is_error else ChangeOutcome.DONE
            self._tell(await self._resolved(self._change(call, asked)), outcome, asked, result)
        elif not result.is_error:
            return
        elif (refusal := self._refusal(call)) is None:
            if asked:
                is_denied = asked.pending in self._turn.denied
                outcome = ChangeOutcome.DENIED if is_denied else ChangeOutcome.NOT_RUN
                self._tell(self._change(call, asked), outcome, asked)
        elif (key := (call.name, call.arguments)) not in self._refused:
            self._refused.add(key)
            change = self._change(call, asked)
            if refusal is ChangeOutcome.REFUSED_BY_SCRIPT:
                change = replace(await self._resolved(change), by_script=True)
            self._tell(change, refusal, asked)

    def _refusal(self, call: ToolCall) -> ChangeOutcome | None:
        """Return how a call was refused, or None when it did not come that far."""
        seen = self._seen(call)
        if seen is None:
            return ChangeOutcome.REFUSED_BY_SCRIPT if self._shown(call) else None
        return _outcome_of(seen.refusal) if seen.outcome is GuardOutcome.DENIED else None

    def _change(self, call: ToolCall, asked: AskedCall | None) -> AuditedCall:
        """Return what a call does by the latest that is known of it."""
        by_script = asked is not None and bool(asked.pending.reason)
        if seen := self._seen(call):
            return AuditedCall(call, seen.effects, seen.judgement, seen.for_outside_content, by_script)
        if asked:
            return replace(AuditedCall.of_asked(asked), call=call)
        tool = self._shown(call)
        return AuditedCall(call, Annotated(tool.annotations) if tool else _LEAST_SAFE, None)

    def _seen(self, call: ToolCall) -> GuardedCall | None:
        """Return how a call was judged; None for one that never was."""
        return self._guard.seen(call) if self._guard else None

    def _shown(self, call: ToolCall) -> ToolDefinition | None:
        """Return the tool of a call that any hook was shown; None where it did not come that far."""
        return self._tools.get((call.name, call.arguments)) or (self._guard.shown(call) if self._guard else None)

    async def _resolved(self, change: AuditedCall) -> AuditedCall:
        """Find out what a call would have done that nobody has judged."""
        if change.judgement is not None or not change.changes_something:
            return change
        try:
            async with asyncio.timeout(_PATIENCE):
                effects = await self._effects_of(change.call.name, shown_arguments(change.call))
        except Exception:  # noqa: BLE001  # a record that knows less is better than a turn that breaks
            LOGGER.warning("Could not tell what %s would have done", change.call.name, exc_info=True)
            return change
        return replace(change, effects=effects)

    def _tell(
        self, change: AuditedCall, outcome: ChangeOutcome, asked: AskedCall | None, result: ToolResult | None = None
    ) -> None:
        if not change.changes_something:
            return
        question, answer = self._turn.answered if asked and self._turn.answered else (None, None)
        record = ChangeRecord(
            origin=self._turn.origin,
            change=change,
            outcome=outcome,
            approval=approval_by(answer) if answer else self._approval(change.call, outcome),
            question_id=question.id if question else None,
            answer=answer,
            error=error_text(result) if result and result.is_error else "",
            done_to=entities_done(result) if result else frozenset(),
        )
        async_fire_change(self._words, record, self._turn.context)

    def _approval(self, call: ToolCall, outcome: ChangeOutcome) -> ApprovalWay:
        """Return how a call came to run that nobody was asked about, or that it did not."""
        if outcome not in _RAN:
            return ApprovalWay.MISSING
        seen = self._seen(call)
        needed = seen is not None and (seen.for_outside_content or seen.judgement.verdict is not Verdict.ALLOW)
        return ApprovalWay.TRUSTED_AUTOMATION if needed else ApprovalWay.NOT_NEEDED


async def _unknown_effects(_name: str, _arguments: JsonObject) -> Effects:
    return _LEAST_SAFE


def _outcome_of(refusal: Refusal | None) -> ChangeOutcome:
    match refusal:
        case Refusal.RULES | Refusal.OUTSIDE_CONTENT | None:
            return ChangeOutcome.REFUSED_BY_RULES
        case Refusal.NOBODY | Refusal.PIN_BY_PROGRAM:
            return ChangeOutcome.NOBODY_TO_ASK
        case Refusal.PIN_NOT_SET:
            return ChangeOutcome.PIN_NOT_SET
        case Refusal.PERMISSION:
            return ChangeOutcome.NOT_PERMITTED
        case _ as unreachable:
            assert_never(unreachable)

"""Audits the calls of a turn and of its questions: one record for each call that changed something, or would have.

`CallAudit` follows the calls that a turn runs or refuses. A call that is approved runs in a later turn, which records
it; all other outcomes of a question are recorded by `async_audit_questions`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, assert_never, override

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

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
from ..records.tool_answer import entities_done, error_text
from ..records.turn_record import shown_arguments
from ..settings.rules import Verdict
from .change_record import (
    ApprovalWay,
    AuditedCall,
    ChangeOutcome,
    ChangeRecord,
    ChangeTexts,
    approval_by,
    async_get_change_texts,
    async_publish_change,
)
from .guard import CallGuard, EffectsOf, GuardedCall, GuardOutcome, Refusal
from .questions import (
    SIGNAL_QUESTION,
    AskedCall,
    GivenAnswer,
    Question,
    QuestionState,
    QuestionUpdate,
    async_get_approvals,
)

_EFFECTS_TIMEOUT: Final = 2.0
"""Seconds to resolve the effects of a refused call."""
_RAN: Final = frozenset({ChangeOutcome.DONE, ChangeOutcome.FAILED, ChangeOutcome.INTERRUPTED})
_LEAST_SAFE: Final = Annotated(ToolAnnotations())
"""The effects of a call whose tool is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTurn:
    """The turn whose calls are audited."""

    origin: Mapping[str, JsonValue]
    """See `turns.events.turn_origin`."""
    context: Context
    """The context in which its calls run."""
    answered: tuple[Question, GivenAnswer] | None = None
    """The question that the turn resumes, and its answer."""
    denied: Sequence[PendingCall] = ()
    """The calls of that question that were denied while others were approved."""


class CallAudit(Hooks):
    """Audits the calls of one turn.

    If a turn has hook scripts, this is a hook before them, to see the calls that they refuse.
    """

    def __init__(self, turn: AuditedTurn, texts: ChangeTexts) -> None:
        """Start with the approved calls: each of them gets exactly one record, whatever happens."""
        self._turn = turn
        self._texts = texts
        self._tools: dict[tuple[str, str], ToolDefinition] = {}
        """The tools of calls that it has seen as a hook, by name and arguments."""
        self._calls: dict[str, ToolCall] = {}
        self._running: dict[str, ToolCall] = {}
        self._refused: set[tuple[str, str]] = set()
        self._owed: dict[str, AskedCall] = {}
        """Approved calls without a record, by their IDs, which are new once the turn has repeated them."""
        self._guard: CallGuard | None = None
        self._effects_of: EffectsOf = _unknown_effects
        if turn.answered and turn.answered[1].approved:
            self._owed = {asked.pending.call.id: asked for asked in turn.answered[0].calls}

    def judged_by(self, guard: CallGuard, effects_of: EffectsOf) -> None:
        """Set the guard before the first call; `effects_of` resolves calls that it never judged."""
        self._guard, self._effects_of = guard, effects_of

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self._tools[tool.name, canonical_json(arguments)] = tool

    @override
    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self._tools[tool.name, canonical_json(arguments)] = tool

    async def follow(self, event: TurnEvent) -> None:
        """Follow an event of the turn, and record a call that ends with it."""
        match event:
            case ToolCallReady(call):
                self._calls[call.id] = call
            case MessageDone(message) if self._owed:
                # A resumed turn begins with the calls of its question, in their order, under new IDs.
                self._owed = dict(zip((call.id for call in message.tool_calls), self._owed.values(), strict=False))
            case ToolStarted(call):
                self._running[call.id] = call
            case ToolFinished(result):
                await self._conclude(result)
            case _:
                pass

    @callback
    def finished(self) -> None:
        """Record the calls that a cancelled turn has left without a result."""
        for call in self._running.values():
            asked = self._owed.pop(call.id, None)
            self._record(self._change(call, asked), ChangeOutcome.INTERRUPTED, asked)
        for call_id, asked in self._owed.items():
            call = self._calls.get(call_id, asked.pending.call)
            self._record(self._change(call, asked), ChangeOutcome.NOT_RUN, asked)
        self._running, self._owed = {}, {}

    async def _conclude(self, result: ToolResult) -> None:
        """Record the outcome of a call, unless it waits, repeats another one, or was invalid."""
        call = self._calls[result.call_id]
        self._running.pop(call.id, None)
        asked = self._owed.pop(call.id, None)
        if not result.synthetic:
            outcome = ChangeOutcome.FAILED if result.is_error else ChangeOutcome.DONE
            self._record(await self._resolved(self._change(call, asked)), outcome, asked, result)
        elif not result.is_error:
            return
        elif (refusal := self._refusal(call)) is None:
            if asked:
                is_denied = asked.pending in self._turn.denied
                outcome = ChangeOutcome.DENIED if is_denied else ChangeOutcome.NOT_RUN
                self._record(self._change(call, asked), outcome, asked)
        elif (key := (call.name, call.arguments)) not in self._refused:
            self._refused.add(key)
            change = self._change(call, asked)
            if refusal is ChangeOutcome.REFUSED_BY_SCRIPT:
                change = replace(await self._resolved(change), by_script=True)
            self._record(change, refusal, asked)

    def _refusal(self, call: ToolCall) -> ChangeOutcome | None:
        """Return how a call was refused; None if it was not."""
        seen = self._seen(call)
        if seen is None:
            return ChangeOutcome.REFUSED_BY_SCRIPT if self._shown(call) else None
        return _outcome_of(seen.refusal) if seen.outcome is GuardOutcome.DENIED else None

    def _change(self, call: ToolCall, asked: AskedCall | None) -> AuditedCall:
        """Return a call with its latest known effects."""
        by_script = asked is not None and bool(asked.pending.reason)
        if seen := self._seen(call):
            return AuditedCall(call, seen.effects, seen.judgement, seen.for_outside_content, by_script)
        if asked:
            return replace(AuditedCall.of_asked(asked), call=call)
        tool = self._shown(call)
        return AuditedCall(call, Annotated(tool.annotations) if tool else _LEAST_SAFE, None)

    def _seen(self, call: ToolCall) -> GuardedCall | None:
        """Return how a call was judged; None if it was not."""
        return self._guard.seen(call) if self._guard else None

    def _shown(self, call: ToolCall) -> ToolDefinition | None:
        """Return the tool of a call that any hook has seen; None if none has."""
        return self._tools.get((call.name, call.arguments)) or (self._guard.shown(call) if self._guard else None)

    async def _resolved(self, change: AuditedCall) -> AuditedCall:
        """Resolve the effects of a call that was never judged."""
        if change.judgement is not None or not change.changes_something:
            return change
        try:
            async with asyncio.timeout(_EFFECTS_TIMEOUT):
                effects = await self._effects_of(change.call.name, shown_arguments(change.call))
        except Exception:  # noqa: BLE001  # an incomplete record is better than a failed turn
            LOGGER.warning("Could not tell what %s would have done", change.call.name, exc_info=True)
            return change
        return replace(change, effects=effects)

    def _record(
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
        async_publish_change(self._texts, record, self._turn.context)

    def _approval(self, call: ToolCall, outcome: ChangeOutcome) -> ApprovalWay:
        """Return why a call ran without a question, or `MISSING` if it did not run."""
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


_OUTCOMES: Final[Mapping[QuestionState, ChangeOutcome]] = {
    QuestionState.WAITING: ChangeOutcome.WAITING,
    QuestionState.DENIED: ChangeOutcome.DENIED,
    QuestionState.DROPPED: ChangeOutcome.DROPPED,
    QuestionState.EXPIRED: ChangeOutcome.EXPIRED,
}


@callback
def async_audit_questions(hass: HomeAssistant) -> None:
    """Record the outcome of every question, for all agents, until Home Assistant stops."""
    async_dispatcher_connect(hass, SIGNAL_QUESTION, partial(_async_record_update, hass))
    hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, partial(_drop_all, hass))


@callback
def _drop_all(hass: HomeAssistant, _stop: Event) -> None:
    """Drop all questions, which do not survive a restart, so that each has an outcome."""
    approvals = async_get_approvals(hass)
    for question in approvals.waiting:
        approvals.drop(question.id)


async def _async_record_update(hass: HomeAssistant, update: QuestionUpdate) -> None:
    if (outcome := _OUTCOMES.get(update.state)) is None:
        return
    question, texts = update.question, await async_get_change_texts(hass)
    for change in map(AuditedCall.of_asked, question.calls):
        if change.changes_something:
            record = ChangeRecord(
                origin=question.origin,
                change=change,
                outcome=outcome,
                approval=ApprovalWay.MISSING,
                question_id=question.id,
                answer=update.answer,
            )
            async_publish_change(texts, record, question.context)

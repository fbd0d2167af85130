"""The audit: a record of each call of a turn that changed something, or would have, and the texts that describe it.

`CallAudit` follows the calls that a turn runs or refuses. A call that is approved runs in a later turn, which records
it; all other outcomes of a question are recorded by `async_audit_questions`.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial, reduce
from typing import Final, Self, assert_never, override

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..agent.events import MessageDone, ToolCallReady, ToolFinished, ToolStarted, TurnEvent
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
from ..const import EVENT_CHANGE, LOGGER
from ..effects.effect import (
    ARM_FOR_LESS,
    Annotated,
    Effects,
    EntityAction,
    Touches,
    UnknownReason,
    Unresolved,
    actions_of,
)
from ..history.stores import async_record_change
from ..home.entity_matches import entity_name, spoken, tool_name
from ..records.turn_record import (
    entities_done,
    error_text,
    is_unconfirmed,
    shown_arguments,
    shown_call,
    shown_text,
    targets_not_done,
)
from ..settings.rules import DEFAULT_RULES, Rule, Verdict
from ..speech.sentences import async_get_sentences
from .action_summary import ActionKind, kind_of
from .guard import CallGuard, EffectsOf, GuardedCall, Refusal
from .policy import Judgement
from .questions import (
    SIGNAL_QUESTION,
    AskedCall,
    GivenAnswer,
    Question,
    QuestionState,
    QuestionUpdate,
    async_get_approvals,
)

_MAX_ARGUMENTS: Final = 4_000
"""Bytes."""
_MOST_ACTIONS: Final = 20
"""Actions of one record; those that decided come first."""
_MOST_NAMES: Final = 5
"""Names for one kind of action in a sentence."""
_MOST_KINDS: Final = 4
"""Kinds of action in a sentence."""
_LONGEST_ERROR: Final = 200
"""Characters."""


class DecidedBy(StrEnum):
    """The source of the verdict on a call."""

    NOTHING = "nothing"
    """No rule applies."""
    RULE = "rule"
    """A rule of the user."""
    DEFAULT = "default"
    """One of the default rules, which apply after those of the user."""
    TOOL = "tool"
    """The annotations of a tool that acts on no entity, and may do harm elsewhere."""
    OUTSIDE_CONTENT = "outside_content"
    """The conversation contains outside content."""
    SCRIPT = "script"
    """A hook script of the user."""


class ApprovalWay(StrEnum):
    """How a call was approved: a `Channel`, or one of the others."""

    NOT_NEEDED = "not_needed"
    MISSING = "missing"
    """It needed approval and has none."""
    VOICE = "voice"
    PIN = "pin"
    NOTIFICATION = "notification"
    ACTION = "action"
    API = "api"
    TRUSTED_AUTOMATION = "trusted_automation"
    """A trusted automation or script spoke to the agent."""


class ChangeOutcome(StrEnum):
    """The outcome of a call."""

    DONE = "done"
    PARTLY = "partly"
    """Some of the entities did not follow; `error` names them."""
    UNCONFIRMED = "unconfirmed"
    """It ran, but an entity reports that it has not done so."""
    FAILED = "failed"
    """It ran and returned an error. After a timeout it may still take effect."""
    WAITING = "waiting"
    """A question was asked. Its outcome is in another record."""
    REFUSED_BY_RULES = "refused_by_rules"
    REFUSED_BY_SCRIPT = "refused_by_script"
    """A hook script refused it, failed, or asked for approval where nobody can be asked."""
    NOT_PERMITTED = "not_permitted"
    """The user who speaks has no permission to control an entity it would act on."""
    UNREACHABLE = "unreachable"
    """None of the entities can be reached."""
    NOBODY_TO_ASK = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"
    DENIED = "denied"
    EXPIRED = "expired"
    DROPPED = "dropped"
    """The user said something else instead, or the agent was removed."""
    INTERRUPTED = "interrupted"
    """It was running when its turn was cancelled, and may have taken effect."""
    NOT_RUN = "not_run"
    """It was approved, but did not run."""


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """A call, its effects, and how it was judged."""

    call: ToolCall
    """As it ran, or would have run."""
    effects: Effects
    judgement: Judgement | None
    """None if it ended before it was judged."""
    for_outside_content: bool = False
    by_script: bool = False
    """A hook script asked for approval, or refused the call."""

    @classmethod
    def of_asked(cls, asked: AskedCall) -> Self:
        """Return the call of a question. Only hook scripts give a reason for theirs."""
        pending = asked.pending
        return cls(pending.call, asked.effects, asked.judgement, asked.for_outside_content, bool(pending.reason))

    @property
    def changes_something(self) -> bool:
        """Whether it may change anything, at home or elsewhere."""
        match self.effects:
            case Annotated(annotations):
                return not annotations.read_only
            case Touches(actions):
                return bool(actions)
            case Unresolved():
                return True
            case _ as unreachable:
                assert_never(unreachable)

    @property
    def actions(self) -> tuple[EntityAction, ...]:
        """The known actions on entities; those that decided come first."""
        decisions = self.judgement.decisions if self.judgement else ()
        deciding = {decision.subject for decision in decisions}
        known = [action for action in actions_of(self.effects) if action.action != ARM_FOR_LESS]  # the arming is there
        return tuple(sorted(known, key=lambda action: (action not in deciding, action)))

    @property
    def unknown(self) -> frozenset[UnknownReason]:
        """Why not all effects are known; empty if they are."""
        unknowns = self.effects.unknowns if isinstance(self.effects, Unresolved) else ()
        return frozenset(unknown.reason for unknown in unknowns)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, considering outside content; None if the call was not judged."""
        if self.for_outside_content:
            return Verdict.ASK
        return self.judgement.verdict if self.judgement else None

    @property
    def decided_by(self) -> frozenset[DecidedBy]:
        """All sources of the verdict."""
        decisions = self.judgement.decisions if self.judgement else ()
        deciders = {_decider(decision.rule) for decision in decisions}
        if self.for_outside_content:
            deciders.add(DecidedBy.OUTSIDE_CONTENT)
        if self.by_script:
            deciders.add(DecidedBy.SCRIPT)
        return frozenset(deciders or {DecidedBy.NOTHING})


def _decider(rule: Rule | None) -> DecidedBy:
    if rule is None:
        return DecidedBy.TOOL
    return DecidedBy.DEFAULT if rule in DEFAULT_RULES else DecidedBy.RULE


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """The outcome of a call that would change something."""

    origin: Mapping[str, JsonValue]
    """Identifies its turn; see `turns.record.turn_origin`."""
    change: AuditedCall
    outcome: ChangeOutcome
    approval: ApprovalWay
    question_id: str | None = None
    answer: GivenAnswer | None = None
    error: str = ""
    """The error of a call that failed."""
    done_to: frozenset[str] = frozenset()
    """Entity IDs that the result of a finished call names."""

    @property
    def shown_actions(self) -> tuple[EntityAction, ...]:
        """The actions to name. If the result names some entities for an action, the others were left alone."""
        actions = self.change.actions
        named = {(action.domain, action.action) for action in actions if action.entity_id in self.done_to}
        done = self.done_to
        return tuple([one for one in actions if one.entity_id in done or (one.domain, one.action) not in named])

    def as_event_data(self) -> JsonObject:
        """Return the event data, as documented in `docs/activity.md`."""
        change, answer, actions = self.change, self.answer, self.change.actions
        shown, verdict = actions[:_MOST_ACTIONS], change.verdict
        entity_ids = dict.fromkeys([action.entity_id for action in actions])
        return {
            **self.origin,
            "tool_call_id": change.call.id,
            **shown_call(change.call, _MAX_ARGUMENTS),
            "entity_ids": [*tuple(entity_ids)[:_MOST_ACTIONS]],
            "done_to": [*sorted(self.done_to)[:_MOST_ACTIONS]],
            "actions": [{"entity_id": action.entity_id, "action": action.action} for action in shown],
            "more_actions": len(actions) - len(shown),
            "unknown": [*sorted(map(str, change.unknown))],
            "verdict": str(verdict) if verdict else None,
            "decided_by": [*sorted(map(str, change.decided_by))],
            "outcome": str(self.outcome),
            "error": shown_text(self.error),
            "question_id": self.question_id,
            "approval": str(self.approval),
            "answered_through": str(answer.channel) if answer else None,
            "answered_by": answer.user_id if answer else None,
        }


def approval_by(answer: GivenAnswer) -> ApprovalWay:
    """Return the kind of an approval."""
    return ApprovalWay.PIN if answer.with_pin else ApprovalWay(answer.channel)


@dataclass(frozen=True, slots=True)
class ChangeTexts:
    """The texts of audit records in one language."""

    hass: HomeAssistant
    sentences: Mapping[str, str]
    """The category `common` of a translation, by bare key."""

    def message(self, record: ChangeRecord) -> str:
        """Return a sentence with what was done and how it was approved, or what was not done and why."""
        is_done = record.outcome in {ChangeOutcome.DONE, ChangeOutcome.PARTLY}
        actions = self._actions(record, "did" if is_done else "did_not")
        if record.outcome is not ChangeOutcome.DONE:
            waits_for_pin = record.outcome is ChangeOutcome.WAITING and record.change.verdict is Verdict.PIN
            key = "waiting_for_pin" if waits_for_pin else record.outcome
            error = " ".join(record.error.split()) or "?"
            error = error if len(error) <= _LONGEST_ERROR else f"{error[: _LONGEST_ERROR - 1]}…"
            return shown_text(self._say(key, actions=actions, error=error))
        return shown_text(self._with_way(record, actions))

    def activity(self, record: ChangeRecord) -> str:
        """Return what was done to the only entity, and by whom; empty for anything else.

        Home Assistant's Activity page shows an entry that belongs to an entity under its name: "Front Door unlocked by
        Butler, approved with the PIN".
        """
        done = {(kind_of(one.action), one.entity_id) for one in record.shown_actions}
        if record.outcome is not ChangeOutcome.DONE or len(done) != 1:
            return ""
        ((kind, _),) = done
        place, person = self.place(record), _text(record.origin.get("person"))
        actor = f"{place} ({person})" if place and person else place or person or "Chatterbox"
        return shown_text(self._with_way(record, self._say(f"by_{kind}", actor=actor)))

    def place(self, record: ChangeRecord) -> str:
        """Return the name of the device that was spoken to, or of the agent."""
        device = _text(record.origin.get("device_id"))
        found = dr.async_get(self.hass).async_get(device) if device else None
        if found and (name := found.name_by_user or found.name):
            return spoken(name)
        named = _text(record.origin.get("satellite_id")) or _text(record.origin.get("entity_id"))
        return entity_name(self.hass, named) if named else ""

    def _with_way(self, record: ChangeRecord, actions: str) -> str:
        """Return what was done, with how it was approved."""
        if record.change.unknown and record.change.actions:
            actions = self._say("perhaps_more", actions=actions)
        if record.approval in (ApprovalWay.NOT_NEEDED, ApprovalWay.MISSING):
            return actions
        return self._say(f"after_{record.approval}", actions=actions)

    def _actions(self, record: ChangeRecord, form: str) -> str:
        """Return the actions by kind, with their entities, or the name of the tool if there are none."""
        names: dict[ActionKind, list[str]] = {}
        for action in record.shown_actions:
            those = names.setdefault(kind_of(action.action), [])
            if (name := entity_name(self.hass, action.entity_id)) not in those:
                those.append(name)
        if not names:
            return self._say(f"{form}_tool", tool=tool_name(record.change.call.name))
        said = [self._say(f"{form}_{kind}", targets=self._listed(those)) for kind, those in names.items()]
        shown = said if len(said) <= _MOST_KINDS else said[: _MOST_KINDS - 1]
        joined = reduce(lambda first, second: self._say("list", first=first, second=second), shown)
        return self._and_more(joined, len(said) - len(shown))

    def _listed(self, names: Sequence[str]) -> str:
        shown = names if len(names) <= _MOST_NAMES else names[: _MOST_NAMES - 1]
        targets = reduce(lambda first, second: self.sentences["spoken_list"].format(first=first, second=second), shown)
        return self._and_more(targets, len(names) - len(shown))

    def _and_more(self, shown: str, count: int) -> str:
        return self._say("more", targets=shown, count=str(count)) if count else shown

    def _say(self, key: str, **placeholders: str) -> str:
        return self.sentences[f"change_{key}"].format_map(placeholders)


async def async_get_change_texts(hass: HomeAssistant) -> ChangeTexts:
    """Load the texts of audit records in the language of Home Assistant."""
    return ChangeTexts(hass, await async_get_sentences(hass, hass.config.language))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@callback
def async_publish_change(texts: ChangeTexts, record: ChangeRecord, context: Context) -> None:
    """Fire the event of a record, and store the record. `context` is that of the call.

    The record is stored from here, never from the event: any user can have the app on their phone fire one.
    """
    said = {"place": texts.place(record), "message": texts.message(record), "activity": texts.activity(record)}
    change, now = {**record.as_event_data(), **said}, time.time()
    texts.hass.bus.async_fire(EVENT_CHANGE, change, context=context, time_fired=now)
    async_record_change(texts.hass, change, now)


_EFFECTS_TIMEOUT: Final = 2.0
"""Seconds to resolve the effects of a refused call."""
_RAN: Final = frozenset(
    {
        ChangeOutcome.DONE,
        ChangeOutcome.PARTLY,
        ChangeOutcome.UNCONFIRMED,
        ChangeOutcome.FAILED,
        ChangeOutcome.INTERRUPTED,
    }
)
_LEAST_SAFE: Final = Annotated(ToolAnnotations())
"""The effects of a call whose tool is unknown."""


class CallAudit(Hooks):
    """Audits the calls of one turn.

    If a turn has hook scripts, this is a hook before them, to see the calls that they refuse.
    """

    def __init__(
        self,
        texts: ChangeTexts,
        origin: Mapping[str, JsonValue],
        context: Context,
        answered: Question | None = None,
    ) -> None:
        """Start with the approved calls: each of them gets exactly one record, whatever happens.

        `origin` identifies the turn (see `turns.record.turn_origin`), whose calls run in `context`. `answered` is the
        question that it resumes.
        """
        self._texts = texts
        self._origin = origin
        self._context = context
        self._answered = answered
        self._tools: dict[tuple[str, str], ToolDefinition] = {}
        """The tools of calls that it has seen as a hook, by name and arguments."""
        self._calls: dict[str, ToolCall] = {}
        self._running: dict[str, ToolCall] = {}
        self._refused: set[tuple[str, str]] = set()
        self._owed: dict[str, AskedCall] = {}
        """Approved calls without a record, by their IDs, which are new once the turn has repeated them."""
        self._guard: CallGuard | None = None
        self._effects_of: EffectsOf = _unknown_effects
        if answered and answered.answer and answered.answer.approved:
            self._owed = {asked.pending.call.id: asked for asked in answered.calls}

    def judged_by(self, guard: CallGuard, effects_of: EffectsOf) -> None:
        """Set the guard before the first call; `effects_of` resolves calls that it never judged."""
        self._guard, self._effects_of = guard, effects_of

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self._tools[tool.name, canonical_json(arguments)] = tool

    pre_approved_use = pre_tool_use

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
            ran = ChangeOutcome.PARTLY if targets_not_done(result.native) else ChangeOutcome.DONE
            ran = ChangeOutcome.UNCONFIRMED if is_unconfirmed(result.native) and ran is ChangeOutcome.DONE else ran
            outcome = ChangeOutcome.FAILED if result.is_error else ran
            self._record(await self._resolved(self._change(call, asked)), outcome, asked, result)
        elif not result.is_error:
            return
        elif (refusal := self._refusal(call)) is None:
            if asked:
                approved = self._answered.pending.approved if self._answered else ()
                is_denied = approved and asked.pending not in approved
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
        return _REFUSED[seen.refusal] if seen.refusal else None

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
        not_done = targets_not_done(result.native) if result else ()
        seen = self._seen(change.call)
        is_answered = asked or (seen and seen.is_repeated)
        question = self._answered if is_answered else None
        answer = question.answer if question else None
        record = ChangeRecord(
            origin=self._origin,
            change=change,
            outcome=outcome,
            approval=approval_by(answer) if answer else self._approval(change.call, outcome),
            question_id=question.id if question else None,
            answer=answer,
            error=error_text(result) if result and result.is_error else ", ".join(map(str, not_done)),
            done_to=entities_done(result.native) if result else frozenset(),
        )
        async_publish_change(self._texts, record, self._context)

    def _approval(self, call: ToolCall, outcome: ChangeOutcome) -> ApprovalWay:
        """Return why a call ran without a question, or `MISSING` if it did not run."""
        if outcome not in _RAN:
            return ApprovalWay.MISSING
        seen = self._seen(call)
        needed = seen is not None and (seen.for_outside_content or seen.judgement.verdict is not Verdict.ALLOW)
        return ApprovalWay.TRUSTED_AUTOMATION if needed else ApprovalWay.NOT_NEEDED


async def _unknown_effects(_name: str, _arguments: JsonObject) -> Effects:
    return _LEAST_SAFE


_REFUSED: Final[Mapping[Refusal, ChangeOutcome]] = {
    Refusal.RULES: ChangeOutcome.REFUSED_BY_RULES,
    Refusal.OUTSIDE_CONTENT: ChangeOutcome.REFUSED_BY_RULES,
    Refusal.NOT_MEANT: ChangeOutcome.REFUSED_BY_RULES,
    Refusal.NOBODY: ChangeOutcome.NOBODY_TO_ASK,
    Refusal.PIN_BY_API_CLIENT: ChangeOutcome.NOBODY_TO_ASK,
    Refusal.PIN_NOT_SET: ChangeOutcome.PIN_NOT_SET,
    Refusal.PERMISSION: ChangeOutcome.NOT_PERMITTED,
    Refusal.UNREACHABLE: ChangeOutcome.UNREACHABLE,
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
    if update.state in (QuestionState.APPROVED, QuestionState.CONCLUDED):  # the calls have records of their own
        return
    question, texts = update.question, await async_get_change_texts(hass)
    for change in map(AuditedCall.of_asked, question.calls):
        if change.changes_something:
            record = ChangeRecord(
                origin=question.origin,
                change=change,
                outcome=ChangeOutcome(update.state),
                approval=ApprovalWay.MISSING,
                question_id=question.id,
                answer=question.answer,
            )
            async_publish_change(texts, record, question.context)

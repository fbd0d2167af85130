"""What became of a call that would change something: a plain record, for the event bus, the logbook and any store.

Knows what a call would do, how it was judged, and who answered. Must not know the bus, or words for people. Of what
is written out nothing grows without bound, so that Home Assistant can record it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self, assert_never

from ..agent.messages import JsonObject, JsonValue, ToolCall
from ..effects.effect import Annotated, Effects, EntityAction, Touches, UnknownReason, Unresolved, actions_of
from ..records.report import shown_call, shown_text
from ..settings.rules import DEFAULT_RULES, Rule, Verdict
from .policy import Judgement
from .questions import AskedCall, Channel, GivenAnswer

_MAX_ARGUMENTS: Final = 4_000
"""Bytes."""
_MOST_ACTIONS: Final = 20
"""So many are written out; those that decided come first."""


class DecidedBy(StrEnum):
    """What the verdict on a call came from."""

    NOTHING = "nothing"
    """No rule wants anything of it."""
    RULE = "rule"
    """A rule of the household."""
    DEFAULT = "default"
    """A rule that holds in every house, after those of the household."""
    TOOL = "tool"
    """What the tool says of itself: it acts on no entity, and may do harm elsewhere."""
    OUTSIDE_CONTENT = "outside_content"
    """Something from outside the house is part of the conversation."""
    SCRIPT = "script"
    """A script of the owner."""


class ApprovalWay(StrEnum):
    """How a call was approved."""

    NOT_NEEDED = "not_needed"
    MISSING = "missing"
    """It needed a yes and has none."""
    VOICE = "voice"
    PIN = "pin"
    NOTIFICATION = "notification"
    ACTION = "action"
    PROGRAM = "program"
    TRUSTED_AUTOMATION = "trusted_automation"
    """An automation or a script asked that the owner trusts."""


class ChangeOutcome(StrEnum):
    """What became of a call."""

    DONE = "done"
    FAILED = "failed"
    """It ran, and says that it did not work. One that took too long may still take effect."""
    WAITING = "waiting"
    """Somebody is asked. Another record tells what comes of it."""
    REFUSED_BY_RULES = "refused_by_rules"
    REFUSED_BY_SCRIPT = "refused_by_script"
    """A script of the owner refused it, failed to decide, or wanted somebody to be asked where nobody is."""
    NOT_PERMITTED = "not_permitted"
    """Home Assistant does not let the user who speaks control what it would act on."""
    NOBODY_TO_ASK = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"
    DENIED = "denied"
    """Somebody said no."""
    EXPIRED = "expired"
    """Nobody said yes in time."""
    DROPPED = "dropped"
    """Something else was said instead, or the agent is gone."""
    INTERRUPTED = "interrupted"
    """It had begun when its turn was broken off, and may have taken effect."""
    NOT_RUN = "not_run"
    """Somebody said yes, and something came in between."""


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """A call, what it would do, and how it was judged."""

    call: ToolCall
    """As it ran, or would have run."""
    effects: Effects
    judgement: Judgement | None
    """None when it came to nothing before it was judged."""
    for_outside_content: bool = False
    by_script: bool = False
    """A script of the owner asked about it, or refused it."""

    @classmethod
    def of_asked(cls, asked: AskedCall) -> Self:
        """Take it from a question. Only scripts give a reason with what they ask."""
        pending = asked.pending
        return cls(pending.call, asked.effects, asked.judgement, asked.for_outside_content, bool(pending.reason))

    @property
    def changes_something(self) -> bool:
        """Tell whether it may change anything, in the house or elsewhere."""
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
        """What it would do to entities, as far as it is known; what decided comes first."""
        decisions = self.judgement.decisions if self.judgement else ()
        deciding = {decision.subject for decision in decisions}
        return tuple(sorted(actions_of(self.effects), key=lambda action: (action not in deciding, action)))

    @property
    def unknown(self) -> frozenset[UnknownReason]:
        """Why it cannot be told what else it would do; empty when all is known."""
        match self.effects:
            case Unresolved(unknowns):
                return frozenset(unknown.reason for unknown in unknowns)
            case _:
                return frozenset()

    @property
    def verdict(self) -> Verdict | None:
        """What its rules say, or what came from outside; None when nobody judged it."""
        if self.for_outside_content:
            return Verdict.ASK
        return self.judgement.verdict if self.judgement else None

    @property
    def decided_by(self) -> frozenset[DecidedBy]:
        """What the verdict came from, and what asked besides."""
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
    """What became of a call that would change something."""

    origin: Mapping[str, JsonValue]
    """Who answers whom, where, and in which conversation; see `turn_events.turn_origin`."""
    change: AuditedCall
    outcome: ChangeOutcome
    approval: ApprovalWay
    question_id: str | None = None
    """Of the question that was asked about it."""
    answer: GivenAnswer | None = None
    """Yes or no, where somebody gave one."""
    error: str = ""
    """Of one that failed: what its tool says."""
    done_to: frozenset[str] = frozenset()
    """Entity ids that the tool itself names, of one that is done; empty when it names none."""

    @property
    def shown_actions(self) -> tuple[EntityAction, ...]:
        """What it would do, or has done: where its tool names some entities of a kind, the others were left alone."""
        actions = self.change.actions
        named = {(action.domain, action.action) for action in actions if action.entity_id in self.done_to}
        done = self.done_to
        return tuple([one for one in actions if one.entity_id in done or (one.domain, one.action) not in named])

    def as_event_data(self) -> JsonObject:
        """Return it as the data of a Home Assistant event, as `docs/using.md` describes it."""
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
    """Return how a yes came."""
    match answer.channel:
        case Channel.VOICE:
            return ApprovalWay.PIN if answer.with_pin else ApprovalWay.VOICE
        case Channel.NOTIFICATION:
            return ApprovalWay.NOTIFICATION
        case Channel.ACTION:
            return ApprovalWay.ACTION
        case Channel.PROGRAM:
            return ApprovalWay.PROGRAM
        case _ as unreachable:
            assert_never(unreachable)

"""The review of a call: its effects, the verdict, the answer and what became of it, from the guard to the audit."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from ..agent.events import Answer
from ..agent.messages import JsonObject, ToolCall
from ..effects.effect import ARM_FOR_LESS, Effects, EntityAction, UnknownReason, When
from ..records.turn_record import NOTHING_SHOWN, Origin, shown_call, shown_text
from ..settings.rules import DEFAULT_RULES, Policy, Rule, Verdict, policy_to_json
from .policy import Decision, Judgement

_MAX_ARGUMENTS: Final = 4_000
"""Bytes."""
_MOST_RULES: Final = 3
_MOST_ACTIONS: Final = 20
"""Actions of one record; those that decided come first."""


class ApprovalWay(StrEnum):
    """How a call was approved, or how a question was answered."""

    NOT_NEEDED = "not_needed"
    MISSING = "missing"
    """It needed approval and has none."""
    VOICE = "voice"
    """Spoken or written where the question was asked."""
    PIN = "pin"
    """As `VOICE`, with the PIN."""
    NOTIFICATION = "notification"
    ACTION = "action"
    """By a Home Assistant action."""
    PAGE = "page"
    """On the page of the side bar."""
    CHOICE = "choice"
    """No rule required a yes, and the person has told which one is meant."""
    API = "api"
    """By the API client that received the question."""
    PLAN = "plan"
    """With a plan, when it was made."""
    TRUSTED_AUTOMATION = "trusted_automation"
    """A trusted automation or script spoke to the agent."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class GivenAnswer(Answer):
    """An answer, and how it was given."""

    way: ApprovalWay
    user_id: str | None = None
    """The user who answered, if known."""
    pin_channel: ApprovalWay = ApprovalWay.VOICE
    """The channel that a PIN came through."""

    @property
    def channel(self) -> ApprovalWay:
        """The channel that it came through."""
        if self.way is ApprovalWay.PIN:
            return self.pin_channel
        return self.way


class CallState(StrEnum):
    """The state of a call under review, or of the question about it."""

    DONE = "done"
    PARTLY = "partly"
    """Some of the entities did not follow; `error` names them."""
    UNCONFIRMED = "unconfirmed"
    """It ran, but an entity reports that it has not done so."""
    FAILED = "failed"
    """It ran and returned an error. After a timeout it may still take effect."""
    INTERRUPTED = "interrupted"
    """It was running when its turn was cancelled, and may have taken effect."""
    PLANNED = "planned"
    """It is to be done later, which has a record of its own."""
    WAITING = "waiting"
    """A question was asked. Its outcome is in another record."""
    APPROVED = "approved"
    """Only of a question: its calls have records of their own."""
    DENIED = "denied"
    EXPIRED = "expired"
    DROPPED = "dropped"
    """The user said something else instead, or the agent was removed."""
    CONCLUDED = "concluded"
    """Only of a question: the turn that followed an answer from another channel has finished."""
    NOT_RUN = "not_run"
    """It was approved, but did not run."""
    REFUSED_BY_RULES = "refused_by_rules"
    REFUSED_BY_SCRIPT = "refused_by_script"
    """A hook script refused it, failed, or asked for approval where nobody can be asked."""
    NOT_PERMITTED = "not_permitted"
    """The user who speaks has no permission to control an entity it would act on."""
    UNREACHABLE = "unreachable"
    """None of the entities can be reached."""
    NOBODY_TO_ASK = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"

    @property
    def has_run(self) -> bool:
        """Whether the call has run, at least in part."""
        return self in _RAN


_RAN: Final = frozenset(
    {
        CallState.DONE,
        CallState.PARTLY,
        CallState.UNCONFIRMED,
        CallState.FAILED,
        CallState.INTERRUPTED,
    }
)


class Refusal(StrEnum):
    """Why a call is refused without a question. The values are parts of translation keys."""

    RULES = "not_allowed"
    RULES_UNKNOWN = "rules_unknown"
    """The rules cannot be read, or have to be entered again."""
    NOBODY = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"
    PIN_BY_API_CLIENT = "pin_by_api_client"
    PERMISSION = "not_permitted"
    OUTSIDE_CONTENT = "not_from_outside"
    UNREACHABLE = "unreachable"
    GUESTS = "guests"
    """Guest mode is on, or it would be ended."""
    NOT_MEANT = "outside_not_done"
    """It would let somebody in after outside content, and the words of the person cannot mean that."""


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


class CallOption(NamedTuple):
    """One of several things that a call may mean."""

    entity_id: str
    call: ToolCall
    """The call for this one alone."""
    effects: Effects


@dataclass(frozen=True, slots=True)
class CallReview:
    """A call under review. Each step that learns more of it returns a copy that says so."""

    call: ToolCall
    """As it would run, or ran. It has its ID once it is asked about, or recorded."""
    effects: Effects
    judgement: Judgement | None = None
    """None until it is judged. Its verdict is `ALLOW` if only a hook script or outside content requires approval."""
    for_outside_content: bool = False
    """Approval is needed only because the conversation contains outside content."""
    wish_of: str = ""
    """The kind of source outside the home that may want the call; empty if the person asked for it in words."""
    for_routine: bool = False
    """Approval is needed only because the call is to run again and again."""
    refusal: Refusal | None = None
    is_asked: bool = False
    """It needs approval, and somebody can be asked."""
    is_chosen: bool = False
    """It is one of several that the words may have meant, and the answer has told that."""
    is_repeated: bool = False
    """It needs approval, and has that of another call of the turn."""
    options: tuple[CallOption, ...] = ()
    """The things that the words may mean, if it waits for a choice; its effects are then those on all of them."""
    when: When | None = None
    """When it is to run; None for now."""
    acting: ToolCall | None = None
    """The call that is to run then, whose effects are reviewed; None for one that runs now."""
    reason: str = ""
    """Why it waits for approval, in the words of a hook script; empty if none requires it."""
    state: CallState | None = None
    """None until its outcome is recorded."""
    question_id: str | None = None
    answer: GivenAnswer | None = None
    error: str = ""
    """The error of a call that failed, or the entities that did not follow."""
    done_to: frozenset[str] = frozenset()
    """Entity IDs that the result of a finished call names."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, considering outside content; None if it was not judged."""
        if self.for_outside_content:
            return Verdict.ASK
        if self.judgement:
            return self.judgement.verdict
        return None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of rules that require approval, or forbid the call."""
        if self.judgement:
            return self.judgement.decisions
        return ()

    @property
    def acting_call(self) -> ToolCall:
        """The call that has the effects."""
        return self.acting or self.call

    @property
    def needs_pin(self) -> bool:
        """Whether the answer has to be the PIN."""
        return self.verdict is Verdict.PIN and not self.options

    @property
    def entity_ids(self) -> frozenset[str]:
        """The entities it would act on, as far as they are known."""
        return self.effects.entity_ids

    @property
    def is_foreseen(self) -> bool:
        """Whether all effects are known, and are actions on entities."""
        return self.effects.is_known and bool(self.effects.actions)

    @property
    def changes_something(self) -> bool:
        """Whether it may change anything, at home or elsewhere."""
        annotations = self.effects.annotations
        if annotations:
            return not annotations.read_only
        return bool(self.effects.actions or self.effects.unknowns)

    @property
    def actions(self) -> tuple[EntityAction, ...]:
        """The known actions on entities; those that decided come first."""
        deciding = {decision.subject for decision in self.decisions}
        known = [
            action for action in self.effects.actions if action.action != ARM_FOR_LESS
        ]  # the arming is there
        return tuple(sorted(known, key=lambda action: (action not in deciding, action)))

    @property
    def shown_actions(self) -> tuple[EntityAction, ...]:
        """The actions to name. If the result names some entities for an action, the others were left alone."""
        actions = self.actions
        done = self.done_to
        named = {
            (action.domain, action.action)
            for action in actions
            if action.entity_id in done
        }
        return tuple(
            one
            for one in actions
            if one.entity_id in done or (one.domain, one.action) not in named
        )

    @property
    def unknown(self) -> frozenset[UnknownReason]:
        """Why not all effects are known; empty if they are, or if annotations tell them."""
        if self.effects.annotations:
            return frozenset()
        return frozenset(unknown.reason for unknown in self.effects.unknowns)

    @property
    def decided_by(self) -> frozenset[DecidedBy]:
        """All sources of the verdict."""
        deciders = {_decider(decision.rule) for decision in self.decisions}
        if self.for_outside_content:
            deciders.add(DecidedBy.OUTSIDE_CONTENT)
        if self.reason or self.state is CallState.REFUSED_BY_SCRIPT:
            deciders.add(DecidedBy.SCRIPT)
        return frozenset(deciders or {DecidedBy.NOTHING})

    @property
    def own_rules(self) -> tuple[Rule, ...]:
        """The rules of the user that decided, each once."""
        deciding = dict.fromkeys(decision.rule for decision in self.decisions)
        own = (one for one in deciding if one and one not in DEFAULT_RULES)
        return tuple(islice(own, _MOST_RULES))

    @property
    def approval(self) -> ApprovalWay:
        """How it was approved, or why it ran without a question."""
        if self.answer and self.answer.approved:
            if self.is_chosen:
                return ApprovalWay.CHOICE
            return self.answer.way
        if self.state is None or not self.state.has_run:
            return ApprovalWay.MISSING
        if self.verdict in (None, Verdict.ALLOW):
            return ApprovalWay.NOT_NEEDED
        return ApprovalWay.TRUSTED_AUTOMATION

    def as_record(self, origin: Origin) -> JsonObject:
        """Return its record, as documented in `docs/events.md`; `origin` identifies its turn."""
        answer = self.answer
        actions = self.actions
        verdict = self.verdict
        most = NOTHING_SHOWN if "is_guest" in origin else _MAX_ARGUMENTS
        listed = actions[:_MOST_ACTIONS]
        entity_ids = dict.fromkeys([action.entity_id for action in actions])
        return {
            **origin,
            "tool_call_id": self.call.id,
            **shown_call(self.call, most),
            "entity_ids": [*tuple(entity_ids)[:_MOST_ACTIONS]],
            "done_to": [*sorted(self.done_to)[:_MOST_ACTIONS]],
            "actions": [
                {
                    "entity_id": action.entity_id,
                    "action": action.action,
                }
                for action in listed
            ],
            "more_actions": len(actions) - len(listed),
            "unknown": [*sorted(map(str, self.unknown))],
            "verdict": str(verdict) if verdict else None,
            "decided_by": [*sorted(map(str, self.decided_by))],
            "rules": policy_to_json(Policy(self.own_rules)),
            "outcome": str(self.state),
            "error": shown_text(self.error),
            "question_id": self.question_id,
            "approval": str(self.approval),
            "answered_through": str(answer.channel) if answer else None,
            "answered_by": answer.user_id if answer else None,
        }


def _decider(rule: Rule | None) -> DecidedBy:
    if rule is None:
        return DecidedBy.TOOL
    if rule in DEFAULT_RULES:
        return DecidedBy.DEFAULT
    return DecidedBy.RULE

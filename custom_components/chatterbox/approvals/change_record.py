"""The audit record of a call that would change something: as an event, as a sentence in the logbook, and as stored.

The size of a record is bounded, so that the recorder accepts its event.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Final, Self, assert_never

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr

from ..agent.messages import JsonObject, JsonValue, ToolCall
from ..const import EVENT_CHANGE
from ..effects.effect import Annotated, Effects, EntityAction, Touches, UnknownReason, Unresolved, actions_of
from ..history.recording import async_record_change
from ..home.spoken_names import entity_name, spoken, tool_name
from ..records.turn_record import shown_call, shown_text
from ..settings.rules import DEFAULT_RULES, Rule, Verdict
from ..speech.sentences import async_get_sentences
from .action_summary import ActionKind, kind_of
from .policy import Judgement
from .questions import AskedCall, Channel, GivenAnswer

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
    """How a call was approved."""

    NOT_NEEDED = "not_needed"
    MISSING = "missing"
    """It needed approval and has none."""
    VOICE = "voice"
    PIN = "pin"
    NOTIFICATION = "notification"
    ACTION = "action"
    PROGRAM = "program"
    TRUSTED_AUTOMATION = "trusted_automation"
    """A trusted automation or script spoke to the agent."""


class ChangeOutcome(StrEnum):
    """The outcome of a call."""

    DONE = "done"
    FAILED = "failed"
    """It ran and returned an error. After a timeout it may still take effect."""
    WAITING = "waiting"
    """A question was asked. Its outcome is in another record."""
    REFUSED_BY_RULES = "refused_by_rules"
    REFUSED_BY_SCRIPT = "refused_by_script"
    """A hook script refused it, failed, or asked for approval where nobody can be asked."""
    NOT_PERMITTED = "not_permitted"
    """The user who speaks has no permission to control an entity it would act on."""
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
        return tuple(sorted(actions_of(self.effects), key=lambda action: (action not in deciding, action)))

    @property
    def unknown(self) -> frozenset[UnknownReason]:
        """Why not all effects are known; empty if they are."""
        match self.effects:
            case Unresolved(unknowns):
                return frozenset(unknown.reason for unknown in unknowns)
            case _:
                return frozenset()

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
    """Identifies its turn; see `turns.events.turn_origin`."""
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
        """Return the event data, as documented in `docs/using.md`."""
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


@dataclass(frozen=True, slots=True)
class ChangeTexts:
    """The texts of audit records in one language."""

    hass: HomeAssistant
    sentences: Mapping[str, str]
    """The category `common` of a translation, by bare key."""

    def message(self, record: ChangeRecord) -> str:
        """Return a sentence with what was done and how it was approved, or what was not done and why."""
        is_done = record.outcome is ChangeOutcome.DONE
        deeds = self._actions(record, "did" if is_done else "did_not")
        if not is_done:
            error = _cut(" ".join(record.error.split()), _LONGEST_ERROR)
            return shown_text(self._say(_reason(record), deeds=deeds, error=error or "?"))
        if record.change.unknown and record.change.actions:
            deeds = self._say("perhaps_more", deeds=deeds)
        if record.approval in (ApprovalWay.NOT_NEEDED, ApprovalWay.MISSING):
            return shown_text(deeds)
        return shown_text(self._say(f"after_{record.approval}", deeds=deeds))

    def place(self, record: ChangeRecord) -> str:
        """Return the name of the device that was spoken to, or of the agent."""
        device = _text(record.origin.get("device_id"))
        found = dr.async_get(self.hass).async_get(device) if device else None
        if found and (name := found.name_by_user or found.name):
            return spoken(name)
        named = _text(record.origin.get("satellite_id")) or _text(record.origin.get("entity_id"))
        return entity_name(self.hass, named) if named else ""

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


def _reason(record: ChangeRecord) -> str:
    """Return the key of the text that says why something was not done."""
    if record.outcome is ChangeOutcome.WAITING and record.change.verdict is Verdict.PIN:
        return "waiting_for_pin"
    return record.outcome


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@callback
def async_publish_change(texts: ChangeTexts, record: ChangeRecord, context: Context) -> None:
    """Fire the event of a record, and store the record. `context` is that of the call.

    The record is stored from here, never from the event: any user can have the app on their phone fire one.
    """
    said = {"place": texts.place(record), "message": texts.message(record)}
    change, now = {**record.as_event_data(), **said}, time.time()
    texts.hass.bus.async_fire(EVENT_CHANGE, change, context=context, time_fired=now)
    async_record_change(texts.hass, change, now)

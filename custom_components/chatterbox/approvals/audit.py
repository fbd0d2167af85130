"""The audit: a record of each call of a turn that changed something, or would have, and the texts that describe it.

`CallAudit` follows the calls that a turn runs or refuses. A call that is approved runs
in a later turn, which records it; all other outcomes of a question are recorded by
`async_audit_questions`.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, override

from homeassistant.const import (
    EVENT_HOMEASSISTANT_STOP,
    EVENT_LOGBOOK_ENTRY,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..agent.events import (
    MessageDone,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
)
from ..agent.json.text import objects_in
from ..agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from ..agent.protocols import Hooks
from ..agent.text import read_data_file
from ..const import DOMAIN, EVENT_CHANGE, LOGGER
from ..effects.effect import ActionKind, Effects, EntityAction, kind_of
from ..history.stores import async_record_change
from ..home.entity_matches import device_name, entity_name, tool_name, written
from ..records.turn_record import (
    Origin,
    entities_done,
    error_text,
    is_unconfirmed,
    shown_arguments,
    shown_text,
    targets_not_done,
)
from ..settings.rules import Verdict
from ..speech.sentences import Sentences, async_get_sentences, listed_texts
from .asking import actions_text
from .guard import CallGuard
from .questions import SIGNAL_QUESTION, Question, QuestionUpdate, async_get_approvals
from .review import ApprovalWay, CallReview, CallState, GivenAnswer, Refusal

_MOST_NAMES: Final = 5
"""Names for one kind of action in a sentence."""
_MOST_KINDS: Final = 4
"""Kinds of action in a sentence."""
_LONGEST_ERROR: Final = 200
"""Characters."""
_KEPT: Final = frozenset(
    {
        CallState.DENIED,
        CallState.EXPIRED,
        CallState.DROPPED,
        CallState.NOBODY_TO_ASK,
        CallState.PIN_NOT_SET,
    }
    | {CallState.REFUSED_BY_RULES, CallState.REFUSED_BY_SCRIPT, CallState.NOT_PERMITTED}
)
"""The states of calls that were not let through, so that things have stayed as they were."""
_KEPT_STATES: Final = read_data_file(__file__, dict[str, str])
"""The state, up to an underscore, that an entity has kept if the action was not let through."""
_WITHOUT_STATE: Final = frozenset({ActionKind.CHANGE, ActionKind.USE})
"""Kinds of action of which Home Assistant's Activity shows nothing by itself, or not always."""


@dataclass(frozen=True, slots=True)
class ChangeTexts:
    """The texts of audit records in one language."""

    hass: HomeAssistant
    sentences: Sentences

    def message(
        self,
        review: CallReview,
        *,
        is_past: bool = False,
    ) -> str:
        """Return a sentence with what was done and how it was approved, or what was not done and why.

        Of what `is_past`, nobody knows any more which state was kept.
        """
        is_done = review.state in {CallState.DONE, CallState.PARTLY}
        is_kept = review.state in _KEPT and not is_past
        actions = self._actions(
            review, "did" if is_done else "kept" if is_kept else "did_not"
        )
        if review.state is CallState.PLANNED:
            actions = actions_text(self.hass, self.sentences, review) or tool_name(
                review.acting_call.name
            )
        if review.state is not CallState.DONE:
            waits_for_pin = (
                review.state is CallState.WAITING and review.verdict is Verdict.PIN
            )
            key = "waiting_for_pin" if waits_for_pin else str(review.state)
            error = " ".join(review.error.split()) or "?"
            if len(error) > _LONGEST_ERROR:
                error = f"{error[: _LONGEST_ERROR - 1]}…"
            return shown_text(self._say(key, actions=actions, error=error))
        return shown_text(self._with_way(review, actions))

    def of_record(self, record: Mapping[str, Any]) -> str:
        """Return the message of a record in another language than that in which it was stored.

        What was planned, or may have done more, stays in that one: the record does not
        hold all that would be told.
        """
        if record["unknown"] or record["outcome"] == CallState.PLANNED:
            return _text(record["message"])
        actions = frozenset(
            EntityAction(one["entity_id"], one["action"]) for one in record["actions"]
        )
        review = CallReview(
            ToolCall("", record["name"], "{}"),
            Effects(actions),
            state=CallState(record["outcome"]),
            answer=GivenAnswer(
                approved=True,
                way=ApprovalWay(record["approval"]),
            ),
            error=record["error"],
            done_to=frozenset(record["done_to"]),
        )
        return self.message(review, is_past=True)

    def activity(
        self,
        review: CallReview,
        origin: Origin,
    ) -> str:
        """Return what was done to the only entity, and by whom; empty for anything else.

        Home Assistant's Activity page shows an entry that belongs to an entity under
        its name: "Front Door unlocked by Butler, after the PIN".
        """
        done = {(kind_of(one.action), one.entity_id) for one in review.shown_actions}
        if review.state is not CallState.DONE or len(done) != 1:
            return ""
        ((kind, _),) = done
        return shown_text(
            self._with_way(
                review,
                self._say(
                    f"by_{kind}",
                    actor=self.actor(origin),
                ),
            )
        )

    def actor(self, origin: Origin) -> str:
        """Return the name of the device that was spoken to, or of the agent, with the person who spoke."""
        place = self.place(origin)
        person = _text(origin.get("person"))
        if place and person:
            return f"{place} ({person})"
        return place or person or "Chatterbox"

    def joined(self, changes: Iterable[JsonObject]) -> str:
        """Return the messages of several changes as one text."""
        messages = [*dict.fromkeys(_text(change["message"]) for change in changes)]
        return shown_text(
            listed_texts(self.sentences, messages, _MOST_KINDS, "change_list")
        )

    def place(self, origin: Origin) -> str:
        """Return the name of the device that was spoken to, or of the agent, or of the API that was called."""
        source = _text(origin.get("source"))
        if source:
            return source
        device = device_name(
            self.hass,
            _text(origin.get("device_id")),
        )
        if device:
            return written(device)
        named = _text(origin.get("satellite_id")) or _text(origin.get("entity_id"))
        if named:
            return self.name(named)
        return ""

    def name(self, entity_id: str) -> str:
        """Return the name of an entity as it is written."""
        state = self.hass.states.get(entity_id)
        return (written(state.name) if state else "") or entity_name(
            self.hass, entity_id
        )

    def _with_way(
        self,
        review: CallReview,
        actions: str,
    ) -> str:
        """Return what was done, with how it was approved."""
        if review.unknown and review.actions:
            actions = self._say("perhaps_more", actions=actions)
        if review.approval in (ApprovalWay.NOT_NEEDED, ApprovalWay.MISSING):
            return actions
        return self._say(
            f"after_{review.approval}",
            actions=actions,
        )

    def _actions(
        self,
        review: CallReview,
        form: str,
    ) -> str:
        """Return the actions by kind, with their entities, or the name of the tool if there are none."""
        actions: dict[ActionKind, list[str]] = {}
        for action in review.shown_actions:
            those = actions.setdefault(
                kind_of(action.action),
                [],
            )
            if action.entity_id not in those:
                those.append(action.entity_id)
        if not actions:
            return self._say(
                "did_tool" if form == "did" else "did_not_tool",
                tool=tool_name(review.acting_call.name),
            )
        sentences = [self._action(kind, those, form) for kind, those in actions.items()]
        return listed_texts(self.sentences, sentences, _MOST_KINDS, "change_list")

    def _action(
        self,
        kind: ActionKind,
        entity_ids: Sequence[str],
        form: str,
    ) -> str:
        """Return one kind of action; nothing is said to have kept a state in which it is not."""
        states = {
            state.state.partition("_")[0]
            if (state := self.hass.states.get(one))
            else ""
            for one in entity_ids
        }
        if not (form != "kept" or states == {_KEPT_STATES.get(kind)}):
            form = "did_not"
        names = [*dict.fromkeys(map(self.name, entity_ids))]
        targets = listed_texts(self.sentences, names, _MOST_NAMES)
        return self._say(f"{form}_{kind}", targets=targets)

    def _say(
        self,
        key: str,
        **placeholders: str,
    ) -> str:
        return self.sentences[f"change_{key}"].format_map(placeholders)


async def async_get_change_texts(
    hass: HomeAssistant, language: str = ""
) -> ChangeTexts:
    """Load the texts of audit records in a language, or that of Home Assistant."""
    return ChangeTexts(hass, await async_get_sentences(hass, language))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return ""


def async_publish_change(
    texts: ChangeTexts,
    review: CallReview,
    origin: Origin,
    context: Context,
) -> JsonObject:
    """Fire the event of a call that would change something, store its record, and return it.

    `context` is that of the call. The record is stored from here, never from the event:
    any user can have the app on their phone fire one.
    """
    data = {
        "place": texts.place(origin),
        "message": texts.message(review),
        "activity": texts.activity(review, origin),
    }
    change = {
        **review.as_record(origin),
        **data,
    }
    now = time.time()
    texts.hass.bus.async_fire(
        EVENT_CHANGE,
        change,
        context=context,
        time_fired=now,
    )
    async_record_change(
        texts.hass,
        change,
        now,
    )
    return change


def async_add_to_activity(
    texts: ChangeTexts,
    changes: Iterable[JsonObject],
    origin: Origin,
    context: Context,
) -> None:
    """Add one entry to Home Assistant's Activity for all changes that it does not show by itself."""
    listed = [
        change for change in changes if not _is_shown_by_home_assistant(change, context)
    ]
    if not listed:
        return
    entry: JsonObject = {
        "name": texts.actor(origin),
        "message": texts.joined(listed),
        "domain": DOMAIN,
    }
    place = _text(origin.get("satellite_id")) or _text(origin.get("entity_id"))
    if place:
        entry["entity_id"] = (
            place  # whose icon is shown: an entry without an entity has none
        )
    done_to = listed[0]["done_to"] or listed[0]["entity_ids"]
    if len(listed) == 1 and listed[0]["activity"] and isinstance(done_to, list):
        entry |= {
            "name": texts.name(_text(done_to[0])),
            "message": listed[0]["activity"],
            "entity_id": done_to[0],
        }
    texts.hass.bus.async_fire(
        EVENT_LOGBOOK_ENTRY,
        entry,
        context=context,
    )


def _is_shown_by_home_assistant(change: JsonObject, context: Context) -> bool:
    """Return whether Activity shows a change by itself, with the agent as its cause.

    It does where the turn's context begins with the state of the agent, which Home
    Assistant writes at a request.
    """
    first = context.origin_event
    if (
        first is None
        or first.event_type != EVENT_STATE_CHANGED
        or first.data["entity_id"] != change["entity_id"]
    ):
        return False
    is_plain = (change["outcome"], change["approval"], change["unknown"]) == (
        "done",
        "not_needed",
        [],
    )
    kinds = {kind_of(_text(one["action"])) for one in objects_in(change["actions"])}
    return is_plain and bool(kinds) and not kinds & _WITHOUT_STATE


_EFFECTS_TIMEOUT: Final = 2.0
"""Seconds to resolve the effects of a refused call."""
_LEAST_SAFE: Final = Effects(annotations=ToolAnnotations())
"""The effects of a call whose tool is unknown."""


def _state_after(
    result: ToolResult,
    *,
    is_planned: bool,
) -> CallState:
    """Return what has become of a call that ran."""
    if result.is_error:
        return CallState.FAILED
    if is_planned:
        return CallState.PLANNED
    if targets_not_done(result.native):
        return CallState.PARTLY
    is_silent = is_unconfirmed(result.native)
    if is_silent:
        return CallState.UNCONFIRMED
    return CallState.DONE


class CallAudit(Hooks):
    """Audits the calls of one turn.

    If a turn has hook scripts, this is a hook before them, to see the calls that they
    refuse.
    """

    def __init__(
        self,
        texts: ChangeTexts,
        origin: Origin,
        context: Context,
        answered: Question | None = None,
    ) -> None:
        """Start with the approved calls: each of them gets exactly one record, whatever happens.

        `origin` identifies the turn (see `turns.record.turn_origin`), whose calls run
        in `context`. `answered` is the question that it resumes.
        """
        self._texts = texts
        self._origin = origin
        self._context = context
        self._answered = answered
        self._calls: dict[str, ToolCall] = {}
        self._running: dict[str, ToolCall] = {}
        self._refused: set[tuple[str, str]] = set()
        self._owed: dict[str, CallReview] = {}
        """Approved calls without a record, by their IDs, which are new once the turn has repeated them."""
        self._changes: list[JsonObject] = []
        """Changes that are not in Activity yet."""
        self.guard: CallGuard | None = None
        """None until the first call."""
        if answered and answered.answer and answered.answer.approved:
            self._owed = {review.call.id: review for review in answered.calls}

    @override
    async def pre_tool_use(
        self,
        tool: ToolDefinition,
        arguments: JsonObject,
    ) -> None:
        if self.guard:
            self.guard.begin_review(tool, arguments)

    pre_approved_use = pre_tool_use

    async def follow(self, event: TurnEvent) -> None:
        """Follow an event of the turn, and record a call that ends with it."""
        match event:
            case ToolCallReady(call):
                self._calls[call.id] = call
            case MessageDone(message) if self._owed:
                # A resumed turn begins with the calls of its question, in their order,
                # under new IDs.
                self._owed = dict(
                    zip(
                        (call.id for call in message.tool_calls),
                        self._owed.values(),
                        strict=False,
                    )
                )
            case ToolStarted(call):
                self._running[call.id] = call
            case ToolFinished(result):
                await self._conclude(result)
            case _:
                pass

    @callback
    def finished(self) -> None:
        """Record the calls that a cancelled turn has left without a result, and show in Activity what was done."""
        for call in self._running.values():
            review = self._owed.pop(call.id, None)
            self._record(
                self._review(call, review),
                CallState.INTERRUPTED,
                review,
            )
        for call_id, review in self._owed.items():
            call = self._calls.get(call_id, review.call)
            self._record(
                self._review(call, review),
                CallState.NOT_RUN,
                review,
            )
        async_add_to_activity(
            self._texts,
            self._changes,
            self._origin,
            self._context,
        )
        self._running = {}
        self._owed = {}
        self._changes = []

    async def _conclude(self, result: ToolResult) -> None:
        """Record the outcome of a call, unless it waits, repeats another one, or was invalid."""
        call = self._calls[result.call_id]
        self._running.pop(call.id, None)
        pending = self._owed.pop(call.id, None)
        refusal = self._refusal(call)
        if not result.synthetic:
            review = await self._resolved(self._review(call, pending))
            state = _state_after(
                result,
                is_planned=bool(review.when),
            )
            self._record(
                review,
                state,
                pending,
                result,
            )
        elif not result.is_error:
            return
        elif refusal is None and pending:
            approved = self._answered.pending.approved if self._answered else ()
            is_denied = approved and all(one.call != pending.call for one in approved)
            state = CallState.DENIED if is_denied else CallState.NOT_RUN
            self._record(
                self._review(call, pending),
                state,
                pending,
            )
        elif refusal and (key := call.key) not in self._refused:
            self._refused.add(key)
            review = self._review(call, pending)
            if refusal is CallState.REFUSED_BY_SCRIPT:
                review = await self._resolved(review)
            self._record(
                review,
                refusal,
                pending,
            )

    def _refusal(self, call: ToolCall) -> CallState | None:
        """Return how a call was refused; None if it was not."""
        seen = self.guard.review(call) if self.guard else None
        if seen and seen.judgement is None:
            return CallState.REFUSED_BY_SCRIPT
        if seen and seen.refusal:
            return _REFUSED.get(seen.refusal, CallState.REFUSED_BY_RULES)
        return None

    def _review(
        self,
        call: ToolCall,
        pending: CallReview | None,
    ) -> CallReview:
        """Return the review of a call with its latest known effects."""
        if self.guard:
            seen = self.guard.review(call)
        else:
            seen = None
        if pending and (seen is None or seen.judgement is None):
            return replace(pending, call=call)
        return replace(
            seen or CallReview(call, _LEAST_SAFE),
            reason=pending.reason if pending else "",
        )

    async def _resolved(self, review: CallReview) -> CallReview:
        """Resolve the effects of a call that was never judged."""
        if (
            review.judgement is not None
            or not review.changes_something
            or self.guard is None
        ):
            return review
        try:
            async with asyncio.timeout(_EFFECTS_TIMEOUT):
                effects = await self.guard.effects_of(
                    review.call.name, shown_arguments(review.call)
                )
        except Exception:  # noqa: BLE001  # an incomplete record is better than a failed turn
            LOGGER.warning(
                "Could not tell what %s would have done",
                review.call.name,
                exc_info=True,
            )
            return review
        return replace(review, effects=effects)

    def _record(
        self,
        review: CallReview,
        state: CallState,
        pending: CallReview | None,
        result: ToolResult | None = None,
    ) -> None:
        if not review.changes_something:
            return
        not_done = targets_not_done(result.native) if result else ()
        question = self._answered if pending or review.is_repeated else None
        review = replace(
            review,
            state=state,
            question_id=question.id if question else None,
            is_chosen=question is not None and review.call.key in question.chosen_calls,
            answer=question.answer if question else None,
            error=error_text(result)
            if result and result.is_error
            else ", ".join(map(str, not_done)),
            done_to=entities_done(result.native) if result else frozenset(),
        )
        self._changes.append(
            async_publish_change(
                self._texts,
                review,
                self._origin,
                self._context,
            )
        )


_REFUSED: Final = {
    Refusal.NOBODY: CallState.NOBODY_TO_ASK,
    Refusal.PIN_BY_API_CLIENT: CallState.NOBODY_TO_ASK,
    Refusal.PIN_NOT_SET: CallState.PIN_NOT_SET,
    Refusal.PERMISSION: CallState.NOT_PERMITTED,
    Refusal.UNREACHABLE: CallState.UNREACHABLE,
}
"""The states of calls that were refused for another reason than rules."""


def async_audit_questions(hass: HomeAssistant) -> None:
    """Record the outcome of every question, for all agents, until Home Assistant stops."""
    async_dispatcher_connect(
        hass,
        SIGNAL_QUESTION,
        partial(_async_record_update, hass),
    )
    hass.bus.async_listen_once(
        EVENT_HOMEASSISTANT_STOP,
        partial(_drop_all, hass),
    )


@callback
def _drop_all(hass: HomeAssistant, _stop: Event) -> None:
    """Drop all questions, which do not survive a restart, so that each has an outcome."""
    approvals = async_get_approvals(hass)
    for question in approvals.waiting:
        approvals.drop(question.id)


async def _async_record_update(
    hass: HomeAssistant,
    update: QuestionUpdate,
) -> None:
    if update.state in (
        CallState.APPROVED,
        CallState.CONCLUDED,
    ):  # the calls have records of their own
        return
    question = update.question
    texts = await async_get_change_texts(hass)
    changes: list[JsonObject] = []
    for one in (*question.calls, *question.later):
        if one.changes_something:
            review = replace(
                one, state=update.state, question_id=question.id, answer=question.answer
            )
            changes.append(
                async_publish_change(
                    texts,
                    review,
                    question.origin,
                    question.context,
                )
            )
    if update.state is not CallState.WAITING:  # whose outcome follows
        async_add_to_activity(
            texts,
            changes,
            question.origin,
            question.context,
        )

"""Tells automations, on Home Assistant's event bus, that a question waits for a yes.

Knows the bus and questions. Must not know who may answer, nor how a question is worded. Texts, arguments and lists of
entities are cut, so that Home Assistant can record the event.
"""

from collections.abc import Iterable
from typing import Final

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonValue
from ..const import EVENT_APPROVAL_REQUESTED
from ..effects.effect import actions_of
from ..people.callers import async_get_context_watch
from ..records.report import shown_call, shown_text
from .questions import SIGNAL_QUESTION, AskedCall, Question, QuestionState, QuestionUpdate, async_get_approvals

# Bytes; Home Assistant records up to 32,768 of an event.
_MAX_CALLS: Final = 24_000
_MAX_SHARE: Final = 6_000
"""Of one call: as much for its arguments, for the entities, and for the actions, together."""


@callback
def async_fire_question_events(hass: HomeAssistant) -> None:
    """Fire an event for every question of this house from now on."""

    @callback
    def tell(news: QuestionUpdate) -> None:
        if news.state is QuestionState.WAITING:
            # An automation may answer at once: everybody else is to hear first that there is a question.
            name = f"chatterbox event of question {news.question.id}"
            _ = hass.async_create_task(_async_fire(hass, news.question), name, eager_start=False)

    async_dispatcher_connect(hass, SIGNAL_QUESTION, tell)


def expiry(question: Question) -> str:
    """Return when a question runs out, in ISO 8601 with its offset."""
    return dt_util.utc_from_timestamp(question.pending.expires_at).isoformat()


async def _async_fire(hass: HomeAssistant, question: Question) -> None:
    """Fire it in a context of its own, below that of the turn, unless the question is gone already.

    So an automation that answers because of this event can be told from what the turn itself has set off.
    """
    if question not in async_get_approvals(hass).waiting:
        return
    context = Context(user_id=question.context.user_id, parent_id=question.context.id)
    async_get_context_watch(hass).detach(context)
    share = min(_MAX_CALLS // max(len(question.calls), 1), _MAX_SHARE)
    data: dict[str, JsonValue] = {
        **question.origin,
        "approval_id": question.id,
        "question": shown_text(question.text),
        "calls": [_shown(asked, share) for asked in question.calls],
        "needs_pin": question.needs_pin,
        "is_foreseen": question.is_foreseen,
        "expires_at": expiry(question),
    }
    hass.bus.async_fire(EVENT_APPROVAL_REQUESTED, data, context=context)


def _shown(asked: AskedCall, most: int) -> dict[str, JsonValue]:
    actions = {action.action for action in actions_of(asked.effects)}
    shown = _first(asked.entity_ids, most // 3)
    return {
        **shown_call(asked.pending.call, most // 3),
        "entity_ids": shown,
        "more_entity_ids": len(asked.entity_ids) - len(shown),
        "actions": _first(actions, most // 3),
        "needs_pin": asked.needs_pin,
    }


def _first(names: Iterable[str], most: int) -> list[JsonValue]:
    """Return names in their order, as many as fit into so many bytes."""
    shown: list[JsonValue] = []
    for name in sorted(names):
        most -= len(name.encode()) + 3
        if most < 0:
            break
        shown.append(name)
    return shown

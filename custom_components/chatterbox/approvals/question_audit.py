"""Tells of the calls that a question is about: that they wait, and what comes of them unless somebody says yes.

Knows questions and what becomes of them. A call that somebody says yes to runs in a turn of its own, which tells of it
(`approvals/audit.py`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from .change_record import ApprovalWay, AuditedCall, ChangeOutcome, ChangeRecord
from .change_words import async_fire_change, async_get_change_texts
from .questions import SIGNAL_QUESTION, QuestionState, QuestionUpdate, async_get_approvals

_OUTCOMES: Final[Mapping[QuestionState, ChangeOutcome]] = {
    QuestionState.WAITING: ChangeOutcome.WAITING,
    QuestionState.DENIED: ChangeOutcome.DENIED,
    QuestionState.DROPPED: ChangeOutcome.DROPPED,
    QuestionState.EXPIRED: ChangeOutcome.EXPIRED,
}


@callback
def async_audit_questions(hass: HomeAssistant) -> None:
    """Begin to tell, once for all agents, and go on until Home Assistant stops: agents that go leave questions."""
    async_dispatcher_connect(hass, SIGNAL_QUESTION, partial(_async_tell, hass))
    hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, partial(_drop_all, hass))


@callback
def _drop_all(hass: HomeAssistant, _stop: Event) -> None:
    """Leave no question without an end: none waits any more after a restart."""
    approvals = async_get_approvals(hass)
    for question in approvals.waiting:
        approvals.drop(question.id)


async def _async_tell(hass: HomeAssistant, news: QuestionUpdate) -> None:
    if (outcome := _OUTCOMES.get(news.state)) is None:
        return
    question, words = news.question, await async_get_change_texts(hass)
    for change in map(AuditedCall.of_asked, question.calls):
        if change.changes_something:
            record = ChangeRecord(
                origin=question.origin,
                change=change,
                outcome=outcome,
                approval=ApprovalWay.MISSING,
                question_id=question.id,
                answer=news.answer,
            )
            async_fire_change(words, record, question.context)

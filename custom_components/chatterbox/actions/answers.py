"""The actions `chatterbox.approve` and `chatterbox.deny`: answer an approval from an automation or a dashboard."""

from typing import Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.core import (
    Context,
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.exceptions import ServiceValidationError, Unauthorized

from ..approvals.questions import (
    AnswerRefusal,
    Question,
    QuestionGone,
    async_get_approvals,
    async_refusal,
)
from ..approvals.review import ApprovalWay, GivenAnswer
from ..const import DOMAIN
from ..speech.sentences import translated

SERVICE_APPROVE: Final = "approve"
SERVICE_DENY: Final = "deny"
ATTR_APPROVAL_ID: Final = "approval_id"

_SCHEMA: Final = vol.Schema({vol.Optional(ATTR_APPROVAL_ID): cv.string})
_OF_USERS: Final = {
    AnswerRefusal.UNKNOWN_USER,
    AnswerRefusal.NOT_IN_CONTROL,
    AnswerRefusal.OF_SOMEBODY_ELSE,
    AnswerRefusal.NEEDS_ADMIN,
}
"""Refusals because of the calling user."""


class NotYoursToAnswer(Unauthorized):
    """The user may not answer the question."""

    def __init__(
        self,
        context: Context,
        refusal: AnswerRefusal,
    ) -> None:
        """Set the context of the call, and why it was refused."""
        super().__init__(context)
        self.translation_domain = DOMAIN
        self.translation_key = f"question_{refusal}"
        self.generate_message = True


def async_register_answers(hass: HomeAssistant) -> None:
    """Register the actions."""
    for service in (SERVICE_APPROVE, SERVICE_DENY):
        hass.services.async_register(
            DOMAIN, service, _async_answer, _SCHEMA, SupportsResponse.OPTIONAL
        )


async def _async_answer(call: ServiceCall) -> ServiceResponse:
    """Answer a question, and return what the agent says as `speech`, together with the `approval_id`."""
    hass = call.hass
    approved = call.service == SERVICE_APPROVE
    question = _question(
        hass,
        call.data.get(ATTR_APPROVAL_ID),
    )
    refusal = await async_refusal(
        hass,
        question,
        call.context,
        approved=approved,
    )
    if refusal:
        raise (
            NotYoursToAnswer(call.context, refusal)
            if refusal in _OF_USERS
            else _invalid(refusal)
        )
    answer = GivenAnswer(
        approved,
        way=ApprovalWay.ACTION,
        user_id=call.context.user_id,
    )
    try:
        speech = await async_get_approvals(hass).answer(
            question.id,
            answer,
        )
    except QuestionGone as error:
        raise _invalid("gone") from error
    if call.return_response:
        return {
            ATTR_APPROVAL_ID: question.id,
            "speech": speech,
        }
    return None


def _question(
    hass: HomeAssistant,
    question_id: str | None,
) -> Question:
    """Return the question with an id; without one, the only open question."""
    waiting = async_get_approvals(hass).waiting
    if question_id is not None:
        waiting = tuple(question for question in waiting if question.id == question_id)
    match waiting:
        case [question]:
            return question
        case []:
            raise _invalid("none" if question_id is None else "gone")
        case _:
            raise _invalid("several")


def _invalid(key: str) -> ServiceValidationError:
    return translated(ServiceValidationError, f"question_{key}")

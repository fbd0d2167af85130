"""Runs the call of a plan that is due: a turn without words and without a model, under the terms of the approval."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, override

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now

from ..agent.conversation.own_words import NO_MODEL
from ..agent.events import CompletionResult, PendingApproval, PendingCall, ProviderEvent
from ..agent.loop.turn import Turn
from ..agent.messages import FinishReason, ToolAnnotations, ToolCall
from ..agent.protocols import CompletionRequest, LLMProvider
from ..approvals.questions import ApprovalScope, Question
from ..approvals.review import ApprovalWay, CallReview, GivenAnswer
from ..effects.effect import Annotated
from ..people.speakers import Speaker
from ..turns.continuity import Continuity, Thread
from ..turns.input import TurnInput
from ..turns.resume import async_run_alone
from ..turns.run import AgentTurns
from ..turns.source import TurnSource
from .plans import FuturePlan, PlannedCall

_EXPIRES_IN: Final = 60.0
"""Seconds in which the call has to start."""


class _Silence(LLMProvider):
    """Answers nothing, so that a turn says what its calls have come to."""

    @override
    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        yield CompletionResult(FinishReason.STOP, provider_items=(NO_MODEL,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanSource(TurnSource):
    """A plan that is due, at a time at which nobody can be asked."""

    @override
    def provider(self) -> LLMProvider:
        return _Silence()

    @override
    async def async_thread(
        self, continuity: Continuity, asked_for: str | None, speaker: Speaker, chat_log: ChatLog
    ) -> Thread:
        """Return a conversation of its own."""
        return continuity.thread_of(chat_log.conversation_id)

    @override
    def adapted(self, turn: Turn) -> Turn:
        """Return the turn as it is: no answer is expected."""
        return turn


async def async_act(hass: HomeAssistant, turns: AgentTurns, agent_id: str, plan: FuturePlan) -> str:
    """Run the call of a plan, and return why it was not done; empty if it was. `agent_id` is an entity id."""
    if plan.call is None:
        return ""
    asker = plan.asker
    speaker, context = asker.speaker, Context(user_id=asker.user_id)
    where = ulid_now(), asker.device_id, asker.satellite_id
    user_input = ConversationInput("", context, *where, plan.language, agent_id)
    question = _approved(plan.call, user_input, agent_id, speaker)
    record = await async_run_alone(hass, turns, TurnInput(user_input, speaker, _PlanSource(), question))
    results = record.finished.tool_results if record.finished else ()
    if results and not any(result.is_error for result in results):
        return ""
    return record.finished.text if record.finished else ""


def _approved(call: PlannedCall, user_input: ConversationInput, agent_id: str, speaker: Speaker) -> Question:
    """Return the call as one that was asked about and approved on the terms of the plan."""
    planned = ToolCall(f"plan_{ulid_now()}", call.tool, call.arguments)
    expires_at = dt_util.utcnow().timestamp() + _EXPIRES_IN
    pending = PendingApproval(ulid_now(), (PendingCall(planned, "", call.terms),), expires_at, 0, 0)
    scope = ApprovalScope.of_input(user_input, agent_id, str(user_input.conversation_id))
    reviews = (CallReview(planned, Annotated(ToolAnnotations())),)
    question = Question(pending, reviews, "", user_input.language, scope, speaker, user_input.context)
    return question.with_answer(GivenAnswer(approved=True, way=ApprovalWay.PLAN, user_id=speaker.user_id))

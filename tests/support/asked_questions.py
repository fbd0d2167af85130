"""Questions as they wait for an answer: to unlock the front door, with a PIN or without."""

from homeassistant.core import Context

from custom_components.chatterbox.agent.confirmation.answers import QuestionContext
from custom_components.chatterbox.agent.confirmation.language import Action
from custom_components.chatterbox.agent.events import PendingApproval, PendingCall
from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.approvals.policy import Judgement
from custom_components.chatterbox.approvals.questions import ApprovalScope, AskedCall, GivenAnswer, Question
from custom_components.chatterbox.effects.effect import EntityAction, Touches
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.rules import Verdict

UNLOCK = EntityAction("lock.front_door", "lock.unlock")
NAMED = QuestionContext(Action.UNLOCK, ("Front door",))
"""What the question names."""


def scope(
    conversation_id: str = "a-talk", device_id: str | None = None, agent_id: str = "conversation.hilda"
) -> ApprovalScope:
    """Return where a question is asked."""
    return ApprovalScope(agent_id, conversation_id, device_id, satellite_id=None, user_id=None)


def unlocking(where: ApprovalScope, *, needs_pin: bool, question_id: str = "question-1") -> Question:
    """Return the question whether the front door shall be unlocked."""
    waiting = PendingCall(ToolCall("call-1", "intent__HassUnlock", '{"name":"Front door"}'), reason="")
    judgement = Judgement(Verdict.PIN if needs_pin else Verdict.ASK, ())
    return Question(
        PendingApproval(question_id, (waiting,), expires_at=0, iterations=1, tool_calls=1),
        (AskedCall(waiting, Touches(frozenset({UNLOCK})), judgement),),
        "Unlock the front door?",
        "en",
        where,
        Speaker(asking=Asking.PERSON),
        Context(),
    )


async def nobody_goes_on(_question: Question, _answer: GivenAnswer) -> str:
    """Say nothing after an answer that comes from elsewhere."""
    return ""

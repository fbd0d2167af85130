"""Ends a turn that needs a yes with a question.

Knows the events of a turn, what its calls would do, and how that is said. Must not know who keeps a question, or what
an answer is.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.events import MessageDone, PendingApproval, PendingCall, TextDelta, TurnEvent, TurnFinished
from ..agent.messages import AssistantMessage, JsonValue
from ..people.speakers import Speaker
from ..speech.sentences import TranslatedComposer
from .guard import CallGuard
from .questions import ApprovalScope, Question
from .wording import ApprovalSentences, question_text

type Keep = Callable[[Question, float], bool]
"""Keeps a question for so many seconds; tells whether anybody may still answer it."""


def scope_of(user_input: ConversationInput, agent_id: str, conversation_id: str) -> ApprovalScope:
    """Return where a question is asked that comes of somebody's words."""
    device_id, satellite_id = user_input.device_id, user_input.satellite_id
    return ApprovalScope(agent_id, conversation_id, device_id, satellite_id, user_input.context.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequester:
    """Asks in one turn."""

    hass: HomeAssistant
    user_input: ConversationInput
    """What led to the question."""
    scope: ApprovalScope
    speaker: Speaker
    origin: Mapping[str, JsonValue]
    """See `turn_events.turn_origin`."""
    approved: Sequence[PendingCall]
    """The calls that somebody has said yes to as the turn began."""
    guard: CallGuard
    composer: TranslatedComposer
    keep: Keep
    is_written: bool = True
    """Whether the question is said in words. A program is handed the calls instead."""

    def ask(self, end: TurnFinished, pending: PendingApproval) -> Iterator[TurnEvent]:
        """Ask, and yield the events that a turn ends with then; what was done beside is said before the question."""
        question = self._question(pending)
        is_kept = self.keep(question, max(pending.expires_at - time.time(), 0))
        if not self.is_written:
            yield replace(end, pending=pending if is_kept else None)
            return
        asked = question.text if is_kept else ApprovalSentences(self.composer.sentences).dropped
        text = " ".join(filter(None, (self.composer.done(end.tool_results), asked)))
        yield TextDelta(text)
        yield MessageDone(AssistantMessage(text))
        yield replace(end, text=text, pending=pending if is_kept else None)

    def _question(self, pending: PendingApproval) -> Question:
        sentences, calls = self.composer.sentences, self.guard.asked(pending)
        again = ApprovalSentences(sentences).asked_again if self._has_changed(pending) else ""
        text = f"{again} {question_text(self.hass, sentences, calls)}".lstrip()
        language, context = self.user_input.language, self.user_input.context
        return Question(pending, calls, text, language, self.scope, self.speaker, context, self.origin)

    def _has_changed(self, pending: PendingApproval) -> bool:
        """Tell whether a call is asked about anew that somebody has said yes to: it would do something else by now."""
        approved = {(gated.call.name, gated.call.arguments) for gated in self.approved}
        return any((gated.call.name, gated.call.arguments) in approved for gated in pending.calls)

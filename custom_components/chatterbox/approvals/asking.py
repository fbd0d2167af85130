"""Ends a turn whose calls need approval with a question."""

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
from .wording import question_text

type Keep = Callable[[Question, float], bool]
"""Opens a question for a number of seconds; returns whether it can be answered at all."""


def scope_of(user_input: ConversationInput, agent_id: str, conversation_id: str) -> ApprovalScope:
    """Return the scope of a question that user input led to."""
    device_id, satellite_id = user_input.device_id, user_input.satellite_id
    return ApprovalScope(agent_id, conversation_id, device_id, satellite_id, user_input.context.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequester:
    """Asks the question of one turn."""

    hass: HomeAssistant
    user_input: ConversationInput
    """The input that led to the question."""
    scope: ApprovalScope
    speaker: Speaker
    origin: Mapping[str, JsonValue]
    """See `turns.events.turn_origin`."""
    approved: Sequence[PendingCall]
    """The calls that were approved when the turn was resumed."""
    guard: CallGuard
    composer: TranslatedComposer
    keep: Keep
    is_written: bool = True
    """Whether the question is said in words. A program is handed the calls instead."""

    def ask(self, end: TurnFinished, pending: PendingApproval) -> Iterator[TurnEvent]:
        """Ask, and yield the last events of the turn. The text names what was done before it asks."""
        question = self._question(pending)
        is_kept = self.keep(question, max(pending.expires_at - time.time(), 0))
        if not self.is_written:
            yield replace(end, pending=pending if is_kept else None)
            return
        asked = question.text if is_kept else self.composer.sentences["spoken_question_dropped"]
        text = " ".join(filter(None, (self.composer.done(end.tool_results), asked)))
        yield TextDelta(text)
        yield MessageDone(AssistantMessage(text))
        yield replace(end, text=text, pending=pending if is_kept else None)

    def _question(self, pending: PendingApproval) -> Question:
        sentences, calls = self.composer.sentences, self.guard.asked(pending)
        again = sentences["spoken_asked_again"] if self._has_changed(pending) else ""
        text = f"{again} {question_text(self.hass, sentences, calls)}".lstrip()
        language, context = self.user_input.language, self.user_input.context
        return Question(pending, calls, text, language, self.scope, self.speaker, context, self.origin)

    def _has_changed(self, pending: PendingApproval) -> bool:
        """Return whether an approved call needs approval again, because its effects have changed."""
        approved = {(gated.call.name, gated.call.arguments) for gated in self.approved}
        return any((gated.call.name, gated.call.arguments) in approved for gated in pending.calls)

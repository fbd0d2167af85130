"""What a turn of an agent begins with: who says what, in which circumstances.

Knows the parts of a beginning. Must not know where they come from, or what is made of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from homeassistant.components.conversation import ConversationInput
from homeassistant.helpers import llm

from .agent.events import GatedCall
from .agent.output_format import OutputFormat
from .agent.turn import ApprovalAnswer, Approved, Denied
from .approvals import GivenAnswer, Question
from .program_turn import ProgramTurn
from .speakers import Speaker


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a turn begins with."""

    user_input: ConversationInput
    """The words of a person; their text is empty in a turn that goes on without any."""
    speaker: Speaker
    answered: tuple[Question, GivenAnswer] | None = None
    """A question that was answered, by these words or elsewhere."""
    opening: str = ""
    """What is said before the answer."""
    asks_again: bool = False
    """The answer asks for another one."""
    reply: str = ""
    """The answer, where nobody has to think about it."""
    output: OutputFormat | None = None
    """What shape the answer has to have; None for words."""
    brought: llm.API | None = None
    """Tools that there are for this turn only."""
    program: ProgramTurn | None = None
    """What a program brings that speaks; None where it is a person, an automation or a task."""

    @property
    def is_kept(self) -> bool:
        """Tell whether what is said may be stored, where the agent keeps anything."""
        return self.program is None or self.program.request.is_kept

    @property
    def approved(self) -> Sequence[GatedCall]:
        """The calls that somebody has said yes to, with the PIN where it is needed."""
        if self.answered is None:
            return ()
        question, answer = self.answered
        if self.program is not None:
            decisions = self.program.decisions
            return [gated for gated in question.pending.calls if isinstance(decisions.get(gated.call.id), Approved)]
        is_yes = answer.approved and (answer.with_pin or not question.needs_pin)
        return question.pending.calls if is_yes else ()

    @property
    def denied(self) -> Sequence[GatedCall]:
        """The calls that a program has said no to, beside a yes to others."""
        if self.program is None or self.answered is None:
            return ()
        return [gated for gated in self.answered[0].pending.calls if gated not in self.approved]

    @property
    def approval(self) -> ApprovalAnswer | None:
        """The answer to a question, as the loop takes it."""
        if self.answered is None:
            return None
        pending = self.answered[0].pending
        if self.program is not None:
            return ApprovalAnswer(pending, self.program.decisions)
        decision = Approved() if self.approved else Denied()
        return ApprovalAnswer(pending, {gated.call.id: decision for gated in pending.calls})

    @property
    def is_heard(self) -> bool:
        """Tell whether a voice says the answer."""
        return self.user_input.satellite_id is not None or self.user_input.device_id is not None

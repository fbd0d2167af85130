"""Canned replies, for which no model is asked, and prefixes of answers."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from ..agent.events import MessageDone, Phase, PhaseEntered, StopReason, TextDelta, TurnEvent, TurnFinished
from ..agent.messages import AssistantMessage, Usage


async def reply_events(text: str) -> AsyncGenerator[TurnEvent]:
    """Yield the events of a turn whose answer is known."""
    yield PhaseEntered(Phase.RECEIVE_INPUT)
    yield PhaseEntered(Phase.RESPONSE_COMPOSITION)
    yield TextDelta(text)
    yield MessageDone(AssistantMessage(text))
    yield PhaseEntered(Phase.OUTPUT)
    yield TurnFinished(StopReason.COMPLETED, text, Usage(), 0)


@dataclass(slots=True)
class Prefix:
    """Words that a turn begins with, whatever its answer is."""

    text: str
    _is_said: bool = False

    def put_before(self, event: TurnEvent) -> TurnEvent:
        """Return an event of the turn, with these words where the answer begins, and where it stands as a whole."""
        match event:
            case TextDelta(text) if not self._is_said:
                self._is_said = True
                return TextDelta(f"{self.text} {text}")
            case TurnFinished(text=text):
                return replace(event, text=f"{self.text} {text}".strip())
            case _:
                return event

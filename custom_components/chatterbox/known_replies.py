"""The events of a turn whose answer is known, or begins with something that is: no model has to be asked for it.

Knows the events of a turn. Must not know what is said, or why.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from .agent.events import MessageDone, Phase, PhaseEntered, StopReason, TextDelta, TurnEvent, TurnFinished
from .agent.messages import AssistantMessage, Usage


async def reply_events(text: str) -> AsyncGenerator[TurnEvent]:
    """Yield the events of a turn whose answer is known."""
    yield PhaseEntered(Phase.RECEIVE_INPUT)
    yield PhaseEntered(Phase.RESPONSE_COMPOSITION)
    yield TextDelta(text)
    yield MessageDone(AssistantMessage(text))
    yield PhaseEntered(Phase.OUTPUT)
    yield TurnFinished(StopReason.COMPLETED, text, Usage(), 0)


async def opened(events: AsyncGenerator[TurnEvent], opening: str) -> AsyncGenerator[TurnEvent]:
    """Yield the events of a turn, whose first words are the opening."""
    said = f"{opening} " if opening else ""
    async with aclosing(events):
        async for event in events:
            match event:
                case TextDelta(text) if said:
                    yield TextDelta(said + text)
                    said = ""
                case TurnFinished():
                    yield replace(event, text=f"{opening} {event.text}".strip()) if opening else event
                case _:
                    yield event

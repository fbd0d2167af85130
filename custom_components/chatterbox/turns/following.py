"""Follows a turn while it is walked: who is told of what happens, in which order, and what is added to it.

Knows the events of a turn. Must not know how a turn is walked, or what becomes of what passes here.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from ..agent.events import MessageDone, ToolCallReady, ToolFinished, ToolStarted, TurnEvent, TurnFinished
from ..approvals.asking import ApprovalRequester
from ..approvals.audit import CallAudit
from ..responses.api_turn import ProgramTurn
from .canned_replies import Opening
from .events import TurnEvents


@dataclass(slots=True)
class TurnFollowing:
    """Everybody who follows one turn. There is one loop for all: a turn has an event for each piece of its answer."""

    house: TurnEvents
    audit: CallAudit
    opening: Opening | None = None
    """What is said first."""
    asker: Callable[[], ApprovalRequester] | None = None
    """Returns who asks where a yes is needed; None in a turn that calls nothing."""
    program: ProgramTurn | None = None
    """The program that speaks."""

    async def follow(self, walk: AsyncGenerator[TurnEvent]) -> AsyncGenerator[TurnEvent]:
        """Yield the events of a turn as they are said and stored."""
        changes_nothing = self.program is None and self.opening is None
        try:
            async for event in walk:
                match event:
                    case ToolCallReady() | ToolStarted() | ToolFinished() | MessageDone():
                        self.house.tell(event)
                        await self.audit.follow(event)
                    case TurnFinished(pending=pending) if pending is not None and self.asker is not None:
                        for last in self.asker().ask(event, pending):
                            yield self._passed(last)
                        continue
                    case _:
                        pass
                yield event if changes_nothing else self._passed(event)
        finally:
            await walk.aclose()

    def _passed(self, event: TurnEvent) -> TurnEvent:
        if self.program is not None:
            self.program.hear(event)
        return event if self.opening is None else self.opening.put_before(event)

"""Recording a turn: while it runs on the event bus and in the audit, and when it is over in the store and for usage."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send

from ..agent.events import (
    MessageDone,
    PendingApproval,
    Phase,
    PhaseEntered,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnFinished,
)
from ..agent.messages import AssistantMessage, Usage
from ..approvals.asking import ApprovalRequester
from ..approvals.audit import AuditedTurn, CallAudit
from ..approvals.change_record import async_get_change_texts
from ..history.recording import TurnRecording
from ..records.turn_record import SIGNAL_TURN, TurnRecord
from .events import TurnEvents
from .input import TurnInput


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


async def async_audit(hass: HomeAssistant, read: TurnInput, record: TurnRecord) -> CallAudit:
    """Return the audit of a turn, which owes a record of each call that was approved."""
    turn = AuditedTurn(
        origin=record.origin, context=read.user_input.context, answered=read.answered, denied=read.denied
    )
    return CallAudit(turn, await async_get_change_texts(hass))


@dataclass(slots=True)
class TurnRecorder:
    """Records one turn, from `start` to `finish`, whatever happens in between."""

    hass: HomeAssistant
    read: TurnInput
    record: TurnRecord
    audit: CallAudit
    events: TurnEvents
    recording: TurnRecording
    prefix: Prefix | None
    requester: ApprovalRequester | None = None
    """Asks for approval; None in a turn that calls no tool."""

    @callback
    def start(self) -> None:
        """Tell that the turn has begun."""
        self.events.started()

    async def async_follow(self, event: TurnEvent) -> Sequence[TurnEvent]:
        """Record an event of the loop, and return the events that are said and stored in its place."""
        match event:
            case ToolCallReady() | ToolStarted() | ToolFinished() | MessageDone():
                self.events.tell(event)
                await self.audit.follow(event)
            case TurnFinished(pending=PendingApproval() as pending) if self.requester is not None:
                return [self._passed(last) for last in self.requester.ask(event, pending)]
            case _:
                pass
        return (self._passed(event),)

    def _passed(self, event: TurnEvent) -> TurnEvent:
        self.read.source.hear(event)
        return event if self.prefix is None else self.prefix.put_before(event)

    async def async_settle(self) -> None:
        """Store the turn, and wait a moment until it is safe."""
        await self.recording.async_settle()

    @callback
    def finish(self) -> None:
        """Record the end of the turn, also of one that was cut off."""
        self.audit.finished()
        self.events.finished(self.record)
        async_dispatcher_send(self.hass, SIGNAL_TURN, self.record)
        self.recording.async_store()


async def async_start_recording(
    hass: HomeAssistant, entry: ConfigEntry, subentry: ConfigSubentry, read: TurnInput, record: TurnRecord
) -> TurnRecorder:
    """Start to record a turn."""
    # An API client that only claims to be at a satellite must not end the conversation there.
    stored_as = {**record.origin, "device_id": read.speaker.sure_device_id}
    recorder = TurnRecorder(
        hass,
        read,
        record,
        await async_audit(hass, read, record),
        TurnEvents(hass, read.user_input.context, record.origin, tells_words=record.is_stored),
        TurnRecording(hass, entry, subentry, stored_as, record, is_wanted=record.is_stored),
        Prefix(read.prefix) if read.prefix else None,
    )
    recorder.start()
    return recorder

"""Recording a turn: while it runs on the event bus and in the audit, and when it is over in the store and for usage."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from homeassistant.components.conversation import ConversationInput, ConversationResult
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util.ulid import ulid_now

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
from ..agent.messages import AssistantMessage, JsonObject, JsonValue, ToolCall, Usage
from ..approvals.asking import ApprovalRequester
from ..approvals.audit import AuditedTurn, CallAudit, async_get_change_texts
from ..const import EVENT_TOOL_CALLED, EVENT_TOOL_FINISHED, EVENT_TURN_FINISHED, EVENT_TURN_STARTED
from ..history.stores import TurnRecording
from ..people.speakers import Speaker, async_get_context_watch
from ..records.turn_record import (
    NOTHING_SHOWN,
    SIGNAL_TURN,
    TurnRecord,
    parsed_content,
    shown_arguments,
    shown_call,
    shown_result,
    times_of,
)
from .input import TurnInput

_MAX_SHOWN: Final = 10_000
"""Bytes of the arguments, and of the result, of one call; Home Assistant records up to 32,768 of an event."""


def turn_origin(
    user_input: ConversationInput, agent_id: str, conversation_id: str, speaker: Speaker, history_id: str = ""
) -> Mapping[str, JsonValue]:
    """Return what tells a turn from others: who answers whom, where, and in which conversation.

    `turn_id` (new with every call of this), `entity_id` (the agent's), `conversation_id`, `history_id` (the same, or
    that of an earlier conversation that goes on), `language`; `device_id`, `satellite_id`, `user_id`, `person_id`,
    `person` (a name) and `caller` (the automation or the script that speaks) are None where they are not known.
    """
    return {
        "turn_id": ulid_now(),
        "entity_id": agent_id,
        "conversation_id": conversation_id,
        "history_id": history_id or conversation_id,
        "language": user_input.language,
        "device_id": speaker.device_id,
        "satellite_id": user_input.satellite_id,
        "user_id": speaker.user_id,
        "person_id": speaker.person_id,
        "person": speaker.name,
        "caller": speaker.caller,
    }


@dataclass(slots=True)
class TurnEvents:
    """The events of one turn. `started` is followed by `finished`, whatever happens in between."""

    hass: HomeAssistant
    context: Context
    """Of whoever spoke; events that come of it can be traced back to them."""
    origin: Mapping[str, JsonValue]
    """What every event begins with; see `turn_origin`."""
    tells_words: bool = True
    """Whether what is said, and what tools are told and answer, may be told: Home Assistant stores its events."""
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    _shown: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    """What is told of the calls that run, by their ids."""

    @callback
    def started(self) -> None:
        """Tell that somebody said something. What it was is not told before hooks had a chance to hide it."""
        async_get_context_watch(self.hass).take_for_turn(self.context)
        self._fire(EVENT_TURN_STARTED, {})

    @callback
    def tell(self, event: TurnEvent) -> None:
        """Tell of a tool, if an event of the turn is about one."""
        match event:
            case ToolCallReady(call):
                self._calls[call.id] = call
            case ToolStarted(call):
                shown = self._shown[call.id] = {"tool_call_id": call.id, **shown_call(call, self._most)}
                self._fire(EVENT_TOOL_CALLED, shown)
            case ToolFinished(result):
                call = self._calls[result.call_id]
                shown = self._shown.get(call.id) or {"tool_call_id": call.id, **shown_call(call, self._most)}
                has_run = {"has_run": not result.synthetic}
                self._fire(EVENT_TOOL_FINISHED, {**shown, **shown_result(result, self._most), **has_run})
            case _:
                pass

    @callback
    def finished(self, report: TurnRecord) -> None:
        """Tell how it went."""
        self._fire(EVENT_TURN_FINISHED, report.as_event_data(tells_words=self.tells_words))

    @property
    def _most(self) -> int:
        return _MAX_SHOWN if self.tells_words else NOTHING_SHOWN

    def _fire(self, event_type: str, data: Mapping[str, JsonValue]) -> None:
        self.hass.bus.async_fire(event_type, {**self.origin, **data}, context=self.context)


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
        await self.recording.async_wait_until_stored()

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


_TIMINGS: Final = ("duration", "first_words", "phases", "inferences", "tools")


@dataclass(slots=True, kw_only=True)
class ReportedResult(ConversationResult):
    """The result of a turn with its record."""

    record: TurnRecord

    def as_response(self) -> JsonObject:
        """Return the whole turn as `docs/using.md` describes it."""
        record, facts = self.record, self.record.facts.as_json()
        return {
            "conversation_id": self.conversation_id,
            "continue_conversation": self.continue_conversation,
            "speech": self.response.speech.get("plain", {}).get("speech", ""),
            "tool_calls": [
                {
                    "name": record.calls[result.call_id].name,
                    "arguments": shown_arguments(record.calls[result.call_id]),
                    "result": parsed_content(result),
                    "is_error": result.is_error,
                }
                for result in record.results
            ],
            "withheld": "\n".join(record.withheld),
            "handovers": record.handovers,
            "stop_reason": facts["stop_reason"],
            "error": facts["error"],
            "iterations": facts["iterations"],
            "usage": asdict(record.facts.usage),
            "timings": {name: facts[name] for name in _TIMINGS},
        }


def reported(result: ConversationResult, record: TurnRecord) -> ReportedResult:
    """Return a result with the record of its turn; its timings become `extra_data` of the speech."""
    for speech in result.response.speech.values():
        speech["extra_data"] = times_of(record.facts)
    return ReportedResult(
        response=result.response,
        conversation_id=result.conversation_id,
        continue_conversation=result.continue_conversation,
        record=record,
    )

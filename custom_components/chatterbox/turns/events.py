"""Tells automations, on Home Assistant's event bus, what a turn does while it does it.

Knows the bus and the events of a turn. Must not know how a turn is run, and holds nothing up: an event is fired and
forgotten. Texts, arguments and results are cut, so that Home Assistant can record every event.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util.ulid import ulid_now

from ..agent.events import ToolCallReady, ToolFinished, ToolStarted, TurnEvent
from ..agent.messages import JsonValue, ToolCall
from ..const import EVENT_TOOL_CALLED, EVENT_TOOL_FINISHED, EVENT_TURN_FINISHED, EVENT_TURN_STARTED
from ..people.callers import async_get_context_watch
from ..people.speakers import Speaker
from ..records.turn_record import NOTHING_SHOWN, TurnRecord, shown_call, shown_result

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

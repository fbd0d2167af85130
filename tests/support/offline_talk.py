"""A conversation with the offline provider, walked by the real loop in a small home."""

import json
from dataclasses import dataclass, field

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, intent, llm

from custom_components.chatterbox.agent.events import (
    Phase,
    PhaseEntered,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall, ToolResult
from custom_components.chatterbox.offline.dispatcher import OfflineDispatcher
from custom_components.chatterbox.offline.provider import (
    PROCESS_SENTENCE,
    SENTENCE,
    OfflineProvider,
)
from tests.support.versions import OF_NOBODY

HOME = """
areas:
  - { id: kitchen, name: Kitchen }
  - { id: hallway, name: Hallway }
entities:
  - name: Kitchen Ceiling
    id: light.kitchen_ceiling
    area: kitchen
    state: "off"
    attributes: { supported_color_modes: [brightness] }
  - { name: Counter Lamp, id: light.counter, area: kitchen, state: "off" }
  - { name: Hallway Light, id: light.hallway, area: hallway, state: "on" }
  - { name: Front Door, id: lock.front_door, area: hallway, state: locked }
"""


@dataclass
class Talk:
    """A conversation with the offline provider."""

    hass: HomeAssistant
    language: str = "en"
    conversation_id: str = "our-talk"
    device_id: str | None = None
    phases: list[Phase] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    finished: list[TurnFinished] = field(default_factory=list)

    def dispatcher(self) -> OfflineDispatcher:
        return OfflineDispatcher(
            self.hass, self.conversation_id, Context(), self.language, self.device_id
        )

    async def say(self, text: str) -> str:
        """Take a turn; return what is spoken."""
        turn = Turn(text, tools=(PROCESS_SENTENCE,))
        with chat_session.async_get_chat_session(
            self.hass, self.conversation_id, **OF_NOBODY
        ):
            async for event in AgenticLoop(OfflineProvider(), self.dispatcher()).stream(
                turn
            ):
                self._take(event)
        await self.hass.async_block_till_done()
        return self.finished[-1].text

    def _take(self, event: TurnEvent) -> None:
        match event:
            case PhaseEntered(phase):
                self.phases.append(phase)
            case ToolFinished(result):
                self.results.append(result)
            case TurnFinished():
                self.finished.append(event)
            case _:
                pass

    @property
    def response(self) -> intent.IntentResponse:
        """The intent response of the last turn, as Home Assistant finds it in the ChatLog."""
        native = self.results[-1].native
        assert isinstance(native, llm.ToolResult)
        assert native.error == self.results[-1].is_error
        assert isinstance(native.data, llm.IntentResponseDict)
        response = native.data.original
        assert isinstance(response, intent.IntentResponse)
        return response


def sentence_call(sentence: str) -> tuple[ToolCall, JsonObject]:
    arguments: JsonObject = {SENTENCE: sentence}
    return ToolCall("1", PROCESS_SENTENCE.name, json.dumps(arguments)), arguments

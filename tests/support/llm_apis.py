"""LLM APIs of somebody else, and a small home: what the bridge to Home Assistant's tools is tried on."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import override

import voluptuous as vol
from homeassistant.components import conversation
from homeassistant.const import MAJOR_VERSION, MINOR_VERSION
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import config_validation as cv, device_registry as dr, llm
from homeassistant.util.json import JsonObjectType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolOutcome,
)
from custom_components.chatterbox.home.description import AS_USUAL
from custom_components.chatterbox.settings.agent import HomeDetail
from custom_components.chatterbox.tools.turn_tools import TurnTools, async_offer_tools

ASSIST_NAME = (
    "Device control" if (MAJOR_VERSION, MINOR_VERSION) >= (2026, 11) else "Assist"
)
"""The name of the API that Assist is."""
KITCHEN = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
areas:
  - { id: kitchen, name: Kitchen, floor: ground }
  - { id: hallway, name: Hallway, floor: ground }
entities:
  - { name: Kitchen Light, id: light.kitchen, area: kitchen, state: "off", aliases: [Cooking Light] }
  - { name: Kitchen Lamp, id: light.lamp, area: kitchen, state: "off" }
  - { name: Hallway Light, id: light.hallway, area: hallway, state: "off" }
  - name: Kitchen Heater
    id: climate.kitchen
    area: kitchen
    state: heat
    attributes: { current_temperature: 20, target_temperature: 20 }
  - name: Hallway Heater
    id: climate.hallway
    area: hallway
    state: heat
    attributes: { current_temperature: 20, target_temperature: 20 }
  - name: Radio
    id: media_player.radio
    area: kitchen
    state: playing
    attributes: { supported_features: [PLAY, PAUSE, NEXT_TRACK, PREVIOUS_TRACK, VOLUME_SET] }
"""

type Behaviour = Callable[[llm.ToolInput], Awaitable[JsonObjectType]]


@dataclass(kw_only=True)
class StubTool(llm.Tool):
    """A tool of somebody else that remembers how it was called, and answers or raises as it is told."""

    name: str
    description: str | None = "Does something."
    parameters: vol.Schema = field(
        default_factory=lambda: vol.Schema({vol.Optional("query"): cv.string})
    )
    answer: JsonObjectType | BaseException | Behaviour = field(default_factory=dict)
    is_error: bool = False
    calls: list[tuple[str, JsonObjectType]] = field(default_factory=list)
    integration: str | None = "stub"

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        self.calls.append((tool_input.tool_name, dict(tool_input.tool_args)))
        match self.answer:
            case BaseException() as failure:
                raise failure
            case dict() as data:
                return llm.ToolResult(data, error=self.is_error)
            case behave:
                return llm.ToolResult(await behave(tool_input), error=self.is_error)


@dataclass(slots=True, kw_only=True)
class StubApi(llm.API):
    """A server of tools, as the integration `mcp` registers one for each server."""

    tools: Sequence[llm.Tool]
    prompt: str = ""
    failure: Exception | None = None
    until: Callable[[], Awaitable[object]] | None = None
    """Awaited before the tools are named."""
    requires_admin: bool = False

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        if self.until:
            await self.until()
        if self.failure:
            raise self.failure
        return llm.APIInstance(
            self, self.prompt, llm_context, list(self.tools), llm.selector_serializer
        )


def llm_context_of(device_id: str | None = None) -> llm.LLMContext:
    return llm.LLMContext("chatterbox", Context(), "en", conversation.DOMAIN, device_id)


def register(
    hass: HomeAssistant,
    api_id: str,
    *tools: llm.Tool,
    name: str = "Server",
    prompt: str = "",
    requires_admin: bool = False,
) -> StubApi:
    api = StubApi(
        hass=hass,
        id=api_id,
        name=name,
        tools=tools,
        prompt=prompt,
        requires_admin=requires_admin,
    )
    llm.async_register_api(hass, api)
    return api


LISTED = HomeDetail(is_compact=False)
"""By Home Assistant's own list."""


async def offer_of(
    hass: HomeAssistant,
    *api_ids: str,
    device_id: str | None = None,
    home: HomeDetail = AS_USUAL,
    text: str = "",
) -> TurnTools:
    return await async_offer_tools(
        hass, api_ids, llm_context_of(device_id), home=home, text=text
    )


async def run(offer: TurnTools, tool: str, **arguments: JsonValue) -> ToolOutcome:
    given: JsonObject = dict(arguments)
    return await offer.dispatcher.dispatch(
        ToolCall("call_1", tool, json.dumps(given)), given
    )


def error_of(outcome: ToolOutcome) -> str:
    """Return what the model reads of a failure, and check that Home Assistant's side says the same."""
    assert outcome.is_error
    content = json.loads(outcome.content)
    assert isinstance(outcome.native, llm.ToolResult)
    assert outcome.native == llm.ToolResult(data=content, error=True)
    text = content["error"]
    assert isinstance(text, str)
    return text


def satellite(hass: HomeAssistant, area_id: str) -> str:
    """Place a device that asks."""
    entry = MockConfigEntry(domain="satellite")
    entry.add_to_hass(hass)
    registry = dr.async_get(hass)
    device = registry.async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("satellite", area_id)}
    )
    registry.async_update_device(device.id, area_id=area_id)
    return device.id

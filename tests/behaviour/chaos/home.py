"""A small home whose tools count, and the agents that live in it.

Knows Home Assistant's LLM APIs and our options. Must not know what the servers do.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, override

import voluptuous as vol
from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util.json import JsonObjectType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.messages import canonical_json
from custom_components.chatterbox.agent.providers.managed_provider import BreakerState
from custom_components.chatterbox.const import (
    CONF_ASK_AFTER_OUTSIDE_CONTENT,
    CONF_BASE_URL,
    CONF_BETWEEN_TOKENS_TIMEOUT,
    CONF_CONNECT_TIMEOUT,
    CONF_DEADLINE,
    CONF_FALLBACKS,
    CONF_FIRST_TOKEN_TIMEOUT,
    CONF_KIND,
    CONF_MAX_ITERATIONS,
    CONF_TOOL_TIMEOUT,
    DOMAIN,
    SUBENTRY_CONVERSATION,
)
from custom_components.chatterbox.runtime.models import AgentModel
from custom_components.chatterbox.settings.rules import OutsideCare
from tests.agent.providers.contract.dialect import KEY, MODEL
from tests.behaviour.chaos.answers import KnownCall
from tests.support.home_rules import set_home_rules

AMPLE: Final = 0.5
"""Seconds for a turn: it can meet one stall, and not two."""
GONE: Final = "gone"
"""Name of the service that refuses every connection."""
SCANT: Final = 0.1
"""Seconds for a turn: a single stall is too much."""
_FALLBACKS: Final = {
    "openai_responses": ("ollama_chat",),
    "anthropic_messages": (GONE, "openai_chat"),
    GONE: ("anthropic_messages",),
}
"""Names of the services whose models answer, one after the other, when the own one does not."""
_DEADLINES: Final = {"ollama_chat": SCANT}
_OPTIONS: Final[Mapping[str, float]] = {
    CONF_CONNECT_TIMEOUT: 0.3,
    CONF_FIRST_TOKEN_TIMEOUT: 0.3,
    CONF_BETWEEN_TOKENS_TIMEOUT: 0.2,
    CONF_TOOL_TIMEOUT: 0.15,
    CONF_MAX_ITERATIONS: 4,
}

HOME: Final = """
areas:
  - { id: kitchen, name: Kitchen }
entities:
  - { name: Kitchen Light, id: light.kitchen, area: kitchen, state: "off" }
  - { name: Radio, id: switch.radio, area: kitchen, state: "off" }
  - { name: Front Door, id: lock.front_door, area: kitchen, state: locked }
  - name: Garage
    id: cover.garage
    state: closed
    attributes: { device_class: garage, supported_features: [OPEN, CLOSE] }
"""

API: Final = "chaos"
ORDERS: Final = "order"
READS_THE_WEB: Final = "read_page"
DONE: Final[JsonObjectType] = {"done": True}
NEED_A_YES: Final = frozenset(
    {
        "lock.unlock",
        "lock.open",
        "cover.open_cover",
        "Front Door",
        "Garage",
        ORDERS,
        "order_slowly",
    }
)
"""Services, what they are for, and tools."""
OPEN_WORLD: Final = frozenset({ORDERS, "order_slowly", READS_THE_WEB})
OWN_CALLS: Final = (
    KnownCall("add_item", {"item": "milk"}),
    KnownCall("add_item", {"item": "bread"}),
    KnownCall("add_slowly", {"item": "cheese"}),
    KnownCall("add_in_vain", {"item": "air"}),
    KnownCall("read_list", {}),
    KnownCall("hang", {"item": "on"}),
    KnownCall(ORDERS, {"item": "pizza"}),
    KnownCall(ORDERS, {"item": "salad"}),
    KnownCall("order_slowly", {"item": "wardrobe"}),
    KnownCall(READS_THE_WEB, {}),
)
ASSIST_CALLS: Final = (
    KnownCall("intent__HassTurnOn", {"name": "Kitchen Light", "domain": ["light"]}),
    KnownCall("HassTurnOff", {"name": "Kitchen Light", "domain": ["light"]}),
    KnownCall("HassTurnOn", {"name": "Radio", "domain": ["switch"]}),
    KnownCall("homeassistant__GetLiveContext", {}),
    KnownCall("HassTurnOff", {"name": "Front Door", "domain": ["lock"]}),
    KnownCall("intent__HassTurnOn", {"name": "Front Door", "domain": ["lock"]}),
    KnownCall("HassTurnOn", {"name": "Garage", "domain": ["cover"]}),
)
_CALLS: Final = {API: OWN_CALLS, llm.LLM_API_ASSIST: ASSIST_CALLS}


@dataclass(frozen=True, slots=True)
class Run:
    """Something that a tool did."""

    name: str
    arguments: str
    changes: bool


@dataclass(slots=True)
class Runs:
    """The actors of service calls, by the id of the context of a turn."""

    under_way: dict[str, list[Run]] = field(default_factory=lambda: defaultdict(list))

    def add(self, context_id: str, run: Run) -> None:
        """Take note of a run."""
        self.under_way[context_id].append(run)

    def end(self, context_id: str) -> list[Run]:
        """Return what a turn did, and forget it."""
        return self.under_way.pop(context_id, [])

    def take_late(self) -> list[Run]:
        """Return what was done for turns that had ended, and forget it; for a moment in which none is under way."""
        late = [run for runs in self.under_way.values() for run in runs]
        self.under_way.clear()
        return late

    @callback
    def service_called(self, event: Event[Mapping[str, object]]) -> None:
        """Take note of what Home Assistant's own tools do in the home."""
        data = event.data["service_data"]
        assert isinstance(data, Mapping)
        service = f"{event.data['domain']}.{event.data['service']}"
        self.add(
            event.context.id, Run(service, str(sorted(data.items())), changes=True)
        )


@dataclass(kw_only=True)
class CountedTool(llm.Tool):
    """A tool that notes every run, and then does what its name says."""

    name: str
    runs: Runs
    parameters: vol.Schema = field(
        default_factory=lambda: vol.Schema({vol.Required("item"): cv.string})
    )
    annotations: llm.ToolAnnotations = field(default_factory=llm.ToolAnnotations)
    seconds: float = 0.0
    fails: bool = False
    description: str | None = "Does what its name says."
    integration: str | None = API

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        assert llm_context.context is not None
        run = Run(
            self.name,
            canonical_json(tool_input.tool_args),
            changes=not self.annotations.read_only,
        )
        self.runs.add(llm_context.context.id, run)
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.fails:
            raise HomeAssistantError("the shop is closed")
        return llm.ToolResult(DONE)


_AT_HOME: Final = llm.ToolAnnotations(destructive=False, open_world=False)
_READS: Final = llm.ToolAnnotations(read_only=True, open_world=False)


def counted_tools(runs: Runs) -> Sequence[llm.Tool]:
    """Return the tools that count."""
    nothing = vol.Schema({})
    return (
        CountedTool(name="add_item", runs=runs, annotations=_AT_HOME),
        CountedTool(name="add_slowly", runs=runs, annotations=_AT_HOME, seconds=0.02),
        CountedTool(name="add_in_vain", runs=runs, annotations=_AT_HOME, fails=True),
        CountedTool(name="hang", runs=runs, annotations=_AT_HOME, seconds=3600),
        CountedTool(
            name="read_list", runs=runs, annotations=_READS, parameters=nothing
        ),
        CountedTool(name=ORDERS, runs=runs),
        CountedTool(name="order_slowly", runs=runs, seconds=0.02),
        CountedTool(
            name=READS_THE_WEB,
            runs=runs,
            annotations=llm.ToolAnnotations(read_only=True),
            parameters=nothing,
        ),
    )


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent to talk to."""

    entity_id: str
    calls: Sequence[KnownCall] = field(repr=False)
    """The calls that it can make."""
    deadline: float = field(repr=False)
    """Seconds that a turn may take."""
    model: AgentModel = field(repr=False)
    """Its own."""

    @property
    def answers(self) -> bool:
        """Return whether its model is asked, as far as its circuit goes."""
        return self.model.managed.breaker.state is BreakerState.CLOSED

    @property
    def is_gone(self) -> bool:
        """Return whether its model can never answer."""
        return GONE in self.entity_id

    def mend(self) -> None:
        """Have its model known as one that answers, as if somebody else had just been answered."""
        self.model.managed.breaker.insist().succeeded()


async def add_agent(
    hass: HomeAssistant, base_url: str, name: str, kind: str, api: str
) -> Agent:
    """Set up a service with one agent, which has its tools from an LLM API."""
    data = {CONF_KIND: kind, CONF_BASE_URL: base_url, CONF_API_KEY: KEY}
    deadline = _DEADLINES.get(name, AMPLE)
    options = {
        CONF_MODEL: MODEL,
        CONF_LLM_HASS_API: [api],
        CONF_FALLBACKS: [_agent_id(fallback) for fallback in _FALLBACKS.get(name, ())],
        CONF_DEADLINE: deadline,
        **_OPTIONS,
    }
    subentry: ConfigSubentryDataWithId = {
        "subentry_id": _agent_id(name),
        "subentry_type": SUBENTRY_CONVERSATION,
        "title": name,
        "unique_id": None,
        "data": options,
    }
    await set_home_rules(
        hass, **{CONF_ASK_AFTER_OUTSIDE_CONTENT: OutsideCare.EVERY_CHANGE.value}
    )
    entry = MockConfigEntry(
        domain=DOMAIN, title=name, data=data, subentries_data=[subentry]
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    (model,) = entry.runtime_data.models.values()
    return Agent(f"conversation.{name}", _CALLS[api], deadline, model)


def _agent_id(name: str) -> str:
    return f"agent of {name}"

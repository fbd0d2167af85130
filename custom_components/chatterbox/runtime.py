"""The composition root: a config entry and its subentries → agents, with their providers, tools and loops.

Alone names concrete providers; everybody else knows them by their seams. Holds no rule of
its own: what it joins decides for itself. Nothing built here outlives its loaded entry.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, assert_never

from homeassistant.components.conversation import ConversationInput
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_API_KEY, MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .agent.loop import AgenticLoop
from .agent.messages import ToolDefinition
from .agent.protocols import LLMProvider, ToolDispatcher
from .agent.providers.address import api_root, ollama_root
from .agent.providers.anthropic_messages import AnthropicMessagesProvider
from .agent.providers.ollama_chat import OllamaChatProvider, OllamaSettings
from .agent.providers.openai_chat import OpenAIChatProvider, TimeLimits
from .agent.providers.openai_responses import OpenAIResponsesProvider, ResponsesSettings, ServiceTier, Verbosity
from .agent.providers.options import ModelOptions, ReasoningEffort
from .agent.providers.profiles import PROFILES, ServerProfile, profile_at
from .agent.providers.text_calls import TextCalls
from .agent.turn import Limits
from .agent_settings import AgentSettings, settings_of
from .const import CONF_BASE_URL, CONF_KIND, CONF_SERVER, DOMAIN, SUBENTRY_CONVERSATION, ServiceKind
from .error_bridge import async_get_composer
from .offline_dispatcher import OfflineDispatcher, offline_languages
from .offline_provider import PROCESS_SENTENCE, OfflineProvider
from .service_check import ModelServer, offered_models
from .tool_bridge import async_offer_tools

_FOR_A_LIST: Final = TimeLimits(between_bytes=10.0)
_NOTHING_SET: Final = AgentSettings()

type KnownServer = ServerProfile
"""What is known of a kind of server: its name, where it usually is, the interface that it speaks best."""

SERVERS: Final[Mapping[str, KnownServer]] = PROFILES
"""By id, in the order in which people are shown them."""
REASONING_EFFORTS: Final[tuple[str, ...]] = tuple(ReasoningEffort)
VERBOSITIES: Final[tuple[str, ...]] = tuple(Verbosity)
SERVICE_TIERS: Final[tuple[str, ...]] = tuple(ServiceTier)


class ModelProvider(LLMProvider, ModelServer, Protocol):
    """One model of one server: it answers, and it can be asked whether it would."""


@dataclass(frozen=True, slots=True)
class TurnTools:
    """What an agent may use in one turn."""

    api: llm.API | None
    """The same tools for Home Assistant's ChatLog, if they are tools of its kind."""
    definitions: tuple[ToolDefinition, ...]
    dispatcher: ToolDispatcher
    missing_apis: tuple[str, ...] = ()
    """Ids of LLM APIs that the agent is set to use and that Home Assistant does not have."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A conversation agent, put together from its subentry."""

    hass: HomeAssistant
    provider: LLMProvider
    """One for all turns, because a provider learns what its server does not take."""
    offer_tools: Callable[[ConversationInput, str], Awaitable[TurnTools]]
    limits: Limits
    controls_home: bool
    """Whether it can do more than talk."""
    supported_languages: list[str] | Literal["*"]
    prompt: str | None = None
    """Template of its instructions; None for Home Assistant's own."""

    async def async_offer_tools(self, user_input: ConversationInput, conversation_id: str) -> TurnTools:
        """Gather the tools of one turn."""
        return await self.offer_tools(user_input, conversation_id)

    async def async_get_loop(self, tools: TurnTools, language: str) -> AgenticLoop:
        """Return the loop of one turn, with words in the speaker's language."""
        composer = await async_get_composer(self.hass, language, tools.definitions)
        return AgenticLoop(self.provider, tools.dispatcher, composer=composer)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a loaded entry has."""

    agents: Mapping[str, Agent]
    """By subentry id."""


type ChatterboxConfigEntry = ConfigEntry[Runtime]


async def async_build(hass: HomeAssistant, entry: ChatterboxConfigEntry) -> Runtime:
    """Ask the service of an entry whether it is there, and put its agents together.

    Raises a `ProviderError` when the service is not there, or does not take the key.
    """
    if entry.data[CONF_KIND] != ServiceKind.OFFLINE:
        await offered_models(model_server(hass, entry.data))
    agents = entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
    return Runtime({agent.subentry_id: _agent(hass, entry.data, agent.data) for agent in agents})


def model_server(
    hass: HomeAssistant, service: Mapping[str, Any], settings: AgentSettings = _NOTHING_SET, cache_key: str = ""
) -> ModelProvider:
    """Return one model of the server that an entry's data describes.

    Without the name of a model it can only tell what it has, and is given less time: nothing has to be loaded for
    that. `cache_key` is the same for requests that begin alike.
    """
    session, url, key = async_get_clientsession(hass), service[CONF_BASE_URL], service.get(CONF_API_KEY)
    profile = known_server(service)
    limits = _time_limits(settings) if settings.model else _FOR_A_LIST
    model, options = settings.model, _model_options(settings)
    kind = ServiceKind(service[CONF_KIND])
    match kind:
        case ServiceKind.OPENAI_CHAT:
            return OpenAIChatProvider(session, url, model, key, limits, options=options, profile=profile)
        case ServiceKind.OPENAI_RESPONSES:
            responses = ResponsesSettings(
                cache_key,
                verbosity=Verbosity(settings.verbosity) if settings.verbosity else None,
                service_tier=ServiceTier(settings.service_tier) if settings.service_tier else None,
            )
            return OpenAIResponsesProvider(
                session, url, model, key, limits, options=options, settings=responses, profile=profile
            )
        case ServiceKind.ANTHROPIC_MESSAGES:
            return AnthropicMessagesProvider(session, url, model, key, limits, options=options, profile=profile)
        case ServiceKind.OLLAMA_CHAT:
            ollama = OllamaSettings(settings.keep_alive, settings.num_ctx)
            return OllamaChatProvider(
                session, url, model, key, limits, options=options, settings=ollama, profile=profile
            )
        case ServiceKind.OFFLINE:
            raise ValueError("the offline service has no server")
        case _:
            assert_never(kind)


def _time_limits(settings: AgentSettings) -> TimeLimits:
    """Return limits that are there in case ours fail: what a person set is kept by `Patience`."""
    longest = max(settings.first_token_timeout, settings.between_tokens_timeout)
    return TimeLimits(connect=settings.connect_timeout, between_bytes=longest + 1)


def _model_options(settings: AgentSettings) -> ModelOptions:
    effort = settings.reasoning_effort
    return ModelOptions(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        reasoning_effort=ReasoningEffort(effort) if effort else None,
        extra=settings.extra_parameters or {},
    )


def known_server(service: Mapping[str, Any]) -> KnownServer:
    """Return what is known of the server of a service, guessed from its address where nobody has said what it is."""
    return PROFILES.get(service.get(CONF_SERVER, ""), profile_at(service[CONF_BASE_URL]))


def is_same_server(kind: ServiceKind, one: str, other: str) -> bool:
    """Tell whether two addresses, both http or https, lead to the same place over an interface."""
    root_of = ollama_root if kind is ServiceKind.OLLAMA_CHAT else api_root
    return root_of(one) == root_of(other)


def _agent(hass: HomeAssistant, service: Mapping[str, Any], options: Mapping[str, Any]) -> Agent:
    if service[CONF_KIND] == ServiceKind.OFFLINE:
        return _offline_agent(hass)
    settings = settings_of(options)
    return _model_agent(hass, TextCalls(model_server(hass, service, settings)), settings)


def _offline_agent(hass: HomeAssistant) -> Agent:
    async def offer(user_input: ConversationInput, conversation_id: str) -> TurnTools:
        dispatcher = OfflineDispatcher(
            hass,
            conversation_id,
            user_input.context,
            user_input.language,
            user_input.device_id,
            user_input.satellite_id,
        )
        return TurnTools(None, (PROCESS_SENTENCE,), dispatcher)

    languages = offline_languages(hass)
    return Agent(hass, OfflineProvider(), offer, Limits(), controls_home=True, supported_languages=languages)


def _model_agent(hass: HomeAssistant, provider: LLMProvider, settings: AgentSettings) -> Agent:
    async def offer(user_input: ConversationInput, _conversation_id: str) -> TurnTools:
        tools = await async_offer_tools(hass, settings.llm_apis, user_input.as_llm_context(DOMAIN))
        return TurnTools(tools.api, tools.definitions, tools.dispatcher, tools.missing_apis)

    return Agent(
        hass,
        provider,
        offer,
        settings.limits,
        controls_home=bool(settings.llm_apis),
        supported_languages=MATCH_ALL,
        prompt=settings.prompt,
    )

"""The composition root: builds the agents of a config entry, with their providers.

Nothing built here outlives the loaded entry.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_API_KEY, MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from ..agent.conversation.prompt_fitter import (
    Allowance,
    ContextWindow,
    PromptFitter,
)
from ..agent.protocols import ReasoningEffort, Verbosity
from ..agent.providers.anthropic_messages import AnthropicMessagesProvider
from ..agent.providers.http_provider import HTTPProvider
from ..agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
    ReadAhead,
    Timeouts,
)
from ..agent.providers.ollama_chat import OllamaChatProvider
from ..agent.providers.openai_chat import OpenAIChatProvider
from ..agent.providers.openai_images import OpenAIImageProvider
from ..agent.providers.openai_responses import OpenAIResponsesProvider
from ..agent.providers.profiles import (
    PROFILES,
    ModelOptions,
    ServerProfile,
    ServiceTier,
    profile_at,
)
from ..agent.providers.service_client import TimeLimits
from ..const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_REASONING_EFFORT,
    CONF_SERVER,
    CONF_SERVICE_TIER,
    CONF_VERBOSITY,
    DOMAIN,
    SUBENTRY_AI_TASK,
    ServiceKind,
    home_singleton,
)
from ..offline.dispatcher import offline_languages
from ..offline.provider import without_sentences
from ..settings.agent import (
    MARGIN,
    AgentSettings,
    EntryData,
    WhenSpent,
    known_choice,
    settings_of,
)
from ..settings.service_address import is_local_address, place_of
from ..settings.tasks import settings_of_subentry
from ..tools.turn_tools import without_sentence_tool
from ..usage.prices import async_known_model, async_known_price, entered_price
from ..usage.tracker import Account, Budget, async_get_usage_tracker
from .agents import (
    Agent,
    ChatterboxConfigEntry,
    ProviderChain,
    Runtime,
    async_get_models,
    offline_provider,
    service_of,
)
from .health import HealthMonitor
from .models import AgentModel, offered_models
from .summaries import ConversationSummaries

_FOR_A_LIST: Final = TimeLimits(between_bytes=10.0)
_NOTHING_SET: Final = AgentSettings()

_PROVIDERS: Final[Mapping[ServiceKind, type[HTTPProvider]]] = {
    ServiceKind.OPENAI_CHAT: OpenAIChatProvider,
    ServiceKind.OPENAI_RESPONSES: OpenAIResponsesProvider,
    ServiceKind.ANTHROPIC_MESSAGES: AnthropicMessagesProvider,
    ServiceKind.OLLAMA_CHAT: OllamaChatProvider,
}
_read_aheads: Final = home_singleton(
    "read_aheads", lambda _: WeakValueDictionary[tuple[str, int | None], ReadAhead]()
)
"""Returns what servers read ahead, by host and port: several entries may have the same server."""


async def async_build(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
) -> Runtime:
    """Build the agents of an entry.

    The service is asked whether it is there if nothing else can answer for its agents;
    raises its `ProviderError`. Otherwise the health monitor asks it, and setup does not
    wait.
    """
    service = None
    asks_at_once = True
    if entry.data[CONF_KIND] != ServiceKind.OFFLINE:
        service = model_server(hass, entry.data)
    if service and not any(
        _is_answered_for(hass, entry, subentry)
        for subentry in entry.subentries.values()
    ):
        await offered_models(service)
        asks_at_once = False
    models: dict[str, AgentModel] = {}
    runtime = Runtime(
        {},
        models,
        HealthMonitor(
            hass,
            entry,
            models,
            service,
            asks_at_once=asks_at_once,
        ),
        {},
        service_of(entry),
        {},
    )
    for subentry in entry.subentries.values():
        await async_build_agent(
            hass,
            entry,
            runtime,
            subentry,
        )
    return runtime


async def async_build_agent(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    runtime: Runtime,
    subentry: ConfigSubentry,
) -> None:
    """Build the agent of a subentry into the runtime of its entry."""
    agent_id = subentry.subentry_id
    runtime.built[agent_id] = subentry.title, subentry.data
    has_model = entry.data[CONF_KIND] != ServiceKind.OFFLINE
    if has_model:
        model = await _async_agent_model(
            hass,
            entry,
            subentry,
        )
    else:
        model = None
    if model is not None:
        runtime.models[agent_id] = model
    if subentry.subentry_type == SUBENTRY_AI_TASK:
        agents = runtime.tasks
    else:
        agents = runtime.agents
    agents[agent_id] = _agent(
        hass,
        entry,
        subentry,
        model,
    )


def model_server(
    hass: HomeAssistant,
    service: EntryData,
    settings: AgentSettings = _NOTHING_SET,
    cache_key: str = "",
) -> HTTPProvider:
    """Return one model of the server that an entry's data describes.

    Without the name of a model it can only list its models, and has less time, as
    nothing has to be loaded for that. `cache_key` is the same for requests with a
    common beginning.
    """
    session = async_get_clientsession(hass)
    url = service[CONF_BASE_URL]
    key = service.get(CONF_API_KEY)
    server = known_server(service)
    if settings.model:
        limits = _time_limits(settings, service)
    else:
        limits = _FOR_A_LIST
    options = replace(
        _model_options(settings),
        prompt_cache_key=cache_key or None,
    )
    make = _PROVIDERS[ServiceKind(service[CONF_KIND])]
    return make(
        session, url, settings.model, key, limits, options=options, profile=server
    )


def image_provider(
    hass: HomeAssistant, service: EntryData, model: str, seconds: float
) -> OpenAIImageProvider:
    """Return a model that makes pictures, within `seconds` each, on a server of one of `DRAWING_KINDS`."""
    session = async_get_clientsession(hass)
    url = service[CONF_BASE_URL]
    key = service.get(CONF_API_KEY)
    return OpenAIImageProvider(
        session,
        url,
        model,
        key,
        seconds,
    )


def _time_limits(
    settings: AgentSettings,
    service: EntryData,
) -> TimeLimits:
    """Return limits that only matter if the configured ones fail, which the provider chain keeps."""
    may_be_slow = known_server(service).tells_progress or _is_at_home(service)
    first = settings.limits.deadline if may_be_slow else 0.0
    longest = max(
        settings.first_token_timeout,
        settings.between_tokens_timeout,
        first,
    )
    return TimeLimits(
        connect=settings.connect_timeout,
        between_bytes=longest + 1,
    )


def _model_options(settings: AgentSettings) -> ModelOptions:
    return ModelOptions(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        max_characters=settings.max_characters,
        reasoning_effort=known_choice(
            ReasoningEffort, CONF_REASONING_EFFORT, settings.reasoning_effort
        ),
        verbosity=known_choice(
            Verbosity,
            CONF_VERBOSITY,
            settings.verbosity,
        ),
        service_tier=known_choice(
            ServiceTier, CONF_SERVICE_TIER, settings.service_tier
        ),
        keep_alive=settings.keep_alive,
        num_ctx=settings.num_ctx,
        extra=settings.extra_parameters or {},
    )


def known_server(service: EntryData) -> ServerProfile:
    """Return the profile of a service's server, by its address where none was chosen."""
    return PROFILES.get(
        service.get(
            CONF_SERVER,
            "",
        ),
        profile_at(service[CONF_BASE_URL]),
    )


def _is_at_home(service: EntryData) -> bool:
    """Return whether the server of a service runs its models itself, in the home: it may take minutes to read."""
    return (
        is_local_address(service[CONF_BASE_URL]) and not known_server(service).passes_on
    )


def reads_free(
    service: EntryData,
    settings: AgentSettings,
) -> bool:
    """Return whether the server of a service caches prompts, and reading them costs nothing."""
    if (
        settings.model.endswith("cloud") or settings.price_input
    ):  # Ollama passes such models on
        return False
    return known_server(service).caches_prefix and is_local_address(
        service[CONF_BASE_URL]
    )


def is_same_server(
    kind: ServiceKind,
    one: str,
    other: str,
) -> bool:
    """Return whether two addresses, both http or https, lead to the same place over an interface."""
    root_of = _PROVIDERS[kind].root_of
    return root_of(one) == root_of(other)


def _agent(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    agent: ConfigSubentry,
    model: AgentModel | None,
) -> Agent:
    """Build an agent; without a model, Home Assistant's own understanding of sentences answers.

    With a model, that stands in where it does not let an agent act that may only talk,
    and never for tasks.
    """
    settings = settings_of_subentry(agent)
    if model is None:
        chain = ProviderChain(
            offline_provider(),
            tuple,
            ends_offline=False,
        )
        understands_sentences = True
    else:
        understands_sentences = _understands_sentences(agent, settings)
        fallbacks = (
            partial(
                _fallbacks,
                hass,
                settings.fallbacks,
            )
            if settings.fallbacks
            else tuple
        )
        chain = ProviderChain(
            model.managed, fallbacks, ends_offline=understands_sentences
        )
    # A server that caches prompts is a local one, and reads one prompt at a time.
    gives_way = model is not None and known_server(entry.data).caches_prefix
    return Agent(
        hass,
        settings,
        chain,
        ConversationSummaries(
            hass, entry, agent, partial(async_get_models, hass), gives_way=gives_way
        ),
        understands_sentences=understands_sentences,
        supported_languages=MATCH_ALL if model else offline_languages(hass),
        id=agent.subentry_id,
    )


async def _async_agent_model(
    hass: HomeAssistant, entry: ConfigEntry, agent: ConfigSubentry
) -> AgentModel:
    settings = settings_of_subentry(agent)
    provider = model_server(hass, entry.data, settings, agent.subentry_id)
    known = await async_known_model(hass, entry.data[CONF_BASE_URL], settings.model)
    fitter = _prompt_fitter(
        hass, entry, agent, provider, known.window if known else None
    )
    price = entered_price(
        settings,
        await async_known_price(
            hass,
            entry.data,
            known_server(entry.data),
            settings,
        ),
    )
    tracker = async_get_usage_tracker(hass)
    account = Account(price, Budget(settings.budget_day, settings.budget_month))
    tracker.async_set_account(agent.subentry_id, account)
    first_answer = settings.first_answer * MARGIN
    is_guessed = not settings.first_answer and _is_at_home(entry.data)
    timeouts = Timeouts(
        settings.first_token_timeout,
        settings.between_tokens_timeout,
        first_answer,
        is_guessed,
    )
    managed = ManagedProvider(
        agent.title,
        provider,
        CircuitBreaker(),
        timeouts,
        tools=without_sentence_tool,
        without_others=without_sentences,
        closes_promptly=True,
        id=agent.subentry_id,
        check=provider.check,
        spent=partial(tracker.refusal, agent.subentry_id),
        fitter=fitter,
        refuses_when_spent=settings.when_spent is WhenSpent.REFUSE,
        model=settings.model,
        ahead=_read_aheads(hass).setdefault(
            place_of(entry.data[CONF_BASE_URL]), ReadAhead()
        ),
    )
    return AgentModel(agent, provider, fitter, managed)


def _is_answered_for(
    hass: HomeAssistant, entry: ConfigEntry, subentry: ConfigSubentry
) -> bool:
    """Return whether something else may answer for an agent: Home Assistant, or an agent of another entry.

    Whether that entry is loaded yet does not matter.
    """
    settings = settings_of_subentry(subentry)
    others = (
        other
        for other in hass.config_entries.async_entries(DOMAIN)
        if other is not entry
    )
    theirs = {
        agent_id
        for other in others
        if other.disabled_by is None
        for agent_id in other.subentries
    }
    return _understands_sentences(subentry, settings) or not theirs.isdisjoint(
        settings.fallbacks
    )


def _understands_sentences(
    subentry: ConfigSubentry,
    settings: AgentSettings,
) -> bool:
    """Return whether Home Assistant's own understanding stands in for a model."""
    return (
        subentry.subentry_type != SUBENTRY_AI_TASK
        and llm.LLM_API_ASSIST in settings.llm_apis
    )


def _fallbacks(
    hass: HomeAssistant, agent_ids: Collection[str]
) -> list[ManagedProvider]:
    """Return the providers of those agents whose entries are loaded, each once, in their order."""
    models = async_get_models(hass)
    return [
        models[agent_id].managed
        for agent_id in dict.fromkeys(agent_ids)
        if agent_id in models
    ]


def _prompt_fitter(
    hass: HomeAssistant,
    entry: ConfigEntry,
    agent: ConfigSubentry,
    model: HTTPProvider,
    known: int | None,
) -> PromptFitter:
    """Return what fits conversations into the context window of an agent's model.

    The server is asked for the size of the window, in the background, once the model
    has answered. Until then, and if it does not say, the size is the `known` one.
    """
    settings = settings_of(agent.data)
    is_ollama = entry.data[CONF_KIND] == ServiceKind.OLLAMA_CHAT
    in_background = partial(
        entry.async_create_background_task,
        hass,
        name=f"chatterbox context window of {agent.title}",
    )
    context = ContextWindow(
        settings.context_window,
        known,
        settings.num_ctx if is_ollama else None,
        model.context_window,
        in_background,
    )
    return PromptFitter(
        context,
        Allowance(settings.history_tokens, settings.max_tokens),
        server_cuts=is_ollama,
    )

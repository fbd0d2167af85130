"""The settings of a conversation agent, read from the data of its subentry, with a default for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_PROMPT
from homeassistant.core import HomeAssistant

from ..agent.loop.turn import Limits
from ..agent.messages import JsonObject
from ..agent.protocols import HookPoint
from ..const import (
    CONF_CONFIRMATION,
    CONF_DEADLINE,
    CONF_FALLBACKS,
    CONF_KEEP_HISTORY,
    CONF_LOCAL_COMMANDS,
    CONF_MAX_ITERATIONS,
    CONF_MAX_TOOL_CALLS,
    CONF_MODEL_REQUESTS,
    CONF_TOOL_TIMEOUT,
    CONF_WEB_SEARCH,
    CONF_WHEN_SPENT,
    DOMAIN,
    ENTRY_VERSION,
    LOGGER,
    SUBENTRY_AI_TASK,
)

type EntryData = Mapping[str, Any]
"""The data of an entry or of an agent, as they are stored."""

_LIMITS: Final = Limits()

MARGIN: Final = 2
"""How many times as long as measured an answer may take."""
SUMMARY_LIST: Final = "list"
"""No model summarizes conversations; requests and actions are listed."""
SUMMARY_OWN_MODEL: Final = "own_model"
"""The model of the agent itself."""
SUMMARIES: Final = (SUMMARY_LIST, SUMMARY_OWN_MODEL)


class Confirmation(StrEnum):
    """How an action is confirmed when the model says nothing about it."""

    RESULT = "result"
    """By the result: "Turned on the kitchen light"."""
    DONE = "done"
    """With one word."""


class WhenSpent(StrEnum):
    """The consequence of a spent budget."""

    HAND_OVER = "hand_over"
    """The next provider of the chain answers."""
    REFUSE = "refuse"
    """The agent says why it does not answer."""


class LocalCommands(StrEnum):
    """When Home Assistant's own recognition handles requests of an agent with a model, if it is certain of them."""

    FIRST = "first"
    """Before the model, which is then not called, and after it if it has done nothing."""
    WHEN_UNDONE = "when_undone"
    NEVER = "never"
    """Only instead of a model that does not answer."""


class WebSearch(StrEnum):
    """The search engine of an agent."""

    OFF = "off"
    SERVICE = "service"
    """The service of the model, by itself."""
    SEARXNG = "searxng"
    BRAVE = "brave"


class RequestKind(StrEnum):
    """Kinds of requests that Home Assistant recognizes, and that a model often answers better."""

    WEATHER = "weather"
    MEDIA = "media"
    """Finding media and playing it."""
    LISTS = "lists"
    PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class HomeDetail:
    """How the home is described to the model."""

    is_compact: bool = True
    """In short form; otherwise as Home Assistant's own list."""
    most_listed: int = 0
    """With more entities, the short form only counts them; 0 for no limit."""

    def sums_up(self, entities: int) -> bool:
        """Return whether a home has more entities than are listed."""
        return self.is_compact and 0 < self.most_listed < entities


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings of an agent. The defaults are those of an agent without stored settings."""

    model: str = ""
    """Empty for the offline service, which has no model."""
    llm_apis: tuple[str, ...] = ()
    """Ids of the LLM APIs that provide its tools."""
    compact_home: bool = True
    """Whether the model gets the short description of the home instead of Home Assistant's own list."""
    most_listed: int = 500
    """Number of entities that are listed; of a larger home, only those that match the request. 0 to list all."""
    prompt: str | None = None
    """Template of its instructions; None for Home Assistant's own."""
    fallbacks: tuple[str, ...] = ()
    """Subentry ids of the agents whose models answer instead, in this order."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    """A value of `agent.providers.options.ReasoningEffort`."""
    verbosity: str | None = None
    """OpenAI Responses only, like `service_tier`: a value of the enum of that name in its provider."""
    service_tier: str | None = None
    keep_alive: int | None = None
    """Ollama only: seconds for which the model stays in memory; -1 for no limit."""
    num_ctx: int | None = 8192
    """Ollama only: context window with which the model is loaded, in tokens; None for the server's default, which is
    too small for most homes.
    """
    extra_parameters: JsonObject | None = None
    """Merged into the request; see `ModelOptions.extra`."""
    history_tokens: int = 12_000
    """Tokens of earlier turns that are sent to the model."""
    context_window: int | None = None
    """Context window of the model in tokens; None for the server's value. Ollama has `num_ctx`."""
    summary: str = SUMMARY_LIST
    """How turns that are no longer sent are summarized: `SUMMARY_LIST`, `SUMMARY_OWN_MODEL`, or the subentry id of the
    agent whose model does it.
    """
    confirmation: Confirmation = Confirmation.RESULT
    local_commands: LocalCommands = LocalCommands.FIRST
    model_requests: frozenset[str] = frozenset(RequestKind)
    """Kinds of requests that always go to the model; values of `RequestKind`."""
    read_ahead: bool = True
    """Whether a server that caches prompts at no cost gets the prefix before anyone speaks."""
    filler_after: float = 4.0
    """Seconds of silence after which a satellite speaks a filler; 0 for never."""
    connect_timeout: float = 5.0
    """Seconds for connecting to the model's server."""
    first_token_timeout: float = 20.0
    """Seconds for the beginning of the model's answer."""
    first_answer: float = 0.0
    """Seconds for the first answer after a start, as measured when its model was chosen; 0 if it was not."""
    later_answer: float = 0.0
    """The same for the answers after that."""
    between_tokens_timeout: float = 30.0
    """Seconds between two parts of an answer."""
    limits: Limits = _LIMITS
    max_characters: int = 200_000
    """Length limit of one answer, reasoning and tool arguments included."""
    price_input: float | None = None
    """US dollars per million tokens, like the next two; None for the known price."""
    price_cached: float | None = None
    price_output: float | None = None
    budget_day: float | None = None
    """US dollars for the model; None for no limit."""
    budget_month: float | None = None
    when_spent: WhenSpent = WhenSpent.HAND_OVER
    keep_history: bool = True
    """Whether conversations are stored."""
    keep_days: int = 30
    """Days for which conversations are stored; 0 for no limit."""
    keep_megabytes: int = 100
    """Most millions of characters that are stored; 0 for no limit."""
    continue_minutes: int = 0
    """Minutes for which a conversation of a satellite or a person continues after Home Assistant has ended it."""
    user_prompt_submit: str | None = None
    """Entity id of a script that is called at this point of a turn, like the next three."""
    pre_tool_use: str | None = None
    post_tool_use: str | None = None
    pre_speech: str | None = None
    remember_facts: bool = False
    """Whether it remembers facts for each person; see `memory/facts.py`."""
    search_history: bool = False
    """Whether it may search earlier conversations of the speaker."""
    look_task: str | None = None
    """Entity id of the AI task that looks at pictures for it; empty for none."""
    web_search: WebSearch = WebSearch.OFF
    web_search_address: str = ""
    """That of SearXNG."""
    web_search_key: str = field(
        default="",
        repr=False,
    )
    """That of Brave."""

    @property
    def home(self) -> HomeDetail:
        """How the home is described to the model."""
        return HomeDetail(
            is_compact=self.compact_home,
            most_listed=self.most_listed,
        )

    @property
    def scripts(self) -> Mapping[HookPoint, str]:
        """Scripts by the point at which they are called."""
        return {
            point: script for point in HookPoint if (script := getattr(self, point))
        }


_NAMES: Final = tuple(one.name for one in fields(AgentSettings))
"""Most settings have the name of their option, and are stored as they are."""
_CHOICES: Final = {
    CONF_CONFIRMATION: Confirmation.RESULT,
    CONF_LOCAL_COMMANDS: LocalCommands.FIRST,
    CONF_WEB_SEARCH: WebSearch.OFF,
    CONF_WHEN_SPENT: WhenSpent.HAND_OVER,
}
"""The defaults of options that are choices."""
OF_LIMITS: Final = (
    CONF_MAX_ITERATIONS,
    CONF_MAX_TOOL_CALLS,
    CONF_DEADLINE,
    CONF_TOOL_TIMEOUT,
)


def settings_of(data: EntryData) -> AgentSettings:
    """Read the data of a subentry; missing options have their defaults."""
    settings = {name: data[name] for name in _NAMES if name in data}
    limits = {name: data[name] for name in OF_LIMITS if name in data}
    settings |= {
        "llm_apis": tuple(data.get(CONF_LLM_HASS_API, ())),
        "prompt": data.get(CONF_PROMPT) or None,
        "fallbacks": tuple(data.get(CONF_FALLBACKS, ())),
        "model_requests": frozenset(data.get(CONF_MODEL_REQUESTS, RequestKind)),
        "limits": replace(_LIMITS, **limits),
    }
    for option, default in _CHOICES.items():
        found = known_choice(
            type(default),
            option,
            data.get(option),
        )
        settings[option] = found or default
    return AgentSettings(**settings)


def known_choice[Choice: StrEnum](
    choices: type[Choice], option: str, value: str | None
) -> Choice | None:
    """Return the value of an option; None for no value, or an unknown one of another version."""
    if not value:
        return None
    try:
        return choices(value)
    except ValueError:
        _log_unknown(option, str(value))
        return None


@cache
def _log_unknown(
    option: str,
    value: str,
) -> None:
    """Log an unknown choice once."""
    LOGGER.warning(
        "The option %s of an agent is set to %s, which is not known here: its default holds",
        option,
        value,
    )


def readable_entries(hass: HomeAssistant) -> list[ConfigEntry]:
    """Return the entries but those that a later version has stored, which are left as they are."""
    entries = hass.config_entries.async_entries(DOMAIN)
    return [entry for entry in entries if entry.version <= ENTRY_VERSION]


def existing_agents(hass: HomeAssistant) -> Mapping[str, ConfigSubentry]:
    """Return the subentries of all agents and AI tasks by their ids, of unloaded services too."""
    return {
        agent_id: agent
        for entry in hass.config_entries.async_entries(DOMAIN)
        for agent_id, agent in entry.subentries.items()
    }


def keeps_history(subentry: ConfigSubentry) -> bool:
    """Return whether conversations with an agent are stored; those of AI tasks are stored only if this is set."""
    stored: bool = subentry.data.get(
        CONF_KEEP_HISTORY, subentry.subentry_type != SUBENTRY_AI_TASK
    )
    return stored

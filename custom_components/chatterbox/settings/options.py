"""The options of a conversation agent: their sections, the bounds of numbers, and validation.

Forms (`flows/`) show them, `settings/agent.py` reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.helpers import llm

from .. import const
from .agent import AgentSettings

SECTION_MODEL_OPTIONS: Final = "model_options"
SECTION_HOME: Final = "home"
SECTION_VOICE: Final = "voice"
SECTION_MEMORY: Final = "memory"
SECTION_LIMITS: Final = "limits"
SECTION_WINDOW: Final = "window"
SECTION_HISTORY: Final = "history"
SECTION_COSTS: Final = "costs"
SECTION_AUTOMATION: Final = "automation"

_OF_A_TURN: Final = frozenset(
    {const.CONF_MAX_ITERATIONS, const.CONF_MAX_TOOL_CALLS, const.CONF_DEADLINE, const.CONF_TOOL_TIMEOUT}
)


@dataclass(frozen=True, slots=True)
class NumberOption:
    """The bounds of a number."""

    least: float
    most: float
    step: float | Literal["any"] = 1
    """1 for integers."""
    unit: str = ""
    """Key of a translated unit."""


_OPTIONS: Final[Mapping[str, Mapping[str, NumberOption | None]]] = {
    SECTION_MODEL_OPTIONS: {
        const.CONF_TEMPERATURE: NumberOption(0, 2, 0.05),
        const.CONF_TOP_P: NumberOption(0.01, 1, 0.01),
        const.CONF_MAX_TOKENS: NumberOption(16, 1_000_000, unit="tokens"),
        const.CONF_REASONING_EFFORT: None,
        const.CONF_VERBOSITY: None,
        const.CONF_SERVICE_TIER: None,
        const.CONF_KEEP_ALIVE: NumberOption(-1, 604_800, unit="seconds"),
        const.CONF_NUM_CTX: NumberOption(2048, 10_000_000, unit="tokens"),
        const.CONF_EXTRA_PARAMETERS: None,
    },
    SECTION_HOME: {const.CONF_COMPACT_HOME: None, const.CONF_MOST_LISTED: NumberOption(0, 100_000)},
    SECTION_VOICE: {
        const.CONF_CONFIRMATION: None,
        const.CONF_FILLER_AFTER: NumberOption(0, 60, 0.5, unit="seconds"),
        const.CONF_CHECK_ACTIONS: None,
    },
    SECTION_MEMORY: {const.CONF_REMEMBER_FACTS: None, const.CONF_SEARCH_HISTORY: None},
    SECTION_LIMITS: {
        const.CONF_MAX_ITERATIONS: NumberOption(2, 50),
        const.CONF_MAX_TOOL_CALLS: NumberOption(1, 200),
        const.CONF_DEADLINE: NumberOption(5, 600, unit="seconds"),
        const.CONF_TOOL_TIMEOUT: NumberOption(1, 300, unit="seconds"),
        const.CONF_CONNECT_TIMEOUT: NumberOption(0.5, 60, 0.5, unit="seconds"),
        const.CONF_FIRST_TOKEN_TIMEOUT: NumberOption(1, 600, 0.5, unit="seconds"),
        const.CONF_BETWEEN_TOKENS_TIMEOUT: NumberOption(1, 600, 0.5, unit="seconds"),
    },
    SECTION_WINDOW: {
        const.CONF_HISTORY_TOKENS: NumberOption(500, 1_000_000, unit="tokens"),
        const.CONF_CONTEXT_WINDOW: NumberOption(2048, 10_000_000, unit="tokens"),
        const.CONF_SUMMARY: None,
    },
    SECTION_HISTORY: {
        const.CONF_KEEP_HISTORY: None,
        const.CONF_KEEP_DAYS: NumberOption(0, 3_650, unit="days"),
        const.CONF_KEEP_MEGABYTES: NumberOption(0, 100_000, unit="megabytes"),
        const.CONF_CONTINUE_MINUTES: NumberOption(0, 1_440, unit="minutes"),
    },
    SECTION_COSTS: {
        const.CONF_PRICE_INPUT: NumberOption(0, 10_000, "any", unit="dollars"),
        const.CONF_PRICE_CACHED: NumberOption(0, 10_000, "any", unit="dollars"),
        const.CONF_PRICE_OUTPUT: NumberOption(0, 10_000, "any", unit="dollars"),
        const.CONF_BUDGET_DAY: NumberOption(0, 100_000, "any", unit="dollars"),
        const.CONF_BUDGET_MONTH: NumberOption(0, 1_000_000, "any", unit="dollars"),
        const.CONF_WHEN_SPENT: None,
    },
    SECTION_AUTOMATION: dict.fromkeys(
        (const.CONF_USER_PROMPT_SUBMIT, const.CONF_PRE_TOOL_USE, const.CONF_POST_TOOL_USE, const.CONF_PRE_SPEECH)
    ),
}
"""The options by section, with the bounds of numbers."""
NUMBERS: Final = {name: number for options in _OPTIONS.values() for name, number in options.items() if number}
SCRIPTS: Final = tuple(_OPTIONS[SECTION_AUTOMATION])
"""Options that name a script which is called during a turn."""
_KIND_OF: Final[Mapping[str, const.ServiceKind]] = {
    const.CONF_VERBOSITY: const.ServiceKind.OPENAI_RESPONSES,
    const.CONF_SERVICE_TIER: const.ServiceKind.OPENAI_RESPONSES,
    const.CONF_KEEP_ALIVE: const.ServiceKind.OLLAMA_CHAT,
    const.CONF_NUM_CTX: const.ServiceKind.OLLAMA_CHAT,
}
"""For options of one kind of service."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a person has to correct before an agent can be saved."""

    place: str
    """A field or a section of the form."""
    key: str
    """Of a sentence."""
    placeholders: Mapping[str, str]


def sections_of(kind: const.ServiceKind) -> Mapping[str, tuple[str, ...]]:
    """Return the options of an agent of a kind of service, by section. For Ollama, `num_ctx` is the context window."""
    absent = {option for option, only in _KIND_OF.items() if only is not kind}
    if kind is const.ServiceKind.OLLAMA_CHAT:
        absent.add(const.CONF_CONTEXT_WINDOW)
    return {
        place: tuple(option for option in options if option not in absent)
        for place, options in _OPTIONS.items()
        if place == SECTION_HISTORY or kind is not const.ServiceKind.OFFLINE
    }


def new_agent_data(kind: const.ServiceKind, model: str = "") -> dict[str, Any]:
    """Return what is stored for a new agent."""
    if kind is const.ServiceKind.OFFLINE:
        return {}
    return {CONF_MODEL: model, CONF_LLM_HASS_API: [llm.LLM_API_ASSIST], CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT}


def value_of(settings: AgentSettings, option: str) -> Any:
    """Return the value of an option, or its default."""
    return getattr(settings.limits if option in _OF_A_TURN else settings, option)


def asks_alike(one: AgentSettings, other: AgentSettings) -> bool:
    """Return whether two agents send their models the same requests."""
    options = (CONF_MODEL, *_OPTIONS[SECTION_MODEL_OPTIONS])
    return all(getattr(one, option) == getattr(other, option) for option in options)


def find_problems(options: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """Return the problems of the options of a form, by section; of numbers out of bounds, only the first."""
    given = {option: (place, value) for place, values in options.items() for option, value in set_options(values)}
    problems: list[Problem] = []
    if const.CONF_EXTRA_PARAMETERS in given and not isinstance(given[const.CONF_EXTRA_PARAMETERS][1], dict):
        problems.append(Problem(SECTION_MODEL_OPTIONS, "extra_parameters_no_object", {}))
    unfit = (find_unfit(place, NUMBERS[option], value) for option, (place, value) in given.items() if option in NUMBERS)
    if first := next((problem for problem in unfit if problem), None):
        return [*problems, first]
    return problems


def set_options(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options of a section that are not empty."""
    return ((option, value) for option, value in values.items() if value not in (None, "", {}))


def find_unfit(place: str, option: NumberOption, value: float) -> Problem | None:
    """Return the problem of a number, for a place in a form; None for a valid one."""
    if option.least <= value <= option.most and (option.step != 1 or float(value).is_integer()):
        return None
    key = "number_unfit" if option.step != 1 else "whole_number_unfit"
    numbers = {"value": value, "least": option.least, "most": option.most}
    return Problem(place, key, {name: _plain(number) for name, number in numbers.items()})


def find_late_deadlines(settings: AgentSettings) -> list[Problem]:
    """Return a problem for timeouts that a longer limit makes useless."""
    waits = (
        ("connect_timeout_unfit", settings.connect_timeout, settings.first_token_timeout),
        ("first_token_timeout_unfit", settings.first_token_timeout, settings.limits.deadline),
    )
    for key, wait, bound in waits:
        if wait > bound:
            return [Problem(SECTION_LIMITS, key, {"wait": _plain(wait), "bound": _plain(bound)})]
    return []


def _plain(number: float) -> str:
    """Format a number without needless zeros."""
    return str(int(number)) if float(number).is_integer() else f"{number:g}"

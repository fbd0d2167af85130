"""The options of a conversation agent: their sections, the bounds of numbers, and validation.

Forms (`flows/`) show them, `settings/agent.py` reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.helpers import llm

from ..const import (
    CONF_BETWEEN_TOKENS_TIMEOUT,
    CONF_BUDGET_DAY,
    CONF_BUDGET_MONTH,
    CONF_CHECK_ACTIONS,
    CONF_COMPACT_HOME,
    CONF_CONFIRMATION,
    CONF_CONNECT_TIMEOUT,
    CONF_CONTEXT_WINDOW,
    CONF_CONTINUE_MINUTES,
    CONF_DEADLINE,
    CONF_EXTRA_PARAMETERS,
    CONF_FILLER_AFTER,
    CONF_FIRST_TOKEN_TIMEOUT,
    CONF_HISTORY_TOKENS,
    CONF_KEEP_ALIVE,
    CONF_KEEP_DAYS,
    CONF_KEEP_HISTORY,
    CONF_KEEP_MEGABYTES,
    CONF_MAX_ITERATIONS,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_CALLS,
    CONF_MOST_LISTED,
    CONF_NUM_CTX,
    CONF_POST_TOOL_USE,
    CONF_PRE_SPEECH,
    CONF_PRE_TOOL_USE,
    CONF_PRICE_CACHED,
    CONF_PRICE_INPUT,
    CONF_PRICE_OUTPUT,
    CONF_REASONING_EFFORT,
    CONF_REMEMBER_FACTS,
    CONF_SEARCH_HISTORY,
    CONF_SERVICE_TIER,
    CONF_SUMMARY,
    CONF_TEMPERATURE,
    CONF_TOOL_TIMEOUT,
    CONF_TOP_P,
    CONF_USER_PROMPT_SUBMIT,
    CONF_VERBOSITY,
    CONF_WHEN_SPENT,
    ServiceKind,
)
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

_OF_A_TURN: Final = frozenset({CONF_MAX_ITERATIONS, CONF_MAX_TOOL_CALLS, CONF_DEADLINE, CONF_TOOL_TIMEOUT})


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
        CONF_TEMPERATURE: NumberOption(0, 2, 0.05),
        CONF_TOP_P: NumberOption(0.01, 1, 0.01),
        CONF_MAX_TOKENS: NumberOption(16, 1_000_000, unit="tokens"),
        CONF_REASONING_EFFORT: None,
        CONF_VERBOSITY: None,
        CONF_SERVICE_TIER: None,
        CONF_KEEP_ALIVE: NumberOption(-1, 604_800, unit="seconds"),
        CONF_NUM_CTX: NumberOption(2048, 10_000_000, unit="tokens"),
        CONF_EXTRA_PARAMETERS: None,
    },
    SECTION_HOME: {CONF_COMPACT_HOME: None, CONF_MOST_LISTED: NumberOption(0, 100_000)},
    SECTION_VOICE: {
        CONF_CONFIRMATION: None,
        CONF_FILLER_AFTER: NumberOption(0, 60, 0.5, unit="seconds"),
        CONF_CHECK_ACTIONS: None,
    },
    SECTION_MEMORY: {CONF_REMEMBER_FACTS: None, CONF_SEARCH_HISTORY: None},
    SECTION_LIMITS: {
        CONF_MAX_ITERATIONS: NumberOption(2, 50),
        CONF_MAX_TOOL_CALLS: NumberOption(1, 200),
        CONF_DEADLINE: NumberOption(5, 600, unit="seconds"),
        CONF_TOOL_TIMEOUT: NumberOption(1, 300, unit="seconds"),
        CONF_CONNECT_TIMEOUT: NumberOption(0.5, 60, 0.5, unit="seconds"),
        CONF_FIRST_TOKEN_TIMEOUT: NumberOption(1, 600, 0.5, unit="seconds"),
        CONF_BETWEEN_TOKENS_TIMEOUT: NumberOption(1, 600, 0.5, unit="seconds"),
    },
    SECTION_WINDOW: {
        CONF_HISTORY_TOKENS: NumberOption(500, 1_000_000, unit="tokens"),
        CONF_CONTEXT_WINDOW: NumberOption(2048, 10_000_000, unit="tokens"),
        CONF_SUMMARY: None,
    },
    SECTION_HISTORY: {
        CONF_KEEP_HISTORY: None,
        CONF_KEEP_DAYS: NumberOption(0, 3_650, unit="days"),
        CONF_KEEP_MEGABYTES: NumberOption(0, 100_000, unit="megabytes"),
        CONF_CONTINUE_MINUTES: NumberOption(0, 1_440, unit="minutes"),
    },
    SECTION_COSTS: {
        CONF_PRICE_INPUT: NumberOption(0, 10_000, "any", unit="dollars"),
        CONF_PRICE_CACHED: NumberOption(0, 10_000, "any", unit="dollars"),
        CONF_PRICE_OUTPUT: NumberOption(0, 10_000, "any", unit="dollars"),
        CONF_BUDGET_DAY: NumberOption(0, 100_000, "any", unit="dollars"),
        CONF_BUDGET_MONTH: NumberOption(0, 1_000_000, "any", unit="dollars"),
        CONF_WHEN_SPENT: None,
    },
    SECTION_AUTOMATION: dict.fromkeys(
        (CONF_USER_PROMPT_SUBMIT, CONF_PRE_TOOL_USE, CONF_POST_TOOL_USE, CONF_PRE_SPEECH)
    ),
}
"""The options by section, with the bounds of numbers."""
NUMBERS: Final = {name: number for options in _OPTIONS.values() for name, number in options.items() if number}
SCRIPTS: Final = tuple(_OPTIONS[SECTION_AUTOMATION])
"""Options that name a script which is called during a turn."""
_KIND_OF: Final[Mapping[str, ServiceKind]] = {
    CONF_VERBOSITY: ServiceKind.OPENAI_RESPONSES,
    CONF_SERVICE_TIER: ServiceKind.OPENAI_RESPONSES,
    CONF_KEEP_ALIVE: ServiceKind.OLLAMA_CHAT,
    CONF_NUM_CTX: ServiceKind.OLLAMA_CHAT,
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


def sections_of(kind: ServiceKind) -> Mapping[str, tuple[str, ...]]:
    """Return the options of an agent of a kind of service, by section. For Ollama, `num_ctx` is the context window."""
    absent = {option for option, only in _KIND_OF.items() if only is not kind}
    if kind is ServiceKind.OLLAMA_CHAT:
        absent.add(CONF_CONTEXT_WINDOW)
    return {
        place: tuple(option for option in options if option not in absent)
        for place, options in _OPTIONS.items()
        if place == SECTION_HISTORY or kind is not ServiceKind.OFFLINE
    }


def new_agent_data(kind: ServiceKind, model: str = "") -> dict[str, Any]:
    """Return what is stored for a new agent."""
    if kind is ServiceKind.OFFLINE:
        return {}
    return {
        CONF_MODEL: model,
        CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
    }


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
    if CONF_EXTRA_PARAMETERS in given and not isinstance(given[CONF_EXTRA_PARAMETERS][1], dict):
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

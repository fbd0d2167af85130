"""The options of agents and AI tasks, each declared once with its group, its bounds and the kinds that have it.

Validates values. Forms (`flows/`) show the options, and `settings/agent.py` reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.helpers import llm

from .. import const
from ..agent.protocols import HookPoint
from .agent import OF_LIMITS, AgentSettings

SETTINGS: Final = "settings"
"""The options of the form Settings."""
WEB: Final = "web"
"""A section of that form. The other groups are the sections of the form Advanced."""
ANSWERS: Final = "answers"
SPEED: Final = "speed"
LIMITS: Final = "limits"
LONG_CONVERSATIONS: Final = "long_conversations"
STORAGE: Final = "storage"
AUTOMATION: Final = "automation"

DRAWING_KINDS: Final = frozenset(
    {const.ServiceKind.OPENAI_CHAT, const.ServiceKind.OPENAI_RESPONSES}
)
"""Kinds of service that may have an image model, in OpenAI's format."""
SCRIPTS: Final = tuple(point.value for point in HookPoint)
"""Options that name a script which is called during a turn."""

_OF_REQUESTS: Final = (
    CONF_MODEL,
    const.CONF_TEMPERATURE,
    const.CONF_TOP_P,
    const.CONF_MAX_TOKENS,
    const.CONF_REASONING_EFFORT,
    const.CONF_VERBOSITY,
    const.CONF_SERVICE_TIER,
    const.CONF_KEEP_ALIVE,
    const.CONF_NUM_CTX,
    const.CONF_EXTRA_PARAMETERS,
)
"""Options that change the requests to a model."""


@dataclass(frozen=True, slots=True)
class NumberOption:
    """The bounds of a number."""

    least: float
    most: float
    step: float | Literal["any"] = 1
    """1 for integers."""
    unit: str = ""
    """Key of a translated unit."""

    @property
    def range(self) -> str:
        """The bounds, as a form shows them in every language."""
        return f"{_plain(self.least)}\N{EN DASH}{_plain(self.most)}"


_MODELS: Final = frozenset(const.ServiceKind) - {const.ServiceKind.OFFLINE}
_OLLAMA: Final = frozenset({const.ServiceKind.OLLAMA_CHAT})
_RESPONSES: Final = frozenset({const.ServiceKind.OPENAI_RESPONSES})
_ALL: Final = frozenset(const.ServiceKind)
_AGENTS: Final = frozenset({const.SUBENTRY_CONVERSATION})
_TASKS: Final = frozenset({const.SUBENTRY_AI_TASK})


@dataclass(frozen=True, slots=True)
class Option:
    """A field in the forms of agents and AI tasks."""

    name: str
    number: NumberOption | None = None
    kinds: frozenset[const.ServiceKind] = _MODELS
    """The kinds of service that have it."""
    used_by: frozenset[str] = _AGENTS | _TASKS
    """The types of subentry that have it."""


_SECONDS: Final = NumberOption(
    1,
    600,
    0.5,
    unit="seconds",
)
_PRICE: Final = NumberOption(
    0,
    10_000,
    "any",
    unit="dollars",
)
_OPTIONS: Final[Mapping[str, tuple[Option, ...]]] = {
    SETTINGS: (
        Option(CONF_MODEL),
        Option(
            const.CONF_IMAGE_MODEL,
            kinds=DRAWING_KINDS,
            used_by=_TASKS,
        ),
        Option(CONF_PROMPT),
        Option(CONF_LLM_HASS_API),
        Option(const.CONF_REMEMBER_FACTS, used_by=_AGENTS),
        Option(const.CONF_SEARCH_HISTORY, used_by=_AGENTS),
        Option(const.CONF_LOOK_TASK, used_by=_AGENTS),
        Option(
            const.CONF_BUDGET_MONTH,
            NumberOption(
                0,
                1_000_000,
                "any",
                unit="dollars",
            ),
        ),
    ),
    WEB: (
        Option(const.CONF_WEB_SEARCH, used_by=_AGENTS),
        Option(const.CONF_WEB_SEARCH_ADDRESS, used_by=_AGENTS),
        Option(const.CONF_WEB_SEARCH_KEY, used_by=_AGENTS),
    ),
    ANSWERS: (
        Option(const.CONF_FALLBACKS),
        Option(const.CONF_LOCAL_COMMANDS, used_by=_AGENTS),
        Option(const.CONF_MODEL_REQUESTS, used_by=_AGENTS),
        Option(const.CONF_CONFIRMATION, used_by=_AGENTS),
        Option(
            const.CONF_TEMPERATURE,
            NumberOption(
                0,
                2,
                0.05,
            ),
        ),
        Option(
            const.CONF_TOP_P,
            NumberOption(
                0.01,
                1,
                0.01,
            ),
        ),
        Option(
            const.CONF_MAX_TOKENS,
            NumberOption(
                16,
                1_000_000,
                unit="tokens",
            ),
        ),
        Option(const.CONF_VERBOSITY, kinds=_RESPONSES),
        Option(const.CONF_EXTRA_PARAMETERS),
    ),
    SPEED: (
        Option(const.CONF_REASONING_EFFORT),
        Option(const.CONF_SERVICE_TIER, kinds=_RESPONSES),
        Option(
            const.CONF_KEEP_ALIVE,
            NumberOption(
                -1,
                604_800,
                unit="seconds",
            ),
            kinds=_OLLAMA,
        ),
        Option(const.CONF_READ_AHEAD, used_by=_AGENTS),
        Option(const.CONF_COMPACT_HOME),
        Option(const.CONF_MOST_LISTED, NumberOption(0, 100_000)),
        Option(
            const.CONF_FILLER_AFTER,
            NumberOption(
                0,
                60,
                0.5,
                unit="seconds",
            ),
            used_by=_AGENTS,
        ),
        Option(
            const.CONF_CONNECT_TIMEOUT,
            NumberOption(
                0.5,
                60,
                0.5,
                unit="seconds",
            ),
        ),
        Option(const.CONF_FIRST_TOKEN_TIMEOUT, _SECONDS),
        Option(const.CONF_BETWEEN_TOKENS_TIMEOUT, _SECONDS),
    ),
    LIMITS: (
        Option(
            const.CONF_DEADLINE,
            NumberOption(
                5,
                600,
                unit="seconds",
            ),
        ),
        Option(
            const.CONF_TOOL_TIMEOUT,
            NumberOption(
                1,
                300,
                unit="seconds",
            ),
        ),
        Option(const.CONF_MAX_ITERATIONS, NumberOption(2, 50)),
        Option(const.CONF_MAX_TOOL_CALLS, NumberOption(1, 200)),
        Option(const.CONF_MAX_CHARACTERS, NumberOption(1_000, 1_000_000)),
        Option(
            const.CONF_BUDGET_DAY,
            NumberOption(
                0,
                100_000,
                "any",
                unit="dollars",
            ),
        ),
        Option(const.CONF_WHEN_SPENT),
        Option(const.CONF_PRICE_INPUT, _PRICE),
        Option(const.CONF_PRICE_CACHED, _PRICE),
        Option(const.CONF_PRICE_OUTPUT, _PRICE),
    ),
    LONG_CONVERSATIONS: (
        Option(
            const.CONF_HISTORY_TOKENS,
            NumberOption(
                500,
                1_000_000,
                unit="tokens",
            ),
            used_by=_AGENTS,
        ),
        Option(
            const.CONF_CONTEXT_WINDOW,
            NumberOption(
                2048,
                10_000_000,
                unit="tokens",
            ),
            kinds=_MODELS - _OLLAMA,
            used_by=_AGENTS,
        ),
        Option(
            const.CONF_NUM_CTX,
            NumberOption(
                2048,
                10_000_000,
                unit="tokens",
            ),
            kinds=_OLLAMA,
        ),
        Option(const.CONF_SUMMARY, used_by=_AGENTS),
        Option(
            const.CONF_CONTINUE_MINUTES,
            NumberOption(
                0,
                1_440,
                unit="minutes",
            ),
            kinds=_ALL,
            used_by=_AGENTS,
        ),
    ),
    STORAGE: (
        Option(const.CONF_KEEP_HISTORY, kinds=_ALL),
        Option(
            const.CONF_KEEP_DAYS,
            NumberOption(
                0,
                3_650,
                unit="days",
            ),
            kinds=_ALL,
        ),
        Option(
            const.CONF_KEEP_MEGABYTES,
            NumberOption(
                0,
                100_000,
                unit="megabytes",
            ),
            kinds=_ALL,
        ),
    ),
    AUTOMATION: (
        Option(HookPoint.USER_PROMPT_SUBMIT.value),
        Option(HookPoint.PRE_TOOL_USE.value),
        Option(HookPoint.POST_TOOL_USE.value),
        Option(HookPoint.PRE_SPEECH.value, used_by=_AGENTS),
    ),
}
"""The options by group."""
NUMBERS: Final = {
    option.name: option.number
    for group in _OPTIONS.values()
    for option in group
    if option.number
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that must be corrected before an agent can be saved."""

    place: str
    """A field or a section of a form."""
    key: str
    """Key of a translated sentence."""
    placeholders: Mapping[str, str] = field(default_factory=dict)


def options_of(
    kind: const.ServiceKind, subentry_type: str
) -> Mapping[str, tuple[str, ...]]:
    """Return the options of an agent or AI task of a kind of service, by group."""
    groups = {
        group: tuple(
            one.name
            for one in options
            if kind in one.kinds and subentry_type in one.used_by
        )
        for group, options in _OPTIONS.items()
    }
    return {group: names for group, names in groups.items() if names}


def new_agent_data(
    kind: const.ServiceKind,
    model: str = "",
) -> dict[str, Any]:
    """Return the stored data of a new agent."""
    if kind is const.ServiceKind.OFFLINE:
        return {}
    return {
        CONF_MODEL: model,
        CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
    }


def value_of(settings: AgentSettings, option: str) -> Any:
    """Return the value of an option, or its default."""
    return getattr(
        settings.limits if option in OF_LIMITS else settings,
        option,
    )


def asks_alike(one: AgentSettings, other: AgentSettings) -> bool:
    """Return whether two agents send the same requests to their models."""
    return all(
        getattr(one, option) == getattr(other, option) for option in _OF_REQUESTS
    )


def find_problems(values: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of the values of a form, by option."""
    given = dict(set_options(values))
    unfit = (
        find_unfit(
            option,
            NUMBERS[option],
            value,
        )
        for option, value in given.items()
        if option in NUMBERS
    )
    problems = [problem for problem in unfit if problem]
    if not isinstance(given.get(const.CONF_EXTRA_PARAMETERS, {}), dict):
        problems.append(
            Problem(const.CONF_EXTRA_PARAMETERS, "extra_parameters_no_object")
        )
    return problems


def set_options(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options that are not empty."""
    return (
        (option, value)
        for option, value in values.items()
        if value not in (None, "", {}, [])
    )


def find_unfit(
    place: str,
    option: NumberOption,
    value: float,
) -> Problem | None:
    """Return the problem of a number, for a place in a form; None for a valid one."""
    if value > option.most:
        key = "too_high"
    elif not value >= option.least:  # also "not a number"
        key = "too_low"
    elif option.step != 1 or float(value).is_integer():
        return None
    else:
        key = "not_whole"
    numbers = {
        "value": value,
        "least": option.least,
        "most": option.most,
    }
    return Problem(
        place, key, {name: _plain(number) for name, number in numbers.items()}
    )


def find_late_deadlines(settings: AgentSettings) -> list[Problem]:
    """Return the problems of timeouts that exceed a limit of the whole turn."""
    waits = (
        (
            const.CONF_CONNECT_TIMEOUT,
            settings.connect_timeout,
            settings.first_token_timeout,
        ),
        (
            const.CONF_FIRST_TOKEN_TIMEOUT,
            settings.first_token_timeout,
            settings.limits.deadline,
        ),
    )
    return [
        Problem(
            option, f"{option}_unfit", {"wait": _plain(wait), "bound": _plain(bound)}
        )
        for option, wait, bound in waits
        if wait > bound
    ]


def _plain(number: float) -> str:
    """Format a number without trailing zeros, with spaces between the thousands of a long one, as in every language."""
    if not float(number).is_integer():
        return f"{number:g}"
    is_long = abs(number) >= 10_000  # noqa: PLR2004  # with four digits, no line breaks between them
    if is_long:
        return f"{int(number):,}".replace(
            ",",
            "\N{NARROW NO-BREAK SPACE}",
        )
    return str(int(number))

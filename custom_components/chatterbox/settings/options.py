"""The options of agents and AI tasks, each declared once with its group, its bounds and the kinds that have it.

Validates values. Forms (`flows/`) show the options, and `settings/agent.py` reads them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.helpers import llm
from pydantic import with_config

from ..agent.protocols import HookPoint
from ..agent.text import read_data_file
from ..const import (
    CONF_CONNECT_TIMEOUT,
    CONF_EXTRA_PARAMETERS,
    CONF_FIRST_TOKEN_TIMEOUT,
    CONF_IMAGE_MODEL,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from .agent import OF_LIMITS, AgentSettings

SETTINGS: Final = "settings"
"""The options of the form Settings."""
WEB: Final = "web"
"""A section of that form. The other groups are the sections of the form Advanced."""
ANSWERS: Final = "answers"
SCRIPTS: Final = tuple(point.value for point in HookPoint)
"""Options that name a script which is called during a turn."""


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


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class Option:
    """A field in the forms of agents and AI tasks; see `options.toml`."""

    number: NumberOption | None = None
    kinds: frozenset[ServiceKind] = frozenset(ServiceKind) - {ServiceKind.OFFLINE}
    """The kinds of service that have it."""
    used_by: frozenset[str] = frozenset({SUBENTRY_CONVERSATION, SUBENTRY_AI_TASK})
    """The types of subentry that have it."""
    in_requests: bool = False
    """Whether it changes the requests to a model."""


_GROUPS: Final = read_data_file(__file__, dict[str, dict[str, Option]])
_OPTIONS: Final = {
    name: option for options in _GROUPS.values() for name, option in options.items()
}
DRAWING_KINDS: Final = _OPTIONS[CONF_IMAGE_MODEL].kinds
"""Kinds of service that may have an image model, in OpenAI's format."""
NUMBERS: Final = {
    name: option.number for name, option in _OPTIONS.items() if option.number
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that must be corrected before an agent can be saved."""

    place: str
    """A field or a section of a form."""
    key: str
    """Key of a translated sentence."""
    placeholders: Mapping[str, str] = field(default_factory=dict)


def options_of(kind: ServiceKind, subentry_type: str) -> Mapping[str, tuple[str, ...]]:
    """Return the options of an agent or AI task of a kind of service, by group."""
    groups = {
        group: tuple(
            name
            for name, one in options.items()
            if kind in one.kinds and subentry_type in one.used_by
        )
        for group, options in _GROUPS.items()
    }
    return {group: names for group, names in groups.items() if names}


def new_agent_data(
    kind: ServiceKind,
    model: str = "",
) -> dict[str, Any]:
    """Return the stored data of a new agent."""
    if kind is ServiceKind.OFFLINE:
        return {}
    return {
        CONF_MODEL: model,
        CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
        CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
    }


def value_of(
    settings: AgentSettings,
    option: str,
) -> Any:
    """Return the value of an option, or its default."""
    return getattr(
        settings.limits if option in OF_LIMITS else settings,
        option,
    )


def asks_alike(
    one: AgentSettings,
    other: AgentSettings,
) -> bool:
    """Return whether two agents send the same requests to their models."""
    return all(
        getattr(one, name) == getattr(other, name)
        for name, option in _OPTIONS.items()
        if option.in_requests
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
    if not isinstance(given.get(CONF_EXTRA_PARAMETERS, {}), dict):
        problems.append(Problem(CONF_EXTRA_PARAMETERS, "extra_parameters_no_object"))
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
            CONF_CONNECT_TIMEOUT,
            settings.connect_timeout,
            settings.first_token_timeout,
        ),
        (
            CONF_FIRST_TOKEN_TIMEOUT,
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

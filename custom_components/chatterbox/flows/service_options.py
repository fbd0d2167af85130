"""The options of a service: where conversations are stored, what diagnostics show, and whether programs may call.

Knows the options of an entry. Must not know how an address is tried (`flows/database_address.py`), how programs are
served (`responses/views.py`), or any sentence (`translations/`).
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.network import NoURLAvailableError, get_url
from homeassistant.helpers.selector import BooleanSelector, TextSelector

from ..const import (
    BASE_PATH,
    CONF_DIAGNOSE_WORDS,
    CONF_HISTORY_ADDRESS,
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    CONF_RESPONSES_API,
    DEFAULT_RESPONSE_DAYS,
    DEFAULT_RESPONSE_MEGABYTES,
)
from ..settings.options import NumberOption, Problem, find_unfit, set_options
from .agent_form import number_selector
from .database_address import async_try_address, shown_address, typed_address

SECTION_PROGRAMS: Final = "programs"
_NUMBERS: Final[Mapping[str, NumberOption]] = {
    CONF_RESPONSE_DAYS: NumberOption(0, 3_650, unit="days"),
    CONF_RESPONSE_MEGABYTES: NumberOption(0, 100_000, unit="megabytes"),
}
_DEFAULTS: Final[Mapping[str, object]] = {
    CONF_RESPONSES_API: False,
    CONF_RESPONSE_DAYS: DEFAULT_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES: DEFAULT_RESPONSE_MEGABYTES,
}


class ServiceOptionsFlow(OptionsFlow):
    """Asks for the options of an entry."""

    def __init__(self) -> None:
        """Begin with nothing typed."""
        self._typed: str | None = None
        """The address as it was meant last, with its password."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask, and try the database before it is used."""
        options = self.config_entry.options
        stored = options.get(CONF_HISTORY_ADDRESS, "")
        if user_input is None:
            programs = {name: options.get(name, default) for name, default in _DEFAULTS.items()}
            return self._show({**options, CONF_HISTORY_ADDRESS: shown_address(stored), SECTION_PROGRAMS: programs})
        before = stored if self._typed is None else self._typed
        self._typed = address = typed_address(user_input.get(CONF_HISTORY_ADDRESS, ""), before)
        programs = dict(set_options(user_input[SECTION_PROGRAMS]))
        problems = _problems(programs)
        if address and address != stored and (error := await async_try_address(self.hass, address)):
            problems.append(Problem(CONF_HISTORY_ADDRESS, error, {}))
        if problems:
            return self._show({**user_input, CONF_HISTORY_ADDRESS: shown_address(address)}, problems)
        return self.async_create_entry(
            data={
                CONF_DIAGNOSE_WORDS: user_input.get(CONF_DIAGNOSE_WORDS, False),
                CONF_RESPONSES_API: programs.get(CONF_RESPONSES_API, False),
                **{name: int(programs.get(name, _DEFAULTS[name])) for name in _NUMBERS},
                **({CONF_HISTORY_ADDRESS: address} if address else {}),
            }
        )

    def _show(self, form: Mapping[str, Any], problems: Collection[Problem] = ()) -> ConfigFlowResult:
        errors = {problem.place: problem.key for problem in problems}
        is_open = SECTION_PROGRAMS in errors or form[SECTION_PROGRAMS].get(CONF_RESPONSES_API, False)
        numbers = {name: text for problem in problems for name, text in problem.placeholders.items()}
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(_schema(is_open=is_open), form),
            errors=errors,
            description_placeholders={"address": _address(self.hass), **numbers},
        )


def _schema(*, is_open: bool) -> vol.Schema:
    programs = {vol.Optional(CONF_RESPONSES_API): BooleanSelector()}
    numbers = {vol.Optional(name): number_selector(option) for name, option in _NUMBERS.items()}
    return vol.Schema(
        {
            vol.Optional(CONF_HISTORY_ADDRESS): TextSelector(),
            vol.Optional(CONF_DIAGNOSE_WORDS): BooleanSelector(),
            vol.Required(SECTION_PROGRAMS): section(vol.Schema(programs | numbers), {"collapsed": not is_open}),
        }
    )


def _problems(programs: Mapping[str, Any]) -> list[Problem]:
    """Return the first number that does not fit."""
    given = ((option, programs[name]) for name, option in _NUMBERS.items() if name in programs)
    unfit = (find_unfit(SECTION_PROGRAMS, option, value) for option, value in given)
    return [problem for problem in unfit if problem][:1]


def _address(hass: HomeAssistant) -> str:
    """Return where programs call, by the address of this house that is known best."""
    try:
        return f"{get_url(hass)}{BASE_PATH}"
    except NoURLAvailableError:
        return BASE_PATH

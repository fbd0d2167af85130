"""The steps that change the options of a service: its database, its diagnostics, and the Responses API.

The address of a database is shown without its passwords, and tried before it is saved.
"""

import re
from collections.abc import Collection
from typing import Final

import voluptuous as vol
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.importlib import async_import_module
from homeassistant.helpers.network import NoURLAvailableError, get_url
from homeassistant.helpers.selector import BooleanSelector, TextSelector

from ..const import (
    BASE_PATH,
    CONF_DIAGNOSE_WORDS,
    CONF_HISTORY_ADDRESS,
    CONF_REQUEST_MEGABYTES,
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    CONF_RESPONSES_API,
    DEFAULT_REQUEST_MEGABYTES,
    DEFAULT_RESPONSE_DAYS,
    DEFAULT_RESPONSE_MEGABYTES,
    LOGGER,
)
from ..history.store.records import StoreUnavailable, Trouble
from ..history.stores import STORE_MODULE
from ..settings.options import NumberOption, Problem, find_unfit, set_options
from .dialog import FormInput, FormValues, async_placeholders, marked
from .model_flow import number_selector

SECTION_API: Final = "api"
_NUMBERS: Final = {
    CONF_RESPONSE_DAYS: NumberOption(
        0,
        3_650,
        unit="days",
    ),
    CONF_RESPONSE_MEGABYTES: NumberOption(
        0,
        100_000,
        unit="megabytes",
    ),
    CONF_REQUEST_MEGABYTES: NumberOption(
        1,
        10,
        unit="megabytes",
    ),
}
_RANGES: Final = {f"{name}_range": number.range for name, number in _NUMBERS.items()}
_DEFAULTS: Final = {
    CONF_RESPONSES_API: False,
    CONF_RESPONSE_DAYS: DEFAULT_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES: DEFAULT_RESPONSE_MEGABYTES,
    CONF_REQUEST_MEGABYTES: DEFAULT_REQUEST_MEGABYTES,
}
_SECRETS: Final = re.compile(
    r"(?:(?P<user>^[\w+.\-]+://[^:/]*:(?=[^@]*@))|(?P<field>[?&]\w*(?:pass|pwd)\w*=))(?P<secret>(?(user)[^@]+|[^&]+))",
    re.IGNORECASE,
)
"""The passwords of an address: before the `@`, or in a query parameter.

Source: `_parse_url` in sqlalchemy/engine/url.py
"""
_HIDDEN: Final = "***"
_ERRORS: Final = {
    Trouble.DISK_FAILED: "history_disk_full",
    Trouble.SLOW: "history_server_gone",
    Trouble.CLOSED: "history_failed",
    Trouble.OTHER: "history_failed",
}
"""The keys of errors that are not named after their trouble."""


class ServiceOptions(ConfigFlow):
    """The step that changes the options of a service."""

    _typed: str | None = None
    """The address of a database that was typed last, with its password."""

    async def async_step_options(
        self, user_input: FormInput = None
    ) -> ConfigFlowResult:
        """Ask for the options, and try the database."""
        entry = self._get_reconfigure_entry()
        options = entry.options
        stored = options.get(CONF_HISTORY_ADDRESS, "")
        if user_input is None:
            api = {
                name: options.get(name, default) for name, default in _DEFAULTS.items()
            }
            return await self._async_show_options(
                {
                    **options,
                    CONF_HISTORY_ADDRESS: shown_address(stored),
                    SECTION_API: api,
                }
            )
        before = stored if self._typed is None else self._typed
        self._typed = address = typed_address(
            user_input.get(CONF_HISTORY_ADDRESS, ""), before
        )
        api = dict(set_options(user_input[SECTION_API]))
        unfit = (
            find_unfit(name, option, api[name])
            for name, option in _NUMBERS.items()
            if name in api
        )
        problems = [problem for problem in unfit if problem]
        if (
            address
            and address != stored
            and (error := await async_try_address(self.hass, address))
        ):
            problems.append(Problem(CONF_HISTORY_ADDRESS, error))
        if problems:
            form = {**user_input, CONF_HISTORY_ADDRESS: shown_address(address)}
            return await self._async_show_options(form, problems)
        return self.async_update_and_abort(
            entry,
            options={
                CONF_DIAGNOSE_WORDS: user_input.get(CONF_DIAGNOSE_WORDS, False),
                CONF_RESPONSES_API: api.get(CONF_RESPONSES_API, False),
                **{name: int(api.get(name, _DEFAULTS[name])) for name in _NUMBERS},
                **({CONF_HISTORY_ADDRESS: address} if address else {}),
            },
        )

    async def _async_show_options(
        self, form: FormValues, problems: Collection[Problem] = ()
    ) -> ConfigFlowResult:
        is_open = any(problem.place in _NUMBERS for problem in problems) or form[
            SECTION_API
        ].get(CONF_RESPONSES_API, False)
        schema = _schema(is_open=is_open)
        return self.async_show_form(
            step_id="options",
            data_schema=self.add_suggested_values_to_schema(schema, form),
            errors=marked(schema, problems),
            description_placeholders=await async_placeholders(
                self.hass,
                "options",
                problems,
                "config",
                address=_address(self.hass),
                **_RANGES,
            ),
        )


def _schema(*, is_open: bool) -> vol.Schema:
    switch = {vol.Optional(CONF_RESPONSES_API): BooleanSelector()}
    numbers = {
        vol.Optional(name): number_selector(option) for name, option in _NUMBERS.items()
    }
    return vol.Schema(
        {
            vol.Optional(CONF_HISTORY_ADDRESS): TextSelector(),
            vol.Optional(CONF_DIAGNOSE_WORDS): BooleanSelector(),
            vol.Required(SECTION_API): section(
                vol.Schema(switch | numbers), {"collapsed": not is_open}
            ),
        }
    )


def _address(hass: HomeAssistant) -> str:
    """Return the address of the Responses API, with the URL of this Home Assistant if it is known."""
    try:
        return f"{get_url(hass)}{BASE_PATH}"
    except NoURLAvailableError:
        return BASE_PATH


def shown_address(address: str) -> str:
    """Return an address with asterisks in place of its passwords."""
    return _SECRETS.sub(
        lambda found: f"{_before(found)}{_HIDDEN}",
        address,
    )


def typed_address(
    typed: str,
    stored: str,
) -> str:
    """Return an address with the stored passwords in place of asterisks."""
    known = {found["field"]: found["secret"] for found in _SECRETS.finditer(stored)}

    def meant(found: re.Match[str]) -> str:
        if found["secret"] == _HIDDEN:
            secret = known.get(found["field"], _HIDDEN)
        else:
            secret = found["secret"]
        return f"{_before(found)}{secret}"

    return _SECRETS.sub(meant, typed.strip())


async def async_try_address(
    hass: HomeAssistant,
    address: str,
) -> str | None:
    """Try a database, and return the key of the error, if any."""
    await async_import_module(hass, STORE_MODULE)
    from ..history.store.history_store import check_address  # noqa: PLC0415  # imported in a thread, a line above

    try:
        await check_address(address)
    except StoreUnavailable as error:
        LOGGER.debug("The database cannot be used: %s", error)
        return _ERRORS.get(
            error.trouble,
            f"history_{error.trouble}",
        )
    return None


def _before(found: re.Match[str]) -> str:
    return found["user"] or found["field"]

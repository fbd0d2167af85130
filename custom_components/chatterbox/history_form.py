"""The dialog that says where the conversations of a service are stored, and what diagnostics may show of them.

Knows the options of an entry, and how an address is shown without its password. Must not know how a store is opened
(`history_keeping.py`), or any sentence (`translations/`).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.helpers.importlib import async_import_module
from homeassistant.helpers.selector import BooleanSelector, TextSelector

from .agent.history.store_trouble import StoreUnavailable, Trouble
from .const import CONF_DIAGNOSE_WORDS, CONF_HISTORY_ADDRESS, LOGGER
from .history_keeping import STORE_MODULE

_SECRETS: Final = re.compile(
    r"(?:(?P<user>^[\w+.\-]+://[^:/]*:(?=[^@]*@))|(?P<field>[?&]\w*(?:pass|pwd)\w*=))(?P<secret>(?(user)[^@]+|[^&]+))",
    re.IGNORECASE,
)
"""Passwords of an address, each behind what tells that it is one; before the `@` they may hold anything else.

Source: `_parse_url` in sqlalchemy/engine/url.py
"""
_HIDDEN: Final = "***"
_SCHEMA: Final = vol.Schema(
    {vol.Optional(CONF_HISTORY_ADDRESS): TextSelector(), vol.Optional(CONF_DIAGNOSE_WORDS): BooleanSelector()}
)
_ERRORS: Final[Mapping[Trouble, str]] = {
    Trouble.WRONG_URL: "history_wrong_url",
    Trouble.NO_DRIVER: "history_no_driver",
    Trouble.CANNOT_OPEN: "history_cannot_open",
    Trouble.READ_ONLY: "history_read_only",
    Trouble.DISK_FULL: "history_disk_full",
    Trouble.DISK_FAILED: "history_disk_full",
    Trouble.LOCKED: "history_locked",
    Trouble.CORRUPT: "history_corrupt",
    Trouble.NEWER: "history_newer",
    Trouble.SERVER_GONE: "history_server_gone",
    Trouble.SLOW: "history_server_gone",
}


def shown_address(address: str) -> str:
    """Return an address with asterisks in place of its passwords."""
    return _SECRETS.sub(lambda found: f"{_before(found)}{_HIDDEN}", address)


def typed_address(typed: str, stored: str) -> str:
    """Return the address that is meant: where a password is still hidden, it is the stored one."""
    known = {found["field"]: found["secret"] for found in _SECRETS.finditer(stored)}

    def meant(found: re.Match[str]) -> str:
        secret = known.get(found["field"], _HIDDEN) if found["secret"] == _HIDDEN else found["secret"]
        return f"{_before(found)}{secret}"

    return _SECRETS.sub(meant, typed.strip())


def _before(found: re.Match[str]) -> str:
    return found["user"] or found["field"]


class HistoryOptionsFlow(OptionsFlow):
    """Asks for the options of an entry."""

    def __init__(self) -> None:
        """Begin with nothing typed."""
        self._typed: str | None = None
        """The address as it was meant last, with its password."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask, and try the database before it is used."""
        stored = self.config_entry.options.get(CONF_HISTORY_ADDRESS, "")
        if user_input is None:
            return self._show({**self.config_entry.options, CONF_HISTORY_ADDRESS: shown_address(stored)})
        before = stored if self._typed is None else self._typed
        self._typed = address = typed_address(user_input.get(CONF_HISTORY_ADDRESS, ""), before)
        if address and address != stored and (error := await self._async_try(address)):
            shown = {**user_input, CONF_HISTORY_ADDRESS: shown_address(address)}
            return self._show(shown, {CONF_HISTORY_ADDRESS: error})
        options = {CONF_DIAGNOSE_WORDS: user_input.get(CONF_DIAGNOSE_WORDS, False)}
        return self.async_create_entry(data=options | ({CONF_HISTORY_ADDRESS: address} if address else {}))

    async def _async_try(self, address: str) -> str | None:
        """Return the key of what is wrong with an address."""
        await async_import_module(self.hass, STORE_MODULE)
        from .agent.history.store import check_address  # noqa: PLC0415  # imported in a thread, a line above

        try:
            await check_address(address)
        except StoreUnavailable as error:
            LOGGER.debug("The history cannot be kept there: %s", error)
            return _ERRORS.get(error.trouble, "history_failed")
        return None

    def _show(self, form: Mapping[str, Any], errors: dict[str, str] | None = None) -> ConfigFlowResult:
        return self.async_show_form(
            step_id="init", data_schema=self.add_suggested_values_to_schema(_SCHEMA, form), errors=errors
        )

"""The address of a database as a person sees and types it: shown without its password, and tried before it is used.

Knows how an address is written. Must not know forms, how a store is opened (`history/stores.py`), or any sentence
(`translations/`).
"""

import re
from collections.abc import Mapping
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.importlib import async_import_module

from ..agent.history.store_trouble import StoreUnavailable, Trouble
from ..const import LOGGER
from ..history.stores import STORE_MODULE

_SECRETS: Final = re.compile(
    r"(?:(?P<user>^[\w+.\-]+://[^:/]*:(?=[^@]*@))|(?P<field>[?&]\w*(?:pass|pwd)\w*=))(?P<secret>(?(user)[^@]+|[^&]+))",
    re.IGNORECASE,
)
"""Passwords of an address, each behind what tells that it is one; before the `@` they may hold anything else.

Source: `_parse_url` in sqlalchemy/engine/url.py
"""
_HIDDEN: Final = "***"
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


async def async_try_address(hass: HomeAssistant, address: str) -> str | None:
    """Try a database; return the key of what is wrong with its address."""
    await async_import_module(hass, STORE_MODULE)
    from ..agent.history.store import check_address  # noqa: PLC0415  # imported in a thread, a line above

    try:
        await check_address(address)
    except StoreUnavailable as error:
        LOGGER.debug("The history cannot be kept there: %s", error)
        return _ERRORS.get(error.trouble, "history_failed")
    return None


def _before(found: re.Match[str]) -> str:
    return found["user"] or found["field"]

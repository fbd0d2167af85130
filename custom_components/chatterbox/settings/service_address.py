"""Addresses of servers, as people enter them: validation and display."""

import re
from ipaddress import ip_address
from typing import Final

from yarl import URL

_HTTPS_PORT: Final = re.compile(r":443(/|$)")
_SCHEMES: Final = frozenset({"http", "https"})
_SECRETS: Final = frozenset({"key", "apikey", "token", "accesstoken", "secret", "password"})
"""Names of query parameters with a secret, without `-` and `_`."""

_LOCAL_DOMAINS: Final = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
"""Suffixes of names that are not used on the internet."""


class InvalidAddress(ValueError):
    """An address that cannot be used. The message is a translation key of `config.error`."""


def parse_address(typed: str) -> str:
    """Return the address of a server as it is stored: without surrounding spaces and trailing slash.

    Host and port are completed: to http, as nearly every server in a home speaks it, or to https on its own port.
    Raises `InvalidAddress` for anything but an http or https URL, and for one with a user, a password or a key, because
    addresses are shown and logged.
    """
    typed = typed.strip()
    if typed and "://" not in typed:
        typed = f"{'https' if _HTTPS_PORT.search(typed) else 'http'}://{typed}"
    try:
        url = URL(typed)
    except ValueError:
        raise InvalidAddress("invalid_url") from None
    if url.scheme not in _SCHEMES or not url.host:
        raise InvalidAddress("invalid_url")
    names = {name.lower().replace("-", "").replace("_", "") for name in url.query}
    if url.user or url.password or names & _SECRETS:
        raise InvalidAddress("url_with_secrets")
    return str(url.with_path(url.raw_path.rstrip("/"), encoded=True, keep_query=True)).rstrip("/")


def short_name(address: str) -> str:
    """Return host and port, a short name of a server."""
    return URL(address).host_port_subcomponent or address


def is_local_address(address: str) -> bool:
    """Return whether an address is one in the local network."""
    host = (URL(address).host or "").rstrip(".").lower()
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_DOMAINS)

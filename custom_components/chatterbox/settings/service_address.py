"""What a person types as the address of a server: whether it is one, and whether it may be shown.

Pure. Must not know what answers there, or which requests are sent to it.
"""

from ipaddress import ip_address
from typing import Final

from yarl import URL

_SCHEMES: Final = frozenset({"http", "https"})
_SECRETS: Final = frozenset({"key", "apikey", "token", "accesstoken", "secret", "password"})
"""Names of query parameters that carry a secret, without `-` and `_`."""


_HOUSE_DOMAINS: Final = (".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
"""Ends of names that no server on the internet has."""


class InvalidAddress(ValueError):
    """What was typed cannot be used. The message is a translation key of `config.error`."""


def parse_address(typed: str) -> str:
    """Return the address of a server as it is kept: without spaces around it and a slash at its end.

    Raises `InvalidAddress` for what is no http or https URL, and for one with a user, a
    password or a key in it, because addresses are shown and logged.
    """
    try:
        url = URL(typed.strip())
    except ValueError:
        raise InvalidAddress("invalid_url") from None
    if url.scheme not in _SCHEMES or not url.host:
        raise InvalidAddress("invalid_url")
    names = {name.lower().replace("-", "").replace("_", "") for name in url.query}
    if url.user or url.password or names & _SECRETS:
        raise InvalidAddress("url_with_secrets")
    return str(url.with_path(url.raw_path.rstrip("/"), encoded=True, keep_query=True)).rstrip("/")


def short_name(address: str) -> str:
    """Return host and port, the name under which people know a server."""
    return URL(address).host_port_subcomponent or address


def is_in_the_house(address: str) -> bool:
    """Tell whether an address leads to a machine in the same network."""
    host = (URL(address).host or "").rstrip(".").lower()
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_HOUSE_DOMAINS)

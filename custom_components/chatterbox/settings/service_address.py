"""Addresses of servers, as people enter them: validation and display."""

import re
from ipaddress import ip_address
from typing import Final

from yarl import URL

_HTTPS_PORT: Final = re.compile(r":443(/|$)")
_SCHEMES: Final = frozenset({"http", "https"})
_SCHEME_WITHOUT_HOST: Final = re.compile(
    r"[a-z][a-z+.-]*:/",
    re.IGNORECASE,
)
"""As in `unix:/run/model.sock`, or a mistyped `https:/host`. With `http://` before it, it would name another host."""
_SECRETS: Final = re.compile(
    r"(?i)key|token|secret|passw|pwd|auth|cred|sign|bearer|^(pass|pw|sig|code|sk|jwt|sas)$"
)
"""Fits the names of query parameters with a secret."""
_SECRET_PARTS: Final = re.compile(
    r"(?i)^(?:sk-[\w-]{6}|(?:csk|fw|gh[opu]|gsk|hf|key|nvapi|pk|pplx|rk|sk|tgp|token|xai)[-_]\w{10}|(?:AIza|eyJ)\w{10})"
    r"|(?:api.?key|secret|token|passw\w*)[=:].|^bearer\b"
)
"""Fits the parts of a path that are secrets, as providers write them."""

_LOCAL_DOMAINS: Final = (
    ".local",
    ".lan",
    ".home",
    ".home.arpa",
    ".internal",
    ".localdomain",
)
"""Suffixes of names that are not used on the internet."""

_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  # nothing is bound to it


class InvalidAddress(ValueError):
    """An address that cannot be used. The message is a translation key of `config.error`."""


def parse_address(typed: str) -> str:
    """Return the address of a server as it is stored: without surrounding spaces and trailing slash.

    Host and port are completed: to http, as nearly every server in a home speaks it, or
    to https on its own port. Raises `InvalidAddress` for anything but an http or https
    URL, and for one with a user, a password or a key, because addresses are shown and
    logged.
    """
    typed = typed.strip()
    if "{" in typed:  # a template
        raise InvalidAddress("invalid_url")
    if typed and "://" not in typed and not _SCHEME_WITHOUT_HOST.match(typed):
        typed = f"{'https' if _HTTPS_PORT.search(typed) else 'http'}://{typed}"
    try:
        url = URL(typed)
    except ValueError:
        raise InvalidAddress("invalid_url") from None
    if url.scheme not in _SCHEMES or not url.host:
        raise InvalidAddress("invalid_url")
    names = (part.partition("=")[0] for part in re.split("[&;]", url.query_string))
    if (
        url.user
        or url.password
        or any(map(_SECRETS.search, names))
        or any(map(_SECRET_PARTS.search, url.parts))
    ):
        raise InvalidAddress("url_with_secrets")
    return str(
        url.with_path(url.raw_path.rstrip("/"), encoded=True, keep_query=True)
    ).rstrip("/")


def short_name(address: str) -> str:
    """Return host and port, a short name of a server."""
    return URL(address).host_port_subcomponent or address


def place_of(address: str) -> tuple[str, int | None]:
    """Return host and port; all names of this machine for itself are one host."""
    url = URL(address)
    host = (url.host or "").rstrip(".")
    return "localhost" if host in _THIS_MACHINE else host, url.port


def is_local_address(address: str) -> bool:
    """Return whether an address is one in the local network."""
    host = (URL(address).host or "").rstrip(".").lower()
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_DOMAINS)

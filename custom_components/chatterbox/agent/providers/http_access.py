"""Where a model service is, and how it is told who asks: addresses and headers.

Knows paths and keys; must not know any wire format, nor how something is sent. The key goes into one header and
nowhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from yarl import URL

from ..errors import ProviderRejectedKey
from .address import api_root, server_root


@dataclass(frozen=True, slots=True)
class Access:
    """Where a service is, and how it is told who asks."""

    base_url: str = field(repr=False)
    """As a person typed it; it may hold a password."""
    key: str = field(default="", repr=False)
    """Sent as `key_header: key_prefix + key`, unless it is empty."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request beside those that every service gets."""
    root_of: Callable[[str], URL] = api_root
    """How `base_url` is read; raises `ProviderUnreachable` where it is no address."""

    @property
    def secret(self) -> str:
        """The key as it is sent, without what may have been typed around it; empty where there is none."""
        return self.key.strip()


def target_at(access: Access, path: str) -> tuple[URL, dict[str, str]]:
    """Return where `path` is, and the headers of what is sent there.

    A path that begins with a slash hangs from the server, all others hang from its API. Raises a `ProviderError` where
    the address is none, or cannot be asked with this key.
    """
    root_of = server_root if path.startswith("/") else access.root_of
    root = root_of(access.base_url)
    headers = {"Accept": "text/event-stream, application/x-ndjson, application/json"}
    headers |= {"Content-Type": "application/json", **access.headers}
    if key := access.secret:
        if not key.isprintable():
            raise ProviderRejectedKey("the key holds characters that cannot be sent")
        if root.user or root.password:
            raise ProviderRejectedKey("the address holds a user and a password: only they or a key can be sent")
        headers[access.key_header] = access.key_prefix + key
    return (root / path.removeprefix("/")).with_query(root.query), headers

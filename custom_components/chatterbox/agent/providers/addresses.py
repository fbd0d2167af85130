"""Addresses of services as people type them, and where a request goes, with its key."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from yarl import URL

from ..errors import ProviderRejectedKey, ProviderUnreachable

_FULL_ADDRESS: Final = re.compile("/(chat/completions|completions|messages|models|responses)$")
_VERSION: Final = re.compile(r"/v\d[^/]*(/|$)")
_LAST_VERSION: Final = re.compile(r"/v\d[^/]*$")
_OLLAMA_API: Final = re.compile("/(api(/(chat|generate|tags|show))?|v1(/(chat/completions|models|responses))?)$")


def api_root(base_url: str) -> URL:
    """Return the URL that `/chat/completions`, `/responses` and `/models` are added to.

    `http://host:1234`, the same with `/v1`, with a slash at its end, or with `/chat/completions` pasted from a manual
    all mean `http://host:1234/v1`. Without a version anywhere in the path, `/v1` is added; a full address that ends in
    `/chat/completions` is used as it is. A query (`?api-version=...`) is kept. Raises `ProviderUnreachable` for
    anything but an http or https address.
    """
    url = _parse_address(base_url)
    path = url.path.rstrip("/")
    if _FULL_ADDRESS.search(path):
        path = _FULL_ADDRESS.sub("", path)
    elif not _VERSION.search(path):
        path += "/v1"
    return url.with_path(path, keep_query=True)


def server_root(base_url: str) -> URL:
    """Return the URL of the server of an API, for pages beside the API; see `api_root`."""
    url = api_root(base_url)
    return url.with_path(_LAST_VERSION.sub("", url.path), keep_query=True)


def ollama_root(base_url: str) -> URL:
    """Return the URL that Ollama's `/api/chat` is added to; see `api_root`.

    The address of its API, or of its copy of OpenAI's (`http://host:11434/v1`), means the server.
    """
    url = _parse_address(base_url)
    return url.with_path(_OLLAMA_API.sub("", url.path.rstrip("/")), keep_query=True)


def _parse_address(typed: str) -> URL:
    try:
        url = URL(typed.strip())
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise ProviderUnreachable("the address of the service is not a valid http:// or https:// address")
    return url


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials of a service. The key goes into one header and nowhere else."""

    base_url: str = field(repr=False)
    """As a person typed it; it may hold a password."""
    key: str = field(default="", repr=False)
    """Sent as `key_header: key_prefix + key`, unless it is empty."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers of every request."""
    root_of: Callable[[str], URL] = api_root
    """Reads `base_url`; raises `ProviderUnreachable` for an invalid address."""

    @property
    def secret(self) -> str:
        """The key as it is sent, without surrounding whitespace."""
        return self.key.strip()

    def target(self, path: str) -> tuple[URL, dict[str, str]]:
        """Return URL and headers of a path: relative to the server with a leading slash, else to the API.

        Raises a `ProviderError` if the address is invalid or cannot be used with this key.
        """
        root = (server_root if path.startswith("/") else self.root_of)(self.base_url)
        headers = {"Accept": "text/event-stream, application/x-ndjson, application/json", "Accept-Encoding": "identity"}
        headers |= {"Content-Type": "application/json", **self.headers}
        if key := self.secret:
            if not key.isprintable():
                raise ProviderRejectedKey("the key holds characters that cannot be sent")
            if root.user or root.password:
                raise ProviderRejectedKey("the address holds a user and a password: only they or a key can be sent")
            headers[self.key_header] = self.key_prefix + key
        return (root / path.removeprefix("/")).with_query(root.query), headers


def redirected_root(url: URL, location: str | None) -> str:
    """Return the address of the API that a response redirects to, without what may hold a key; empty if none."""
    if location is None:
        return ""
    try:
        target = url.join(URL(location))
    except ValueError:
        return ""
    return str(target.with_user(None).with_path(_FULL_ADDRESS.sub("", target.path)))

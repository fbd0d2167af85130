"""The address of a service, as people type or paste it → the address that its API hangs from."""

import re
from typing import Final

from yarl import URL

from ..errors import ProviderUnreachable

_FULL_ADDRESS: Final = re.compile("/(chat/completions|completions|messages|models|responses)$")
_VERSION: Final = re.compile(r"/v\d[^/]*(/|$)")
_LAST_VERSION: Final = re.compile(r"/v\d[^/]*$")
_OLLAMA_API: Final = re.compile("/(api(/(chat|generate|tags|show))?|v1(/(chat/completions|models|responses))?)$")


def api_root(base_url: str) -> URL:
    """Return the address that `/chat/completions`, `/responses` and `/models` are added to.

    `http://host:1234`, the same with `/v1`, with a slash at its end, or with
    `/chat/completions` pasted from a manual all mean `http://host:1234/v1`. Without a version
    anywhere in the path, `/v1` is added; a full address that ends in `/chat/completions` is
    taken at its word. A query (`?api-version=...`) is kept. Raises `ProviderUnreachable`
    for anything but an http or https address.
    """
    url = _address(base_url)
    path = url.path.rstrip("/")
    if _FULL_ADDRESS.search(path):
        path = _FULL_ADDRESS.sub("", path)
    elif not _VERSION.search(path):
        path += "/v1"
    return url.with_path(path, keep_query=True)


def server_root(base_url: str) -> URL:
    """Return the address of the server that an API hangs from, for pages that are beside the API.

    A query is kept. Raises `ProviderUnreachable` for anything but an http or https address.
    """
    url = api_root(base_url)
    return url.with_path(_LAST_VERSION.sub("", url.path), keep_query=True)


def ollama_root(base_url: str) -> URL:
    """Return the address that Ollama's `/api/chat` is added to.

    `http://host:11434` means itself; an address of its API, or of its copy of OpenAI's
    (`http://host:11434/v1`), means the server that it belongs to. A query is kept. Raises
    `ProviderUnreachable` for anything but an http or https address.
    """
    url = _address(base_url)
    return url.with_path(_OLLAMA_API.sub("", url.path.rstrip("/")), keep_query=True)


def _address(typed: str) -> URL:
    try:
        url = URL(typed.strip())
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise ProviderUnreachable("the address of the service is not a valid http:// or https:// address")
    return url

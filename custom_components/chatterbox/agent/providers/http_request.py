"""One HTTP request, sent once; a second time only where it cannot have been heard.

A server may give up an idle connection in the moment in which a request goes out over it
(RFC 9112, 9.3.1). On a connection of its own, a request that nobody answers may have been
heard, and a model that is asked twice costs twice: that one is never repeated. Knows
`aiohttp`; must not know what is asked, or of whom.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from types import SimpleNamespace
from typing import Final

import aiohttp
from yarl import URL

_MAX_HEADER_BYTES: Final = 65_536
"""Bytes of a header, as Home Assistant allows them; `aiohttp`'s own bound is too small for some services."""


@dataclass(frozen=True, slots=True)
class HTTPRequest:
    """What is sent."""

    method: str
    url: URL
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    timeout: aiohttp.ClientTimeout


async def send(session: aiohttp.ClientSession, request: HTTPRequest) -> aiohttp.ClientResponse:
    """Send a request over the connections of `session`; return its response, which the caller closes.

    Raises what `aiohttp` raises, its `ClientConnectionError` also where `session` is closed.
    """
    connection = _Connection()
    try:
        return await _send(session, request, connection)
    except aiohttp.ServerDisconnectedError, aiohttp.ClientOSError:
        if not connection.reused:
            raise
    return await _send(session, request, _Connection())


class _Connection:
    """Notices whether a request goes over a connection that had served before."""

    def __init__(self) -> None:
        self.reused = False
        self.trace = aiohttp.TraceConfig()
        self.trace.on_connection_reuseconn.append(self._note_reuse)

    async def _note_reuse(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        _params: aiohttp.TraceConnectionReuseconnParams,
    ) -> None:
        self.reused = True


async def _send(
    session: aiohttp.ClientSession, request: HTTPRequest, connection: _Connection
) -> aiohttp.ClientResponse:
    """Send a request; in a session of its own, because only a new one can be watched, over the same connections."""
    if session.connector is None:
        raise aiohttp.ClientConnectionError("the session is closed")
    watched = aiohttp.ClientSession(
        connector=session.connector,
        connector_owner=False,
        headers=session.headers,
        cookie_jar=session.cookie_jar,
        trace_configs=[connection.trace],
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
    )
    try:
        return await watched.request(
            request.method,
            request.url,
            data=None if request.body is None else BytesIO(request.body),
            headers=request.headers,
            timeout=request.timeout,
            allow_redirects=False,  # a POST would arrive as a GET, and the key at another host
        )
    finally:
        watched.detach()

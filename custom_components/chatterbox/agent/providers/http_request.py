"""One HTTP request, sent once; a second time only where it cannot have been heard.

A server may give up an idle connection in the moment in which a request goes out over it
(RFC 9112, 9.3.1). On a connection of its own, a request that nobody answers may have been
heard, and a model that is asked twice costs twice: that one is never repeated. Knows
`aiohttp`; must not know what is asked, or of whom.
"""

import weakref
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from types import SimpleNamespace
from typing import Final

import aiohttp
from yarl import URL

_MAX_HEADER_BYTES: Final = 65_536
"""Bytes of a header, as Home Assistant allows them; `aiohttp`'s own bound is too small for some services."""
_LARGE_BYTES: Final = 2**20
"""Of a body; `aiohttp` warns of more than that in one piece."""


@dataclass(frozen=True, slots=True)
class HTTPRequest:
    """What is sent."""

    method: str
    url: URL
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    timeout: aiohttp.ClientTimeout


class RequestSender:
    """Sends requests over the connections of a session, which is the caller's and stays open."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        """Open nothing yet."""
        self._session = session
        self._watched: aiohttp.ClientSession | None = None

    async def send(self, request: HTTPRequest) -> aiohttp.ClientResponse:
        """Send a request; return its response, which the caller closes.

        Raises what `aiohttp` raises, its `ClientConnectionError` also where the session is closed.
        """
        connection = _Connection()
        try:
            return await self._send(request, connection)
        except aiohttp.ServerDisconnectedError, aiohttp.ClientOSError:
            if not connection.reused:
                raise
        return await self._send(request, _Connection())

    def _send(self, request: HTTPRequest, connection: _Connection) -> Awaitable[aiohttp.ClientResponse]:
        if self._session.closed:
            raise aiohttp.ClientConnectionError("the session is closed")
        if self._watched is None:
            self._watched = _watched(self._session)
            weakref.finalize(self, self._watched.detach)
        return self._watched.request(
            request.method,
            request.url,
            data=_in_pieces(request.body),
            headers=request.headers,
            timeout=request.timeout,
            allow_redirects=False,  # a POST would arrive as a GET, and the key at another host
            trace_request_ctx=connection,
        )


@dataclass(slots=True)
class _Connection:
    """Whether a request goes over a connection that had served before."""

    reused: bool = False


async def _note_reuse(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _params: aiohttp.TraceConnectionReuseconnParams
) -> None:
    connection: _Connection = context.trace_request_ctx
    connection.reused = True


def _watched(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return a session of our own over the same connections: only a new one can be watched."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=session.connector,
        connector_owner=False,
        headers=session.headers,
        cookie_jar=session.cookie_jar,
        trace_configs=[trace],
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
    )


def _in_pieces(body: bytes | None) -> bytes | BytesIO | None:
    """Return a body so that a large one does not hold up the event loop."""
    return body if body is None or len(body) < _LARGE_BYTES else BytesIO(body)

"""Servers inside the test's own process: real HTTP, and HTTPS, on the loopback address.

Knows how to start and stop a web application, and two that are no model server. Tests
that use it ask for the fixture `socket_enabled`.
"""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from aiohttp.typedefs import Handler

from tests.support.servers.certificate import self_signed
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.servers.script import Script

_LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def serving(
    application: web.Application, path: str = "/v1", port: int | None = None
) -> AsyncGenerator[str]:
    """Serve an application until the block is left, at any free port; yields its address, which ends in `path`."""
    server = TestServer(application, host=_LOOPBACK, port=port)
    await server.start_server()
    try:
        yield f"{str(server.make_url('/')).rstrip('/')}{path}"
    finally:
        await server.close()


@asynccontextmanager
async def serving_script(
    script: Script, spoken: type[ScriptedModelServer] = ScriptedChatCompletions
) -> AsyncGenerator[str]:
    """Serve a scripted model server; yields its address."""
    async with serving(spoken(script).application(), spoken.base_path) as address:
        yield address


def with_list(script: Script, status: int, body: str) -> web.Application:
    """Return a scripted model server that answers the question for its models in its own way, to anybody."""

    @web.middleware
    async def answer_list(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.endswith("/models"):
            return web.Response(
                status=status, text=body, content_type="application/json"
            )
        return await handler(request)

    application = ScriptedChatCompletions(script).application()
    application.middlewares.append(answer_list)
    return application


def always(
    status: int,
    body: str,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> web.Application:
    """Return an application that answers every request alike."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(
            status=status, text=body, content_type=content_type, headers=headers
        )

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    return application


def address_without_server() -> str:
    """Return an address at which nothing listens."""
    return f"http://{_LOOPBACK}:{unused_port()}/v1"


@contextmanager
def serving_untrusted_tls(folder: Path) -> Generator[str]:
    """Serve HTTPS with a certificate that nobody trusts; yields its address.

    In a thread: a client that hangs up in the handshake is an error in the event loop
    of its server, and tests watch theirs.
    """
    server = HTTPServer((_LOOPBACK, 0), BaseHTTPRequestHandler)
    server.socket = self_signed(folder).wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://{_LOOPBACK}:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

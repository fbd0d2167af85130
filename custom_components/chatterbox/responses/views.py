"""The addresses below `/api/chatterbox/v1`, at which programs talk to agents: who may call, bytes in, bytes out.

Knows HTTP, Home Assistant's tokens, and for which services their owner has switched this on. Must not know what a
request or a response says, or how an agent answers.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import override

from aiohttp import hdrs, web
from homeassistant.components.http import KEY_HASS_REFRESH_TOKEN_ID, HomeAssistantView
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.http import KEY_ALLOW_CONFIGURED_CORS

from ..agent.responses.endpoint import ResponsesEndpoint, Streamed, Whole
from ..agent.responses.errors import ApiError, ErrorType, not_found, traceback_without_words
from ..const import BASE_PATH, CONF_RESPONSES_API, DOMAIN, LOGGER
from .exchange import BodyLimits, Exchange, unexpected
from .socket import SocketLimits, serve_socket
from .stream import StreamLimits, send_events

type _Handler = Callable[[Exchange], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """How much programs may ask for."""

    body: BodyLimits = field(default_factory=BodyLimits)
    stream: StreamLimits = field(default_factory=StreamLimits)
    socket: SocketLimits = field(default_factory=SocketLimits)
    at_once: int = 64
    """Requests and connections of one token."""


@callback
def async_register_responses_api(
    hass: HomeAssistant, find_endpoint: Callable[[], ResponsesEndpoint], limits: HttpLimits | None = None
) -> None:
    """Serve the surface, once for all services; those that have it switched off are not there.

    The endpoint is asked for as soon as one has it switched on.
    """
    limits = limits or HttpLimits()
    door = _Door(hass, limits.at_once)
    answers = _Answers(hass, find_endpoint, door, limits)
    get, post, delete = hdrs.METH_GET, hdrs.METH_POST, hdrs.METH_DELETE
    paths: Mapping[str, Mapping[str, _Handler]] = {
        "/responses": {post: door.until_stop(answers.create), get: answers.socket},
        "/responses/compact": {post: door.until_stop(answers.compact)},
        "/responses/{id}": {get: door.until_stop(answers.get), delete: answers.delete},
        "/responses/{id}/cancel": {post: answers.cancel},
        "/responses/{id}/input_items": {get: answers.input_items},
        "/models": {get: answers.models},
        "/models/{id}": {get: answers.model},
        "/{other:.*}": {},
        "": {},
    }
    for path, handlers in paths.items():
        hass.http.register_view(_Path(path, handlers, door))


class _Door:
    """Lets requests in or turns them away, and answers whatever goes wrong in the words of the API."""

    def __init__(self, hass: HomeAssistant, at_once: int) -> None:
        self._hass = hass
        self._at_once = at_once
        self._of_token = Counter[str]()
        """Requests that run, by the id of their token."""
        self._running: set[asyncio.Task[object]] = set()
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._async_stop)

    async def serve(self, handler: _Handler, request: web.Request) -> web.StreamResponse:
        """Answer a request."""
        exchange = Exchange(request)
        try:
            self.admit(exchange)
            with self._counted(exchange.token), self._until_revoked(exchange.request):
                return await handler(exchange)
        except ApiError as error:
            return await self._refuse(exchange, error)
        except Exception as error:  # noqa: BLE001  # whatever happens, a program gets an answer that it can read
            LOGGER.error("A request failed (%s): %s", exchange.id, traceback_without_words(error))
            return exchange.refusal(unexpected(exchange.id))

    @contextmanager
    def _until_revoked(self, request: web.Request) -> Generator[None]:
        """Cut a request off when its token is revoked, as Home Assistant does with connections of its own."""
        token_id, task = request.get(KEY_HASS_REFRESH_TOKEN_ID), asyncio.current_task()
        if token_id is None or task is None:
            yield
            return
        forget = self._hass.auth.async_register_revoke_token_callback(token_id, partial(_cut_off, task))
        try:
            yield
        finally:
            forget()

    @contextmanager
    def _counted(self, token: str) -> Generator[None]:
        """Count a request of a token while it runs. Raises `ApiError` (429) where too many run already."""
        if self._of_token[token] >= self._at_once:
            raise ApiError(
                f"This token may have {self._at_once} requests at once. Wait for one to end.",
                status=HTTPStatus.TOO_MANY_REQUESTS,
                kind=ErrorType.TOO_MANY_REQUESTS,
                code="rate_limit_exceeded",
                retry_after=1,
            )
        self._of_token[token] += 1
        try:
            yield
        finally:
            self._of_token[token] -= 1
            if not self._of_token[token]:
                del self._of_token[token]

    def until_stop(self, handler: _Handler) -> _Handler:
        """Return a handler that is cut off when Home Assistant stops, which would wait for it otherwise."""

        async def handle(exchange: Exchange) -> web.StreamResponse:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101  # a coroutine runs in one
            self._running.add(task)
            try:
                return await handler(exchange)
            finally:
                self._running.discard(task)

        return handle

    @callback
    def _async_stop(self, _event: Event) -> None:
        for task in self._running:
            task.cancel()

    @callback
    def admit(self, exchange: Exchange) -> None:
        """Check that a request, or one more message of a connection, may be answered. Raises `ApiError`."""
        if self._hass.is_stopping:
            raise ApiError("Home Assistant stops.", status=503, kind=ErrorType.SERVER, code="stopping")
        if not any(
            entry.options.get(CONF_RESPONSES_API) for entry in self._hass.config_entries.async_loaded_entries(DOMAIN)
        ):
            raise not_found("No service of Chatterbox lets programs talk to its agents.")
        exchange.require_user()

    async def _refuse(self, exchange: Exchange, error: ApiError) -> web.StreamResponse:
        is_for_sockets = error.status == HTTPStatus.UPGRADE_REQUIRED
        response = exchange.refusal(error, {hdrs.UPGRADE: "websocket"} if is_for_sockets else {})
        if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and exchange.is_packed:
            await exchange.answer_and_cut(response)
        return response


class _Path(HomeAssistantView):
    """One address: its methods, and an error for all others."""

    requires_auth = False
    """Whoever has no token is told so in the words of the API."""

    def __init__(self, path: str, handlers: Mapping[str, _Handler], door: _Door) -> None:
        self.url = f"{BASE_PATH}{path}"
        self.name = f"api:{DOMAIN}:v1{path.replace('/', ':')}"
        self._handlers = handlers
        self._door = door

    @override
    def register(self, hass: HomeAssistant, app: web.Application, router: web.UrlDispatcher) -> None:
        """Take requests of every method."""
        resource = router.add_resource(self.url or "")
        for method, handler in self._handlers.items():
            app[KEY_ALLOW_CONFIGURED_CORS](resource.add_route(method, partial(self._door.serve, handler)))
        resource.add_route(hdrs.METH_ANY, partial(self._door.serve, self._refuse))

    async def _refuse(self, exchange: Exchange) -> web.StreamResponse:
        if not self._handlers:
            raise not_found("There is nothing at this address.", code="unknown_url")
        allowed = ", ".join(self._handlers)
        error = ApiError(f"Use {allowed} here.", status=405, code="method_not_allowed")
        return exchange.refusal(error, {hdrs.ALLOW: allowed})


class _Answers:
    """What is answered at each address."""

    def __init__(
        self, hass: HomeAssistant, find_endpoint: Callable[[], ResponsesEndpoint], door: _Door, limits: HttpLimits
    ) -> None:
        self._hass = hass
        self._find_endpoint = find_endpoint
        self._door = door
        self._limits = limits

    async def create(self, exchange: Exchange) -> web.StreamResponse:
        body = await exchange.read_json(self._limits.body)
        return await self._send(exchange, await self._find_endpoint().create(body, exchange.caller))

    async def get(self, exchange: Exchange) -> web.StreamResponse:
        query = exchange.request.query
        return await self._send(exchange, await self._find_endpoint().get(_id(exchange), exchange.caller, query))

    async def delete(self, exchange: Exchange) -> web.StreamResponse:
        return exchange.json(await self._find_endpoint().delete(_id(exchange), exchange.caller))

    async def cancel(self, exchange: Exchange) -> web.StreamResponse:
        return exchange.json(await self._find_endpoint().cancel(_id(exchange), exchange.caller))

    async def input_items(self, exchange: Exchange) -> web.StreamResponse:
        query = exchange.request.query
        return exchange.json(await self._find_endpoint().input_items(_id(exchange), exchange.caller, query))

    async def compact(self, exchange: Exchange) -> web.StreamResponse:
        body = await exchange.read_json(self._limits.body)
        return exchange.json(await self._find_endpoint().compact(body, exchange.caller))

    async def models(self, exchange: Exchange) -> web.StreamResponse:
        return exchange.json(self._find_endpoint().models())

    async def model(self, exchange: Exchange) -> web.StreamResponse:
        return exchange.json(self._find_endpoint().model(_id(exchange)))

    async def socket(self, exchange: Exchange) -> web.StreamResponse:
        session = self._find_endpoint().socket(exchange.caller)
        admit = partial(self._door.admit, exchange)
        return await serve_socket(self._hass, exchange, session, admit, self._limits.socket)

    async def _send(self, exchange: Exchange, answer: Whole | Streamed) -> web.StreamResponse:
        match answer:
            case Whole(resource):
                return exchange.json(resource)
            case Streamed(events):
                return await send_events(exchange, events, self._limits.stream)


@callback
def _cut_off(task: asyncio.Task[object]) -> None:
    task.cancel()


def _id(exchange: Exchange) -> str:
    return exchange.request.match_info["id"]

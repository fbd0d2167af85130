"""HTTP views of the Responses API below `/api/chatterbox/v1`: authentication, limits and routing.

The views exist from setup. What answers them is imported, in a thread, once a service
has the API enabled.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, override

from aiohttp import web
from aiohttp.hdrs import (
    ALLOW,
    CONTENT_ENCODING,
    METH_ANY,
    METH_DELETE,
    METH_GET,
    METH_POST,
    UPGRADE,
)
from homeassistant.components.http import KEY_HASS_REFRESH_TOKEN_ID, HomeAssistantView
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.http import KEY_ALLOW_CONFIGURED_CORS
from homeassistant.helpers.importlib import async_import_module

from ..agent.messages import JsonObject
from ..const import (
    BASE_PATH,
    CONF_REQUEST_MEGABYTES,
    CONF_RESPONSES_API,
    DOMAIN,
    INTEGRATION,
    home_singleton,
)
from ..internals.http import may_be_signed
from .exchange import Exchange, HttpLimits, Load, send_events
from .protocol.errors import ApiError, ErrorType, not_found, unavailable
from .socket import serve_socket

if TYPE_CHECKING:
    from .protocol.conversations import Conversations
    from .protocol.service import ResponsesService

_MODULES: Final = tuple(
    f"{INTEGRATION}.{name}"
    for name in ("responses.protocol.service", "responses.backend")
)

_MEGABYTE: Final = 1024 * 1024
_RESPONSES_INSTEAD: Final = (
    f"Here is the Responses API, not Chat Completions: send the request to POST {BASE_PATH}/responses, which is"
    " client.responses.create() of the openai package."
)
_INSTEAD: Final = {
    "/chat/completions": _RESPONSES_INSTEAD,
    "/completions": _RESPONSES_INSTEAD,
    "/responses/input_tokens": (
        "Tokens are not counted before a model has read them. Send the request: `usage` of the response has them."
    ),
}
"""For paths that are not served, what to use instead."""

type _Answer = web.StreamResponse | JsonObject | AsyncGenerator[JsonObject]
type _Handler = Callable[[Exchange], Awaitable[_Answer]]


_loaded: Final = home_singleton("responses_api", lambda _: list["ResponsesService"]())
"""Returns what answers requests: nothing until a service of Chatterbox has the API enabled."""


def async_register_api(hass: HomeAssistant) -> None:
    """Register the views."""
    async_register_views(hass, partial(_service, hass))


async def async_load_api(hass: HomeAssistant) -> None:
    """Import what answers requests."""
    if _loaded(hass):
        return
    for module in _MODULES:
        await async_import_module(hass, module)
    from .backend import ResponsesBackend  # noqa: PLC0415  # imported in a thread, right above
    from .protocol.service import ResponsesService  # noqa: PLC0415  # imported in a thread, right above

    loaded = _loaded(hass)
    if not loaded:  # another entry may have been faster
        loaded.append(ResponsesService(ResponsesBackend(hass)))


@callback
def _service(hass: HomeAssistant) -> ResponsesService:
    for service in _loaded(hass):
        return service
    raise unavailable("The API is being loaded. Try again.")


def async_register_views(
    hass: HomeAssistant,
    find_service: Callable[[], ResponsesService],
    limits: HttpLimits | None = None,
) -> None:
    """Register the views of a service, which is looked up for each request."""
    api = _Api(
        hass,
        find_service,
        limits or HttpLimits(),
    )
    paths = {
        **_paths_of_responses(api, find_service),
        **_paths_of_conversations(lambda: find_service().conversations),
        "/models": {METH_GET: api.models},
        "/models/{id}": {METH_GET: api.model},
        "/chat/completions": {},
        "/completions": {},
        "/{other:.*}": {},
        "": {},
    }
    for path, handlers in paths.items():
        hass.http.register_view(_View(path, handlers, api))


type _Paths = Mapping[str, Mapping[str, _Handler]]
"""Handlers of requests, by path and method."""


def _paths_of_responses(
    api: _Api,
    find: Callable[[], ResponsesService],
) -> _Paths:
    create = _read(lambda one, body: find().create(body, one.caller))
    compact = _read(lambda one, body: find().compact(body, one.caller))
    return {
        "/responses": {
            METH_POST: api.until_stop(create),
            METH_GET: api.socket,
        },
        "/responses/compact": {METH_POST: api.until_stop(compact)},
        "/responses/input_tokens": {},
        "/responses/{id}": {
            METH_GET: api.until_stop(
                lambda one: find().get(one.path("id"), one.caller, one.request.query)
            ),
            METH_DELETE: lambda one: find().delete(one.path("id"), one.caller),
        },
        "/responses/{id}/cancel": {
            METH_POST: lambda one: find().cancel(one.path("id"), one.caller)
        },
        "/responses/{id}/input_items": {
            METH_GET: lambda one: find().input_items(
                one.path("id"), one.caller, one.request.query
            )
        },
    }


def _paths_of_conversations(find: Callable[[], Conversations]) -> _Paths:
    return {
        "/conversations": {
            METH_POST: _read(lambda one, body: find().create(body, one.caller))
        },
        "/conversations/{id}": {
            METH_GET: lambda one: find().get(one.path("id"), one.caller),
            METH_POST: _read(
                lambda one, body: find().update(one.path("id"), body, one.caller)
            ),
            METH_DELETE: lambda one: find().delete(one.path("id"), one.caller),
        },
        "/conversations/{id}/items": {
            METH_GET: lambda one: find().list_items(
                one.path("id"), one.caller, one.request.query
            ),
            METH_POST: _read(
                lambda one, body: find().add(one.path("id"), body, one.caller)
            ),
        },
        "/conversations/{id}/items/{item}": {
            METH_GET: lambda one: find().get_item(
                one.path("id"), one.path("item"), one.caller
            ),
            METH_DELETE: lambda one: find().delete_item(
                one.path("id"), one.path("item"), one.caller
            ),
        },
    }


class _View(HomeAssistantView):
    """One path: its methods, and an error for all others."""

    requires_auth = False
    """A missing token is answered with an error of the API."""

    def __init__(
        self,
        path: str,
        handlers: Mapping[str, _Handler],
        api: _Api,
    ) -> None:
        self.url = f"{BASE_PATH}{path}"
        self.name = f"api:{DOMAIN}:v1{path.replace('/', ':')}"
        self._handlers = handlers
        self._api = api

    @override
    def register(
        self, hass: HomeAssistant, app: web.Application, router: web.UrlDispatcher
    ) -> None:
        """Route every method."""
        resource = router.add_resource(self.url or "")
        for method, handler in self._handlers.items():
            app[KEY_ALLOW_CONFIGURED_CORS](
                resource.add_route(
                    method,
                    partial(self._api.serve, handler),
                )
            )
        resource.add_route(
            METH_ANY,
            partial(self._api.serve, self._refuse),
        )

    async def _refuse(self, exchange: Exchange) -> web.StreamResponse:
        if not self._handlers:
            text = _INSTEAD.get(
                (self.url or "").removeprefix(BASE_PATH),
                "There is nothing at this URL.",
            )
            raise not_found(text, code="unknown_url")
        allowed = ", ".join(self._handlers)
        error = ApiError(
            f"Use {allowed} here.",
            status=405,
            code="method_not_allowed",
        )
        return exchange.refusal(
            error,
            {ALLOW: allowed},
        )


class _Api:
    """Admits requests, has the service answer them, and turns whatever fails into errors of the API."""

    def __init__(
        self,
        hass: HomeAssistant,
        find_service: Callable[[], ResponsesService],
        limits: HttpLimits,
    ) -> None:
        self._hass = hass
        self._find_service = find_service
        self._limits = limits
        self._running: set[asyncio.Task[object]] = set()
        """Requests that end when Home Assistant stops."""
        self._load = Load()
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._async_stop)

    async def serve(
        self, handler: _Handler, request: web.Request
    ) -> web.StreamResponse:
        """Answer a request."""
        exchange = Exchange(
            request,
            self._limits_now(),
            self._load,
        )
        try:
            self.admit(exchange)
            with exchange.counted(), self._until_revoked(request):
                return await _sent(exchange, await handler(exchange))
        except ApiError as error:
            is_for_sockets = error.status == HTTPStatus.UPGRADE_REQUIRED
            response = exchange.refusal(
                error, {UPGRADE: "websocket"} if is_for_sockets else {}
            )
            if (
                error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                and CONTENT_ENCODING in request.headers
            ):
                await exchange.answer_and_cut(response)
            return response
        except Exception as error:  # noqa: BLE001  # a client gets a JSON error also for a bug
            return exchange.refusal(exchange.bug("A request", error))

    @callback
    def admit(self, exchange: Exchange) -> None:
        """Check that a request, or one more message of a connection, may be answered. Raises `ApiError`."""
        if self._hass.is_stopping:
            raise unavailable("Home Assistant stops.", "stopping")
        if not self._services():
            raise not_found("The API is not enabled for any service of Chatterbox.")
        exchange.require_user()

    def until_stop(self, handler: _Handler) -> _Handler:
        """Return a handler that is cancelled when Home Assistant stops, which would wait for it otherwise."""

        async def handle(exchange: Exchange) -> _Answer:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101  # a coroutine runs in one
            self._running.add(task)
            try:
                return await _sent(exchange, await handler(exchange))
            finally:
                self._running.discard(task)

        return handle

    async def models(self, _exchange: Exchange) -> JsonObject:
        return self._find_service().models()

    async def model(self, exchange: Exchange) -> JsonObject:
        return self._find_service().model(exchange.path("id"))

    async def socket(self, exchange: Exchange) -> web.StreamResponse:
        if may_be_signed(self._hass, exchange.request.query):
            raise ApiError(
                "A signed path can only be read. Send a token, as Authorization: Bearer TOKEN.",
                status=HTTPStatus.FORBIDDEN,
                kind=ErrorType.AUTHENTICATION,
                code="signed_path",
            )
        session = self._find_service().socket(exchange.caller)
        admit = partial(self.admit, exchange)
        return await serve_socket(
            self._hass,
            exchange,
            session,
            admit,
        )

    def _services(self) -> Sequence[ConfigEntry]:
        """Return the services that have the API enabled."""
        entries: list[ConfigEntry] = self._hass.config_entries.async_loaded_entries(
            DOMAIN
        )
        return [entry for entry in entries if entry.options.get(CONF_RESPONSES_API)]

    def _limits_now(self) -> HttpLimits:
        """Return the limits with the largest size that an owner has set."""
        wanted = [
            int(entry.options.get(CONF_REQUEST_MEGABYTES, 0))
            for entry in self._services()
        ]
        return replace(
            self._limits, size=max(wanted, default=0) * _MEGABYTE or self._limits.size
        )

    @contextmanager
    def _until_revoked(self, request: web.Request) -> Generator[None]:
        """Cancel a request when its token is revoked, as Home Assistant does with its own connections."""
        token_id = request.get(KEY_HASS_REFRESH_TOKEN_ID)
        task = asyncio.current_task()
        if token_id is None or task is None:
            yield
            return
        remove = self._hass.auth.async_register_revoke_token_callback(
            token_id, partial(_cancel, task)
        )
        try:
            yield
        finally:
            remove()

    @callback
    def _async_stop(self, _event: Event) -> None:
        for task in self._running:
            task.cancel()


@callback
def _cancel(task: asyncio.Task[object]) -> None:
    task.cancel()


def _read(answer: Callable[[Exchange, str], Awaitable[_Answer]]) -> _Handler:
    """Return a handler that reads the body of a request first."""

    async def handle(exchange: Exchange) -> _Answer:
        return await answer(exchange, await exchange.read_text())

    return handle


async def _sent(
    exchange: Exchange,
    answer: _Answer,
) -> web.StreamResponse:
    """Send an answer, unless it is sent already."""
    if isinstance(answer, AsyncGenerator):
        return await send_events(exchange, answer)
    if isinstance(answer, web.StreamResponse):
        return answer
    return exchange.json(answer)

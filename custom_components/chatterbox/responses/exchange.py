"""One request of a program and its answer: who asks, the JSON that was sent, and the headers and bodies that go back.

Knows HTTP, and whom Home Assistant let in. Must not know what is asked, or who answers.
"""

import asyncio
import json
from codecs import lookup
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from time import monotonic
from types import MappingProxyType
from typing import Final
from uuid import uuid4

from aiohttp import hdrs, web
from homeassistant.auth.models import User
from homeassistant.components.http import KEY_AUTHENTICATED, KEY_HASS, KEY_HASS_REFRESH_TOKEN_ID, KEY_HASS_USER

from ..agent.json.text import parse_json
from ..agent.messages import JsonValue
from ..agent.responses.backend import Caller
from ..agent.responses.errors import ApiError, ErrorType, invalid

JSON: Final = "application/json"
_LARGE: Final = 50_000
"""Bytes of JSON that are not read in the event loop."""
_LAST_LOOK: Final = 1.0
"""Seconds in which a program may read an answer that came before it had sent everything."""
_INVALID_API_KEY: Final = "invalid_api_key"


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How much may be sent, and how long that may take."""

    size: int = 10 * 1024 * 1024
    """Bytes, after they were unpacked."""
    seconds: float = 60.0


@dataclass(slots=True)
class Exchange:
    """A request, and what its answer begins with."""

    request: web.Request
    id: str = field(default_factory=lambda: f"req_{uuid4().hex}")
    began_at: float = field(default_factory=monotonic)

    def require_user(self) -> User:
        """Return the user whose token was sent. Raises `ApiError` (401) without one."""
        user: User | None = self.request.get(KEY_HASS_USER)
        if not self.request.get(KEY_AUTHENTICATED) or user is None or not user.is_active:
            raise unauthenticated()
        return user

    @property
    def caller(self) -> Caller:
        """The user as the API knows them."""
        return Caller(self.require_user().id)

    @property
    def token(self) -> str:
        """Id of the token that the request is made with."""
        user = self.require_user()
        token_id: str | None = self.request.get(KEY_HASS_REFRESH_TOKEN_ID)
        return token_id or user.id

    def headers(self) -> dict[str, str]:
        """Return what every answer begins with, as OpenAI names it."""
        return {
            hdrs.CACHE_CONTROL: "no-store",
            "x-request-id": self.id,
            "openai-processing-ms": str(round((monotonic() - self.began_at) * 1000)),
        }

    async def read_json(self, limits: BodyLimits) -> JsonValue:
        """Return what was sent. Raises `ApiError` where that is no JSON, too much, or too slow."""
        request = self.request
        if request.content_type != JSON or not _is_utf8(request.charset):
            raise ApiError("Send JSON, as Content-Type: application/json in UTF-8.", status=415)
        if (request.content_length or 0) > limits.size:
            raise _too_large(limits)
        try:
            async with asyncio.timeout(limits.seconds):
                body = await self._read(limits)
        except TimeoutError as error:
            raise ApiError("The body did not come in time. Send it at once.", status=408) from error
        except web.RequestPayloadError as error:
            raise invalid("The body could not be read: it is cut off, or not packed as its headers say.") from error
        parse = partial(_parsed, body)
        if len(body) < _LARGE:
            return parse()
        return await request.app[KEY_HASS].async_add_executor_job(parse)

    async def _read(self, limits: BodyLimits) -> bytes:
        """Read piece by piece, so that no more than the limit is unpacked of what was packed."""
        body = bytearray()
        while piece := await self.request.content.readany():
            body += piece
            if len(body) > limits.size:
                raise _too_large(limits)
        return bytes(body)

    def json(self, value: JsonValue, status: int = HTTPStatus.OK) -> web.Response:
        """Return an answer in one piece."""
        return web.Response(text=encoded(value), status=status, content_type=JSON, headers=self.headers())

    @property
    def is_packed(self) -> bool:
        """Tell whether what comes may become any size once it is unpacked."""
        return hdrs.CONTENT_ENCODING in self.request.headers

    async def answer_and_cut(self, response: web.Response) -> None:
        """Answer without reading on: the rest would be unpacked, only to be thrown away."""
        response.force_close()
        await response.prepare(self.request)
        await response.write_eof()
        if self.request.transport:
            self.request.transport.pause_reading()
            await asyncio.sleep(_LAST_LOOK)
        self.request.protocol.force_close()

    def refusal(self, error: ApiError, more: Mapping[str, str] = MappingProxyType({})) -> web.Response:
        """Return an error as the answer. Raises it instead where Home Assistant counts who it does not know."""
        headers = self.headers() | dict(more)
        if error.retry_after is not None:
            headers[hdrs.RETRY_AFTER] = str(round(error.retry_after))
        text = encoded(error.body)
        if error.status == HTTPStatus.UNAUTHORIZED:
            headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
            raise web.HTTPUnauthorized(text=text, content_type=JSON, headers=headers)
        return web.Response(text=text, status=error.status, content_type=JSON, headers=headers)


def encoded(value: JsonValue) -> str:
    """Write JSON in ASCII, which no client can cut in the middle of a character, or take a line end out of."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def unauthenticated() -> ApiError:
    """Return the error of a request that Home Assistant does not know the sender of."""
    return ApiError(
        "Send a token of Home Assistant, as Authorization: Bearer TOKEN. Your profile there makes long-lived ones.",
        status=401,
        kind=ErrorType.AUTHENTICATION,
        code=_INVALID_API_KEY,
    )


def unexpected(exchange_id: str) -> ApiError:
    """Return what a client is told of a bug."""
    return ApiError(
        f"Something went wrong in Home Assistant. Its log says more, beside {exchange_id}.",
        status=500,
        kind=ErrorType.SERVER,
        code="internal_error",
    )


def _parsed(body: bytes) -> JsonValue:
    try:
        return parse_json(body.decode(), unique_names=True)
    except UnicodeDecodeError as error:
        raise invalid("The body is not UTF-8.", code="invalid_json") from error
    except ValueError as error:
        raise invalid(f"The body is no JSON that can be used: {error}", code="invalid_json") from error


def _is_utf8(charset: str | None) -> bool:
    try:
        return charset is None or lookup(charset).name in {"utf-8", "ascii"}
    except LookupError:
        return False


def _too_large(limits: BodyLimits) -> ApiError:
    return ApiError(f"Send up to {limits.size} bytes.", status=413, code="request_too_large")

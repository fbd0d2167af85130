"""Base of scripted model servers, whatever format they speak: keys, the turn in the script, broken streams.

A format brings its paths and how it writes (`chat_completions.py`, `dialects.py`). A
server can run as a process of its own: `python -m
tests.support.servers.chat_completions SCRIPT.json` prints one line, the address that a
person would enter, when it listens, and ends with SIGTERM. `GET /requests` tells what
it was asked, `GET /load` how often, and how many answers are under way.
"""

import argparse
import asyncio
import contextlib
import hmac
import json
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import batched
from pathlib import Path
from typing import ClassVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure

_JSON_OBJECT = TypeAdapter(dict[str, JsonValue])


class ReceivedRequest(BaseModel):
    """One request for an answer, as it came in."""

    model_config = ConfigDict(frozen=True)

    authorization: str | None
    """The header that carries the key, whatever its name."""
    body: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The part of a request that decides how it is answered."""

    model: str
    is_trial: bool
    """Whether somebody only wants to know that the model answers: one user message, no instructions, no tools."""
    streams: bool
    wants_usage: bool = True
    tries_tool: bool = False
    """Whether somebody only wants to know that the model uses a tool."""


def tries_tool(
    tools: Sequence[JsonValue], messages: Sequence[Mapping[str, JsonValue]]
) -> bool:
    """Return whether a request is about the one tool of a trial."""
    contents = [message for message in messages if message.get("role") != "system"]
    return len(tools) == 1 and len(contents) == 1 and '"turn_on"' in json.dumps(tools)


class ScriptedModelServer(ABC):
    """A server's state: which answer comes next, and what was asked so far."""

    base_path: ClassVar[str]
    """The path that a person enters after host and port."""
    models_path: ClassVar[str]
    answer_path: ClassVar[str]
    key_header: ClassVar[str] = "Authorization"
    key_prefix: ClassVar[str] = "Bearer "
    content_type: ClassVar[str] = "text/event-stream"

    def __init__(self, script: Script) -> None:
        """Start at the first answer of `script`."""
        self._script = script
        self.requests: list[ReceivedRequest] = []
        self.request_arrived = asyncio.Event()
        """Set once there is a request."""
        self._next_answer = 0
        self._under_way = 0

    @abstractmethod
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        """Read a request; raises `ValidationError` where no server would understand it."""

    @abstractmethod
    def stream(self, answer: ScriptedAnswer, parsed: ModelRequest) -> Iterable[bytes]:
        """Return the stream of an answer, event by event."""

    @abstractmethod
    def list_of(self, models: tuple[str, ...]) -> JsonValue:
        """Return the body of the list of models."""

    @abstractmethod
    def error(self, status: HTTPStatus, message: str) -> JsonValue:
        """Return the body of an error."""

    def start_again(self) -> None:
        """Answer the next request with the first answer of the script."""
        self._next_answer = 0

    def play(self, script: Script) -> None:
        """Go on with another script."""
        self._script = script
        self._next_answer = 0

    def application(self) -> web.Application:
        """Return the web application; start it with any aiohttp runner."""
        application = web.Application(client_max_size=64 * 1024**2)
        application.add_routes(
            [
                web.get(self.models_path, self._list_models),
                web.post(self.answer_path, self._complete),
                web.get("/requests", self._list_requests),
                web.get("/load", self._tell_load),
            ]
        )
        return application

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        if not self._authorized(request):
            return self._refuse(HTTPStatus.UNAUTHORIZED, "Incorrect API key provided.")
        return web.json_response(self.list_of(self._script.models))

    async def _list_requests(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response([received.model_dump() for received in self.requests])

    async def _tell_load(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"asked": len(self.requests), "under_way": self._under_way}
        )

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            body = _JSON_OBJECT.validate_json(await request.text())
            parsed = self.read(body)
        except ValidationError as error:
            return self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        self.requests.append(
            ReceivedRequest(
                authorization=request.headers.get(self.key_header), body=body
            )
        )
        self.request_arrived.set()
        return self._refusal(request, parsed) or await self._answer(
            request, parsed, self.answer_to(body, parsed)
        )

    def answer_to(
        self,
        body: dict[str, JsonValue],  # noqa: ARG002  # for servers that look at what was said
        parsed: ModelRequest,
    ) -> ScriptedAnswer | ScriptedFailure | None:
        """Return what is said now; None when there is nothing left to say."""
        trial = (
            parsed.tries_tool and self._script.tool_trial_answer
        ) or self._script.trial_answer
        return (
            trial
            if (parsed.is_trial or parsed.tries_tool) and trial is not None
            else self._take_answer()
        )

    def _refusal(
        self, request: web.Request, parsed: ModelRequest
    ) -> web.StreamResponse | None:
        if not self._authorized(request):
            return self._refuse(HTTPStatus.UNAUTHORIZED, "Incorrect API key provided.")
        if parsed.model not in self._script.models:
            return self._refuse(
                HTTPStatus.NOT_FOUND, f"The model {parsed.model!r} does not exist."
            )
        if not (parsed.streams or self._answers_whole):
            return self._refuse(HTTPStatus.BAD_REQUEST, "This server only streams.")
        return None

    async def _answer(
        self,
        request: web.Request,
        parsed: ModelRequest,
        answer: ScriptedAnswer | ScriptedFailure | None,
    ) -> web.StreamResponse:
        match answer:
            case ScriptedAnswer():
                return await self._send(request, answer, parsed)
            case ScriptedFailure():
                return _failure(answer)
            case None:
                return self._refuse(
                    HTTPStatus.INTERNAL_SERVER_ERROR, "The script has no more answers."
                )

    def _authorized(self, request: web.Request) -> bool:
        key = self._script.api_key
        sent = request.headers.get(self.key_header, "")
        return key is None or hmac.compare_digest(
            sent.encode(), f"{self.key_prefix}{key}".encode()
        )

    @property
    def _answers_whole(self) -> bool:
        """Whether the next answer is no stream in any case."""
        upcoming = self._script.answers[self._next_answer : self._next_answer + 1]
        return any(isinstance(answer, ScriptedFailure) for answer in upcoming)

    def _take_answer(self) -> ScriptedAnswer | ScriptedFailure | None:
        answers = self._script.answers
        if self._script.after_last == "start again" and answers:
            self._next_answer %= len(answers)
        if self._next_answer >= len(answers):
            return None
        answer = answers[self._next_answer]
        self._next_answer += 1
        return answer

    def _refuse(self, status: HTTPStatus, message: str) -> web.Response:
        return web.json_response(self.error(status, message), status=status)

    async def _send(
        self, request: web.Request, answer: ScriptedAnswer, parsed: ModelRequest
    ) -> web.StreamResponse:
        self._under_way += 1
        try:
            await asyncio.sleep(answer.delay_seconds)
            response = web.StreamResponse(
                headers={"Content-Type": self.content_type, "Cache-Control": "no-cache"}
            )
            with contextlib.suppress(
                ConnectionResetError
            ):  # a client may hang up whenever it likes
                await response.prepare(request)
                await _write(request, response, answer, self.stream(answer, parsed))
            return response
        finally:
            self._under_way -= 1


async def _write(
    request: web.Request,
    response: web.StreamResponse,
    answer: ScriptedAnswer,
    chunks: Iterable[bytes],
) -> None:
    left = answer.cut_after_bytes
    if answer.write_bytes is not None:
        chunks = map(bytes, batched(b"".join(chunks), answer.write_bytes, strict=False))
    for chunk in chunks:
        if left is not None and len(chunk) > left:
            await response.write(chunk[:left])
            _cut(request)
            return
        await response.write(chunk)
        left = None if left is None else left - len(chunk)
        await asyncio.sleep(answer.piece_delay_seconds)
    await response.write_eof()


def _cut(request: web.Request) -> None:
    """Break the connection as a server that crashed: what was written is sent, an end is not."""
    if request.transport is not None:
        request.transport.close()


def _failure(failure: ScriptedFailure) -> web.StreamResponse:
    if isinstance(failure.body, str):
        return web.Response(
            status=failure.status,
            text=failure.body,
            content_type="text/html",
            headers=failure.headers,
        )
    return web.json_response(
        failure.body, status=failure.status, headers=failure.headers
    )


def is_from_user(message: Mapping[str, JsonValue]) -> bool:
    """Return whether a person said a message of a request."""
    return message.get("role") == "user"


async def _serve(server: ScriptedModelServer, port: int) -> None:
    """Serve until SIGTERM or SIGINT; print the address once it can be used."""
    runner = web.AppRunner(server.application(), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    host, port = runner.addresses[0][:2]
    sys.stdout.write(f"http://{host}:{port}{server.base_path}\n")
    sys.stdout.flush()
    await stopped.wait()
    await runner.cleanup()


def run(kind: type[ScriptedModelServer]) -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(
        description="A model server that answers from a script."
    )
    parser.add_argument(
        "script",
        type=Path,
        help="JSON file; its format is described in tests/support/servers/script.py",
    )
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    arguments = parser.parse_args()
    script = Script.model_validate_json(arguments.script.read_bytes())

    async def serve() -> None:
        await _serve(kind(script), arguments.port)

    asyncio.run(serve())

"""A scripted Chat Completions server: real HTTP on the loopback address, answers from a JSON file.

Run it as a process of its own with `python -m tests.servers.chat_completions SCRIPT.json`: it prints one line, its base
URL, when it listens, and ends with SIGTERM. `GET /requests` tells what it was asked. It knows the interface as a
server does (`/v1/models`, `/v1/chat/completions`, streaming only); it must not know who asks.
"""

import argparse
import asyncio
import contextlib
import hmac
import signal
import sys
from collections.abc import Mapping
from http import HTTPStatus
from itertools import batched
from pathlib import Path

from aiohttp import web
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from tests.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.servers.stream import frames_of


class ReceivedRequest(BaseModel):
    """One request for an answer, as it came in."""

    model_config = ConfigDict(frozen=True)

    authorization: str | None
    body: dict[str, JsonValue]


_JSON_OBJECT = TypeAdapter(dict[str, JsonValue])


class _StreamOptions(BaseModel):
    include_usage: bool = False


class _ChatRequest(BaseModel):
    """The part of a request that decides how it is answered; a server that knew none of it would be no server."""

    model: str
    messages: list[dict[str, JsonValue]]
    tools: list[JsonValue] = []
    stream: bool = False
    stream_options: _StreamOptions = _StreamOptions()

    @property
    def is_trial(self) -> bool:
        """Whether somebody only wants to know that the model answers."""
        return not self.tools and [message.get("role") for message in self.messages] == ["user"]


class ScriptedChatCompletions:
    """The server's state: which answer comes next, and what was asked so far."""

    def __init__(self, script: Script) -> None:
        """Start at the first answer of `script`."""
        self._script = script
        self._next_answer = 0
        self.requests: list[ReceivedRequest] = []
        self.asked = asyncio.Event()
        """Set once there is a request."""

    def start_again(self) -> None:
        """Answer the next request with the first answer of the script."""
        self._next_answer = 0

    def application(self) -> web.Application:
        """Return the web application; start it with any aiohttp runner."""
        application = web.Application(client_max_size=64 * 1024**2)
        application.add_routes(
            [
                web.get("/v1/models", self._list_models),
                web.post("/v1/chat/completions", self._complete),
                web.get("/requests", self._list_requests),
            ]
        )
        return application

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        if not self._authorized(request):
            return _error(HTTPStatus.UNAUTHORIZED, "Incorrect API key provided.")
        models: list[JsonValue] = [
            {"id": name, "object": "model", "owned_by": "script"} for name in self._script.models
        ]
        return web.json_response({"object": "list", "data": models})

    async def _list_requests(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response([received.model_dump() for received in self.requests])

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            body = _JSON_OBJECT.validate_json(await request.text())
            asked = _ChatRequest.model_validate(body)
        except ValidationError as error:
            return _error(HTTPStatus.BAD_REQUEST, str(error))
        self.requests.append(ReceivedRequest(authorization=request.headers.get("Authorization"), body=body))
        self.asked.set()
        return self._refusal(request, asked) or await self._answer(request, asked)

    def _refusal(self, request: web.Request, asked: _ChatRequest) -> web.StreamResponse | None:
        if not self._authorized(request):
            return _error(HTTPStatus.UNAUTHORIZED, "Incorrect API key provided.")
        if asked.model not in self._script.models:
            return _error(HTTPStatus.NOT_FOUND, f"The model {asked.model!r} does not exist.")
        if not asked.stream:
            return _error(HTTPStatus.BAD_REQUEST, "This server only streams.")
        return None

    async def _answer(self, request: web.Request, asked: _ChatRequest) -> web.StreamResponse:
        trial = self._script.trial_answer
        match trial if asked.is_trial and trial is not None else self._take_answer():
            case ScriptedAnswer() as answer:
                return await _stream(request, asked, answer)
            case ScriptedFailure() as failure:
                return _failure(failure)
            case None:
                return _error(HTTPStatus.INTERNAL_SERVER_ERROR, "The script has no more answers.")

    def _authorized(self, request: web.Request) -> bool:
        key = self._script.api_key
        sent = request.headers.get("Authorization", "")
        return key is None or hmac.compare_digest(sent.encode(), f"Bearer {key}".encode())

    def _take_answer(self) -> ScriptedAnswer | ScriptedFailure | None:
        answers = self._script.answers
        if self._script.after_last == "start again" and answers:
            self._next_answer %= len(answers)
        if self._next_answer >= len(answers):
            return None
        answer = answers[self._next_answer]
        self._next_answer += 1
        return answer


async def _stream(request: web.Request, asked: _ChatRequest, answer: ScriptedAnswer) -> web.StreamResponse:
    await asyncio.sleep(answer.delay_seconds)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    with contextlib.suppress(ConnectionResetError):  # a client may hang up whenever it likes
        await response.prepare(request)
        await _write(request, response, asked, answer)
    return response


async def _write(
    request: web.Request, response: web.StreamResponse, asked: _ChatRequest, answer: ScriptedAnswer
) -> None:
    left = answer.cut_after_bytes
    frames = frames_of(answer, asked.model, include_usage=asked.stream_options.include_usage)
    if answer.write_bytes is not None:
        frames = map(bytes, batched(b"".join(frames), answer.write_bytes, strict=False))
    for frame in frames:
        if left is not None and len(frame) > left:
            await response.write(frame[:left])
            _cut(request)
            return
        await response.write(frame)
        left = None if left is None else left - len(frame)
        await asyncio.sleep(answer.piece_delay_seconds)
    await response.write_eof()


def _cut(request: web.Request) -> None:
    """Break the connection as a server that crashed: what was written is sent, an end is not."""
    if request.transport is not None:
        request.transport.close()


def _failure(failure: ScriptedFailure) -> web.StreamResponse:
    if isinstance(failure.body, str):
        return web.Response(status=failure.status, text=failure.body, content_type="text/html", headers=failure.headers)
    return web.json_response(failure.body, status=failure.status, headers=failure.headers)


def _error(status: HTTPStatus, message: str) -> web.Response:
    body: Mapping[str, JsonValue] = {"error": {"message": message, "type": "invalid_request_error", "code": None}}
    return web.json_response(body, status=status)


async def serve(script: Script, port: int) -> None:
    """Serve `script` until SIGTERM or SIGINT; print the base URL once it can be used."""
    runner = web.AppRunner(ScriptedChatCompletions(script).application(), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sys.stdout.write(f"{_url(runner)}/v1\n")
    sys.stdout.flush()
    await stopped.wait()
    await runner.cleanup()


def _url(runner: web.AppRunner) -> str:
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="A Chat Completions server that answers from a script.")
    parser.add_argument("script", type=Path, help="JSON file; its format is described in tests/servers/script.py")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    arguments = parser.parse_args()
    asyncio.run(serve(Script.model_validate_json(arguments.script.read_bytes()), arguments.port))


if __name__ == "__main__":
    main()

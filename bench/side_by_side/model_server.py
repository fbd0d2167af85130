"""The model server of the benchmark, a process of its own: four formats, at the pace that it is told.

Run as `python -m bench.side_by_side.model_server`; it prints its address when it
listens and ends with SIGTERM, or when its input ends, so that it outlives nobody who
started it. `POST /plan` sets what is said from now on and forgets what was asked, `GET
/log` tells what was asked since. Its times are those of the machine's monotonic clock,
so that they can be compared with those of another process.
"""

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from aiohttp import web
from pydantic import BaseModel, ConfigDict, JsonValue

from bench.side_by_side import answers
from bench.side_by_side.answers import Call, Format, Stream


class PlannedCall(BaseModel):
    """A call that the model makes, of the tool of a request whose name ends so."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: str = "{}"


class Plan(BaseModel):
    """The words and their speed; calls come first, and the words once their results are there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fragments: int = 40
    """Of the words; about one for each token."""
    characters: int = 5
    """Of each fragment."""
    per_second: float = 0
    """Fragments a second; 0 is as fast as they can be written."""
    first_delay: float = 0
    """Seconds before the first byte."""
    calls: tuple[PlannedCall, ...] = ()
    keeps_bodies: bool = False


class ServedRequest(BaseModel):
    """One request, and when it was answered; the times are seconds of the monotonic clock."""

    received: float
    """When its head was there."""
    first_word: float = 0
    """When the first fragment of words was handed to the system; 0 without words."""
    ended: float = 0
    size: int
    """Bytes of the body."""
    body: str = ""
    """Only when the plan asks for it."""


@dataclass(slots=True)
class _Server:
    plan: Plan = field(default_factory=Plan)
    log: list[ServedRequest] = field(default_factory=list)

    def application(self) -> web.Application:
        application = web.Application(client_max_size=64 * 1024**2)
        application.add_routes(
            [web.post("/plan", self._set_plan), web.get("/log", self._tell_log)]
        )
        for spoken in Format:
            models, requested = answers.paths(spoken)
            application.add_routes(
                [web.get(models, self._models), web.post(requested, self._answer)]
            )
        application.add_routes(
            [web.post(f"{answers.root(Format.OLLAMA)}/api/show", self._show)]
        )
        return application

    async def _set_plan(self, request: web.Request) -> web.Response:
        self.plan = Plan.model_validate_json(await request.read())
        self.log = []
        return web.Response()

    async def _tell_log(self, _request: web.Request) -> web.Response:
        return web.json_response([requested.model_dump() for requested in self.log])

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response(answers.model_list(_format(request)))

    async def _show(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {
                "capabilities": ["completion", "tools"],
                "model_info": {
                    "general.architecture": "llama",
                    "llama.context_length": 131_072,
                },
            }
        )

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        received = time.monotonic()
        plan, spoken, body = self.plan, _format(request), await request.read()
        served = ServedRequest(
            received=received,
            size=len(body),
            body=body.decode() if plan.keeps_bodies else "",
        )
        self.log.append(served)
        content = json.loads(body)
        calls = [] if _has_result(content) else _named(plan.calls, content)
        await asyncio.sleep(plan.first_delay)
        if spoken is Format.CHAT and not content.get("stream"):
            return await _whole(served, plan, calls)
        stream = (
            answers.calling_answer(spoken, calls)
            if calls
            else answers.spoken_answer(spoken, plan.fragments, plan.characters)
        )
        response = web.StreamResponse(
            headers={"Content-Type": answers.content_type(spoken)}
        )
        await response.prepare(request)
        await _send(response, stream, served, plan.per_second)
        return response


async def _send(
    response: web.StreamResponse,
    stream: Stream,
    served: ServedRequest,
    per_second: float,
) -> None:
    if stream.opening:
        await response.write(stream.opening)
    began = time.monotonic()
    for number, fragment in enumerate(stream.fragments):
        if per_second and (early := began + number / per_second - time.monotonic()) > 0:
            await asyncio.sleep(early)
        served.first_word = served.first_word or time.monotonic()
        await response.write(fragment)
    await response.write(stream.ending)
    served.ended = time.monotonic()
    await response.write_eof()


async def _whole(served: ServedRequest, plan: Plan, calls: list[Call]) -> web.Response:
    """Answer without a stream, once a stream would have been over."""
    text = "" if calls else answers.words(plan.fragments, plan.characters)
    if text:
        served.first_word = (
            time.monotonic()
        )  # the model has it; who asks for no stream waits for the last
        await asyncio.sleep(
            (plan.fragments - 1) / plan.per_second if plan.per_second else 0
        )
    served.ended = time.monotonic()
    return web.Response(
        body=answers.whole_message(text, calls), content_type="application/json"
    )


def _format(request: web.Request) -> Format:
    return next(
        spoken for spoken in Format if request.path.startswith(answers.root(spoken))
    )


def _has_result(body: dict[str, JsonValue]) -> bool:
    """Return whether a request ends in the result of a tool."""
    messages = body["input"] if "input" in body else body["messages"]
    last = messages[-1] if isinstance(messages, list) else None
    if not isinstance(last, dict):
        return False
    content = last.get("content")
    blocks = content if isinstance(content, list) else []
    return (
        last.get("role") == "tool"
        or last.get("type") == "function_call_output"
        or any(
            isinstance(block, dict) and block.get("type") == "tool_result"
            for block in blocks
        )
    )


def _named(calls: Iterable[PlannedCall], body: dict[str, JsonValue]) -> list[Call]:
    """Give calls the names under which a request offers their tools. Raises StopIteration where it does not."""
    names = list(_offered(body.get("tools")))
    return [
        Call(next(name for name in names if name.endswith(call.tool)), call.arguments)
        for call in calls
    ]


def _offered(tools: JsonValue) -> Iterable[str]:
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict):
            function = tool.get("function", tool)
            yield str(function["name"]) if isinstance(function, dict) else ""


async def _serve() -> None:
    runner = web.AppRunner(_Server().application(), shutdown_timeout=0, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    with contextlib.suppress(
        PermissionError
    ):  # an input that is a file has no end to wait for
        asyncio.get_running_loop().add_reader(sys.stdin, stopped.set)
    host, port = runner.addresses[0][:2]
    sys.stdout.write(f"http://{host}:{port}\n")
    sys.stdout.flush()
    await stopped.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())

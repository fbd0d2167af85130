"""API clients hang up in the middle of an answer: the model and the tools stop, and nothing is left."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import (
    BASE_PATH,
    CONF_BASE_URL,
    CONF_KIND,
    CONF_RESPONSES_API,
    DOMAIN,
    ServiceKind,
)
from tests.support.llm_apis import StubTool, register
from tests.support.servers.in_process import serving
from tests.support.talk import AGENT, add_agent, move_into_the_demo_home

pytestmark = pytest.mark.usefixtures("socket_enabled")

type Client = TestClient[web.Request, web.Application]


@dataclass
class EndlessModel:
    """A model server that says one word, or calls a tool, and then thinks for ever."""

    call: str | None = None
    open: int = 0
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever nobody waits for it any more."""

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._complete)
        return application

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self.open += 1
        self.let_go.clear()
        try:
            await response.prepare(request)
            await response.write(f"data: {json.dumps(self._chunk())}\n\n".encode())
            if self.call is None:
                await asyncio.Event().wait()
            finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
            await response.write(f"data: {json.dumps(finish)}\n\ndata: [DONE]\n\n".encode())
        finally:
            self.open -= 1
            if not self.open:
                self.let_go.set()
        return response

    def _chunk(self) -> dict[str, object]:
        function = {"index": 0, "id": "call_1", "type": "function", "function": {"name": self.call, "arguments": "{}"}}
        delta: dict[str, object] = {"tool_calls": [function]} if self.call else {"content": "Well, "}
        return {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


@asynccontextmanager
async def living_with(hass: HomeAssistant, model: EndlessModel, *apis: str) -> AsyncGenerator[None]:
    """Set up an agent that API clients may talk to, with a model."""
    await move_into_the_demo_home(hass)
    async with serving(model.application()) as address:
        service: dict[str, object] = {CONF_KIND: ServiceKind.OPENAI_CHAT, CONF_BASE_URL: address}
        await add_agent(hass, service, {CONF_MODEL: "endless", CONF_LLM_HASS_API: list(apis)})
        (entry,) = hass.config_entries.async_loaded_entries(DOMAIN)
        hass.config_entries.async_update_entry(entry, options={CONF_RESPONSES_API: True})
        await hass.async_block_till_done(wait_background_tasks=True)
        yield


async def ask(client: Client, **more: object) -> ClientResponse:
    return await client.post(f"{BASE_PATH}/responses", json={"model": AGENT, "input": "Hi", "stream": True, **more})


async def test_two_hundred_abandoned_streams_leave_nothing(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 54."""
    model = EndlessModel()
    async with living_with(hass, model):
        client = await hass_client()
        before = asyncio.all_tasks()

        for _ in range(4):
            answers = await asyncio.gather(*(ask(client) for _ in range(50)))
            for answer in answers:
                await answer.content.readuntil(b"Well, ")
            assert model.open == 50
            for answer in answers:
                answer.close()
            await model.let_go.wait()

        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left)


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_who_hangs_up_ends_the_tools_that_run(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, *, is_streamed: bool
) -> None:
    """Invariant 54."""
    runs, is_cancelled = asyncio.Event(), asyncio.Event()

    async def wait(_: llm.ToolInput) -> JsonObjectType:
        runs.set()
        try:
            await asyncio.Event().wait()
        finally:
            is_cancelled.set()
        return {}

    await move_into_the_demo_home(hass)
    tool = StubTool(name="wait", answer=wait)
    tool.annotations = llm.ToolAnnotations(read_only=True)
    register(hass, "waiting", tool)
    async with living_with(hass, EndlessModel(call="wait"), "waiting"):
        client = await hass_client()
        asking = asyncio.create_task(ask(client, stream=is_streamed))
        await runs.wait()
        if is_streamed:
            (await asking).close()
        asking.cancel()

        await is_cancelled.wait()


async def test_a_socket_that_is_hung_up_ends_the_answer(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> None:
    """Invariants 54, 69."""
    model = EndlessModel()
    async with living_with(hass, model):
        client = await hass_client()
        socket = await client.ws_connect(f"{BASE_PATH}/responses")
        await socket.send_json({"type": "response.create", "model": AGENT, "input": "Hi"})
        while (await socket.receive_json())["type"] != "response.output_text.delta":
            pass
        assert model.open == 1

        await socket.close()

        await model.let_go.wait()

"""Where model servers are looked for."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from homeassistant.components.hassio.const import DATA_ADDONS_INFO
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.wire.model_lists import ChatModel
from custom_components.chatterbox.runtime.discovery import (
    addresses_of_apps,
    async_find_servers,
    usual_addresses,
)
from tests.support.servers.in_process import serving

SERVERS = yaml.load(
    (Path(__file__).parent / "servers.yaml").read_text(encoding="utf-8"),
    yaml.CSafeLoader,
)


@dataclass
class App:
    """An app as the supervisor describes it, as far as it is read."""

    hostname: str
    state: str = "started"
    supervisor_api: bool = False
    supervisor_role: str = "default"

    def to_dict(self) -> dict[str, str]:
        return {"hostname": self.hostname}


@pytest.mark.each_row
@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("server", "name", "models"),
    [
        ("ollama", "Ollama", [ChatModel("qwen3:8b", uses_tools=True)]),
        ("llama_cpp", "llama.cpp", [ChatModel("qwen3")]),
        (
            "lm_studio",
            "LM Studio",
            [ChatModel("qwen3", uses_tools=True), ChatModel("gemma-3")],
        ),
        ("old_lm_studio", "LM Studio", [ChatModel("qwen3")]),
        ("vllm", "vLLM", [ChatModel("Qwen/Qwen3-8B")]),
        ("localai", "LocalAI", [ChatModel("qwen3")]),
        ("somebody", "Other", [ChatModel("qwen3")]),
    ],
)
async def test_a_server_is_recognized_by_its_answers(
    hass: HomeAssistant, server: str, name: str, models: list[ChatModel]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        found = SERVERS[server].get(request.path)
        return (
            web.json_response(found)
            if found
            else web.json_response({"error": "not found"}, status=404)
        )

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with serving(application, "") as address:
        usual_addresses(hass)[:] = [address]
        (found,) = await async_find_servers(hass)

    assert found.profile.name == name
    assert list(found.models) == models


@pytest.mark.usefixtures("socket_enabled")
async def test_a_list_that_comes_in_pieces_is_read_to_its_end(
    hass: HomeAssistant,
) -> None:
    sent = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        found = SERVERS["localai"].get(request.path)
        if found is None:
            return web.Response(status=404)
        body, response = json.dumps(found).encode(), web.StreamResponse()
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if request.path.endswith("/models"):
            # the first half is on its way alone until the version has been sent whole
            await sent.wait()
        await response.write(body[len(body) // 2 :])
        await response.write_eof()
        sent.set()
        return response

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with serving(application, "") as address:
        usual_addresses(hass)[:] = [address]
        (found,) = await async_find_servers(hass)

    assert (found.profile.name, list(found.models)) == ("LocalAI", [ChatModel("qwen3")])


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("listed", ["{" * 10, '["' + "x" * 2**20 + '"]'])
async def test_a_server_whose_list_cannot_be_read_is_not_taken_for_another_one(
    hass: HomeAssistant, listed: str
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(
            text=listed if request.path.endswith("/models") else '{"version": "3"}'
        )

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with serving(application, "") as address:
        usual_addresses(hass)[:] = [address]
        assert await async_find_servers(hass) == []


def test_usual_places_are_on_this_machine(hass: HomeAssistant) -> None:
    assert usual_addresses(hass) == [
        f"http://localhost:{port}" for port in (11434, 8080, 1234, 8000)
    ]


def test_without_a_supervisor_there_are_no_apps(hass: HomeAssistant) -> None:
    assert addresses_of_apps(hass) == []
    hass.config.components.add("hassio")
    assert addresses_of_apps(hass) == []


def test_running_apps_with_a_model_server_are_looked_at(hass: HomeAssistant) -> None:
    hass.config.components.add("hassio")
    apps = {
        "76e18fb5_ollama": App("76e18fb5-ollama"),
        "local_llama_cpp": App("local-llama-cpp"),
        "local_lm-studio": App("local-lm-studio"),
        "local_vllm": App("local-vllm", state="stopped"),
        "core_mosquitto": App("core-mosquitto"),
        "a0d7b954_ollama": None,
    }
    hass.data[str(DATA_ADDONS_INFO)] = apps

    found = ("76e18fb5-ollama:11434", "local-llama-cpp:8080", "local-lm-studio:1234")
    assert addresses_of_apps(hass) == [f"http://{place}" for place in found]

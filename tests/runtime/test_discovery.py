"""Where model servers are looked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pytest
from aiohttp import web
from homeassistant.components.hassio.const import DATA_ADDONS_INFO
from homeassistant.core import HomeAssistant
from pydantic import JsonValue

from custom_components.chatterbox.agent.wire.parts import ChatModel
from custom_components.chatterbox.runtime.discovery import addresses_of_apps, async_find_servers, usual_addresses
from tests.support.servers.in_process import serving

type Pages = dict[str, JsonValue]


def listing(*models: Mapping[str, JsonValue]) -> JsonValue:
    """Return a list of models as all these servers write it."""
    return {"object": "list", "data": [{"object": "model", **model} for model in models]}


OLLAMA: Final[Pages] = {
    "/api/version": {"version": "0.14.0"},
    "/api/tags": {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]},
    "/api/show": {"capabilities": ["completion", "tools"]},
    "/v1/models": listing({"id": "qwen3:8b", "created": 1, "owned_by": "library"}),
}
"""Source: `ToListCompletion` in `openai/openai.go` of ollama/ollama; without a model, its list is null."""
LLAMA_CPP: Final = listing({"id": "qwen3", "created": 1, "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}})
"""Source: `tools/server/README.md` and `get_models` in `tools/server` of ggml-org/llama.cpp."""
LM_STUDIO: Final[Pages] = {
    "/v1/models": listing(*({"id": name, "owned_by": "organization_owner"} for name in ("qwen3", "nomic-embed-text"))),
    "/api/v0/models": listing(
        {"id": "qwen3", "type": "llm", "capabilities": ["tool_use"]},
        {"id": "gemma-3", "type": "vlm", "max_context_length": 32768},
        {"id": "nomic-embed-text", "type": "embeddings", "capabilities": ["tool_use"]},
    ),
}
"""Source: https://lmstudio.ai/docs/api/rest-api; some of its embedding models say that they use tools."""
VLLM: Final = listing({"id": "Qwen/Qwen3-8B", "created": 1, "owned_by": "vllm", "max_model_len": 32768})
"""Source: `ModelCard` in `vllm/entrypoints/openai/protocol.py` of vllm-project/vllm."""
LOCALAI: Final[Pages] = {
    "/api/version": {"version": "0.9.0"},
    "/v1/models": listing({"id": "qwen3"}, {"id": "ear"}),
    "/v1/models/capabilities": listing(
        {"id": "qwen3", "capabilities": ["chat", "completion", "vision"]}, {"id": "ear", "capabilities": ["transcript"]}
    ),
}
"""Source: `list.go`, `list_capabilities.go` and `ollama/models.go` in `core/http/endpoints` of mudler/LocalAI."""


@dataclass
class App:
    """What the supervisor says of an app, as far as it is read."""

    hostname: str
    state: str = "started"
    supervisor_api: bool = False
    supervisor_role: str = "default"

    def to_dict(self) -> dict[str, str]:
        return {"hostname": self.hostname}


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("pages", "name", "models"),
    [
        (OLLAMA, "Ollama", [ChatModel("qwen3:8b", uses_tools=True)]),
        (OLLAMA | {"/v1/models": {"object": "list", "data": None}, "/api/tags": {"models": []}}, "Ollama", []),
        ({"/v1/models": LLAMA_CPP}, "llama.cpp", [ChatModel("qwen3")]),
        (LM_STUDIO, "LM Studio", [ChatModel("qwen3", uses_tools=True), ChatModel("gemma-3")]),
        ({"/v1/models": LM_STUDIO["/v1/models"]}, "LM Studio", [ChatModel("qwen3")]),  # before 0.3.6
        ({"/v1/models": VLLM}, "vLLM", [ChatModel("Qwen/Qwen3-8B")]),
        (LOCALAI, "LocalAI", [ChatModel("qwen3")]),
        ({"/v1/models": listing({"id": "qwen3", "owned_by": "somebody"})}, "Other", [ChatModel("qwen3")]),
    ],
)
async def test_a_server_is_recognized_by_its_answers(
    hass: HomeAssistant, pages: Pages, name: str, models: list[ChatModel]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        found = pages.get(request.path)
        return web.json_response(found) if found else web.json_response({"error": "not found"}, status=404)

    server = web.Application()
    server.router.add_route("*", "/{path:.*}", answer)
    async with serving(server, "") as address:
        usual_addresses(hass)[:] = [address]
        (found,) = await async_find_servers(hass)

    assert found.profile.name == name
    assert list(found.models) == models


def test_usual_places_are_on_this_machine(hass: HomeAssistant) -> None:
    assert usual_addresses(hass) == [f"http://localhost:{port}" for port in (11434, 8080, 1234, 8000)]


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

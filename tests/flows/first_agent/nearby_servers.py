"""Servers that set-up finds, and what it says at its end."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from homeassistant.config_entries import ConfigFlowResult, SubentryFlowResult
from homeassistant.core import HomeAssistant

from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving_script
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.servers.script import (
    Script,
)
from tests.support.service_dialogs import (
    choose,
    open_dialog,
)

LLAMA = Script(
    models=("llama-8b", "nomic-embed-text-v1.5", "whisper-large"),
    owner="llamacpp",
    context_window=32_768,
)


@asynccontextmanager
async def nearby(
    hass: HomeAssistant,
    script: Script,
    spoken: type[ScriptedModelServer] = ScriptedChatCompletions,
) -> AsyncGenerator[tuple[str, ConfigFlowResult]]:
    """Serve a script where servers are looked for; yields its address, and the step that offers what was found."""
    async with serving_script(script, spoken) as base_url:
        address = base_url.removesuffix("/v1")
        yield (
            address,
            await choose(hass, await open_dialog(hass, address), "in_my_home"),
        )


def try_it(result: ConfigFlowResult | SubentryFlowResult) -> str:
    """Return how an agent can be tried, as it stands below the sentences."""
    return (result["description_placeholders"] or {})["try_it"].replace("\\", "")

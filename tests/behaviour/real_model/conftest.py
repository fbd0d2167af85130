"""The environment of the server, and the demo home with an agent that talks to one."""

import contextlib
from collections.abc import AsyncGenerator
from typing import Protocol

import pytest
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    ServiceKind,
)
from tests.support.servers.llama_cpp.process import (
    LlamaServer,
    LlamaSetup,
    llama_server,
    set_up_llama,
)
from tests.support.talk import add_agent, move_into_the_demo_home


class Llama(Protocol):
    """Starts a server, and an agent with these options that talks to it."""

    async def __call__(self, setup: LlamaSetup, **options: object) -> LlamaServer:
        """Return the server."""


@pytest.fixture(scope="session")
def _environment() -> None:
    set_up_llama()


@pytest.fixture
async def llama(hass: HomeAssistant, _environment: None) -> AsyncGenerator[Llama]:
    """Start a server, and in the demo home an agent that talks to it."""
    async with contextlib.AsyncExitStack() as servers:

        async def start(setup: LlamaSetup, **options: object) -> LlamaServer:
            server = await servers.enter_async_context(llama_server(setup))
            await move_into_the_demo_home(hass)
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_BASE_URL: server.url,
            }
            defaults: dict[str, object] = {
                CONF_MODEL: "written",
                CONF_LLM_HASS_API: ["assist"],
            }
            await add_agent(
                hass, service | {CONF_SERVER: "llama_cpp"}, defaults | options
            )
            return server

        yield start

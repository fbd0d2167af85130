"""A server whose answers change, and the issues that come of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import DOMAIN
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
)

HELLO = ScriptedAnswer(content="Hello.")


class Server:
    """A server whose every answer can be changed while it runs."""

    def __init__(self) -> None:
        self.scripted = ScriptedChatCompletions(Script())
        self.address = ""
        self.listed = 0
        """How often it was asked for its models."""
        self._status = 200

    def lists(self, status: int) -> None:
        """Answer whoever asks for the list of models with this status from now on."""
        self._status = status

    @web.middleware
    async def answer_list(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        """Answer for a server that is down, to whoever asks for its models."""
        self.listed += request.path.endswith("/models")
        if self._status != 200 and request.path.endswith("/models"):
            return web.Response(status=self._status)
        return await handler(request)

    def answers(self, answer: ScriptedAnswer | ScriptedFailure) -> None:
        """Answer everybody alike from now on, who tries the model out included."""
        self.scripted.play(
            Script(answers=(answer,), trial_answer=answer, after_last="start again")
        )


@asynccontextmanager
async def changing_server(hass: HomeAssistant) -> AsyncIterator[Server]:
    """Serve until the block is left."""
    await prepare(hass)
    served = Server()
    application = served.scripted.application()
    application.middlewares.append(served.answer_list)
    async with serving(application) as address:
        served.address = address
        yield served


async def talker(
    hass: HomeAssistant, server: Server, api_key: str | None = None
) -> MockConfigEntry:
    """Set up an agent that nobody else can answer for."""
    return await set_up(hass, server_entry(server.address, api_key, llm_hass_api=[]))


def issues(hass: HomeAssistant) -> dict[str | None, dict[str, str] | None]:
    """Return what Repairs shows of us: kinds, and what is filled in."""
    return {
        issue.translation_key: issue.translation_placeholders
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    }


LACKS_ROOM = sentence("common.spoken_lacks_room")

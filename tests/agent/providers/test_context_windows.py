"""Where servers are asked how much a model can read."""

from collections.abc import Callable

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderRejectedKey
from custom_components.chatterbox.agent.providers.anthropic_messages import AnthropicMessagesProvider
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.openai_responses import OpenAIResponsesProvider
from custom_components.chatterbox.agent.providers.profiles import LM_STUDIO, OPENAI, OPENROUTER, OTHER
from tests.support.servers.raw_http import RawReply, raw_http_server, reply

NO_PAGE = reply(b"404 page not found", "text/plain", 404)
SHRUG = reply(b'{"data":[{"id":"mine"}]}')
LISTED = reply(b'{"data":[{"id":"other","context_length":7},{"id":"mine","context_length":65536}]}')
ONLY_MODEL = reply(b'{"default_generation_settings":{"n_ctx":8192}}')
LOADED = reply(b'{"data":[{"id":"mine","state":"loaded","loaded_context_length":4096}]}')
ENTRY = reply(b'{"id":"mine","max_input_tokens":200000}')

type Make = Callable[[aiohttp.ClientSession, str], HTTPProvider]


@pytest.mark.parametrize(
    ("make", "replies", "window", "asked"),
    [
        (lambda s, url: OpenAIChatProvider(s, url, "mine", profile=OPENROUTER), [LISTED], 65_536, ["/v1/models"]),
        (lambda s, url: OpenAIChatProvider(s, url, "mine", profile=OPENROUTER), [SHRUG], None, ["/v1/models"]),
        (lambda s, url: OpenAIChatProvider(s, url, "mine", profile=OTHER), [LISTED], 65_536, ["/v1/models"]),
        (
            lambda s, url: OpenAIChatProvider(s, url, "mine", profile=OTHER),
            [SHRUG, ONLY_MODEL],
            8_192,
            ["/v1/models", "/props"],
        ),
        (
            lambda s, url: OpenAIResponsesProvider(s, url, "mine", profile=OTHER),
            [NO_PAGE, NO_PAGE],
            None,
            ["/v1/models", "/props"],
        ),
        (
            lambda s, url: OpenAIChatProvider(s, url, "mine", profile=LM_STUDIO),
            [LOADED],
            4_096,
            ["/api/v0/models"],
        ),
        (lambda s, url: AnthropicMessagesProvider(s, url, "mine"), [ENTRY], 200_000, ["/v1/models/mine"]),
        (lambda s, url: OpenAIResponsesProvider(s, url, "mine", profile=OPENAI), [NO_PAGE], None, []),
    ],
)
async def test_each_server_is_asked_where_it_may_know(
    session: aiohttp.ClientSession, make: Make, replies: list[RawReply], window: int | None, asked: list[str]
) -> None:
    async with raw_http_server(*replies) as server:
        assert await make(session, f"http://127.0.0.1:{server.port}/v1").context_window() == window
    assert [request.target for request in server.requests] == asked


async def test_a_server_that_refuses_is_told_from_one_that_does_not_say(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(reply(b'{"error":"no"}', status=401)) as server:
        with pytest.raises(ProviderRejectedKey):
            await OpenAIChatProvider(session, f"http://127.0.0.1:{server.port}/v1", "mine").context_window()

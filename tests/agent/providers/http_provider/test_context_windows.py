"""Where servers are asked how much a model can read."""

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import ProviderRejectedKey
from custom_components.chatterbox.agent.providers.anthropic_messages import (
    AnthropicMessagesProvider,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.openai_responses import (
    OpenAIResponsesProvider,
)
from custom_components.chatterbox.agent.providers.profiles import (
    ANTHROPIC,
    LM_STUDIO,
    OPENAI,
    OTHER,
    PROFILES,
    ServerProfile,
)
from tests.support.servers.raw_http import RawReply, raw_http_server, reply

NO_PAGE = reply(b"404 page not found", "text/plain", 404)
SHRUG = reply(b'{"data":[{"id":"mine"}]}')
LISTED = reply(
    b'{"data":[{"id":"other","context_length":7},{"id":"mine","context_length":65536}]}'
)
ONLY_MODEL = reply(b'{"default_generation_settings":{"n_ctx":8192}}')
LOADED = reply(
    b'{"data":[{"id":"mine","state":"loaded","loaded_context_length":4096}]}'
)
ENTRY = reply(b'{"id":"mine","max_input_tokens":200000}')


@pytest.mark.parametrize(
    ("make", "profile", "replies", "window", "requests"),
    [
        (OpenAIChatProvider, PROFILES["openrouter"], [LISTED], 65_536, ["/v1/models"]),
        (OpenAIChatProvider, PROFILES["openrouter"], [SHRUG], None, ["/v1/models"]),
        (OpenAIChatProvider, OTHER, [LISTED], 65_536, ["/v1/models"]),
        (
            OpenAIChatProvider,
            OTHER,
            [SHRUG, ONLY_MODEL],
            8_192,
            ["/v1/models", "/props"],
        ),
        (
            OpenAIResponsesProvider,
            OTHER,
            [NO_PAGE, NO_PAGE],
            None,
            ["/v1/models", "/props"],
        ),
        (OpenAIChatProvider, LM_STUDIO, [LOADED], 4_096, ["/api/v0/models"]),
        (AnthropicMessagesProvider, ANTHROPIC, [ENTRY], 200_000, ["/v1/models/mine"]),
        (OpenAIResponsesProvider, OPENAI, [NO_PAGE], None, []),
    ],
)
async def test_each_server_is_asked_where_it_may_know(  # noqa: PLR0917  # a table
    session: aiohttp.ClientSession,
    make: type[
        OpenAIChatProvider | OpenAIResponsesProvider | AnthropicMessagesProvider
    ],
    profile: ServerProfile,
    replies: list[RawReply],
    window: int | None,
    requests: list[str],
) -> None:
    async with raw_http_server(*replies) as server:
        provider = make(
            session, f"http://127.0.0.1:{server.port}/v1", "mine", profile=profile
        )
        assert await provider.context_window() == window
    assert [request.target for request in server.requests] == requests


async def test_a_server_that_refuses_is_told_from_one_that_does_not_say(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(reply(b'{"error":"no"}', status=401)) as server:
        with pytest.raises(ProviderRejectedKey):
            await OpenAIChatProvider(
                session, f"http://127.0.0.1:{server.port}/v1", "mine"
            ).context_window()


async def test_without_a_profile_the_address_selects_it(
    session: aiohttp.ClientSession,
) -> None:
    """DeepSeek has no page to ask; any other server would be asked."""
    assert (
        await OpenAIChatProvider(
            session, "https://api.deepseek.com", "mine"
        ).context_window()
        is None
    )

"""API clients of the tests of `responses/`, over HTTP and below it."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from tests.support.api_clients import ApiClient, HttpClient, a_user, enable_api
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script
from tests.support.talk import Serve


@pytest.fixture
async def http_client_of(
    hass: HomeAssistant, hass_client: ClientSessionGenerator
) -> ClientSessionGenerator:
    """Return what makes HTTP clients for access tokens; routes may come later, as when Home Assistant has started."""
    assert await async_setup_component(hass, "http", {})
    vars(hass.http.app.router).update(freeze=lambda: None)
    return hass_client


@pytest.fixture
async def client(http_client_of: ClientSessionGenerator) -> HttpClient:
    """Return an HTTP client with the token of an administrator."""
    return await http_client_of()


@pytest.fixture
async def guest(
    http_client_of: ClientSessionGenerator, hass_read_only_access_token: str
) -> HttpClient:
    """Return an HTTP client with the token of a user who may only look."""
    return await http_client_of(hass_read_only_access_token)


@pytest.fixture
def serve_api(hass: HomeAssistant, serve: Serve) -> Serve:
    """Start a model server and an agent as `serve` does, and let API clients in."""

    async def start(script: Script, **options: object) -> ScriptedChatCompletions:
        server = await serve(script, **options)
        await enable_api(hass)
        return server

    return start


@pytest.fixture
def api_client(hass: HomeAssistant) -> ApiClient:
    """Return an API client, below HTTP, of a user who may do everything."""
    return ApiClient(hass, a_user(hass))

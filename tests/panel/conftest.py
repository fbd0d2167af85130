"""A home with an agent, whose page an administrator and another user have open."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.stores import async_get_histories
from tests.support.config_entries import offline_entry, set_up
from tests.support.listening_agent import add_person


@dataclass(slots=True)
class OpenPage:
    """A page that somebody has open."""

    client: MockHAClientWebSocket

    async def send(self, command: str, **data: object) -> Mapping[str, Any]:
        """Send a command, and return the answer with its error, if it is one."""
        await self.client.send_json_auto_id({"type": f"{DOMAIN}/{command}", **data})
        answer: Mapping[str, Any] = await self.client.receive_json()
        return answer

    async def ask(self, command: str, **data: object) -> Any:
        """Send a command that is carried out, and return its result."""
        answer = await self.send(command, **data)
        assert answer["success"], answer
        return answer["result"]

    async def error(self, command: str, **data: object) -> str:
        """Send a command that is refused, and return the code."""
        answer = await self.send(command, **data)
        assert not answer["success"], answer
        return str(answer["error"]["code"])

    async def event(self) -> Any:
        """Return the next event of a subscription."""
        message = await self.client.receive_json()
        assert message["type"] == "event", message
        return message["event"]


@pytest.fixture
async def entry(hass: HomeAssistant, hass_read_only_user: MockUser) -> MockConfigEntry:
    """A service with one agent, in the home of Ben, who is no administrator."""
    await add_person(hass, "Ben", hass_read_only_user.id)
    return await set_up(hass, offline_entry())


@pytest.fixture
async def store(hass: HomeAssistant, entry: MockConfigEntry) -> HistoryStore:
    store = await async_get_histories(hass).async_open(entry)
    assert store
    return store


@pytest.fixture
def agent(entry: MockConfigEntry) -> str:
    """The id of the agent."""
    return next(iter(entry.subentries))


@pytest.fixture
async def page(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> OpenPage:
    """The page of an administrator."""
    assert entry.entry_id
    return OpenPage(await hass_ws_client(hass))


@pytest.fixture
async def open_as_ben(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_ws_client: WebSocketGenerator,
    hass_read_only_access_token: str,
) -> Callable[[], Awaitable[OpenPage]]:
    """Opens the page of Ben, whose person has the id `ben`."""
    assert entry.entry_id

    async def open_page() -> OpenPage:
        return OpenPage(await hass_ws_client(hass, hass_read_only_access_token))

    return open_page

"""API clients over several requests: conversations, functions, the background, and Home Assistant's tools."""

from dataclasses import dataclass

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from tests.agent.responses.service_talk import items
from tests.support.api_clients import enable_api
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, Serve, messages_of

pytestmark = pytest.mark.usefixtures("socket_enabled")

_URL = "/api/chatterbox/v1/responses"
_PAGE: JsonObject = {"type": "function", "name": "show_page", "parameters": {"type": "object", "properties": {}}}


@dataclass
class Asking:
    """An API client that asks over HTTP."""

    client: TestClient[web.Request, web.Application]

    async def ask(self, said: JsonValue, status: int = 200, **fields: JsonValue) -> JsonObject:
        """Ask for a response, and return what comes."""
        answer = await self.client.post(_URL, json={"model": AGENT, "input": said, "tools": [], **fields})
        told: JsonObject = await answer.json()
        assert answer.status == status, told
        return told

    async def read(self, response_id: JsonValue) -> JsonObject:
        """Return a response that there is."""
        answer = await self.client.get(f"{_URL}/{response_id}")
        told: JsonObject = await answer.json()
        assert answer.status == 200, told
        return told


async def test_a_conversation_waits_for_the_functions_of_a_client(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    show = ScriptedAnswer(tool_calls=(ScriptedCall(id="call_1", name="show_page"),))
    server = await serve(Script(answers=(show, ScriptedAnswer(content="There."), ScriptedAnswer(content="Yes."))))
    await enable_api(hass)
    api_client = Asking(await hass_client())

    first = await api_client.ask("Show it!", conversation="my-talk", tools=[_PAGE])
    result: JsonObject = {"type": "function_call_output", "call_id": "call_1", "output": "shown"}
    await api_client.ask([result], conversation="my-talk", tools=[_PAGE])
    await api_client.ask("Sure?", conversation="my-talk")

    assert [item["type"] for item in items(first)] == ["function_call"]
    roles = [message["role"] for message in messages_of(server.requests[2])[1:]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert messages_of(server.requests[2])[3]["content"] == "shown"


async def test_a_response_in_the_background_is_polled_and_followed(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 56."""
    await serve(Script(answers=(ScriptedAnswer(content="Done."),)))
    await enable_api(hass)
    api_client = Asking(await hass_client())

    begun = await api_client.ask("Hi", background=True)
    await hass.async_block_till_done(wait_background_tasks=True)
    ended = await api_client.read(begun["id"])
    stream = await api_client.client.get(f"{_URL}/{begun['id']}", params={"stream": "true", "starting_after": "2"})
    events = await stream.text()

    assert (begun["status"], ended["status"]) == ("queued", "completed")
    assert events.startswith("event: response.output_item.added\n")
    assert events.endswith("data: [DONE]\n\n")


async def test_a_response_in_the_background_ends_with_its_agent(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Never.", delay_seconds=60),)))
    await enable_api(hass)
    api_client = Asking(await hass_client())
    begun = await api_client.ask("Hi", background=True)

    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    ended = await api_client.read(begun["id"])
    assert isinstance(ended["error"], dict)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "interrupted")


async def test_a_cancelled_response_asks_the_model_no_more(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    """Invariant 55."""
    await serve(Script(answers=(ScriptedAnswer(content="Never.", delay_seconds=60),)))
    await enable_api(hass)
    api_client = Asking(await hass_client())
    begun = await api_client.ask("Hi", background=True)

    told = [await (await api_client.client.post(f"{_URL}/{begun['id']}/cancel")).json() for _ in range(2)]
    await hass.async_block_till_done(wait_background_tasks=True)

    assert [one["status"] for one in told] == ["cancelled", "cancelled"]
    assert await api_client.read(begun["id"]) == told[0] == told[1]


async def test_items_are_referred_to_without_a_chain(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(content="Hello, Ada!"), ScriptedAnswer(content="Ada."))))
    await enable_api(hass)
    api_client = Asking(await hass_client())
    first = await api_client.ask("I am Ada.")
    (message,) = items(first)

    await api_client.ask([{"type": "item_reference", "id": message["id"]}, {"role": "user", "content": "Who am I?"}])
    missing = await api_client.ask([{"type": "item_reference", "id": "msg_nobody"}], 404)

    assert [one["content"] for one in messages_of(server.requests[1])[1:2]] == ["Hello, Ada!"]
    assert isinstance(missing["error"], dict)
    assert missing["error"]["param"] == "input[0].id"
